//! `GET /rings`, `GET /rings/{process}`: current activity of the programs on this host, read
//! directly from their rings.

use super::error::{ApiError, ErrorBody};
use super::parameters::{Nothing, Path, PlainParameters};
use super::stored::quantiles;
use super::{Api, beside, cpu};
use axum::Json;
use axum::extract::State;
use chronoscope_model::{ChainId, ClassName, Names, ProcessId, Record, Transaction};
use chronoscope_query::ClassSelector;
use chronoscope_record::read::{Ring, RingError, find_rings, rings_of};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path as FilePath;
use utoipa::{IntoParams, ToSchema};

/// Transactions of a ring that are sent.
const LAST_MAX: usize = 10_000;

/// The rings of this host.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Rings {
    rings: Vec<RingRow>,
    /// Rings that cannot be read, and why.
    failed: Vec<String>,
}

/// The ring of one process.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RingRow {
    /// The process's id, in hexadecimal digits.
    id: String,
    application: String,
    /// Host of the process.
    instance: String,
    /// Process id on that host.
    process: u32,
    /// Whether the process is running.
    alive: bool,
    /// UTC ns since 1970.
    started_ns: i64,
    /// Transactions that it recorded since it began.
    recorded: u64,
    /// Transactions that it could not record since it began.
    lost: u64,
    /// Transactions that have not ended.
    open: u64,
}

/// The ring of one process, and its contents.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RingContent {
    ring: RingRow,
    classes: Vec<RingClass>,
    /// The last ones by their ends, newest first.
    last: Vec<Last>,
    /// Open transactions, oldest first.
    open: Vec<Open>,
}

/// One class since the process started. Quantiles are at most 3.125 % too large.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RingClass {
    /// `APPLICATION::CLASS`.
    class: String,
    count: u64,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
    /// Thread CPU time of all of them; null where none has any.
    cpu_ns: Option<u64>,
}

/// A transaction that ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Last {
    class: String,
    /// UTC ns since 1970.
    start_ns: i64,
    elapsed_ns: u64,
    cpu_ns: Option<u64>,
    status: String,
    chain: String,
}

/// A transaction that has not ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Open {
    class: String,
    /// Start time: UTC ns since 1970.
    since_ns: i64,
    /// Time for which it has been open.
    age_ns: u64,
    chain: String,
}

/// Number of transactions to return.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct LastTransactions {
    /// Number of last transactions; the default is 100.
    #[param(maximum = 10_000)]
    last: Option<usize>,
}

/// The rings of this host.
#[utoipa::path(get, path = "/rings", tag = "rings",
    responses((status = 200, body = Rings), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 500, body = ErrorBody)))]
pub(super) async fn rings(
    State(api): State<Api>,
    PlainParameters { own: Nothing {}, .. }: PlainParameters<Nothing>,
) -> Result<Json<Rings>, ApiError> {
    beside(move || {
        let mut answer = Rings { rings: Vec::new(), failed: Vec::new() };
        let found = rings_of(&api.rings).unwrap_or_else(|error| {
            answer.failed.push(error.to_string());
            Vec::new()
        });
        for path in found {
            match Ring::open(&path).and_then(|mut ring| row(&mut ring)) {
                Ok(row) => answer.rings.push(row),
                Err(error @ (RingError::Refused { .. } | RingError::Io { .. })) => {
                    answer.failed.push(error.to_string());
                }
                Err(error) => answer.failed.push(format!("{}: {error}", path.display())),
            }
        }
        answer.rings.sort_by(|a, b| (&a.application, a.process).cmp(&(&b.application, b.process)));
        Ok(answer)
    })
    .await
}

/// Contents of the ring of one process.
#[utoipa::path(get, path = "/rings/{process}", tag = "rings",
    params(("process" = String, Path, pattern = "^[0-9a-f]{1,16}$", description = "its id"),
        LastTransactions),
    responses((status = 200, body = RingContent), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub(super) async fn ring(
    State(api): State<Api>,
    Path(process): Path<Hexadecimal>,
    PlainParameters { own: LastTransactions { last }, .. }: PlainParameters<LastTransactions>,
) -> Result<Json<RingContent>, ApiError> {
    let last = last.unwrap_or(100);
    if last > LAST_MAX {
        return Err(ApiError::question(format!("last: at most {LAST_MAX}")));
    }
    beside(move || {
        let mut found = rings_in(&api.rings).filter(|ring| ring.process_id() == process.0);
        let mut ring = found.next().ok_or_else(|| {
            ApiError::missing("that process has no ring").hint(
                "the process has ended and its ring was stored and removed; /rings lists the rings",
            )
        })?;
        content(&mut ring, last).map_err(ApiError::failed)
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

fn row(ring: &mut Ring) -> Result<RingRow, RingError> {
    let recorded = ring.statistics()?.iter().map(|class| class.count).sum();
    let open = ring.open_transactions()?.len() as u64;
    let process = ring.process();
    Ok(RingRow {
        id: ring.process_id().to_string(),
        application: process.application.clone(),
        instance: process.host.clone(),
        process: process.pid,
        alive: ring.is_alive(),
        started_ns: process.start_ns,
        recorded,
        lost: ring.counters()?.dropped(),
        open,
    })
}

fn content(ring: &mut Ring, count: usize) -> Result<RingContent, RingError> {
    let classes = ring.statistics()?.into_iter().map(|class| {
        let (p50_ns, p99_ns, max_ns) = quantiles(&class.elapsed);
        RingClass {
            class: class.name.to_string(),
            count: class.count,
            p50_ns,
            p99_ns,
            max_ns,
            cpu_ns: cpu::of_sum(u64::try_from(class.cpu.sum()).unwrap_or(u64::MAX)),
        }
    });
    let classes = classes.collect();
    let (batch, opened) = (ring.last(count)?, ring.open_transactions()?);
    ring.refresh_names()?; // a class may have come with the last transactions
    let names = ring.names();
    let last = batch.records().iter().rev().map(|record| Last {
        class: class(names, record),
        start_ns: record.start_ns,
        elapsed_ns: record.elapsed_ns,
        cpu_ns: cpu::of_row(record.cpu_ns, record.flags()),
        status: record.status().to_string(),
        chain: record.chain().to_string(),
    });
    let last = last.collect();
    let open = opened.iter().map(|open| Open {
        class: class(names, &open.record),
        since_ns: open.record.start_ns,
        age_ns: open.record.elapsed_ns,
        chain: open.record.chain().to_string(),
    });
    let mut open: Vec<_> = open.collect();
    open.sort_by_key(|open| open.since_ns);
    Ok(RingContent { ring: row(ring)?, classes, last, open })
}

fn class(names: &Names, record: &Record) -> String {
    let unnamed = || ClassName { application: String::new(), class: format!("?{}", record.class) };
    names.class(record.class).cloned().unwrap_or_else(unnamed).to_string()
}
