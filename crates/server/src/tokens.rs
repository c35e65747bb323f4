//! The tokens of a server by name, each with what it may do: a file that `chronoscope token` writes
//! and `serve --tokens` reads.
//!
//! ```toml
//! [[token]]
//! name = "host-a"     # an agent that shows a token that may write has to be of this host
//! write = true        # deliver rows: agents and OTLP
//! read = false        # ask: the page and its API, /status, /metrics, /classes, /chains
//! sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
//! ```
//!
//! The file holds hashes and no tokens: who reads it can show none. A token has 256 random bits, so
//! that SHA-256 without salt or stretching is enough: there is nothing to guess that a slow hash
//! would protect. The file is its owner's alone (mode 0600 or less).

use crate::token::{Token, hex, is_same};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;
/// Longest name, in octets: that of a host.
const NAME_MAX: usize = 253;
/// Longest file that is read, in octets.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Rights of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// The right to ask questions.
    pub read: bool,
    /// The right to deliver rows.
    pub write: bool,
}

/// All tokens of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    #[serde(default, rename = "token", skip_serializing_if = "Vec::is_empty")]
    entries: Vec<Entry>,
}

/// One token: its name, its rights, and the hash of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    write: bool,
    #[serde(default)]
    read: bool,
    sha256: String,
}

/// Reason why tokens cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Others may read or write the file.
    #[error("{}: other users have access (mode {mode:04o}): run chmod 600 on it", path.display())]
    Mode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The content of the file is not valid.
    #[error("{}: {source}", path.display())]
    Words {
        /// The file.
        path: PathBuf,
        /// Error of the parser, with its position.
        source: toml::de::Error,
    },
    /// A token cannot be one.
    #[error("{}: token {name:?}: {what}", path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// Name of the token.
        name: String,
        /// The error in words.
        what: &'static str,
    },
    /// Another program changes the file, or was killed while it did.
    #[error(
        "{} exists: another `chronoscope token` is running; if none is running, remove the file",
        path.display()
    )]
    Busy {
        /// The file that would become the new one.
        path: PathBuf,
    },
    /// A name that is no host's.
    #[error(
        "{0:?} is not a valid name: use letters, digits, '-', '.' and '_', at most {NAME_MAX} \
         characters"
    )]
    Name(String),
    /// A token of this name exists.
    #[error("a token {0:?} exists already: revoke it first, or choose another name")]
    Exists(String),
    /// No token of this name exists.
    #[error("no token is called {0:?}: `chronoscope token list` shows the names")]
    Unknown(String),
    /// The system has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
}

impl Tokens {
    /// Reads a file of tokens.
    ///
    /// # Errors
    /// [`TokensError`] when it cannot be read, others may use it, or it holds something else.
    pub fn read(path: &Path) -> Result<Self, TokensError> {
        let io = |source| TokensError::Io { path: path.to_owned(), source };
        let file = fs::File::open(path).map_err(io)?;
        let mode = file.metadata().map_err(io)?.mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(TokensError::Mode { path: path.to_owned(), mode });
        }
        let text = io::read_to_string(io::Read::take(file, FILE_BYTES_MAX)).map_err(io)?;
        let words = |source| TokensError::Words { path: path.to_owned(), source };
        let tokens: Self = toml::from_str(&text).map_err(words)?;
        for (number, entry) in tokens.entries.iter().enumerate() {
            let wrong = |what| {
                let (path, name) = (path.to_owned(), entry.name.clone());
                Err(TokensError::Entry { path, name, what })
            };
            let before = &tokens.entries[..number];
            match entry {
                _ if !is_name(&entry.name) => return wrong("this is not a valid name"),
                _ if before.iter().any(|other| other.name == entry.name) => {
                    return wrong("two entries have this name");
                }
                _ if !is_hash(&entry.sha256) => return wrong("sha256: 64 hexadecimal digits"),
                _ => {}
            }
        }
        Ok(tokens)
    }

    /// Reads a file of tokens that need not be there yet.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_or_new(path: &Path) -> Result<Self, TokensError> {
        match Self::read(path) {
            Err(TokensError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            read => read,
        }
    }

    /// Replaces the file; who reads it meanwhile finds the old one or the new one.
    ///
    /// # Errors
    /// [`TokensError::Busy`] when another does the same, or [`TokensError::Io`].
    pub fn write(&self, path: &Path) -> Result<(), TokensError> {
        let mut new = path.as_os_str().to_owned();
        new.push(".new");
        let new = PathBuf::from(new);
        let io = |source| TokensError::Io { path: new.clone(), source };
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
        let mut file = match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(TokensError::Busy { path: new });
            }
            created => created.map_err(io)?,
        };
        let text = toml::to_string(self).map_err(|error| io(io::Error::other(error)))?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        let replaced = written.and_then(|()| fs::rename(&new, path));
        replaced.map_err(|source| {
            // A left-over file would block the next change. If it cannot be removed, the next
            // change reports it.
            let _ = fs::remove_file(&new);
            io(source)
        })
    }

    /// Makes a token; it is known to nobody but whom it is returned to.
    ///
    /// # Errors
    /// [`TokensError::Name`], [`TokensError::Exists`] or [`TokensError::Random`].
    pub fn add(&mut self, name: &str, rights: Rights) -> Result<Token, TokensError> {
        if !is_name(name) {
            return Err(TokensError::Name(name.to_owned()));
        }
        if self.entries.iter().any(|entry| entry.name == name) {
            return Err(TokensError::Exists(name.to_owned()));
        }
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(TokensError::Random)?;
        let token = Token::of_hex(&bytes);
        let Rights { read, write } = rights;
        let sha256 = hash(token.secret().as_bytes());
        self.entries.push(Entry { name: name.to_owned(), write, read, sha256 });
        Ok(token)
    }

    /// Forgets a token.
    ///
    /// # Errors
    /// [`TokensError::Unknown`].
    pub fn revoke(&mut self, name: &str) -> Result<(), TokensError> {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.name != name);
        if self.entries.len() == before {
            Err(TokensError::Unknown(name.to_owned()))
        } else {
            Ok(())
        }
    }

    /// Names and rights, in the order of their making.
    pub fn list(&self) -> impl Iterator<Item = (&str, Rights)> {
        self.entries
            .iter()
            .map(|entry| (entry.name.as_str(), Rights { read: entry.read, write: entry.write }))
    }

    /// The name and rights of the shown token. Takes the same time whichever token it is.
    pub(crate) fn who(&self, shown: &[u8]) -> Option<(&str, Rights)> {
        let shown = hash(shown);
        let is = |entry: &Entry| is_same(entry.sha256.as_bytes(), shown.as_bytes());
        let found = self.entries.iter().fold(
            None,
            |found, entry| {
                if is(entry) { Some(entry) } else { found }
            },
        )?;
        Some((&found.name, Rights { read: found.read, write: found.write }))
    }
}

