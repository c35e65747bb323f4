//! Numbers as text: counts, shares, durations, sizes; and durations and sizes from text.

use std::time::Duration;

/// Stands for a value that is not known.
pub const UNKNOWN: &str = "–";

/// A count with a comma at every thousand: `277,000`.
#[must_use]
pub fn grouped(count: impl Into<u128>) -> String {
    separated(&count.into().to_string())
}

/// A number with commas between thousands and a fixed number of decimal places: `-1,000.0`.
#[must_use]
pub fn decimal(value: f64, places: usize) -> String {
    let plain = format!("{:.places$}", value.abs());
    let sign = if value < 0.0 { "-" } else { "" };
    match plain.split_once('.') {
        Some((whole, part)) => format!("{sign}{}.{part}", separated(whole)),
        None => format!("{sign}{}", separated(&plain)),
    }
}

/// A number with four significant digits, commas between thousands and no trailing zeros: `0.165`,
/// `1,048`. All digits of whole numbers stay; a number below 0.001 is in scientific notation.
#[must_use]
pub fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    let size = value.abs();
    if size < 1e-3 {
        return format!("{value:.1e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and 6")]
    let places = (3.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
    let plain = decimal(size, places);
    let short = match plain.contains('.') {
        true => plain.trim_end_matches('0').trim_end_matches('.'),
        false => &plain,
    };
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{short}")
}

fn separated(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A fraction of one in percent, with a fixed number of decimal places: `percent(0.5, 1)` is
/// `50.0 %`.
#[must_use]
pub fn percent(part: f64, places: usize) -> String {
    format!("{:.places$} %", part * 100.0)
}

/// As [`percent`], with a sign also where it is positive: a change.
#[must_use]
pub fn signed_percent(part: f64, places: usize) -> String {
    format!("{:+.places$} %", part * 100.0)
}

/// A count of another in percent, with a fixed number of decimal places. The share of nothing is
/// [`UNKNOWN`].
#[must_use]
pub fn share(part: u64, whole: u64, places: usize) -> String {
    if whole == 0 {
        return format!("{UNKNOWN} %");
    }
    format!("{:.places$} %", part as f64 * 100.0 / whole as f64)
}

/// A duration in nanoseconds, in the unit that suits its size and to a millionth or better:
/// `950 ns`, `12.50 µs`, `137.038 ms`, `7.835 s`.
#[must_use]
pub fn duration(ns: f64) -> String {
    in_unit(ns, [0, 2, 3, 3])
}

/// As [`duration`], with a sign also where it is positive: a change.
#[must_use]
pub fn signed_duration(ns: f64) -> String {
    let sign = if ns < 0.0 { '-' } else { '+' };
    format!("{sign}{}", duration(ns.abs()))
}

/// A duration in nanoseconds, to a tenth of a microsecond or millisecond or a hundredth of a
/// second: `0.9 µs`, `12.5 µs`, `137.0 ms`, `7.84 s`.
#[must_use]
pub fn duration_rounded(ns: f64) -> String {
    match ns.abs() < 1e3 {
        true => format!("{:.1} µs", ns / 1e3),
        false => in_unit(ns, [0, 1, 1, 2]),
    }
}

/// In ns, µs, ms or s, with as many decimal places as are given for each.
fn in_unit(ns: f64, places: [usize; 4]) -> String {
    let (unit_ns, unit, places) = match ns.abs() {
        size if size < 1e3 => (1.0, "ns", places[0]),
        size if size < 1e6 => (1e3, "µs", places[1]),
        size if size < 1e9 => (1e6, "ms", places[2]),
        _ => (1e9, "s", places[3]),
    };
    format!("{:.places$} {unit}", ns / unit_ns)
}

/// Reads a duration with its unit: `1s`, `250ms`, `40 µs`, `1.5h`, `7d`; or several parts of it:
/// `1h30m`.
///
/// # Errors
/// A sentence with what was expected, for a number without a unit, a negative one or one beyond 500
/// years.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let mut rest = text;
    let mut total = Duration::ZERO;
    loop {
        let unit_at = rest.find(char::is_alphabetic).unwrap_or(rest.len());
        let (number, after) = rest.split_at(unit_at);
        let (unit, next) =
            after.split_at(after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len()));
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => {
                return Err(format!(
                    "{text:?} is not a duration: expected a value such as 500ms, 1s, 10min or 7d"
                ));
            }
        };
        let value = number.trim().parse::<f64>().ok().map(|n| n * seconds);
        let in_range = value.filter(|s| (0.0..1.6e10).contains(s));
        let seconds = in_range.ok_or(format!("{text:?} is not a duration from 0 to 500 years"))?;
        total += Duration::from_secs_f64(seconds);
        if next.is_empty() {
            return Ok(total);
        }
        rest = next;
    }
}

