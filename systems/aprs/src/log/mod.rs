//! The log: to standard error, a file that is rotated, or syslog.
//!
//! Lines look as aprsc's do: UTC with microseconds, the instance with its process and thread, the
//! level. Lines can contain text from the network: control characters are written as `\xNN`, and
//! the length is limited. A line that cannot be written is counted.
//!
//! ```
//! use chronoscope_aprs::{engine::LogLevel, log::Log};
//! let log = Log::new("aprsc", LogLevel::Info);
//! log.write(LogLevel::Info, format_args!("{} clients", 7));
//! assert_eq!(log.lost(), 0);
//! ```

mod file;
mod stamp;
mod syslog;

use crate::engine::LogLevel;
use file::LogFile;
use stamp::Stamp;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use syslog::Syslog;

/// Longest text of a line, in octets.
const TEXT_LEN_MAX: usize = 2048;

/// The log. Clones write to the same one; any thread may.
#[derive(Clone, Debug)]
pub struct Log(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    name: String,
    level: LogLevel,
    stderr: AtomicBool,
    lost: AtomicU64,
    sinks: Mutex<Sinks>,
}

#[derive(Debug, Default)]
struct Sinks {
    file: Option<LogFile>,
    syslog: Option<Syslog>,
}

/// Reasons why a log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file or its folder.
    #[error("the log file {path} cannot be opened: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The system's log.
    #[error("syslog at {path} cannot be reached: {source}")]
    Syslog {
        /// Path of the socket.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl Log {
    /// A log of `level` and above, on standard error.
    pub fn new(name: &str, level: LogLevel) -> Self {
        Self(Arc::new(Shared {
            name: name.to_owned(),
            level,
            stderr: AtomicBool::new(true),
            lost: AtomicU64::new(0),
            sinks: Mutex::default(),
        }))
    }

    /// Whether lines go to standard error.
    pub fn set_stderr(&self, on: bool) {
        self.0.stderr.store(on, Ordering::Relaxed);
    }

    /// Writes to NAME.log in `folder` from now on.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_file(&self, folder: &Path) -> Result<(), LogError> {
        let path = folder.join(format!("{}.log", self.0.name));
        let file = LogFile::open(path.clone());
        self.sinks().file = Some(file.map_err(|source| LogError::File { path, source })?);
        Ok(())
    }

    /// Writes to syslog from now on. To be called before a chroot: the socket stays connected.
    ///
    /// # Errors
    /// When there is none.
    pub fn open_syslog(&self) -> Result<(), LogError> {
        self.open_syslog_at(Path::new("/dev/log"))
    }

    fn open_syslog_at(&self, path: &Path) -> Result<(), LogError> {
        let syslog = Syslog::connect(path);
        let path = path.to_owned();
        self.sinks().syslog = Some(syslog.map_err(|source| LogError::Syslog { path, source })?);
        Ok(())
    }

    /// Rotates the file when it has reached a size in octets, and keeps so many old ones; never
    /// with `None`. As `Config::log_rotate` has it.
    pub fn set_rotation(&self, rotation: Option<(u64, u32)>) {
        if let Some(file) = &mut self.sinks().file {
            file.rotation = rotation;
        }
    }

    /// Opens the file again, after another program has moved it away.
    ///
    /// # Errors
    /// When it cannot be opened; lines still go to the old file.
    pub fn reopen(&self) -> Result<(), LogError> {
        match &mut self.sinks().file {
            Some(file) => file
                .reopen()
                .map_err(|source| LogError::File { path: file.path().to_owned(), source }),
            None => Ok(()),
        }
    }

    /// Whether lines of this level are written: to save making them.
    pub fn enabled(&self, level: LogLevel) -> bool {
        level <= self.0.level
    }

    /// Writes a line.
    pub fn write(&self, level: LogLevel, text: fmt::Arguments<'_>) {
        if !self.enabled(level) {
            return;
        }
        let mut line = Line::begin(&self.0.name, level, chronoscope_clock::utc_now_ns());
        line.append(text);
        let mut sinks = self.sinks();
        let mut failed = false;
        if self.0.stderr.load(Ordering::Relaxed) {
            failed |= io::stderr().lock().write_all(line.whole().as_bytes()).is_err();
        }
        if let Some(file) = &mut sinks.file {
            failed |= file.write(line.whole().as_bytes()).is_err();
        }
        if let Some(syslog) = &mut sinks.syslog {
            failed |= syslog.send(&self.0.name, level, line.for_syslog()).is_err();
        }
        if failed {
            self.0.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lines that could not be written, for the status page.
    pub fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }

    fn sinks(&self) -> MutexGuard<'_, Sinks> {
        self.0.sinks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// aprsc's name of a level.
fn level_name(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Critical => "CRIT",
        LogLevel::Error => "ERROR",
        LogLevel::Warning => "WARNING",
        LogLevel::Info => "INFO",
        LogLevel::Debug => "DEBUG",
    }
}

