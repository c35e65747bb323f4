//! Packets in packets: chapter 17 of the APRS Protocol Reference. An igate puts what it sends to
//! the air into a packet of its own: `}SOURCE>DESTINATION,NETWORK,GATE*:payload`.

use super::{DropReason, PayloadContext, split};
use crate::callsign::CALLSIGN_LEN_MAX;
use crate::packet::header::{PathScan, is_station, split_within};

/// Fewest elements of the inner path: the network and the gateway. Digipeaters that the packet went
/// through before may stand in front of them.
const HOPS_MIN: usize = 2;

/// Content of a third-party packet.
pub(super) struct Inner<'a> {
    /// Place of its payload in the whole line.
    pub(super) place: PayloadContext<'a>,
    /// The payload: may be empty.
    pub(super) payload: &'a [u8],
}

/// The packet in `payload`; `None` when there is none, or nothing like a header.
///
/// # Errors
/// Why the whole packet is to be dropped: there is a header, but it breaks the rules.
pub(super) fn inner<'a>(
    outer: &PayloadContext<'_>,
    payload: &'a [u8],
) -> Result<Option<Inner<'a>>, DropReason> {
    let Some(text) = payload.strip_prefix(b"}") else { return Ok(None) };
    let Some((head, payload)) = split(text, b':') else { return Ok(None) };
    let Some((source, rest)) = split_within(head, b'>', CALLSIGN_LEN_MAX + 1) else {
        return Ok(None);
    };
    if rest.is_empty() {
        return Err(DropReason::InvalidThirdParty);
    }
    if !is_station(source) {
        return Err(DropReason::InvalidSource);
    }
    let (destination, path) = split(rest, b',').unwrap_or((rest, &[]));
    if !is_station(destination) {
        return Err(DropReason::InvalidDestination);
    }
    let path = PathScan::of(path);
    if !path.is_valid || path.count < HOPS_MIN {
        return Err(DropReason::InvalidThirdParty);
    }
    let payload_at = outer.payload_at + 1 + head.len() + 1;
    Ok(Some(Inner { place: PayloadContext { source, destination, payload_at }, payload }))
}
