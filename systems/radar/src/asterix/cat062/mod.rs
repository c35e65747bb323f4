//! Category 062: system tracks of a tracker.
//!
//! EUROCONTROL-SPEC-0149-9, edition 1.20. What a track update, its correlation with a flight plan
//! and its display need is decoded. Stepped over at their exact length: I062/110 (Mode 5), 120,
//! 270, 295 (ages of derived data), 300, 340 (last measurement), 510 (composed track number), and
//! the subfields of I062/380 and I062/390 that [`AircraftDerived`] and [`FlightPlan`] lack.

mod derived;
mod fields;
mod flight_plan;
mod items;
mod quality;
mod track;

pub use super::values::LatLon as Position;
pub use derived::AircraftDerived;
pub(super) use fields::{identification_of, put_identification};
pub use flight_plan::FlightPlan;
pub use items::{
    Acceleration, BarometricAltitude, Cartesian, ModeA, ModeOfMovement, Status,
    TargetIdentification, Velocity,
};
pub use quality::{Accuracy, UpdateAges};
pub use track::Track;
