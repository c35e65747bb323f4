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
use crate::pdu::{Message, Pdu, Role, Service, Start, Started};
use bytes::Bytes;
use raf::RafParameter;
use rcf::RcfParameter;
use rocf::{RequestedTcVcid, RocfParameter, TcVcid};

/// The operation with this tag.
pub(super) fn decode(
    codec: Codec,
    tag: u32,
    sender: Role,
    octets: &Bytes,
) -> Result<Message, DecodeError> {
    match (sender, tag) {
        (Role::User, 0) => decode_start(codec, octets),
        (Role::Provider, 1) => {
            let done: OutcomeReturn = read("START return", tag, octets)?;
            let result = done.result.result()?.map(|()| Started::Return);
            let pdu = Pdu::StartReturn { invoke_id: done.invoke_id, result };
            Ok(Message { credentials: done.credentials.into(), pdu })
        }
        (Role::Provider, 7) => match codec.service {
            Service::Raf => parameter::decode::<RafParameter>(octets),
            Service::Rcf => parameter::decode::<RcfParameter>(octets),
            _ if codec.version >= 5 => parameter::decode::<RocfParameter<TcVcid>>(octets),
            _ => parameter::decode::<RocfParameter<RequestedTcVcid>>(octets),
        },
        (Role::Provider, 8) => frames::decode(codec, octets),
        (Role::Provider, 9) => status::decode(codec, octets),
        _ => Err(codec.unknown(tag, sender)),
    }
}

fn decode_start(codec: Codec, octets: &Bytes) -> Result<Message, DecodeError> {
    match codec.service {
        Service::Raf => raf::decode_start(octets),
        Service::Rcf => rcf::decode_start(octets),
        Service::Rocf | Service::Fcltu => rocf::decode_start(octets),
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
        Pdu::Start { invoke_id, start: Start::Return(start) } => match codec.service {
            Service::Raf => raf::encode_start(codec, credentials, *invoke_id, start, out),
            Service::Rcf => rcf::encode_start(codec, credentials, *invoke_id, start, out),
            Service::Rocf | Service::Fcltu => {
                rocf::encode_start(codec, credentials, *invoke_id, start, out)
            }
        },
        Pdu::StartReturn { invoke_id, result } => {
            let result = match result {
                Ok(Started::Return) => Outcome::Positive(()),
                Ok(Started::Cltu { .. }) => return Err(codec.not_of_service(&message.pdu)),
                Err(diagnostic) => Outcome::Negative((*diagnostic).into()),
            };
            let done = OutcomeReturn { credentials, invoke_id: *invoke_id, result };
            write("START return", 1, &done, out)
        }
        Pdu::GetParameterReturn { invoke_id, result } => {
            let encode = match codec.service {
                Service::Raf => parameter::encode::<RafParameter>,
                Service::Rcf => parameter::encode::<RcfParameter>,
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
    /// What the version does not have.
    fn not_in_version(self, what: &'static str) -> EncodeError {
        EncodeError::NotInVersion { what, service: self.service, version: self.version }
    }
}
