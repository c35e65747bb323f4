//! Between the declarations that RAF, RCF and ROCF share and the operations.

use super::asn;
use crate::codec::common::{Credentials, WireGvcId, in_range};
use crate::codec::{Codec, DecodeError, EncodeError};
use crate::pdu::{
    AntennaId, DeliveryMode, GvcId, LockStatus, LockStatusReport, ParameterName, PermittedChannel,
    ReturnNotification, ReturnProductionStatus, SyncNotify, UpdateMode,
};
use bytes::Bytes;
use rasn::types::ObjectIdentifier;

pub(super) fn antenna_in(antenna: asn::AntennaId) -> AntennaId {
    match antenna {
        asn::AntennaId::GlobalForm(arcs) => AntennaId::Global(arcs.to_vec()),
        asn::AntennaId::LocalForm(octets) => AntennaId::Local(octets.into()),
    }
}

pub(super) fn antenna_out(antenna: &AntennaId) -> Result<asn::AntennaId, EncodeError> {
    Ok(match antenna {
        AntennaId::Global(arcs) => {
            let none = || EncodeError::Content {
                operation: "TRANSFER-DATA",
                reason: format!("antenna {arcs:?} is no object identifier"),
            };
            asn::AntennaId::GlobalForm(ObjectIdentifier::new(arcs.clone()).ok_or_else(none)?)
        }
        AntennaId::Local(octets) => asn::AntennaId::LocalForm(octets.into()),
    })
}

pub(super) fn annotation_in(annotation: asn::PrivateAnnotation) -> Option<Bytes> {
    match annotation {
        asn::PrivateAnnotation::Null(()) => None,
        asn::PrivateAnnotation::NotNull(octets) => Some(octets.into()),
    }
}

pub(super) fn annotation_out(annotation: Option<&Bytes>) -> asn::PrivateAnnotation {
    match annotation {
        None => asn::PrivateAnnotation::Null(()),
        Some(octets) => asn::PrivateAnnotation::NotNull(octets.into()),
    }
}

pub(super) fn lock_in(status: i64) -> Result<LockStatus, DecodeError> {
    Ok(match status {
        0 => LockStatus::InLock,
        1 => LockStatus::OutOfLock,
        2 => LockStatus::NotInUse,
        3 => LockStatus::Unknown,
        value => return Err(DecodeError::Value { field: "lock status", value }),
    })
}

pub(super) fn production_in(status: i64) -> Result<ReturnProductionStatus, DecodeError> {
    Ok(match status {
        0 => ReturnProductionStatus::Running,
        1 => ReturnProductionStatus::Interrupted,
        2 => ReturnProductionStatus::Halted,
        value => return Err(DecodeError::Value { field: "production status", value }),
    })
}

pub(super) fn notify_in(notify: asn::SyncNotifyInvocation) -> Result<SyncNotify, DecodeError> {
    Ok(SyncNotify {
        credentials: notify.invoker_credentials.into(),
        notification: match notify.notification {
            asn::Notification::LossFrameSync(lost) => {
                ReturnNotification::LossFrameSync(LockStatusReport {
                    time: lost.time.into(),
                    carrier: lock_in(lost.carrier_lock_status)?,
                    subcarrier: lock_in(lost.subcarrier_lock_status)?,
                    symbol_sync: lock_in(lost.symbol_sync_lock_status)?,
                })
            }
            asn::Notification::ProductionStatusChange(status) => {
                ReturnNotification::ProductionStatusChange(production_in(status)?)
            }
            asn::Notification::ExcessiveDataBacklog(()) => ReturnNotification::ExcessiveDataBacklog,
            asn::Notification::EndOfData(()) => ReturnNotification::EndOfData,
        },
    })
}

pub(super) fn notify_out(notify: &SyncNotify) -> Result<asn::SyncNotifyInvocation, EncodeError> {
    Ok(asn::SyncNotifyInvocation {
        invoker_credentials: Credentials::new(notify.credentials.as_ref())?,
        notification: match &notify.notification {
            ReturnNotification::LossFrameSync(lost) => {
                asn::Notification::LossFrameSync(asn::LockStatusReport {
                    time: lost.time.into(),
                    carrier_lock_status: lost.carrier as i64,
                    subcarrier_lock_status: lost.subcarrier as i64,
                    symbol_sync_lock_status: lost.symbol_sync as i64,
                })
            }
            ReturnNotification::ProductionStatusChange(status) => {
                asn::Notification::ProductionStatusChange(*status as i64)
            }
            ReturnNotification::ExcessiveDataBacklog => asn::Notification::ExcessiveDataBacklog(()),
            ReturnNotification::EndOfData => asn::Notification::EndOfData(()),
        },
    })
}

/// The value of `requestedGvcid`, in whichever of its forms.
pub(super) fn requested_gvcid_in(requested: asn::RequestedGvcId) -> Option<GvcId> {
    match requested {
        asn::RequestedGvcId::Gvcid(gvcid) | asn::RequestedGvcId::Bare(gvcid) => Some(gvcid.into()),
        asn::RequestedGvcId::Undefined(()) => None,
    }
}

/// The value of `requestedGvcid` as the bare `GvcId`, which cannot say that there is none.
pub(super) fn bare_gvcid_out(
    codec: Codec,
    gvcid: Option<GvcId>,
) -> Result<asn::RequestedGvcId, EncodeError> {
    let gvcid = gvcid.ok_or_else(|| codec.not_in_version("an undefined requestedGvcid"))?;
    Ok(asn::RequestedGvcId::Bare(WireGvcId::new(gvcid)?))
}

