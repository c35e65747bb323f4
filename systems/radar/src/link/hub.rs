//! One producer, many TCP subscribers; no subscriber can slow the others.

use super::address::cannot_listen;
use super::sending::{FlushTimer, Sending};
use super::write::write_until_full;
use chronoscope_clock as clock;
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind, Read as _};
use std::net::SocketAddr;

/// Counts of subscribers and blocks. All counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct HubCounts {
    /// Subscribers that connected.
    pub connected: u64,
    /// Subscribers that left or whose connection broke.
    pub left: u64,
    /// Subscribers cut because more than the allowed octets waited for them.
    pub cut_slow: u64,
    /// Connections refused because there were too many, or that failed while being accepted.
    pub refused: u64,
    /// Blocks handed to subscribers, one count for each subscriber.
    pub delivered: u64,
    /// Octets written to sockets.
    pub octets: u64,
}

/// Serves blocks to whoever connects.
#[derive(Debug)]
pub struct Hub {
    listener: TcpListener,
    first: usize,
    subscribers: Vec<Option<Subscriber>>,
    queue_octets_max: usize,
    nagle: bool,
    timer: FlushTimer,
    /// Blocks were pushed that may not have left yet.
    held: bool,
    /// Octets of the blocks pushed since the last sending.
    held_octets: usize,
    counts: HubCounts,
}

#[derive(Debug)]
struct Subscriber {
    stream: TcpStream,
    /// Name for messages to people.
    name: String,
    queue: Vec<u8>,
    /// Octets of `queue` already written.
    written: usize,
    /// Octets of `queue` that may be written.
    released: usize,
}

impl Hub {
    /// Most subscribers served at a time: ten times the largest control centre.
    pub const SUBSCRIBERS_MAX: usize = 1200;

