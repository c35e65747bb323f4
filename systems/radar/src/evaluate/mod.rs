//! How good a tracker is: its tracks against the truth, or against another tracker's.
//!
//! [`Judge`] decides, instant by instant, which track follows which aircraft, and counts what is
//! missing, doubled, false or swapped; tests of the tracker use it too. [`against_truth`] brings a
//! stream of category 062 ([`Reports`]) and a file of true positions ([`Truths`]) before it and
//! adds the errors of positions and levels; [`Requirement`] says what ED-142 allows.
//! [`against_tracks`] compares with recorded system tracks instead, of which nobody knows the
//! error: what it gives are differences.
//!
//! All positions are compared in one stereographic plane, where lengths are true to 0.1 % within
//! 400 km of its origin. Memory is that of the reports, some 80 octets each, and of the truth, 40
//! octets a line. Not here: velocities and the geometric height.

mod judge;
mod reports;
mod requirement;
mod tracks;
mod truth;
mod versus;

pub use judge::{Counted, Judge, Seen, There};
pub use reports::{Report, Reports, ReportsError};
pub use requirement::{Finding, Requirement};
pub use tracks::{Difference, Residuals, against_tracks};
pub use truth::{Truths, TruthsError};
pub use versus::{Evaluation, Settings, Verdict, against_truth};
