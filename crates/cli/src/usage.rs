//! Errors in the arguments that clap cannot find: one argument contradicts another, or a value is
//! out of range. They exit with 2, as clap's own do.

use std::fmt;

/// The arguments ask for something that cannot be done. `main` exits with 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(String);

impl Usage {
    /// `reason` names the argument, the value and the expected form.
    pub(crate) fn new(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

/// Whether an error is about the arguments.
pub(crate) fn is_usage(error: &anyhow::Error) -> bool {
    error.chain().any(<dyn std::error::Error>::is::<Usage>)
}

/// An error and its causes in one line. A cause that the text before it already has is left out:
/// many errors print their source themselves.
pub(crate) fn joined(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.contains(&cause) {
            line += ": ";
            line += &cause;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;
    use std::io;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot listen on 127.0.0.1:80: {source}")]
    struct Listen {
        source: io::Error,
    }

    #[test]
    fn a_cause_that_is_already_said_is_not_repeated() {
        let refused: Result<(), _> = Err(Listen { source: io::Error::from_raw_os_error(98) });
        let text = joined(&refused.context("no server").unwrap_err());
        assert_eq!(text.matches("os error 98").count(), 1, "{text}");
        assert!(text.starts_with("no server: cannot listen on 127.0.0.1:80: "), "{text}");
    }

    #[test]
    fn a_cause_that_is_not_said_yet_is_added() {
        let lost: Result<(), _> = Err(io::Error::from_raw_os_error(2));
        let text = joined(&lost.context("ring a").unwrap_err());
        assert!(text.starts_with("ring a: ") && text.contains("os error 2"), "{text}");
    }

    #[test]
    fn usage_is_found_below_a_context() {
        let error = anyhow::Error::from(Usage::new("--from: no time")).context("chains");
        assert!(is_usage(&error));
        assert!(!is_usage(&anyhow::anyhow!("something else")));
    }
}
