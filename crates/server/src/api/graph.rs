//! `GET /graph`: the call graph of classes.
//!
//! Counts and elapsed times come from the sketches and cover all stored transactions. Waits, hosts
//! and calls of foreign chains come from a sample of whole chains, because sketches of foreign
//! chains have no path.

use super::Api;
use super::error::{ApiError, ErrorBody};
use super::parameters::{Nothing, QuestionName, SelectionParameters};
use super::selection::Selection;
use super::stored::quantiles;
use axum::Json;
use axum::extract::State;
use chronoscope_model::{ChainId, ClassName, Flags, Names, PathId, Transaction, TransactionId};
use chronoscope_query::{ClassSelector, ClassStatistics, PathStatistics};
use chronoscope_statistics::{Quantile, nearest_rank};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use utoipa::ToSchema;

/// Transactions that are read for waits and hosts.
const SAMPLE_ROWS: usize = 50_000;

/// The call graph of classes.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Graph {
    /// Classes, by name.
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Unreadable files, as text.
    damage: Vec<String>,
}

/// One class. Quantiles are a sketch's: at most 3.125 % too large.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Node {
    /// `APPLICATION::CLASS`.
    id: String,
    application: String,
    class: String,
    /// Hosts on which it ran in the sample.
    hosts: Vec<String>,
    count: u64,
    /// Transactions a second over the selected time, as far as it is stored.
    rate_per_s: f64,
    p50_ns: u64,
    p99_ns: u64,
}

/// One class calls another.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Edge {
    /// The caller's id.
    from: String,
    /// The callee's id.
    to: String,
    /// Calls; only those of the sample where `sampled` is true.
    count: u64,
    rate_per_s: f64,
    /// True when most of the sampled callers do not wait for it.
    asynchronous: bool,
    /// Median time from the caller's end to the callee's start, in the sample; null where the
    /// callee always started while its caller ran.
    wait_p50_ns: Option<i64>,
    wait_p99_ns: Option<i64>,
    /// True when the count is of the sample only: these chains are stored without paths.
    sampled: bool,
    /// True for a link: `from` is a further parent of `to`, which is in a chain of its own or is
    /// called by another. Links are counted in the sample.
    link: bool,
}

