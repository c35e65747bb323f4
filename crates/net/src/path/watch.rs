//! Monitor of paths against their predictions; finds the element that explains deviations.
//!
//! Round trips of each path are gathered in windows. A window deviates when its median or its 90th
//! percentile is outside what the prediction allows for so many round trips
//! ([`Prediction::bands_of_ns`]) by more than [`Limits::tolerance`]. A path no longer fits when
//! [`Limits::windows`] windows in a row deviate to the same side.
//!
//! False alarms: where the prediction is right, a window is outside its band to one side with 2.5
//! %. Windows being independent, three in a row of one of two quantiles to one of two sides occur
//! with 4 × 0.025³ = 6 in 100,000, before the tolerance makes it rarer ([`Limits::false_alarms`]).
//!
//! The element that explains it is on all paths that no longer fit and on none that do. Of several
//! such, which are always passed together by what is watched, the one with the largest part in the
//! round trip is named first.

use super::interval::{Interval, interval};
use super::predict::Prediction;
use super::topology::ElementKind;
use chronoscope_statistics::{Quantile, median};
use serde::Serialize;
use std::collections::BTreeSet;

/// Thresholds of deviation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// Windows in a row.
    pub windows: u32,
    /// Share of the predicted value by which it may be outside the band.
    pub tolerance: f64,
}

impl Default for Limits {
    /// Three windows, 5 %.
    fn default() -> Self {
        Self { windows: 3, tolerance: 0.05 }
    }
}

impl Limits {
    /// Probability, at most, that a path which fits is called deviating by any one window.
    #[must_use]
    pub fn false_alarms(&self) -> f64 {
        4.0 * 0.025_f64.powi(i32::try_from(self.windows).unwrap_or(i32::MAX))
    }
}

/// A path that is watched.
#[derive(Clone, Debug)]
pub struct Path {
    /// The host at its end.
    pub to: String,
    /// Prediction for the path.
    pub predicted: Prediction,
    /// Deviating windows in a row, below 0: those below the band. Of median and 90th percentile.
    streak: [i64; 2],
}

/// Measurements of a path in one window, beside its prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathWindow {
    /// The host at its end.
    pub to: String,
    /// Number of replies.
    pub count: usize,
    /// Requests without one.
    pub lost: usize,
    /// Median and its interval; `None`: no reply.
    pub p50: Option<Interval>,
    /// 90th percentile and its interval.
    pub p90: Option<Interval>,
    /// Predicted median, in nanoseconds.
    pub predicted_p50_ns: f64,
    /// Predicted 90th percentile.
    pub predicted_p90_ns: f64,
    /// Band in which the median of so many round trips is expected.
    pub p50_band_ns: [f64; 2],
    /// And their 90th percentile.
    pub p90_band_ns: [f64; 2],
    /// Whether this window is as predicted.
    pub within: bool,
    /// Whether the path still fits: not too many windows in a row deviate.
    pub fits: bool,
}

/// An element that has changed since it was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flag {
    /// Name of the element.
    pub element: String,
    /// Kind of the element.
    pub kind: ElementKind,
    /// Other elements that explain it as well, on the watched paths.
    pub or: Vec<String>,
    /// Change of the median round trips over it, in nanoseconds (the median over the paths);
    /// `None`: no replies arrive.
    pub changed_ns: Option<f64>,
    /// Hosts whose paths say so.
    pub paths: Vec<String>,
}

/// Result of a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Result of every path.
    pub paths: Vec<PathWindow>,
    /// Element that explains the deviating paths.
    pub flag: Option<Flag>,
    /// Paths that no longer fit, where no single element explains them.
    pub unexplained: Vec<String>,
}

impl Path {
    /// A path to a host.
    #[must_use]
    pub fn new(to: String, predicted: Prediction) -> Self {
        Self { to, predicted, streak: [0; 2] }
    }

