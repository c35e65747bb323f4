use super::{History, Moved, SavedPosition};
use crate::callsign::Callsign;
use crate::packet::{Packet, Position, parse};
use proptest::prelude::*;
use std::collections::BTreeMap;

const DAY: u64 = 24 * 3600 * 1_000_000_000;
const START: u64 = 77;

fn packet(line: &[u8]) -> Packet {
    parse(line).unwrap().build(b"qAR,GATE").unwrap()
}

fn history() -> History {
    History::new(3, DAY, 1000)
}

fn call(name: &[u8]) -> Callsign {
    Callsign::new(name).unwrap()
}

fn near(position: Option<Position>, latitude: f32, longitude: f32) {
    let position = position.unwrap();
    assert!((position.latitude - latitude).abs() < 0.001, "{position:?}");
    assert!((position.longitude - longitude).abs() < 0.001, "{position:?}");
}

#[test]
fn position_of_a_station() {
    let mut history = history();
    let moved = history.record(&packet(b"OH2RDP-1>BEACON:!6028.51N/02505.68E#"), START).unwrap();
    assert_eq!(moved.name, call(b"OH2RDP-1"));
    near(moved.position, 60.4752, 25.0947);
    near(history.get(b"OH2RDP-1"), 60.4752, 25.0947);
    assert_eq!(history.get(b"OH2RDP"), None);

    // The same again is no change, another place is one.
    assert_eq!(history.record(&packet(b"OH2RDP-1>B:!6028.51N/02505.68E#"), START + 1), None);
    let moved = history.record(&packet(b"OH2RDP-1>B:!6128.51N/02505.68E#"), START + 2).unwrap();
    near(moved.position, 61.4752, 25.0947);
    assert_eq!(history.record(&packet(b"OH2RDP-1>B:>no position"), START + 3), None);
    near(history.get(b"OH2RDP-1"), 61.4752, 25.0947);
}

#[test]
fn objects_and_items_live_and_die() {
    let mut history = history();
    for (live, dead, name) in [
        (
            &b";LEADER   *092345z4903.50N/07201.75W>"[..],
            &b";LEADER   _092345z4903.50N/07201.75W>"[..],
            &b"LEADER"[..],
        ),
        (
            b";NINE CHAR*092345z4903.50N/07201.75W>",
            b";NINE CHAR_092345z4903.50N/07201.75W>",
            b"NINE CHAR",
        ),
        (b")AID #2!4903.50N/07201.75WA", b")AID #2_4903.50N/07201.75WA", b"AID #2"),
    ] {
        let line = |payload: &[u8]| [b"SRC>DST:".as_slice(), payload].concat();
        let moved = history.record(&packet(&line(live)), START).unwrap();
        assert_eq!(moved.name, call(name));
        near(history.get(name), 49.0583, -72.0292);
        assert_eq!(history.get(b"SRC"), None, "the object is there, not its sender");
        let moved = history.record(&packet(&line(dead)), START + 1);
        assert_eq!(moved, Some(Moved { name: call(name), position: None }));
        assert_eq!((history.get(name), history.len()), (None, 0));
        assert_eq!(history.record(&packet(&line(dead)), START + 2), None, "was dead before");
    }
}

/// Filters ask in upper case, whatever the station's own case is.
#[test]
fn a_name_in_small_letters_is_found_and_forgotten_in_either_case() {
    let mut history = history();
    history.record(&packet(b"oh2rdp-1>BEACON:!6028.51N/02505.68E#"), START);
    near(history.get(b"OH2RDP-1"), 60.4752, 25.0947);
    let moved = history.record(&packet(b"OH2RDP-1>B:!6128.51N/02505.68E#"), START + 1).unwrap();
    near(moved.position, 61.4752, 25.0947);
    near(history.get(b"Oh2rdp-1"), 61.4752, 25.0947);
    assert_eq!(history.len(), 1);
    history.set(call(b"oH2RDP-1"), None, START + 2);
    assert!(history.is_empty());
    assert_eq!(history.get(b"OH2RDP-1X"), None);
}

