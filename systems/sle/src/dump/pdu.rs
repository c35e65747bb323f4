//! One PDU with its fields.

use super::annotate::Annotator;
use super::ber::{self, BerValue};
use super::field::DumpField;
use super::message::{DumpService, DumpedPdu};
use super::schema;
use crate::codec::Codec;
use crate::codec::scan::scan;
use crate::csts;
use crate::pdu::AssociationRole;
use crate::tml::HEADER_BYTES;
use bytes::Bytes;

/// Annotates the PDU in a message, whose first 8 octets are its header. Ranges of fields are of the
/// whole message. Without a service only the operations that all services have are known; without a
/// version 5 is taken.
#[must_use]
pub fn annotate(
    service: Option<DumpService>,
    version: Option<u16>,
    sender: AssociationRole,
    message: &Bytes,
) -> DumpedPdu {
    let octets = message.slice(HEADER_BYTES.min(message.len())..);
    let pdu = DumpedPdu {
        service,
        version,
        operation: "no operation".to_owned(),
        invoke_id: None,
        answers: None,
        fields: Vec::new(),
        fault: None,
    };
    let scanned = scan(&octets).and_then(|_| ber::value(message, HEADER_BYTES, message.len()));
    let value = match scanned {
        Ok(value) => value,
        Err(error) => return DumpedPdu { fault: Some(error.to_string()), ..pdu },
    };
    match service {
        Some(DumpService::Csts) => of_csts(pdu, sender, message, &octets, &value),
        _ => of_sle(pdu, sender, message, &octets, &value),
    }
}

/// Fields of CSTS have no names here: their types are in extensions of extensions.
fn of_csts(
    mut pdu: DumpedPdu,
    sender: AssociationRole,
    message: &Bytes,
    octets: &Bytes,
    value: &BerValue,
) -> DumpedPdu {
    pdu.fields = Annotator::new(message).unknown(value);
    match csts::codec::decode(sender, octets) {
        Ok(decoded) => decoded.pdu.name().clone_into(&mut pdu.operation),
        Err(error) => {
            pdu.operation = value.tag();
            pdu.fault = Some(error.to_string());
        }
    }
    pdu
}

fn of_sle(
    mut pdu: DumpedPdu,
    sender: AssociationRole,
    message: &Bytes,
    octets: &Bytes,
    value: &BerValue,
) -> DumpedPdu {
    let mut annotator = Annotator::new(message);
    let tag = value.identifier.number;
    let known = schema::operation(pdu.service, pdu.version.unwrap_or(5), sender, tag);
    let Some((name, shape)) = known.filter(|_| value.identifier.class == ber::CONTEXT) else {
        pdu.operation = value.tag();
        pdu.fields = annotator.unknown(value);
        pdu.fault = Some(match pdu.service {
            None => {
                "the service is not known, because its BIND is not in the capture; name it with \
                     --service"
                    .to_owned()
            }
            Some(service) => format!("{} has no operation {}", service.name(), value.tag()),
        });
        return pdu;
    };
    name.clone_into(&mut pdu.operation);
    pdu.fields = annotator.operation(value, shape);
    pdu.invoke_id = invoke_id(&pdu.fields);
    pdu.fault = pdu.fields.iter().find_map(DumpField::first_fault).map(str::to_owned);
    if let (None, Some(DumpService::Sle(service)), Some(version)) =
        (&pdu.fault, pdu.service, pdu.version)
    {
        let decoded = Codec { service, version }.decode(sender, octets);
        pdu.fault = decoded.err().map(|error| error.to_string());
    }
    pdu
}

fn invoke_id(fields: &[DumpField]) -> Option<u32> {
    fields.iter().find(|field| field.name == "invokeId")?.value.parse().ok()
}
