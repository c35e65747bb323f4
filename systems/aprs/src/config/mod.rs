//! Configuration of the server: aprsc's configuration files, with a few directives more.
//!
//! ```no_run
//! let config = chronoscope_aprs::config::read("aprsc.conf".as_ref())?;
//! println!("{} has {} ports", config.server_id, config.listeners.len());
//! # Ok::<(), chronoscope_aprs::config::ConfigErrors>(())
//! ```

mod acl;
mod changes;
mod endpoints;
mod fault;
mod lines;
mod ports;
mod read;
mod reader;
mod settings;
mod value;

pub use acl::Acl;
pub use changes::changes;
pub use endpoints::{Listener, Peer, PeerGroup, PortKind, Protocol, TlsFiles, Uplink, UplinkKind};
pub use fault::{ConfigError, ConfigErrors, Fault, Position};
pub use lines::quote;
pub use read::{DIRECTIVES, parse, read};
pub use reader::{FILE_SIZE_MAX, Surroundings};
pub use settings::{Batching, Config};

#[cfg(test)]
mod tests;
