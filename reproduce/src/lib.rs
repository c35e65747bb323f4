//! The published tables and pictures of five documents, ours beside them.
//!
//! [`published`] is what the documents print, as data. [`plan`] is which experiments there are and
//! which items each yields; [`series`] runs those that are due and keeps each as it ends;
//! [`report`] puts everything side by side: one page that needs nothing else, and the same as JSON.
//!
//! An experiment runs programs of this workspace as anybody would and reads what they print. Nothing
//! is measured in this process, and nothing that was not measured is shown as if it were: an item of
//! which there is nothing is shown as missing, with the reason.
//!
//! [`testbed`] is the radar chain on several hosts, a program of its own (`radar-testbed`).
//!
//! Not here: how anything else is measured. That is in the programs, and their documentation.

pub mod experiments;
pub mod machine;
pub mod outcome;
pub mod picture;
pub mod plan;
pub mod programs;
pub mod progress;
pub mod published;
pub mod report;
pub mod run;
pub mod series;
pub mod testbed;
