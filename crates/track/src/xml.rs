//! Text within SVG and HTML.

/// With what markup would be as references, and without characters that XML 1.0 (§2.2) has not.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            other if other < ' ' => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_it_is_markup() {
        assert_eq!(escaped("a<b> & \"c\"\u{1}\n\u{ffff}d"), "a&lt;b&gt; &amp; &quot;c&quot; d");
    }
}
