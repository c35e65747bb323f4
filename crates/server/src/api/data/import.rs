//! `/data/import`: a file of transactions into the store.

use super::super::error::{ApiError, ErrorBody};
use super::super::parameters::PlainParameters;
use super::super::{Api, beside};
use super::note::{busy, note};
use super::upload::{BYTES_MAX, Upload, UploadFolder, too_large};
use super::writer::TokenWriter;
use crate::log::LogLine;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use chronoscope_collect::{Ingest, IngestError};
use chronoscope_import::{FileFormat, ImportError, ImportFile};
use serde::{Deserialize, Serialize};
use std::path::Path;
use utoipa::{IntoParams, ToSchema};

/// Longest name of a file that is kept, in characters.
const NAME_MAX: usize = 80;

/// The file's name.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct FileName {
    /// Its name, for messages and the log; its end (.csv, .xml, .parquet) says the format, else the
    /// content does.
    name: String,
}

/// What was imported.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct Imported {
    /// Transactions that were stored.
    rows: u64,
    /// Transactions of the file that had been imported before.
    rows_before: u64,
    /// Format of the file: csv, xml or parquet.
    format: String,
}

/// Imports a file of transactions: CSV, XML or Parquet, as `chronoscope import` reads them. Needs a
/// token that may write, also where no other request needs one. The file is checked to its end before
/// any of it is stored; the same content is stored once.
#[utoipa::path(post, path = "/data/import", tag = "data", params(FileName),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 200, body = Imported), (status = 400, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 500, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn import(
    State(api): State<Api>,
    TokenWriter { by, peer }: TokenWriter,
    PlainParameters { own: FileName { name }, .. }: PlainParameters<FileName>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Imported>, ApiError> {
    let Some(ingest) = api.ingest.clone() else {
        return Err(ApiError::conflict("this server only reads"));
    };
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > BYTES_MAX) {
        return Err(too_large());
    }
    let folder = match &api.collectors {
        Some(_) => UploadFolder::Temporary,
        None => UploadFolder::Of(&api.data_dir),
    };
    let upload = Upload::receive(folder, body).await?;
    let shown: String = name.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect();
    // What was begun is ended, also when the client goes away.
    beside(move || {
        let Ok(_one_at_a_time) = api.changing.try_lock() else { return Err(busy()) };
        let format = FileFormat::of_name(Path::new(&name));
        let file = ImportFile::check(upload.path(), format, |_| true);
        let file = file.map_err(|error| refused(&shown, &error))?;
        let stored = store(&ingest, &file).map_err(|error| match error {
            Stopped::File(error) => refused(&shown, &error),
            Stopped::Store(error) => stopped(&shown, &error),
        })?;
        LogLine::warn("file_imported")
            .with("by", &by)
            .with_some("peer", peer)
            .with("file", &shown)
            .with("bytes", upload.size_bytes())
            .with("rows", stored)
            .with("rows_before", file.row_count() - stored)
            .say();
        if stored > 0 {
            note(&api, format!("{stored} rows imported from {shown}"), &by);
        }
        let rows_before = file.row_count() - stored;
        Ok(Imported { rows: stored, rows_before, format: file.format().name().to_owned() })
    })
    .await
}

/// Why storing ended before the end of the file.
enum Stopped {
    File(ImportError),
    Store(IngestError),
}

/// Stores what of a file is not in the store; how many rows that were.
fn store(ingest: &Ingest, file: &ImportFile) -> Result<u64, Stopped> {
    let known = ingest.next_row(file.id()).map_err(Stopped::Store)?.unwrap_or(0);
    if known >= file.row_count() {
        return Ok(0);
    }
    for piece in file.pieces(known).map_err(Stopped::File)? {
        let piece = piece.map_err(Stopped::File)?;
        let stored = ingest.import(file.id(), piece.first_row, &piece.batch, &piece.names);
        stored.map_err(Stopped::Store)?;
    }
    Ok(file.row_count() - known)
}

fn refused(name: &str, error: &ImportError) -> ApiError {
    match error {
        ImportError::Io { source, .. } => ApiError::failed(format!("{name}: {source}")),
        ImportError::Unknown => {
            ApiError::question(format!("{name}: this is not XML, CSV or Parquet"))
                .hint("nothing was imported; the formats are in docs/export.md")
        }
        // The path is that of our copy.
        ImportError::Parquet(chronoscope_store::StoreError::Parquet { source, .. }) => {
            ApiError::question(format!("{name}: {source}")).hint("nothing was imported")
        }
        error => ApiError::question(format!("{name}: {error}")).hint("nothing was imported"),
    }
}

fn stopped(name: &str, error: &IngestError) -> ApiError {
    let hint = "import the same file again: it continues where it ended";
    match error.is_passing() {
        true => ApiError::busy(format!("{name}: {error}")).hint(hint),
        false => ApiError::failed(format!("{name}: {error}")).hint(hint),
    }
}
