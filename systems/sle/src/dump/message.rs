//! Entries of a dump.

use super::field::DumpField;
use crate::pdu::{AssociationRole, PeerAbortDiagnostic, ServiceType};
use bytes::Bytes;

/// A service in a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpService {
    /// RAF, RCF, ROCF, FCLTU.
    Sle(ServiceType),
    /// Forward space packets, CCSDS 912.3.
    Fsp,
    /// A cross support transfer service.
    Csts,
    /// Another application identifier.
    Other(i64),
}

impl DumpService {
    /// Its name.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Sle(service) => format!("{service:?}").to_uppercase(),
            Self::Fsp => "FSP".to_owned(),
            Self::Csts => "CSTS".to_owned(),
            Self::Other(number) => format!("service {number}"),
        }
    }

    /// The service of a name as [`Self::name`] gives it, in upper or lower case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let sle = [ServiceType::Raf, ServiceType::Rcf, ServiceType::Rocf, ServiceType::Fcltu];
        let all = sle.map(Self::Sle).into_iter().chain([Self::Fsp, Self::Csts]);
        all.into_iter().find(|service| service.name().eq_ignore_ascii_case(name))
    }

    /// The service of an application identifier.
    pub(super) fn of_number(service: Result<ServiceType, i64>) -> Self {
        match service {
            Ok(service) => Self::Sle(service),
            Err(13) => Self::Fsp,
            Err(number) => Self::Other(number),
        }
    }
}

/// An entry of a dump.
#[derive(Clone, Debug)]
pub struct DumpEntry {
    /// Number of the entry, from 1.
    pub number: u64,
    /// Capture time of the packet that completed it: UTC, ns since 1970.
    pub at_ns: i64,
    /// Number of the connection, from 1.
    pub connection: u32,
    /// Who sent it: the initiator of the connection is the user.
    pub sender: AssociationRole,
    /// Position of its first octet in the sender's stream.
    pub position: u64,
    /// Content of the entry.
    pub content: DumpContent,
    /// The octets of a message with its header, or of a PEER-ABORT; else empty.
    pub octets: Bytes,
}

/// Content of an entry.
#[derive(Clone, Debug)]
pub enum DumpContent {
    /// The sender has opened the connection; addresses of sender and receiver.
    Opened(String, String),
    /// The context message.
    Context {
        /// Heartbeat interval in seconds.
        interval_s: u16,
        /// Number of intervals.
        dead_factor: u16,
    },
    /// A heartbeat.
    Heartbeat,
    /// A PDU.
    Pdu(Box<DumpedPdu>),
    /// PEER-ABORT by urgent data. It is not certain if the capture does not mark the octet as urgent.
    PeerAbort {
        /// Diagnostic of the abort.
        diagnostic: PeerAbortDiagnostic,
        /// Whether the capture marks the octet as urgent.
        is_certain: bool,
    },
    /// The sender sends no more.
    Ended,
    /// The stream is broken here, and why.
    Broken(String),
    /// Octets without a message in them.
    Skipped(u64),
    /// Octets that the capture lacks.
    Lost(u64),
}

/// A PDU with its fields.
#[derive(Clone, Debug)]
pub struct DumpedPdu {
    /// The service, as far as it is known.
    pub service: Option<DumpService>,
    /// Version of the service, as far as it is known.
    pub version: Option<u16>,
    /// Name of the operation, or its tag.
    pub operation: String,
    /// Its invoke id.
    pub invoke_id: Option<u32>,
    /// Of a return: its invocation.
    pub answers: Option<AnsweredInvocation>,
    /// Its fields.
    pub fields: Vec<DumpField>,
    /// Why it is not an operation of the service, or what in it is not as in the module.
    pub fault: Option<String>,
}

/// The invocation of a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnsweredInvocation {
    /// Number of its entry.
    pub number: u64,
    /// Time between the two in the capture, in nanoseconds.
    pub after_ns: i64,
}

impl DumpEntry {
    /// What is wrong: a broken stream, missing octets, a PDU that is none.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        match &self.content {
            DumpContent::Broken(why) => Some(why.clone()),
            DumpContent::Skipped(octets) => Some(format!("{octets} octets without a message")),
            DumpContent::Lost(octets) => Some(format!("{octets} octets are not in the capture")),
            DumpContent::Pdu(pdu) => pdu.fault.clone(),
            _ => None,
        }
    }
}
