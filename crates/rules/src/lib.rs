//! Rules of alarms: the file that they are written in, what they judge, and when they fire and clear.
//!
//! A [`Rule`] is a condition on the durations, the number or the regularity of transactions that ended
//! in one or several time windows. [`CountSeries`] has the counts, [`Condition::judge`] compares the windows that
//! end at an instant with the condition, and [`Alarm`] turns judgements into [`Transition`]s with
//! hysteresis and reminders. [`Evaluation`] is the three together. All of it is pure: the same counts
//! give the same transitions, live and for stored rows.
//!
//! ```
//! use chronoscope_rules::{Change, Evaluation, RuleFile, WindowCounts};
//!
//! let text = "[[limit]]\nclass = 'redraw'\nlimit = '20ms'\nfires_after = 2";
//! let file = RuleFile::parse(text)?;
//! let mut evaluation = Evaluation::new(file.rules[0].clone());
//! let slow = WindowCounts { count: 100, above: 7, ..WindowCounts::default() };
//! evaluation.counts.replace_from(0, [slow, slow]);
//! assert_eq!(evaluation.judge(1).transition, None);
//! assert_eq!(evaluation.judge(2).transition.map(|it| it.change), Some(Change::Fired));
//! # Ok::<(), chronoscope_rules::RuleFileError>(())
//! ```
//!
//! Limits: an instant is the end of a slot, and a slot is [`Rule::step_ns`] long. Windows slide by
//! slots. Sums are kept for as many slots as the longest window has.
//!
//! Not here: counting (`server`), sending notifications, reading files and clocks.

mod alarm;
mod condition;
mod destination;
mod evaluation;
mod file;
mod rule;
mod series;
mod words;

pub use alarm::{Alarm, AlarmState, Change, Transition};
pub use condition::{
    BurnWindow, Condition, GROUPS_MAX, Judgement, PAST_WINDOWS, Unjudged, WindowCounts,
};
pub use destination::{Destination, Email, FIELDS, Recipient, fill_in};
pub use evaluation::{Evaluation, Judged};
pub use file::{RuleFile, RuleFileError};
pub use rule::{Arrivals, Rule, RuleSubject};
pub use series::CountSeries;
pub use words::period;
