//! Cost of a write to a loopback socket, by its octets and by the number of sockets.

use super::bare::Writes;
use crate::Arguments;
use crate::process::load_average;
use crate::table::Table;
use anyhow::Result;
use serde_json::{Value, json};

/// Octets of a packet, with CR LF.
const PACKET_OCTETS: f64 = 82.0;

/// Sockets, packets of a write, writes a second.
const POINTS: [(usize, f64, f64); 8] = [
    (400, 1.0, 40_000.0),
    (400, 4.0, 40_000.0),
    (400, 10.0, 40_000.0),
    (400, 20.0, 20_000.0),
    (400, 80.0, 5_000.0),
    (4000, 2.0, 40_000.0),
    (4000, 4.0, 20_000.0),
    (1, 10.0, 40_000.0),
];

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(crate) fn limits(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "The kernel alone: writes to loopback sockets by a thread, read by another; each socket in \
         its turn, 64 at once",
        &["sockets", "octets", "writes/s", "us/write", "us/read", "CPU-s/M packets", "load"],
    );
    let mut rows = Vec::new();
    for (sockets, packets, per_s) in POINTS {
        let octets = (packets * PACKET_OCTETS) as usize;
        let writes = Writes { sockets, octets, per_s, burst: 64.min(sockets) };
        let bare = writes.cost(arguments.either(1.0, 3.0))?;
        let load = load_average();
        table.row(&[
            sockets.to_string(),
            octets.to_string(),
            format!("{:.0}", bare.per_s),
            format!("{:.2}", bare.write_us),
            format!("{:.2}", bare.read_us),
            format!("{:.3}", bare.write_us / packets),
            format!("{load:.1}"),
        ]);
        rows.push(json!({ "writes": writes, "bare": bare, "load_average": load }));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}
