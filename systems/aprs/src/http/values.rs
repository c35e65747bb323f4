//! Values as every answer of the status port has them: the server's name and version, addresses,
//! times, sentences.

use crate::config::Config;
use crate::status::{ClientStatus, Role};
use std::net::SocketAddr;

/// Name of the server for tools.
pub(super) const SOFTWARE: &str = "aprs-server";

/// The version that is sent to others.
pub(super) fn version(config: &Config) -> &str {
    config.fake_version.as_deref().unwrap_or(env!("CARGO_PKG_VERSION"))
}

/// An address as it is shown. A peer's is without the port, which is not public.
pub(super) fn address(client: &ClientStatus, address: SocketAddr) -> String {
    match client.role {
        Role::Peer if address.is_ipv6() => format!("[{}]", address.ip()),
        Role::Peer => address.ip().to_string(),
        Role::Client(_) | Role::Uplink(_) => address.to_string(),
    }
}

/// UTC seconds of UTC nanoseconds.
pub(super) fn seconds(utc_ns: i64) -> i64 {
    utc_ns.div_euclid(1_000_000_000)
}

/// A sentence of the documentation as people read it.
pub(super) fn in_words(sentence: &str) -> String {
    sentence.replace('`', "")
}
