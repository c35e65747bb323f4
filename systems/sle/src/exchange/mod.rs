//! Configurations of other programs: files of the SLE User Test Library (one XML file) and of ESA's SLE
//! API (text files of the proxy and of the service element), to and from ours.
//!
//! ```
//! use chronoscope_sle::exchange::{ExchangeRole, esa};
//!
//! let proxy = "PROXY_ROLE = INITIATOR\nLOCAL_ID = MCC\nLOCAL_PASSWORD = 010203040506\n\
//!     REMOTE_PEERS = {\nID = STATION\nPASSWORD = 0a0b0c0d0e0f\nAUTHENTICATION_MODE = BIND\n}\n\
//!     FOREIGN_LOGICAL_PORTS = {\nPORT_NAME = TM\nIP_ADDRESS = {\n10.0.0.1:5008\n}\n}\n";
//! let imported = esa::import(&[proxy])?;
//! assert_eq!(imported.config.user.as_ref().unwrap().id, "MCC");
//! assert!(imported.text().contains("password = \"hex:0a0b0c0d0e0f\""));
//! # Ok::<(), chronoscope_sle::exchange::ExchangeError>(())
//! ```
//!
//! **Promise.** Nothing is swallowed: every key of the input that has no place in the output is named,
//! with its line. Passwords are octets and written as hexadecimal digits.
//!
//! Limits: a foreign file is of one role, ours can have both; what only one of the programs has (our
//! sources and modems, the API's trace settings) is not converted. Files may have 16 MiB.

mod digits;
pub mod esa;
mod lost;
mod side;
mod toml_text;
pub mod utl;

pub use toml_text::toml_text;

use crate::config::Config;
use std::fmt;

/// Octets of a file at most.
const FILE_OCTETS_MAX: usize = 16 << 20;

/// Role whose configuration a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeRole {
    /// The user: initiator of associations.
    User,
    /// The provider: their responder.
    Provider,
}

/// A remark about a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeNote {
    /// Line of the input, from 1, if it is about one.
    pub line: Option<usize>,
    /// Whether something of the input is not in the output.
    pub is_loss: bool,
    /// Description.
    pub text: String,
}

impl ExchangeNote {
    fn new(line: Option<usize>, is_loss: bool, text: impl Into<String>) -> Self {
        Self { line, is_loss, text: text.into() }
    }
}

impl fmt::Display for ExchangeNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_loss { "not converted: " } else { "note: " })?;
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.text)
    }
}

/// A configuration that was converted from another format.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The configuration.
    pub config: Config,
    /// Service instances to be completed by hand: lines of TOML.
    pub templates: Vec<String>,
    /// Remarks, in the order of the input.
    pub notes: Vec<ExchangeNote>,
}

impl Imported {
    /// The configuration as TOML, with templates as comments.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = toml_text(&self.config);
        if !self.templates.is_empty() {
            text.push_str("\n# To be completed: the files have no service instances.\n");
            for line in &self.templates {
                text.push_str(if line.is_empty() { "#" } else { "# " });
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }
}

/// A configuration in another format.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Texts with the names that their files have by default.
    pub files: Vec<(&'static str, String)>,
    /// Remarks.
    pub notes: Vec<ExchangeNote>,
}

/// Why a configuration was not converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    /// The input is not of the format.
    #[error("line {line}: {why}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Description of the fault.
        why: String,
    },
    /// A file is too long.
    #[error("the file has {octets} octets; the maximum is {FILE_OCTETS_MAX}")]
    TooLong {
        /// Octets of the file.
        octets: usize,
    },
    /// The input does not say what is needed.
    #[error("{0}")]
    Missing(String),
}

/// Checks the length of a file.
fn check_length(text: &str) -> Result<(), ExchangeError> {
    let octets = text.len();
    if octets > FILE_OCTETS_MAX { Err(ExchangeError::TooLong { octets }) } else { Ok(()) }
}
