//! Output: writes packets of the feed into a connection.

use super::client::{Client, Way};
use super::feed::Feed;
use super::seam::Output;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::ops::Range;

/// Most octets of the server's own lines that wait for a client.
const TEXT_MAX: usize = 16_000;
/// Octets of scattered packets that are gathered for one write.
const GATHER_MAX: usize = 64 << 10;
/// Interval, one second, between two queries of the kernel for acknowledged octets.
const SECOND_NS: u64 = 1_000_000_000;

/// Octets that wait for a client beside the packets in the feed.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Sent first: the rest of a packet that is partly written, and lines from the server itself.
    text: Vec<u8>,
    /// Arrival time of the oldest of these octets, monotonic nanoseconds.
    since_ns: u64,
    /// The kernel takes nothing now; it will say when it does.
    pub(super) blocked: bool,
    /// Whether the client is in the worker's list of clients with waiting octets.
    pub(super) is_listed: bool,
    /// Octets that the kernel took.
    written: u64,
    /// Number of written octets that are known to be acknowledged.
    acknowledged: u64,
    marks: VecDeque<Mark>,
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
            marks: marks.iter().map(mark).collect(),
            ..Self::default()
        }
    }

    /// Octets that may not be acknowledged, for the next program: cumulative numbers of octets, and
    /// for how long they have been written, in nanoseconds.
    pub(super) fn marks_saved(&self, now_ns: u64) -> Vec<(u64, u64)> {
        let newest = Mark { written: self.written, at_ns: now_ns };
        let octets = |mark: &Mark| mark.written.saturating_sub(self.acknowledged);
        let all = self.marks.iter().chain([&newest]).filter(|mark| octets(mark) > 0);
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
            self.marks = VecDeque::new();
            return 0;
        }
        let marks = &mut self.marks;
        while marks.front().is_some_and(|mark| mark.written <= self.acknowledged) {
            marks.pop_front();
        }
        marks.push_back(Mark { written: self.written, at_ns: now_ns });
        // What a mark counts may have been written a second before it.
        marks.front().map_or(0, |mark| (now_ns - mark.at_ns).saturating_add(SECOND_NS))
    }
}

/// Result of a flush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) octets: u64,
    pub(super) packets: u64,
}

type Runs = SmallVec<[Range<u64>; 8]>;

/// Arrival time of the oldest packet that waits for `client`; `None` where nothing waits, 0 where
/// that packet has left the feed.
pub(super) fn oldest_ns(client: &Client, feed: &Feed) -> Option<u64> {
    let text = (!client.outbox.text.is_empty()).then_some(client.outbox.since_ns);
    let packet = first_waiting(&client.way, feed).map(|number| feed.arrived_ns(number));
    text.into_iter().chain(packet).min()
}

/// Number of the first packet that waits.
pub(super) fn first_waiting(way: &Way, feed: &Feed) -> Option<u64> {
    match way {
        Way::Nothing | Way::Datagrams { .. } => None,
        Way::Full { next, .. } | Way::Duplicates { next } => (*next < feed.next()).then_some(*next),
        Way::Listed(list) => list.first().map(|low| number_of(*low, feed)),
    }
}

/// Octets that wait.
pub(super) fn waiting_bytes(client: &Client, feed: &Feed) -> u64 {
    let runs = runs_of(&client.way, feed, usize::MAX);
    let packets: usize = runs.iter().map(|run| feed.len_of(run)).sum();
    (client.outbox.text.len() + packets) as u64
}

/// The packets that wait, as octets.
pub(super) fn waiting_packets(client: &Client, feed: &Feed) -> Vec<u8> {
    let runs = runs_of(&client.way, feed, usize::MAX);
    runs.iter().flat_map(|run| feed.slices(run).concat()).collect()
}

/// Writes what waits for a client, as far as the kernel accepts it.
///
/// # Errors
/// When the connection is broken.
pub(super) fn write(
    client: &mut Client,
    feed: &Feed,
    scratch: &mut Vec<u8>,
    out: &mut impl Output,
) -> io::Result<Written> {
    let mut all = Written::default();
    while !client.outbox.blocked {
        let runs = runs_of(&client.way, feed, GATHER_MAX);
        if runs.is_empty() && client.outbox.text.is_empty() {
            break;
        }
        let octets = write_once(client, &runs, feed, scratch, out)?;
        all.octets += octets as u64;
        all.packets += taken(client, &runs, octets, feed);
    }
    client.outbox.written += all.octets;
    client.counted.bytes_tx += all.octets;
    client.counted.packets_tx += all.packets;
    Ok(all)
}

