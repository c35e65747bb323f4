//! Rules over stored rows: counting, the past, and the alarms of a running server.
//!
//! Both the past ([`rule_histories`]) and a server ([`RuleWatch`]) count with [`count`] and judge with
//! [`chronoscope_rules::Evaluation`], so that a rule that is tested on stored rows does the same
//! when it is served. A server differs in two ways: a row that comes more than [`count::RECOUNT_NS`] late
//! is not counted any more, and a window in which nobody collected is not judged.

mod count;
mod history;
mod journal;
mod journal_content;
mod notify;
mod run;
mod send;
mod shared_journal;
mod slot_counts;
mod watch;

pub use history::{RuleHistories, RuleHistory, rule_histories};
pub(crate) use journal_content::Acknowledgement;
pub(crate) use watch::{RuleStanding, RuleWatch};
