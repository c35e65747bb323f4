//! `/data`: what of the stored transactions can be managed here: deleting a range of time, importing
//! a file. Both change rows that cannot be had again, so that they need a token, also where no other
//! request does; both are written to the log and noted as a mark.

mod deletion;
mod import;
mod note;
mod upload;
mod writer;

pub(super) use deletion::{__path_content, __path_delete, content, delete};
pub(super) use import::{__path_import, import};
pub(crate) use upload::remove_left;

use super::error::{ApiError, ErrorBody};
use super::parameters::{Nothing, PlainParameters};
use super::{Api, beside};
use crate::access::Bearer;
use axum::extract::State;
use axum::{Extension, Json};
use chronoscope_query::StoreView;
use chronoscope_store::Deletion;
use serde::Serialize;
use utoipa::ToSchema;

/// What can be managed here.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ManagedData {
    /// Why this request could neither delete nor import: the token lacks the right, or the server has
    /// none. Null where it could.
    refused: Option<String>,
    /// Whether ranges can be deleted.
    can_delete: bool,
    /// Whether files can be imported.
    can_import: bool,
    /// Largest file that is taken, in bytes.
    upload_bytes_max: u64,
    /// Ranges of which rows were deleted on request, by their beginning.
    deletions: Vec<DeletionView>,
}

/// A deletion on request.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct DeletionView {
    /// Rows of roots that started then or later: UTC ns since 1970.
    from_ns: i64,
    /// Rows of roots that started before: UTC ns since 1970.
    until_ns: i64,
    /// When it was done: UTC ns since 1970.
    at_ns: i64,
    rows: u64,
    /// Name of the token, or of the user of the command line; empty where that has none.
    by: String,
}

impl From<&Deletion> for DeletionView {
    fn from(of: &Deletion) -> Self {
        let (from_ns, until_ns, at_ns) = (of.from_ns, of.until_ns, of.at_ns);
        Self { from_ns, until_ns, at_ns, rows: of.rows, by: of.by.clone() }
    }
}

/// What can be managed here, and what was deleted on request.
#[utoipa::path(get, path = "/data", tag = "data",
    responses((status = 200, body = ManagedData), (status = 400, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub(super) async fn data(
    State(api): State<Api>,
    bearer: Option<Extension<Bearer>>,
    PlainParameters { own: Nothing {}, .. }: PlainParameters<Nothing>,
) -> Result<Json<ManagedData>, ApiError> {
    let refused = writer::may_change(bearer.as_ref().map(|Extension(bearer)| bearer)).err();
    beside(move || {
        let ingest = api.ingest.as_ref();
        let mut data = ManagedData {
            refused: refused.map(|error| error.to_string()),
            can_delete: ingest.is_some(),
            can_import: ingest.is_some(),
            upload_bytes_max: upload::BYTES_MAX,
            deletions: Vec::new(),
        };
        let looked = api.recently(|view, _| {
            data.deletions = match view {
                StoreView::Files(snapshot) => {
                    snapshot.ledger().deletions.iter().map(DeletionView::from).collect()
                }
                StoreView::Cluster(remote) => {
                    remote.cluster().deletions()?.iter().map(DeletionView::from).collect()
                }
            };
            Ok(())
        });
        match looked {
            Err(error) if error.is_missing() => {} // nobody has written to it yet
            looked => looked?,
        }
        Ok(data)
    })
    .await
}
