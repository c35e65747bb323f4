//! Lengths of time as text.

use chronoscope_figures::numbers::duration;

/// A length of time in the largest unit that divides it: `30 d`, `90 s`, `1 s`, `20 ms`.
pub fn period(ns: u64) -> String {
    const UNITS: [(u64, &str); 7] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "µs"),
        (1, "ns"),
    ];
    let unit = UNITS.iter().find(|(unit, _)| ns >= *unit && ns.is_multiple_of(*unit));
    match unit {
        Some((unit, name)) if ns / unit < 1000 => format!("{} {name}", ns / unit),
        _ => duration(ns as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_the_largest_unit_that_divides_it() {
        let cases = [
            (30 * 86_400 * 1_000_000_000, "30 d"),
            (90_000_000_000, "90 s"),
            (60_000_000_000, "1 min"),
            (20_000_000, "20 ms"),
            (1_234_567, "1.235 ms"),
            (0, "0 ns"),
        ];
        for (ns, text) in cases {
            assert_eq!(period(ns), text);
        }
    }
}
