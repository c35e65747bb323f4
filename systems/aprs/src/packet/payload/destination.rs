//! The symbol that a tracker without one in its payload puts into the destination callsign:
//! chapter 20 of the APRS Protocol Reference.

use super::Symbol;

/// The symbol of a destination callsign `GPSxyz`, `SPCxyz` or `SYMxyz`.
pub(super) fn symbol(destination: &[u8]) -> Option<Symbol> {
    let base = destination.split(|octet| *octet == b'-').next()?;
    let rest = [&b"GPS"[..], b"SPC", b"SYM"].iter().find_map(|start| base.strip_prefix(*start))?;
    match *rest {
        // By number.
        [table @ (b'C' | b'E'), tens @ b'0'..=b'9', ones @ b'0'..=b'9', ..] => Some(Symbol {
            table: if table == b'C' { b'/' } else { b'\\' },
            code: b' ' + (tens - b'0') * 10 + (ones - b'0'),
        }),
        // Two letters and an overlay, which is over the second table only.
        [x, y, overlay, ..] if overlay.is_ascii_alphanumeric() => two_letters(x, y)
            .filter(|symbol| symbol.table == b'\\')
            .map(|symbol| Symbol { table: overlay, ..symbol }),
        [x, y] => two_letters(x, y),
        _ => None,
    }
}

/// The symbol of two letters; the first gives the table and the part of it.
fn two_letters(x: u8, y: u8) -> Option<Symbol> {
    let table = match x {
        b'B' | b'P' | b'M' | b'H' | b'L' | b'J' => b'/',
        b'O' | b'A' | b'N' | b'D' | b'S' | b'Q' => b'\\',
        _ => return None,
    };
    let code = match (x, y) {
        (b'B' | b'O', b'B'..=b'P') => y - b'B' + b'!',
        (b'P' | b'A', b'0'..=b'9' | b'A'..=b'Z') => y,
        (b'M' | b'N', b'R'..=b'X') => y - b'R' + b':',
        (b'H' | b'D', b'S'..=b'X') => y - b'S' + b'[',
        (b'L' | b'S', b'A'..=b'Z') => y.to_ascii_lowercase(),
        (b'J' | b'Q', b'1'..=b'4') => y - b'1' + b'{',
        _ => return None,
    };
    Some(Symbol { table, code })
}
