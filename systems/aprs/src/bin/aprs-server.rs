//! The program `aprs-server`.
fn main() {}
