//! `/views`: addresses of the page that have a name.

use super::change::{Change, Writer};
use super::error::{ApiError, ErrorBody};
use super::parameters::{Nothing, Path, PlainParameters};
use super::{Api, beside};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chronoscope_annotations::NamedView;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The named views.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct NamedViews {
    /// By their name.
    views: Vec<NamedViewRow>,
    /// Lines of the file that could not be read, in words.
    damage: Vec<String>,
}

/// An address of the page with a name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct NamedViewRow {
    name: String,
    /// Path and query within the page: `/histogram?root=…`.
    address: String,
    /// Name of the token that named it; empty without one.
    by: String,
}

/// A view that is to be named.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ViewToName {
    /// Its name: 1 to 200 characters. A view that had it loses it.
    name: String,
    /// Path and query within the page: `/histogram?root=…`; at most 8192 bytes.
    address: String,
}

/// The views that have a name.
#[utoipa::path(get, path = "/views", tag = "views",
    responses((status = 200, body = NamedViews), (status = 400, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub(super) async fn named_views(
    State(api): State<Api>,
    PlainParameters { own: Nothing {}, .. }: PlainParameters<Nothing>,
) -> Result<Json<NamedViews>, ApiError> {
    beside(move || {
        let content = api.annotations.read().map_err(ApiError::failed)?;
        Ok(NamedViews {
            views: content.views.into_iter().map(NamedViewRow::from).collect(),
            damage: content.damage,
        })
    })
    .await
}

/// Gives a view its name. Needs a token that may write, where tokens are needed.
#[utoipa::path(post, path = "/views", tag = "views", request_body = ViewToName,
    responses((status = 200, body = NamedViewRow), (status = 400, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub(super) async fn name_view(
    State(api): State<Api>,
    Writer(by): Writer,
    Change(ViewToName { name, address }): Change<ViewToName>,
) -> Result<Json<NamedViewRow>, ApiError> {
    beside(move || {
        let view = NamedView { name, address, by };
        api.annotations.set_view(view.clone())?;
        Ok(view.into())
    })
    .await
}

/// Takes a view's name away. Needs a token that may write, where tokens are needed.
#[utoipa::path(delete, path = "/views/{name}", tag = "views",
    params(("name" = String, Path, description = "its name")),
    responses((status = 204, description = "it is removed"), (status = 404, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub(super) async fn remove_view(
    State(api): State<Api>,
    Path(name): Path<String>,
    Writer(_): Writer,
) -> Result<StatusCode, ApiError> {
    let Json(()) = beside(move || match api.annotations.remove_view(&name)? {
        true => Ok(()),
        false => Err(ApiError::missing(format!("no view is called {name:?}"))
            .hint("/api/v1/views lists them")),
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

impl From<NamedView> for NamedViewRow {
    fn from(NamedView { name, address, by }: NamedView) -> Self {
        Self { name, address, by }
    }
}
