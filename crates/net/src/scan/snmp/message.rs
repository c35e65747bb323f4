//! Messages of versions 2c and 3, by the declarations of `rasn-snmp`.

use super::usm::{Usm, UsmError};
use rasn::ber;
use rasn::types::{Integer, ObjectIdentifier, OctetString};
use rasn_smi::v2::{ApplicationSyntax, ObjectSyntax, SimpleSyntax};
use rasn_snmp::v2::{BulkPdu, GetBulkRequest, GetRequest, Pdu, Pdus, VarBind, VarBindValue};
use rasn_snmp::{v2c, v3};

/// An object's identifier.
pub(super) type Oid = Vec<u32>;

/// Longest accepted message, in octets: the answer to one query needs a quarter of it.
pub const OCTETS_MAX: usize = 8192;

/// A name and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) object: Oid,
    pub(super) value: Value,
}

/// A value, reduced to the kinds that are used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A counter, gauge, integer from 0, or time in hundredths of a second.
    Number(u64),
    /// Octet string.
    Text(Vec<u8>),
    /// The object does not exist, or none follows it.
    Nothing,
    /// A value of a type that is not used.
    Other,
}

/// A query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// GET of these objects.
    Get(Vec<Oid>),
    /// GETBULK: the next object for each of the first `once`, and up to `repeat` for each of the
    /// others.
    Bulk { once: u32, repeat: u32, objects: Vec<Oid> },
}

/// A received answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Id of the request that it answers.
    pub(super) request: i32,
    /// A report (RFC 3412): the request was not looked at.
    pub(super) is_report: bool,
    /// 0, or why there is no answer (RFC 3416, 3).
    pub(super) error: u32,
    pub(super) bounds: Vec<Bound>,
}

/// Reasons why a host's counters are unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnmpError {
    /// Octets that are no message.
    #[error("no SNMP message: {0}")]
    Message(String),
    /// A message of another version, or that is no answer.
    #[error("not an answer: {0}")]
    NotAnswer(&'static str),
    /// The agent refuses.
    #[error("the agent answers error {0}{words}", words = error_words(*.0))]
    Refused(u32),
    /// Objects do not increase: walking them would never end.
    #[error("the agent's objects do not increase")]
    NotIncreasing,
    /// Too many answers for one table.
    #[error("the table has no end within {0} answers")]
    Endless(u32),
    /// More interfaces than any host has.
    #[error("the agent shows more than {0} interfaces")]
    TooMany(usize),
    /// An answer without anything in it.
    #[error("the agent answers with nothing")]
    Empty,
    /// The host sends reports only.
    #[error("the agent answered with more than {0} reports")]
    Reports(u32),
    /// The host has no interfaces.
    #[error("no interfaces: the agent shows neither ifXTable nor ifTable to this user")]
    NoInterfaces,
    /// Error of the security model.
    #[error(transparent)]
    Usm(#[from] UsmError),
}

impl SnmpError {
    pub(super) const TOO_BIG: u32 = Pdu::ERROR_STATUS_TOO_BIG;

    /// Whether it is what the host has to say. Otherwise somebody who only uses its address could
    /// have sent it: then the right answer may still come.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match self {
            Self::Message(_) | Self::NotAnswer(_) => false,
            Self::Usm(error) => matches!(error, UsmError::Refused(_) | UsmError::Time(_)),
            Self::Refused(_)
            | Self::NotIncreasing
            | Self::Endless(_)
            | Self::TooMany(_)
            | Self::Empty
            | Self::Reports(_)
            | Self::NoInterfaces => true,
        }
    }
}

fn error_words(error: u32) -> &'static str {
    match error {
        Pdu::ERROR_STATUS_TOO_BIG => " (too big)",
        Pdu::ERROR_STATUS_NO_SUCH_NAME => " (no such name)",
        Pdu::ERROR_STATUS_GEN_ERR => " (general error)",
        Pdu::ERROR_STATUS_NO_ACCESS => " (no access)",
        Pdu::ERROR_STATUS_AUTHORIZATION_ERROR => " (authorization error)",
        _ => "",
    }
}

/// Security envelope of messages.
#[derive(Clone, Debug)]
pub(super) enum Envelope {
    V2c { community: Vec<u8> },
    V3(Box<Usm>),
}

impl Envelope {
    /// A request's octets. `now_ns` is on the monotonic clock.
    pub(super) fn write(
        &mut self,
        request: i32,
        ask: &Ask,
        now_ns: u64,
    ) -> Result<Vec<u8>, SnmpError> {
        let pdus = pdus(request, ask)?;
        match self {
            Self::V2c { community } => encode(&v2c::Message {
                version: Integer::from(v2c::Message::<Pdus>::VERSION),
                community: OctetString::from_slice(community),
                data: pdus,
            }),
            Self::V3(usm) => Ok(usm.write(request, pdus, now_ns)?),
        }
    }

