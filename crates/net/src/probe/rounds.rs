//! Several targets, asked in turn: whatever else the machine and the network do meanwhile meets
//! all of them.
//!
//! One round asks each target once, one after the other; rounds begin `every` apart. The client is
//! a closed loop: it asks again only after it has the reply or has given it up. So a stall of the
//! target is met by one request and not by all those that independent clients would have sent
//! meanwhile (coordinated omission): the turns that passed unused are counted, and figures without
//! any are those that other clients would have had, too. Nothing is made up for them, and a lost
//! request is never sent again.

use super::series::nanoseconds;
use super::{Load, Loss, Prober, Series};
use chronoscope_clock as clock;
use std::collections::BTreeMap;
use std::io;

/// No other loss is kept apart once there are so many: a hostile target may invent them.
const LOSSES_MAX: usize = 8;
/// Longest sleep without a check for the end.
const NAP_NS: u64 = 50_000_000;

/// Result of one target.
#[derive(Debug, Default)]
pub struct Probed {
    /// Round trips of the target.
    pub series: Series,
    /// Losses by what they died of, the first request's included.
    pub losses: BTreeMap<Loss, u64>,
    /// Turns that passed unused since a reply, of this target or another, was awaited for longer
    /// than the time from one round to the next.
    pub missed: u64,
    /// Rounds in which it was not asked, as waiting for its replies in vain had taken more than its
    /// share of the time. Only with other targets beside it.
    pub sat_out: u64,
    /// Overhead around the round trips, per steady round trip, in nanoseconds, ascending: where the
    /// target's program measures the round trip itself, the time to it and back.
    pub around_ns: Vec<u64>,
    /// Reason why it is no longer probed: an error of this host, not of the peer.
    pub error: Option<io::Error>,
}

/// One round trip, as it is made.
#[derive(Clone, Copy, Debug)]
pub struct Trip {
    /// Index of the target.
    pub target: usize,
    /// Whether this is the target's first request.
    pub first: bool,
    /// Begin, UTC nanoseconds.
    pub at_ns: i64,
    /// Duration; `None`: lost.
    pub took_ns: Option<u64>,
}

/// Probes all targets, round after round, while `goes_on` returns true. `each` is called after each
/// round trip, between round trips.
pub fn rounds(
    load: &Load,
    probers: &mut [Prober],
    goes_on: &dyn Fn() -> bool,
    each: &mut dyn FnMut(&Trip),
) -> Vec<Probed> {
    let mut all: Vec<State> = probers.iter_mut().map(State::prepared).collect();
    let mut turns = Turns::new(load);
    let beside_others = probers.len() > 1;
    for number in 0..=load.count {
        if number > 0 && !turns.wait(goes_on) || !goes_on() {
            break;
        }
        for (target, (prober, state)) in probers.iter_mut().zip(&mut all).enumerate() {
            if state.probed.error.is_some() {
                continue;
            }
            if beside_others && state.waited_in_vain(turns.passed_ns()) {
                state.probed.sat_out += 1;
                continue;
            }
            if let Some(trip) = state.ask(target, prober) {
                each(&trip);
            }
        }
        if all.iter().all(|state| state.probed.error.is_some()) {
            break;
        }
    }
    let missed = turns.missed;
    let finished = all.into_iter().map(|mut state| {
        state.probed.around_ns.sort_unstable();
        Probed { missed, ..state.probed }
    });
    finished.collect()
}

/// Times at which rounds begin.
struct Turns {
    began_ns: u64,
    next_ns: u64,
    every_ns: u64,
    at_most_ns: u64,
    missed: u64,
}

impl Turns {
    fn new(load: &Load) -> Self {
        let now_ns = clock::monotonic_ns();
        Self {
            began_ns: now_ns,
            next_ns: now_ns,
            every_ns: nanoseconds(load.every),
            at_most_ns: nanoseconds(load.at_most),
            missed: 0,
        }
    }

    fn passed_ns(&self) -> u64 {
        clock::monotonic_ns() - self.began_ns
    }

    /// Waits for the next; `false` when there is none.
    fn wait(&mut self, goes_on: &dyn Fn() -> bool) -> bool {
        self.next_ns = self.next_ns.saturating_add(self.every_ns);
        let now_ns = clock::monotonic_ns();
        if let Some(late_ns) = now_ns.checked_sub(self.next_ns) {
            // Missed turns are not made up for: the load stays bounded.
            self.missed += late_ns.checked_div(self.every_ns).unwrap_or(0);
            self.next_ns = now_ns;
        }
        if self.next_ns - self.began_ns > self.at_most_ns {
            return false;
        }
        while clock::monotonic_ns() < self.next_ns {
            if !goes_on() {
                return false;
            }
            clock::sleep_until(self.next_ns.min(clock::monotonic_ns() + NAP_NS));
        }
        true
    }
}

/// State of one target while it is probed.
#[derive(Default)]
struct State {
    probed: Probed,
    began_ns: Option<u64>,
    vain_ns: u64,
    lost_in_a_row: u32,
    ever_came: bool,
}

impl State {
    fn prepared(prober: &mut Prober) -> Self {
        let mut state = Self::default();
        state.probed.error = prober.prepare().err();
        state
    }

    /// Whether the target has used more than a quarter of the time without a reply, and is likely
    /// to do so again.
    fn waited_in_vain(&self, passed_ns: u64) -> bool {
        let unlikely = self.lost_in_a_row >= if self.ever_came { 2 } else { 1 };
        unlikely && self.vain_ns > passed_ns / 4
    }