    /// Listens on `address` and registers under the tokens `first..=first + SUBSCRIBERS_MAX`.
    /// A subscriber for whom more than `queue_octets_max` octets wait is cut; half of that is
    /// held at most before it is sent, for any `sending`.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn bind(
        address: SocketAddr,
        registry: &Registry,
        first: Token,
        queue_octets_max: usize,
        sending: Sending,
    ) -> io::Result<Self> {
        let mut listener = TcpListener::bind(address).map_err(cannot_listen(address))?;
        registry.register(&mut listener, first, Interest::READABLE)?;
        Ok(Self {
            listener,
            first: first.0,
            subscribers: Vec::new(),
            queue_octets_max,
            nagle: sending.nagle,
            timer: FlushTimer::new(sending, clock::monotonic_ns()),
            held: false,
            held_octets: 0,
            counts: HubCounts::default(),
        })
    }

    /// The address listened on, with the port that the kernel chose.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The counts so far.
    pub fn counts(&self) -> HubCounts {
        self.counts
    }

    /// Subscribers connected now.
    pub fn subscriber_count(&self) -> usize {
        self.subscribers.iter().flatten().count()
    }

    /// Handles an event if it is one of ours.
    pub fn ready(&mut self, registry: &Registry, event: &Event) {
        let Some(offset) = event.token().0.checked_sub(self.first) else { return };
        if offset == 0 {
            self.accept(registry);
        } else if offset <= Self::SUBSCRIBERS_MAX {
            let index = offset - 1;
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                self.drain_input(registry, index);
            }
            if event.is_writable() {
                self.write(registry, index);
            }
        }
    }

    /// Queues one block for every subscriber; [`Hub::flush`] sends it.
    pub fn push(&mut self, block: &[u8]) {
        for subscriber in self.subscribers.iter_mut().flatten() {
            subscriber.queue.extend_from_slice(block);
            self.counts.delivered += 1;
        }
        self.held = true;
        self.held_octets += block.len();
    }

    /// Writes queued and due blocks, as far as the sockets accept them, and cuts subscribers that
    /// are too far behind. One system call a subscriber, however many blocks were pushed. `now_ns`
    /// is monotonic.
    pub fn flush(&mut self, registry: &Registry, now_ns: u64) {
        if !self.held {
            return;
        }
        let full = self.held_octets > self.queue_octets_max / 2;
        if full || self.timer.may_send(now_ns) {
            self.send(registry);
        }
    }

    /// Time when [`Hub::flush`] has to be called next, monotonic ns; `None` while nothing is held.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.timer.due_ns()
    }

    /// Writes everything that is held: nothing more will be pushed.
    pub fn finish(&mut self, registry: &Registry) {
        if self.held {
            self.send(registry);
        }
    }

    fn send(&mut self, registry: &Registry) {
        (self.held, self.held_octets) = (false, 0);
        self.timer.sent();
        for subscriber in self.subscribers.iter_mut().flatten() {
            subscriber.released = subscriber.queue.len();
        }
        for index in 0..self.subscribers.len() {
            self.write(registry, index);
        }
    }

    fn accept(&mut self, registry: &Registry) {
        loop {
            match self.listener.accept() {
                Ok((stream, peer)) => self.admit(registry, stream, peer),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    // Out of descriptors, or the peer gave up already: the next event retries.
                    self.counts.refused += 1;
                    say!("cannot accept a subscriber: {e}");
                    return;
                }
            }
        }
    }

    fn admit(&mut self, registry: &Registry, mut stream: TcpStream, peer: SocketAddr) {
        let index = match self.subscribers.iter().position(Option::is_none) {
            Some(free) => free,
            None if self.subscribers.len() < Self::SUBSCRIBERS_MAX => {
                self.subscribers.push(None);
                self.subscribers.len() - 1
            }
            None => {
                self.counts.refused += 1;
                return;
            }
        };
        let token = Token(self.first + 1 + index);
        let interest = Interest::READABLE | Interest::WRITABLE;
        let ready = stream
            .set_nodelay(!self.nagle)
            .and_then(|()| registry.register(&mut stream, token, interest));
        if let Err(e) = ready {
            self.counts.refused += 1;
            say!("cannot serve the subscriber {peer}: {e}");
            return;
        }
        self.counts.connected += 1;
        // By number and host: the port is the kernel's choice and has no meaning.
        let name = format!("{} ({})", self.counts.connected, peer.ip());
        say!("subscriber {name} connected");
        self.subscribers[index] =
            Some(Subscriber { stream, name, queue: Vec::new(), written: 0, released: 0 });
    }

    /// Subscribers have nothing to say; reading notices when they leave.
    fn drain_input(&mut self, registry: &Registry, index: usize) {
        let Some(Some(subscriber)) = self.subscribers.get_mut(index) else { return };
        let mut bytes = [0; 4096];
        loop {
            match subscriber.stream.read(&mut bytes) {
                Ok(0) => break,
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.counts.left += 1;
        self.drop_subscriber(registry, index, "left");
    }

    fn write(&mut self, registry: &Registry, index: usize) {
        let Some(Some(subscriber)) = self.subscribers.get_mut(index) else { return };
        match subscriber.write() {
            Ok(octets) => self.counts.octets += octets,
            Err(_) => {
                self.counts.left += 1;
                self.drop_subscriber(registry, index, "lost");
                return;
            }
        }
        if subscriber.waiting() > self.queue_octets_max {
            self.counts.cut_slow += 1;
            self.drop_subscriber(registry, index, "cut: reads too slowly");
        }
    }

    fn drop_subscriber(&mut self, registry: &Registry, index: usize, why: &str) {
        if let Some(mut gone) = self.subscribers[index].take() {
            say!("subscriber {} {why}, {} octets unsent", gone.name, gone.waiting());
            // Closing the descriptor deregisters it as well; an error changes nothing.
            let _ = registry.deregister(&mut gone.stream);
        }
    }
}

impl Subscriber {
    fn waiting(&self) -> usize {
        self.queue.len() - self.written
    }

    /// Writes until the socket is full or nothing more may be written; returns the octets written.
    fn write(&mut self) -> io::Result<u64> {
        let waiting = &self.queue[self.written..self.released];
        let octets = write_until_full(&mut self.stream, waiting)?;
        self.written += octets;
        if self.written == self.queue.len() {
            self.queue.clear();
            (self.written, self.released) = (0, 0);
        } else if self.written > self.queue.len() / 2 {
            // Amortised: an octet is moved at most once for each octet written.
            self.queue.drain(..self.written);
            self.released -= self.written;
            self.written = 0;
        }
        Ok(octets as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Events, Poll};
    use std::time::Duration;

    /// A hub in a poll, turned by hand.
    struct Bench {
        poll: Poll,
        hub: Hub,
    }

    impl Bench {
        fn new(queue_octets_max: usize) -> Self {
            let poll = Poll::new().unwrap();
            Self::sending(poll, queue_octets_max, Sending::default())
        }

        fn sending(poll: Poll, queue_octets_max: usize, sending: Sending) -> Self {
            let address = "127.0.0.1:0".parse().unwrap();
            let (registry, max) = (poll.registry(), queue_octets_max);
            let hub = Hub::bind(address, registry, Token(10), max, sending).unwrap();
            Self { poll, hub }
        }

        fn turn_until(&mut self, what: &str, mut done: impl FnMut(&Hub) -> bool) {
            let mut events = Events::with_capacity(64);
            for _ in 0..500 {
                if done(&self.hub) {
                    return;
                }
                self.poll.poll(&mut events, Some(Duration::from_millis(10))).unwrap();
                for event in &events {
                    self.hub.ready(self.poll.registry(), event);
                }
            }
            panic!("not within 5 s: {what}");
        }

        fn subscribe(&mut self) -> std::net::TcpStream {
            let before = self.hub.subscriber_count();
            let stream = std::net::TcpStream::connect(self.hub.local_addr().unwrap()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            self.turn_until("subscribed", |hub| hub.subscriber_count() == before + 1);
            stream
        }
    }

    #[test]
    fn every_subscriber_gets_every_block_at_once() {
        let mut bench = Bench::new(1 << 20);
        let mut readers = [bench.subscribe(), bench.subscribe()];
        bench.hub.push(&[62, 0, 4, 1]);
        bench.hub.push(&[62, 0, 4, 2]);
        bench.hub.flush(bench.poll.registry(), 0);
        for reader in &mut readers {
            let mut got = [0; 8];
            reader.read_exact(&mut got).unwrap();
            assert_eq!(got, [62, 0, 4, 1, 62, 0, 4, 2]);
        }
    }

    #[test]
    fn a_slow_subscriber_is_cut_and_the_others_lose_nothing() {
        let mut bench = Bench::new(100_000);
        let _slow = bench.subscribe();
        let mut good = bench.subscribe();
        let block = vec![62u8; 50_000];
        let mut read = vec![0u8; 50_000];
        let mut sent = 0;
        // More than any kernel buffers for one loopback connection.
        while bench.hub.counts().cut_slow == 0 && sent < 1000 {
            bench.hub.push(&block);
            bench.hub.flush(bench.poll.registry(), 0);
            good.read_exact(&mut read).unwrap();
            sent += 1;
        }
        assert_eq!(bench.hub.counts().cut_slow, 1, "after {sent} blocks");
        assert_eq!(bench.hub.subscriber_count(), 1);
        bench.hub.push(&block);
        bench.hub.flush(bench.poll.registry(), 0);
        good.read_exact(&mut read).unwrap();
    }

    #[test]
    fn who_leaves_is_noticed_and_its_place_used_again() {
        let mut bench = Bench::new(1 << 20);
        for _ in 0..3 {
            let stream = bench.subscribe();
            drop(stream);
            bench.turn_until("left", |hub| hub.subscriber_count() == 0);
        }
        assert_eq!(bench.hub.counts().left, 3);
        assert_eq!(bench.hub.subscribers.len(), 1);
    }

    /// Blocks are held until the beat after they came, and are then there whole and in order,
    /// whatever became writable meanwhile; the last ones are sent at the end.
    #[test]
    fn held_blocks_leave_at_the_beat_and_at_the_end() {
        let sending = Sending { nagle: true, flush_ms: 200 };
        let mut bench = Bench::sending(Poll::new().unwrap(), 1 << 20, sending);
        let mut reader = bench.subscribe();
        let mut now_ns = clock::monotonic_ns();
        let mut expected = Vec::new();
        for number in 0..=255 {
            let block = [62, 0, 4, number];
            expected.extend(block);
            bench.hub.push(&block);
            bench.hub.flush(bench.poll.registry(), now_ns);
            if number == 0 {
                // The socket says that it is writable: not a reason to write.
                let mut turns = 0;
                bench.turn_until("some turns", |_| {
                    turns += 1;
                    turns > 3
                });
                assert_eq!(bench.hub.counts().octets, 0);
            }
            if number == 99 {
                now_ns = bench.hub.deadline_ns().unwrap();
                bench.hub.flush(bench.poll.registry(), now_ns);
                assert_eq!((bench.hub.counts().octets, bench.hub.deadline_ns()), (400, None));
            }
        }
        assert_eq!(bench.hub.counts().octets, 400);
        assert_eq!(bench.hub.counts().cut_slow, 0);
        bench.hub.finish(bench.poll.registry());
        let mut got = vec![0; expected.len()];
        reader.read_exact(&mut got).unwrap();
        assert_eq!(got, expected);
    }

    #[test]
    fn a_full_buffer_does_not_wait_for_the_beat() {
        let sending = Sending { nagle: false, flush_ms: 500 };
        let mut bench = Bench::sending(Poll::new().unwrap(), 1000, sending);
        let _reader = bench.subscribe();
        let now_ns = clock::monotonic_ns();
        for _ in 0..3 {
            bench.hub.push(&[62; 200]);
            bench.hub.flush(bench.poll.registry(), now_ns);
        }
        assert_eq!(bench.hub.counts().octets, 600);
    }
}
