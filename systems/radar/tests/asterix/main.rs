//! ASTERIX from outside: round trips, broken input, independent implementations, recordings.

mod broken;
mod flat;
mod oracle;
mod recordings;
mod round_trip;
mod samples;
