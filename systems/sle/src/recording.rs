//! Transactions of the recorder: every operation is a transaction, and the transactions of one
//! CLTU, or of one transfer buffer, are a chain across user and provider.
//!
//! No octet of the protocol is spent on it. The root of a chain has a name that both sides work
//! out from what they both know: a CLTU's from the service instance identifier, START's
//! `startRadiationTime` and the CLTU's number; a transfer buffer's from the identifier and the
//! first frame in it (earth receive time, length, first octets). So the provider's transactions
//! hang under the user's without having met it, and also where the peer is somebody else's and
//! records nothing: then their parent is missing, and said to be.
//!
//! | class | by | parent | from | to |
//! |---|---|---|---|---|
//! | `takeCltu` | `sle-user link` | – | received from a program | its last fate |
//! | `cltuTransferData` | user | – | handed over for sending | its return |
//! | `receiveCltu` | provider | `cltuTransferData` | its octets are an operation | answered |
//! | `queueCltu` | provider | `receiveCltu` | taken into the queue | its turn |
//! | `radiateCltu` | provider | `queueCltu` | its turn | radiated |
//! | `acknowledgeCltu` | user | `cltuTransferData` | its return's octets are one | its fate is known |
//! | `deliverBuffer` | provider | – | its first frame was received | handed to the connection |
//! | `receiveBuffer` | user | `deliverBuffer` | its octets are an operation | taken by the program |
//! | `deliverFrame` | provider | – | only where frames are annotated: as `deliverBuffer` | |
//! | `receiveFrame` | user | `deliverFrame` | likewise; its parent came with the frame | |
//!
//! | `processData` | user | – | a frame (CSTS) handed over for sending | sequence-controlled: its return; buffered: with the connection |
//! | `receiveProcessData` | provider | `processData` | its octets are an operation | taken |
//! | `queueProcessData` | provider | `receiveProcessData` | taken into the queue | its turn |
//! | `radiateProcessData` | provider | `queueProcessData` | its turn | radiated |
//! | `acknowledgeProcessData` | user | `processData` | sequence-controlled: its return's octets are one | its fate is known |
//!
//! Operations that are confirmed and carry no data (`bind`, `unbind`, `start`, `stop`,
//! `scheduleStatusReport`, `getParameter`, `throwEvent`) are one transaction on each side, not
//! joined: nothing in them is known to both and used once.

use crate::pdu::{CltuId, FrameOrNotification, Pdu, ServiceInstanceId};
use crate::time::Time;
use bytes::Bytes;
use chronoscope_record::{
    self as record, ChainId, Class, Correlator, Guard, Parent, Started, Status, TransactionId,
    class,
};
use sha2::{Digest, Sha256};

pub(crate) static CLTU_TRANSFER_DATA: Class = class!("cltuTransferData");
pub(crate) static RECEIVE_CLTU: Class = class!("receiveCltu");
pub(crate) static QUEUE_CLTU: Class = class!("queueCltu");
pub(crate) static RADIATE_CLTU: Class = class!("radiateCltu");
pub(crate) static ACKNOWLEDGE_CLTU: Class = class!("acknowledgeCltu");
pub(crate) static DELIVER_BUFFER: Class = class!("deliverBuffer");
pub(crate) static RECEIVE_BUFFER: Class = class!("receiveBuffer");
pub(crate) static DELIVER_FRAME: Class = class!("deliverFrame");
pub(crate) static RECEIVE_FRAME: Class = class!("receiveFrame");
pub(crate) static PROCESS_DATA: Class = class!("processData");
pub(crate) static RECEIVE_PROCESS_DATA: Class = class!("receiveProcessData");
pub(crate) static QUEUE_PROCESS_DATA: Class = class!("queueProcessData");
pub(crate) static RADIATE_PROCESS_DATA: Class = class!("radiateProcessData");
pub(crate) static ACKNOWLEDGE_PROCESS_DATA: Class = class!("acknowledgeProcessData");
pub(crate) static TAKE_CLTU: Class = class!("takeCltu");
static BIND: Class = class!("bind");
static UNBIND: Class = class!("unbind");
static START: Class = class!("start");
static STOP: Class = class!("stop");
static SCHEDULE: Class = class!("scheduleStatusReport");
static GET_PARAMETER: Class = class!("getParameter");
static THROW_EVENT: Class = class!("throwEvent");

