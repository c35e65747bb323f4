//! Octets of PROCESS-DATA, of its return, and of the forward buffer.
//!
//! ```text
//! BF3C { 30 { credentials, 02 invoke id, 30 { 06 procedure, role } }, 02 data unit, 80 data, extension }
//! BF3E { 30 { as above }… }
//! BF3D { credentials, 02 invoke id, A0 { extension } }
//! extension: 81 00, or A0 { A0 { 81 syntax }, 82 { value } }
//! ```

use super::{BUFFER, HIGH_TAG, INVOCATION, RETURN};
use crate::codec::PARTS_MAX;
use crate::codec::direct::read::BerReader;
use crate::codec::direct::write::{
    conditional_time_len, credentials_fit, integer_len, optional_len, put, put_conditional_time,
    put_head, put_integer, put_optional, value_len,
};
use crate::csts::pdu::{
    AbstractChoice, BufferedOperation, Message, Oid, Pdu, ProcedureName, ProcedureRole,
    ProcessData, ProcessDataExtension, ProcessDataReturn, ProcessDataReturnExtension, names,
};
use crate::time::Time;
use bytes::Bytes;

/// `notUsed` of `Extended`.
const NOT_USED: [u8; 2] = [0x81, 0];

/// Reads an invocation; its data unit is a slice of `octets`.
pub(super) fn read_invocation(octets: &Bytes) -> Option<Message> {
    let mut whole = BerReader::new(octets);
    whole.pass(HIGH_TAG)?;
    let fields = whole.inside(INVOCATION)?;
    let BufferedOperation { credentials, operation } = read_fields(fields)?;
    whole.is_done().then_some(Message { credentials, pdu: Pdu::ProcessData(operation) })
}

/// Reads a buffer; data units and credentials are slices of `octets`.
pub(super) fn read_buffer(octets: &Bytes) -> Option<Message> {
    let mut whole = BerReader::new(octets);
    whole.pass(HIGH_TAG)?;
    let mut parts = whole.inside(BUFFER)?;
    if !whole.is_done() {
        return None;
    }
    let mut buffer = Vec::with_capacity(count(parts)?);
    while !parts.is_done() {
        buffer.push(read_fields(parts.inside(0x30)?)?);
    }
    Some(Message { credentials: None, pdu: Pdu::ForwardBuffer(buffer) })
}

/// Number of parts, to allocate the right capacity.
fn count(mut parts: BerReader<'_>) -> Option<usize> {
    let mut count = 0;
    while !parts.is_done() {
        parts.contents(0x30)?;
        count += 1;
        if count > PARTS_MAX {
            return None;
        }
    }
    Some(count)
}

#[inline]
fn read_fields(mut fields: BerReader<'_>) -> Option<BufferedOperation<ProcessData>> {
    let mut header = fields.inside(0x30)?;
    let credentials = header.optional(8, 256)?;
    let invoke_id = header.number()?;
    let procedure = read_procedure(header.inside(0x30)?)?;
    if !header.is_done() {
        return None;
    }
    let operation = ProcessData {
        invoke_id,
        procedure,
        data_unit: fields.number()?,
        data: AbstractChoice::Opaque(fields.string(0x80, 0, usize::MAX)?),
        extension: read_extension(&mut fields)?,
    };
    fields.is_done().then_some(BufferedOperation { credentials, operation })
}

#[inline]
fn read_procedure(mut name: BerReader<'_>) -> Option<ProcedureName> {
    let octets = name.contents(0x06)?;
    let procedure = match names::known_procedure(octets) {
        Some(known) => known,
        None => Oid::from_octets(octets).ok().filter(Oid::is_short)?,
    };
    let role = match name.peek()? {
        0x81 => name.null(0x81).map(|()| ProcedureRole::Prime)?,
        0x82 => match u32::try_from(name.integer(0x82)?).ok()? {
            0 => return None,
            number => ProcedureRole::Secondary(number),
        },
        0x83 => name.null(0x83).map(|()| ProcedureRole::AssociationControl)?,
        _ => return None,
    };
    name.is_done().then_some(ProcedureName { procedure, role })
}

/// The value of an extension, if it is of `syntax`.
#[inline]
fn read_embedded<'a>(fields: &mut BerReader<'a>, syntax: &Oid) -> Option<BerReader<'a>> {
    let mut embedded = fields.inside(0xa0)?;
    let mut identification = embedded.inside(0xa0)?;
    if identification.contents(0x81)? != syntax.octets() || !identification.is_done() {
        return None;
    }
    let mut value = embedded.inside(0x82)?;
    let sequence = value.inside(0x30)?;
    (embedded.is_done() && value.is_done()).then_some(sequence)
}

