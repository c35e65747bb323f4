//! Reasons why messages of a user cannot be exchanged.

/// usmStatsNotInTimeWindows and usmStatsUnknownEngineIDs.
pub(super) const STATISTICS: [u32; 9] = [1, 3, 6, 1, 6, 3, 15, 1, 1];

/// Reasons why messages of a user cannot be exchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UsmError {
    /// The agent does not say who it is.
    #[error("the agent does not report its engine id")]
    NoEngine,
    /// The agent refuses, by a counter of usmStats (RFC 3414, 5).
    #[error("the agent refuses: {}", statistic(*.0))]
    Refused(u32),
    /// The answer is not signed with the password.
    #[error(
        "the answer's signature is wrong: the password differs, or the answer is not from this \
         agent"
    )]
    Signature,
    /// The answer's time is not that of the agent.
    #[error("the time in the answer differs by {0} s from the agent's time")]
    Time(i64),
    /// The answer cannot be decrypted.
    #[error("the answer is not encrypted correctly")]
    Encryption,
    /// Octets that are no message.
    #[error("not a message of the user-based security model: {0}")]
    Form(String),
}

/// Meaning of a counter of usmStats.
pub(super) fn statistic(number: u32) -> &'static str {
    match number {
        1 => "unsupported security level: the agent expects other settings for auth and priv",
        2 => "not in its time window",
        3 => "unknown user name",
        4 => "unknown engine id",
        5 => "wrong digest: the password or the hash differs",
        6 => "decryption error: the password for encryption differs",
        _ => "for a reason of its own",
    }
}
