//! Round trips between all pairs of hosts, each measured by the hosts themselves.
//!
//! A client requests from each host to probe another one ([`crate::answer`]). A host takes part in
//! one pair at a time: pairs must not disturb each other at their ends. Some pairs are measured at
//! the same time, so that many hosts take seconds.

use crate::answer::request::{Measured, Probe};
use crate::answer::{AnswerClient, Token};
use crate::probe::{Peer, Series, Target};
use std::collections::HashSet;
use std::net::ToSocketAddrs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

/// Most hosts of a matrix.
pub const HOSTS_MAX: usize = 1000;

/// A host that runs an answerer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Name of the host.
    pub name: String,
    /// Address of its server, as all hosts reach it.
    pub peer: Peer,
}

/// A line that names no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct HostsError {
    /// Line number, from 1.
    pub line: usize,
    /// Fault of the line.
    pub why: String,
}

/// Reads a list: `HOST:PORT [NAME]` a line, `#` begins a comment.
///
/// # Errors
/// [`HostsError`]: the first line that cannot be used.
pub fn hosts(text: &str) -> Result<Vec<Host>, HostsError> {
    let (mut hosts, mut names): (Vec<Host>, _) = (Vec::new(), HashSet::new());
    for (line, text) in (1..).zip(text.lines()) {
        let wrong = |why| HostsError { line, why };
        let mut words = text.split('#').next().unwrap_or_default().split_ascii_whitespace();
        let Some(peer) = words.next() else { continue };
        let name = words.next().unwrap_or(peer).to_owned();
        let peer = peer.parse().map_err(|why| wrong(format!("{peer:?}: {why}")))?;
        if let Some(more) = words.next() {
            return Err(wrong(format!("{more:?} after the name: HOST:PORT [NAME] expected")));
        }
        if !names.insert(name.clone()) {
            return Err(wrong(format!("{name:?} is given twice")));
        }
        if hosts.len() == HOSTS_MAX {
            return Err(wrong(format!("more than {HOSTS_MAX} hosts")));
        }
        hosts.push(Host { name, peer });
    }
    Ok(hosts)
}

/// Options for measuring each pair.
#[derive(Clone, Debug)]
pub struct Options {
    /// Token of all hosts.
    pub token: Option<Token>,
    /// Size of a request, in octets.
    pub octets: usize,
    /// Steady round trips of each pair.
    pub count: u32,
    /// Interval between two round trips.
    pub every: Duration,
    /// A reply later than this counts as lost.
    pub timeout: Duration,
    /// Number of pairs that are measured at the same time, at most.
    pub at_once: usize,
}

/// Result of one pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The pair was measured.
    Measured(Measured),
    /// The pair could not be measured, with the reason.
    Failed(String),
}

impl Cell {
    /// Round trips of the pair, where it was measured.
    #[must_use]
    pub fn series(&self) -> Option<Series> {
        match self {
            Self::Measured(measured) => Some(measured.clone().into()),
            Self::Failed(_) => None,
        }
    }
}

/// Order of the pairs: within a round no host is in two pairs, and all rounds together have each
/// ordered pair once.
#[must_use]
pub fn rounds(hosts: usize) -> Vec<Vec<(usize, usize)>> {
    // One host stays, the others rotate. With an odd number a dummy host is added: its partner
    // rests.
    let even = hosts + hosts % 2;
    let mut all = Vec::new();
    for round in 0..even.saturating_sub(1) {
        let at = |place: usize| match place {
            0 => 0,
            _ => 1 + (round + place - 1) % (even - 1),
        };
        let pairs = (0..even / 2).map(|place| (at(place), at(even - 1 - place)));
        let pairs: Vec<_> = pairs.filter(|(a, b)| *a < hosts && *b < hosts).collect();
        all.push(pairs.clone());
        all.push(pairs.into_iter().map(|(a, b)| (b, a)).collect());
    }
    all
}

