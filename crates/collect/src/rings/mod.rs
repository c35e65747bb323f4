//! The rings of a host as people look at them: a list of its programs, and what one ring has at
//! this moment. The same for the rings of this host and for those that an agent answers for.

mod counts;
mod list;
mod list_message;
mod message;
mod report;
mod ring_message;

pub use list::{RINGS_MAX, RingList, RingSummary};
pub use message::{
    ListRings, MESSAGE_MAX, Packed, PackedRing, QUESTIONS, ReadRing, RingAnswer, RingAnswerKind,
    RingMessageError, RingQuestion, RingSubject, RingsFromAgent, RingsMessage,
};
pub use report::{CLASSES_MAX, LAST_MAX, OPEN_MAX, RingReport};
