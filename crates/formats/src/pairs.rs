//! Properties and metrics as a JSON object in one field: in their order, and however often a key
//! stands there. Numbers read back exactly, which the JSON library promises only when asked to;
//! what JSON has no number for is the text `NaN`, `inf` or `-inf`.

use std::fmt::Write;

/// Properties; empty when there are none.
pub(crate) fn texts(pairs: &[(String, String)]) -> String {
    object(pairs, |value| quoted(value))
}

/// Metrics; empty when there are none.
pub(crate) fn numbers(pairs: &[(String, f64)]) -> String {
    object(
        pairs,
        |value| if value.is_finite() { format!("{value:?}") } else { format!("\"{value}\"") },
    )
}

fn object<T>(pairs: &[(String, T)], value: impl Fn(&T) -> String) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let mut text = String::from("{");
    for (index, (key, of)) in pairs.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(text, "{comma}{}:{}", quoted(key), value(of)); // into a String
    }
    text + "}"
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Reads what [`texts`] wrote; `None` when it is no such object.
pub(crate) fn parse_texts(text: &str) -> Option<Vec<(String, String)>> {
    parse(text, |literal| serde_json::from_str(literal).ok())
}

/// Reads what [`numbers`] wrote; `None` when it is no such object.
pub(crate) fn parse_numbers(text: &str) -> Option<Vec<(String, f64)>> {
    parse(text, |literal| match literal.starts_with('"') {
        true => serde_json::from_str::<String>(literal).ok()?.parse().ok(),
        false => literal.parse().ok(),
    })
}

fn parse<T>(text: &str, value: impl Fn(&str) -> Option<T>) -> Option<Vec<(String, T)>> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        if !pairs.is_empty() {
            rest = rest.strip_prefix(',')?.trim_start();
        }
        let (key, after) = literal(rest)?;
        rest = after.trim_start().strip_prefix(':')?.trim_start();
        let (of, after) = literal(rest)?;
        pairs.push((serde_json::from_str(key).ok()?, value(of)?));
        rest = after.trim_start();
    }
    Some(pairs)
}

/// The text or number at the beginning, and the rest.
fn literal(text: &str) -> Option<(&str, &str)> {
    let Some(inner) = text.strip_prefix('"') else {
        let end = text.find([',', '}', ' ', ':']).unwrap_or(text.len());
        return (end > 0).then(|| text.split_at(end));
    };
    let mut escaped = false;
    let end = inner.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    Some(text.split_at(end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_doubles_and_numbers_survive() {
        let given = [("b", "x,\"}\\"), ("a", ""), ("b", "é\n")];
        let given: Vec<_> = given.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        assert_eq!(parse_texts(&texts(&given)), Some(given));
        let given = [0.1 + 0.2, 1e300, -0.0, f64::MIN_POSITIVE, f64::INFINITY];
        let given: Vec<_> = given.map(|value| ("k".to_owned(), value)).into();
        assert_eq!(parse_numbers(&numbers(&given)), Some(given));
        let nan = parse_numbers(&numbers(&[("k".to_owned(), f64::NAN)])).unwrap();
        assert!(nan[0].1.is_nan());
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["{", "{}}", "[1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":\"}"]
        {
            assert_eq!(parse_numbers(text), None, "{text}");
        }
        assert_eq!(parse_numbers("{}"), Some(vec![]));
    }
}