#[inline]
fn read_extension(fields: &mut BerReader<'_>) -> Option<ProcessDataExtension> {
    if fields.peek()? == 0x81 {
        return fields.null(0x81).map(|()| ProcessDataExtension::NotUsed);
    }
    let mut value = read_embedded(fields, &names::DP_PROCESS_DATA)?;
    let report = match value.peek()? {
        0x80 => value.null(0x80).map(|()| false)?,
        0x81 => value.null(0x81).map(|()| true)?,
        _ => return None,
    };
    let extension = if value.peek()? == 0x81 {
        value.null(0x81)?;
        ProcessDataExtension::DataProcessing { report, extension: None }
    } else {
        let mut times = read_embedded(&mut value, &names::SCDP_PROCESS_DATA)?;
        let (earliest, latest) = (times.conditional_time()?, times.conditional_time()?);
        times.null(0x81)?;
        if !times.is_done() {
            return None;
        }
        ProcessDataExtension::SequenceControlled { report, earliest, latest, extension: None }
    };
    value.is_done().then_some(extension)
}

/// Reads a positive return.
pub(super) fn read_return(octets: &Bytes) -> Option<Message> {
    let mut whole = BerReader::new(octets);
    whole.pass(HIGH_TAG)?;
    let mut fields = whole.inside(RETURN)?;
    let credentials = fields.optional(8, 256)?;
    let invoke_id = fields.number()?;
    let mut positive = fields.inside(0xa0)?;
    let extension = if positive.peek()? == 0x81 {
        positive.null(0x81)?;
        ProcessDataReturnExtension::NotUsed
    } else {
        let mut value = read_embedded(&mut positive, &names::SCDP_POSITIVE_RETURN)?;
        let data_unit = value.number()?;
        value.null(0x81)?;
        if !value.is_done() {
            return None;
        }
        ProcessDataReturnExtension::SequenceControlled { data_unit, extension: None }
    };
    let done = positive.is_done() && fields.is_done() && whole.is_done();
    let pdu = ProcessDataReturn { invoke_id, result: Ok(()), extension };
    done.then_some(Message { credentials, pdu: Pdu::ProcessDataReturn(pdu) })
}

/// Octets of the values that have others in them, from the inside out.
struct Lengths {
    procedure: usize,
    header: usize,
    contents: usize,
}

#[inline]
fn lengths(credentials: Option<&Bytes>, pdu: &ProcessData) -> Option<Lengths> {
    let AbstractChoice::Opaque(data) = &pdu.data else { return None };
    if !credentials_fit(credentials) || !pdu.procedure.procedure.is_short() {
        return None;
    }
    let role = match pdu.procedure.role {
        ProcedureRole::Secondary(0) => return None,
        ProcedureRole::Secondary(number) => integer_len(number.into()),
        ProcedureRole::Prime | ProcedureRole::AssociationControl => 2,
    };
    let procedure = value_len(pdu.procedure.procedure.octets().len()) + role;
    let ids = integer_len(pdu.invoke_id.into());
    let header = optional_len(credentials) + ids + value_len(procedure);
    let extension = match &pdu.extension {
        ProcessDataExtension::NotUsed => 2,
        ProcessDataExtension::DataProcessing { extension: None, .. } => {
            embedded_len(&names::DP_PROCESS_DATA, 4)
        }
        ProcessDataExtension::SequenceControlled { earliest, latest, extension: None, .. } => {
            let times = times_len(earliest.as_ref(), latest.as_ref());
            embedded_len(
                &names::DP_PROCESS_DATA,
                2 + embedded_len(&names::SCDP_PROCESS_DATA, times),
            )
        }
        _ => return None,
    };
    let data_unit = integer_len(pdu.data_unit.into());
    let contents = value_len(header) + data_unit + value_len(data.len()) + extension;
    Some(Lengths { procedure, header, contents })
}

/// Contents of `SequContrDataProcProcDataInvocExt`.
#[inline]
fn times_len(earliest: Option<&Time>, latest: Option<&Time>) -> usize {
    conditional_time_len(earliest) + conditional_time_len(latest) + NOT_USED.len()
}

/// Octets of an `Extended` whose value is a SEQUENCE with contents of `contents` octets.
#[inline]
fn embedded_len(syntax: &Oid, contents: usize) -> usize {
    let identification = value_len(value_len(syntax.octets().len()));
    value_len(identification + value_len(value_len(contents)))
}

/// Appends an `Embedded` up to its contents.
#[inline]
fn put_embedded(syntax: &Oid, contents: usize, out: &mut Vec<u8>) {
    let identification = value_len(syntax.octets().len());
    let sequence = value_len(contents);
    put_head(0xa0, value_len(identification) + value_len(sequence), out);
    put_head(0xa0, identification, out);
    put(0x81, syntax.octets(), out);
    put_head(0x82, sequence, out);
    put_head(0x30, contents, out);
}

