//! Operations of RAF, RCF and ROCF; those that FCLTU has too are in `session.rs`.
//!
//! What differs between versions on the wire: SET OF in the place of SEQUENCE OF and
//! `minReportingCycle` from version 5 on, and how GET-PARAMETER says "not started" (`raf.rs`,
//! `rcf.rs`, `rocf.rs`). STATUS-REPORT differs only in the lock statuses that the books allow
//! (`notInUse` for all until version 2, afterwards for the subcarrier alone): all four are read and
//! written in all versions.

mod asn;
mod convert;
mod frames;
mod parameter;
mod raf;
mod rcf;
mod rocf;
mod start;
mod status;
#[cfg(test)]
pub(super) mod tests;

use super::common::{Credentials, Outcome, OutcomeReturn, read, write};
use super::{Codec, DecodeError, EncodeError};
use crate::pdu::{AssociationRole, Message, Pdu, PositiveStartReturn, ServiceType, StartRequest};
use bytes::Bytes;
use raf::RafParameter;
use rcf::RcfParameter;
use rocf::{RequestedTcVcid, RocfParameter, TcVcid};

/// The operation with this tag.
pub(super) fn decode(
    codec: Codec,
    tag: u32,
    sender: AssociationRole,
    octets: &Bytes,
) -> Result<Message, DecodeError> {
    match (sender, tag) {
        (AssociationRole::User, 0) => decode_start(codec, octets),
        (AssociationRole::Provider, 1) => {
            let done: OutcomeReturn = read("START return", tag, octets)?;
            let result = done.result.result()?.map(|()| PositiveStartReturn::Return);
            let pdu = Pdu::StartReturn { invoke_id: done.invoke_id, result };
            Ok(Message { credentials: done.credentials.into(), pdu })
        }
        (AssociationRole::Provider, 7) => match codec.service {
            ServiceType::Raf => parameter::decode::<RafParameter>(octets),
            ServiceType::Rcf => parameter::decode::<RcfParameter>(octets),
            _ if codec.version >= 5 => parameter::decode::<RocfParameter<TcVcid>>(octets),
            _ => parameter::decode::<RocfParameter<RequestedTcVcid>>(octets),
        },
        (AssociationRole::Provider, 8) => frames::decode(codec, octets),
        (AssociationRole::Provider, 9) => status::decode(codec, octets),
        _ => Err(codec.unknown(tag, sender)),
    }
}

fn decode_start(codec: Codec, octets: &Bytes) -> Result<Message, DecodeError> {
    match codec.service {
        ServiceType::Raf => raf::decode_start(octets),
        ServiceType::Rcf => rcf::decode_start(octets),
        ServiceType::Rocf | ServiceType::Fcltu => rocf::decode_start(octets),
    }
}

/// Appends the operation.
pub(super) fn encode(
    codec: Codec,
    message: &Message,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let credentials = Credentials::new(message.credentials.as_ref())?;
    match &message.pdu {
        Pdu::Start { invoke_id, start: StartRequest::Return(start) } => match codec.service {
            ServiceType::Raf => raf::encode_start(codec, credentials, *invoke_id, start, out),
            ServiceType::Rcf => rcf::encode_start(codec, credentials, *invoke_id, start, out),
            ServiceType::Rocf | ServiceType::Fcltu => {
                rocf::encode_start(codec, credentials, *invoke_id, start, out)
            }
        },
        Pdu::StartReturn { invoke_id, result } => {
            let result = match result {
                Ok(PositiveStartReturn::Return) => Outcome::Positive(()),
                Ok(PositiveStartReturn::Cltu { .. }) => {
                    return Err(codec.not_of_service(&message.pdu));
                }
                Err(diagnostic) => Outcome::Negative((*diagnostic).into()),
            };
            let done = OutcomeReturn { credentials, invoke_id: *invoke_id, result };
            write("START return", 1, &done, out)
        }
        Pdu::GetParameterReturn { invoke_id, result } => {
            let encode = match codec.service {
                ServiceType::Raf => parameter::encode::<RafParameter>,
                ServiceType::Rcf => parameter::encode::<RcfParameter>,
                _ if codec.version >= 5 => parameter::encode::<RocfParameter<TcVcid>>,
                _ => parameter::encode::<RocfParameter<RequestedTcVcid>>,
            };
            encode(codec, credentials, *invoke_id, result, out)
        }
        Pdu::TransferBuffer(parts) => {
            // The buffer is no operation with credentials of its own: its parts have theirs.
            if message.credentials.is_some() {
                return Err(codec.not_in_version("credentials of a transfer buffer as a whole"));
            }
            frames::encode(codec, parts, out)
        }
        Pdu::ReturnStatusReport(report) => status::encode(codec, credentials, report, out),
        other => Err(codec.not_of_service(other)),
    }
}

impl Codec {
    /// The error for something that the version does not have.
    fn not_in_version(self, what: &'static str) -> EncodeError {
        EncodeError::NotInVersion { what, service: self.service, version: self.version }
    }
}
