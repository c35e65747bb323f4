//! Times and placeholders of a scenario.

/// UTC, ns since 1970, of `2026-07-01T05:00:00Z`.
pub(super) fn parse_time(text: &str) -> Result<i64, String> {
    let wrong = || format!("\"{text}\" is not a time: write 2026-07-01T05:00:00Z (UTC)");
    let at: toml::value::Datetime = text.trim().parse().map_err(|_| wrong())?;
    let (Some(date), Some(time), Some(toml::value::Offset::Z)) = (at.date, at.time, at.offset)
    else {
        return Err(wrong());
    };
    let days = days_since_1970(date.year.into(), date.month.into(), date.day.into());
    let second = i64::from(time.hour) * 3600
        + i64::from(time.minute) * 60
        + i64::from(time.second.unwrap_or(0));
    let ns = time.nanosecond.unwrap_or(0);
    (days * 86_400 + second)
        .checked_mul(1_000_000_000)
        .and_then(|s| s.checked_add(ns.into()))
        .ok_or_else(wrong)
}

/// Howard Hinnant's days_from_civil: the proleptic Gregorian calendar with years from March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Puts in what stands for each `{name}`; `{{` and `}}` are braces.
pub(super) fn fill(text: &str, value: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        out += &rest[..at];
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if rest.starts_with(brace) {
            out += brace;
            rest = &rest[1..];
            continue;
        }
        let end = rest.find('}').filter(|_| brace == "{");
        let end = end.ok_or_else(|| format!("an unmatched brace in \"{text}\""))?;
        let name = &rest[..end];
        out += &value(name).ok_or_else(|| {
            format!(
                "{{{name}}} in \"{text}\" is not a known placeholder: use bin, scenario, state or \
                 port.NAME"
            )
        })?;
        rest = &rest[end + 1..];
    }
    Ok(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(parse_time("1970-01-01T00:00:00Z"), Ok(0));
        assert_eq!(parse_time("2026-07-01T05:00:00Z"), Ok(1_782_882_000_000_000_000));
        assert_eq!(parse_time("2000-02-29T00:00:01.5Z"), Ok(951_782_401_500_000_000));
        for wrong in ["2026-07-01", "05:00:00", "2026-07-01T05:00:00+02:00", "9999-01-01T00:00:00Z"]
        {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn placeholders_are_filled() {
        let value = |name: &str| (name == "bin").then(|| "/x".to_owned());
        assert_eq!(fill("{bin}/a {{b}}", &value), Ok("/x/a {b}".to_owned()));
        assert!(fill("{binn}", &value).unwrap_err().contains("{binn}"));
        assert!(fill("a}b", &value).is_err() && fill("{bin", &value).is_err());
    }
}
