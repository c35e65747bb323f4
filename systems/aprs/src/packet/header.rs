//! A line before the colon: `SOURCE>DESTINATION,PATH:`.

use super::drop_reason::DropReason;
use crate::callsign::{CALLSIGN_LEN_MAX, has_valid_ssid};

/// Shortest line without CR LF, in octets: `A1A>B1B:`.
const LINE_LEN_MIN: usize = 8;
/// Longest packet, in octets with its CR LF.
pub const PACKET_LEN_MAX: usize = 512;
/// Longest line without CR LF, in octets.
const LINE_LEN_MAX: usize = PACKET_LEN_MAX - 2;
/// An IPv6 address in hexadecimal, as servers put it after the q construct `qAI`.
const IPV6_LEN: usize = 32;

/// Placeholders in programs that were never configured: no source callsign begins so.
const NOBODY: [&[u8]; 3] = [b"N0CALL", b"NOCALL", b"SERVER"];

/// Treatment of packets whose senders are not verified (`Disallow_Unverified`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unverified {
    /// Such packets, recognised by `TCPXX` in the path, are dropped.
    Refused,
    /// Such packets are accepted.
    Taken,
}

/// The parts of a line as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// The source callsign.
    pub source: &'a [u8],
    /// The destination callsign with its SSID.
    pub destination: &'a [u8],
    /// All between the destination's comma and the colon, with any q construct; empty for none.
    pub path: &'a [u8],
    /// All after the colon: at least one octet.
    pub payload: &'a [u8],
}

/// Takes a line (without CR LF) apart and checks all that does not depend on who sent it, for a
/// server that takes packets of verified clients only: [`header`] and [`Parsed::check`].
///
/// # Errors
/// The reason to drop the line.
pub fn parse(line: &[u8]) -> Result<Parsed<'_>, DropReason> {
    let parsed = header(line)?;
    parsed.check(Unverified::Refused)?;
    Ok(parsed)
}

/// Takes a line (without CR LF) apart: lengths, source and destination. For callers with rules of
/// their own that come before those of [`Parsed::check`].
///
/// # Errors
/// The reason to drop the line.
pub fn header(line: &[u8]) -> Result<Parsed<'_>, DropReason> {
    match line.len() {
        0 => return Err(DropReason::Empty),
        1..LINE_LEN_MIN => return Err(DropReason::TooShort),
        LINE_LEN_MIN..=LINE_LEN_MAX => {}
        _ => return Err(DropReason::TooLong),
    }
    let (head, payload) = split(line, b':').ok_or(DropReason::NoColon)?;
    let (source, rest) =
        split_within(head, b'>', CALLSIGN_LEN_MAX + 1).ok_or(DropReason::NoDestination)?;
    if rest.is_empty() {
        return Err(DropReason::NoPath);
    }
    if !is_station(source) {
        return Err(DropReason::InvalidSource);
    }
    if payload.is_empty() {
        return Err(DropReason::NoPayload);
    }
    let (destination, path) = split(rest, b',').unwrap_or((rest, &[]));
    if !is_station(destination) {
        return Err(DropReason::InvalidDestination);
    }
    Ok(Parsed { source, destination, path: without_spare_comma(path), payload })
}

impl<'a> Parsed<'a> {
    /// Elements of the path as received, with any q construct.
    pub fn path_elements(&self) -> impl Iterator<Item = &'a [u8]> {
        elements(self.path)
    }

    /// The rest of what does not depend on who sent the packet: its source is a station, the path
    /// lets it onto the Internet and is well-formed, the payload is neither from the Internet
    /// already nor a spot of a DX cluster.
    ///
    /// # Errors
    /// The reason to drop the packet.
    pub fn check(&self, unverified: Unverified) -> Result<(), DropReason> {
        if NOBODY.iter().any(|nobody| self.source.starts_with(nobody)) {
            return Err(DropReason::DisallowedSource);
        }
        let path = PathScan::of(self.path);
        if path.stays_on_the_air {
            return Err(DropReason::NoGate);
        }
        if path.is_unverified && unverified == Unverified::Refused {
            return Err(DropReason::UnverifiedPath);
        }
        if !path.is_valid {
            return Err(DropReason::InvalidPathCall);
        }
        if self.payload.starts_with(b"}") && was_on_the_internet(&self.payload[1..]) {
            return Err(DropReason::ThirdPartyInternet);
        }
        if self.payload.starts_with(b"DX de ") {
            return Err(DropReason::DxSpot);
        }
        Ok(())
    }
}

