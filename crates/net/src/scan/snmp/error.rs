//! Reasons why a host did not answer.

use super::usm_error::UsmError;
use rasn_snmp::v2::Pdu;

/// Reasons why a host's counters are unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnmpError {
    /// Octets that are no message.
    #[error("not an SNMP message: {0}")]
    Message(String),
    /// A message of another version, or that is no answer.
    #[error("not an answer: {0}")]
    NotAnswer(&'static str),
    /// The agent refuses.
    #[error("the agent answers error {0}{words}", words = error_words(*.0))]
    Refused(u32),
    /// Objects do not increase: walking them would never end.
    #[error("the agent's object identifiers do not increase")]
    NotIncreasing,
    /// Too many answers for one table.
    #[error("the table does not end within {0} answers")]
    Endless(u32),
    /// More interfaces than any host has.
    #[error("the agent shows more than {0} interfaces")]
    TooMany(usize),
    /// An answer without anything in it.
    #[error("the agent sends an empty answer")]
    Empty,
    /// The host sends reports only.
    #[error("the agent answered with more than {0} reports")]
    Reports(u32),
    /// The host has no interfaces.
    #[error("no interfaces: the agent shows neither ifXTable nor ifTable to this user")]
    NoInterfaces,
    /// Error of the security model.
    #[error(transparent)]
    Usm(#[from] UsmError),
}

impl SnmpError {
    pub(super) const TOO_BIG: u32 = Pdu::ERROR_STATUS_TOO_BIG;

    /// Whether this error is an answer of the host itself. Otherwise somebody who only uses its
    /// address could have sent it: then the right answer may still come.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match self {
            Self::Message(_) | Self::NotAnswer(_) => false,
            Self::Usm(error) => matches!(error, UsmError::Refused(_) | UsmError::Time(_)),
            Self::Refused(_)
            | Self::NotIncreasing
            | Self::Endless(_)
            | Self::TooMany(_)
            | Self::Empty
            | Self::Reports(_)
            | Self::NoInterfaces => true,
        }
    }
}

pub(super) fn error_words(error: u32) -> &'static str {
    match error {
        Pdu::ERROR_STATUS_TOO_BIG => " (too big)",
        Pdu::ERROR_STATUS_NO_SUCH_NAME => " (no such name)",
        Pdu::ERROR_STATUS_GEN_ERR => " (general error)",
        Pdu::ERROR_STATUS_NO_ACCESS => " (no access)",
        Pdu::ERROR_STATUS_AUTHORIZATION_ERROR => " (authorization error)",
        _ => "",
    }
}
