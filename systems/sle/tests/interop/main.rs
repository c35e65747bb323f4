//! Sessions with independent implementations: the SLE User Test Library (Java) as user and as
//! provider, the Python package `sle` as user. Skipped, loudly, where they cannot be had.
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

mod files;
mod peer;
mod python_user;
mod station;
mod utl_link;
mod utl_provider;
mod utl_user;
