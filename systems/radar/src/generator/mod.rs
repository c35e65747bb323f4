//! Radars over traffic: what they send, and when.
//!
//! A [`Generator`] is a pure machine: the same traffic, radars and seed give the same plots at the
//! same times of the scenario. It reads no clock and sends nothing; the program `radar-generator`
//! does both, with [`Destinations`](crate::link::Destinations).

mod faults;
mod noise;
mod radar;
mod sector;
pub mod sites;
mod transmissions;
mod truth;

pub use faults::{Fault, FaultError, SPELLINGS as FAULT_SPELLINGS};
pub(crate) use noise::Noise;
pub use radar::{
    AZIMUTH_NOISE_DEG, Bias, DETECTION, LEVEL_PRESENT, MODE_A_PRESENT, RANGE_NOISE_M, Radar,
};
pub use sector::SECTORS;
pub use transmissions::{Generator, Transmission};
pub use truth::{HEADER as TRUTH_HEADER, NAMELESS, Truth, address_of};
