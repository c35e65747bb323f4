//! A configuration in the making: what is read of it so far, its faults, and the access to files and
//! host names that reading needs.

use super::acl::{self, Acl};
use super::fault::{ConfigError, ConfigErrors, Fault, Position};
use super::lines::Word;
use super::settings::Config;
use super::value::Resolve;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest file that is read, in octets.
pub const FILE_SIZE_MAX: usize = 1 << 20;

/// Access to files and host names while a configuration is read.
pub struct Surroundings<'a> {
    /// The octets of a file.
    pub read: &'a dyn Fn(&Path) -> io::Result<Vec<u8>>,
    /// The addresses of a host.
    pub resolve: &'a dyn Fn(&str) -> io::Result<Vec<IpAddr>>,
}

impl Surroundings<'_> {
    /// The system's files and its resolver.
    pub const SYSTEM: Surroundings<'static> =
        Surroundings { read: &|path| std::fs::read(path), resolve: &resolve };
}

fn resolve(host: &str) -> io::Result<Vec<IpAddr>> {
    let mut found = Vec::new();
    for address in (host, 0).to_socket_addrs()?.map(|address| address.ip()) {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    Ok(found)
}

/// State of the reader: what is known of the file so far.
pub(super) struct Reader<'a> {
    pub(super) file: PathBuf,
    pub(super) surroundings: &'a Surroundings<'a>,
    pub(super) config: Config,
    pub(super) faults: Vec<ConfigError>,
    /// Line of the first use of each directive that counts once.
    pub(super) first: HashMap<&'static str, u32>,
    /// Line of the first use of each address.
    pub(super) taken: HashMap<String, u32>,
    acls: HashMap<PathBuf, Option<Arc<Acl>>>,
    pub(super) uplinks_at: Vec<Position>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &Path, surroundings: &'a Surroundings<'a>) -> Self {
        Self {
            file: file.to_owned(),
            surroundings,
            config: Config::unnamed(),
            faults: Vec::new(),
            first: HashMap::new(),
            taken: HashMap::new(),
            acls: HashMap::new(),
            uplinks_at: Vec::new(),
        }
    }

    pub(super) fn resolve(&self) -> Resolve<'a> {
        self.surroundings.resolve
    }

    pub(super) fn fault(&mut self, at: Option<Position>, fault: Fault) {
        self.faults.push(ConfigError { file: self.file.clone(), at, fault });
    }

    pub(super) fn warn(&mut self, at: Position, fault: Fault) {
        self.config.warnings.push(ConfigError { file: self.file.clone(), at: Some(at), fault });
    }

    /// Warns of the first of the words that are more than a directive takes.
    pub(super) fn spare(&mut self, rest: &[Word], usage: &'static str) {
        if let Some(extra) = beyond(rest) {
            self.warn(extra.at, Fault::Spare { word: extra.text.clone(), usage });
        }
    }

    /// An ACL file, read once however often it is named.
    pub(super) fn acl(&mut self, word: &Word) -> Result<Option<Arc<Acl>>, (Position, Fault)> {
        let path = PathBuf::from(&word.text);
        if let Some(known) = self.acls.get(&path) {
            return Ok(known.clone());
        }
        let unreadable = |reason: String| {
            let reason = format!("the ACL file {} cannot be read: {reason}", path.display());
            (word.at, Fault::Unreadable { reason })
        };
        self.acls.insert(path.clone(), None);
        let bytes =
            (self.surroundings.read)(&path).map_err(|error| unreadable(error.to_string()))?;
        if bytes.len() > FILE_SIZE_MAX {
            let size = bytes.len();
            return Err((word.at, Fault::TooLong { size, max: FILE_SIZE_MAX }));
        }
        match acl::parse(&bytes, self.surroundings.resolve) {
            Ok(acl) => {
                let acl = Some(Arc::new(acl));
                self.acls.insert(path, acl.clone());
                Ok(acl)
            }
            Err(faults) => {
                self.faults.extend(faults.into_iter().map(|(at, fault)| ConfigError {
                    file: path.clone(),
                    at: Some(at),
                    fault,
                }));
                Ok(None)
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<Config, ConfigErrors> {
        if self.faults.is_empty() {
            return Ok(self.config);
        }
        // Those of the whole file last; a stable order otherwise.
        self.faults.sort_by_key(|error| (error.at.is_none(), error.file != self.file, error.at));
        Err(ConfigErrors(self.faults))
    }
}

/// The first of the words that a directive has no use for; a comment is none.
pub(super) fn beyond(rest: &[Word]) -> Option<&Word> {
    rest.first().filter(|extra| extra.quoted || !extra.text.starts_with('#'))
}
