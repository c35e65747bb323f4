//! The framework's data processing procedures: a test for each transition of their providers and
//! users, each diagnostic and notification, and what holds for any operations whatsoever.

#![allow(clippy::unwrap_used)]

mod any;
mod buffered;
mod sequenced;
mod service;
mod station;
mod user;
