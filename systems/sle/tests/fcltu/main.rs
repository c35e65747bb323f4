//! FCLTU's provider and user as CCSDS 912.1 has them: a test for each transition of the state
//! table, each diagnostic, and each notification.

#![allow(clippy::unwrap_used)]

mod each;
mod notifications;
mod operations;
mod station;
mod transfer;
mod transitions;
mod user;
mod whole;