fn write_once(
    client: &Client,
    runs: &Runs,
    feed: &Feed,
    scratch: &mut Vec<u8>,
    out: &mut impl Output,
) -> io::Result<usize> {
    let text = IoSlice::new(&client.outbox.text);
    let [front, back] = match &runs[..] {
        [run] => feed.slices(run),
        _ => {
            scratch.clear();
            for run in runs {
                for slice in feed.slices(run) {
                    scratch.extend_from_slice(slice);
                }
            }
            [&scratch[..], &[]]
        }
    };
    let slices: SmallVec<[IoSlice<'_>; 3]> = [text, IoSlice::new(front), IoSlice::new(back)]
        .into_iter()
        .filter(|slice| !slice.is_empty())
        .collect();
    out.write(client.conn, &slices)
}

/// Marks the first `octets` octets of the text and of `runs` as written. Returns the number of
/// packets that are complete, or will be with the text.
fn taken(client: &mut Client, runs: &Runs, octets: usize, feed: &Feed) -> u64 {
    let outbox = &mut client.outbox;
    if octets < outbox.text.len() {
        outbox.text.drain(..octets);
        outbox.blocked = true;
        return 0;
    }
    let mut rest = octets - outbox.text.len();
    outbox.text = Vec::new();
    let mut packets = 0;
    let mut before = None;
    for run in runs {
        let len = feed.len_of(run);
        if rest >= len {
            rest -= len;
            packets += run.end - run.start;
            before = Some(run.end);
            continue;
        }
        outbox.blocked = true;
        let (number, within) = feed.split(run, rest);
        packets += number - run.start;
        if within > 0 {
            outbox.since_ns = feed.arrived_ns(number);
            let octets = feed.slices(&(number..number + 1)).concat();
            outbox.text.extend_from_slice(&octets[within..]);
            packets += 1;
        }
        before = Some(number + u64::from(within > 0));
        break;
    }
    // Once for all runs: it moves what waits.
    if let Some(before) = before {
        client.way.written_before(before, feed);
    }
    packets
}

impl Way {
    /// All before `number` is written.
    fn written_before(&mut self, number: u64, feed: &Feed) {
        match self {
            Self::Nothing | Self::Datagrams { .. } => {}
            Self::Duplicates { next } => *next = number,
            Self::Full { next, own } => {
                *next = number;
                let mut passed = 0;
                for own in own.iter() {
                    // The rest of the range may consist of its own packets.
                    if *own == *next {
                        *next += 1;
                    } else if *own > *next {
                        break;
                    }
                    passed += 1;
                }
                own.drain(..passed);
            }
            Self::Listed(list) => {
                let written = list.partition_point(|low| number_of(*low, feed) < number);
                list.drain(..written);
                if list.is_empty() && list.capacity() > 64 {
                    *list = Vec::new();
                }
            }
        }
    }
}

/// Numbers of the waiting packets, in runs; not many more than `octets_max` octets where there are
/// several runs.
fn runs_of(way: &Way, feed: &Feed, octets_max: usize) -> Runs {
    let mut runs = Runs::new();
    match way {
        Way::Nothing | Way::Datagrams { .. } => {}
        Way::Duplicates { next } => push(&mut runs, *next..feed.next()),
        Way::Full { next, own } => {
            let (mut from, mut octets) = (*next, 0_usize);
            for end in own.iter().copied().chain([feed.next()]) {
                let run = from..end;
                from = end + 1;
                octets = octets.saturating_add(feed.len_of(&run));
                if octets > octets_max && !runs.is_empty() {
                    break;
                }
                push(&mut runs, run);
            }
        }
        Way::Listed(list) => {
            let mut octets = 0;
            for low in list {
                let number = number_of(*low, feed);
                octets += feed.len_of(&(number..number + 1));
                match runs.last_mut() {
                    Some(run) if run.end == number => run.end += 1,
                    _ if octets > octets_max => break,
                    _ => runs.push(number..number + 1),
                }
            }
        }
    }
    runs
}

fn push(runs: &mut Runs, run: Range<u64>) {
    if !run.is_empty() {
        runs.push(run);
    }
}

/// The number whose low half is `low`, of those in the feed. A feed never has as many packets as
/// half of a `u32` counts.
fn number_of(low: u32, feed: &Feed) -> u64 {
    let first = feed.first();
    #[allow(clippy::cast_possible_truncation)] // the low half is what is wanted
    let ahead = low.wrapping_sub(first as u32);
    first + u64::from(ahead)
}

#[cfg(test)]
mod tests {
    use super::{GATHER_MAX, Runs, Way, runs_of};
    use crate::engine::feed::Feed;

    /// Writes run by run what waits, as octets, with nothing left over.
    fn write_all(way: &mut Way, feed: &Feed) -> Vec<u8> {
        let mut written = Vec::new();
        loop {
            let runs: Runs = runs_of(way, feed, GATHER_MAX);
            let Some(last) = runs.last() else { return written };
            let octets: Vec<u8> = runs.iter().flat_map(|run| feed.slices(run).concat()).collect();
            let longest = runs.iter().map(|run| feed.len_of(run)).max().unwrap();
            assert!(octets.len() <= GATHER_MAX.max(longest), "{} at once", octets.len());
            written.extend(octets);
            way.written_before(last.end, feed);
        }
    }

    /// A client that sent so much while it did not read: each step is done once, not once for each
    /// packet of its own, with which this would not end.
    #[test]
    fn own_packets_in_their_hundred_thousands_are_passed_over_at_once() {
        let mut feed = Feed::default();
        let mut own = std::collections::VecDeque::new();
        for number in 0..600_000_u64 {
            let is_own = number > 400_000 || number % 2 == 1;
            feed.push([if is_own { b"own" } else { b"of another" }, b""], 0);
            if is_own {
                own.push_back(number);
            }
        }
        let mut way = Way::Full { next: 0, own };
        assert_eq!(write_all(&mut way, &feed).len(), 200_001 * b"of another".len());
        let Way::Full { next, own } = &way else { unreachable!() };
        assert_eq!((*next, own.len()), (600_000, 0));
    }

    #[test]
    fn a_packet_written_half_way_leaves_the_rest_in_order() {
        let mut feed = Feed::default();
        for number in 0..8_u8 {
            feed.push([&[b'0' + number], b""], 0);
        }
        let mut way = Way::Full { next: 0, own: [2, 3, 6].into() };
        way.written_before(2, &feed);
        assert!(matches!(&way, Way::Full { next: 4, own } if *own == [6]));
        way.written_before(5, &feed);
        assert!(matches!(&way, Way::Full { next: 5, own } if *own == [6]));
        assert_eq!(write_all(&mut way, &feed), b"57");
        assert!(matches!(&way, Way::Full { next: 8, own } if own.is_empty()));
    }
}
