//! Objects and items: chapter 11 of the APRS Protocol Reference. Both say where something else
//! than the sender is.

use crate::callsign::CALLSIGN_LEN_MAX;

/// Name, live or killed, time, compressed position.
pub(super) const OBJECT_LEN_MIN: usize = 9 + 1 + 7 + 13;
/// Shortest name, live or killed, compressed position.
pub(super) const ITEM_LEN_MIN: usize = 3 + 1 + 13;

/// Positions of fields in the body of an object or item.
pub(super) struct Named {
    /// Length of the name, without trailing spaces; it begins the body.
    pub(super) name_len: usize,
    /// Begin of the position.
    pub(super) position_at: usize,
}

/// The parts of an object of at least [`OBJECT_LEN_MIN`] octets: a name of nine octets, `*` when
/// it is live or `_` when it is killed, a time in UTC or local time.
pub(super) fn object(body: &[u8]) -> Option<Named> {
    let name = body.get(..CALLSIGN_LEN_MAX)?;
    let live = matches!(body.get(9)?, b'*' | b'_');
    let timed = matches!(body.get(16)?, b'z' | b'Z' | b'h' | b'/');
    let name_len = name.iter().rposition(|octet| *octet != b' ')? + 1;
    (live && timed && is_text(name)).then_some(Named { name_len, position_at: 17 })
}

/// The parts of an item: a name of three to nine octets up to `!` when it is live or `_` when it
/// is killed.
pub(super) fn item(body: &[u8]) -> Option<Named> {
    let end = body
        .iter()
        .take(CALLSIGN_LEN_MAX + 1)
        .position(|octet| matches!(octet, b'!' | b'_'))
        .filter(|len| *len >= 3)?;
    let name = &body[..end];
    let name_len = name.iter().rposition(|octet| *octet != b' ')? + 1;
    is_text(name).then_some(Named { name_len, position_at: end + 1 })
}

fn is_text(name: &[u8]) -> bool {
    name.iter().all(|octet| matches!(octet, b' '..=b'~'))
}