/// A size in bytes, in powers of 1024 with three significant digits: `999 B`, `12.3 KiB`,
/// `5.00 GiB`.
#[must_use]
pub fn bytes(size: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let Some((power, unit)) = units.into_iter().find(|(power, _)| size >= 1 << power) else {
        return format!("{size} B");
    };
    let value = size as f64 / (1_u64 << power) as f64;
    let places = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{} {unit}", decimal(value, places))
}

/// Reads a size in bytes, or with a decimal prefix: `500M`, `20G`, `1.5T`.
///
/// # Errors
/// A sentence with what was expected.
pub fn parse_size(text: &str) -> Result<u64, String> {
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
        _ => {
            return Err(format!(
                "{text:?} is not a size: expected a value such as 500M, 20G or 1T"
            ));
        }
    };
    let value = number.trim().parse::<f64>().ok().map(|n| n * factor);
    let in_range = value.filter(|v| (0.0..1.8e19).contains(v));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    in_range
        .map(|v| v as u64)
        .ok_or(format!("{text:?} is not a size: expected a value such as 500M, 20G or 1T"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        let all = [0_u64, 999, 1000, 277_000, 4_026_449_248].map(grouped);
        assert_eq!(all, ["0", "999", "1,000", "277,000", "4,026,449,248"]);
        let all = [(1_234_567.0, 0), (-999.96, 1), (12.0, 2)].map(|(v, n)| decimal(v, n));
        assert_eq!(all, ["1,234,567", "-1,000.0", "12.00"]);
    }

    #[test]
    fn four_digits_are_significant() {
        let shown = [0.0, 137.038, 277_000.0, -0.165, 1048.43, 0.000_02, 11_598_168.0, f64::NAN];
        let right = ["0", "137", "277,000", "−0.165", "1,048", "2.0e-5", "11,598,168", "–"];
        assert_eq!(shown.map(significant), right);
    }

    #[test]
    fn shares_have_their_places() {
        assert_eq!([percent(0.5, 1), percent(0.123_456, 3)], ["50.0 %", "12.346 %"]);
        assert_eq!([0.001, -0.001].map(|v| signed_percent(v, 2)), ["+0.10 %", "-0.10 %"]);
        assert_eq!([share(1, 3, 2), share(0, 0, 2)], ["33.33 %", "– %"]);
    }

    #[test]
    fn durations_have_the_unit_of_their_size() {
        let texts = [950.0, 12_500.0, 137_038_000.0, 7.835e9, -2e6].map(duration);
        assert_eq!(texts, ["950 ns", "12.50 µs", "137.038 ms", "7.835 s", "-2.000 ms"]);
        let texts = [900.0, 12_500.0, 137_038_000.0, 7.835_1e9].map(duration_rounded);
        assert_eq!(texts, ["0.9 µs", "12.5 µs", "137.0 ms", "7.84 s"]);
    }

    #[test]
    fn durations_are_read() {
        assert_eq!(parse_duration("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(parse_duration(" 1.5 ms "), Ok(Duration::from_micros(1500)));
        assert_eq!(parse_duration("10min"), Ok(Duration::from_secs(600)));
        assert_eq!(parse_duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("1 h 250ms"), Ok(Duration::from_millis(3_600_250)));
        for wrong in ["", "5", "-1s", "1e99h", "s", "3 fortnights", "NaNs"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("20G"), Ok(20_000_000_000));
        assert_eq!(parse_size("1.5 MB"), Ok(1_500_000));
        assert_eq!(parse_size("512"), Ok(512));
        assert!(parse_size("much").is_err());
        assert!(parse_size("-3M").is_err());
    }
}
