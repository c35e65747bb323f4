//! Load and response time of a whole network: the load by host, and the response time of any path.
//!
//! [`counters`] are the counters of hosts; [`table`] makes the three tables of activity from them;
//! [`probe`] measures round trips, and [`answer`] is the server that replies; [`path`] predicts
//! round trips between any two hosts from the properties of the elements between them. [`matrix`]
//! measures all pairs of hosts, and [`verdict`] finds the limit of a path, from the measurements of
//! [`survey`].
//!
//! Source: J. Navratil, *Time and Load Measuring in the SPS/LEP Control System*, CERN 1990.
//!
//! # Where to look
//!
//! * the load of a network: `rows.rs`, `activity.rs`, `group_load.rs`, `docs/net.md`
//! * response times of servers, and kinds of requests: `probe/prober.rs`, `probe/rounds.rs`,
//!   `docs/net-rtt.md`
//! * the server that replies: `answer/mod.rs`, `docs/net-answer.md`
//! * the response time of a path: `path/mod.rs`, `docs/net-path.md`; its limit: `verdict.rs`,
//!   `survey.rs`

pub mod activity;
pub mod answer;
pub mod counters;
pub mod group_load;
pub mod groups;
pub mod matrix;
pub mod path;
pub mod probe;
pub mod report;
pub mod rows;
pub mod scan;
pub mod survey;
pub mod table;
pub mod verdict;
