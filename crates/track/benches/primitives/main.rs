//! Unit tests of primitives, as the document's table has them: its figure, ours, the ratio.
//!
//! What they do not tell is said at the end of what is printed, and in docs/track.md.
//!
//! `cargo bench -p chronoscope-track --bench primitives [-- --quick] [--json] [SECTION...]`: locks,
//! clocks, channels, maps, malloc, layout, simulation.

#![allow(clippy::unwrap_used)] // an error here is the end of the measurement

mod channels;
mod clocks;
mod layout;
mod locks;
mod malloc;
mod maps;
mod simulation;
mod table;

use table::Table;

/// Amount of measurement.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// Batches of each row.
    pub(crate) batches: usize,
    /// The largest maps, as powers of two; the number of entries of indexes, by this.
    pub(crate) quick: bool,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.iter().any(|word| word == "--list") {
        return; // asked by a test runner
    }
    let quick = words.iter().any(|word| word == "--quick");
    let extent = Extent { batches: if quick { 21 } else { 101 }, quick };
    let wanted: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    type Section = (&'static str, fn(Extent, &mut Table));
    let sections: [Section; 7] = [
        ("locks", locks::run),
        ("clocks", clocks::run),
        ("channels", channels::run),
        ("maps", maps::run),
        ("malloc", malloc::run),
        ("layout", layout::run),
        ("simulation", simulation::run),
    ];
    let as_json = words.iter().any(|word| word == "--json");
    let mut table = Table::begin(as_json);
    for (name, run) in sections {
        if wanted.is_empty() || wanted.contains(&name) {
            eprintln!("primitives: {name}");
            run(extent, &mut table);
        }
    }
    if as_json {
        println!(
            "{:#}",
            serde_json::json!({ "version": 1, "batches": extent.batches, "rows": table.rows() })
        );
        return;
    }
    println!(
        "\nMachine: {}. Load at the end: {}.\nNanoseconds; median of {} batches or of as many as said, least beside it, and\n\
         the least CPU time of all threads. The document's are\n\
         of another machine of 2020. What such figures do not tell: docs/track.md.",
        machine(),
        load(),
        extent.batches
    );
}

fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    format!("{}, {cores} cores", model.unwrap_or("?").trim_start_matches([' ', '\t', ':']))
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
