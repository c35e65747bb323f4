//! The configuration of provider and user: one TOML file for both programs.
//!
//! ```
//! use chronoscope_sle::config::Config;
//!
//! let config = Config::parse(r#"
//! [provider]
//! id = "STATION"
//! listen = ["127.0.0.1:0"]
//!
//! [user]
//! id = "MCC"
//!
//! [[instance]]
//! id = "sagr=1.spack=VST-PASS0001.fsl-fg=1.cltu=cltu1"
//! "#)?;
//! assert_eq!(config.instance[0].get_ref().id, "sagr=1.spack=VST-PASS0001.fsl-fg=1.cltu=cltu1");
//! assert!(config.check().iter().all(|finding| !finding.is_wrong()));
//! # Ok::<(), chronoscope_sle::config::ConfigError>(())
//! ```
//!
//! A file that is not TOML, or has an unknown key, is refused with line and column.
//! [`Config::check`] finds all contradictions in a configuration, and those with the specifications.

mod about;
mod channel;
mod check;
mod choice;
mod document;
mod finding;
mod frames;
mod frames_check;
mod identifier;
mod instance;
mod link;
mod link_check;
mod party;
mod store_check;
mod uplink;

pub use channel::GvcIdText;
pub use choice::InstanceChoiceError;
pub(crate) use choice::is_called;
pub use document::Config;
pub use finding::{Finding, Severity};
pub use frames::{ForwardFrameTable, PrimeProcedure, TransferModeSetting};
pub use identifier::{IdentifierError, format_instance, parse_instance, service_of};
pub(crate) use instance::utc_ns;
pub use instance::{
    ControlWordSetting, DeliveryModeSetting, EventTable, ForwardTable, FrameQualitySetting,
    GeneratorTable, InstanceTable, NotificationModeSetting, NotifySetting, ProductionSetting,
    ReturnTable, UpdateModeSetting,
};
pub use link::{LinkForwardTable, LinkReturnTable, LinkTable, LinksTable, PassTable};
pub use party::{
    AuthLevelSetting, HashSetting, Password, PeerSettings, PeerTable, ProviderTable, SecurityTable,
    TransportTable, UserTable,
};
pub use uplink::{PlopSetting, UplinkTable};

