//! Operations of RAF, RCF and ROCF. Sources: CCSDS 911.1, 911.2, 911.5.

use crate::time::Time;
use bytes::Bytes;

/// Parameters of START of a return service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnStart {
    /// Frames received from then on; `None`: from now.
    pub start: Option<Time>,
    /// Frames received until then; `None`: without end.
    pub stop: Option<Time>,
    /// The requested frames.
    pub select: ReturnSelection,
}

/// Requested frames, or parts of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnSelection {
    /// RAF: frames by quality.
    Frames(RequestedFrameQuality),
    /// RCF: frames of a channel.
    Channel(GvcId),
    /// ROCF: operational control fields.
    Ocf {
        /// The channel.
        channel: GvcId,
        /// The control word type.
        control_word: ControlWordType,
        /// The update mode.
        update: UpdateMode,
    },
}

/// Requested frame quality of RAF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RequestedFrameQuality {
    /// Good ones only.
    Good = 0,
    /// Erred ones only.
    Erred = 1,
    /// All frames.
    All = 2,
}

/// A master or virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GvcId {
    /// Spacecraft id, in [0, 1023].
    pub spacecraft: u16,
    /// Transfer frame version number, in [0, 3]: 0 TM, 1 AOS.
    pub version: u8,
    /// Virtual channel id, in [0, 63]; `None` for the master channel.
    pub virtual_channel: Option<u8>,
}

/// Control word type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlWordType {
    /// All control words.
    All,
    /// Command link control words, of one virtual channel of telecommand or of any.
    Clcw(Option<u8>),
    /// All control words except CLCWs.
    NotClcw,
}

/// Whether equal operational control fields are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum UpdateMode {
    /// All control words are sent.
    Continuous = 0,
    /// Only what is not the same as the last one.
    ChangeBased = 1,
}

/// Delivery mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DeliveryMode {
    /// At once; what cannot be sent in time is discarded.
    TimelyOnline = 0,
    /// At once, and everything.
    CompleteOnline = 1,
    /// Offline: from a frame store.
    Offline = 2,
    /// Forward online: FCLTU.
    ForwardOnline = 3,
}

/// Antenna that received a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AntennaId {
    /// An object identifier's arcs.
    Global(Vec<u32>),
    /// 1 to 16 octets.
    Local(Bytes),
}

/// Quality of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameQuality {
    /// The frame has no errors.
    Good = 0,
    /// The frame has errors.
    Erred = 1,
    /// The quality is not known.
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
    /// The antenna.
    pub antenna: AntennaId,
    /// Frames missing before this one, in [-1, 16,777,215]; -1: not known.
    pub data_link_continuity: i32,
    /// Quality; always present for RAF, never for other services.
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
    /// The notification.
    pub notification: ReturnNotification,
}

/// Content of SYNC-NOTIFY.
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

/// Lock status of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockStatusReport {
    /// When it was so.
    pub time: Time,
    /// Lock status of the carrier.
    pub carrier: LockStatus,
    /// Lock status of the subcarrier.
    pub subcarrier: LockStatus,
    /// Lock status of symbol synchronisation.
    pub symbol_sync: LockStatus,
}

/// Whether something is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LockStatus {
    /// In lock.
    InLock = 0,
    /// Out of lock.
    OutOfLock = 1,
    /// The receiver has no such part.
    NotInUse = 2,
    /// The status is not known.
    Unknown = 3,
}

/// Whether frames are produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ReturnProductionStatus {
    /// Frames are produced.
    Running = 0,
    /// Production is interrupted.
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
    /// Lock status of frame synchronisation.
    pub frame_sync: LockStatus,
    /// Lock status of symbol synchronisation.
    pub symbol_sync: LockStatus,
    /// Lock status of the subcarrier.
    pub subcarrier: LockStatus,
    /// Lock status of the carrier.
    pub carrier: LockStatus,
    /// Whether frames are produced.
    pub production: ReturnProductionStatus,
}
