//! Records a server: its worker's calls as events.

use super::frame::{Header, JournalError, What};
use super::writer::{Journal, Recorded};
use crate::engine::seam::{Input, LogLevel, Now, Output};
use crate::engine::server::Server;
use crate::engine::worker::Worker;
use std::path::Path;

/// Longest time for which written frames wait in memory, in nanoseconds.
const FLUSH_NS: u64 = 1_000_000_000;

impl Journal {
    /// Records all that comes into `server`, whose worker has not been made yet. `started` is the
    /// instant that the server was made with.
    ///
    /// # Errors
    /// When the file cannot be written, or the server has more workers than one.
    pub fn of(server: &Server, path: &Path, started: Now) -> Result<Self, JournalError> {
        if server.workers() != 1 {
            return Err(JournalError::Workers(server.workers()));
        }
        let header = Header {
            seed: server.seed,
            started,
            config_crc: Header::config_crc(&server.config()),
            software: server.identity.software.as_ref().to_owned(),
            version: server.identity.version.as_ref().to_owned(),
        };
        let journal = Self::create(path, &header)?;
        server.record_to(journal.clone());
        Ok(journal)
    }
}

impl Worker {
    /// Records all that comes in from now on: to be called before anything has.
    pub fn record_to(&mut self, journal: Journal) {
        self.journal = Some(journal);
    }

    /// Processes one input from outside, and records it.
    pub fn input(&mut self, now: Now, input: Input<'_>, out: &mut impl Output) {
        let Some(journal) = self.journal.clone() else { return self.take_input(now, input, out) };
        let outer = begin(&journal, now, &What::Input(input.clone()));
        if !outer {
            return self.take_input(now, input, out);
        }
        self.take_input(now, input, &mut Recorded { out, journal: &journal });
        end(&journal, now, out);
    }

    /// Takes what other threads have for this worker: to be called after its waker was.
    pub fn mail(&mut self, now: Now, out: &mut impl Output) {
        let Some(journal) = self.journal.clone() else { return self.take_mail(now, out) };
        begin(&journal, now, &What::Mail);
        self.take_mail(now, &mut Recorded { out, journal: &journal });
        end(&journal, now, out);
    }

    /// Does what is due at `now`, and records the call.
    pub fn tick(&mut self, now: Now, out: &mut impl Output) {
        let Some(journal) = self.journal.clone() else { return self.take_tick(now, out) };
        begin(&journal, now, &What::Tick);
        self.take_tick(now, &mut Recorded { out, journal: &journal });
        end(&journal, now, out);
    }

    /// Takes the configuration that [`Server::reload`](crate::engine::Server::reload) put in force:
    /// from the next input on, indices are those in it. Clients of ports that are gone stay until
    /// they leave. A recording ends here, since a replay has one configuration.
    pub fn configure(&mut self, now: Now, out: &mut impl Output) {
        if let Some(journal) = self.journal.take() {
            match journal.finish(now) {
                Ok(_) => out.log(
                    LogLevel::Warning,
                    format_args!("the recording ends here: the configuration changes"),
                ),
                Err(error) => {
                    out.log(LogLevel::Error, format_args!("the recording is lost: {error}"));
                }
            }
        }
        self.take_configure(now, out);
    }
}

/// Writes an event. Returns whether it is an event of its own, not one within another.
fn begin(journal: &Journal, now: Now, what: &What<'_>) -> bool {
    journal.with(|writer| {
        writer.event(now, what);
        !std::mem::replace(&mut writer.busy, true)
    })
}

fn end(journal: &Journal, now: Now, out: &mut impl Output) {
    journal.with(|writer| {
        writer.busy = false;
        if now.monotonic_ns.saturating_sub(writer.flushed_ns) >= FLUSH_NS {
            writer.flush(now);
        }
        if let Some(error) = &writer.failed
            && !std::mem::replace(&mut writer.failure_told, true)
        {
            out.log(LogLevel::Error, format_args!("the recording ends here: {error}"));
        }
    });
}
