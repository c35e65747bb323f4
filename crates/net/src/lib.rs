//! Load and response time of a whole network: who loads it, and how long any path takes.
//!
//! [`counters`] are what hosts count; [`table`] makes the three tables of activity from them;
//! [`path`] predicts the response time between any two hosts from what its elements are like.
//!
//! Nothing here reads a clock or a socket.
//!
//! Source: J. Navratil, *Time and Load Measuring in the SPS/LEP Control System*, CERN 1990.

pub mod counters;
pub mod path;
pub mod table;
