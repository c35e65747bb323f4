//! Filters against the specification's examples, and the index against the walk.

mod index;
mod language;
mod letters;

use crate::packet::{self, Packet};

/// A packet from a whole line, q construct included.
fn packet(line: &str) -> Packet {
    let parsed = packet::parse(line.as_bytes()).unwrap();
    parsed.build(parsed.path).unwrap()
}
