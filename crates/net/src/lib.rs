//! Load and response time of a whole network: who loads it, and how long any path takes.
//!
//! [`counters`] are what hosts count; [`table`] makes the three tables of activity from them;
//! [`probe`] measures round trips, and [`answer`] is the server that replies; [`path`] predicts
//! those between any two hosts from what the elements between them are like. [`matrix`] measures
//! all pairs of hosts, and [`verdict`] says what limits a path, from what [`survey`] measures.
//!
//! Source: J. Navratil, *Time and Load Measuring in the SPS/LEP Control System*, CERN 1990.

pub mod activity;
pub mod answer;
pub mod counters;
pub mod matrix;
pub mod path;
pub mod probe;
pub mod report;
pub mod rows;
pub mod scan;
pub mod survey;
pub mod table;
pub mod verdict;