use std::path::{Path, PathBuf};
use toml::Spanned;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The file is not TOML, or has an unknown key or a wrong value.
    #[error("line {line}, column {column}: {message}")]
    Malformed {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// Description of the fault.
        message: String,
    },
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`] with the position of the first thing that cannot be understood.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::Unreadable { path: path.to_owned(), error })?;
        Self::parse(&text)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        match toml::from_str::<Self>(text) {
            Ok(config) => Ok(Self { text: text.to_owned(), ..config }),
            Err(error) => {
                let offset = error.span().map_or(0, |span| span.start);
                let (line, column) = position(text, offset);
                Err(ConfigError::Malformed { line, column, message: error.message().to_owned() })
            }
        }
    }

    /// The line of an offset, from 1.
    fn line(&self, offset: usize) -> usize {
        position(&self.text, offset).0
    }

    /// The peer of this identifier: from its table, or from the other section of this file; `None`
    /// if there is none.
    #[must_use]
    pub fn party(&self, id: &str) -> Option<PeerSettings> {
        let of_table = self.peer.iter().map(Spanned::get_ref).find(|peer| peer.id == id);
        if let Some(peer) = of_table {
            return Some(PeerSettings {
                id: peer.id.clone(),
                password: peer.password.clone(),
                auth: peer.auth.unwrap_or(self.security.auth),
                hash: peer.hash.unwrap_or(self.security.hash),
            });
        }
        let own = [
            self.provider.as_ref().map(|own| (&own.id, &own.password)),
            self.user.as_ref().map(|own| (&own.id, &own.password)),
        ];
        own.into_iter().flatten().find(|(own, _)| *own == id).map(|(id, password)| PeerSettings {
            id: id.clone(),
            password: password.clone(),
            auth: self.security.auth,
            hash: self.security.hash,
        })
    }

    /// The instance of this identifier, or the only one whose identifier ends so (`cltu1`,
    /// `cltu=cltu1`); the first where nothing is asked for.
    ///
    /// # Errors
    /// [`InstanceChoiceError`]: there is none, or more than one.
    pub fn find(&self, wanted: Option<&str>) -> Result<&InstanceTable, InstanceChoiceError> {
        let all = self.instance.iter().map(Spanned::get_ref);
        choice::choose(all, wanted, |instance| vec![&instance.id])
    }

    /// The address that a user connects to for an instance.
    #[must_use]
    pub fn address_of(&self, instance: &InstanceTable) -> Option<String> {
        instance
            .address
            .clone()
            .or_else(|| self.user.as_ref()?.address.clone())
            .or_else(|| Some(self.provider.as_ref()?.listen.first()?.to_string()))
    }

    /// Time in which returns of an instance must come, in seconds: its own, else that of `[user]`,
    /// else 60.
    #[must_use]
    pub fn return_timeout_of(&self, instance: &InstanceTable) -> u16 {
        let of_user = || self.user.as_ref().map(|user| user.return_timeout_s);
        instance.return_timeout_s.or_else(of_user).unwrap_or(60)
    }

    /// The responder identifier that the user expects for an instance.
    #[must_use]
    pub fn responder_of(&self, instance: &InstanceTable) -> Option<String> {
        self.responder_or_own(instance.responder.as_ref())
    }

    /// The responder: `said`, else the provider of this file, else the only peer.
    pub(crate) fn responder_or_own(&self, said: Option<&String>) -> Option<String> {
        let of_file = || Some(self.provider.as_ref()?.id.clone());
        said.cloned().or_else(of_file).or_else(|| {
            let mut others = self.peer.iter().map(|peer| peer.get_ref().id.clone());
            others.next().filter(|_| self.peer.len() == 1)
        })
    }

    /// The initiators that may bind to an instance.
    #[must_use]
    pub fn initiators_of(&self, instance: &InstanceTable) -> Vec<String> {
        self.initiators_or_all(&instance.initiators)
    }

    /// The initiators in `named`; if it is empty, all.
    pub(crate) fn initiators_or_all(&self, named: &[String]) -> Vec<String> {
        if !named.is_empty() {
            return named.to_vec();
        }
        let own = self.user.iter().map(|user| user.id.clone());
        let mut all: Vec<String> =
            self.peer.iter().map(|peer| peer.get_ref().id.clone()).chain(own).collect();
        all.dedup();
        all
    }
}

/// Line and column of an offset, both from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_refused_where_it_stands() {
        let error = Config::parse("[provider]\nid = \"A\"\n  lsten = []\n").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("line 3, column 3: unknown field `lsten`"), "{text}");
    }

    #[test]
    fn what_is_no_toml_is_refused_where_it_ends() {
        let text = Config::parse("[user\n").unwrap_err().to_string();
        assert!(text.starts_with("line 1, column "), "{text}");
    }

    #[test]
    fn a_peer_is_known_by_its_table_or_by_the_other_section() {
        let config = Config::parse(
            "[security]\nauth = \"bind\"\nhash = \"sha1\"\n[provider]\nid = \"STATION\"\nlisten = []\n\
             password = \"hex:0102\"\n[[peer]]\nid = \"MCC\"\npassword = \"secret\"\nauth = \"all\"\n",
        )
        .unwrap();
        let mcc = config.party("MCC").unwrap();
        assert_eq!((mcc.auth, mcc.hash), (AuthLevelSetting::All, HashSetting::Sha1));
        assert_eq!(mcc.password.octets(), b"secret");
        let station = config.party("STATION").unwrap();
        assert_eq!(
            (station.auth, station.password.octets()),
            (AuthLevelSetting::Bind, &[1, 2][..])
        );
        assert!(config.party("OTHER").is_none());
    }

    #[test]
    fn an_instance_is_found_by_its_end() {
        let config = Config::parse(
            "[[instance]]\nid = \"sagr=1.spack=2.fsl-fg=1.cltu=cltu1\"\n\
             [[instance]]\nid = \"sagr=1.spack=2.rsl-fg=1.raf=onlc1\"\n",
        )
        .unwrap();
        assert!(config.find(Some("onlc1")).unwrap().id.ends_with("raf=onlc1"));
        assert!(config.find(None).unwrap().id.ends_with("cltu1"));
        assert!(config.find(Some("nlc1")).is_err());
    }
}
