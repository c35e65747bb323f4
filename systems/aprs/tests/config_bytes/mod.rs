//! What fuzzing of configuration files checks: `fuzz/fuzz_targets/aprs_config.rs`.

#![allow(unreachable_pub)] // used by the fuzz target as well

use chronoscope_aprs::config::{self, Surroundings};
use std::io;
use std::net::IpAddr;
use std::path::Path;

/// Any bytes as a configuration, and as the ACL file that it names: no panic, and an answer that
/// can be used. Names have no addresses here, so that nothing is asked of the network.
pub fn check_config(bytes: &[u8]) {
    let read = |_: &Path| -> io::Result<Vec<u8>> { Ok(bytes.to_vec()) };
    let resolve = |host: &str| -> io::Result<Vec<IpAddr>> {
        if host.len().is_multiple_of(2) {
            Err(io::ErrorKind::NotFound.into())
        } else {
            Ok(Vec::new())
        }
    };
    let surroundings = Surroundings { read: &read, resolve: &resolve };
    let lines = bytes.split(|octet| *octet == b'\n').count();
    match config::parse(bytes, "x.conf".as_ref(), &surroundings) {
        Ok(config) => {
            assert!(!config.listeners.is_empty() && (1..=32).contains(&config.workers));
            assert!(config.stale_after.as_secs() > 0 && config.q_protocol.is_ascii_uppercase());
            let servers = config.peer_groups.iter().flat_map(|group| &group.peers);
            assert!(servers.map(|peer| peer.address).all(|address| address.port() > 0));
        }
        Err(errors) => {
            assert!(!errors.0.is_empty());
            for error in &errors.0 {
                let at = error.at.map_or((1, 1), |at| (at.line as usize, at.column as usize));
                assert!((1..=lines).contains(&at.0) && (1..=bytes.len() + 1).contains(&at.1));
                assert!(error.to_string().len() > "x.conf: ".len());
            }
        }
    }
}
