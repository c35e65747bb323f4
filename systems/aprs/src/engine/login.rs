//! Parser of login lines.

use crate::callsign::{CALLSIGN_LEN_MAX, has_valid_ssid};

/// A login line, taken apart; nothing is checked yet but its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Login<'a> {
    /// Callsign after `user`.
    pub(super) user: &'a [u8],
    /// Number after `pass`, read as far as it is a number; `None` without `pass`.
    pub(super) passcode: Option<i32>,
    /// The words after `vers`, name and version; empty where they are missing.
    pub(super) application: (&'a [u8], &'a [u8]),
    /// The word after `udp`.
    pub(super) udp: Option<&'a [u8]>,
    /// The words after a word that contains `filter`.
    pub(super) filter: Option<Vec<&'a [u8]>>,
}

/// Reasons why a line is not a login line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoLogin {
    /// A comment, or nothing but blanks: not even a failure.
    #[error("it is empty")]
    Nothing,
    /// The line has only one word.
    #[error("too few arguments")]
    TooFew,
    /// The line does not begin with `user`.
    #[error("it does not begin with 'user'")]
    NoUser,
    /// A web browser.
    #[error("HTTP")]
    Http,
}

/// Takes a login line apart: `user CALL [pass CODE] [vers PROGRAM VERSION] [udp PORT]
/// [filter …]`, keywords in any case. What follows `filter` is all filter; any word that contains
/// `filter` serves, as in javAPRSSrvr and aprsc.
pub(super) fn parse(line: &[u8]) -> Result<Login<'_>, NoLogin> {
    let mut words = words(line);
    let Some(first) = words.next().filter(|word| !word.starts_with(b"#")) else {
        return Err(NoLogin::Nothing);
    };
    let Some(user) = words.next() else {
        return Err(NoLogin::TooFew);
    };
    if first.eq_ignore_ascii_case(b"get") {
        return Err(NoLogin::Http);
    }
    if !first.eq_ignore_ascii_case(b"user") {
        return Err(NoLogin::NoUser);
    }
    let mut login =
        Login { user, passcode: None, application: (b"", b""), udp: None, filter: None };
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        if word.eq_ignore_ascii_case(b"pass") {
            login.passcode = words.next().map(leading_number);
        } else if word.eq_ignore_ascii_case(b"vers") {
            // A keyword in the place of the name or of the version: it is missing.
            let mut value = || words.next_if(|word| !is_keyword(word)).unwrap_or_default();
            login.application = (value(), value());
        } else if word.eq_ignore_ascii_case(b"udp") {
            login.udp = words.next();
        } else if contains_filter(word) {
            login.filter = Some(words.by_ref().collect());
        }
    }
    Ok(login)
}

/// The words of a line. NUL ends the line, as it does in aprsc.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line = line.split(|octet| *octet == 0).next().unwrap_or_default();
    let is_blank = |octet: &u8| octet.is_ascii_whitespace() || *octet == 0x0b;
    line.split(is_blank).filter(|word| !word.is_empty())
}

