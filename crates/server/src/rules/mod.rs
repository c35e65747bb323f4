//! Rules over stored rows: counting, the past, and the alarms of a running server.
//!
//! Both the past ([`rule_history`]) and a server ([`RuleWatch`]) count with [`count`] and judge with
//! [`chronoscope_rules::Evaluation`], so that a rule that is tested on stored rows does the same
//! when it is served. A server differs in two ways: a row that comes more than [`RECOUNT_NS`] late
//! is not counted any more, and a window in which nobody collected is not judged.

mod count;
mod history;
mod journal;
mod notify;
mod send;
mod watch;

pub(crate) use journal::Acknowledgement;
pub use history::{RuleHistory, rule_history};
pub(crate) use watch::{RuleStanding, RuleWatch};

/// Time for which slots are counted again: rows that are this late are still seen.
const RECOUNT_NS: i64 = 120_000_000_000;
/// Slots that are counted at a time span at most so long, which bounds the memory.
const CHUNK_NS: i64 = 3_600_000_000_000;