/// The value of `requestedGvcid` as CHOICE.
pub(super) fn chosen_gvcid_out(gvcid: Option<GvcId>) -> Result<asn::RequestedGvcId, EncodeError> {
    Ok(match gvcid {
        None => asn::RequestedGvcId::Undefined(()),
        Some(gvcid) => asn::RequestedGvcId::Gvcid(WireGvcId::new(gvcid)?),
    })
}

/// Virtual channels, each in [0, 63].
pub(super) fn channels_in(channels: Vec<u8>) -> Result<Vec<u8>, DecodeError> {
    match channels.iter().find(|channel| **channel > 63) {
        Some(channel) => {
            Err(DecodeError::Value { field: "virtual channel", value: i64::from(*channel) })
        }
        None => Ok(channels),
    }
}

pub(super) fn channels_out(channels: &[u8]) -> Result<Vec<u8>, EncodeError> {
    in_range("virtual channel", channels.iter().max().copied().unwrap_or(0), 0, 63)?;
    Ok(channels.to_vec())
}

/// `GvcIdSet`.
pub(super) type GvcIdSet = asn::SetOrSequenceOf<asn::MasterChannelComposition>;

pub(super) fn gvcid_set_in(set: GvcIdSet) -> Result<Vec<PermittedChannel>, DecodeError> {
    set.into_inner()
        .into_iter()
        .map(|composition| {
            Ok(PermittedChannel {
                spacecraft: composition.spacecraft_id,
                version: composition.version_number,
                virtual_channels: match composition.mc_or_vc_list {
                    asn::McOrVcList::MasterChannel(()) => None,
                    asn::McOrVcList::VcList(channels) => Some(channels_in(channels)?),
                },
            })
        })
        .collect()
}

pub(super) fn gvcid_set_out(
    set: &[PermittedChannel],
    version: u16,
) -> Result<GvcIdSet, EncodeError> {
    let set = set
        .iter()
        .map(|permitted| {
            Ok(asn::MasterChannelComposition {
                spacecraft_id: permitted.spacecraft,
                version_number: permitted.version,
                mc_or_vc_list: match &permitted.virtual_channels {
                    None => asn::McOrVcList::MasterChannel(()),
                    Some(channels) => asn::McOrVcList::VcList(channels_out(channels)?),
                },
            })
        })
        .collect::<Result<Vec<_>, EncodeError>>()?;
    Ok(if version >= 5 {
        asn::SetOrSequenceOf::Set(set)
    } else {
        asn::SetOrSequenceOf::Sequence(set)
    })
}

pub(super) fn latency_in(latency: &asn::LatencyLimit) -> Option<u16> {
    match latency {
        asn::LatencyLimit::Online(seconds) => Some(*seconds),
        asn::LatencyLimit::Offline(()) => None,
    }
}

pub(super) fn latency_out(latency: Option<u16>) -> asn::LatencyLimit {
    latency.map_or(asn::LatencyLimit::Offline(()), asn::LatencyLimit::Online)
}

pub(super) fn cycle_in(cycle: &asn::CurrentReportingCycle) -> Option<u16> {
    match cycle {
        asn::CurrentReportingCycle::PeriodicReportingOff(()) => None,
        asn::CurrentReportingCycle::PeriodicReportingOn(seconds) => Some(*seconds),
    }
}

pub(super) fn cycle_out(cycle: Option<u16>) -> asn::CurrentReportingCycle {
    cycle.map_or(
        asn::CurrentReportingCycle::PeriodicReportingOff(()),
        asn::CurrentReportingCycle::PeriodicReportingOn,
    )
}

pub(super) fn delivery_in(mode: i64) -> Result<DeliveryMode, DecodeError> {
    Ok(match mode {
        0 => DeliveryMode::TimelyOnline,
        1 => DeliveryMode::CompleteOnline,
        2 => DeliveryMode::Offline,
        value => return Err(DecodeError::Value { field: "delivery mode", value }),
    })
}

pub(super) fn delivery_out(mode: DeliveryMode) -> Result<i64, EncodeError> {
    match mode {
        DeliveryMode::ForwardOnline => {
            in_range("delivery mode", mode as u8, 0, DeliveryMode::Offline as u64).map(|()| 3)
        }
        _ => Ok(mode as i64),
    }
}

pub(super) fn update_in(mode: i64) -> Result<UpdateMode, DecodeError> {
    Ok(match mode {
        0 => UpdateMode::Continuous,
        1 => UpdateMode::ChangeBased,
        value => return Err(DecodeError::Value { field: "update mode", value }),
    })
}

/// A parameter's value under its name.
pub(super) fn named<T: rasn::AsnType + rasn::Decode + rasn::Encode>(
    name: ParameterName,
    value: T,
) -> asn::Named<T> {
    asn::Named { parameter_name: name.0.into(), parameter_value: value }
}

/// Whether a parameter has the name that belongs to its tag.
pub(super) fn it_is(name: ParameterName, value: i64) -> Result<(), DecodeError> {
    if value == i64::from(name.0) {
        Ok(())
    } else {
        Err(DecodeError::Value { field: "parameterName", value })
    }
}

impl<T: rasn::AsnType + rasn::Decode + rasn::Encode> asn::Named<T> {
    /// The value, of a parameter of this name.
    pub(super) fn value(self, name: ParameterName) -> Result<T, DecodeError> {
        it_is(name, self.parameter_name)?;
        Ok(self.parameter_value)
    }
}

impl<T: rasn::AsnType + rasn::Decode + rasn::Encode> asn::SetOrSequenceOf<T> {
    /// The elements, in their order.
    pub(super) fn into_inner(self) -> Vec<T> {
        match self {
            Self::Sequence(elements) | Self::Set(elements) => elements,
        }
    }
}
