//! The whole of a configuration file.

use super::frames::ForwardFrame;
use super::instance::Instance;
use super::party::{Peer, Provider, Security, Transport, User};
use serde::Deserialize;
use toml::Spanned;

/// A whole file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How connections are.
    #[serde(default)]
    pub transport: Transport,
    /// How one proves who one is, where nothing else is said of a peer.
    #[serde(default)]
    pub security: Security,
    /// The provider itself; without it `sle-provider` has nothing to do.
    pub provider: Option<Provider>,
    /// The user itself; without it `sle-user` has nothing to do.
    pub user: Option<User>,
    /// Others, by their identifiers. A provider and a user in one file know each other.
    #[serde(default)]
    pub peer: Vec<Spanned<Peer>>,
    /// Service instances.
    #[serde(default)]
    pub instance: Vec<Spanned<Instance>>,
    /// Instances of the Forward Frame service (CSTS).
    #[serde(default)]
    pub forward_frame: Vec<Spanned<ForwardFrame>>,
    /// The text, for lines of findings.
    #[serde(skip)]
    pub(super) text: String,
}
