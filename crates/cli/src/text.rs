//! Words for numbers on a terminal: durations, counts, shares, tables, bars.

use std::fmt::Write;
use std::time::Duration;

/// A duration in the unit that suits its size: `950 ns`, `12.50 µs`, `137.038 ms`, `7.835 s`.
pub(crate) fn duration(ns: f64) -> String {
    let size = ns.abs();
    if size < 1e3 {
        format!("{ns:.0} ns")
    } else if size < 1e6 {
        format!("{:.2} µs", ns / 1e3)
    } else if size < 1e9 {
        format!("{:.3} ms", ns / 1e6)
    } else {
        format!("{:.3} s", ns / 1e9)
    }
}

/// Placeholder for a value that was not measured.
pub(crate) const UNKNOWN: &str = "–";

/// A duration, or that it is not known.
pub(crate) fn known_duration(ns: Option<f64>) -> String {
    ns.map_or_else(|| UNKNOWN.to_owned(), duration)
}

/// A count with thousands apart: `277,000`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share in percent, with enough digits to distinguish it from 0 and from 100 in a large
/// population.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "– %".to_owned();
    }
    format!("{:.2} %", part as f64 * 100.0 / whole as f64)
}

/// A bar of eighth blocks, at most `width` cells long, for `value` of `largest`.
pub(crate) fn bar(value: u64, largest: u64, width: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    if largest == 0 {
        return String::new();
    }
    let eighths = u128::from(value) * 8 * width as u128;
    let mut eighths = usize::try_from(eighths / u128::from(largest)).unwrap_or(8 * width);
    if eighths == 0 && value > 0 {
        eighths = 1; // something is never drawn as nothing
    }
    let mut text = "█".repeat(eighths / 8);
    if eighths % 8 > 0 {
        text.push(EIGHTHS[eighths % 8]);
    }
    text
}

/// Reads a duration: `1s`, `250ms`, `40 µs`, `1.5h`, `7d`.
///
/// # Errors
/// A sentence with the expected form, for a number without a unit, a negative one or one beyond 500
/// years.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(format!("{text:?} is no duration: expected such as 500ms, 1s, 10min, 7d")),
    };
    let value = number.trim().parse::<f64>().ok().map(|n| n * seconds);
    let in_range = value.filter(|s| (0.0..1.6e10).contains(s));
    let seconds = in_range.ok_or(format!("{text:?} is no duration from 0 to 500 years"))?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Reads an amount of storage: `500M`, `20G`, `1.5T`, or bytes (decimal prefixes).
///
/// # Errors
/// A sentence with the expected form.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let body = text.trim_end_matches(['B', 'b']);
    let (number, unit) = match body.char_indices().last() {
        Some((at, c)) if c.is_alphabetic() => (&body[..at], c.to_ascii_uppercase()),
        _ => (body, ' '),
    };
    let factor = match unit {
        ' ' => 1.0,
        'K' => 1e3,
        'M' => 1e6,
        'G' => 1e9,
        'T' => 1e12,
        _ => return Err(format!("{text:?} is no size: expected such as 500M, 20G, 1T")),
    };
    let value = number.trim().parse::<f64>().ok().map(|n| n * factor);
    let in_range = value.filter(|v| (0.0..1.8e19).contains(v));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in range
    in_range.map(|v| v as u64).ok_or(format!("{text:?} is no size: expected such as 500M, 20G, 1T"))
}

/// A table with a heading line; columns are aligned, the first to the left and the rest to the
/// right.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this heading.
    pub(crate) fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|h| (*h).to_owned()).collect()] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        // A name with a line break would look like a row of its own.
        let safe = |cell: String| chronoscope_escape::terminal(&cell).into_owned();
        self.rows.push(cells.into_iter().map(safe).collect());
    }
}

impl Table {
    /// Letters of the longest line.
    pub(crate) fn width(&self) -> usize {
        self.to_string().lines().map(|line| line.chars().count()).max().unwrap_or(0)
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let (gap, width) = (if column == 0 { "" } else { "  " }, widths[column]);
                match column {
                    0 => write!(line, "{gap}{cell:<width$}")?,
                    _ => write!(line, "{gap}{cell:>width$}")?,
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_in_their_unit() {
        let texts = [950.0, 12_500.0, 137_038_000.0, 7.835e9, -2e6].map(duration);
        assert_eq!(texts, ["950 ns", "12.50 µs", "137.038 ms", "7.835 s", "-2.000 ms"]);
    }

    #[test]
    fn durations_read() {
        assert_eq!(parse_duration("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(parse_duration(" 1.5 ms "), Ok(Duration::from_micros(1500)));
        assert_eq!(parse_duration("10min"), Ok(Duration::from_secs(600)));
        for wrong in ["", "5", "-1s", "1e99h", "s", "3 fortnights", "NaNs"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_read() {
        assert_eq!(parse_size("20G"), Ok(20_000_000_000));
        assert_eq!(parse_size("1.5 MB"), Ok(1_500_000));
        assert_eq!(parse_size("512"), Ok(512));
        assert!(parse_size("much").is_err());
        assert!(parse_size("-3M").is_err());
    }

    #[test]
    fn counts_bars_and_tables() {
        assert_eq!(
            [0, 999, 1000, 277_000, 1_234_567].map(count).join(" "),
            "0 999 1,000 277,000 1,234,567"
        );
        assert_eq!(bar(4, 8, 4), "██");
        assert_eq!(bar(1, 1_000_000, 10), "▏");
        assert_eq!(bar(5, 0, 10), "");
        let mut table = Table::new(&["class", "n"]);
        table.row(vec!["a".into(), "12".into()]);
        assert_eq!(table.to_string(), "class   n\na      12\n");
        table.row(vec!["b\nc\u{1b}[2J\u{202e}".into()]);
        assert!(table.to_string().ends_with("\nb\\u000ac\\u001b[2J\\u202e\n"), "{table}");
    }
}
