//! What comes before the replayed part of a recording: it is not delivered, but connections that
//! are open when the part begins are opened then, and log in.

use super::login::{Lines, LinesState};
use super::thinning::Ends;
use crate::capture::{Arrival, ArrivalContent};
use std::collections::{BTreeMap, BTreeSet};

/// Octets of a login that are kept, of one connection.
const LOGIN_BYTES_MAX: usize = 64 << 10;

/// Leaves out what comes before an instant.
#[derive(Debug)]
pub(super) struct Before {
    from_ns: i64,
    lines: Option<Lines>,
    open: BTreeMap<Ends, Connection>,
    /// Order in which connections were opened.
    opened: u64,
    /// Connections whose line had begun before the instant: its end is left out, too.
    cut: BTreeSet<Ends>,
    over: bool,
    /// Arrivals that were left out.
    pub(super) skipped: u64,
}

#[derive(Debug, Default)]
struct Connection {
    number: u64,
    line: LinesState,
    login: Vec<u8>,
}

impl Before {
    pub(super) fn new(from_ns: i64, lines: Option<Lines>) -> Self {
        Self {
            from_ns,
            lines,
            open: BTreeMap::new(),
            opened: 0,
            cut: BTreeSet::new(),
            over: false,
            skipped: 0,
        }
    }

    /// Whether what comes at an instant is delivered.
    pub(super) fn is_over_at(&self, at_ns: i64) -> bool {
        at_ns >= self.from_ns
    }

    /// Deliveries that come of an arrival: none before the instant; with the first one after it
    /// the connections that are open.
    pub(super) fn pass(&mut self, arrival: Arrival) -> Vec<Arrival> {
        if arrival.at_ns < self.from_ns {
            self.skip(arrival);
            return Vec::new();
        }
        let mut all = self.finish();
        all.extend(self.without_cut_line(arrival));
        all
    }

    /// Connections that are open at the instant; once, also where nothing comes after it.
    pub(super) fn finish(&mut self) -> Vec<Arrival> {
        if std::mem::replace(&mut self.over, true) {
            return Vec::new();
        }
        let mut open: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        open.sort_by_key(|(_, connection)| connection.number);
        let mut all = Vec::new();
        for ((from, to), connection) in open {
            let arrival = |what| Arrival { at_ns: self.from_ns, from, to, what };
            all.push(arrival(ArrivalContent::Opened));
            if !connection.login.is_empty() {
                all.push(arrival(ArrivalContent::Octets(connection.login)));
            }
            let logs_in = self.lines.is_some_and(|l| connection.line.ended < u64::from(l.login));
            if self.lines.is_some() && connection.line.is_within && !logs_in {
                self.cut.insert((from, to));
            }
        }
        all
    }

    fn skip(&mut self, arrival: Arrival) {
        self.skipped += 1;
        let ends = (arrival.from, arrival.to);
        match arrival.what {
            ArrivalContent::Datagram(_) => {}
            ArrivalContent::Opened => {
                self.opened += 1;
                self.open.insert(ends, Connection { number: self.opened, ..Connection::default() });
            }
            ArrivalContent::Ended => {
                self.open.remove(&ends);
            }
            ArrivalContent::Octets(octets) => {
                let (Some(lines), Some(connection)) = (self.lines, self.open.get_mut(&ends)) else {
                    return;
                };
                for part in octets.split_inclusive(|octet| *octet == b'\n') {
                    let room = connection.login.len() + part.len() <= LOGIN_BYTES_MAX;
                    if connection.line.ended < u64::from(lines.login) && room {
                        connection.login.extend(part);
                    }
                    connection.line.take(part);
                }
            }
        }
    }

    fn without_cut_line(&mut self, mut arrival: Arrival) -> Option<Arrival> {
        let ends = (arrival.from, arrival.to);
        if let (true, ArrivalContent::Octets(octets)) =
            (self.cut.contains(&ends), &mut arrival.what)
        {
            let Some(end) = octets.iter().position(|octet| *octet == b'\n') else {
                self.skipped += 1;
                return None;
            };
            octets.drain(..=end);
            self.cut.remove(&ends);
            if octets.is_empty() {
                self.skipped += 1;
                return None;
            }
        }
        Some(arrival)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Endpoint;
    use std::net::Ipv6Addr;

    fn arrival(at_ns: i64, port: u16, what: ArrivalContent) -> Arrival {
        let at = |port| Endpoint { address: Ipv6Addr::UNSPECIFIED, port };
        Arrival { at_ns, from: at(port), to: at(80), what }
    }

    fn octets(text: &str) -> ArrivalContent {
        ArrivalContent::Octets(text.as_bytes().to_vec())
    }

    /// Deliveries in words: port and content.
    fn words(all: Vec<Arrival>) -> Vec<String> {
        let word = |arrival: Arrival| match arrival.what {
            ArrivalContent::Opened => format!("{} opened", arrival.from.port),
            ArrivalContent::Ended => format!("{} ended", arrival.from.port),
            ArrivalContent::Octets(o) | ArrivalContent::Datagram(o) => {
                format!("{} {}", arrival.from.port, String::from_utf8_lossy(&o))
            }
        };
        all.into_iter().map(word).collect()
    }

    #[test]
    fn open_connections_log_in_and_a_cut_line_is_left_out() {
        let mut before = Before::new(100, Some(Lines { login: 1 }));
        for (at_ns, port, what) in [
            (1, 2, ArrivalContent::Opened),
            (2, 1, ArrivalContent::Opened),
            (3, 3, ArrivalContent::Opened),
            (4, 2, octets("user b\nfirst\nsec")),
            (5, 1, octets("user a\n")),
            (6, 3, ArrivalContent::Ended),
        ] {
            assert!(before.pass(arrival(at_ns, port, what)).is_empty());
        }
        let all = words(before.pass(arrival(100, 2, octets("ond\nthird\n"))));
        assert_eq!(all, ["2 opened", "2 user b\n", "1 opened", "1 user a\n", "2 third\n"]);
        assert_eq!(words(before.pass(arrival(101, 2, octets("fourth\n")))), ["2 fourth\n"]);
        assert_eq!(before.skipped, 6);
    }

    #[test]
    fn without_lines_octets_go_on_where_they_are() {
        let mut before = Before::new(100, None);
        before.pass(arrival(1, 2, ArrivalContent::Opened));
        before.pass(arrival(2, 2, octets("abc")));
        assert_eq!(words(before.pass(arrival(100, 2, octets("def")))), ["2 opened", "2 def"]);
        let mut nothing = Before::new(100, None);
        nothing.pass(arrival(1, 2, ArrivalContent::Opened));
        assert_eq!(words(nothing.finish()), ["2 opened"]);
        assert!(nothing.finish().is_empty());
    }
}
