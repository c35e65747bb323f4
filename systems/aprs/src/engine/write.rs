//! Writing to clients whose turn it is.

use super::flush::{self, Class};
use super::output::{self, Gathered, Written};
use super::seam::{ConnId, LogLevel, Now, Output, Write};
use super::subscription::first_waiting;
use super::worker::Worker;
use std::io;

impl Worker {
    /// To be called before waiting for input. While a write is due anyway, packets of other workers
    /// need not wake this one: they are taken before the write. Whether mail has to be taken first.
    pub fn rest(&mut self) -> bool {
        let is_quiet = self.flush_ns().is_some() && self.by_udp == 0 && self.peers.is_empty();
        if is_quiet == self.is_quiet || self.server.workers() == 1 {
            return false;
        }
        self.is_quiet = is_quiet;
        self.server.set_quiet(self.index, is_quiet)
    }

    /// Whether mail waits of which this worker was not woken.
    pub fn has_quiet_mail(&self) -> bool {
        self.is_quiet && self.server.mail_count(self.index) > 0
    }

    /// Longest wait of a packet for a client of this class, in nanoseconds.
    fn interval_ns(&self, class: Class) -> u64 {
        let uplinks = if class == Class::Full { self.uplinks.len() } else { 0 };
        let clients = self.joined[class as usize] + uplinks;
        flush::interval_ns(self.config.batching, class, clients)
    }

    /// The class whose turn is next, and when.
    fn next_turn(&self) -> Option<(u64, Class)> {
        let due = |class: Class| {
            let due_ns = self.turns[class as usize].due_ns(self.interval_ns(class));
            due_ns.map(|due_ns| (due_ns, class))
        };
        Class::ALL.into_iter().filter_map(due).min_by_key(|(due_ns, _)| *due_ns)
    }

    pub(super) fn flush_ns(&self) -> Option<u64> {
        self.next_turn().map(|(due_ns, _)| due_ns)
    }

