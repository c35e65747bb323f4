//! Octets that wait for a client beside the packets of the feed, and the age of what the client has
//! not acknowledged.

use std::collections::VecDeque;

/// Most octets of the server's own lines that wait for a client.
const TEXT_MAX: usize = 16_000;
/// Interval, one second, between two queries of the kernel for acknowledged octets.
const SECOND_NS: u64 = 1_000_000_000;

/// Octets that wait for a client beside the packets in the feed.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Sent first: the rest of a packet that is partly written, and lines from the server itself.
    pub(super) text: Vec<u8>,
    /// Arrival time of the oldest of these octets, monotonic nanoseconds.
    pub(super) since_ns: u64,
    /// The kernel takes nothing now; it will say when it does.
    pub(super) blocked: bool,
    /// Whether the client is in the worker's list of clients with waiting octets.
    pub(super) is_listed: bool,
    /// Octets that the kernel took.
    pub(super) written: u64,
    /// Number of written octets that are known to be acknowledged.
    acknowledged: u64,
    /// Nothing where all is acknowledged, as mostly.
    #[expect(clippy::box_collection, reason = "a pointer is smaller in thousands of clients")]
    marks: Option<Box<VecDeque<Mark>>>,
}

/// Number of octets written by a certain time.
#[derive(Clone, Copy, Debug)]
struct Mark {
    written: u64,
    at_ns: u64,
}

impl Outbox {
    /// Continues the outbox of an earlier program: with `text` that has waited since `since_ns`,
    /// and with the marks of [`marks_saved`](Self::marks_saved).
    pub(super) fn restore(text: Vec<u8>, since_ns: u64, marks: &[(u64, u64)], now_ns: u64) -> Self {
        let mark = |(octets, age_ns): &(u64, u64)| Mark {
            written: *octets,
            at_ns: now_ns.saturating_sub(*age_ns),
        };
        Self {
            text,
            since_ns,
            written: marks.iter().map(|(octets, _)| *octets).max().unwrap_or(0),
            marks: Some(Box::new(marks.iter().map(mark).collect())),
            ..Self::default()
        }
    }

    /// Octets that may not be acknowledged, for the next program: cumulative numbers of octets, and
    /// for how long they have been written, in nanoseconds.
    pub(super) fn marks_saved(&self, now_ns: u64) -> Vec<(u64, u64)> {
        let newest = Mark { written: self.written, at_ns: now_ns };
        let octets = |mark: &Mark| mark.written.saturating_sub(self.acknowledged);
        let all = self
            .marks
            .iter()
            .flat_map(|marks| marks.iter())
            .chain([&newest])
            .filter(|mark| octets(mark) > 0);
        all.map(|mark| (octets(mark), now_ns.saturating_sub(mark.at_ns))).collect()
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Adds a line of the server's own; false where too many wait.
    pub(super) fn say(&mut self, line: &[u8], now_ns: u64) -> bool {
        if self.text.is_empty() {
            self.since_ns = now_ns;
        }
        self.text.extend_from_slice(line);
        self.text.len() <= TEXT_MAX
    }

    /// Lower bound, in nanoseconds, of the time for which the oldest octet that the client has not
    /// acknowledged has been in the kernel. To be called once a second.
    pub(super) fn unacknowledged_ns(
        &mut self,
        now_ns: u64,
        unacknowledged: impl FnOnce() -> usize,
    ) -> u64 {
        if self.acknowledged == self.written {
            return 0;
        }
        let waiting = unacknowledged() as u64;
        self.acknowledged = self.written.saturating_sub(waiting);
        if waiting == 0 {
            self.marks = None;
            return 0;
        }
        let marks = self.marks.get_or_insert_default();
        while marks.front().is_some_and(|mark| mark.written <= self.acknowledged) {
            marks.pop_front();
        }
        marks.push_back(Mark { written: self.written, at_ns: now_ns });
        // What a mark counts may have been written a second before it.
        marks.front().map_or(0, |mark| (now_ns - mark.at_ns).saturating_add(SECOND_NS))
    }
}