fn is_keyword(word: &[u8]) -> bool {
    [&b"pass"[..], b"vers", b"udp", b"filter"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn contains_filter(word: &[u8]) -> bool {
    word.windows(6).any(|part| part.eq_ignore_ascii_case(b"filter"))
}

/// Reads a number as C's `atoi`: the digits at the word's beginning, 0 where there are none. A
/// number too large for any passcode gives -1.
pub(super) fn leading_number(word: &[u8]) -> i32 {
    let (sign, digits) = match word {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        rest => (1, rest),
    };
    let mut number = 0_i32;
    for digit in digits.iter().take_while(|octet| octet.is_ascii_digit()) {
        number = number * 10 + i32::from(digit - b'0');
        if number > 1_000_000 {
            return -1;
        }
    }
    sign * number
}

/// A glob with `*` for any octets and `?` for one, as those of disallowed callsigns; case does not
/// matter.
pub(super) fn glob_matches(glob: &[u8], text: &[u8]) -> bool {
    let (mut glob_at, mut text_at) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while text_at < text.len() {
        match glob.get(glob_at) {
            Some(b'*') => {
                star = Some((glob_at, text_at));
                glob_at += 1;
            }
            Some(octet) if *octet == b'?' || octet.eq_ignore_ascii_case(&text[text_at]) => {
                glob_at += 1;
                text_at += 1;
            }
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                (glob_at, text_at) = (at + 1, taken + 1);
            }
        }
    }
    glob[glob_at..].iter().all(|octet| *octet == b'*')
}

/// A callsign that may log in, which is one that may stand behind a q construct.
pub(super) fn is_valid_login(call: &[u8]) -> bool {
    call.len() <= CALLSIGN_LEN_MAX && has_valid_ssid(call)
}

#[cfg(test)]
mod tests {
    use super::{Login, NoLogin, glob_matches, is_valid_login, leading_number, parse};
    use proptest::prelude::*;

    #[test]
    fn all_keywords() {
        let line = b"USER oh7lzb-1 Pass 12345 vers aprx 2.9 UDP 9000 my-Filter r/60/25/50 t/m";
        let login = Login {
            user: b"oh7lzb-1",
            passcode: Some(12345),
            application: (b"aprx", b"2.9"),
            udp: Some(b"9000"),
            filter: Some(vec![b"r/60/25/50", b"t/m"]),
        };
        assert_eq!(parse(line), Ok(login));
    }

    #[test]
    fn what_is_no_login() {
        assert_eq!(parse(b"# hello there"), Err(NoLogin::Nothing));
        assert_eq!(parse(b"  \t"), Err(NoLogin::Nothing));
        assert_eq!(parse(b"user"), Err(NoLogin::TooFew));
        assert_eq!(parse(b"usr OH7LZB"), Err(NoLogin::NoUser));
        assert_eq!(parse(b"GET / HTTP/1.1"), Err(NoLogin::Http));
    }

    #[test]
    fn a_keyword_is_neither_name_nor_version() {
        let login = parse(b"user A pass -1 vers prog filter p/O").unwrap();
        assert_eq!(
            (login.application, login.filter),
            ((&b"prog"[..], &b""[..]), Some(vec![&b"p/O"[..]]))
        );
        assert_eq!(login.passcode, Some(-1));
        assert_eq!(parse(b"user A vers UDP 9000").unwrap().application, (&b""[..], &b""[..]));
        assert_eq!(parse(b"user A vers prog my-filter").unwrap().application.1, b"my-filter");
        assert_eq!(parse(b"user A pass").unwrap().passcode, None);
    }

    #[test]
    fn numbers_as_c_reads_them() {
        let numbers =
            [&b"17x"[..], b"-1", b"x", b"+5", b"99999999999999999999"].map(leading_number);
        assert_eq!(numbers, [17, -1, 0, 5, -1]);
    }

    #[test]
    fn globs() {
        assert!(glob_matches(b"P1RAT*", b"p1rat-7") && glob_matches(b"p?rot*", b"PIROT"));
        assert!(glob_matches(b"*a*b", b"xxaxxab") && glob_matches(b"*", b""));
        assert!(!glob_matches(b"P?ROT", b"PROT") && !glob_matches(b"AB", b"ABC"));
    }

    #[test]
    fn logins() {
        assert!(
            ["OH7LZB", "a", "OH7LZB-10", "N0CALL-X1"]
                .iter()
                .all(|call| is_valid_login(call.as_bytes()))
        );
        let bad = ["", "-1", "OH7LZB-", "OH7LZB-123", "A--1", "OH7LZB-10X", "OH7+", "A-1-2"];
        assert!(bad.iter().all(|call| !is_valid_login(call.as_bytes())));
    }

    proptest! {
        #[test]
        fn a_glob_of_the_text_itself_matches(text in "[A-Z0-9]{0,9}", star in 0_usize..9) {
            prop_assert!(glob_matches(text.as_bytes(), text.as_bytes()));
            let at = star.min(text.len());
            let glob = format!("{}*{}", &text[..at], &text[at..]);
            prop_assert!(glob_matches(glob.as_bytes(), text.as_bytes()));
        }
    }
}
