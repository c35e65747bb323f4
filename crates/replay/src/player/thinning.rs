//! Thinning: one of so many inputs is delivered, the same ones every time.
//!
//! Of each `one_of` successive inputs exactly one is chosen, at a place that is drawn from a seed.
//! A fixed place would choose the same sender again and again where senders take turns, as radars
//! do. Inputs are counted from the beginning of the recording, so that a window has those of the
//! whole day.

use super::login::{Lines, LinesState};
use crate::capture::{Arrival, ArrivalContent};
use crate::wire::Endpoint;
use chronoscope_statistics::Random;
use std::collections::BTreeMap;

/// A recorded connection of one input.
pub(super) type Ends = (Endpoint, Endpoint);

/// Choice of one of so many.
#[derive(Debug)]
struct Chooser {
    one_of: u64,
    seed: u64,
    seen: u64,
}

impl Chooser {
    fn takes(&mut self) -> bool {
        let (group, place) = (self.seen / self.one_of, self.seen % self.one_of);
        self.seen += 1;
        Random(self.seed ^ Random(group).bits()).below(self.one_of) == place
    }
}

/// Thins an input: by datagrams, by connections, or by lines where its protocol is one of lines.
#[derive(Debug)]
pub(super) struct Thinning {
    chooser: Chooser,
    lines: Option<Lines>,
    /// Connections under way, and whether each is delivered.
    connections: BTreeMap<Ends, Connection>,
}

#[derive(Debug)]
struct Connection {
    is_kept: bool,
    line: LinesState,
    /// The line that has begun is delivered.
    line_is_kept: bool,
}

impl Thinning {
    /// `one_of` is at least 1.
    pub(super) fn new(one_of: u64, seed: u64, lines: Option<Lines>) -> Self {
        let chooser = Chooser { one_of: one_of.max(1), seed, seen: 0 };
        Self { chooser, lines, connections: BTreeMap::new() }
    }

    /// The arrival, or what is delivered of it, and the number of datagrams, of pieces of connections
    /// or of lines that are left out.
    pub(super) fn pass(&mut self, arrival: Arrival) -> (Option<Arrival>, u64) {
        let ends = (arrival.from, arrival.to);
        match arrival.what {
            ArrivalContent::Datagram(_) => {
                if self.chooser.takes() {
                    (Some(arrival), 0)
                } else {
                    (None, 1)
                }
            }
            ArrivalContent::Opened => {
                let is_kept = self.lines.is_some() || self.chooser.takes();
                let line = LinesState::default();
                self.connections.insert(ends, Connection { is_kept, line, line_is_kept: true });
                if is_kept { (Some(arrival), 0) } else { (None, 1) }
            }
            ArrivalContent::Ended => {
                let was = self.connections.remove(&ends);
                let is_kept = was.is_none_or(|connection| connection.is_kept);
                (is_kept.then_some(arrival), u64::from(!is_kept))
            }
            ArrivalContent::Octets(octets) => {
                let (kept, left_out) = self.octets(ends, octets);
                let what = kept.map(ArrivalContent::Octets);
                (what.map(|what| Arrival { what, ..arrival }), left_out)
            }
        }
    }

    fn octets(&mut self, ends: Ends, octets: Vec<u8>) -> (Option<Vec<u8>>, u64) {
        // Its beginning is not in the recording: the player counts it as undelivered.
        let Some(connection) = self.connections.get_mut(&ends) else { return (Some(octets), 0) };
        let Some(lines) = self.lines else {
            return (connection.is_kept.then_some(octets), u64::from(!connection.is_kept));
        };
        let (mut kept, mut left_out) = (Vec::new(), 0);
        for part in octets.split_inclusive(|octet| *octet == b'\n') {
            if !connection.line.is_within {
                let is_login = connection.line.ended < u64::from(lines.login);
                connection.line_is_kept = is_login || self.chooser.takes();
                left_out += u64::from(!connection.line_is_kept);
            }
            connection.line.take(part);
            if connection.line_is_kept {
                kept.extend(part);
            }
        }
        ((!kept.is_empty()).then_some(kept), left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    fn arrival(port: u16, what: ArrivalContent) -> Arrival {
        let at = |port| Endpoint { address: Ipv6Addr::UNSPECIFIED, port };
        Arrival { at_ns: 1, from: at(port), to: at(80), what }
    }

    /// Exactly one of each group is chosen, and not at the same place of each.
    #[test]
    fn one_of_each_group_at_drawn_places() {
        for seed in 0..20 {
            let mut chooser = Chooser { one_of: 10, seed, seen: 0 };
            let taken: Vec<usize> = (0..1000).filter(|_| chooser.takes()).collect();
            let groups: Vec<usize> = taken.iter().map(|at| at / 10).collect();
            assert_eq!(groups, (0..100).collect::<Vec<_>>());
            let mut places: Vec<usize> = taken.iter().map(|at| at % 10).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), 10, "seed {seed}: {taken:?}");
        }
    }

    #[test]
    fn of_lines_a_login_is_kept_and_a_line_is_never_cut() {
        let mut thinning = Thinning::new(4, 7, Some(Lines { login: 1 }));
        assert!(thinning.pass(arrival(1, ArrivalContent::Opened)).0.is_some());
        let text: String = (0..41).map(|n| format!("line {n}\n")).collect();
        let (mut kept, mut left_out) = (Vec::new(), 0);
        for part in text.as_bytes().chunks(5) {
            let (some, n) = thinning.pass(arrival(1, ArrivalContent::Octets(part.to_vec())));
            left_out += n;
            if let Some(Arrival { what: ArrivalContent::Octets(octets), .. }) = some {
                kept.extend(octets);
            }
        }
        let kept = String::from_utf8(kept).unwrap();
        assert!(kept.starts_with("line 0\n") && kept.ends_with('\n'), "{kept}");
        assert_eq!((kept.lines().count(), left_out), (11, 30), "{kept}");
        assert!(kept.lines().all(|line| text.lines().any(|whole| whole == line)), "{kept}");
    }

    #[test]
    fn of_connections_one_is_kept_whole() {
        let mut thinning = Thinning::new(3, 1, None);
        let mut kept = Vec::new();
        for port in 1..=9 {
            for what in
                [ArrivalContent::Opened, ArrivalContent::Octets(vec![1]), ArrivalContent::Ended]
            {
                kept.extend(thinning.pass(arrival(port, what)).0.map(|one| one.from.port));
            }
        }
        assert_eq!(kept.len(), 9, "{kept:?}");
        assert!(kept.chunks(3).all(|three| three.iter().all(|port| *port == three[0])), "{kept:?}");
        assert!(thinning.connections.is_empty());
    }
}
