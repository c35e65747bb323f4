//! The log of `serve` on stderr: one line for each event, with its time.
//!
//! ```text
//! 2026-11-24T08:15:00.123Z info agent_connected peer=10.0.0.7:51234 host=desk7 program="chronoscope 0.9"
//! ```
//!
//! A value with other characters than visible ASCII stands in quotation marks, escaped as in Rust,
//! so that nothing that comes over the network can end a line or move the cursor of a terminal.
//!
//! It is 100 lines and no logging framework: there is one writer and one form, nothing is filtered,
//! and the events are few by construction (refusals are held together by `senders`).

use chronoscope_clock as clock;
use chronoscope_store::Minute;
use std::fmt::{Display, Write as _};
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether lines of [`LogLine::info`] are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses informational lines in the whole process: `serve --quiet`.
pub fn quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Info,
    Warn,
    Error,
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a line is written by `say`"]
pub struct LogLine {
    level: Level,
    /// The event's name and its values.
    text: String,
}

impl LogLine {
    /// An event of normal operation.
    pub fn info(event: &str) -> Self {
        Self { level: Level::Info, text: event.to_owned() }
    }

    /// An event that an operator should look at.
    pub fn warn(event: &str) -> Self {
        Self { level: Level::Warn, text: event.to_owned() }
    }

    /// A failure.
    pub fn error(event: &str) -> Self {
        Self { level: Level::Error, text: event.to_owned() }
    }

    /// Adds a value.
    pub fn with(mut self, key: &str, value: impl Display) -> Self {
        let value = value.to_string();
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '=');
        // A String takes everything.
        let _ = if !value.is_empty() && value.chars().all(plain) {
            write!(self.text, " {key}={value}")
        } else {
            write!(self.text, " {key}={value:?}")
        };
        self
    }

    /// Adds a value where there is one.
    pub fn with_some(self, key: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// The line with its time: UTC, nanoseconds since 1970.
    pub fn at(&self, now_ns: i64) -> String {
        let level = match self.level {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        format!("{} {level} {}", instant(now_ns), self.text)
    }

    /// Writes the line to stderr. A failure is ignored: there is nowhere to report it.
    pub fn say(&self) {
        if self.level == Level::Info && QUIET.load(Ordering::Relaxed) {
            return;
        }
        let mut out = std::io::stderr().lock();
        // A line of progress may stand there.
        let clear = if out.is_terminal() { "\r\x1b[K" } else { "" };
        let _ = writeln!(out, "{clear}{}", self.at(clock::utc_now_ns()));
    }
}

/// An instant (UTC, nanoseconds since 1970) in the log: `2026-11-24T08:15:00.123Z`.
pub fn instant(ns: i64) -> String {
    let minute = Minute::of(ns);
    let ms = (ns - minute.start_ns()) / 1_000_000;
    let text = minute.to_string(); // `2026-11-24T08-15`
    let (date, time) = text.split_once('T').unwrap_or((&text, ""));
    format!("{date}T{}:{:02}.{:03}Z", time.replace('-', ":"), ms / 1000, ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_time_its_level_and_its_event() {
        let line =
            LogLine::warn("limit_broken").with("limit", "A::in").with_some("since", None::<u8>);
        // `date -ud 2026-11-24T08:15 +%s` prints 1795508100.
        let at = line.with("above", 7).at(1_795_508_100_123_456_789);
        assert_eq!(at, "2026-11-24T08:15:00.123Z warn limit_broken limit=A::in above=7");
    }

    #[test]
    fn what_comes_over_the_network_cannot_break_the_log() {
        let evil = "a\n2026 info start\u{1b}[2J \u{202e}\"";
        let line = LogLine::info("otlp_source").with("service", evil).with("host", "").at(0);
        assert!(!line.contains(|c: char| c.is_control()), "{line}");
        let quoted = r#"service="a\n2026 info start\u{1b}[2J \u{202e}\"" host="""#;
        assert!(line.ends_with(quoted), "{line}");
    }
}