/// Measures all pairs, each host with itself first: a host that fails that is in no pair, and its
/// cells are not reported. `cell` is called for each cell as it is done. Ends early when `stop` is
/// set.
pub fn measure(
    hosts: &[Host],
    options: &Options,
    stop: &AtomicBool,
    cell: &mut dyn FnMut(usize, usize, &Cell),
) {
    let mut there = vec![false; hosts.len()];
    let own: Vec<_> = (0..hosts.len()).map(|host| (host, host)).collect();
    let mut told = |from, to, done: &Cell| {
        if from == to {
            there[from] = answers(done);
        }
        cell(from, to, done);
    };
    run(hosts, options, &own, stop, &mut told);
    for round in rounds(hosts.len()) {
        let pairs: Vec<_> =
            round.into_iter().filter(|(from, to)| there[*from] && there[*to]).collect();
        run(hosts, options, &pairs, stop, cell);
    }
}

/// Whether a host that was asked to probe itself can be in pairs.
fn answers(own: &Cell) -> bool {
    let came = |measured: &Measured| {
        measured.first_ns.is_some() || measured.steady.iter().any(|(_, took_ns)| took_ns.is_some())
    };
    matches!(own, Cell::Measured(measured) if came(measured))
}

/// Measures pairs, so many at the same time.
fn run(
    hosts: &[Host],
    options: &Options,
    pairs: &[(usize, usize)],
    stop: &AtomicBool,
    cell: &mut dyn FnMut(usize, usize, &Cell),
) {
    for some in pairs.chunks(options.at_once.max(1)) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for (from, to) in some.iter().copied() {
                let sender: Sender<_> = sender.clone();
                scope.spawn(move || {
                    let done = pair(&hosts[from], &hosts[to], options);
                    // Cannot fail: the receiver stays until all have sent.
                    let _ = sender.send((from, to, done));
                });
            }
            drop(sender);
            for (from, to, done) in receiver {
                cell(from, to, &done);
            }
        });
    }
}

/// Lets a host probe another.
fn pair(from: &Host, to: &Host, options: &Options) -> Cell {
    let whole = |time: u128| u64::try_from(time).unwrap_or(u64::MAX);
    let probe = Probe {
        target: Target::Udp(to.peer.clone()).to_string(),
        octets: options.octets,
        count: options.count,
        every_us: whole(options.every.as_micros()),
        timeout_ms: whole(options.timeout.as_millis()),
    };
    let server = match (from.peer.host.as_str(), from.peer.port).to_socket_addrs() {
        Ok(mut all) => all.next(),
        Err(error) => return Cell::Failed(format!("{} has no address: {error}", from.peer.host)),
    };
    let Some(server) = server else {
        return Cell::Failed(format!("{} has no address", from.peer.host));
    };
    let caller = AnswerClient { server, token: options.token.clone() };
    match caller.probe(&probe) {
        Ok(measured) => Cell::Measured(measured),
        Err(error) => Cell::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_list() {
        let read = hosts("10.0.0.1:47 a # first\n\n  b:48\n").unwrap();
        let words: Vec<_> =
            read.iter().map(|host| (host.name.as_str(), host.peer.to_string())).collect();
        assert_eq!(words, [("a", "10.0.0.1:47".to_owned()), ("b:48", "b:48".to_owned())]);
        let said = |text| hosts(text).unwrap_err().to_string();
        assert_eq!(said("a:1 x\nb:2 x"), "line 2: \"x\" is given twice");
        assert!(said("a").starts_with("line 1: \"a\": the port is missing"), "{}", said("a"));
        assert!(said("a:1 b c").contains("\"c\" after the name"));
    }

    proptest! {
        /// The promise of the docs.
        #[test]
        fn every_ordered_pair_once_and_no_host_twice_in_a_round(count in 0usize..40) {
            let mut seen = HashSet::new();
            for round in rounds(count) {
                let mut busy = HashSet::new();
                for (from, to) in round {
                    prop_assert!(from < count && to < count && from != to);
                    prop_assert!(busy.insert(from) && busy.insert(to));
                    prop_assert!(seen.insert((from, to)));
                }
            }
            prop_assert_eq!(seen.len(), count * count.saturating_sub(1));
        }
    }
}
