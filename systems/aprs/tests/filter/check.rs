//! What holds for any octets; the fuzz target and the replay of its corpus share it.

#![allow(unreachable_pub)] // used by the fuzz target as well

use chronoscope_aprs::callsign::Callsign;
use chronoscope_aprs::filter::{
    ClientSlot, Command, Context, Facts, Filter, FilterIndex, FilterSet, IndexedClient, TERMS_MAX,
};
use chronoscope_aprs::packet::{self, Position};
use std::sync::Arc;

/// Everybody whose name begins with `OH` is in Helsinki, and so is the client.
struct Known;

const HELSINKI: Position = Position { latitude: 60.17, longitude: 24.94 };

impl Context for Known {
    fn position_of(&self, name: &[u8]) -> Option<Position> {
        name.starts_with(b"OH").then_some(HELSINKI)
    }

    fn own_position(&self) -> Option<Position> {
        Some(HELSINKI)
    }
}

/// The first line is a client's filter, the second its port's, the others are packets. Filters are
/// taken with few errors and true places, survive their own text, and index and walk agree. The
/// result says how many packets went to the client.
pub fn check(octets: &[u8]) -> usize {
    let mut lines = octets.split(|octet| *octet == b'\n');
    let mut filter = || lines.next().map(|text| (text, parsed(text)));
    let user = filter();
    let forced = filter();
    let set = FilterSet {
        forced: forced.map(|(_, filter)| Arc::new(filter)),
        user: user.as_ref().map(|(_, filter)| Arc::new(filter.clone())),
    };
    if let Some((text, filter)) = &user
        && let Some(command) = Command::in_comment(text)
    {
        assert!(!command.answer(filter.text()).contains(|letter: char| letter < ' '));
    }
    let mut index = FilterIndex::new(1);
    let login = Callsign::new(b"OH2TI").expect("a callsign");
    let client = IndexedClient { filters: Arc::new(set.clone()), login, position: None };
    index.insert(ClientSlot(3), client, &|name| Known.position_of(name));
    let mut count = 0;
    for line in lines.take(50) {
        let Ok(parsed) = packet::parse(line) else { continue };
        let Ok(packet) = parsed.build(parsed.path) else { continue };
        let facts = Facts { position: packet.position, ..Facts::default() };
        let mut found = Vec::new();
        index.matches(&packet, facts, &mut found);
        assert_eq!(!found.is_empty(), set.matches(&packet, facts, &Known));
        count += found.len();
    }
    count
}

fn parsed(text: &[u8]) -> Filter {
    let (filter, errors) = Filter::parse_lenient(text);
    assert!(errors.len() <= TERMS_MAX + 1);
    for error in errors {
        assert!(!text[error.at].is_ascii_whitespace() && !error.to_string().is_empty());
    }
    assert!(filter.text().bytes().all(|octet| matches!(octet, b' '..=b'~')));
    if text.is_ascii() && !text.iter().any(|octet| octet.is_ascii_control()) {
        assert_eq!(Filter::parse_lenient(filter.text()).0, filter);
    }
    filter
}
