//! Workarounds for faults of programs that are no longer maintained.
//!
//! A program gives its name at login. Four programs send blanks and NULs where none may be; their
//! packets are repaired before they are parsed. One never reads its input and would be cut as a
//! slow reader: nothing is sent to it. The programs and the repairs are those of aprsc
//! (`src/login.c`, `src/incoming.c`, `tests/t/12quirks-mode.t`). The directive `QuirksMode` has
//! every client's packets repaired.

use crate::packet::DropReason;

/// Beginnings of the names of programs whose packets are repaired: weather stations that end lines
/// with LF NUL, or begin them with it.
const REPAIRED: [&str; 4] = ["HR-IXPWIND", "HR-IXP-WIND", "IXP-WIND", "Oww/"];
/// Beginnings of the names of programs that never read.
const NOT_READING: [&str; 1] = ["GW1000"];

/// Treatment of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Quirks {
    /// Whether its packets go through [`repair`] first.
    pub repair: bool,
    /// Whether packets are not sent to it; it gets lines of the server itself only.
    pub sends_only: bool,
}

/// Treatment of clients with the program `application`, the word after `vers` in the login.
pub fn of(application: &str) -> Quirks {
    let begins_with = |names: &[&str]| names.iter().any(|name| application.starts_with(name));
    Quirks { repair: begins_with(&REPAIRED), sends_only: begins_with(&NOT_READING) }
}

/// Writes `line` to `repaired`, which is cleared, without the blanks and NULs before the source
/// callsign and the blanks after it and after each element of the path. The payload stays as it is.
///
/// # Errors
/// [`DropReason::Empty`] where nothing is left, [`DropReason::NoDestination`] where something is
/// between the source callsign's blanks and `>`, and [`DropReason::InvalidPathCall`] where something is
/// between blanks in the path and the next `,` or `:`.
pub fn repair(line: &[u8], repaired: &mut Vec<u8>) -> Result<(), DropReason> {
    repaired.clear();
    let start = line.iter().position(|octet| !matches!(octet, b' ' | 0));
    let mut rest = &line[start.ok_or(DropReason::Empty)?..];
    rest = copy_until(rest, b"> ", repaired);
    rest = without_blanks(rest);
    if rest.first() != Some(&b'>') {
        return Err(DropReason::NoDestination);
    }
    while !rest.is_empty() && rest[0] != b':' {
        rest = without_blanks(copy_until(rest, b",: ", repaired));
        match rest.first() {
            Some(b',') => {
                repaired.push(b',');
                rest = &rest[1..];
            }
            Some(b':') => {}
            _ => return Err(DropReason::InvalidPathCall),
        }
    }
    repaired.extend_from_slice(rest);
    Ok(())
}

fn copy_until<'a>(from: &'a [u8], ends: &[u8], to: &mut Vec<u8>) -> &'a [u8] {
    let len = from.iter().position(|octet| ends.contains(octet)).unwrap_or(from.len());
    to.extend_from_slice(&from[..len]);
    &from[len..]
}

fn without_blanks(from: &[u8]) -> &[u8] {
    let blanks = from.iter().take_while(|octet| **octet == b' ').count();
    &from[blanks..]
}

#[cfg(test)]
mod tests {
    use super::{Quirks, of, repair};
    use crate::packet::DropReason;

    fn repaired(line: &[u8]) -> Result<Vec<u8>, DropReason> {
        let mut to = b"what was here before".to_vec();
        repair(line, &mut to).map(|()| to)
    }

    #[test]
    fn programs_are_known_by_the_beginning_of_their_names() {
        let repair = Quirks { repair: true, sends_only: false };
        for application in ["HR-IXPWINDi-123", "HR-IXP-WIND", "IXP-WIND7", "Oww/0.86"] {
            assert_eq!(of(application), repair, "{application}");
        }
        assert_eq!(of("GW1000A_V1.7"), Quirks { repair: false, sends_only: true });
        for application in ["", "HR-IXP", "oww/", "aprsc", "xGW1000"] {
            assert_eq!(of(application), Quirks::default(), "{application}");
        }
    }

    /// The cases of aprsc's `tests/t/12quirks-mode.t`.
    #[test]
    fn blanks_and_nuls_go_from_the_header() {
        for (line, want) in [
            (&b"   SRC>DST,qAR,N5CAL-1:>begin"[..], &b"SRC>DST,qAR,N5CAL-1:>begin"[..]),
            (b"\0SRC>DST,qAR,N5CAL-1:>nul", b"SRC>DST,qAR,N5CAL-1:>nul"),
            (b"SRC  >DST,qAR,N5CAL-1:>source", b"SRC>DST,qAR,N5CAL-1:>source"),
            (b"SRC>DST,qAR,N5CAL-1 :>path", b"SRC>DST,qAR,N5CAL-1:>path"),
            (b"SRC>DST ,WIDE1-1  ,qAR,N5CAL-1:>path", b"SRC>DST,WIDE1-1,qAR,N5CAL-1:>path"),
            (b"SRC>DST:> a , b  :  ", b"SRC>DST:> a , b  :  "),
        ] {
            assert_eq!(repaired(line).as_deref(), Ok(want), "{}", line.escape_ascii());
        }
    }

    #[test]
    fn what_cannot_be_repaired_is_refused() {
        for (line, want) in [
            (&b" \0 "[..], DropReason::Empty),
            (b"", DropReason::Empty),
            (b"default setting is>DST,qAR,FOO:x", DropReason::NoDestination),
            (b"SRC", DropReason::NoDestination),
            (b"SRC>DST,WIDE1 1:x", DropReason::InvalidPathCall),
            (b"SRC>DST,WIDE1", DropReason::InvalidPathCall),
        ] {
            assert_eq!(repaired(line), Err(want), "{}", line.escape_ascii());
        }
    }
}
