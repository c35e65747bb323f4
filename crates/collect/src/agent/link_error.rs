//! Why a connection to the collector was not made, or has ended.

use super::target::causes;
use crate::protocol::ProtocolError;
use chronoscope_store::StoreError;
use std::time::Duration;
use tonic::Code;

/// Why a connection was not made, or has ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinkError {
    #[error("cannot connect: {0}")]
    Connect(String),
    #[error("the collector refuses the token: {0}")]
    Token(String),
    #[error("the collector refuses the connection with {code:?}: {message}")]
    Refused { code: Code, message: String },
    #[error("the collector did not send {what} within {} s", within.as_secs())]
    Silent { what: &'static str, within: Duration },
    #[error("the collector sent another message than {wanted}")]
    Unexpected { wanted: &'static str },
    #[error("the collector closed the connection")]
    Closed,
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error(
        "the collector has rows of this spool up to {there}, and the spool goes up to {here}: the \
         spool is an old copy; move it away, and the agent makes a new one"
    )]
    OldSpool { there: u64, here: u64 },
    #[error(
        "another program uses this agent's name: the collector has rows up to {there}, but this \
         agent never sent those from {sent} on"
    )]
    Impostor { there: u64, sent: u64 },
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    #[error(transparent)]
    Spool(#[from] StoreError),
    #[error("reading the spool failed: {0}")]
    Task(#[from] tokio::task::JoinError),
}

impl LinkError {
    pub(super) fn refused(status: &tonic::Status) -> Self {
        // An error that the other side reports has no cause.
        if let Some(cause) = std::error::Error::source(status) {
            return Self::Broken(causes(cause));
        }
        let message = status.message().to_owned();
        match status.code() {
            Code::Unauthenticated => Self::Token(message),
            code => Self::Refused { code, message },
        }
    }
}
