//! The whole of a configuration file.

use super::frames::ForwardFrameTable;
use super::instance::InstanceTable;
use super::link::{LinkTable, LinksTable};
use super::party::{PeerTable, ProviderTable, SecurityTable, TransportTable, UserTable};
use serde::Deserialize;
use toml::Spanned;

/// A whole file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Settings of connections.
    #[serde(default)]
    pub transport: TransportTable,
    /// Authentication, for peers without their own setting.
    #[serde(default)]
    pub security: SecurityTable,
    /// The provider itself; without it `sle-provider` has nothing to do.
    pub provider: Option<ProviderTable>,
    /// The user itself; without it `sle-user` has nothing to do.
    pub user: Option<UserTable>,
    /// Others, by their identifiers. A provider and a user in one file know each other.
    #[serde(default)]
    pub peer: Vec<Spanned<PeerTable>>,
    /// Service instances of SLE.
    #[serde(default)]
    pub instance: Vec<Spanned<InstanceTable>>,
    /// Instances of the Forward Frame service (CSTS).
    #[serde(default)]
    pub forward_frame: Vec<Spanned<ForwardFrameTable>>,
    /// `sle-user link`.
    #[serde(default)]
    pub links: LinksTable,
    /// Links that `sle-user link` keeps up.
    #[serde(default)]
    pub link: Vec<Spanned<LinkTable>>,
    /// The text, for lines of findings.
    #[serde(skip)]
    pub(crate) text: String,
}
