//! Parameters of a request. Unknown parameters are refused.

use super::error::ApiError;
use super::selection::Selection;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::str::FromStr;
use utoipa::IntoParams;

/// The parameters of a question about a [`Selection`], and the question's own parameters `P`.
#[derive(Debug)]
pub(crate) struct SelectionParameters<P> {
    /// The selected durations.
    pub(crate) selection: Selection,
    /// The question's name.
    pub(crate) id: Option<String>,
    /// The question's own parameters.
    pub(crate) own: P,
}

/// The parameters of a question that has no selection.
#[derive(Debug)]
pub(crate) struct PlainParameters<P> {
    /// The question's name.
    pub(crate) id: Option<String>,
    /// The question's own parameters.
    pub(crate) own: P,
}

/// Parameters of a request that takes none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// The name that a client gives to a question, to follow and to cancel it.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)] // read by name, see `take`
pub(crate) struct QuestionName {
    /// A name for this question, chosen by the client; `GET /questions/ID` reports its progress,
    /// `DELETE /questions/ID` cancels it.
    #[param(pattern = "^[0-9a-z-]{1,64}$")]
    question: Option<String>,
}

/// A parameter in the path.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

/// Parameters in the order of the request.
pub(crate) type Pairs = Vec<(String, String)>;

impl<S: Send + Sync, P: DeserializeOwned> FromRequestParts<S> for SelectionParameters<P> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let mut pairs = pairs(parts)?;
        let id = take(&mut pairs)?;
        let filters = take_all(&mut pairs, "where");
        let (selection, own): (Pairs, Pairs) =
            pairs.into_iter().partition(|(name, _)| Selection::NAMES.contains(&name.as_str()));
        let selection = Selection { filters, ..read(selection)? };
        Ok(Self { selection, id, own: read(own)? })
    }
}

impl<S: Send + Sync, P: DeserializeOwned> FromRequestParts<S> for PlainParameters<P> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let mut pairs = pairs(parts)?;
        let id = take(&mut pairs)?;
        Ok(Self { id, own: read(pairs)? })
    }
}

impl<S: Send + Sync, T: FromStr<Err: Display>> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(ApiError::question)?;
        let Some((name, value)) = params.iter().next() else {
            return Err(ApiError::failed("a path without a parameter")); // our mistake
        };
        let wrong = |error| ApiError::question(format!("{name} {value:?}: {error}"));
        value.parse().map(Self).map_err(wrong)
    }
}

fn pairs(parts: &Parts) -> Result<Pairs, ApiError> {
    let query = parts.uri.query().unwrap_or_default();
    serde_urlencoded::from_str(query).map_err(ApiError::question)
}

/// Takes the question's name out of the parameters.
fn take(pairs: &mut Pairs) -> Result<Option<String>, ApiError> {
    let mut id = None;
    let mut twice = false;
    pairs.retain_mut(|(name, value)| {
        let is_id = name == "question";
        if is_id {
            twice |= id.replace(std::mem::take(value)).is_some();
        }
        !is_id
    });
    if twice {
        return Err(ApiError::question("duplicate field `question`"));
    }
    Ok(id)
}

/// Takes a parameter that may be given several times out of the parameters.
pub(crate) fn take_all(pairs: &mut Pairs, name: &str) -> Vec<String> {
    let taken = pairs.extract_if(.., |(given, _)| given == name);
    taken.map(|(_, value)| value).collect()
}

/// Reads parameters into their type. Unknown parameters and malformed numbers are refused.
fn read<P: DeserializeOwned>(pairs: Pairs) -> Result<P, ApiError> {
    let query = serde_urlencoded::to_string(&pairs).map_err(ApiError::failed)?;
    serde_urlencoded::from_str(&query).map_err(|error| {
        let names: Vec<_> = pairs.iter().map(|(name, _)| name.as_str()).collect();
        ApiError::question(format!("{error} (in {})", names.join(", ")))
            .hint("the parameters are described in /api/v1/openapi.json")
    })
}