    /// Writes to clients whose turn it is: to so many that others can be read meanwhile.
    pub(super) fn flush(&mut self, now: Now, out: &mut impl Output) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        while slots.len() < flush::GROUP_CLIENTS
            && let Some((due_ns, class)) = self.next_turn()
            && due_ns <= now.monotonic_ns
        {
            self.turns[class as usize].take(&mut slots);
        }
        for group in slots.chunks(flush::GROUP_CLIENTS) {
            self.write_group(now, group, out);
        }
        for slot in &slots {
            self.rest_again(*slot);
        }
        self.slots = slots;
        self.unsummed.sum(&self.server);
        for (class, feed) in [
            (Class::Full, &self.feed),
            (Class::Filtered, &self.feed),
            (Class::Duplicates, &self.duplicate_feed),
        ] {
            let turns = &self.turns[class as usize];
            self.writes[class as usize].done(turns.oldest().unwrap_or(feed.next()));
        }
        self.trim();
    }

    /// Writes to clients at once what waits for each.
    fn write_group(&mut self, now: Now, slots: &[usize], out: &mut impl Output) {
        let mut gathered = Vec::with_capacity(slots.len());
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        for slot in slots {
            if !self.clients.contains(*slot) || self.cut_if_stale(now, *slot, out) {
                continue;
            }
            let client = &self.clients[*slot];
            let what = output::gather(client, self.feed_of(client), &mut scratch);
            gathered.extend(what.map(|what| (*slot, what)));
        }
        let write = |(slot, what): &(usize, Gathered)| {
            let client = &self.clients[*slot];
            Write { conn: client.conn, slices: what.slices(client, self.feed_of(client), &scratch) }
        };
        let writes: Vec<Write<'_>> = gathered.iter().map(write).collect();
        let mut results = Vec::with_capacity(writes.len());
        out.write_each(&writes, &mut results);
        drop(writes);
        self.scratch = scratch;
        for ((slot, what), result) in gathered.iter().zip(results) {
            let client = &mut self.clients[*slot];
            let feed = if client.is_dupefeed() { &self.duplicate_feed } else { &self.feed };
            let result = result.map(|octets| output::settle(client, what, octets, feed));
            self.written(*slot, result, out);
            // One write is not all where a client is far behind.
            self.write(*slot, out);
        }
    }

    /// A client whose turn it was waits for the next packet.
    fn rest_again(&mut self, slot: usize) {
        let Some(client) = self.clients.get_mut(slot) else { return };
        client.has_turns = client.subscription.is_of_feed() && !client.outbox.blocked;
        if client.has_turns {
            let class = if client.is_dupefeed() { Class::Duplicates } else { Class::Full };
            self.turns[class as usize].rest(slot);
        }
    }

    /// Forgets packets that nobody waits for.
    pub(super) fn trim(&mut self) {
        let oldest = |class: Class| self.turns[class as usize].oldest().unwrap_or(u64::MAX);
        let mut feed = oldest(Class::Full).min(oldest(Class::Filtered));
        let mut duplicates = oldest(Class::Duplicates);
        let clients = &mut self.clients;
        self.blocked.retain(|slot| {
            let Some(client) = clients.get_mut(*slot) else { return false };
            client.outbox.is_listed = client.outbox.blocked;
            client.outbox.blocked
        });
        for slot in &self.blocked {
            let client = &self.clients[*slot];
            let (least, of) = match client.is_dupefeed() {
                true => (&mut duplicates, &self.duplicate_feed),
                false => (&mut feed, &self.feed),
            };
            *least = (*least).min(first_waiting(&client.subscription, of).unwrap_or(u64::MAX));
        }
        self.feed.trim(feed);
        self.duplicate_feed.trim(duplicates);
    }

    /// Writes to a client what waits for it, unless that is too old.
    pub(super) fn flush_client(&mut self, now: Now, slot: usize, out: &mut impl Output) {
        if !self.clients[slot].outbox.blocked && !self.cut_if_stale(now, slot, out) {
            self.write(slot, out);
        }
        self.unsummed.sum(&self.server);
    }

    /// Writes to a client what waits for it. What was written is not in the sums of its port yet.
    fn write(&mut self, slot: usize, out: &mut impl Output) {
        let client = &mut self.clients[slot];
        if client.outbox.blocked {
            return;
        }
        let feed = if client.is_dupefeed() { &self.duplicate_feed } else { &self.feed };
        let result = output::write(client, feed, &mut self.scratch, out);
        self.written(slot, result, out);
    }

    /// Notes the result of a write.
    fn written(&mut self, slot: usize, result: io::Result<Written>, out: &mut impl Output) {
        let client = &mut self.clients[slot];
        match result {
            Ok(written) => self.unsummed.add(&self.server, client, written),
            // `Input::Closed` comes for it; until then it is not written to.
            Err(error) => {
                client.outbox.blocked = true;
                let remote = client.remote;
                out.log(LogLevel::Debug, format_args!("{remote}: write: {error}"));
            }
        }
        let outbox = &mut client.outbox;
        if outbox.blocked && !std::mem::replace(&mut outbox.is_listed, true) {
            self.blocked.push(slot);
        }
    }

    pub(super) fn writable(&mut self, now: Now, conn: ConnId, out: &mut impl Output) {
        let Some(slot) = self.slot(conn) else { return };
        if !std::mem::take(&mut self.clients[slot].outbox.blocked) {
            return;
        }
        self.flush_client(now, slot, out);
        if let Some(client) = self.clients.get_mut(slot)
            && client.subscription.is_of_feed()
            && !client.outbox.blocked
            && !std::mem::replace(&mut client.has_turns, true)
        {
            let class = if client.is_dupefeed() { Class::Duplicates } else { Class::Full };
            self.turns[class as usize].rest(slot);
        }
        if self.flush_ns().is_none() {
            self.trim();
        }
    }
}