    /// Makes one round trip; `None` after an error of this host.
    fn ask(&mut self, target: usize, prober: &mut Prober) -> Option<Trip> {
        let at_ns = clock::utc_now_ns();
        let asked_ns = clock::monotonic_ns();
        let came = prober.ask();
        let came_ns = clock::monotonic_ns();
        let first = self.began_ns.is_none();
        let series = &mut self.probed.series;
        if first {
            series.start_ns = at_ns;
        }
        series.duration_ns = came_ns - *self.began_ns.get_or_insert(asked_ns);
        let all_ns = came_ns - asked_ns;
        let took_ns = match came {
            Ok(true) => Some(prober.reported_ns().map_or(all_ns, |ns| ns.min(all_ns))),
            Ok(false) => None,
            Err(error) => {
                self.probed.error = Some(error);
                return None;
            }
        };
        if first {
            series.first_ns = took_ns;
        } else {
            series.steady.push((at_ns, took_ns));
            if let (Some(took_ns), Some(_)) = (took_ns, prober.reported_ns()) {
                self.probed.around_ns.push(all_ns - took_ns);
            }
        }
        self.account(prober.loss(), all_ns);
        Some(Trip { target, first, at_ns, took_ns })
    }

    fn account(&mut self, loss: Option<&Loss>, all_ns: u64) {
        let Some(loss) = loss else {
            self.lost_in_a_row = 0;
            self.ever_came = true;
            return;
        };
        self.lost_in_a_row += 1;
        // A refusal comes at once; when it seems not to, this host was busy.
        if *loss != Loss::Refused {
            self.vain_ns += all_ns;
        }
        let losses = &mut self.probed.losses;
        if losses.len() < LOSSES_MAX || losses.contains_key(loss) {
            *losses.entry(loss.clone()).or_default() += 1;
        } else {
            *losses.entry(Loss::Wrong("as well as others".to_owned())).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{Peer, ProbeOptions, Target, echo};
    use std::net::{Ipv4Addr, UdpSocket};
    use std::time::Duration;

    fn socket() -> (UdpSocket, Target) {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        (socket, Target::Udp(Peer { host: "127.0.0.1".to_owned(), port }))
    }

    fn answering() -> Target {
        let (socket, target) = socket();
        std::thread::spawn(move || while echo::answer(&socket, &mut [0; 512]).is_ok() {});
        target
    }

    fn prober(target: Target, timeout_ms: u64) -> Prober {
        Prober::new(target, ProbeOptions { octets: 64, timeout: Duration::from_millis(timeout_ms) })
    }

    fn load(count: u32, every_ms: u64) -> Load {
        Load { count, every: Duration::from_millis(every_ms), ..Load::default() }
    }

    #[test]
    fn targets_take_turns() {
        let mut probers = [prober(answering(), 5000), prober(answering(), 5000)];
        let mut trips = Vec::new();
        let probed = rounds(&load(10, 0), &mut probers, &|| true, &mut |trip| trips.push(*trip));
        let order: Vec<usize> = trips.iter().map(|trip| trip.target).collect();
        assert_eq!(order, [0, 1].repeat(11));
        assert_eq!(trips.iter().filter(|trip| trip.first).count(), 2);
        for one in &probed {
            let summary = one.series.summary();
            assert_eq!((summary.count, summary.lost), (10, 0));
            assert!(summary.first_ns.is_some() && one.losses.is_empty() && one.error.is_none());
        }
    }

    #[test]
    fn the_dead_one_does_not_starve_the_others() {
        let (_silent, dead) = socket();
        let mut probers = [prober(dead, 150), prober(answering(), 5000)];
        let probed = rounds(&load(50, 1), &mut probers, &|| true, &mut |_| ());
        assert_eq!(probed[1].series.steady.len(), 50);
        let dead = &probed[0];
        assert_eq!(dead.series.first_ns, None);
        let asked = 1 + dead.series.steady.len() as u64;
        assert_eq!(asked + dead.sat_out, 51);
        assert!(dead.sat_out > 25, "{} rounds without it", dead.sat_out);
        assert_eq!(dead.losses.get(&Loss::Late), Some(&asked));
        assert!(probed[1].missed > 50, "while it was waited for");
    }

    #[test]
    fn alone_the_dead_one_is_asked_as_often_as_there_is_time() {
        let (_silent, dead) = socket();
        let load = Load { at_most: Duration::from_millis(70), ..load(100, 1) };
        let probed = rounds(&load, &mut [prober(dead, 20)], &|| true, &mut |_| ());
        assert!(probed[0].series.steady.len() < 5, "{probed:?}");
        assert_eq!(probed[0].sat_out, 0);
    }

    #[test]
    fn an_error_ends_one_target_and_an_interrupt_all() {
        let wrong = "udp:no-such-host.invalid:9".parse().unwrap();
        let mut probers = [prober(wrong, 10), prober(answering(), 5000)];
        let probed = rounds(&load(3, 0), &mut probers, &|| true, &mut |_| ());
        assert!(probed[0].error.is_some() && probed[0].series.steady.is_empty());
        assert_eq!(probed[1].series.steady.len(), 3);

        let left = std::cell::Cell::new(5);
        let goes_on = || left.replace(left.get() - 1) > 1;
        let probed =
            rounds(&load(1000, 1), &mut [prober(answering(), 5000)], &goes_on, &mut |_| ());
        assert!(probed[0].series.first_ns.is_some(), "what it had is kept");
        assert!(probed[0].series.steady.len() < 5);
    }
}
