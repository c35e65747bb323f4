//! TRANSFER-DATA of FCLTU.

use super::read::BerReader;
use super::write::{
    conditional_time_len, credentials_fit, integer_len, optional_len, put, put_conditional_time,
    put_head, put_integer, put_optional, value_len,
};
use crate::pdu::{CltuTransferData, CltuTransferDataReturn, Diagnostic, Message, Pdu};
use bytes::Bytes;

/// Tag of the invocation.
pub(super) const INVOCATION: u8 = 0xaa;
/// Tag of the return.
pub(super) const RETURN: u8 = 0xab;

/// Reads an invocation; its CLTU is a slice of `octets`.
pub(super) fn read_invocation(octets: &Bytes) -> Option<Message> {
    let mut whole = BerReader::new(octets);
    let mut fields = whole.inside(INVOCATION)?;
    let credentials = fields.optional(8, 256)?;
    let pdu = CltuTransferData {
        invoke_id: fields.number()?,
        cltu: fields.number()?,
        earliest: fields.conditional_time()?,
        latest: fields.conditional_time()?,
        delay_us: fields.number()?,
        notify_radiated: match fields.integer(0x02)? {
            0 => true,
            1 => false,
            _ => return None,
        },
        data: fields.string(0x04, 1, 65_536)?,
    };
    let done = fields.is_done() && whole.is_done();
    done.then_some(Message { credentials, pdu: Pdu::CltuTransferData(pdu) })
}

/// Reads a return.
pub(super) fn read_return(octets: &Bytes) -> Option<Message> {
    let mut whole = BerReader::new(octets);
    let mut fields = whole.inside(RETURN)?;
    let credentials = fields.optional(8, 256)?;
    let pdu = CltuTransferDataReturn {
        invoke_id: fields.number()?,
        next_cltu: fields.number()?,
        buffer_available: fields.number()?,
        result: match fields.peek()? {
            0x80 => {
                fields.null(0x80)?;
                Ok(())
            }
            0xa1 => {
                let mut negative = fields.inside(0xa1)?;
                let diagnostic = read_diagnostic(&mut negative)?;
                if !negative.is_done() {
                    return None;
                }
                Err(diagnostic)
            }
            _ => return None,
        },
    };
    let done = fields.is_done() && whole.is_done();
    done.then_some(Message { credentials, pdu: Pdu::CltuTransferDataReturn(pdu) })
}

/// Diagnostics that the books number; what is beyond is not for here.
fn read_diagnostic(fields: &mut BerReader<'_>) -> Option<Diagnostic> {
    match fields.peek()? {
        0x80 => match fields.integer(0x80)? {
            100 => Some(Diagnostic::DuplicateInvokeId),
            127 => Some(Diagnostic::OtherReason),
            _ => None,
        },
        0x81 => match u8::try_from(fields.integer(0x81)?).ok()? {
            known @ 0..=7 => Some(Diagnostic::Specific(known)),
            _ => None,
        },
        _ => None,
    }
}

/// Writes an invocation; `false`, with nothing written, where the declarations have to say what is
/// wrong with it.
pub(super) fn write_invocation(
    credentials: Option<&Bytes>,
    pdu: &CltuTransferData,
    out: &mut Vec<u8>,
) -> bool {
    if !credentials_fit(credentials) || !(1..=65_536).contains(&pdu.data.len()) {
        return false;
    }
    let contents = optional_len(credentials)
        + integer_len(pdu.invoke_id.into())
        + integer_len(pdu.cltu.into())
        + conditional_time_len(pdu.earliest.as_ref())
        + conditional_time_len(pdu.latest.as_ref())
        + integer_len(pdu.delay_us.into())
        + 3
        + value_len(pdu.data.len());
    out.reserve(value_len(contents));
    put_head(INVOCATION, contents, out);
    put_optional(credentials, out);
    put_integer(pdu.invoke_id.into(), out);
    put_integer(pdu.cltu.into(), out);
    put_conditional_time(pdu.earliest.as_ref(), out);
    put_conditional_time(pdu.latest.as_ref(), out);
    put_integer(pdu.delay_us.into(), out);
    put_integer(i64::from(!pdu.notify_radiated), out);
    put(0x04, &pdu.data, out);
    true
}

/// Writes a return, or answers `false` as [`write_invocation`] does.
pub(super) fn write_return(
    credentials: Option<&Bytes>,
    pdu: &CltuTransferDataReturn,
    out: &mut Vec<u8>,
) -> bool {
    let result: &[u8] = match pdu.result {
        Ok(()) => &[0x80, 0],
        Err(Diagnostic::DuplicateInvokeId) => &[0xa1, 3, 0x80, 1, 100],
        Err(Diagnostic::OtherReason) => &[0xa1, 3, 0x80, 1, 127],
        Err(Diagnostic::Specific(known @ 0..=7)) => &[0xa1, 3, 0x81, 1, known],
        Err(Diagnostic::Specific(_)) => return false,
    };
    if !credentials_fit(credentials) {
        return false;
    }
    let contents = optional_len(credentials)
        + integer_len(pdu.invoke_id.into())
        + integer_len(pdu.next_cltu.into())
        + integer_len(pdu.buffer_available.into())
        + result.len();
    out.reserve(value_len(contents));
    put_head(RETURN, contents, out);
    put_optional(credentials, out);
    put_integer(pdu.invoke_id.into(), out);
    put_integer(pdu.next_cltu.into(), out);
    put_integer(pdu.buffer_available.into(), out);
    out.extend_from_slice(result);
    true
}
