//! Profiles of a system by class of transaction, and differences between two profiles.
//!
//! Pure functions on sums; the caller supplies them from a store or a file.
//!
//! * [`compare`]: classes that run more often, take longer or use more CPU than before.
//! * [`growth`]: each class over weeks or days, with its trend.
//! * [`capacity`]: the demand when a class occurs several times as often.
//!
//! Limits: times on one host differ with its load, without any change of the program; compare
//! profiles under similar load. Blocks of one recording are taken as independent.

mod capacity;
mod compare;
mod growth;
mod load_profile;

pub use capacity::{Demand, HostDemand, Path, capacity};
pub use compare::{ClassChange, ClassPresence, Comparison, Difference, Figures, compare};
pub use growth::{Growth, Period, Trend, growth};
pub use load_profile::Profile;
