//! The words of Chronoscope, and the arithmetic that every room must agree on.
//!
//! A [`Transaction`] is one timed piece of work and a [`Class`](ClassName) is its name. A
//! [`Correlator`] travels with a message, so that the receiver's transaction knows its parent, and
//! carries the chain's ancestors with it. A [`Record`] is the fixed-size form of a transaction that
//! rings and logs hold; [`Names`] turns its numbers back into words.
//!
//! ```
//! use chronoscope_model::{Ancestor, ClassId, Correlator, ProcessId, ChainId, TransactionId};
//!
//! let root = Ancestor { class: ClassId::of("MRTS", "decodePlots"), start_ns: 1_000 };
//! let sent = Correlator::root(ChainId(7), TransactionId(1), ProcessId(3), root);
//! let received = Correlator::decode(&sent.to_bytes(512)).unwrap();
//! assert_eq!(received, sent);
//! assert_eq!(received.root_start_ns(), Some(1_000));
//! ```
//!
//! Limits: a correlator has at most 512 bytes ([`correlator::MAX_BYTES`]) and
//! [`correlator::MAX_ANCESTORS`] ancestors; the context of an open transaction at most
//! [`context::MAX_BYTES`] bytes, a record's with its links [`context::STORED_MAX_BYTES`].
//!
//! Not here: reading clocks (`clock`), taking measurements (`record`), files (`store`).

pub mod attribute;
mod batch;
pub mod context;
pub mod correlator;
mod extras;
mod field;
mod further_parent;
pub mod hash;
mod ids;
mod load;
mod names;
mod record;
#[cfg(feature = "arrow")]
pub mod schema;
mod status;
mod transaction;

pub use batch::Batch;
pub use correlator::{Ancestor, Correlator, CorrelatorBytes, CorrelatorError};
pub use extras::Extras;
pub use field::Field;
pub use further_parent::{FurtherParent, ParentRoot};
pub use ids::{ChainId, ClassId, PathId, ProcessId, TransactionId};
pub use load::Load;
pub use names::{ClassName, Names, PROCESS_CONTEXT_MAX_BYTES, ProcessName};
pub use record::{Flags, NO_PROCESS_CPU, Record};
pub use status::{Status, UnknownStatus};
pub use transaction::{Excerpt, Transaction};
