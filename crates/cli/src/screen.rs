//! Results on stdout, talk on stderr.

use chronoscope_store::ask::Progress;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How often a progress line is written anew.
const EVERY: Duration = Duration::from_millis(250);

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

/// Asks the store a question; where that takes a while the progress line says how far it is.
pub(crate) fn asked<T>(ask: impl FnOnce(&Progress) -> T) -> T {
    let of = &Progress::default();
    std::thread::scope(|scope| {
        // Closed when the question has been answered, or ended with a panic.
        let (answered, waits) = mpsc::channel::<()>();
        scope.spawn(move || {
            let mut said = false;
            while waits.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let [done, total] =
                    [&of.done, &of.total].map(|count| count.load(Ordering::Relaxed));
                // Where others are asked, how many segments they have is theirs to know.
                progress(&match total {
                    0 => "asking the store".to_owned(),
                    _ => format!("asking the store: {done} of {total} segments"),
                });
                said = true;
            }
            if said {
                progress("");
            }
        });
        let answer = ask(of);
        drop(answered);
        answer
    })
}