#[test]
fn station_in_a_third_party_packet() {
    let mut history = history();
    history.record(&packet(b"GATE>APRS:}INNER-7>APRS,NET,GATE*:!6028.51N/02505.68E#"), START);
    near(history.get(b"INNER-7"), 60.4752, 25.0947);
    assert_eq!(history.get(b"GATE"), None);
}

#[test]
fn forgets_after_a_day_without_a_word() {
    let mut history = history();
    let place = Some(Position { latitude: 1.0, longitude: 2.0 });
    history.set(call(b"A"), place, START);
    history.set(call(b"B"), place, START + 10);
    history.set(call(b"A"), place, START + 20);
    let mut gone = Vec::new();
    history.expire(START + DAY + 10, 10, |name| gone.push(name));
    assert!(gone.is_empty(), "a day is within");
    history.expire(START + DAY + 11, 10, |name| gone.push(name));
    assert_eq!(gone, [call(b"B")]);
    assert_eq!((history.get(b"A"), history.get(b"B")), (place, None));
    history.expire(START + DAY + 100, 0, |name| gone.push(name));
    assert_eq!(history.len(), 1, "none of them when none may");
}

#[test]
fn number_of_names_is_bounded() {
    let mut history = History::new(3, DAY, 3);
    let place = Some(Position { latitude: 1.0, longitude: 2.0 });
    for name in [b"A", b"B", b"C", b"A", b"D"] {
        history.set(call(name), place, START);
    }
    assert_eq!(history.len(), 3);
    assert_eq!(history.get(b"B"), None, "was not heard for longest");
    assert_eq!((history.get(b"A"), history.get(b"C"), history.get(b"D")), (place, place, place));
}

#[test]
fn another_process_goes_on() {
    let mut history = history();
    history.set(call(b"B\xe4"), Some(Position { latitude: 1.5, longitude: -2.25 }), START);
    history.set(call(b"A"), Some(Position { latitude: 0.1, longitude: 0.2 }), START + 5);
    let saved = history.save(START + 10);
    let text = serde_json::to_string(&saved).unwrap();
    let mut saved_again: Vec<SavedPosition> = serde_json::from_str(&text).unwrap();
    assert_eq!(saved_again, saved);
    saved_again.push(SavedPosition { name: "too long a name".into(), ..saved[0].clone() });
    saved_again.push(SavedPosition { name: "€".into(), ..saved[0].clone() });

    let mut other = History::new(4, DAY, 10);
    assert_eq!(other.restore(&saved_again, DAY), 2);
    assert_eq!(other.save(DAY), saved);
    assert_eq!(other.get(b"B\xe4"), history.get(b"B\xe4"));
}

proptest! {
    /// The list and the index agree with a plain map in which time is looked up.
    #[test]
    fn agrees_with_a_plain_map(
        steps in prop::collection::vec((0_u8..8, prop::option::of(0_u8..4), 0_u64..DAY / 4), 1..80),
    ) {
        let (mut history, mut model, mut now) = (History::new(1, DAY, 100), BTreeMap::new(), START);
        for (name, place, pause) in steps {
            now += pause;
            let name = call(&[b'A' + name]);
            let place = place.map(|degrees| Position { latitude: degrees.into(), longitude: 0.0 });
            history.expire(now, usize::MAX, |_| ());
            model.retain(|_, (_, since)| now - *since <= DAY);
            let before = model.get(&name).map(|(place, _)| *place);
            match place {
                Some(place) => { model.insert(name, (place, now)); }
                None => { model.remove(&name); }
            }
            let moved = history.set(name, place, now);
            prop_assert_eq!(moved.is_some(), before != place);
            prop_assert_eq!(history.len(), model.len());
            let saved = history.save(now);
            let mut want: Vec<_> = model.values().map(|(_, since)| now - since).collect();
            want.sort_unstable_by(|a, b| b.cmp(a));
            prop_assert_eq!(saved.iter().map(|one| one.age_ns).collect::<Vec<_>>(), want);
            for (name, (place, _)) in &model {
                prop_assert_eq!(history.get(name.as_bytes()), Some(*place));
            }
        }
    }
}
