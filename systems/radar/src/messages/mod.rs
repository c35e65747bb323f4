//! The message server: gives tracks their flight plans and passes them on to the displays.
//!
//! For every track message from the tracker: `TrackStore_updateTrack`, child of the tracker's
//! `Correlate` by the correlator in the Special Purpose field, correlates a flight plan
//! ([`PlanCorrelation`]) and forwards the record with I062/390 and its own correlator. A batch is
//! flushed as soon as what has arrived is worked off; nothing waits for a fuller packet.
//!
//! A display that does not read is cut by [`Hub`](crate::link::Hub) before it harms others. A
//! display that connects hears of each track with its next update, at the latest one antenna
//! turn later.
//!
//! Whoever asks ([`query`]) is answered from the plans and from the [`Situation`], which is kept
//! only where there may be questions.
//!
//! Not here: flight plan updates while running, manual correlation, several trackers at once.

mod forward;
mod plan_correlation;
pub mod query;
pub mod server;
mod situation;

pub use forward::{Forwarder, ForwarderCounts};
pub use plan_correlation::{Basis, PlanCorrelation, TrackView};
pub use situation::{AreaEntry, Heard, HourLoad, Now, Situation};
