//! Quality of a tracker: its tracks against the truth, or against another tracker's.
//!
//! [`Judge`] decides, instant by instant, which track follows which aircraft, and counts missing,
//! doubled, false and swapped tracks; tests of the tracker use it too. [`against_truth`] compares a
//! stream of category 062 ([`Reports`]) with a file of true positions ([`Truths`]) and adds the
//! errors of positions and levels; [`Requirement`] has the limits of ED-142 and ESASSP. [`against_tracks`]
//! compares with recorded system tracks instead, whose errors are unknown: its results are
//! differences. Both say where, on whom and how late ([`Details`]), which [`html`] draws, and where no
//! truth is known a reference is reconstructed from the plots of all sensors ([`reconstruct`]).
//! [`dubious`] judges tracks by themselves.
//!
//! All positions are compared in one stereographic plane, where lengths are true to 0.1 % within
//! 400 km of its origin. Memory is that of the reports, some 130 octets each, and of the truth, 40
//! octets a line. Not here: accelerations, modes of movement and the geometric height.

mod contents;
mod coverage;
mod detail;
mod dubious;
mod figures;
pub mod html;
mod html_tables;
mod judge;
mod nearest;
mod part;
mod reconstruct;
mod reports;
mod requirement;
pub mod text;
mod tracks;
mod truth;
mod verdict;
mod versus;
mod within;

pub use contents::Content;
pub use coverage::{Coverage, CoverageSource};
pub use dubious::{Dubious, DubiousTrack, dubious};
pub use figures::{Band, Details, Figures, Latency, MapCell, Target};
pub use judge::{Counted, Judge, Seen, There};
pub use part::Part;
pub use reconstruct::{ReconstructError, reconstruct};
pub use reports::{Report, Reports, ReportsError};
pub use requirement::{Finding, Requirement, Separation};
pub use tracks::{Difference, Residuals, against_tracks};
pub use truth::{Truths, TruthsError};
pub use verdict::Verdict;
pub use versus::{Evaluation, Settings, against_truth, against_truth_where};
pub use within::{ErrorKind, ErrorLimit, ErrorLimitError, USUAL_LIMITS, Within, limits};
