//! Faults of a configuration file: what is wrong, its position, and what to do about it.

use std::fmt;
use std::path::PathBuf;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line number, from 1.
    pub line: u32,
    /// In octets, from 1.
    pub column: u32,
}

/// One fault of a configuration file, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The configuration file, or an ACL file that it names.
    pub file: PathBuf,
    /// Position of the fault; `None` for a directive that is missing from the whole file.
    pub at: Option<Position>,
    /// The fault itself.
    pub fault: Fault,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if let Some(at) = self.at {
            write!(f, "{}:{}:", at.line, at.column)?;
        }
        write!(f, " {}", self.fault)
    }
}

impl std::error::Error for ConfigError {}

/// All faults of a configuration, in the order of the file: at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

/// A fault of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum Fault {
    #[error("cannot be read: {reason}")]
    Unreadable { reason: String },
    #[error("is {size} octets long; a configuration has at most {max}")]
    TooLong { size: usize, max: usize },
    #[error("unknown directive \"{name}\"{hint}")]
    UnknownDirective { name: String, hint: String },
    #[error("{directive} needs more arguments: {usage}")]
    TooFew { directive: &'static str, usage: &'static str },
    #[error("\"{word}\" is one argument too many: {usage}")]
    TooMany { word: String, usage: &'static str },
    #[error("\"{word}\" is ignored, because {directive} takes one value: quote what has blanks")]
    Ignored { word: String, directive: &'static str },
    #[error("\"{word}\" is ignored, because it is one argument too many: {usage}")]
    Spare { word: String, usage: &'static str },
    #[error("{option} is ignored, because it has no effect for {of}")]
    Meaningless { option: String, of: String },
    #[error("\"{value}\" is not a supported {what}, so the line is ignored: {expected}")]
    NotServed { value: String, what: &'static str, expected: &'static str },
    #[error("{directive} was already given in line {first}; this line is used")]
    Repeated { directive: &'static str, first: u32 },
    #[error("\"{value}\" is not a valid {what}: {expected}")]
    BadValue { value: String, what: &'static str, expected: &'static str },
    #[error("{value} is not within {min} to {max}")]
    OutOfRange { value: String, min: u64, max: u64 },
    #[error("{value} is outside the allowed range: {used} is used")]
    Clamped { value: String, used: u64 },
    #[error("the quote is not closed; write \\\" for a quote within quotes")]
    OpenQuote,
    #[error("there is no blank after the closing quote")]
    AfterQuote,
    #[error("a string cannot contain the character with code 0")]
    Nul,
    #[error("\\x needs one or two hexadecimal digits")]
    BadHex,
    #[error("no address was found for \"{host}\": {reason}")]
    NoAddress { host: String, reason: String },
    #[error("\"{host}\" has {count} addresses, and {used} is used: give an address instead")]
    ManyAddresses { host: String, count: usize, used: String },
    #[error("{address} is already used in line {first}: remove one of the two")]
    DuplicateAddress { address: String, first: u32 },
    #[error("{option} cannot be used with {of}")]
    NotFor { option: String, of: String },
    #[error("{option} was given twice")]
    OptionTwice { option: String },
    #[error("{option} lacks its value")]
    OptionValue { option: String },
    #[error("unknown option \"{option}\": {usage}")]
    UnknownOption { option: String, usage: &'static str },
    #[error("tlskey and tlscert belong together: {missing} is missing")]
    HalfTls { missing: &'static str },
    #[error("in the filter: {reason}")]
    BadFilter { reason: String },
    #[error("the peer {address} and the local address {local} are of different families")]
    PeerFamily { address: String, local: String },
    #[error(
        "multiro uplinks cannot be mixed with other uplinks, because packets would loop: make all \
         uplinks multiro, or none"
    )]
    MixedUplinks,
    #[error("{directive} is missing: {usage}")]
    Missing { directive: &'static str, usage: &'static str },
    #[error("no Listen directive: add one, the server has no port")]
    NoListeners,
    #[error("the folder {path} cannot be used: {reason}")]
    NoFolder { path: String, reason: String },
    #[error(
        "MaxClients {clients_max} needs a FileLimit of at least {needed}, but FileLimit is {limit}"
    )]
    FewFiles { clients_max: usize, limit: u64, needed: u64 },
}
