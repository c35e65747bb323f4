//! Progress on standard error: the present experiment, its number, and the remaining time.

use chronoscope_clock::monotonic_ns;
use std::cell::Cell;
use std::io::IsTerminal;

/// Interval between lines, when standard error is no terminal and when it is one.
const EVERY_NS: [u64; 2] = [15_000_000_000, 1_000_000_000];

/// Progress of the whole series.
#[derive(Debug)]
pub struct Progress {
    watched: bool,
    title: String,
    /// Number of the experiment, and of all experiments.
    at: [usize; 2],
    began_ns: u64,
    /// Expected duration of this one, and of all after it, in seconds.
    expected_s: f64,
    left_s: f64,
    said_ns: Cell<u64>,
}

impl Progress {
    /// Progress of one experiment, which begins now.
    #[must_use]
    pub fn begin(title: &str, at: [usize; 2], expected_s: f64, left_s: f64) -> Self {
        let now_ns = monotonic_ns();
        let watched = std::io::stderr().is_terminal();
        let said_ns = Cell::new(now_ns);
        let title = title.to_owned();
        let this = Self { watched, title, at, began_ns: now_ns, expected_s, left_s, said_ns };
        this.say();
        this
    }

    /// Says it again once in a while.
    pub fn look(&self) {
        let now_ns = monotonic_ns();
        if now_ns >= self.said_ns.get() + EVERY_NS[usize::from(self.watched)] {
            self.said_ns.set(now_ns);
            self.say();
        }
    }

    /// Ends its line.
    pub fn end(&self, how: &str) {
        let took = length((monotonic_ns() - self.began_ns) as f64 / 1e9);
        let [at, of] = self.at;
        let back = if self.watched { "\r\x1b[K" } else { "" };
        eprintln!("{back}[{at} of {of}] {}: {how}, {took}", self.title);
    }

    fn say(&self) {
        let passed_s = (monotonic_ns() - self.began_ns) as f64 / 1e9;
        let left_s = (self.expected_s - passed_s).max(0.0) + self.left_s;
        let [at, of] = self.at;
        let (passed, expected, left) = (length(passed_s), length(self.expected_s), length(left_s));
        let text = format!(
            "[{at} of {of}] {}: {passed} of about {expected}; in all about {left} left",
            self.title
        );
        if self.watched { eprint!("\r\x1b[K{text}") } else { eprintln!("{text}") }
    }
}

/// `1:05` minutes; hours where there are some.
#[must_use]
#[allow(clippy::cast_possible_truncation)] // a program does not run for 10^19 s
pub fn length(seconds: f64) -> String {
    let s = seconds.max(0.0).round() as u64;
    if s >= 3600 {
        format!("{}:{:02}:{:02} h", s / 3600, s / 60 % 60, s % 60)
    } else {
        format!("{}:{:02} min", s / 60, s % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn lengths_are_minutes_or_hours() {
        assert_eq!((length(65.4).as_str(), length(3661.0).as_str()), ("1:05 min", "1:01:01 h"));
    }
}
