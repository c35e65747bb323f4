//! ASTERIX from outside: round trips, broken input, independent implementations, recordings.

mod broken;
mod check;
mod corpus;
mod flat;
mod oracle;
mod recordings;
mod round_trip;
mod samples;