/// Octets of a frame that its name is made of: the header, and what follows it.
const NAMED_OCTETS: usize = 64;
/// Most octets of a private annotation (CCSDS 911.1).
const ANNOTATION_MAX: usize = 128;

/// Common part of the names of one session's chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChainKey {
    high: u64,
    low: u64,
}

/// The root of a chain, as both sides name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChainRoot {
    chain: ChainId,
    id: TransactionId,
}

impl ChainKey {
    /// Key of an FCLTU session, from the octets of the time in its START return.
    pub(crate) fn of_forward(instance: &ServiceInstanceId, start: Time) -> Self {
        let mut hash = Self::instance_hash(instance);
        match start {
            Time::Micro(octets) => hash.update(octets),
            Time::Pico(octets) => hash.update(octets),
        }
        Self::from_hash(hash)
    }

    /// Key of the frames of the Forward Frame service since a START, from its invoke id. Our users
    /// begin invoke ids at a different number in each association.
    pub(crate) fn of_frames(
        instance: &crate::csts::pdu::ServiceInstanceId,
        session: crate::csts::pdu::InvokeId,
    ) -> Self {
        let mut hash = Sha256::new();
        hash.update(instance.to_string());
        hash.update([0]);
        hash.update(session.to_be_bytes());
        Self::from_hash(hash)
    }

    /// Key of the transfer buffers of an instance.
    pub(crate) fn of_return(instance: &ServiceInstanceId) -> Self {
        Self::from_hash(Self::instance_hash(instance))
    }

    fn instance_hash(instance: &ServiceInstanceId) -> Sha256 {
        let mut hash = Sha256::new();
        for (attribute, value) in &instance.0 {
            hash.update(attribute.0.to_be_bytes());
            hash.update(value);
            hash.update([0]);
        }
        hash
    }

    fn from_hash(hash: Sha256) -> Self {
        let digest = hash.finalize();
        let half = |from: usize| {
            digest[from..from + 8].iter().fold(0, |all, octet| all << 8 | u64::from(*octet))
        };
        Self { high: half(0), low: half(8) }
    }

    /// The root of a CLTU's, or a frame's, chain.
    pub(crate) fn cltu(self, cltu: CltuId) -> ChainRoot {
        self.root(u64::from(cltu))
    }

    /// The root of a transfer buffer's chain; none where it begins with a notification.
    pub(crate) fn buffer(self, parts: &[FrameOrNotification]) -> Option<ChainRoot> {
        let Some(FrameOrNotification::Frame(frame)) = parts.first() else { return None };
        let mut word = frame.data.len() as u64;
        let time: &[u8] = match &frame.earth_receive_time {
            Time::Micro(octets) => octets,
            Time::Pico(octets) => octets,
        };
        let named = &frame.data[..frame.data.len().min(NAMED_OCTETS)];
        for octets in time.chunks(8).chain(named.chunks(8)) {
            let mut whole = [0; 8];
            whole[..octets.len()].copy_from_slice(octets);
            word = mix(word.rotate_left(23) ^ u64::from_be_bytes(whole));
        }
        Some(self.root(word))
    }

    fn root(self, word: u64) -> ChainRoot {
        let low = mix(self.low ^ mix(word));
        // An id of 0 would be nobody's.
        let id = mix(self.high ^ low).max(1);
        ChainRoot { chain: ChainId::from_halves(self.high, low), id: TransactionId(id) }
    }
}