#[inline]
fn put_fields(
    lengths: &Lengths,
    credentials: Option<&Bytes>,
    pdu: &ProcessData,
    out: &mut Vec<u8>,
) {
    put_head(0x30, lengths.header, out);
    put_optional(credentials, out);
    put_integer(pdu.invoke_id.into(), out);
    put_head(0x30, lengths.procedure, out);
    put(0x06, pdu.procedure.procedure.octets(), out);
    match pdu.procedure.role {
        ProcedureRole::Prime => out.extend_from_slice(&[0x81, 0]),
        ProcedureRole::Secondary(number) => {
            let at = out.len();
            put_integer(number.into(), out);
            out[at] = 0x82;
        }
        ProcedureRole::AssociationControl => out.extend_from_slice(&[0x83, 0]),
    }
    put_integer(pdu.data_unit.into(), out);
    if let AbstractChoice::Opaque(data) = &pdu.data {
        put(0x80, data, out);
    }
    put_extension(&pdu.extension, out);
}

#[inline]
fn put_extension(extension: &ProcessDataExtension, out: &mut Vec<u8>) {
    match extension {
        ProcessDataExtension::DataProcessing { report, .. } => {
            put_embedded(&names::DP_PROCESS_DATA, 4, out);
            out.extend_from_slice(&[0x80 | u8::from(*report), 0]);
            out.extend_from_slice(&NOT_USED);
        }
        ProcessDataExtension::SequenceControlled { report, earliest, latest, .. } => {
            let times = times_len(earliest.as_ref(), latest.as_ref());
            let inner = embedded_len(&names::SCDP_PROCESS_DATA, times);
            put_embedded(&names::DP_PROCESS_DATA, 2 + inner, out);
            out.extend_from_slice(&[0x80 | u8::from(*report), 0]);
            put_embedded(&names::SCDP_PROCESS_DATA, times, out);
            put_conditional_time(earliest.as_ref(), out);
            put_conditional_time(latest.as_ref(), out);
            out.extend_from_slice(&NOT_USED);
        }
        ProcessDataExtension::NotUsed | ProcessDataExtension::Other(_) => {
            out.extend_from_slice(&NOT_USED);
        }
    }
}

/// Writes an invocation; `false`, with nothing written, where the declarations have to do it, or to
/// say what is wrong with it.
pub(super) fn write_invocation(
    credentials: Option<&Bytes>,
    pdu: &ProcessData,
    out: &mut Vec<u8>,
) -> bool {
    let Some(lengths) = lengths(credentials, pdu) else { return false };
    out.reserve(lengths.contents + 8);
    out.push(HIGH_TAG);
    put_head(INVOCATION, lengths.contents, out);
    put_fields(&lengths, credentials, pdu, out);
    true
}

/// Writes a buffer; `false` as above.
pub(super) fn write_buffer(parts: &[BufferedOperation<ProcessData>], out: &mut Vec<u8>) -> bool {
    if parts.len() > PARTS_MAX {
        return false;
    }
    let mut contents = 0;
    for part in parts {
        let Some(lengths) = lengths(part.credentials.as_ref(), &part.operation) else {
            return false;
        };
        contents += value_len(lengths.contents);
    }
    out.reserve(contents + 8);
    out.push(HIGH_TAG);
    put_head(BUFFER, contents, out);
    for part in parts {
        let credentials = part.credentials.as_ref();
        // It was there a moment ago.
        if let Some(lengths) = lengths(credentials, &part.operation) {
            put_head(0x30, lengths.contents, out);
            put_fields(&lengths, credentials, &part.operation, out);
        }
    }
    true
}

/// Writes a positive return; `false` as above.
pub(super) fn write_return(
    credentials: Option<&Bytes>,
    pdu: &ProcessDataReturn,
    out: &mut Vec<u8>,
) -> bool {
    if pdu.result.is_err() || !credentials_fit(credentials) {
        return false;
    }
    let sequence = match &pdu.extension {
        ProcessDataReturnExtension::NotUsed => None,
        ProcessDataReturnExtension::SequenceControlled { data_unit, extension: None } => {
            Some((*data_unit, integer_len((*data_unit).into()) + NOT_USED.len()))
        }
        _ => return false,
    };
    let syntax = &names::SCDP_POSITIVE_RETURN;
    let extension = sequence.map_or(NOT_USED.len(), |(_, contents)| embedded_len(syntax, contents));
    let contents =
        optional_len(credentials) + integer_len(pdu.invoke_id.into()) + value_len(extension);
    out.push(HIGH_TAG);
    put_head(RETURN, contents, out);
    put_optional(credentials, out);
    put_integer(pdu.invoke_id.into(), out);
    put_head(0xa0, extension, out);
    if let Some((data_unit, contents)) = sequence {
        put_embedded(syntax, contents, out);
        put_integer(data_unit.into(), out);
    }
    out.extend_from_slice(&NOT_USED);
    true
}