    fn judge(&mut self, window: &[Option<u64>], limits: &Limits) -> PathWindow {
        let mut ascending: Vec<u64> = window.iter().filter_map(|took_ns| *took_ns).collect();
        ascending.sort_unstable();
        let bands = self.predicted.bands_of_ns(ascending.len());
        let predicted = [self.predicted.p50_ns, self.predicted.p90_ns];
        let found = [Quantile::P50, Quantile::P90].map(|q| interval(&ascending, q));
        let mut within = true;
        for index in 0..2 {
            let slack = limits.tolerance * predicted[index].abs();
            // Without replies the wait is infinite.
            let side = found[index].map_or(i64::from(!window.is_empty()), |found| {
                let value = found.value_ns as f64;
                i64::from(value > bands[index][1] + slack)
                    - i64::from(value < bands[index][0] - slack)
            });
            within &= side == 0;
            let streak = &mut self.streak[index];
            *streak = if side == 0 || *streak * side < 0 { side } else { *streak + side };
        }
        PathWindow {
            to: self.to.clone(),
            count: ascending.len(),
            lost: window.len() - ascending.len(),
            p50: found[0],
            p90: found[1],
            predicted_p50_ns: predicted[0],
            predicted_p90_ns: predicted[1],
            p50_band_ns: bands[0],
            p90_band_ns: bands[1],
            within,
            fits: self
                .streak
                .iter()
                .all(|streak| streak.unsigned_abs() < u64::from(limits.windows)),
        }
    }
}

/// Judges a window of every path: what its round trips took, `None` where they were lost, in the
/// order of `paths`.
pub fn judge(paths: &mut [Path], windows: &[Vec<Option<u64>>], limits: &Limits) -> Verdict {
    let seen: Vec<PathWindow> =
        paths.iter_mut().zip(windows).map(|(path, window)| path.judge(window, limits)).collect();
    let (flag, unexplained) = explain(paths, &seen);
    Verdict { paths: seen, flag, unexplained }
}

/// The elements of a path, with the part that each has in its round trip. Of the hosts at its ends
/// the far one: the near one is on all paths, and stands for itself where its own is watched.
fn elements(path: &Path) -> impl Iterator<Item = (&str, ElementKind, f64)> {
    path.predicted.parts.iter().map(|part| {
        let name = match part.kind {
            ElementKind::Host => path.to.as_str(),
            _ => part.name.as_str(),
        };
        (name, part.kind, part.p50_ns + part.waiting_ns)
    })
}

fn explain(paths: &[Path], seen: &[PathWindow]) -> (Option<Flag>, Vec<String>) {
    let off: Vec<(&Path, &PathWindow)> =
        paths.iter().zip(seen).filter(|(_, seen)| !seen.fits).collect();
    let Some((first, _)) = off.first() else { return (None, Vec::new()) };
    let names =
        |path: &Path| elements(path).map(|(name, ..)| name.to_owned()).collect::<BTreeSet<_>>();
    let mut common = names(first);
    for (path, _) in &off {
        common = common.intersection(&names(path)).cloned().collect();
    }
    // A path that is about to deviate does not exclude its elements.
    for (path, seen) in paths.iter().zip(seen) {
        if seen.fits && seen.within {
            common = common.difference(&names(path)).cloned().collect();
        }
    }
    let mut explaining: Vec<(&str, ElementKind, f64)> =
        elements(first).filter(|(name, ..)| common.contains(*name)).collect();
    explaining.sort_by(|a, b| b.2.total_cmp(&a.2));
    let hosts: Vec<String> = off.iter().map(|(path, _)| path.to.clone()).collect();
    let Some(((element, kind, _), others)) = explaining.split_first() else {
        return (None, hosts);
    };
    let flag = Flag {
        element: (*element).to_owned(),
        kind: *kind,
        or: others.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        changed_ns: change(&off),
        paths: hosts,
    };
    (Some(flag), Vec::new())
}

/// The middle one of the changes of the paths' medians.
fn change(off: &[(&Path, &PathWindow)]) -> Option<f64> {
    let changes =
        off.iter().filter_map(|(_, seen)| Some(seen.p50?.value_ns as f64 - seen.predicted_p50_ns));
    median(changes)
}

#[cfg(test)]
mod tests {
    use super::super::parts::parts;
    use super::super::predict::predict;
    use super::super::topology::Topology;
    use super::*;
    use chronoscope_statistics::Random;

