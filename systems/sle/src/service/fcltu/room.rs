//! Room in the station's buffer, as its returns and reports tell it, and how much may be sent for it.
//!
//! Source: CCSDS 912.1, `cltu-buffer-available` in the return of TRANSFER-DATA and in STATUS-REPORT.
//! A CLTU that finds no room is refused ("unable to store"), and so is every CLTU sent behind it: all
//! of them cross the link for nothing. So no more is under way than the station has reported room
//! for. Where no report comes by itself, one CLTU is sent to obtain one, after a pause that doubles
//! with each refusal.

use super::sizes::SizeRuns;

/// Octets that may be under way before the station has reported its room: what TCP's first segments
/// hold.
const UNREPORTED_OCTETS: u64 = 16_384;
/// The first pause before a CLTU is sent without known room, in ns.
const PAUSE_NS_MIN: u64 = 10_000_000;
/// The longest one, in ns.
const PAUSE_NS_MAX: u64 = 1_000_000_000;
/// A provider that accepts so many CLTUs while it reports no room, and has refused none, does not
/// report its room.
const ACCEPTED_WITHOUT_ROOM: u32 = 8;

/// When the next invocation may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendPermit {
    /// Now.
    Now,
    /// When a return, a notification or a report has come.
    AfterReport,
    /// As [`Self::AfterReport`], at the latest at this time of the monotonic clock, in ns.
    At(u64),
}

/// The room in the station's buffer for one session, from START to STOP.
#[derive(Clone, Debug)]
pub struct StationRoom {
    /// Free octets by the last report, until something else is known.
    available: Option<u64>,
    /// The most free octets that were ever reported: the buffer has at least this size.
    most: u64,
    in_flight: SizeRuns,
    /// Sizes of an invocation did not fit into `in_flight`: octets are not counted any more.
    is_uncounted: bool,
    /// Accepted and not known to have left the buffer; `None` when there were too many sizes.
    waiting: Option<SizeRuns>,
    /// Invocations without a return, at most; a refusal sets it to 1 and each acceptance adds 1.
    limit: usize,
    /// A CLTU was refused, and no later report shows more room.
    is_refused: bool,
    /// Nothing was sent since the last refusal: those that follow belong to it.
    is_same_refusal: bool,
    /// A CLTU may be sent from this time on, whatever is known of the room; monotonic, in ns.
    next_ns: u64,
    pause_ns: u64,
    /// CLTUs accepted while no room was reported, before the first refusal; `None`: reports are used.
    accepted_without_room: Option<u32>,
}

impl Default for StationRoom {
    fn default() -> Self {
        Self {
            available: None,
            most: 0,
            in_flight: SizeRuns::default(),
            is_uncounted: false,
            waiting: Some(SizeRuns::default()),
            limit: usize::MAX,
            is_refused: false,
            is_same_refusal: false,
            next_ns: 0,
            pause_ns: PAUSE_NS_MIN,
            accepted_without_room: Some(0),
        }
    }
}

impl StationRoom {
    /// Whether an invocation with `octets` of CLTUs may be sent while `open` invocations have no
    /// return. `now_ns` (monotonic) is read only where nothing is under way.
    pub fn permit(&self, octets: usize, open: usize, now_ns: impl FnOnce() -> u64) -> SendPermit {
        let octets = octets as u64;
        let Some(room) = self.room() else {
            // The first return tells the room.
            let is_little = self.in_flight.octets() + octets <= UNREPORTED_OCTETS;
            return if open == 0 || is_little { SendPermit::Now } else { SendPermit::AfterReport };
        };
        let is_ignored = self.reports_nothing() || self.is_uncounted;
        let has_room = is_ignored || self.in_flight.octets() + octets <= room;
        if open > 0 {
            let is_free = has_room && open < self.limit && !self.is_refused;
            return if is_free { SendPermit::Now } else { SendPermit::AfterReport };
        }
        if has_room && !self.is_refused || now_ns() >= self.next_ns {
            SendPermit::Now
        } else {
            SendPermit::At(self.next_ns)
        }
    }

    /// Free octets at least; `None` before the first report.
    fn room(&self) -> Option<u64> {
        let left =
            self.waiting.as_ref().map_or(0, |sizes| self.most.saturating_sub(sizes.octets()));
        Some(self.available?.max(left))
    }

    fn reports_nothing(&self) -> bool {
        self.accepted_without_room.is_some_and(|count| count >= ACCEPTED_WITHOUT_ROOM)
    }

    /// A CLTU of an invocation is sent.
    pub fn sent(&mut self, octets: usize) {
        let octets = u32::try_from(octets).unwrap_or(u32::MAX);
        self.is_uncounted |= !self.in_flight.push(octets, 1);
        self.is_same_refusal = false;
    }