/// A line in the making.
struct Line {
    text: String,
    /// Begin of the level: syslog has its own stamp and name before that.
    level_at: usize,
}

impl Line {
    fn begin(name: &str, level: LogLevel, utc_ns: i64) -> Self {
        let mut text = String::with_capacity(160);
        let (pid, thread) = (std::process::id(), nix::unistd::gettid());
        // Writing to a string does not fail.
        let _ = write!(text, "{} {name}[{pid}:{thread}] ", Stamp(utc_ns));
        let level_at = text.len();
        let _ = write!(text, "{}: ", level_name(level));
        Self { text, level_at }
    }

    fn append(&mut self, text: fmt::Arguments<'_>) {
        let _ = Plain { into: &mut self.text, left: TEXT_LEN_MAX }.write_fmt(text);
        self.text.push('\n');
    }

    fn whole(&self) -> &str {
        &self.text
    }

    fn for_syslog(&self) -> &str {
        self.text[self.level_at..].trim_end()
    }
}

/// Text without control characters, up to a length.
struct Plain<'a> {
    into: &'a mut String,
    left: usize,
}

impl fmt::Write for Plain<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if self.left < 4 {
                return Ok(());
            }
            let before = self.into.len();
            if character.is_control() {
                write!(self.into, "\\x{:02x}", u32::from(character))?;
            } else if chronoscope_escape::is_control(character) {
                // It shows the rest of the line in another order.
                write!(self.into, "\\u{:04x}", u32::from(character))?;
            } else {
                self.into.push(character);
            }
            self.left = self.left.saturating_sub(self.into.len() - before);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Log, LogLevel, TEXT_LEN_MAX};
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn a_line_is_one_line_and_has_an_end() {
        let mut line = Line::begin("x", LogLevel::Error, 0);
        line.append(format_args!("a\r\n\x1b[0m{}", "y".repeat(5000)));
        assert_eq!(line.whole().lines().count(), 1);
        assert!(line.for_syslog().starts_with("ERROR: a\\x0d\\x0a\\x1b[0myyy"));
        assert!(line.whole().len() < TEXT_LEN_MAX + 100);
        assert!(line.whole().starts_with("1970/01/01 00:00:00.000000 x["));
    }

    #[test]
    fn what_a_client_says_does_not_steer_a_terminal() {
        let mut line = Line::begin("x", LogLevel::Error, 0);
        line.append(format_args!("N0CALL\u{9b}2J\u{202e}\u{2066}\u{2028}"));
        let said = line.for_syslog();
        assert_eq!(said, "ERROR: N0CALL\\x9b2J\\u202e\\u2066\\u2028");
    }

    #[test]
    fn a_file_has_the_lines_of_its_level() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::new("foo", LogLevel::Warning);
        log.set_stderr(false);
        log.open_file(folder.path()).unwrap();
        log.write(LogLevel::Info, format_args!("unheard"));
        log.write(LogLevel::Warning, format_args!("heard"));
        let path = folder.path().join("foo.log");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("WARNING: heard\n") && text.lines().count() == 1, "{text}");
        // moved away, and opened anew
        std::fs::rename(&path, folder.path().join("away")).unwrap();
        log.write(LogLevel::Error, format_args!("into the old one"));
        log.reopen().unwrap();
        log.write(LogLevel::Error, format_args!("into the new one"));
        assert!(std::fs::read_to_string(&path).unwrap().ends_with("ERROR: into the new one\n"));
        let away = std::fs::read_to_string(folder.path().join("away")).unwrap();
        assert!(away.ends_with("ERROR: into the old one\n"));
        assert!(Log::new("foo", LogLevel::Info).open_file("/nowhere".as_ref()).is_err());
    }

    #[test]
    fn syslog_gets_facility_level_and_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let daemon = UnixDatagram::bind(&path).unwrap();
        let log = Log::new("foo", LogLevel::Info);
        log.set_stderr(false);
        log.open_syslog_at(&path).unwrap();
        log.write(LogLevel::Error, format_args!("ouch"));
        let mut buffer = [0; 256];
        let len = daemon.recv(&mut buffer).unwrap();
        let text = std::str::from_utf8(&buffer[..len]).unwrap();
        // daemon is 3, error is 3
        assert!(text.starts_with("<27>"), "{text}");
        assert!(text.ends_with(&format!(" foo[{}]: ERROR: ouch", std::process::id())), "{text}");
        // nobody reads any more: counted, not waited for
        daemon.set_nonblocking(true).unwrap();
        for _ in 0..100_000 {
            log.write(LogLevel::Info, format_args!("{}", "x".repeat(1000)));
            if log.lost() > 0 {
                return;
            }
        }
        panic!("the socket's queue has no end");
    }
}
