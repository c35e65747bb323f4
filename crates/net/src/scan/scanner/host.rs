//! One host of a scan.

use super::super::Reading;
use super::super::exporter::Exported;
use super::super::readings::ReadingStep;
use super::super::snmp::{Progress, Session, SnmpError};
use super::scrape::Scrape;
use crate::counters::Widths;
use crate::rows::Outcome;
use std::net::SocketAddr;

/// Protocol that the host is queried by, with its state.
#[derive(Debug)]
pub(super) enum HostProtocol {
    Snmp(Box<Session>),
    Exporter(Box<Scrape>),
}

/// Progress of the host in this scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    Asked,
    Done,
}

/// A host, from scan to scan.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) by: &'static str,
    pub(super) kind: HostProtocol,
    /// Or why it has none.
    pub(super) address: Result<SocketAddr, String>,
    pub(super) socket: usize,
    pub(super) phase: Phase,
    /// Time of the first query in this scan, monotonic and UTC.
    pub(super) start_ns: u64,
    pub(super) start_utc_ns: i64,
    /// Time of the last query, monotonic.
    pub(super) sent_ns: u64,
    pub(super) elapsed_ns: u64,
    pub(super) question: Vec<u8>,
    pub(super) retried: bool,
    /// Reason why the kernel did not accept the last query.
    pub(super) unsent: Option<String>,
    /// Fault of an invalid answer.
    nonsense: Option<String>,
    pub(super) outcome: Option<(Outcome, Option<ReadingStep>)>,
}

/// Result of an answer.
pub(super) enum Answered {
    Ignored(SnmpError),
    Ask(Vec<u8>),
    Done(Reading),
    Refused(String),
}

/// Passes received octets to a session.
pub(super) fn answer(session: &mut Session, octets: &[u8], now_ns: u64) -> Answered {
    match session.answer(octets, now_ns) {
        Ok(Progress::Ignored(why)) => Answered::Ignored(why),
        Ok(Progress::Ask(question)) => Answered::Ask(question),
        Ok(Progress::Done(reading)) => Answered::Done(reading),
        Err(error) => Answered::Refused(error.to_string()),
    }
}

/// Reading from an exporter's answer. The host's start is by that host's clock.
pub(super) fn exported(exported: Exported, now_ns: u64, now_utc_ns: i64) -> Reading {
    let up_s = exported.boot_s.map(|boot_s| now_utc_ns as f64 / 1e9 - boot_s);
    // Saturates; below 0 the clocks differ by more than the host has been up.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let up_ns = up_s.map(|up_s| (up_s * 1e9) as u64);
    Reading { at_ns: now_ns, up_ns, widths: Widths::Wide, interfaces: exported.interfaces }
}

impl Host {
    pub(super) fn new(
        name: &str,
        by: &'static str,
        kind: HostProtocol,
        address: Result<SocketAddr, String>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            by,
            kind,
            address,
            socket: 0,
            phase: Phase::Waiting,
            start_ns: 0,
            start_utc_ns: 0,
            sent_ns: 0,
            elapsed_ns: 0,
            question: Vec::new(),
            retried: false,
            unsent: None,
            nonsense: None,
            outcome: None,
        }
    }

    pub(super) const fn by(&self) -> &'static str {
        self.by
    }

    /// Begins the queries of this host.
    pub(super) fn begin(&mut self, now_ns: u64, now_utc_ns: i64) {
        (self.phase, self.retried) = (Phase::Waiting, false);
        (self.start_ns, self.start_utc_ns) = (now_ns, now_utc_ns);
        (self.sent_ns, self.elapsed_ns) = (now_ns, 0);
        (self.unsent, self.nonsense, self.outcome) = (None, None, None);
    }

    /// Notes an invalid datagram. A late one, or the answer to another query, is ignored.
    pub(super) fn ignored(&mut self, why: SnmpError) {
        if !matches!(why, SnmpError::NotAnswer(_)) {
            self.nonsense = Some(why.to_string());
        }
    }

    pub(super) fn done(&mut self, open: &mut usize, step: Option<ReadingStep>) {
        let outcome = step.as_ref().map_or(Outcome::First, |step| Outcome::Counted {
            interval_ns: step.interval_ns,
            advance: step.counters,
            restarted: step.restarted,
        });
        self.end(open, (outcome, step));
    }

    pub(super) fn refuse(&mut self, open: &mut usize, why: String) {
        self.end(open, (Outcome::NotUnderstood(why), None));
    }

    /// Gives the host up for this scan.
    pub(super) fn give_up(&mut self, open: &mut usize) {
        match &mut self.kind {
            HostProtocol::Snmp(session) => session.give_up(),
            HostProtocol::Exporter(scrape) => scrape.close(),
        }
        let why = self.nonsense.take();
        let why = why.or_else(|| Some(format!("cannot be asked: {}", self.unsent.take()?)));
        self.end(open, (why.map_or(Outcome::NoAnswer, Outcome::NotUnderstood), None));
    }

    fn end(&mut self, open: &mut usize, outcome: (Outcome, Option<ReadingStep>)) {
        if self.phase == Phase::Done {
            return;
        }
        self.elapsed_ns = chronoscope_clock::monotonic_ns().saturating_sub(self.start_ns);
        (self.phase, self.outcome) = (Phase::Done, Some(outcome));
        *open = open.saturating_sub(1);
    }
}
