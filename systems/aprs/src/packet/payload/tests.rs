use crate::packet::{DropReason, Packet, Position, Symbol, Types, parse};

/// The packet of a line without q construct, from `SERVERX`.
fn packet(line: &[u8]) -> Packet {
    build(line).unwrap_or_else(|reason| panic!("{reason}: {}", String::from_utf8_lossy(line)))
}

fn build(line: &[u8]) -> Result<Packet, DropReason> {
    parse(line)?.build(b"qAS,SERVERX")
}

/// Within 10 m, where minutes have two digits after the point.
fn is_at(packet: &Packet, latitude: f32, longitude: f32) {
    let Position { latitude: north, longitude: east } = packet.position.unwrap();
    let near = (north - latitude).abs() < 1e-4 && (east - longitude).abs() < 1e-4;
    assert!(near, "{north} {east} and not {latitude} {longitude}");
}

fn symbol(table: u8, code: u8) -> Option<Symbol> {
    Some(Symbol { table, code })
}

/// 60° 13.69' = 60.2282°, 24° 50.97' = 24.8495°.
#[test]
fn position_as_text() {
    let packet = packet(b"OH2RDP-1>BEACON-15:!6013.69NR02450.97E&comment");
    is_at(&packet, 60.2282, 24.8495);
    assert_eq!((packet.symbol, packet.types), (symbol(b'R', b'&'), Types::POSITION));
}

/// From the tests of aprsc: its filter `r/37.0887/-76.4585/100` lets it through.
#[test]
fn position_of_a_tracker() {
    let packet = packet(b"N3HF-9>S7PU3R:`h7Oq+F>/`\"3{}_");
    is_at(&packet, 37.0887, -76.4585);
    assert_eq!((packet.symbol, packet.types), (symbol(b'/', b'>'), Types::POSITION));
}
