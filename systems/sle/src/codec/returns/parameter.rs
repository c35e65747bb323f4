//! GET-PARAMETER returns of RAF, RCF and ROCF, and the parameters that all three have.

use super::asn::{LatencyLimit, Named};
use super::convert::{delivery_in, delivery_out, latency_in, latency_out, named};
use crate::codec::common::{Credentials, DiagnosticChoice, read, write};
use crate::codec::{Codec, DecodeError, EncodeError};
use crate::pdu::{Diagnostic, InvokeId, Message, Parameter, ParameterName, Pdu};
use bytes::Bytes;
use rasn::prelude::*;

/// Tag of the return.
const TAG: u32 = 7;

/// `result` of a service's GET-PARAMETER return; `P` is the service's choice of parameters.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum GetResult<P: AsnType + Decode + Encode> {
    #[rasn(tag(explicit(context, 0)))]
    Positive(P),
    #[rasn(tag(explicit(context, 1)))]
    Negative(DiagnosticChoice),
}

/// `RafGetParameterReturn`, `RcfGetParameterReturn` and `RocfGetParameterReturn`.
#[derive(AsnType, Decode, Encode)]
struct GetReturn<P: AsnType + Decode + Encode> {
    credentials: Credentials,
    invoke_id: u16,
    result: GetResult<P>,
}

/// A service's choice of parameters.
pub(super) trait GetParameter: AsnType + Decode + Encode {
    /// Conversion into the version-independent parameter.
    fn parameter(self) -> Result<Parameter, DecodeError>;
    /// The parameter in this choice, where the service's version has it.
    fn of(codec: Codec, parameter: &Parameter) -> Result<Self, EncodeError>;
}

/// Decodes a GET-PARAMETER return.
pub(super) fn decode<P: GetParameter>(octets: &Bytes) -> Result<Message, DecodeError> {
    let done: GetReturn<P> = read("GET-PARAMETER return", TAG, octets)?;
    let result = match done.result {
        GetResult::Positive(parameter) => Ok(parameter.parameter()?),
        GetResult::Negative(diagnostic) => Err(diagnostic.try_into()?),
    };
    let pdu = Pdu::GetParameterReturn { invoke_id: done.invoke_id, result };
    Ok(Message { credentials: done.credentials.into(), pdu })
}

/// Appends GET-PARAMETER's return.
pub(super) fn encode<P: GetParameter>(
    codec: Codec,
    credentials: Credentials,
    invoke_id: InvokeId,
    result: &Result<Parameter, Diagnostic>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let result = match result {
        Ok(parameter) => GetResult::<P>::Positive(P::of(codec, parameter)?),
        Err(diagnostic) => GetResult::Negative((*diagnostic).into()),
    };
    write("GET-PARAMETER return", TAG, &GetReturn { credentials, invoke_id, result }, out)
}

/// A parameter that all three services have, under tags of their own.
pub(super) enum CommonParameter {
    BufferSize(Named<u16>),
    DeliveryMode(Named<i64>),
    LatencyLimit(Named<LatencyLimit>),
    ReturnTimeout(Named<u16>),
    /// Since version 5.
    MinReportingCycle(Named<u16>),
}

impl CommonParameter {
    pub(super) fn parameter(self) -> Result<Parameter, DecodeError> {
        Ok(match self {
            Self::BufferSize(it) => Parameter::BufferSize(it.value(ParameterName::BUFFER_SIZE)?),
            Self::DeliveryMode(it) => {
                Parameter::DeliveryMode(delivery_in(it.value(ParameterName::DELIVERY_MODE)?)?)
            }
            Self::LatencyLimit(it) => {
                Parameter::LatencyLimit(latency_in(&it.value(ParameterName::LATENCY_LIMIT)?))
            }
            Self::ReturnTimeout(it) => {
                Parameter::ReturnTimeoutPeriod(it.value(ParameterName::RETURN_TIMEOUT_PERIOD)?)
            }
            Self::MinReportingCycle(it) => {
                Parameter::MinReportingCycle(it.value(ParameterName::MIN_REPORTING_CYCLE)?)
            }
        })
    }

    /// The parameter, or that neither the service nor all three have it.
    pub(super) fn of(codec: Codec, parameter: &Parameter) -> Result<Self, EncodeError> {
        Ok(match parameter {
            Parameter::BufferSize(parts) => {
                Self::BufferSize(named(ParameterName::BUFFER_SIZE, *parts))
            }
            Parameter::DeliveryMode(mode) => {
                Self::DeliveryMode(named(ParameterName::DELIVERY_MODE, delivery_out(*mode)?))
            }
            Parameter::LatencyLimit(limit) => {
                Self::LatencyLimit(named(ParameterName::LATENCY_LIMIT, latency_out(*limit)))
            }
            Parameter::ReturnTimeoutPeriod(seconds) => {
                Self::ReturnTimeout(named(ParameterName::RETURN_TIMEOUT_PERIOD, *seconds))
            }
            Parameter::MinReportingCycle(seconds) if codec.version >= 5 => {
                Self::MinReportingCycle(named(ParameterName::MIN_REPORTING_CYCLE, *seconds))
            }
            _ => return Err(codec.not_in_version("this parameter")),
        })
    }
}

/// Puts the common parameters into a service's choice, and takes them out of it: in all three the
/// variants are called alike.
macro_rules! from_common {
    ($choice:ident $(<$r:ident: $bound:ident>)?) => {
        impl $(<$r: $bound>)? From<CommonParameter> for $choice $(<$r>)? {
            fn from(parameter: CommonParameter) -> Self {
                match parameter {
                    CommonParameter::BufferSize(it) => Self::BufferSize(it),
                    CommonParameter::DeliveryMode(it) => Self::DeliveryMode(it),
                    CommonParameter::LatencyLimit(it) => Self::LatencyLimit(it),
                    CommonParameter::ReturnTimeout(it) => Self::ReturnTimeout(it),
                    CommonParameter::MinReportingCycle(it) => Self::MinReportingCycle(it),
                }
            }
        }
    };
}
pub(super) use from_common;
