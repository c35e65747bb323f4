//! Dates as APRS-IS servers write them.

/// `1 Mar 2008 15:11:20 GMT` of an instant in UTC nanoseconds since 1970.
pub(super) fn gmt(utc_ns: i64) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = utc_ns.div_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let month = MONTHS[month];
    format!("{day} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Year, month in [0, 11] and day in [1, 31] of a day counted from 1970-01-01, Gregorian.
fn civil(days: i64) -> (i64, usize, i64) {
    // Years begin in March here, which makes the leap day a year's last; an era is 400 of them.
    const DAYS_TO_1970: i64 = 719_468;
    const ERA: i64 = 146_097;
    let shifted = days + DAYS_TO_1970;
    let (era, day_of_era) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = (month + 2) % 12;
    let year = year + era * 400 + i64::from(month < 2);
    (year, usize::try_from(month).unwrap_or(0), day)
}

#[cfg(test)]
mod tests {
    use super::gmt;

    #[test]
    fn dates() {
        assert_eq!(gmt(0), "1 Jan 1970 00:00:00 GMT");
        assert_eq!(gmt(1_204_384_280_999_999_999), "1 Mar 2008 15:11:20 GMT");
        assert_eq!(gmt(951_782_400_000_000_000), "29 Feb 2000 00:00:00 GMT");
        assert_eq!(gmt(4_107_542_399_000_000_000), "28 Feb 2100 23:59:59 GMT");
        assert_eq!(gmt(-1), "31 Dec 1969 23:59:59 GMT");
    }
}
