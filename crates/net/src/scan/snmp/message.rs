//! Messages of versions 2c and 3, by the declarations of `rasn-snmp`.

use super::coding::{OCTETS_MAX, decode, encode};
use super::error::SnmpError;
use super::usm::Usm;

use rasn::types::{Integer, ObjectIdentifier, OctetString};
use rasn_smi::v2::{ApplicationSyntax, ObjectSyntax, SimpleSyntax};
use rasn_snmp::v2::{BulkPdu, GetBulkRequest, GetRequest, Pdu, Pdus, VarBind, VarBindValue};
use rasn_snmp::{v2c, v3};

/// An object's identifier.
pub(super) type Oid = Vec<u32>;

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
pub(super) enum SnmpQuery {
    /// GET of these objects.
    Get(Vec<Oid>),
    /// GETBULK: the next object for each of the first `once`, and up to `repeat` for each of the
    /// others.
    Bulk { once: u32, repeat: u32, objects: Vec<Oid> },
}

/// A received answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SnmpResponse {
    /// Id of the request that it answers.
    pub(super) request: i32,
    /// A report (RFC 3412): the request was not looked at.
    pub(super) is_report: bool,
    /// 0, or why there is no answer (RFC 3416, 3).
    pub(super) error: u32,
    pub(super) bounds: Vec<Bound>,
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
        ask: &SnmpQuery,
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
    ) -> Result<SnmpResponse, SnmpError> {
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

fn pdus(request: i32, ask: &SnmpQuery) -> Result<Pdus, SnmpError> {
    let bind = |object: &Oid| {
        let name = ObjectIdentifier::new(object.clone())
            .ok_or_else(|| SnmpError::Message(format!("{object:?} is no object identifier")))?;
        Ok(VarBind { name, value: VarBindValue::Unspecified })
    };
    let binds = |objects: &[Oid]| objects.iter().map(bind).collect::<Result<Vec<_>, SnmpError>>();
    Ok(match ask {
        SnmpQuery::Get(objects) => Pdus::GetRequest(GetRequest(Pdu {
            request_id: request,
            error_status: 0,
            error_index: 0,
            variable_bindings: binds(objects)?,
        })),
        SnmpQuery::Bulk { once, repeat, objects } => {
            Pdus::GetBulkRequest(GetBulkRequest(BulkPdu {
                request_id: request,
                non_repeaters: *once,
                max_repetitions: *repeat,
                variable_bindings: binds(objects)?,
            }))
        }
    })
}

fn answer(pdus: Pdus) -> Result<SnmpResponse, SnmpError> {
    let (pdu, is_report) = match pdus {
        Pdus::Response(response) => (response.0, false),
        Pdus::Report(report) => (report.0, true),
        _ => return Err(SnmpError::NotAnswer("a request or a trap")),
    };
    let bounds = pdu.variable_bindings.into_iter().map(bound).collect();
    Ok(SnmpResponse { request: pdu.request_id, is_report, error: pdu.error_status, bounds })
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
