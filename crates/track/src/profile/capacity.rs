//! Predicted demand when a class occurs several times as often.
//!
//! A factor on a class also multiplies what its transactions cause: every transaction that has the
//! class on its path. CPU grows in proportion, which holds while nothing saturates: queues, caches
//! and locks are not modelled.

use chronoscope_model::Load;
use std::collections::BTreeMap;

/// Cost of the transactions of one path on one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The classes from the root to the transactions' own, which is the last.
    pub classes: Vec<String>,
    /// Host that ran them.
    pub host: String,
    /// Loads by number of the bin.
    pub bins: BTreeMap<usize, Load>,
}

/// Cores that are busy, now and then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand {
    /// Mean over the span, now.
    pub mean: f64,
    /// Mean over the span, with the factors.
    pub mean_then: f64,
    /// The busiest hour, now; the whole span where it is shorter.
    pub busiest: f64,
    /// The hour that is busiest with the factors.
    pub busiest_then: f64,
}

/// Demand of one host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostDemand {
    /// The host.
    pub host: String,
    /// Demand in cores.
    pub cores: Demand,
}

/// Demand now and with factors on classes: first all hosts together, then each host, the largest
/// first. A transaction with several of the classes on its path is multiplied by the factor of the
/// innermost. There are `bin_count` bins of `bin_s` seconds.
#[must_use]
pub fn capacity(
    paths: &[Path],
    factors: &BTreeMap<String, f64>,
    bin_s: u64,
    bin_count: usize,
) -> (Demand, Vec<HostDemand>) {
    let mut all = Used::new(bin_count);
    let mut hosts: BTreeMap<&str, Used> = BTreeMap::new();
    for path in paths {
        let factor = path.classes.iter().rev().find_map(|class| factors.get(class)).copied();
        let host = hosts.entry(&path.host).or_insert_with(|| Used::new(bin_count));
        for used in [&mut all, host] {
            used.add(path, factor.unwrap_or(1.0));
        }
    }
    let mut demands: Vec<_> = hosts
        .into_iter()
        .map(|(host, used)| HostDemand { host: host.to_owned(), cores: used.demand(bin_s) })
        .collect();
    demands.sort_by(|a, b| {
        b.cores.busiest_then.total_cmp(&a.cores.busiest_then).then_with(|| a.host.cmp(&b.host))
    });
    (all.demand(bin_s), demands)
}

/// CPU by bin, ns: now, and with the factors.
struct Used {
    now: Vec<f64>,
    then: Vec<f64>,
}

impl Used {
    fn new(bin_count: usize) -> Self {
        Self { now: vec![0.0; bin_count], then: vec![0.0; bin_count] }
    }

    fn add(&mut self, path: &Path, factor: f64) {
        for (bin, load) in path.bins.range(..self.now.len()) {
            self.now[*bin] += load.own_cpu_ns as f64;
            self.then[*bin] += load.own_cpu_ns as f64 * factor;
        }
    }

    fn demand(&self, bin_s: u64) -> Demand {
        let cores = |bins: &[f64]| {
            let span_ns = bins.len() as f64 * bin_s as f64 * 1e9;
            if span_ns > 0.0 { bins.iter().sum::<f64>() / span_ns } else { 0.0 }
        };
        let hour =
            usize::try_from(3600 / bin_s.max(1)).unwrap_or(1).clamp(1, self.now.len().max(1));
        let busiest = |bins: &[f64]| bins.windows(hour).map(cores).fold(0.0, f64::max);
        Demand {
            mean: cores(&self.now),
            mean_then: cores(&self.then),
            busiest: busiest(&self.now),
            busiest_then: busiest(&self.then),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three hours in bins of half an hour; `ns` of CPU in the bins that are named.
    fn path(classes: &[&str], host: &str, bins: &[(usize, u64)]) -> Path {
        let load = |ns| Load { count: 1, own_cpu_ns: ns, ..Load::default() };
        Path {
            classes: classes.iter().map(|class| (*class).to_owned()).collect(),
            host: host.to_owned(),
            bins: bins.iter().map(|(bin, s)| (*bin, load(s * 1_000_000_000))).collect(),
        }
    }

    #[test]
    fn what_a_class_causes_grows_with_it_on_every_host() {
        let paths = [
            // 0.5 core in the first hour.
            path(&["a"], "h1", &[(0, 900), (1, 900)]),
            // Its callee: 1 core in the hour from 0:30 on, on another host.
            path(&["a", "b"], "h2", &[(1, 1800), (2, 1800)]),
            // Something else: 0.25 core all the time.
            path(&["c"], "h1", &[(0, 450), (1, 450), (2, 450), (3, 450), (4, 450), (5, 450)]),
        ];
        let twice = [("a".to_owned(), 2.0)].into();
        let (all, hosts) = capacity(&paths, &twice, 1800, 6);
        // 1800 + 3600 + 2700 s of CPU in 3 h.
        assert_eq!((all.mean, all.mean_then), (0.75, 1.25));
        // 0:00–1:00: (1800 + 1800 + 900) / 3600; 0:30–1:30: (900 + 3600 + 900) / 3600.
        assert_eq!((all.busiest, all.busiest_then), (1.5, 2.75));
        assert_eq!((hosts[0].host.as_str(), hosts[0].cores.busiest_then), ("h2", 2.0));
        assert_eq!((hosts[1].cores.busiest, hosts[1].cores.busiest_then), (0.75, 1.25));
    }

    #[test]
    fn the_innermost_factor_counts_and_a_short_span_is_its_own_hour() {
        let paths = [path(&["a", "b"], "h", &[(0, 60)])];
        let factors = [("a".to_owned(), 2.0), ("b".to_owned(), 5.0)].into();
        let (all, _) = capacity(&paths, &factors, 60, 1);
        assert_eq!((all.mean, all.busiest, all.busiest_then), (1.0, 1.0, 5.0));
        let (nothing, hosts) = capacity(&[], &factors, 60, 0);
        assert_eq!((nothing, hosts.len()), (Demand::default(), 0));
    }
}
