//! Probes of a network that do not load it.
//!
//! The probe that measures waiting must not cause it: probes come one at a time, with random pauses
//! (exponential, so that probes arrive as Poisson's do and see averages: R. W. Wolff, *Poisson
//! arrivals see time averages*, 1982). Several paths are probed in rounds, each once in every round
//! and in another order, which spreads disturbances over all of them.

use chronoscope_clock as clock;
use chronoscope_statistics::Random;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Function that makes the round trip of a number, from 0, and returns whether its reply came in
/// time.
pub type ProbeFn<'a> = Box<dyn FnMut(u32) -> io::Result<bool> + Send + 'a>;

/// Number and pace of probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Probes of each path, after its first.
    pub rounds: u32,
    /// Mean pause between two probes, of any path.
    pub pause: Duration,
    /// No probe begins later than this after the first; rounds that are not over then are missing.
    pub at_most: Duration,
    /// For the pauses and the order.
    pub seed: u64,
}

/// One probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// Index of its path.
    pub path: usize,
    /// 0: the path's first, with what has to be made first in it.
    pub round: u32,
    /// Begin of the probe, UTC nanoseconds.
    pub start_ns: i64,
    /// Duration, in nanoseconds; `None`: lost.
    pub took_ns: Option<u64>,
}

/// Probes all paths until the rounds or the time are over or `stop` is set, and reports each probe.
///
/// # Errors
/// Error of a path's `ask`, with its index. Probes reported before it are valid.
pub fn sample(
    paths: &mut [ProbeFn<'_>],
    sampling: &Sampling,
    stop: &AtomicBool,
    mut tell: impl FnMut(Probed),
) -> Result<(), (usize, io::Error)> {
    let ends_ns = clock::monotonic_ns().saturating_add(nanoseconds(sampling.at_most));
    let mut random = Random(sampling.seed);
    let mut order: Vec<usize> = (0..paths.len()).collect();
    for round in 0..=sampling.rounds {
        shuffle(&mut order, &mut random);
        for &path in &order {
            if !rest(random.exponential(sampling.pause.as_secs_f64()), ends_ns, stop) {
                return Ok(());
            }
            let (start_ns, asked_ns) = (clock::utc_now_ns(), clock::monotonic_ns());
            let came = paths[path](round).map_err(|error| (path, error))?;
            let took_ns = came.then(|| clock::monotonic_ns() - asked_ns);
            tell(Probed { path, round, start_ns, took_ns });
        }
    }
    Ok(())
}

/// Sleeps in short steps; `false`: stopped, or it is over.
fn rest(seconds: f64, ends_ns: u64, stop: &AtomicBool) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let mut left = Duration::from_secs_f64(seconds);
    loop {
        if stop.load(Ordering::Relaxed) || clock::monotonic_ns() >= ends_ns {
            return false;
        }
        if left.is_zero() {
            return true;
        }
        clock::sleep(left.min(STEP));
        left = left.saturating_sub(STEP);
    }
}

/// Every order is as likely (R. Durstenfeld, 1964).
fn shuffle(order: &mut [usize], random: &mut Random) {
    for last in (1..order.len()).rev() {
        #[allow(clippy::cast_possible_truncation)] // at most `last`
        let other = (random.bits() % (last as u64 + 1)) as usize;
        order.swap(last, other);
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(rounds: u32) -> Sampling {
        Sampling { rounds, pause: Duration::ZERO, at_most: Duration::from_secs(60), seed: 1 }
    }

    #[test]
    fn each_path_once_in_every_round() {
        let mut paths: Vec<ProbeFn<'_>> =
            (0..3).map(|path| Box::new(move |_| Ok(path != 1)) as ProbeFn<'_>).collect();
        let mut told = Vec::new();
        sample(&mut paths, &sampling(20), &AtomicBool::new(false), |p| told.push(p)).unwrap();
        assert_eq!(told.len(), 3 * 21);
        let mut orders = Vec::new();
        for (round, probes) in (0..).zip(told.chunks(3)) {
            assert!(probes.iter().all(|probe| probe.round == round));
            let order: Vec<usize> = probes.iter().map(|probe| probe.path).collect();
            let mut each = order.clone();
            each.sort_unstable();
            assert_eq!(each, [0, 1, 2]);
            orders.push(order);
        }
        orders.sort_unstable();
        orders.dedup();
        assert!(orders.len() > 3, "in other orders");
        assert!(told.iter().all(|probe| probe.took_ns.is_some() == (probe.path != 1)));
    }

    #[test]
    fn ends_when_told_and_when_its_time_is_over() {
        let mut paths: Vec<ProbeFn<'_>> = vec![Box::new(|_| Ok(true))];
        let (stop, mut count) = (AtomicBool::new(false), 0);
        let told = |_| {
            count += 1;
            stop.store(count == 5, Ordering::Relaxed);
        };
        sample(&mut paths, &sampling(1000), &stop, told).unwrap();
        assert_eq!(count, 5);
        let over = Sampling { at_most: Duration::ZERO, ..sampling(1000) };
        sample(&mut paths, &over, &AtomicBool::new(false), |_| panic!("over")).unwrap();
    }

    #[test]
    fn an_error_names_its_path() {
        let mut paths: Vec<ProbeFn<'_>> =
            vec![Box::new(|_| Ok(true)), Box::new(|_| Err(io::Error::other("gone")))];
        let found = sample(&mut paths, &sampling(3), &AtomicBool::new(false), |_| ());
        let (path, error) = found.unwrap_err();
        assert_eq!((path, error.to_string()), (1, "gone".to_owned()));
    }
}
