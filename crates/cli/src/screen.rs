//! Results on stdout, talk on stderr.

use std::io::{self, Write};

/// Writes a result. A closed pipe is an error here and not a panic, so that `main` can end well.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn show(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Overwrites the progress line on stderr; without a terminal nothing is printed.
pub(crate) fn progress(text: &str) {
    if crate::environment::stderr_is_terminal() {
        eprint!("\r\x1b[K{text}");
    }
}
