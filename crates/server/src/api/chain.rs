//! `GET /chains/{chain}`: one chain as a waterfall, and as a trace for Perfetto.

use super::error::{ApiError, ErrorBody};
use super::parameters::{Path, PlainParameters, QuestionName};
use super::selection::ClockChoice;
use super::{Api, cpu, idle, rings};
use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use chronoscope_chain::links::bits;
use chronoscope_chain::{ChainStatus, ClockShift, Hop, Linker, in_tree_order};
use chronoscope_formats::trace;
use chronoscope_model::{
    ChainId, ClassId, ClassName, Flags, FurtherParent, PathId, Status, Transaction, TransactionId,
};
use chronoscope_query::ClassStatistics;
use chronoscope_query::{Progress, QueryError, StoreView};
use chronoscope_statistics::{Histogram, bucket_index};
use chronoscope_store::{ClockTable, MINUTE_NS};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use utoipa::{IntoParams, ToSchema};

/// Half of the time around a row whose sketches give the row's percentile.
const AROUND_NS: i64 = 30 * MINUTE_NS;
/// Rows of a chain that are sent; a page cannot draw more.
const ROWS_MAX: usize = 100_000;

/// Search parameters of a chain.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ChainSearch {
    /// Approximate start of its root: UTC ns since 1970. Without it the whole store is searched,
    /// which takes about a millisecond for each stored minute.
    near_ns: Option<i64>,
    /// The clocks by which its rows are placed; `raw` by default.
    clocks: Option<ClockChoice>,
}

/// One chain. Times are relative to its root's start.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Chain {
    chain: String,
    /// UTC ns since 1970: of the root, or of the first row where the root is missing.
    root_start_ns: i64,
    /// From `root_start_ns` to the last end.
    duration_ns: i64,
    /// From `root_start_ns` to the end of the leaf that starts last.
    apcd_ns: i64,
    /// The worst status of the rows that count for the chain: FAILED, else ABORTED, else UNKNOWN,
    /// else GOOD. Independent transactions (ARM 4.1), what is below them and open rows do not count.
    status: String,
    /// Rows that are not GOOD and count.
    not_good: u64,
    /// Rows that are not GOOD and do not count: independent, or below an independent one.
    independent_not_good: u64,
    /// True when the chain has one root and no row's parent is missing.
    complete: bool,
    /// Rows whose parent is missing.
    missing: u64,
    /// In the order of the tree.
    rows: Vec<ChainRow>,
    /// Intervals in which no row of the chain ran.
    idle: Vec<Idle>,
    /// The chain before; always null in this version.
    previous: Option<String>,
    /// The chain after; always null in this version.
    next: Option<String>,
    /// Segments that could not be read, as text.
    damage: Vec<String>,
}

/// One transaction of a chain.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ChainRow {
    id: String,
    parent: Option<String>,
    /// Steps from the topmost present row above it.
    depth: usize,
    /// Steps from the root, as recorded.
    level: u16,
    application: String,
    class: String,
    host: String,
    process: u32,
    thread: u32,
    /// Relative to the root's start; may be negative.
    start_ns: i64,
    elapsed_ns: u64,
    /// CPU time of its thread; null where it was not measured, as for spans of OpenTelemetry.
    cpu_ns: Option<u64>,
    status: String,
    /// Its parent did not wait for it.
    asynchronous: bool,
    /// Its status has no effect on its parent's.
    independent: bool,
    /// Its status counts for the chain's: neither it nor a transaction above it is independent.
    counts_for_chain: bool,
    /// From its parent's end to its start; null where the parent still ran or is missing.
    wait_ns: Option<i64>,
    /// Share of its class that took no longer, in [0, 100]: from the sketches of the hour around,
    /// to their resolution of 3.125 %. Null for a row that has not ended.
    percentile: Option<f64>,
    /// Largest error of its start relative to the root's start; null where clocks were not read.
    clock_error_ns: Option<u64>,
    /// True for a transaction that has not ended: `elapsed_ns` is its age.
    open: bool,
    /// Its further parents: transactions that it takes besides `parent`.
    links: Vec<ChainLink>,
    /// True where it has further parents that its row had no room for.
    links_unknown: bool,
    properties: BTreeMap<String, String>,
    metrics: BTreeMap<String, Metric>,
}

