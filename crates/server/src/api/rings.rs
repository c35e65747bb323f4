//! `GET /rings`, `GET /rings/{process}`: current activity of the programs on this host, read
//! directly from their rings, and on other hosts, by their agents.

use super::error::{ApiError, ErrorBody};
use super::parameters::{Nothing, Path, PlainParameters};
use super::ring_content::RingContent;
use super::ring_hosts::{self, RingHost};
use super::ring_row::{self, RingRow};
use super::{Api, beside};
use axum::Json;
use axum::extract::State;
use chronoscope_collect::rings::{LAST_MAX, RingList, RingReport};
use chronoscope_model::{ChainId, ProcessId, Record, Transaction};
use chronoscope_query::ClassSelector;
use chronoscope_record::read::{Ring, find_rings};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path as FilePath;
use utoipa::{IntoParams, ToSchema};

/// Rings in one answer.
const RINGS_MAX: usize = 10_000;

/// The rings of this host, and of the hosts whose agents deliver here.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Rings {
    rings: Vec<RingRow>,
    /// Rings of this host that cannot be read, or of which a part cannot, and why.
    failed: Vec<String>,
    /// This host first, then those with agents, by name.
    hosts: Vec<RingHost>,
}

/// Which transactions to return, and whose ring it is.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RingParameters {
    /// Number of last transactions; the default is 100.
    #[param(maximum = 10_000)]
    last: Option<usize>,
    /// Id of the agent on whose host the process is; without it, it is on this host.
    #[param(pattern = "^[0-9a-f]{32}$")]
    agent: Option<String>,
}

/// The rings of this host, and of the hosts whose agents deliver here.
#[utoipa::path(get, path = "/rings", tag = "rings",
    responses((status = 200, body = Rings), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 500, body = ErrorBody)))]
pub(super) async fn rings(
    State(api): State<Api>,
    PlainParameters { own: Nothing {}, .. }: PlainParameters<Nothing>,
) -> Result<Json<Rings>, ApiError> {
    let others = ring_hosts::ask_all(&api);
    let folder = api.rings.clone();
    let own = beside(move || Ok(RingList::read(&folder)));
    let (own, others) = tokio::join!(own, others);
    let Json(own) = own?;
    let asked = api.clone();
    let Json(everybody) = beside(move || asked.everybody()).await?;
    let mut answer =
        Rings { rings: Vec::new(), failed: own.failed.clone(), hosts: vec![RingHost::own(&own)] };
    answer.rings.extend(own.rings.iter().map(|ring| RingRow::new(ring, None)));
    for (mut host, list) in others {
        let room = RINGS_MAX.saturating_sub(answer.rings.len());
        let agent = host.agent.clone();
        let rows = list.rings.iter().take(room);
        answer.rings.extend(rows.map(|ring| RingRow::new(ring, agent.as_deref())));
        host.leave_out(list.rings.len().saturating_sub(room));
        answer.hosts.push(host);
    }
    if let Some(everybody) = everybody {
        let here = api.ingest.as_ref().map(|ingest| ingest.agents()).unwrap_or_default();
        let others = ring_hosts::elsewhere(&everybody, &here);
        // One that was here before it went elsewhere is named once.
        let known = |host: &RingHost| others.iter().any(|other| other.agent == host.agent);
        answer.hosts.retain(|host| host.agent.is_none() || !known(host));
        answer.hosts.extend(others);
    }
    Ok(Json(answer))
}

/// Contents of the ring of one process.
#[utoipa::path(get, path = "/rings/{process}", tag = "rings",
    params(("process" = String, Path, pattern = "^[0-9a-f]{1,16}$", description = "its id"),
        RingParameters),
    responses((status = 200, body = RingContent), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn ring(
    State(api): State<Api>,
    Path(process): Path<Hexadecimal>,
    PlainParameters { own: RingParameters { last, agent }, .. }: PlainParameters<RingParameters>,
) -> Result<Json<RingContent>, ApiError> {
    let last = last.unwrap_or(100);
    if last > LAST_MAX {
        return Err(ApiError::question(format!("last: at most {LAST_MAX}")));
    }
    if let Some(agent) = agent {
        return ring_hosts::ask_one(&api, &agent, process.0, last).await;
    }
    beside(move || {
        let found = RingReport::find(&api.rings, process.0, last).map_err(|error| {
            ApiError::failed(error).hint(
                "the ring was written over or cut; chronoscope live --ring COPY shows what is left",
            )
        })?;
        found.map(|report| RingContent::new(&report, None)).ok_or_else(ring_row::no_ring)
    })
    .await
}

/// A process's id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hexadecimal(ProcessId);

impl std::str::FromStr for Hexadecimal {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(|id| Self(ProcessId(id)))
    }
}

/// The readable rings of a folder; `/rings` reports the unreadable ones.
pub(super) fn rings_in(folder: &FilePath) -> impl Iterator<Item = Ring> {
    find_rings(folder).into_iter().filter_map(|path| Ring::open(&path).ok())
}

/// Number of open transactions of a class that started in a time range: UTC, nanoseconds since
/// 1970.
pub(super) fn open_of_class(
    folder: &FilePath,
    class: &ClassSelector,
    start_ns: &Range<i64>,
) -> u64 {
    let mut count = 0;
    for mut ring in rings_in(folder) {
        // `/rings` reports a damaged ring.
        let open = ring.open_transactions().unwrap_or_default();
        let is_one = |record: &Record| {
            let name = ring.names().class(record.class);
            name.is_some_and(|name| class.selects(name)) && start_ns.contains(&record.start_ns)
        };
        count += open.iter().filter(|open| is_one(&open.record)).count() as u64;
    }
    count
}

/// The transactions of a chain that have not ended.
pub(super) fn open_of(folder: &FilePath, chain: ChainId) -> Vec<Transaction> {
    let mut found = Vec::new();
    for mut ring in rings_in(folder) {
        // `/rings` reports a damaged ring.
        for open in ring.open_transactions().unwrap_or_default() {
            if open.record.chain() == chain {
                found.push(Transaction::from_record(&open.record, &open.context, ring.names()));
            }
        }
    }
    found
}
