//! `GET /status`: what there is to look at.

use super::error::{ApiError, ErrorBody};
use super::parameters::{Nothing, PlainParameters};
use super::{Api, beside, runs};
use crate::collectors::is_alive;
use axum::Json;
use axum::extract::State;
use chronoscope_clickhouse::CollectorRow;
use chronoscope_collect::Status as CollectorStatus;
use chronoscope_model::ClassName;
use chronoscope_net::rows;
use chronoscope_query::StoreView;
use serde::Serialize;
use utoipa::ToSchema;

/// Sources of the server's answers.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Status {
    /// Version of the program.
    version: String,
    /// The store, in words.
    store: String,
    /// Time at which the store was read, at most a second ago: UTC ns since 1970. Null where there
    /// is no store yet.
    as_of_ns: Option<i64>,
    /// Stored rows; null where there is no store yet.
    rows: Option<u64>,
    /// Sealed segments; null for a cluster.
    segments: Option<u64>,
    /// Bytes of sealed segments; for a cluster, of its table of transactions.
    bytes: Option<u64>,
    /// Time range of the stored roots; null without any.
    covered: Option<Covered>,
    /// The collector's last status (`GET /status`), or null without a collector; of a cluster, of all
    /// collectors before it together.
    #[schema(value_type = Option<Object>)]
    collector: Option<CollectorStatus>,
    /// Contents of the store and the server in addition to transactions.
    has: Has,
    /// The collectors before the cluster, by their number; empty where the store is files.
    collectors: Vec<CollectorView>,
    /// Other stores that `/compare` may be asked about (`serve --compare`), by name.
    compare: Vec<String>,
}

/// A collector (`serve`) before a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct CollectorView {
    /// Its number, in hexadecimal digits.
    id: String,
    host: String,
    process: u32,
    program: String,
    /// Where it listens.
    address: String,
    /// When it was started: UTC ns since 1970.
    started_ns: i64,
    /// Age of its last heartbeat: ns.
    age_ns: i64,
    /// Whether it was heard within the last 10 s.
    live: bool,
    /// Number of its rules.
    rules: u64,
}

impl From<&CollectorRow> for CollectorView {
    fn from(row: &CollectorRow) -> Self {
        Self {
            id: format!("{:016x}", row.id),
            host: row.host.clone(),
            process: row.pid,
            program: row.program.clone(),
            address: row.address.clone(),
            started_ns: row.started_ns,
            age_ns: row.age_ns,
            live: is_alive(row),
            rules: row.rules,
        }
    }
}

/// From the first minute that has rows to the end of the last one, by their roots' starts.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Covered {
    /// UTC ns since 1970.
    from_ns: i64,
    /// UTC ns since 1970.
    until_ns: i64,
}

/// Available kinds of questions.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub(crate) struct Has {
    /// `/hosts`: load or round trips of hosts.
    hosts: bool,
    /// `/runs`: runs of `chronoscope track`.
    runs: bool,
    /// `/rings`: a folder of rings on this host.
    rings: bool,
    /// Readings of hosts' clocks.
    clocks: bool,
}

/// Sources and contents of the server.
#[utoipa::path(get, path = "/status", tag = "now",
    responses((status = 200, body = Status), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 500, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn status(
    State(api): State<Api>,
    PlainParameters { own: Nothing {}, .. }: PlainParameters<Nothing>,
) -> Result<Json<Status>, ApiError> {
    beside(move || read(&api)).await
}

fn read(api: &Api) -> Result<Status, ApiError> {
    let collector = api.collector_status()?;
    let everybody = api.everybody()?;
    let mut status = Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        store: api.source.to_string(),
        as_of_ns: None,
        rows: None,
        segments: None,
        bytes: None,
        covered: None,
        collector,
        has: Has {
            rings: api.rings.is_dir(),
            runs: runs::is_any(&api.runs),
            hosts: false,
            clocks: false,
        },
        collectors: everybody.iter().flat_map(|all| &all.collectors).map(Into::into).collect(),
        compare: api.others.keys().cloned().collect(),
    };
    let looked = api.recently(|view, as_of_ns| {
        status.as_of_ns = Some(as_of_ns);
        status.rows = Some(view.row_count()?);
        status.covered =
            view.extent()?.map(|covered| Covered { from_ns: covered.start, until_ns: covered.end });
        let kept = |name: &ClassName| name.application == rows::APPLICATION;
        status.has.hosts = view.names()?.iter().any(kept);
        if let StoreView::Cluster(remote) = view {
            status.bytes = Some(remote.stored_bytes()?);
            status.has.clocks = remote.cluster().has_clocks()?;
        }
        if let StoreView::Files(snapshot) = view {
            let segments = snapshot.segments();
            status.segments = Some(segments.len() as u64);
            status.bytes = Some(segments.iter().map(|segment| segment.size_bytes).sum());
            status.has.clocks = !snapshot.clocks().is_empty();
        }
        Ok(())
    });
    match looked {
        // A store that nobody has written to yet is an empty one.
        Err(error) if error.is_missing() => {
            (status.rows, status.segments, status.bytes) = (Some(0), Some(0), Some(0));
        }
        looked => looked?,
    }
    Ok(status)
}
