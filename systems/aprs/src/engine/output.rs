//! Output: writes packets of the feed into a connection.

use super::client::Client;
use super::feed::Feed;
use super::seam::Output;
use super::subscription::{Runs, first_waiting, runs_of};
use smallvec::SmallVec;
use std::io::{self, IoSlice};
use std::ops::Range;

/// Octets of scattered packets that are gathered for one write.
pub(super) const GATHER_MAX: usize = 64 << 10;
/// Result of a flush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) octets: u64,
    pub(super) packets: u64,
}

/// Arrival time of the oldest packet that waits for `client`; `None` where nothing waits, 0 where
/// that packet has left the feed.
pub(super) fn oldest_ns(client: &Client, feed: &Feed) -> Option<u64> {
    let text = (!client.outbox.text.is_empty()).then_some(client.outbox.since_ns);
    let packet = first_waiting(&client.subscription, feed).map(|number| feed.arrived_ns(number));
    text.into_iter().chain(packet).min()
}

/// Octets that wait.
pub(super) fn waiting_bytes(client: &Client, feed: &Feed) -> u64 {
    let runs = runs_of(&client.subscription, feed, usize::MAX);
    let packets: usize = runs.iter().map(|run| feed.len_of(run)).sum();
    (client.outbox.text.len() + packets) as u64
}

/// The packets that wait, as octets.
pub(super) fn waiting_packets(client: &Client, feed: &Feed) -> Vec<u8> {
    let runs = runs_of(&client.subscription, feed, usize::MAX);
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
    loop {
        scratch.clear();
        let Some(gathered) = gather(client, feed, scratch) else { return Ok(all) };
        let octets = out.write(client.conn, &gathered.slices(client, feed, scratch))?;
        let written = settle(client, &gathered, octets, feed);
        all.octets += written.octets;
        all.packets += written.packets;
    }
}

/// What one write to a client is to have: its text, then packets.
#[derive(Debug)]
pub(super) struct Gathered {
    runs: Runs,
    /// Place of the packets in the scratch memory, where they are several runs.
    scattered: Option<Range<usize>>,
}

/// Gathers what waits for a client; `None` where it is nothing, or the kernel takes nothing.
/// Packets in several runs are appended to `scratch`.
pub(super) fn gather(client: &Client, feed: &Feed, scratch: &mut Vec<u8>) -> Option<Gathered> {
    let has_packets = first_waiting(&client.subscription, feed).is_some();
    if client.outbox.blocked || !has_packets && client.outbox.text.is_empty() {
        return None;
    }
    let runs = runs_of(&client.subscription, feed, GATHER_MAX);
    if runs.is_empty() && client.outbox.text.is_empty() {
        return None;
    }
    let scattered = (runs.len() > 1).then(|| {
        let start = scratch.len();
        for slice in runs.iter().flat_map(|run| feed.slices(run)) {
            scratch.extend_from_slice(slice);
        }
        start..scratch.len()
    });
    Some(Gathered { runs, scattered })
}

impl Gathered {
    /// The octets, of which there are some.
    pub(super) fn slices<'a>(
        &self,
        client: &'a Client,
        feed: &'a Feed,
        scratch: &'a [u8],
    ) -> SmallVec<[IoSlice<'a>; 3]> {
        let [front, back] = match (&self.scattered, &self.runs[..]) {
            (Some(place), _) => [&scratch[place.clone()], &[]],
            (None, [run]) => feed.slices(run),
            (None, _) => [&[][..], &[]],
        };
        [&client.outbox.text[..], front, back]
            .into_iter()
            .filter(|slice| !slice.is_empty())
            .map(IoSlice::new)
            .collect()
    }
}

/// Notes that the kernel took the first `octets` of what was gathered.
pub(super) fn settle(
    client: &mut Client,
    gathered: &Gathered,
    octets: usize,
    feed: &Feed,
) -> Written {
    let packets = taken(client, &gathered.runs, octets, feed);
    let octets = octets as u64;
    client.outbox.written += octets;
    client.counted.bytes_tx += octets;
    client.counted.packets_tx += packets;
    Written { octets, packets }
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
        client.subscription.written_before(before, feed);
    }
    packets
}
