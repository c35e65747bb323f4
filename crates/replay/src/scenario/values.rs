//! Placeholders of a scenario.

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
    fn placeholders_are_filled() {
        let value = |name: &str| (name == "bin").then(|| "/x".to_owned());
        assert_eq!(fill("{bin}/a {{b}}", &value), Ok("/x/a {b}".to_owned()));
        assert!(fill("{binn}", &value).unwrap_err().contains("{binn}"));
        assert!(fill("a}b", &value).is_err() && fill("{bin", &value).is_err());
    }
}