    /// Content of an answer to `request`.
    pub(super) fn read(
        &mut self,
        octets: &[u8],
        request: i32,
        now_ns: u64,
    ) -> Result<Answer, SnmpError> {
        if octets.len() > OCTETS_MAX {
            return Err(SnmpError::NotAnswer("longer than what was asked for"));
        }
        let answer = match self {
            Self::V2c { community } => {
                let message: v2c::Message<Pdus> = decode(octets)?;
                if message.version != Integer::from(v2c::Message::<Pdus>::VERSION) {
                    return Err(SnmpError::NotAnswer("another version"));
                }
                if message.community[..] != community[..] {
                    return Err(SnmpError::NotAnswer("another community"));
                }
                answer(message.data)?
            }
            Self::V3(usm) => {
                let message: v3::Message = decode(octets)?;
                // Reports are identified by this field alone (RFC 3412, 7.2.11).
                if message.global_data.message_id != Integer::from(request) {
                    return Err(SnmpError::NotAnswer("to another request"));
                }
                answer(usm.read(&message, octets, now_ns)?)?
            }
        };
        if answer.request != request && !answer.is_report {
            return Err(SnmpError::NotAnswer("to another request"));
        }
        if answer.is_report && matches!(self, Self::V2c { .. }) {
            return Err(SnmpError::NotAnswer("a report"));
        }
        Ok(answer)
    }
}

pub(super) fn encode<T: rasn::Encode>(message: &T) -> Result<Vec<u8>, SnmpError> {
    ber::encode(message).map_err(|error| SnmpError::Message(error.to_string()))
}

pub(super) fn decode<T: rasn::Decode>(octets: &[u8]) -> Result<T, SnmpError> {
    let refuse = |error: rasn::error::DecodeError| {
        SnmpError::Message(error.to_string().chars().take(200).collect())
    };
    ber::decode(octets).map_err(refuse)
}

fn pdus(request: i32, ask: &Ask) -> Result<Pdus, SnmpError> {
    let bind = |object: &Oid| {
        let name = ObjectIdentifier::new(object.clone())
            .ok_or_else(|| SnmpError::Message(format!("{object:?} is no object identifier")))?;
        Ok(VarBind { name, value: VarBindValue::Unspecified })
    };
    let binds = |objects: &[Oid]| objects.iter().map(bind).collect::<Result<Vec<_>, SnmpError>>();
    Ok(match ask {
        Ask::Get(objects) => Pdus::GetRequest(GetRequest(Pdu {
            request_id: request,
            error_status: 0,
            error_index: 0,
            variable_bindings: binds(objects)?,
        })),
        Ask::Bulk { once, repeat, objects } => Pdus::GetBulkRequest(GetBulkRequest(BulkPdu {
            request_id: request,
            non_repeaters: *once,
            max_repetitions: *repeat,
            variable_bindings: binds(objects)?,
        })),
    })
}

fn answer(pdus: Pdus) -> Result<Answer, SnmpError> {
    let (pdu, is_report) = match pdus {
        Pdus::Response(response) => (response.0, false),
        Pdus::Report(report) => (report.0, true),
        _ => return Err(SnmpError::NotAnswer("a request or a trap")),
    };
    let bounds = pdu.variable_bindings.into_iter().map(bound).collect();
    Ok(Answer { request: pdu.request_id, is_report, error: pdu.error_status, bounds })
}

fn bound(bind: VarBind) -> Bound {
    let number = |integer: &Integer| u64::try_from(integer).map_or(Value::Other, Value::Number);
    let value = match bind.value {
        VarBindValue::Value(ObjectSyntax::Simple(simple)) => match simple {
            SimpleSyntax::Integer(integer) => number(&integer),
            SimpleSyntax::String(text) => Value::Text(text.to_vec()),
            SimpleSyntax::ObjectId(_) => Value::Other,
        },
        VarBindValue::Value(ObjectSyntax::ApplicationWide(wide)) => match wide {
            ApplicationSyntax::Counter(count) => Value::Number(u64::from(count.0)),
            ApplicationSyntax::Ticks(ticks) => Value::Number(u64::from(ticks.0)),
            ApplicationSyntax::BigCounter(count) => Value::Number(count.0),
            ApplicationSyntax::Unsigned(count) => Value::Number(u64::from(count.0)),
            ApplicationSyntax::Address(_) | ApplicationSyntax::Arbitrary(_) => Value::Other,
        },
        VarBindValue::Unspecified => Value::Other,
        VarBindValue::NoSuchObject | VarBindValue::NoSuchInstance | VarBindValue::EndOfMibView => {
            Value::Nothing
        }
    };
    Bound { object: bind.name.to_vec(), value }
}
