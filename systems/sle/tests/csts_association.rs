//! Associations of cross support transfer services: both state tables, credentials, timers.
#![allow(clippy::unwrap_used)]

#[path = "csts_association/credentials.rs"]
mod credentials;
#[path = "csts_association/link.rs"]
mod link;
#[path = "csts_association/octets.rs"]
mod octets;
#[path = "csts_association/provider_table.rs"]
mod provider_table;
#[path = "csts_association/user_table.rs"]
mod user_table;