/// A further parent of a transaction: a batch or a join has several.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ChainLink {
    /// The further parent's chain, which may be this one.
    chain: String,
    /// The further parent's id.
    id: String,
    /// `APPLICATION::CLASS` of the further parent, where it is known.
    class: Option<String>,
    /// Start of its chain's root: UTC ns since 1970; null where the link does not carry it.
    root_start_ns: Option<i64>,
}

/// A metric: a number, or text where JSON has no number for it (infinite, not a number).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Metric {
    /// A finite number.
    Number(f64),
    /// `inf`, `-inf` or `NaN`.
    Words(String),
}

/// An interval, relative to the root's start.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(super) struct Idle {
    from_ns: i64,
    until_ns: i64,
}

/// A chain's rows, and the clocks that place them.
struct Found {
    rows: Vec<Transaction>,
    open: HashSet<TransactionId>,
    clocks: ClockTable,
    /// The classes at the ends of these paths, as text.
    ends: HashMap<PathId, String>,
    damage: Vec<String>,
}

/// One chain as a waterfall.
#[utoipa::path(get, path = "/chains/{chain}", tag = "chains",
    params(("chain" = String, Path, pattern = "^[0-9a-f]{1,32}$", description = "its id"),
        ChainSearch, QuestionName),
    responses((status = 200, body = Chain), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 500, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn chain(
    State(api): State<Api>,
    Path(chain): Path<ChainId>,
    PlainParameters { id, own: near }: PlainParameters<ChainSearch>,
) -> Result<Json<Chain>, ApiError> {
    api.ask(id, move |api, _| {
        let found = find(api, chain, near.near_ns, Some(&api.rings))?;
        let first = found.rows.iter().map(|row| row.start_ns).min().unwrap_or(0);
        let around = first.saturating_sub(AROUND_NS)..first.saturating_add(AROUND_NS);
        let (classes, damage) = api.recently(|view, _| view.classes(&around))?;
        let mut answer = waterfall(chain, &found, near.clocks, &classes);
        answer.damage.extend(damage.iter().map(ToString::to_string));
        Ok(answer)
    })
    .await
}

/// One chain as a Chrome trace, for ui.perfetto.dev.
#[utoipa::path(get, path = "/chains/{chain}/perfetto", tag = "chains",
    params(("chain" = String, Path, pattern = "^[0-9a-f]{1,32}$", description = "its id"),
        ChainSearch, QuestionName),
    responses((status = 200, body = Object, content_type = "application/json"),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(super) async fn perfetto(
    State(api): State<Api>,
    Path(chain): Path<ChainId>,
    PlainParameters { id, own: near }: PlainParameters<ChainSearch>,
) -> Result<Response, ApiError> {
    let Json(bytes) = api
        .ask(id, move |api, _| {
            let mut found = find(api, chain, near.near_ns, None)?;
            let mut bytes = Vec::new();
            trace::write(&mut found.rows, &mut bytes).map_err(ApiError::failed)?;
            Ok(bytes)
        })
        .await?;
    let name = format!("attachment; filename=\"chain-{chain}.json\"");
    let headers = [(CONTENT_TYPE, "application/json".to_owned()), (CONTENT_DISPOSITION, name)];
    Ok((headers, bytes).into_response())
}

/// Collects the rows of a chain: stored ones and, given a folder of rings, those that have not
/// ended.
fn find(
    api: &Api,
    chain: ChainId,
    near_ns: Option<i64>,
    rings: Option<&std::path::Path>,
) -> Result<Found, ApiError> {
    let near: Option<Range<i64>> = near_ns.map(|near| near..near.saturating_add(1));
    let read = |view: &StoreView| {
        let (rows, damage) = view.chain(chain, near.clone())?;
        let ends = ends(&rows, view)?;
        Ok::<_, QueryError>((rows, damage, view.clocks()?, ends))
    };
    let mut found = api.recently(|view, _| read(view))?;
    if found.0.is_empty() {
        found = api.source.with(read)?; // it may have come since
    }
    let (mut rows, damage, clocks, ends) = found;
    let mut open = HashSet::new();
    if let Some(folder) = rings {
        let stored: HashSet<_> = rows.iter().map(|row| row.id).collect();
        let more = rings::open_of(folder, chain);
        let more: Vec<_> = more.into_iter().filter(|row| !stored.contains(&row.id)).collect();
        open.extend(more.iter().map(|row| row.id));
        rows.extend(more);
    }
    if rows.is_empty() {
        let wider = match near_ns {
            Some(_) => {
                "no such transaction starts near that time: repeat the request without near_ns"
            }
            None => "it may be too new to be stored, or was removed for its age",
        };
        return Err(ApiError::missing(format!("no chain {chain}")).hint(wider));
    }
    if rows.len() > ROWS_MAX {
        let what = format!("the chain has {} rows, more than the limit of {ROWS_MAX}", rows.len());
        return Err(ApiError::question(what).hint("chronoscope export --chain ID writes it"));
    }
    let damage = damage.iter().map(ToString::to_string).collect();
    Ok(Found { rows, open, clocks, ends, damage })
}

/// The classes at the ends of the paths that links carry.
fn ends(rows: &[Transaction], view: &StoreView) -> Result<HashMap<PathId, String>, QueryError> {
    let links = rows.iter().flat_map(|row| &row.extras.further_parents);
    let paths: Vec<PathId> = links.filter_map(|link| Some(link.root?.path)).collect();
    if paths.is_empty() {
        return Ok(HashMap::new());
    }
    let no_rows = view.rows(&[], &Progress::default())?;
    let names = no_rows.names();
    let end = |path| Some((path, names.class_text(*names.path(path)?.last()?)));
    Ok(paths.into_iter().filter_map(end).collect())
}

fn waterfall(
    chain: ChainId,
    found: &Found,
    clocks: Option<ClockChoice>,
    classes: &BTreeMap<ClassName, ClassStatistics>,
) -> Chain {
    let order = in_tree_order(&found.rows);
    let top = &found.rows[order.first().map_or(0, |(row, _)| *row)];
    let corrected = clocks == Some(ClockChoice::Corrected);
    let placed: Vec<_> = found.rows.iter().map(|row| place(row, top, found, corrected)).collect();
    let hops: Vec<Hop> = found.rows.iter().zip(&placed).map(hop).collect();
    let mut linker = Linker::default();
    let places = linker.link(&hops);
    let ends = hops.iter().map(|hop| hop.end_ns());
    let last = places.iter().zip(&hops).find(|(place, _)| place.has(bits::LAST_LEAF));
    let missing = places.iter().filter(|p| p.parent().is_none() && !p.is_root()).count();
    let roots = places.iter().filter(|place| place.is_root() && !place.duplicate).count();
    let by_id: HashMap<_, _> =
        found.rows.iter().zip(&hops).map(|(row, hop)| (row.id, hop)).collect();
    let status = status_of(found);
    let by_id_row: HashMap<_, _> = found.rows.iter().map(|row| (row.id, row)).collect();
    let rows = order.iter().map(|(index, depth)| {
        let (row, hop) = (&found.rows[*index], &hops[*index]);
        let parent =
            by_id.get(&row.parent).filter(|_| !row.parent.is_none() && row.parent != row.id);
        let wait = parent.map(|parent| hop.start_ns.saturating_sub(parent.end_ns()));
        let open = found.open.contains(&row.id);
        let like = classes.get(&row.class).filter(|_| !open);
        ChainRow {
            depth: *depth,
            start_ns: hop.start_ns,
            wait_ns: wait.filter(|wait| *wait >= 0),
            percentile: like.and_then(|like| percentile(&like.elapsed, row.elapsed_ns)),
            clock_error_ns: placed[*index].error_ns,
            open,
            counts_for_chain: status.counts[*index],
            links: links(row, found, &by_id_row),
            links_unknown: row.flags.contains(Flags::FURTHER_PARENTS)
                && row.extras.further_parents.is_empty(),
            ..ChainRow::of(row)
        }
    });
    let idle = idle::idle(hops.iter().map(|hop| (hop.start_ns, hop.end_ns())).collect());
    let idle = idle.into_iter().map(|(from_ns, until_ns)| Idle { from_ns, until_ns });
    Chain {
        chain: chain.to_string(),
        root_start_ns: top.start_ns,
        duration_ns: ends.max().unwrap_or(0),
        apcd_ns: last.map_or(0, |(_, hop)| hop.end_ns()),
        status: status.status.to_string(),
        not_good: status.not_good,
        independent_not_good: status.independent_not_good,
        complete: missing == 0 && roots == 1 && found.open.is_empty(),
        missing: missing as u64,
        rows: rows.collect(),
        idle: idle.collect(),
        previous: None,
        next: None,
        damage: found.damage.clone(),
    }
}

/// The status of the chain. What has not ended has none yet, whatever its frame says.
fn status_of(found: &Found) -> ChainStatus {
    if found.open.is_empty() {
        return ChainStatus::of(&found.rows);
    }
    let mut rows = found.rows.clone();
    for row in rows.iter_mut().filter(|row| found.open.contains(&row.id)) {
        row.status = Status::Good;
    }
    ChainStatus::of(&rows)
}

/// The further parents of a row.
fn links(
    row: &Transaction,
    found: &Found,
    by_id: &HashMap<TransactionId, &Transaction>,
) -> Vec<ChainLink> {
    let link = |link: &FurtherParent| {
        let here = by_id.get(&link.id).filter(|other| other.chain == link.chain);
        let carried = || link.root.and_then(|root| found.ends.get(&root.path).cloned());
        ChainLink {
            chain: link.chain.to_string(),
            id: link.id.to_string(),
            class: here.map(|row| row.class.to_string()).or_else(carried),
            root_start_ns: link.root.map(|root| root.start_ns),
        }
    };
    row.extras.further_parents.iter().map(link).collect()
}

/// A row's start relative to the root, with its error.
#[derive(Clone, Copy)]
struct Placed {
    start_ns: i64,
    error_ns: Option<u64>,
}

fn place(row: &Transaction, top: &Transaction, found: &Found, corrected: bool) -> Placed {
    let start_ns = row.start_ns.saturating_sub(top.start_ns);
    let host = |row: &Transaction| row.process.as_ref().map(|process| process.host.clone());
    if row.id == top.id || (host(row).is_some() && host(row) == host(top)) {
        return Placed { start_ns, error_ns: Some(0) };
    }
    let both = found.clocks.of_transaction(top).zip(found.clocks.of_transaction(row));
    match both.map(|(top, row)| ClockShift::between(top, row)) {
        None => Placed { start_ns, error_ns: None },
        Some(shift) if corrected => Placed {
            start_ns: start_ns.saturating_add(shift.correction_ns),
            error_ns: Some(shift.error_ns),
        },
        Some(shift) => Placed { start_ns, error_ns: Some(shift.raw_error_ns()) },
    }
}

fn hop((row, placed): (&Transaction, &Placed)) -> Hop {
    Hop {
        id: row.id,
        parent: row.parent,
        class: ClassId::of(&row.class.application, &row.class.class),
        start_ns: placed.start_ns,
        elapsed_ns: row.elapsed_ns,
    }
}

/// Share of the counted values in `value`'s bucket or below, in percent.
fn percentile(histogram: &Histogram, value: u64) -> Option<f64> {
    let own = bucket_index(value);
    let below: u64 =
        histogram.buckets().take_while(|(bucket, _)| *bucket <= own).map(|(_, count)| count).sum();
    (histogram.count() > 0).then(|| 100.0 * below as f64 / histogram.count() as f64)
}

impl ChainRow {
    /// Builds a row from the transaction alone.
    fn of(row: &Transaction) -> Self {
        let process = row.process.as_ref();
        let metric = |(key, value): &(String, f64)| {
            let value = if value.is_finite() {
                Metric::Number(*value)
            } else {
                Metric::Words(value.to_string())
            };
            (key.clone(), value)
        };
        Self {
            id: row.id.to_string(),
            parent: (!row.parent.is_none()).then(|| row.parent.to_string()),
            depth: 0,
            level: row.level,
            application: row.class.application.clone(),
            class: row.class.class.clone(),
            host: process.map_or_else(String::new, |process| process.host.clone()),
            process: process.map_or(0, |process| process.pid),
            thread: row.thread,
            start_ns: row.start_ns,
            elapsed_ns: row.elapsed_ns,
            cpu_ns: cpu::of_row(row.cpu_ns, row.flags),
            status: row.status.to_string(),
            asynchronous: row.flags.contains(Flags::ASYNCHRONOUS),
            independent: row.flags.contains(Flags::INDEPENDENT),
            counts_for_chain: true,
            wait_ns: None,
            percentile: None,
            clock_error_ns: None,
            open: false,
            links: Vec::new(),
            links_unknown: false,
            properties: row.properties.iter().cloned().collect(),
            metrics: row.metrics.iter().map(metric).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_counts_what_took_no_longer() {
        let mut histogram = Histogram::default();
        [1, 2, 3, 4].into_iter().for_each(|value| histogram.add(value));
        assert_eq!(percentile(&histogram, 3), Some(75.0));
        assert_eq!(percentile(&histogram, 0), Some(0.0));
        assert_eq!(percentile(&histogram, 1 << 40), Some(100.0));
        assert_eq!(percentile(&Histogram::default(), 1), None);
    }
}