/// The call graph of classes. Of the selection only its time and its root are used: with a root
/// only chains below that class are drawn.
#[utoipa::path(get, path = "/graph", tag = "stored", params(Selection, QuestionName),
    responses((status = 200, body = Graph), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn graph(
    State(api): State<Api>,
    SelectionParameters { selection, id, own: Nothing {} }: SelectionParameters<Nothing>,
) -> Result<Json<Graph>, ApiError> {
    let start_ns = selection.start_ns();
    let root = selection.root.clone().filter(|root| !root.is_empty()).map(ClassSelector);
    api.ask(id, move |api, progress| {
        let (stored, damage) = api.recently(|view, _| {
            let rows = view.rows(std::slice::from_ref(&start_ns), progress)?;
            let snapshot = &*rows;
            let (paths, mut damage) = view.paths(&start_ns, progress)?;
            let (sample, more) =
                chronoscope_query::sample(snapshot, &start_ns, SAMPLE_ROWS, progress)?;
            let (classes, _) = view.classes(&start_ns)?; // the damage is that of paths
            damage.extend(more);
            let extent = snapshot.extent().unwrap_or(0..0);
            let (from, until) = (extent.start.max(start_ns.start), extent.end.min(start_ns.end));
            let seconds = until.saturating_sub(from).max(0) as f64 / 1e9;
            let ends = ends(&sample, snapshot.names());
            Ok((Stored { paths, sample, classes, ends, seconds }, damage))
        })?;
        let damage = damage.iter().map(ToString::to_string).collect();
        Ok(stored.graph(root.as_ref(), damage))
    })
    .await
}

/// The stored data that a graph is built from.
struct Stored {
    paths: BTreeMap<String, PathStatistics>,
    sample: Vec<Transaction>,
    classes: BTreeMap<ClassName, ClassStatistics>,
    /// The classes at the ends of the paths that links carry.
    ends: HashMap<PathId, ClassName>,
    /// Length of the stored time.
    seconds: f64,
}

/// The classes at the ends of the paths that links carry.
fn ends(sample: &[Transaction], names: &Names) -> HashMap<PathId, ClassName> {
    let links = sample.iter().flat_map(|row| &row.extras.further_parents);
    let paths = links.filter_map(|link| link.root.map(|root| root.path));
    let end = |path| Some((path, names.class(*names.path(path)?.last()?)?.clone()));
    paths.filter_map(end).collect()
}

/// Calls between two classes.
#[derive(Default)]
struct Calls {
    /// Calls by the sketches.
    counted: u64,
    sampled: u64,
    asynchronous: u64,
    waits_ns: Vec<u64>,
}

impl Stored {
    fn graph(self, root: Option<&ClassSelector>, damage: Vec<String>) -> Graph {
        let below = |class: &ClassName| root.is_none_or(|root| root.selects(class));
        let mut calls: BTreeMap<(ClassName, ClassName), Calls> = BTreeMap::new();
        let mut drawn: BTreeSet<ClassName> = BTreeSet::new();
        for path in self.paths.values().filter(|path| path.hops.first().is_some_and(below)) {
            drawn.extend(path.hops.last().cloned());
            if let [.., from, to] = &path.hops[..] {
                let call = calls.entry((from.clone(), to.clone())).or_default();
                call.counted += path.since_root.count();
            }
        }
        let mut hosts: HashMap<&ClassName, BTreeSet<&str>> = HashMap::new();
        let by_id: HashMap<(ChainId, TransactionId), &Transaction> =
            self.sample.iter().map(|row| ((row.chain, row.id), row)).collect();
        for row in &self.sample {
            let host = row.process.as_ref().map(|process| process.host.as_str());
            hosts.entry(&row.class).or_default().extend(host);
            let foreign = row.flags.contains(Flags::FOREIGN);
            if foreign && root.is_none() {
                drawn.insert(row.class.clone());
            }
            let parent = by_id.get(&(row.chain, row.parent)).filter(|_| !row.parent.is_none());
            let Some(parent) = parent.filter(|parent| parent.id != row.id) else { continue };
            let pair = (parent.class.clone(), row.class.clone());
            // With a root, only paths decide; without one, every sampled call is drawn.
            let call = match calls.get_mut(&pair) {
                Some(call) => call,
                None if root.is_none() => calls.entry(pair).or_default(),
                None => continue,
            };
            call.add(parent, row);
        }
        drawn.extend(calls.keys().flat_map(|(from, to)| [from.clone(), to.clone()]));
        let mut links = self.links(&by_id);
        match root {
            None => drawn.extend(links.keys().flat_map(|(from, to)| [from.clone(), to.clone()])),
            Some(_) => links.retain(|(from, to), _| drawn.contains(from) && drawn.contains(to)),
        }
        let nodes = drawn.iter().map(|name| {
            let class = self.classes.get(name);
            let (p50_ns, p99_ns, _) = class.map_or((0, 0, 0), |class| quantiles(&class.elapsed));
            let count = class.map_or(0, |class| class.elapsed.count());
            let hosts = hosts.get(name).into_iter().flatten();
            Node {
                id: name.to_string(),
                application: name.application.clone(),
                class: name.class.clone(),
                hosts: hosts.map(|host| (*host).to_owned()).collect(),
                count,
                rate_per_s: self.rate(count),
                p50_ns,
                p99_ns,
            }
        });
        let nodes = nodes.collect();
        let calls = calls.into_iter().map(|(pair, call)| self.edge(pair, call, false));
        let links = links.into_iter().map(|(pair, call)| self.edge(pair, call, true));
        Graph { nodes, edges: calls.chain(links).collect(), damage }
    }

    /// Links of the sample, by the classes of the further parent and of the row that takes it. A
    /// further parent of unknown class is left out.
    fn links(
        &self,
        by_id: &HashMap<(ChainId, TransactionId), &Transaction>,
    ) -> BTreeMap<(ClassName, ClassName), Calls> {
        let mut links: BTreeMap<(ClassName, ClassName), Calls> = BTreeMap::new();
        for row in &self.sample {
            for link in &row.extras.further_parents {
                let parent = by_id.get(&(link.chain, link.id));
                let carried = || self.ends.get(&link.root?.path);
                let Some(class) = parent.map(|parent| &parent.class).or_else(carried) else {
                    continue;
                };
                let calls = links.entry((class.clone(), row.class.clone())).or_default();
                match parent {
                    Some(parent) => calls.add(parent, row),
                    None => calls.sampled += 1,
                }
            }
        }
        links
    }

    /// Count in a second.
    fn rate(&self, count: u64) -> f64 {
        if self.seconds > 0.0 { count as f64 / self.seconds } else { 0.0 }
    }

    fn edge(&self, (from, to): (ClassName, ClassName), mut call: Calls, link: bool) -> Edge {
        let (sampled, count) = match call.counted {
            0 => (true, call.sampled),
            counted => (false, counted),
        };
        let [wait_p50_ns, wait_p99_ns] = call.waits();
        Edge {
            from: from.to_string(),
            to: to.to_string(),
            count,
            rate_per_s: if sampled { 0.0 } else { self.rate(count) },
            asynchronous: call.asynchronous * 2 > call.sampled,
            wait_p50_ns,
            wait_p99_ns,
            sampled,
            link,
        }
    }
}

impl Calls {
    fn add(&mut self, parent: &Transaction, child: &Transaction) {
        self.sampled += 1;
        self.asynchronous += u64::from(child.flags.contains(Flags::ASYNCHRONOUS));
        let end_ns = parent.start_ns.saturating_add_unsigned(parent.elapsed_ns);
        if let Ok(wait_ns) = u64::try_from(child.start_ns.saturating_sub(end_ns)) {
            self.waits_ns.push(wait_ns);
        }
    }

    fn waits(&mut self) -> [Option<i64>; 2] {
        self.waits_ns.sort_unstable();
        [Quantile::P50, Quantile::P99].map(|quantile| {
            nearest_rank(&self.waits_ns, quantile).and_then(|ns| i64::try_from(ns).ok())
        })
    }
}
