//! Arrival times as texts (4.1): `yyyymmdd`, `hhmmssth` to hundredths of a second, `muuu` with the
//! last digit of the milliseconds and the microseconds. Taken as UTC, which is not verified.
#![allow(unsafe_code)] // reads what callers point to

use crate::types::ArrivalStrings;
use std::ffi::c_char;

/// UTC in nanoseconds since 1970; `None` when it is no time.
///
/// # Safety
/// The texts are NULL, or can be read up to their ends or their eight or four digits.
pub(crate) unsafe fn read(own: &ArrivalStrings) -> Option<i64> {
    // SAFETY: the caller's promise.
    let (date, time) = unsafe { (digits::<8>(own.yyyymmdd)?, digits::<8>(own.hhmmssth)?) };
    let below = match own.muuu.is_null() {
        true => 0,
        // SAFETY: the caller's promise.
        false => unsafe { digits::<4>(own.muuu)? },
    };
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
    let (hour, minute, second) = (time / 1_000_000, time / 10_000 % 100, time / 100 % 100);
    let valid = year >= 1970
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    let seconds = (days_before(year, month, day) * 24 + hour) * 3600 + minute * 60 + second;
    valid.then_some(seconds * 1_000_000_000 + time % 100 * 10_000_000 + below * 1000)
}

/// # Safety
/// As for [`read`].
unsafe fn digits<const N: usize>(text: *const c_char) -> Option<i64> {
    if text.is_null() {
        return None;
    }
    let mut number = 0;
    for at in 0..N {
        // SAFETY: the caller's promise: nothing behind the text's end is read.
        let digit = unsafe { *text.cast::<u8>().add(at) };
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
    }
    Some(number)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970 to a day.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let leap_days = before / 4 - before / 100 + before / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    let months: i64 = (1..month).map(|month| days_of(year, month)).sum();
    (year - 1970) * 365 + leap_days + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{SubBuffer, format};
    use std::ffi::CStr;

    fn of(date: &CStr, time: &CStr, below: Option<&CStr>) -> Option<i64> {
        let own = ArrivalStrings {
            header: SubBuffer { format: format::ARRIVAL_STRINGS },
            yyyymmdd: date.as_ptr(),
            hhmmssth: time.as_ptr(),
            muuu: below.map_or(std::ptr::null(), CStr::as_ptr),
        };
        // SAFETY: texts that end.
        unsafe { read(&own) }
    }

    #[test]
    fn times_by_hand() {
        assert_eq!(of(c"19700101", c"00000000", None), Some(0));
        // date -u -d '2024-02-29 12:34:56.789012' +%s gives 1709210096
        let ns = of(c"20240229", c"12345678", Some(c"9012"));
        assert_eq!(ns, Some(1_709_210_096_789_012_000));
        assert_eq!(of(c"20010101", c"00000000", None), Some(978_307_200_000_000_000));
        for (date, time) in
            [(c"20230229", c"00000000"), (c"2023", c"00000000"), (c"20230101", c"24000000")]
        {
            assert_eq!(of(date, time, None), None);
        }
    }
}
