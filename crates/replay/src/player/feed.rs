//! One recorded input, read as it is delivered: cut to the replayed part, and thinned.

use super::before::Before;
use super::delivered::Delivered;
use super::login::Lines;
use super::recordings::{FeedError, Recordings};
use super::select::{FeedKind, Select, Transport};
use super::thinning::Thinning;
use crate::capture::Arrival;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Part of its recordings that an input delivers; all of them by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedPart {
    /// The connections carry lines, which are not cut.
    pub lines: Option<Lines>,
    /// One of so many datagrams, connections or lines is delivered; all with 0 and 1.
    pub one_of: u64,
    /// Seed of the choice among them.
    pub seed: u64,
    /// What comes before this instant, UTC ns since 1970, is left out; connections that are open
    /// then are opened at it.
    pub from_ns: Option<i64>,
}

/// One recorded input and its destination.
#[derive(Debug)]
pub struct Feed {
    /// Deliveries so far.
    pub delivered: Delivered,
    /// Destination address.
    pub target: SocketAddr,
    /// Transport protocol.
    pub transport: Transport,
    recordings: Recordings,
    thinning: Option<Thinning>,
    before: Option<Before>,
    waiting: VecDeque<Arrival>,
    until_ns: Option<i64>,
    over: bool,
    /// Reason why it cannot be read further; due at the last time seen.
    failed: Option<FeedError>,
}

impl Feed {
    /// An input from one recording: a capture, a folder of captures (read in the order of their
    /// names), a journal's file or a journal's folder.
    ///
    /// # Errors
    /// As [`Feed::open_all`].
    pub fn open(
        name: &str,
        kind: FeedKind,
        path: &Path,
        select: Select,
        to: (Transport, SocketAddr),
    ) -> Result<Self, FeedError> {
        Self::open_all(name, kind, &[path.to_owned()], select, to)
    }

    /// An input from several recordings, as of several days: each at its own time, one after the
    /// other.
    ///
    /// # Errors
    /// [`FeedError`] when there is nothing, the first file is refused, or they are not in the
    /// order of their times.
    pub fn open_all(
        name: &str,
        kind: FeedKind,
        paths: &[PathBuf],
        select: Select,
        (transport, target): (Transport, SocketAddr),
    ) -> Result<Self, FeedError> {
        let recordings = Recordings::open(name, paths, select, transport)?;
        let name = name.to_owned();
        let mut feed = Self {
            delivered: Delivered { name, kind, one_of: 1, ..Delivered::default() },
            target,
            transport,
            recordings,
            thinning: None,
            before: None,
            waiting: VecDeque::new(),
            until_ns: None,
            over: false,
            failed: None,
        };
        feed.fill();
        Ok(feed)
    }

    /// Delivers a part of the recordings only. Once, before anything was taken or cut.
    pub fn select(&mut self, part: FeedPart) {
        let FeedPart { lines, one_of, seed, from_ns } = part;
        self.thinning = (one_of > 1).then(|| Thinning::new(one_of, seed, lines));
        self.delivered.one_of = one_of.max(1);
        self.before = from_ns.map(|from_ns| Before::new(from_ns, lines));
        for arrival in std::mem::take(&mut self.waiting) {
            self.pass(arrival);
        }
        self.fill();
    }

    /// Recorded time of the next arrival, UTC ns; never before the one before it. Of a recording
    /// that cannot be read further, the time of that place. `None` at the end.
    #[must_use]
    pub fn next_ns(&self) -> Option<i64> {
        let failed = self.failed.as_ref().map(|_| self.recordings.last_ns);
        self.waiting.front().map(|arrival| arrival.at_ns).or(failed)
    }

    /// Ends the delivery at this instant.
    pub fn cut(&mut self, until_ns: i64) {
        self.until_ns = Some(until_ns);
        self.stop_at_cut();
    }

    /// The next arrival; reads on for the one after it.
    ///
    /// # Errors
    /// [`FeedError`] when the recording cannot be read on.
    pub fn take(&mut self) -> Result<Option<Arrival>, FeedError> {
        let Some(taken) = self.waiting.pop_front() else {
            return self.failed.take().map_or(Ok(None), Err);
        };
        if self.waiting.is_empty() {
            self.fill();
        }
        Ok(Some(taken))
    }

    /// From now on deliveries are those of the window; the ones before were the lead-in's.
    pub(super) fn begin_window(&mut self) {
        let delivered = &mut self.delivered;
        delivered.lead_in_inputs = delivered.inputs;
        (delivered.inputs, delivered.bytes, delivered.answer_bytes) = (0, 0, 0);
    }

    /// Deliveries, with what was left out and the recordings.
    #[must_use]
    pub fn result(&self) -> Delivered {
        let several = self.recordings.reports.len() > 1;
        Delivered {
            skipped: self.before.as_ref().map_or(0, |before| before.skipped),
            recordings: if several { self.recordings.reports.clone() } else { Vec::new() },
            ..self.delivered.clone()
        }
    }

    /// Files that end within a block or frame, and what the capture lacks.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.recordings.remarks
    }

    fn stop_at_cut(&mut self) {
        let cut = self.until_ns.is_some_and(|until| self.next_ns().is_some_and(|at| at >= until));
        if cut {
            self.waiting.clear();
            (self.over, self.failed) = (true, None);
        }
    }

    fn fill(&mut self) {
        while self.waiting.is_empty() && !self.over {
            match self.recordings.next() {
                Ok(Some(arrival)) => self.pass(arrival),
                Ok(None) => {
                    self.over = true;
                    self.waiting
                        .extend(self.before.as_mut().map(Before::finish).unwrap_or_default());
                }
                Err(error) => (self.over, self.failed) = (true, Some(error)),
            }
        }
        self.stop_at_cut();
    }

    fn pass(&mut self, arrival: Arrival) {
        let at_ns = arrival.at_ns;
        let (kept, left_out) = match &mut self.thinning {
            Some(thinning) => thinning.pass(arrival),
            None => (Some(arrival), 0),
        };
        let is_replayed = self.before.as_ref().is_none_or(|before| before.is_over_at(at_ns));
        self.delivered.thinned += if is_replayed { left_out } else { 0 };
        let Some(arrival) = kept else { return };
        match &mut self.before {
            Some(before) => self.waiting.extend(before.pass(arrival)),
            None => self.waiting.push_back(arrival),
        }
    }
}
