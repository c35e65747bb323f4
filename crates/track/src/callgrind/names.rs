//! The part of a function's name that is the same in every build.

/// The name without what compilers add: hashes and disambiguators of Rust, suffixes of clones
/// (`.constprop.0`, `[clone .isra.0]`), Callgrind's level of recursion (`'2`). A name that is only
/// an address becomes `(no symbol)`: addresses mean nothing in another build.
pub fn plain(name: &str) -> String {
    if name.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        return "(no symbol)".to_owned();
    }
    let mut rest = name.trim_end();
    loop {
        let shorter = without_level(rest)
            .or_else(|| without_bracketed_clone(rest))
            .or_else(|| without_clone(rest))
            .or_else(|| without_hash(rest));
        match shorter {
            Some(shorter) if !shorter.is_empty() => rest = shorter,
            _ => return without_disambiguators(rest),
        }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Turns `f'2` into `f`.
fn without_level(name: &str) -> Option<&str> {
    name.rsplit_once('\'').filter(|(_, level)| is_digits(level)).map(|(rest, _)| rest)
}

/// `f [clone .part.0]` to `f`.
fn without_bracketed_clone(name: &str) -> Option<&str> {
    let at = name.strip_suffix(']')?.rfind("[clone ")?;
    Some(name[..at].trim_end())
}

/// `f.constprop.0` to `f`; `f.cold` to `f`.
fn without_clone(name: &str) -> Option<&str> {
    const NUMBERED: [&str; 8] =
        ["constprop", "isra", "part", "cold", "lto_priv", "llvm", "specialized", "localalias"];
    let (rest, last) = name.rsplit_once('.')?;
    if NUMBERED.contains(&last) {
        return Some(rest);
    }
    let (rest, kind) = rest.rsplit_once('.')?;
    (is_digits(last) && NUMBERED.contains(&kind)).then_some(rest)
}

/// `a::f::h0123456789abcdef` to `a::f`, and the same where nothing was demangled.
fn without_hash(name: &str) -> Option<&str> {
    let is_hash =
        |text: &str| text.strip_prefix('h').is_some_and(|hash| hash.len() == 16 && is_hex(hash));
    if let Some((rest, last)) = name.rsplit_once("::") {
        return is_hash(last).then_some(rest);
    }
    let inner = name.strip_suffix('E').filter(|_| name.starts_with("_ZN"))?;
    let (rest, hash) = inner.split_at_checked(inner.len().checked_sub(17)?)?;
    rest.strip_suffix("17").filter(|_| is_hash(hash))
}

/// Turns `core[1a2b3c4d5e6f7081]::f` into `core::f`.
fn without_disambiguators(name: &str) -> String {
    let mut result = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        result.push_str(before);
        let inside = from[1..].split(']').next().unwrap_or("");
        let follows_a_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let leads_a_path = from[1 + inside.len()..].starts_with("]::");
        if follows_a_word && leads_a_path && inside.len() >= 8 && is_hex(inside) {
            rest = &from[inside.len() + 2..];
        } else {
            result.push('[');
            rest = &from[1..];
        }
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_compilers_add_is_taken_off() {
        for (name, expected) in [
            ("fib'2", "fib"),
            ("core::str::count::h0123456789abcdef", "core::str::count"),
            ("<a::B as c[0123456789abcdef]::D>::e", "<a::B as c::D>::e"),
            ("_ZN4core3str5count17h0123456789abcdefE", "_ZN4core3str5count"),
            ("work.constprop.0", "work"),
            ("work.constprop.0.isra.12.cold'3", "work"),
            ("f(int) [clone .part.0] [clone .cold]", "f(int)"),
            ("0x00000000000010c0", "(no symbol)"),
        ] {
            assert_eq!(plain(name), expected);
        }
    }

    #[test]
    fn the_rest_of_a_name_is_left_alone() {
        for name in [
            "main",
            "f'caller",
            "a::happiness",
            "v[12345678]",
            "x.y.0",
            "operator[]",
            "<[u8; 16]>::f",
            "::h0123456789abcde",
            ".cold",
            "'2",
            "(below main)",
            "slice[deadbeef",
            "é'x",
        ] {
            assert_eq!(plain(name), name);
        }
    }
}
