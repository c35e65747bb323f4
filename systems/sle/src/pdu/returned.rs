//! Operations of RAF, RCF and ROCF. Sources: CCSDS 911.1, 911.2, 911.5.

use crate::time::Time;
use bytes::Bytes;

/// What START asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnStart {
    /// Frames received from then on; `None`: from now.
    pub start: Option<Time>,
    /// Frames received until then; `None`: without end.
    pub stop: Option<Time>,
    /// Which of them.
    pub select: ReturnSelection,
}

/// Which frames, or parts of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnSelection {
    /// RAF.
    Frames(RequestedFrameQuality),
    /// RCF.
    Channel(GvcId),
    /// ROCF.
    Ocf {
        /// Of this channel.
        channel: GvcId,
        /// Which control words.
        control_word: ControlWordType,
        /// Which of those.
        update: UpdateMode,
    },
}

/// Which frames of RAF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RequestedFrameQuality {
    /// Good ones only.
    Good = 0,
    /// Erred ones only.
    Erred = 1,
    /// All.
    All = 2,
}

/// A master or virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GvcId {
    /// In [0, 1023].
    pub spacecraft: u16,
    /// Transfer frame version number, in [0, 3]: 0 TM, 1 AOS.
    pub version: u8,
    /// In [0, 63]; `None` for the master channel.
    pub virtual_channel: Option<u8>,
}

/// Which operational control fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlWordType {
    /// All.
    All,
    /// Command link control words, of one virtual channel of telecommand or of any.
    Clcw(Option<u8>),
    /// All but those.
    NotClcw,
}

/// Whether equal operational control fields are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum UpdateMode {
    /// All are sent.
    Continuous = 0,
    /// Only what is not the same as the last one.
    ChangeBased = 1,
}

/// How frames are delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DeliveryMode {
    /// At once; what cannot be sent in time is discarded.
    TimelyOnline = 0,
    /// At once, and everything.
    CompleteOnline = 1,
    /// From a store.
    Offline = 2,
    /// FCLTU's.
    ForwardOnline = 3,
}

/// Where a frame was received.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AntennaId {
    /// An object identifier's arcs.
    Global(Vec<u32>),
    /// 1 to 16 octets.
    Local(Bytes),
}

/// How good a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameQuality {
    /// Good.
    Good = 0,
    /// With errors.
    Erred = 1,
    /// Not known.
    Undetermined = 2,
}

/// A part of a transfer buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameOrNotification {
    /// TRANSFER-DATA invocation.
    Frame(TransferData),
    /// SYNC-NOTIFY invocation.
    Notification(SyncNotify),
}

/// A TRANSFER-DATA invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferData {
    /// Its credentials.
    pub credentials: Option<Bytes>,
    /// When the frame was received.
    pub earth_receive_time: Time,
    /// Where.
    pub antenna: AntennaId,
    /// Frames missing before this one, in [-1, 16,777,215]; -1: not known.
    pub data_link_continuity: i32,
    /// How good it is; RAF only, and there always.
    pub quality: Option<FrameQuality>,
    /// 1 to 128 octets of the provider's own.
    pub private_annotation: Option<Bytes>,
    /// The frame, or the operational control field; 1 to 65,536 octets.
    pub data: Bytes,
}

/// A SYNC-NOTIFY invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncNotify {
    /// Its credentials.
    pub credentials: Option<Bytes>,
    /// What.
    pub notification: ReturnNotification,
}

/// What SYNC-NOTIFY tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnNotification {
    /// Frame synchronisation was lost.
    LossFrameSync(LockStatusReport),
    /// Production is different from now on.
    ProductionStatusChange(ReturnProductionStatus),
    /// Frames were discarded: the user is too slow (timely online).
    ExcessiveDataBacklog,
    /// The last frame of what was asked for has been sent.
    EndOfData,
}

/// What is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockStatusReport {
    /// When it was so.
    pub time: Time,
    /// The carrier.
    pub carrier: LockStatus,
    /// The subcarrier.
    pub subcarrier: LockStatus,
    /// Symbol synchronisation.
    pub symbol_sync: LockStatus,
}

/// Whether something is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LockStatus {
    /// It is.
    InLock = 0,
    /// It is not.
    OutOfLock = 1,
    /// There is none.
    NotInUse = 2,
    /// Not known.
    Unknown = 3,
}

/// Whether frames are produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ReturnProductionStatus {
    /// Yes.
    Running = 0,
    /// Not now.
    Interrupted = 1,
    /// No, an operator wished so.
    Halted = 2,
}

/// A STATUS-REPORT invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReturnStatusReport {
    /// RAF: frames without errors; ROCF: frames processed; RCF has none.
    pub processed: Option<u32>,
    /// Frames (or control fields) delivered.
    pub delivered: u32,
    /// Frame synchronisation.
    pub frame_sync: LockStatus,
    /// Symbol synchronisation.
    pub symbol_sync: LockStatus,
    /// The subcarrier.
    pub subcarrier: LockStatus,
    /// The carrier.
    pub carrier: LockStatus,
    /// Whether frames are produced.
    pub production: ReturnProductionStatus,
}
