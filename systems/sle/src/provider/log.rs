//! What a provider says of itself.

use std::fmt;
use std::sync::Arc;

/// Where a provider's words go, from whichever thread.
#[derive(Clone)]
pub struct ProviderLog(Arc<dyn Fn(&str) + Send + Sync>);

impl ProviderLog {
    /// To a function.
    pub fn new(to: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(to))
    }

    /// Nowhere.
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
