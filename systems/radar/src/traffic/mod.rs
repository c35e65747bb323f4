//! Air traffic for a scenario: the aircraft, and their positions at any time.
//!
//! [`live`] and [`day`] are composed of recorded flights; [`circles`] and the crossings, climbs and
//! holding stacks of [`patterns`] are artificial. None is a recording of the traffic over Germany;
//! [`Aircraft::composed`] and the flight plans ([`plans`]) state which parts of an aircraft are
//! recorded and which are made up.

mod aircraft;
pub mod circles;
mod clearance;
pub mod day;
mod deconflict;
pub mod flights;
pub mod live;
pub mod made;
mod names;
pub mod patterns;
pub mod plans;
mod racetrack;

pub use aircraft::{Aircraft, AircraftState, Composed};
