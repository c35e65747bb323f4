//! Results on stdout, talk on stderr.

use crate::environment::ScreenSize;
use chronoscope_query::Progress;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Interval at which a progress line is rewritten.
const EVERY: Duration = Duration::from_millis(250);

/// Writes a result for people, or JSON. Control characters are written as `\\uXXXX`: names come
/// from elsewhere and must not control the terminal.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn show(text: &str) -> io::Result<()> {
    show_as_is(&chronoscope_escape::terminal_lines(text))
}

/// Writes output for a program, or with control characters of our own. A closed pipe is an error
/// here and not a panic, so that `main` can end in order.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn show_as_is(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Text that repaints a screen with as much of `page` as fits, and `foot` below it. Lines are cut
/// at the screen's width: a wrapped line would push others off the screen.
pub(crate) fn painted(page: &str, foot: &str, size: ScreenSize) -> String {
    let cut = |line: &str| {
        let line = chronoscope_escape::terminal(line);
        line.chars().take(size.columns).collect::<String>()
    };
    let mut lines: Vec<String> = page.lines().map(cut).collect();
    let room = size.rows.saturating_sub(1).max(1); // the foot's line is the last
    if lines.len() > room {
        let left = lines.len() - (room - 1);
        lines.truncate(room - 1);
        lines.push(cut(&format!("… {left} more lines; APP|PID shows one program, --once all")));
    }
    lines.push(cut(foot));
    // Cursor to the top, every line cleared to its end, then the rest of the screen. No line break
    // at the end: it would scroll.
    format!("\x1b[H{}\x1b[K\x1b[J", lines.join("\x1b[K\n"))
}

/// Prints a line on standard error, as `eprintln!` does, but escaped: names in it come from whoever
/// sends rows.
macro_rules! say {
    ($($part:tt)*) => { $crate::screen::talk(&format!($($part)*)) };
}

/// Implementation of [`say!`]. A standard error that cannot be written, such as a file on a full
/// disk, does not end the command.
pub(crate) fn talk(text: &str) {
    let line = format!("{}\n", chronoscope_escape::terminal_lines(text));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// Overwrites the progress line on stderr; without a terminal nothing is printed.
pub(crate) fn progress(text: &str) {
    if crate::environment::stderr_is_terminal() {
        let line = format!("\r\x1b[K{}", chronoscope_escape::terminal(text));
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }
}

/// Asks the store a question; a slow one shows its progress.
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
                // The number of segments on other servers is not known here.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_too_high_or_wide_is_cut_and_says_so() {
        let size = ScreenSize { columns: 30, rows: 5 };
        let page = format!("{}\nb\nc\nd\ne\nf\n", "a".repeat(80));
        let painted = painted(&page, "q ends", size);
        let plain = painted.replace("\x1b[K", "").replace("\x1b[J", "").replace("\x1b[H", "");
        let lines: Vec<_> = plain.split('\n').collect();
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[0], "a".repeat(30));
        assert_eq!(lines[1..3], ["b", "c"]);
        assert!(lines[3].starts_with("… 3 more lines"), "{painted}");
        assert_eq!(lines[4], "q ends");
    }
}
