//! Numbers as reports print them.

/// A count with a comma at every thousand.
pub(crate) fn grouped(count: impl Into<u128>) -> String {
    let digits = count.into().to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas_every_three_digits() {
        let all = [0_u64, 999, 1000, 12_345, 4_026_449_248].map(grouped);
        assert_eq!(all, ["0", "999", "1,000", "12,345", "4,026,449,248"]);
    }
}
