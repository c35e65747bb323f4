//! ASTERIX from outside: round trips, broken input, independent implementations, recordings.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

mod broken;
mod check;
mod corpus;
mod early;
mod flat;
mod flat_sensors;
mod foreign;
mod oracle;
mod recordings;
mod round_trip;
mod samples;
mod samples_sensors;
mod sensors_decoder;
