//! START: what the invocations of RAF, RCF and ROCF have in common.

use crate::codec::common::{ConditionalTime, Credentials, read, write};
use crate::codec::{DecodeError, EncodeError};
use crate::pdu::{InvokeId, Message, Pdu, ReturnSelection, ReturnStart, StartRequest};
use bytes::Bytes;
use rasn::prelude::*;

/// Name of the operation in errors.
pub(super) const NAME: &str = "START";
/// Tag of the invocation.
pub(super) const TAG: u32 = 0;

/// `RafStartInvocation` and `RcfStartInvocation`; `R` is the type of the one field that differs.
#[derive(AsnType, Decode, Encode)]
struct StartInvocation<R: AsnType + Decode + Encode> {
    credentials: Credentials,
    invoke_id: u16,
    start_time: ConditionalTime,
    stop_time: ConditionalTime,
    requested: R,
}

/// START of RAF or RCF.
pub(super) fn decode<R: AsnType + Decode + Encode>(
    octets: &Bytes,
    select: impl FnOnce(R) -> Result<ReturnSelection, DecodeError>,
) -> Result<Message, DecodeError> {
    let start: StartInvocation<R> = read(NAME, TAG, octets)?;
    let select = select(start.requested)?;
    Ok(message(start.credentials, start.invoke_id, (start.start_time, start.stop_time), select))
}

/// Appends START of RAF or RCF.
pub(super) fn encode<R: AsnType + Decode + Encode>(
    credentials: Credentials,
    invoke_id: InvokeId,
    start: &ReturnStart,
    requested: R,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let (start_time, stop_time) = (start.start.into(), start.stop.into());
    let start = StartInvocation { credentials, invoke_id, start_time, stop_time, requested };
    write(NAME, TAG, &start, out)
}

/// START with these fields.
pub(super) fn message(
    credentials: Credentials,
    invoke_id: InvokeId,
    (start, stop): (ConditionalTime, ConditionalTime),
    select: ReturnSelection,
) -> Message {
    let start = ReturnStart { start: start.into(), stop: stop.into(), select };
    let pdu = Pdu::Start { invoke_id, start: StartRequest::Return(start) };
    Message { credentials: credentials.into(), pdu }
}
