//! Declarations that RAF, RCF and ROCF share. Sources: CCSDS 911.1-B-4, 911.2-B-3 and 911.5-B-3,
//! annex A, "STRUCTURES" and "OUTGOING PDUs"; the names are theirs.
//!
//! Integers with names are declared as INTEGER, as the books do; what numbers mean is in the
//! conversions (`convert.rs`), where one without a meaning is refused by name.

use crate::codec::common::{Credentials, WireGvcId, WireTime};
use rasn::prelude::*;

/// `AntennaId`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum AntennaId {
    #[rasn(tag(context, 0))]
    GlobalForm(ObjectIdentifier),
    #[rasn(tag(context, 1), size("1..=16"))]
    LocalForm(OctetString),
}

/// `privateAnnotation` of TRANSFER-DATA.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum PrivateAnnotation {
    #[rasn(tag(context, 0))]
    Null(()),
    #[rasn(tag(context, 1), size("1..=128"))]
    NotNull(OctetString),
}

/// `LockStatusReport`.
#[derive(AsnType, Decode, Encode)]
pub(super) struct LockStatusReport {
    pub time: WireTime,
    pub carrier_lock_status: i64,
    pub subcarrier_lock_status: i64,
    pub symbol_sync_lock_status: i64,
}

/// `Notification`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum Notification {
    #[rasn(tag(context, 0))]
    LossFrameSync(LockStatusReport),
    #[rasn(tag(context, 1))]
    ProductionStatusChange(i64),
    #[rasn(tag(context, 2))]
    ExcessiveDataBacklog(()),
    #[rasn(tag(context, 3))]
    EndOfData(()),
}

/// `RafSyncNotifyInvocation`, `RcfSyncNotifyInvocation`, `RocfSyncNotifyInvocation`.
#[derive(AsnType, Decode, Encode)]
pub(super) struct SyncNotifyInvocation {
    pub invoker_credentials: Credentials,
    pub notification: Notification,
}

/// `mcOrVcList` of `MasterChannelComposition`. SET OF from version 5 and SEQUENCE OF before, which
/// is the same under this tag.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum McOrVcList {
    #[rasn(tag(context, 0))]
    MasterChannel(()),
    #[rasn(tag(context, 1))]
    VcList(SequenceOf<u8>),
}

/// `MasterChannelComposition`.
#[derive(AsnType, Decode, Encode)]
pub(super) struct MasterChannelComposition {
    #[rasn(value("0..=1023"))]
    pub spacecraft_id: u16,
    #[rasn(value("0..=3"))]
    pub version_number: u8,
    pub mc_or_vc_list: McOrVcList,
}

/// SET OF as version 5 has it, or SEQUENCE OF as versions 1 to 4 have it. Both are understood in
/// all versions.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum SetOrSequenceOf<T: AsnType + Decode + Encode> {
    #[rasn(tag(universal, 16))]
    Sequence(SequenceOf<T>),
    #[rasn(tag(universal, 17))]
    Set(SequenceOf<T>),
}

/// A parameter in a GET-PARAMETER return: its name and its value.
#[derive(AsnType, Decode, Encode)]
pub(super) struct Named<T: AsnType + Decode + Encode> {
    pub parameter_name: i64,
    pub parameter_value: T,
}

/// `parameterValue` of `parLatencyLimit`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum LatencyLimit {
    #[rasn(tag(context, 0), value("1..=65535"))]
    Online(u16),
    #[rasn(tag(context, 1))]
    Offline(()),
}

/// `CurrentReportingCycle`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum CurrentReportingCycle {
    #[rasn(tag(context, 0))]
    PeriodicReportingOff(()),
    #[rasn(tag(context, 1), value("2..=600"))]
    PeriodicReportingOn(u16),
}

/// `requestedGvcid`'s value: as `GvcId`, or as CHOICE with `undefined`. Which version of which
/// service has which is in `rcf.rs` and `rocf.rs`; both are understood everywhere.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum RequestedGvcId {
    #[rasn(tag(context, 0))]
    Gvcid(WireGvcId),
    #[rasn(tag(context, 1))]
    Undefined(()),
    #[rasn(tag(universal, 16))]
    Bare(WireGvcId),
}
