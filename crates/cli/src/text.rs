//! Words for numbers on a terminal, as the program's commands use them.

pub(crate) use chronoscope_figures::numbers::{UNKNOWN, duration, parse_duration, parse_size};
pub(crate) use chronoscope_figures::tables::{Align, Table, bar};

/// A duration, or that it is not known.
pub(crate) fn known_duration(ns: Option<f64>) -> String {
    ns.map_or_else(|| UNKNOWN.to_owned(), duration)
}

/// A count with a comma at every thousand: `277,000`.
pub(crate) fn count(n: u64) -> String {
    chronoscope_figures::numbers::grouped(n)
}

/// A share in percent, with enough digits to distinguish it from 0 and from 100 in a large
/// population.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    chronoscope_figures::numbers::share(part, whole, 2)
}