/// The finaliser of SplitMix64: every bit of the word touches every bit of what comes out.
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl ChainRoot {
    /// Correlator with which a transaction under the root begins.
    pub(crate) fn correlator(self) -> Correlator {
        Correlator::foreign(self.chain, self.id)
    }

    /// Starts the root itself.
    pub(crate) fn start(self, class: &Class) -> Started {
        let mut started = class.start_under(Parent::Nobody);
        // Always taken: a correlator without ancestors contradicts no class.
        started.take_over(&self.correlator());
        started
    }
}

/// Whether anything is recorded: asked once, so that nothing is paid for where it is not.
pub(crate) fn is_on() -> bool {
    record::ring_path().is_some()
}

/// The correlator of an open transaction as a private annotation has room for it.
pub(crate) fn annotation(guard: &Guard) -> Bytes {
    Bytes::copy_from_slice(&guard.correlator().to_bytes(ANNOTATION_MAX))
}

/// The correlator in a private annotation, if it is one of ours.
pub(crate) fn from_annotation(annotation: &[u8]) -> Option<Correlator> {
    Correlator::decode(annotation).ok()
}

/// The class of a confirmed operation without data; none for others.
pub(crate) fn class_of(invocation: &Pdu) -> Option<&'static Class> {
    match invocation {
        Pdu::Bind(_) => Some(&BIND),
        Pdu::Unbind(_) => Some(&UNBIND),
        Pdu::Start { .. } => Some(&START),
        Pdu::Stop { .. } => Some(&STOP),
        Pdu::ScheduleStatusReport { .. } => Some(&SCHEDULE),
        Pdu::GetParameter { .. } => Some(&GET_PARAMETER),
        Pdu::ThrowEvent(_) => Some(&THROW_EVENT),
        _ => None,
    }
}

/// BIND, which is the association's own.
pub(crate) fn bind() -> Started {
    BIND.start()
}

/// UNBIND, likewise.
pub(crate) fn unbind() -> Started {
    UNBIND.start()
}

/// GOOD where it was done, FAILED where it was refused.
pub(crate) fn status(is_good: bool) -> Status {
    if is_good { Status::Good } else { Status::Failed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse_instance;
    use crate::pdu::{AntennaId, TransferData};

    fn instance() -> ServiceInstanceId {
        parse_instance("sagr=1.spack=VST-PASS0001.fsl-fg=1.cltu=cltu1").unwrap()
    }

    /// Both sides must compute the same names in all versions: fixed examples.
    #[test]
    fn names_are_kept() {
        let key = ChainKey::of_forward(&instance(), Time::Micro([0x62, 0x49, 0, 0, 0, 1, 0, 2]));
        assert_eq!(key.cltu(7), KEPT);
        assert_ne!(key.cltu(8), key.cltu(7));
        let later = ChainKey::of_forward(&instance(), Time::Micro([0x62, 0x49, 0, 0, 0, 1, 0, 3]));
        assert_ne!(later.cltu(7), key.cltu(7));
    }

    const KEPT: ChainRoot = ChainRoot {
        chain: ChainId(0x1284e4fee4ec75565058a8d6e60a362f),
        id: TransactionId(0x7161711a2e6a183c),
    };

    #[test]
    fn a_buffer_is_named_by_its_first_frame() {
        let frame = |octet: u8| {
            FrameOrNotification::Frame(TransferData {
                credentials: None,
                earth_receive_time: Time::Micro([1; 8]),
                antenna: AntennaId::Local(Bytes::from_static(b"A")),
                data_link_continuity: 0,
                quality: None,
                private_annotation: None,
                data: Bytes::from(vec![octet; 100]),
            })
        };
        let key = ChainKey::of_return(&instance());
        assert_eq!(key.buffer(&[frame(1), frame(2)]), key.buffer(&[frame(1), frame(3)]));
        assert_ne!(key.buffer(&[frame(1)]), key.buffer(&[frame(2)]));
        assert_eq!(key.buffer(&[]), None);
    }
}
