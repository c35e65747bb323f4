//! Filters as clients have them: by first letter r 55 %, a 23 %, b 8 %, p 8 %, t 6 %; every eighth
//! with more terms, every sixteenth with one that takes something out again.

use crate::packets::place;
use chronoscope_statistics::Random;
use std::collections::HashMap;

/// Makes `count` filters, from a fixed seed.
pub(crate) fn mixed(count: usize) -> Vec<String> {
    let mut random = Random(23);
    (0..count).map(|_| filter(&mut random)).collect()
}

fn filter(random: &mut Random) -> String {
    let mut text = term(random);
    if random.below(8) == 0 {
        for _ in 0..2 + random.below(2) {
            text.push(' ');
            text.push_str(&term(random));
        }
    }
    if random.below(16) == 0 {
        text.push_str(" -t/t");
    }
    text
}

fn term(random: &mut Random) -> String {
    let (latitude, longitude) = place(random);
    let call = |random: &mut Random| {
        let letter = |value: u64| char::from(b'A' + u8::try_from(value % 26).unwrap_or(0));
        let (a, b, digit) = (letter(random.bits()), letter(random.bits()), random.below(10));
        let (c, d, e) = (letter(random.bits()), letter(random.bits()), letter(random.bits()));
        format!("{a}{b}{digit}{c}{d}{e}")
    };
    match random.below(100) {
        0..55 => format!("r/{latitude:.2}/{longitude:.2}/{}", 30 + random.below(220)),
        55..78 => {
            let (north, west) = (latitude + 1.0, longitude - 1.5);
            format!("a/{north:.2}/{west:.2}/{:.2}/{:.2}", north - 2.0, west + 3.0)
        }
        78..86 => (0..9).fold("b".to_owned(), |text, _| format!("{text}/{}", call(random))),
        86..94 => (0..3).fold("p".to_owned(), |text, _| format!("{text}/{}", &call(random)[..2])),
        _ => ["t/m", "t/w", "t/o", "t/s"][usize::try_from(random.below(4)).unwrap_or(0)].to_owned(),
    }
}

/// Clients whose filters name callsigns, and nothing else: which packets they get follows from the
/// source alone, so that the generator knows it without the server's filters.
#[derive(Debug, Default)]
pub(crate) struct NamedClients {
    by_call: HashMap<String, Vec<usize>>,
    by_prefix: HashMap<String, Vec<usize>>,
}

/// Whether all terms of a filter are of the kinds `b` and `p`.
pub(crate) fn names_only(filter: &str) -> bool {
    !filter.is_empty() && filter.split(' ').all(|term| matches!(term.get(..2), Some("b/" | "p/")))
}

impl NamedClients {
    /// Those of such filters.
    pub(crate) fn of(filters: &[String]) -> Self {
        let mut clients = Self::default();
        for (index, filter) in filters.iter().enumerate().filter(|(_, filter)| names_only(filter)) {
            for term in filter.split(' ') {
                let names = match term.starts_with('b') {
                    true => &mut clients.by_call,
                    false => &mut clients.by_prefix,
                };
                for name in term.split('/').skip(1) {
                    names.entry(name.to_owned()).or_default().push(index);
                }
            }
        }
        clients
    }

    /// Number of clients that get the packets of `source`.
    pub(crate) fn getting(&self, source: &str) -> u64 {
        let mut clients = self.by_call.get(source).cloned().unwrap_or_default();
        if !self.by_prefix.is_empty() {
            let prefixes =
                source.char_indices().map(|(at, octet)| &source[..at + octet.len_utf8()]);
            clients.extend(prefixes.filter_map(|prefix| self.by_prefix.get(prefix)).flatten());
        }
        clients.sort_unstable();
        clients.dedup();
        clients.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{NamedClients, mixed, names_only};

    #[test]
    fn who_gets_a_packet_by_its_source() {
        let filters = ["p/OH/SM p/OH2", "b/OH2ABC/G4XYZ-1", "r/60/25/100", "b/OH2ABC -t/t", "p/G"];
        let clients = NamedClients::of(&filters.map(str::to_owned));
        assert_eq!(clients.getting("OH2ABC"), 2, "once each, however many terms match");
        assert_eq!(clients.getting("OH2ABC-5"), 1, "a call has its SSID");
        assert_eq!((clients.getting("G4XYZ-1"), clients.getting("G4XYZ")), (2, 1));
        assert_eq!(clients.getting("SP1A"), 0);
    }

    #[test]
    fn a_tenth_of_the_mix_and_more_names_callsigns_only() {
        let filters = mixed(2000);
        let named = filters.iter().filter(|filter| names_only(filter)).count();
        assert!((200..400).contains(&named), "{named} of 2000");
    }
}
