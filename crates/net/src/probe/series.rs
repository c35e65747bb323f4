//! Many round trips to one server.

use chronoscope_clock as clock;
use chronoscope_statistics::{Quantile, nearest_rank};
use serde::Serialize;
use std::io;
use std::time::Duration;

/// Number and pace of requests to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Steady round trips, after the first.
    pub count: u32,
    /// Least time from the beginning of one request to that of the next.
    pub every: Duration,
    /// A reply later than this counts as lost.
    pub timeout: Duration,
    /// No round trip begins later than this after the first one.
    pub at_most: Duration,
}

impl Default for Load {
    /// 100 round trips, at most 200 a second, a second for each, five for all.
    fn default() -> Self {
        Self {
            count: 100,
            every: Duration::from_millis(5),
            timeout: Duration::from_secs(1),
            at_most: Duration::from_secs(5),
        }
    }
}

/// Round trips in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// Begin of the first round trip, UTC nanoseconds.
    pub start_ns: i64,
    /// The first; `None`: its reply did not come in time.
    pub first_ns: Option<u64>,
    /// The others, each with its begin (UTC nanoseconds) and its duration.
    pub steady: Vec<(i64, Option<u64>)>,
    /// Time from the beginning of the first to the end of the last, in nanoseconds.
    pub duration_ns: u64,
}

/// A series in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The first round trip, in nanoseconds; `None`: lost.
    pub first_ns: Option<u64>,
    /// Number of steady round trips with a reply.
    pub count: u64,
    /// Steady ones whose reply did not come in time.
    pub lost: u64,
    /// Shortest of them, in nanoseconds.
    pub best_ns: Option<u64>,
    /// Median of the steady round trips, nanoseconds.
    pub p50_ns: Option<u64>,
    /// 90th percentile of the steady round trips, nanoseconds.
    pub p90_ns: Option<u64>,
    /// 99th percentile of the steady round trips, nanoseconds.
    pub p99_ns: Option<u64>,
    /// Longest steady round trip, nanoseconds.
    pub max_ns: Option<u64>,
    /// Requests a second that the server was asked.
    pub per_second: f64,
}

/// Makes round trips one after the other. `ask` makes the one of this number, from 0, and returns
/// whether its reply came in time.
///
/// # Errors
/// Error of `ask`; the measurements before it are lost.
pub fn run(load: &Load, mut ask: impl FnMut(u32) -> io::Result<bool>) -> io::Result<Series> {
    let began_ns = clock::monotonic_ns();
    let mut series = Series { start_ns: clock::utc_now_ns(), ..Series::default() };
    let (every_ns, at_most_ns) = (nanoseconds(load.every), nanoseconds(load.at_most));
    let mut next_ns = began_ns;
    for number in 0..=load.count {
        if number > 0 {
            next_ns = next_ns.saturating_add(every_ns);
            let now_ns = clock::monotonic_ns();
            match next_ns.checked_sub(now_ns) {
                Some(wait_ns) => clock::sleep(Duration::from_nanos(wait_ns)),
                // Missed turns are not made up for: the load stays bounded.
                None => next_ns = now_ns,
            }
            if next_ns - began_ns > at_most_ns {
                break;
            }
        }
        let at_ns = clock::utc_now_ns();
        let asked_ns = clock::monotonic_ns();
        let came = ask(number)?;
        let took_ns = came.then(|| clock::monotonic_ns() - asked_ns);
        match number {
            0 => series.first_ns = took_ns,
            _ => series.steady.push((at_ns, took_ns)),
        }
    }
    series.duration_ns = clock::monotonic_ns() - began_ns;
    Ok(series)
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Series {
    /// Durations of steady round trips with a reply, in nanoseconds, ascending.
    #[must_use]
    pub fn ascending(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.steady.iter().filter_map(|(_, took_ns)| *took_ns).collect();
        all.sort_unstable();
        all
    }

    /// Summary of the series in numbers.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let all = self.ascending();
        let at = |quantile| nearest_rank(&all, quantile);
        let asked = (self.steady.len() + 1) as f64;
        Summary {
            first_ns: self.first_ns,
            count: all.len() as u64,
            lost: (self.steady.len() - all.len()) as u64,
            best_ns: all.first().copied(),
            p50_ns: at(Quantile::P50),
            p90_ns: at(Quantile::P90),
            p99_ns: at(Quantile::P99),
            max_ns: all.last().copied(),
            per_second: asked * 1e9 / self.duration_ns.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(count: u32) -> Load {
        Load { count, every: Duration::ZERO, ..Load::default() }
    }

    #[test]
    fn the_first_is_kept_apart_and_losses_are_counted() {
        let series = run(&load(10), |number| Ok(number % 5 != 3)).unwrap();
        assert!(series.first_ns.is_some());
        let summary = series.summary();
        assert_eq!((summary.count, summary.lost), (8, 2));
        assert!(summary.best_ns <= summary.p50_ns && summary.p50_ns <= summary.max_ns);
        let lost: Vec<_> = series.steady.iter().map(|(_, took)| took.is_none()).collect();
        assert_eq!(lost.iter().filter(|lost| **lost).count(), 2);
        assert!(lost[2] && lost[7], "in their order");
    }

    #[test]
    fn the_load_is_bounded() {
        let every = Duration::from_millis(2);
        let at_most = Duration::from_millis(21);
        let load = Load { count: 1000, every, at_most, ..Load::default() };
        let series = run(&load, |_| Ok(true)).unwrap();
        assert!(series.steady.len() <= 10, "{}", series.steady.len());
        assert!(series.summary().per_second < 1000.0);
    }

    #[test]
    fn an_error_ends_it() {
        let error = run(&load(10), |number| match number {
            7 => Err(io::Error::other("gone")),
            _ => Ok(true),
        });
        assert_eq!(error.unwrap_err().to_string(), "gone");
    }
}