/// Some programs end their path with a comma; aprsc takes that, and so do we, but the comma does not
/// go out again. Behind a q construct it stays: the rules of the q construct decide.
fn without_spare_comma(path: &[u8]) -> &[u8] {
    match path.strip_suffix(b",") {
        Some(rest) if !rest.is_empty() && !elements(rest).any(is_q_construct) => rest,
        _ => path,
    }
}

/// Whether the header of a third-party packet shows that it came from the Internet.
fn was_on_the_internet(inner: &[u8]) -> bool {
    split(inner, b':').is_some_and(|(head, _)| {
        elements(head)
            .skip(1)
            .any(|element| element.starts_with(b"TCPIP") || element.starts_with(b"TCPXX"))
    })
}

/// Whether it can be a source or destination callsign: one to nine letters, digits and dashes, the
/// last no dash.
pub fn is_station(call: &[u8]) -> bool {
    (1..=CALLSIGN_LEN_MAX).contains(&call.len()) && !call.ends_with(b"-") && is_call_text(call)
}

/// Whether it is a q construct: `q` and two letters or digits.
pub fn is_q_construct(element: &[u8]) -> bool {
    matches!(element, [b'q', protocol, kind]
        if protocol.is_ascii_alphanumeric() && kind.is_ascii_alphanumeric())
}

/// Result of one pass over a path.
pub(super) struct PathScan {
    /// Number of elements; the q construct is one.
    pub(super) count: usize,
    /// Each of them can be in a path.
    pub(super) is_valid: bool,
    /// Whether an element begins with `NOGATE` or `RFONLY`.
    stays_on_the_air: bool,
    /// Whether an element begins with `TCPXX`.
    is_unverified: bool,
}

impl PathScan {
    pub(super) fn of(path: &[u8]) -> Self {
        let mut scan =
            Self { count: 0, is_valid: true, stays_on_the_air: false, is_unverified: false };
        let mut after_q = false;
        // `Parsed` has a comma at the end behind a q construct only.
        let path = path.strip_suffix(b",").filter(|path| !path.is_empty()).unwrap_or(path);
        for element in elements(path) {
            scan.count += 1;
            // Most elements are neither: their first octet rules it out.
            match element.first() {
                Some(b'q') if is_q_construct(element) => {
                    after_q = true;
                    continue;
                }
                Some(b'N') => scan.stays_on_the_air |= element.starts_with(b"NOGATE"),
                Some(b'R') => scan.stays_on_the_air |= element.starts_with(b"RFONLY"),
                Some(b'T') => scan.is_unverified |= element.starts_with(b"TCPXX"),
                _ => {}
            }
            scan.is_valid &= is_path_call(element, after_q);
        }
        scan
    }
}

/// Whether it can be in a path: a callsign, with `*` when it was used, whose SSID has no leading
/// zero. After the q construct any letters, digits and dashes, and an IPv6 address too: the rules
/// of the q construct check them.
fn is_path_call(element: &[u8], after_q: bool) -> bool {
    let call = element.strip_suffix(b"*").unwrap_or(element);
    if after_q {
        return is_call_text(call)
            && (call.len() <= CALLSIGN_LEN_MAX || element.len() == IPV6_LEN)
            && !element.is_empty();
    }
    call.len() <= CALLSIGN_LEN_MAX
        && has_valid_ssid(call)
        && !call.windows(2).any(|pair| pair == b"-0")
}

fn is_call_text(call: &[u8]) -> bool {
    call.iter().all(|octet| IN_CALLS[usize::from(*octet)])
}

/// Octets of callsigns: letters, digits and the dash. A table, since every octet of every header is
/// looked up.
static IN_CALLS: [bool; 256] = {
    let mut table = [false; 256];
    let mut octet: u8 = 0;
    while octet < 128 {
        table[octet as usize] = octet.is_ascii_alphanumeric() || octet == b'-';
        octet += 1;
    }
    table
};

/// The elements of a path; none of an empty one.
pub(super) fn elements(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let count = if path.is_empty() { 0 } else { usize::MAX };
    path.split(|octet| *octet == b',').take(count)
}

/// Splits at the first `octet`: the parts before and after it.
pub(super) fn split(text: &[u8], octet: u8) -> Option<(&[u8], &[u8])> {
    split_within(text, octet, text.len())
}

/// Splits at the first `octet`, searched for in the first `len_max` octets.
pub(super) fn split_within(text: &[u8], octet: u8, len_max: usize) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(octet, &text[..text.len().min(len_max)])?;
    Some((&text[..at], &text[at + 1..]))
}

#[cfg(test)]
mod tests;
