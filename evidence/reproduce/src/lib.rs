//! The published tables and pictures of five documents, ours beside them.
//!
//! [`chronoscope_published`] has the documents' figures as data. [`plan`] lists the experiments and
//! the items that each yields; [`series`] runs the due ones and stores each outcome; [`report`]
//! compares everything: one self-contained page, and the same as JSON.
//!
//! An experiment runs programs of this workspace by their command lines and reads their output.
//! Nothing is measured in this process, and nothing unmeasured is shown as measured: an item
//! without results is shown as missing, with the reason.
//!
//! [`testbed`] is the radar chain on several hosts, a program of its own (`radar-testbed`).
//!
//! Not here: the measurements themselves. They are in the programs, and in their documentation.
//!
//! # Where to look
//!
//! * the published figures: `evidence/published`; the order of the experiments: `plan.rs`;
//!   `docs/reproduce.md`
//! * what of the documents works, and the commands that check it: `coverage.rs`, `docs/coverage.md`
//! * the radar chain with 110 displays on several hosts: `testbed/mod.rs`,
//!   `docs/radar-testbed.md`

pub mod coverage;
pub mod experiments;
pub mod machine;
pub mod outcome;
pub mod picture;
pub mod plan;
pub mod programs;
pub mod progress;
pub mod report;
pub mod run;
pub mod series;
pub mod testbed;