    /// here and near on s0; A leads to s1 (one), and from there B to s2 (two) and C to s3 (three).
    const TEXT: &str = r#"
        [types]
        pc = { kind = "host", delay_us = 500 }
        wire = { kind = "link" }
        A = { kind = "gateway", delay_us = 4000 }
        B = { kind = "gateway", delay_us = 10000 }
        [segments]
        s0 = { type = "wire" }
        s1 = { type = "wire" }
        s2 = { type = "wire" }
        s3 = { type = "wire" }
        [joints]
        a = { type = "A", joins = ["s0", "s1"] }
        b = { type = "B", joins = ["s1", "s2"] }
        c = { type = "B", joins = ["s1", "s3"] }
        [hosts]
        here = { type = "pc", segment = "s0" }
        near = { type = "pc", segment = "s0" }
        one = { type = "pc", segment = "s1" }
        two = { type = "pc", segment = "s2" }
        three = { type = "pc", segment = "s3" }
    "#;
    const HOSTS: [&str; 4] = ["near", "one", "two", "three"];

    fn paths() -> Vec<Path> {
        let topology = Topology::read(TEXT, None).unwrap();
        let predicted = |to| predict(&parts(&topology, "here", to, 64, &[]).unwrap());
        HOSTS.iter().map(|to| Path::new((*to).to_owned(), predicted(to))).collect()
    }

    /// A window of 20 round trips, each up to 1 % longer than predicted, and `more` ns.
    fn window(path: &Path, random: &mut Random, more: f64) -> Vec<Option<u64>> {
        let one = |random: &mut Random| {
            let ns = path.predicted.p50_ns * (1.0 + 0.01 * random.share()) + more;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Some(ns as u64)
        };
        (0..20).map(|_| one(random)).collect()
    }

    /// Flags after `rounds` windows in which round trips of each path take so much longer, in ms.
    fn after(rounds: u32, more_ms: [f64; 4]) -> Verdict {
        let (mut paths, mut random) = (paths(), Random(1));
        let mut last = None;
        for _ in 0..rounds {
            let windows: Vec<_> =
                paths.iter().zip(more_ms).map(|(p, ms)| window(p, &mut random, ms * 1e6)).collect();
            last = Some(judge(&mut paths, &windows, &Limits::default()));
        }
        last.unwrap()
    }

    #[test]
    fn nothing_changes_and_nothing_is_flagged() {
        let verdict = after(50, [0.0; 4]);
        assert!(verdict.paths.iter().all(|path| path.fits && path.within));
        assert_eq!((verdict.flag, verdict.unexplained.len()), (None, 0));
    }

    #[test]
    fn the_element_of_all_that_deviate_is_flagged() {
        let cases = [
            ([0.0, 3.0, 3.0, 3.0], "a", 3e6),
            ([0.0, 0.0, 5.0, 0.0], "b", 5e6),
            ([0.0, 0.0, 0.0, -4.0], "c", -4e6),
            ([2.0, 0.0, 0.0, 0.0], "near", 2e6),
        ];
        for (more, element, changed_ns) in cases {
            assert_eq!(after(2, more).flag, None, "two windows are not enough");
            let flag = after(3, more).flag.unwrap();
            assert_eq!(flag.element, element, "{more:?}: {flag:?}");
            let changed = flag.changed_ns.unwrap();
            assert!((changed - changed_ns).abs() < 0.3e6, "{flag:?}");
        }
    }

    #[test]
    fn two_elements_at_once_are_not_one() {
        let verdict = after(4, [0.0, 0.0, 5.0, 5.0]);
        assert_eq!(verdict.flag, None);
        assert_eq!(verdict.unexplained, ["two", "three"]);
    }

    #[test]
    fn who_no_longer_replies_deviates() {
        let (mut paths, mut random) = (paths(), Random(1));
        for round in 1..=3 {
            let mut windows: Vec<_> =
                paths.iter().map(|path| window(path, &mut random, 0.0)).collect();
            windows[3] = vec![None; 20];
            let verdict = judge(&mut paths, &windows, &Limits::default());
            assert_eq!(verdict.paths[3].lost, 20);
            let flagged = verdict.flag.map(|flag| (flag.element, flag.changed_ns));
            assert_eq!(flagged, (round == 3).then(|| ("c".to_owned(), None)));
        }
    }
}
