//! Hop breakdowns of durations, which say how long each hop took and where it ran: of all that are
//! asked for where they are few, else of a sample ([`crate::draws`]).

use crate::chosen::{ChosenDetail, ChosenRows, read_chosen};
use crate::draws::{Sides, count, draw, pick, seed};
use crate::gather::{Gathered, QueryEnvironment};
use crate::path_catalog::PathCatalog;
use crate::question::{DurationKind, Question};
use crate::series::Point;
use chronoscope_chain::{HopPath, HopTimes, HostIndex, PathHop};
use chronoscope_store::{Minute, Snapshot, StoreError};
use std::collections::{HashMap, HashSet};

/// Two sets of hop breakdowns, and what their numbers mean.
pub(crate) struct Sampled {
    /// The sets: at 0 the usual ones, at 1 the others.
    pub(crate) breakdowns: [Vec<HopPath>; 2],
    /// Number of durations that each sample was drawn from.
    pub(crate) totals: [u64; 2],
    /// The names of hosts, by number.
    pub(crate) hosts: Vec<String>,
    /// The words of classes.
    pub(crate) catalog: PathCatalog,
}

/// Draws from the durations that `side` puts into one of two sets (0 or 1), and reads their
/// breakdowns.
pub(crate) fn sample(
    snapshot: &Snapshot,
    question: &Question,
    gathered: &Gathered<'_>,
    sides: &Sides,
    (sample, asking): (usize, &QueryEnvironment<'_>),
) -> Result<Sampled, StoreError> {
    let seed = seed(question);
    let counts = count(gathered, sides)?;
    let draws = [0, 1].map(|set| draw(&counts, set, sample, seed));
    let drawn = draws.iter().flat_map(|draws| draws.keys().copied()).collect();
    let quota = |set: usize, start_ns: i64| {
        let minute = Minute::of(start_ns);
        draws[set].get(&minute).map(|quota| (minute.0, *quota))
    };
    let points = pick(gathered, sides, &drawn, quota, seed)?;
    let totals = [0, 1].map(|set| counts.values().map(|counts| counts[set]).sum());
    if question.kind == DurationKind::Sync {
        return alone(gathered, &points, (totals, PathCatalog::new(snapshot.names(), question)));
    }
    let all: Vec<Point> = points.iter().flatten().copied().collect();
    let chosen = read_chosen(snapshot, question, (&all, gathered), ChosenDetail::Hops, asking)?;
    let ChosenRows { breakdowns: found, hosts, catalog, .. } = chosen;
    let others: HashSet<Point> = points[1].iter().copied().collect();
    let mut breakdowns = [Vec::new(), Vec::new()];
    for (point, way) in found {
        breakdowns[usize::from(others.contains(&point))].push(way);
    }
    Ok(Sampled { breakdowns, totals, hosts, catalog })
}

/// The breakdowns of transactions by themselves: a single hop each, and where it ran.
fn alone(
    gathered: &Gathered<'_>,
    points: &[Vec<Point>; 2],
    (totals, catalog): ([u64; 2], PathCatalog),
) -> Result<Sampled, StoreError> {
    let mut hosts = vec![String::new()]; // what is not known
    let mut numbers: HashMap<String, HostIndex> = HashMap::new();
    let mut breakdowns = [Vec::new(), Vec::new()];
    for (points, breakdowns) in points.iter().zip(&mut breakdowns) {
        let found = gathered.look_up(points, |chunk, series, dot| {
            let class = series.path.classes.first().copied()?;
            Some((class, chunk.host(dot.host).to_owned()))
        })?;
        for (point, found) in points.iter().zip(found) {
            let Some((class, host)) = found else { continue };
            let host = match numbers.get(&host) {
                _ if host.is_empty() => HostIndex::UNKNOWN,
                Some(known) => *known,
                None => {
                    hosts.push(host.clone());
                    let number = HostIndex(u32::try_from(hosts.len() - 1).unwrap_or(u32::MAX));
                    numbers.insert(host, number);
                    number
                }
            };
            let inside_ns = i64::try_from(point.duration_ns).unwrap_or(i64::MAX);
            let hop = PathHop { class, host, part: HopTimes { inside_ns, waiting_ns: 0 } };
            breakdowns.push(HopPath {
                start_ns: point.start_ns,
                hops: vec![hop],
                inner: Vec::new(),
            });
        }
    }
    Ok(Sampled { breakdowns, totals, hosts, catalog })
}
