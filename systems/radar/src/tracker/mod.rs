//! The multi-radar tracker: from the plots of several radars to one track for each aircraft.
//!
//! A block of plots goes through [`Radars::convert`] (polar measurement to the shared plane, with
//! the measurement's own covariance) and [`Tracker::correlate`], plot by plot: the address decides
//! where there is one, else the tracks around are gated through a [grid](grid::Grid), and plots that
//! compete for the same tracks are [assigned](assignment::assign) together. A plot updates its
//! track's [`imm::Imm`] filter, or begins a new track. Subscribers hear of it when it is of an
//! aircraft with a probability of 0.999 and has three plots: `existence.rs`, with a clutter map of
//! each radar (`clutter.rs`). [`output::record`] is what they hear.
//!
//! ```
//! use chronoscope_radar::tracker::{Measurement, Outcome, Settings, Tracker};
//! use chronoscope_radar::tracker::identity::Identity;
//! use chronoscope_radar::tracker::linear::{Sym2, Vec2};
//! let mut tracker = Tracker::new(Settings::default());
//! let mut outcomes = Vec::new();
//! for turn in 0..3 {
//!     let time_s = 8.0 * f64::from(turn);
//!     let plot = Measurement {
//!         radar: 0,
//!         time_s,
//!         position: Vec2::new(220.0 * time_s, 5_000.0),
//!         covariance: Sym2::isotropic(100.0 * 100.0),
//!         identity: Identity { mode_3a: Some(0o1234), ..Identity::default() },
//!         flight_level: Some(330.0),
//!         slant: None,
//!     };
//!     tracker.begin_block(1);
//!     outcomes.push(tracker.correlate(&[plot], 0));
//! }
//! assert!(matches!(outcomes[..], [Outcome::Initiated(a), Outcome::Tentative(b), Outcome::Updated(c)]
//!     if a == b && b == c));
//! ```
//!
//! Systematic errors of the radars are estimated from aircraft that several radars see and
//! corrected in [`Radars::convert`] (`registration.rs` states what can be estimated).
//!
//! Irregular data of a radar is detected in [`regularity`]. Copies of reports are dropped before all
//! else (`duplicates.rs`), wrong clocks are found and corrected (`clocks.rs`), the noise of each radar
//! is learnt (`precision.rs`), and where it sees (`coverage.rs`). An aircraft that tells no level is
//! taken to be where others of its speed fly (`traffic_levels.rs`). All settings are in one file
//! ([`Settings::from_toml`]).
//!
//! Limits: [`TRACKS_MAX`] tracks, 255 radars, of which 64 are registered. Not here: the vertical
//! plane beyond Mode C, safety nets.

mod adsb_reference;
pub mod assignment;
mod association;
mod clocks;
mod clutter;
mod core;
mod costs;
mod coverage;
mod duplicates;
mod existence;
mod final_recording;
pub mod grid;
pub mod identity;
pub mod imm;
mod intentions;
mod inverse;
pub mod kinematic;
mod leg_rate;
mod life;
pub mod linear;
mod measurement;
mod numbers;
mod outliers;
pub mod output;
mod pair;
mod paths;
mod polar_cells;
mod precision;
mod processor;
mod radars;
mod raw_recording;
pub(crate) mod recording;
mod registration;
pub mod regularity;
mod remembered;
mod reports;
mod sensor_state;
mod sensors;
pub mod server;
mod settings;
pub mod sites;
mod slower;
pub mod smoothing;
mod stamped_arrivals;
mod status;
pub(crate) mod surveillance;
mod table;
mod track;
mod traffic_levels;
mod transponders;
mod truncated_times;
mod vertical;

pub use self::core::{Counts, Outcome, Tracker};
pub use clocks::{ClockLimits, ClockVerdict, RadarClock};
pub use clutter::ClutterSettings;
pub use measurement::{Measurement, Slant};
pub use numbers::Foreign;
pub use outliers::Outliers;
pub use pair::{PairSettings, PairSummary};
pub use processor::{Processor, ProcessorCounts, SPECIAL_PURPOSE_OCTETS_MAX};
pub use radars::{RadarBias, Radars, Unusable};
pub use sensors::{Precision, Sensors};
pub use settings::{Coasting, Gates, Initiation, Settings, SettingsError};
pub use sites::Known;
pub use surveillance::Surveillance;
pub use table::{Slot, TRACKS_MAX};
pub use track::{Phase, Sighting, Track};
pub use transponders::Transponders;
pub use vertical::Vertical;
