//! Parameters of the addresses outside of the API that may be filtered and grouped by attributes.

use crate::refusal::refuse;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use chronoscope_query::AttributeSelection;
use serde::de::DeserializeOwned;

/// The parameters `where` and `by`, which may be given several times, and all others.
pub(crate) struct AttributeQuery<P> {
    pub(crate) attributes: AttributeSelection,
    pub(crate) own: P,
}

impl<S: Send + Sync, P: DeserializeOwned> FromRequestParts<S> for AttributeQuery<P> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let bad = |what: String| refuse(StatusCode::BAD_REQUEST, what);
        let query = parts.uri.query().unwrap_or_default();
        let pairs = serde_urlencoded::from_str::<Vec<(String, String)>>(query);
        let (mut filters, mut by) = (Vec::new(), Vec::new());
        let mut others = Vec::new();
        for (name, value) in pairs.map_err(|error| bad(error.to_string()))? {
            match name.as_str() {
                "where" => filters.push(value),
                "by" => by.push(value),
                _ => others.push((name, value)),
            }
        }
        let attributes = AttributeSelection::parse(&filters, &by);
        let attributes = attributes.map_err(|error| bad(error.to_string()))?;
        let others =
            serde_urlencoded::to_string(&others).map_err(|error| bad(error.to_string()))?;
        let uri = format!("/?{others}").parse::<Uri>().map_err(|error| bad(error.to_string()))?;
        let Query(own) = Query::try_from_uri(&uri).map_err(IntoResponse::into_response)?;
        Ok(Self { attributes, own })
    }
}
