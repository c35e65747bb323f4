//! Log of a provider.

use std::fmt;
use std::sync::Arc;

/// Destination of a provider's log lines, for any thread.
#[derive(Clone)]
pub struct ProviderLog(Arc<dyn Fn(&str) + Send + Sync>);

impl ProviderLog {
    /// A log that calls a function for each line.
    pub fn new(to: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(to))
    }

    /// A log that discards all lines.
    #[must_use]
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// Says a line. What others chose in it cannot steer a terminal.
    pub(crate) fn say(&self, text: &str) {
        (self.0)(&chronoscope_escape::terminal(text));
    }
}

impl fmt::Debug for ProviderLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}
