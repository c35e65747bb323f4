//! Comparison of chains around changes of the display's mode with chains elsewhere.
//!
//! A display that leaves MPA mode although the load still needs it is overloaded until it detects
//! that: peaks right after a change, every 25 s. Chains are divided by whether they began within
//! [`WINDOW_NS`] of a change, and folded over the 25 s that begin with one.

use chronoscope_chain::Distribution;
use chronoscope_query::Point;
use serde_json::{Value, json};

/// Near a change: so long before or after it, in nanoseconds.
const WINDOW_NS: i64 = 2_000_000_000;
/// The document's interval of the recheck, in seconds.
const RECHECK_S: usize = 25;
const SECOND_NS: i64 = 1_000_000_000;
/// "Long", in nanoseconds.
const LONG_NS: u64 = super::statistics::LIMIT_NS;

/// Chains near changes beside those elsewhere; `changes_ns` ascending, by the clock of the chains.
pub(super) fn near_and_elsewhere(points: &[Point], changes_ns: &[i64]) -> Value {
    let is_near = |point: &&Point| {
        let next = changes_ns.partition_point(|change_ns| *change_ns < point.start_ns);
        let around = [next.checked_sub(1), Some(next)].into_iter().flatten();
        around
            .filter_map(|at| changes_ns.get(at))
            .any(|change_ns| change_ns.abs_diff(point.start_ns) <= WINDOW_NS.unsigned_abs())
    };
    let (near, elsewhere): (Vec<&Point>, Vec<&Point>) = points.iter().partition(is_near);
    json!({ "changes": changes_ns.len(), "near": group(&near), "elsewhere": group(&elsewhere) })
}

/// Chains by the second, of 25, since the last change.
pub(super) fn folded(points: &[Point], changes_ns: &[i64]) -> Vec<Value> {
    let mut seconds = vec![Vec::new(); RECHECK_S];
    for point in points {
        let next = changes_ns.partition_point(|change_ns| *change_ns <= point.start_ns);
        let Some(change_ns) = next.checked_sub(1).and_then(|last| changes_ns.get(last)) else {
            continue;
        };
        let since = usize::try_from((point.start_ns - change_ns) / SECOND_NS).unwrap_or(0);
        seconds[since % RECHECK_S].push(point);
    }
    seconds.iter().map(|points| group(points)).collect()
}

fn group(points: &[&Point]) -> Value {
    let mut durations_ns: Vec<u64> = points.iter().map(|point| point.duration_ns).collect();
    durations_ns.sort_unstable();
    let Some(all) = Distribution::of_ascending(&durations_ns) else {
        return json!({ "chains": 0 });
    };
    let long = durations_ns.iter().filter(|ns| **ns > LONG_NS).count();
    json!({
        "chains": all.count, "mean_ms": all.mean_ns / 1e6,
        "p99_ms": all.quantiles_ns[2] as f64 / 1e6, "max_ms": all.max_ns as f64 / 1e6,
        "above_limit": long, "above_limit_pct": long as f64 * 100.0 / all.count as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain every 100 ms for 100 s; 3 s long when it begins within 1 s after a change.
    fn points(changes_s: &[i64]) -> Vec<Point> {
        let point = |tenth: i64| {
            let start_ns = tenth * SECOND_NS / 10;
            let peak =
                changes_s.iter().any(|s| (0..SECOND_NS).contains(&(start_ns - s * SECOND_NS)));
            Point { start_ns, duration_ns: if peak { 3 * LONG_NS } else { LONG_NS / 10 } }
        };
        (0..1000).map(point).collect()
    }

    #[test]
    fn peaks_after_changes_are_found_near_them_and_nowhere_else() {
        let seconds = [20, 45, 70];
        let changes_ns = seconds.map(|s| s * SECOND_NS);
        let found = near_and_elsewhere(&points(&seconds), &changes_ns);
        // From 2 s before to 2 s after, ends included: 41 chains, of which 10 are long.
        assert_eq!(
            (&found["near"]["chains"], &found["near"]["above_limit"]),
            (&123.into(), &30.into())
        );
        assert_eq!(found["elsewhere"]["above_limit"], 0);
        let folded = folded(&points(&seconds), &changes_ns);
        assert_eq!(folded.len(), 25);
        assert_eq!(folded[0]["above_limit"], 30);
        // What was before the first change has no place; 80 s are left, the last 5 in a fourth turn.
        assert_eq!((&folded[0]["chains"], &folded[6]["chains"]), (&40.into(), &30.into()));
        assert!(folded[1..].iter().all(|second| second["above_limit"] == 0));
    }

    #[test]
    fn without_changes_everything_is_elsewhere() {
        let found = near_and_elsewhere(&points(&[]), &[]);
        assert_eq!(
            (&found["near"]["chains"], &found["elsewhere"]["chains"]),
            (&0.into(), &1000.into())
        );
    }
}
