//! Associations without sockets, in virtual time: every transition of the state tables, both roles,
//! credentials, timers, and peers that do what they should not.

#![allow(clippy::unwrap_used)]

mod aborts;
mod corpus;
mod credentials;
mod link;
mod octets;
mod operations;
mod provider_table;
mod timers;
mod user_table;
