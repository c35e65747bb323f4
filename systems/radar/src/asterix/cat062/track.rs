//! A system track: all its items.

use super::super::values::{DataSource, TimeOfDay};
use super::Position;
use super::derived::AircraftDerived;
use super::flight_plan::FlightPlan;
use super::items::{
    Acceleration, BarometricAltitude, Cartesian, ModeA, ModeOfMovement, Status,
    TargetIdentification, Velocity,
};
use super::quality::{Accuracy, UpdateAges};

/// A system track. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Track {
    /// Data source (I062/010).
    pub source: DataSource,
    /// I062/015: which service of the tracker.
    pub service_id: Option<u8>,
    /// I062/070: of the state that position and velocity describe.
    pub time_of_day: Option<TimeOfDay>,
    /// Position in WGS-84 (I062/105).
    pub position: Option<Position>,
    /// I062/100: in the system's plane.
    pub cartesian: Option<Cartesian>,
    /// Velocity (I062/185).
    pub velocity: Option<Velocity>,
    /// Acceleration (I062/210).
    pub acceleration: Option<Acceleration>,
    /// Mode 3/A code (I062/060).
    pub mode_a: Option<ModeA>,
    /// Target identification (I062/245).
    pub target_identification: Option<TargetIdentification>,
    /// Aircraft derived data (I062/380).
    pub derived: Option<AircraftDerived>,
    /// Track number (I062/040).
    pub track_number: Option<u16>,
    /// Track status (I062/080).
    pub status: Option<Status>,
    /// I062/290: how long ago the last updates were.
    pub update_ages: Option<UpdateAges>,
    /// Mode of movement (I062/200).
    pub mode_of_movement: Option<ModeOfMovement>,
    /// I062/136: last valid measured flight level, in steps of 1/4.
    pub measured_flight_level: Option<f64>,
    /// I062/130: geometric altitude, in feet, in steps of 6.25.
    pub geometric_altitude_ft: Option<f64>,
    /// Barometric altitude (I062/135).
    pub barometric_altitude: Option<BarometricAltitude>,
    /// I062/220: calculated rate of climb, in feet a minute, up positive, in steps of 6.25.
    pub rate_of_climb_ft_min: Option<f64>,
    /// I062/390: of the flight plan that the track is correlated with.
    pub flight_plan: Option<FlightPlan>,
    /// I062/500: estimated standard deviations.
    pub accuracy: Option<Accuracy>,
    /// I062/RE without its length octet, at most 254 octets; empty for none.
    pub reserved_expansion: Vec<u8>,
    /// I062/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}