    /// A return has accepted the oldest `count` CLTUs; the octets of these CLTUs.
    pub fn accepted(&mut self, count: u32, available: u32, now_ns: u64) -> u64 {
        let mut octets = 0;
        let (mut largest, waiting) = (0, &mut self.waiting);
        self.in_flight.pop(count, |size, count| {
            octets += u64::from(size) * u64::from(count);
            largest = largest.max(size);
            if waiting.as_mut().is_some_and(|sizes| !sizes.push(size, count)) {
                *waiting = None;
            }
        });
        if let Some(without) = &mut self.accepted_without_room {
            if available >= largest {
                self.accepted_without_room = None;
            } else {
                *without = without.saturating_add(count);
            }
        }
        self.limit = self.limit.saturating_add(1);
        self.is_refused = false;
        self.pause_ns = (self.pause_ns / 2).max(PAUSE_NS_MIN);
        self.reported(available);
        self.next_ns = now_ns.saturating_add(self.pause_ns);
        octets
    }

    /// A return has refused the oldest `count` CLTUs.
    pub fn refused(&mut self, count: u32, available: u32, now_ns: u64) {
        self.in_flight.pop(count, |_, _| {});
        self.accepted_without_room = None;
        self.reported(available);
        self.is_refused = true;
        if !std::mem::replace(&mut self.is_same_refusal, true) {
            self.limit = 1;
            self.next_ns = now_ns.saturating_add(self.pause_ns);
            self.pause_ns = (self.pause_ns * 2).min(PAUSE_NS_MAX);
        }
    }

    /// The station reports free octets.
    pub fn reported(&mut self, available: u32) {
        let available = u64::from(available);
        self.available = Some(available);
        self.most = self.most.max(available);
    }

    /// The oldest `count` accepted CLTUs have left the buffer.
    pub fn left(&mut self, count: u32) {
        if let Some(waiting) = &mut self.waiting {
            waiting.pop(count, |_, _| {});
            self.is_refused = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SendPermit::{AfterReport, At, Now};
    use super::*;

    const MS: u64 = 1_000_000;

    fn with(most: u32) -> StationRoom {
        let mut room = StationRoom::default();
        room.sent(100);
        assert_eq!(room.accepted(1, most, 0), 100);
        room.left(1);
        room
    }

    #[test]
    fn before_the_first_return_little_is_under_way() {
        let mut room = StationRoom::default();
        assert_eq!(room.permit(60_000, 0, || 0), Now);
        room.sent(10_000);
        assert_eq!(room.permit(6_384, 1, || 0), Now);
        assert_eq!(room.permit(6_385, 1, || 0), AfterReport);
        room.accepted(1, 1000, 0);
        assert_eq!(room.permit(100, 0, || 0), Now);
    }

    #[test]
    fn no_more_is_under_way_than_there_is_room_for() {
        let mut room = with(250);
        for open in 0..2 {
            assert_eq!(room.permit(100, open, || 0), Now);
            room.sent(100);
        }
        assert_eq!(room.permit(100, 2, || 0), AfterReport);
        room.accepted(1, 150, 0);
        assert_eq!(room.permit(100, 1, || 0), AfterReport, "one of 150 octets is under way");
        room.accepted(1, 50, 0);
        assert_eq!(room.permit(100, 0, || 0), At(10 * MS));
        room.left(2);
        assert_eq!(room.permit(100, 0, || 0), Now, "both were radiated");
    }

    #[test]
    fn after_each_refusal_one_cltu_is_sent_and_the_pause_doubles() {
        let mut room = with(1000);
        let mut now_ns = 0;
        for pause in [10, 20, 40] {
            room.sent(100);
            room.refused(1, 1000, now_ns);
            assert_eq!(room.permit(100, 0, || now_ns), At(now_ns + pause * MS));
            now_ns += pause * MS;
            assert_eq!(room.permit(100, 0, || now_ns), Now);
        }
        room.sent(100);
        assert_eq!(room.permit(100, 1, || now_ns), AfterReport, "one at a time");
        room.accepted(1, 1000, now_ns);
        room.sent(100);
        assert_eq!(room.permit(100, 1, || now_ns), Now, "and then one more");
    }

    #[test]
    fn a_station_that_never_reports_room_is_not_waited_for() {
        let mut room = StationRoom::default();
        let mut now_ns = 0;
        for _ in 0..ACCEPTED_WITHOUT_ROOM {
            assert_eq!(room.permit(100, 0, || now_ns), Now);
            room.sent(100);
            room.accepted(1, 0, now_ns);
            now_ns += 10 * MS;
        }
        room.sent(100);
        assert_eq!(room.permit(100, 1, || now_ns), Now);
        room.refused(1, 0, now_ns);
        assert_eq!(
            room.permit(100, 0, || now_ns),
            At(now_ns + 10 * MS),
            "it has a limit after all"
        );
    }
}
