//! Numbers and sub-positions: `0x10`, `16`, and relative to the one before `+3`, `-3`, `*`.

/// A number: hexadecimal after `0x`, else decimal; `None` for anything else.
pub(super) fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // `from_str_radix` would take a sign.
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// The position that `text` means after `last`; `None` when it is none or leaves 64 bits.
pub(super) fn sub_position(text: &str, last: u64) -> Option<u64> {
    match text.as_bytes().first()? {
        b'*' if text.len() == 1 => Some(last),
        b'+' => last.checked_add(number(&text[1..])?),
        b'-' => last.checked_sub(number(&text[1..])?),
        _ => number(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal_and_have_no_sign() {
        assert_eq!(number("0x1F"), Some(31));
        assert_eq!(number("31"), Some(31));
        for bad in ["", "0x", "1f", "+1", "-1", "0x+1", "18446744073709551616", "1 "] {
            assert_eq!(number(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_relative_position_stays_within_its_bounds() {
        assert_eq!(sub_position("+3", 10), Some(13));
        assert_eq!(sub_position("-3", 10), Some(7));
        assert_eq!(sub_position("*", 10), Some(10));
        assert_eq!(sub_position("0xa", 3), Some(10));
        for bad in ["-11", "+0xffffffffffffffff", "**", "+-1", "", "+"] {
            assert_eq!(sub_position(bad, 10), None, "{bad:?}");
        }
    }
}