fn is_name(name: &str) -> bool {
    let may = |letter: u8| letter.is_ascii_alphanumeric() || b"-._".contains(&letter);
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(may)
}

fn is_hash(text: &str) -> bool {
    let is_digit = |letter: u8| matches!(letter, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 64 && text.bytes().all(is_digit)
}

fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const WRITE: Rights = Rights { read: false, write: true };

    #[test]
    fn a_token_is_known_by_its_hash_and_no_longer_when_it_is_revoked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tokens");
        let mut tokens = Tokens::read_or_new(&path).unwrap();
        let a = tokens.add("a", WRITE).unwrap();
        let b = tokens.add("b", Rights { read: true, write: false }).unwrap();
        assert_ne!(a.secret(), b.secret());
        assert_eq!(a.secret().len(), 2 * TOKEN_BYTES);
        tokens.write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(a.secret()), "{text}");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let mut read = Tokens::read(&path).unwrap();
        assert_eq!(read, tokens);
        assert_eq!(read.who(a.secret().as_bytes()), Some(("a", WRITE)));
        assert_eq!(read.who(b"else"), None);
        read.revoke("a").unwrap();
        assert_eq!(read.who(a.secret().as_bytes()), None);
        assert!(matches!(read.revoke("a"), Err(TokensError::Unknown(_))));
        assert!(matches!(read.add("b", WRITE), Err(TokensError::Exists(_))));
        assert!(matches!(read.add("b c", WRITE), Err(TokensError::Name(_))));
    }

    #[test]
    fn a_file_that_others_may_use_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tokens");
        Tokens::default().write(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = Tokens::read(&path).unwrap_err().to_string();
        assert!(
            error.ends_with("tokens: other users have access (mode 0640): run chmod 600 on it"),
            "{error}"
        );
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tokens");
        let hash = "0".repeat(64);
        for (text, what) in [
            ("token = 3".to_owned(), "invalid type"),
            ("[[token]]\nname = 'a'\nsha256 = 'A'".to_owned(), "64 hexadecimal digits"),
            (format!("[[token]]\nname = ''\nsha256 = '{hash}'"), "this is not a valid name"),
            (
                format!("[[token]]\nname = 'a'\nsha256 = '{hash}'\n").repeat(2),
                "two entries have this name",
            ),
        ] {
            let _ = fs::remove_file(&path);
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let error = Tokens::read(&path).unwrap_err().to_string();
            assert!(error.contains(what), "{what:?} in {error}");
        }
        fs::write(dir.path().join("tokens.new"), "").unwrap();
        assert!(matches!(Tokens::default().write(&path), Err(TokensError::Busy { .. })));
    }
}
