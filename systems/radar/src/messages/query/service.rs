//! The clients that ask: any number of lines each, answered in order.

use super::super::plan_correlation::PlanCorrelation;
use super::super::situation::Situation;
use super::answer::Desk;
use super::parse::LINE_OCTETS_MAX;
use crate::link::{cannot_listen, write_until_full};
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind, Read as _};
use std::net::SocketAddr;

/// Counts of clients and their queries. All counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct QueryCounts {
    /// Clients that connected.
    pub connected: u64,
    /// Clients that left or whose connection broke.
    pub left: u64,
    /// Clients cut because more than the allowed octets of answers waited for them.
    pub cut_slow: u64,
    /// Clients closed because of a line that was too long.
    pub cut_long_line: u64,
    /// Connections refused because there were too many, or that failed while being accepted.
    pub refused_clients: u64,
    /// Queries answered.
    pub answered: u64,
    /// Lines that were no question.
    pub refused_lines: u64,
    /// Octets of answers written to sockets.
    pub octets: u64,
}

/// Serves whoever connects.
#[derive(Debug)]
pub struct QueryService {
    listener: TcpListener,
    first: usize,
    clients: Vec<Option<Client>>,
    desk: Desk,
    queue_octets_max: usize,
    counts: QueryCounts,
}

#[derive(Debug)]
struct Client {
    stream: TcpStream,
    /// Octets read and not yet answered: whole lines and the beginning of one.
    input: Vec<u8>,
    /// Answers, of which `written` octets are sent.
    output: Vec<u8>,
    written: usize,
    /// The socket may hold more: its event comes once.
    readable: bool,
    /// The client sends no more.
    ended: bool,
    /// `input` holds whole lines that were not this turn's.
    unanswered: bool,
    /// No more queries are answered; closed as soon as `output` is written.
    closing: bool,
}

/// Data that queries are answered from.
struct Room<'a> {
    desk: &'a Desk,
    correlation: &'a PlanCorrelation,
    situation: &'a Situation,
    utc_ns: i64,
    queue_octets_max: usize,
}

/// Questions of one client that are answered before the others' turn.
const QUESTIONS_A_TURN: usize = 64;
/// Octets read at a time.
const READ_OCTETS: usize = 8 * 1024;

enum Fate {
    Stays,
    Left,
    Slow,
}

impl QueryService {
    /// Most clients served at a time.
    pub const CLIENTS_MAX: usize = 4096;

    /// Listens on `address` and registers under the tokens `first..=first + CLIENTS_MAX`. A client
    /// for whom more than `queue_octets_max` octets of answers wait is cut.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn bind(
        address: SocketAddr,
        registry: &Registry,
        first: Token,
        queue_octets_max: usize,
        desk: Desk,
    ) -> io::Result<Self> {
        let mut listener = TcpListener::bind(address).map_err(cannot_listen(address))?;
        registry.register(&mut listener, first, Interest::READABLE)?;
        let (first, clients) = (first.0, Vec::new());
        Ok(Self { listener, first, clients, desk, queue_octets_max, counts: <_>::default() })
    }

    /// The address listened on, with the port that the kernel chose.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The counts so far.
    pub fn counts(&self) -> QueryCounts {
        self.counts
    }

    /// Handles an event if it is one of ours.
    pub fn ready(&mut self, registry: &Registry, event: &Event) {
        let Some(offset) = event.token().0.checked_sub(self.first) else { return };
        if offset == 0 {
            self.accept(registry);
        } else if let Some(Some(client)) = self.clients.get_mut(offset - 1) {
            // What can be written is seen by the turn that follows every event.
            client.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        }
    }

    /// Reads, answers and writes as far as the sockets allow. Returns whether work is left for an
    /// immediate next call.
    pub fn turn(
        &mut self,
        registry: &Registry,
        correlation: &PlanCorrelation,
        situation: &Situation,
        utc_ns: i64,
    ) -> bool {
        let mut more = false;
        let (desk, queue_octets_max) = (&self.desk, self.queue_octets_max);
        let room = Room { desk, correlation, situation, utc_ns, queue_octets_max };
        for index in 0..self.clients.len() {
            let Some(client) = &mut self.clients[index] else { continue };
            if !(client.readable || client.unanswered) && client.output.is_empty() {
                continue;
            }
            let mut fate = client.read();
            if !client.closing {
                client.work(&room, &mut self.counts);
            }
            match client.write() {
                Ok(octets) => self.counts.octets += octets,
                Err(_) => fate = Fate::Left,
            }
            if client.waiting() > self.queue_octets_max {
                fate = Fate::Slow;
            } else if client.closing && client.output.is_empty() {
                fate = Fate::Left;
            }
            match fate {
                Fate::Stays => {
                    more |= client.readable || client.unanswered;
                    continue;
                }
                Fate::Left => self.counts.left += 1,
                Fate::Slow => self.counts.cut_slow += 1,
            }
            if let Some(mut gone) = self.clients[index].take() {
                // Closing the descriptor deregisters it as well; an error changes nothing.
                let _ = registry.deregister(&mut gone.stream);
            }
        }
        more
    }

    fn accept(&mut self, registry: &Registry) {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => self.admit(registry, stream),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    // Out of descriptors, or the peer gave up already: the next event retries.
                    self.counts.refused_clients += 1;
                    say!("cannot accept a client: {e}");
                    return;
                }
            }
        }
    }

    fn admit(&mut self, registry: &Registry, mut stream: TcpStream) {
        let index = match self.clients.iter().position(Option::is_none) {
            Some(free) => free,
            None if self.clients.len() < Self::CLIENTS_MAX => {
                self.clients.push(None);
                self.clients.len() - 1
            }
            None => {
                self.counts.refused_clients += 1;
                return;
            }
        };
        let token = Token(self.first + 1 + index);
        let interest = Interest::READABLE | Interest::WRITABLE;
        let ready =
            stream.set_nodelay(true).and_then(|()| registry.register(&mut stream, token, interest));
        if let Err(e) = ready {
            self.counts.refused_clients += 1;
            say!("cannot serve a client: {e}");
            return;
        }
        self.counts.connected += 1;
        self.clients[index] = Some(Client {
            stream,
            input: Vec::new(),
            output: Vec::new(),
            written: 0,
            readable: false,
            ended: false,
            unanswered: false,
            closing: false,
        });
    }
}

impl Client {
    /// Octets of answers that the socket has not taken yet.
    fn waiting(&self) -> usize {
        self.output.len() - self.written
    }

    /// Reads until the socket is empty or there is enough to answer.
    fn read(&mut self) -> Fate {
        let mut buffer = [0; READ_OCTETS];
        while self.readable && self.input.len() <= READ_OCTETS {
            match self.stream.read(&mut buffer) {
                // Who has sent all its questions still gets the answers.
                Ok(0) => {
                    self.ended = true;
                    self.readable = false;
                }
                // What comes after a line too long is not even kept.
                Ok(_) if self.closing => {}
                Ok(octets) => self.input.extend_from_slice(&buffer[..octets]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.readable = false,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Fate::Left,
            }
        }
        Fate::Stays
    }

    /// Answers whole lines, as many as are this client's turn.
    fn work(&mut self, room: &Room<'_>, counts: &mut QueryCounts) {
        let mut taken = 0;
        self.unanswered = false;
        for question in 0.. {
            let rest = &self.input[taken..];
            let (line, next) = match rest.iter().position(|octet| *octet == b'\n') {
                Some(end) => (&rest[..end], end + 1),
                // The last line of a client that sends no more may lack its end.
                None if self.ended || rest.len() > LINE_OCTETS_MAX => (rest, rest.len()),
                None => break,
            };
            // What is sent already does not count: otherwise a client with less than the bound waiting
            // would be neither answered nor cut, and every turn would ask for the next at once.
            if question == QUESTIONS_A_TURN || self.waiting() > room.queue_octets_max {
                self.unanswered = true;
                break;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                if next == 0 {
                    self.closing = true;
                    break;
                }
            } else {
                let asked = (room.correlation, room.situation, room.utc_ns);
                let known = room.desk.answer(line, asked.0, asked.1, asked.2, &mut self.output);
                counts.answered += u64::from(known);
                counts.refused_lines += u64::from(!known);
            }
            if line.len() > LINE_OCTETS_MAX {
                counts.cut_long_line += 1;
                self.closing = true;
                taken = self.input.len();
                break;
            }
            taken += next;
        }
        self.input.drain(..taken);
    }

    /// Writes until the socket is full or nothing is left; returns the octets written.
    fn write(&mut self) -> io::Result<u64> {
        let octets = write_until_full(&mut self.stream, &self.output[self.written..])?;
        self.written += octets;
        if self.written > self.output.len() / 2 {
            // Amortised: an octet is moved at most once for each octet written.
            self.output.drain(..self.written);
            self.written = 0;
        }
        Ok(octets as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Events, Poll};
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::time::Duration;

    struct Bench {
        poll: Poll,
        service: QueryService,
        more: bool,
    }

    impl Bench {
        fn new(queue_octets_max: usize) -> Self {
            let poll = Poll::new().unwrap();
            let address = "127.0.0.1:0".parse().unwrap();
            let desk = Desk::default();
            let service =
                QueryService::bind(address, poll.registry(), Token(10), queue_octets_max, desk);
            Self { poll, service: service.unwrap(), more: false }
        }

        fn connect(&self) -> std::net::TcpStream {
            let stream = std::net::TcpStream::connect(self.service.local_addr().unwrap()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            stream
        }

        fn turn_until(&mut self, what: &str, mut done: impl FnMut(&QueryCounts) -> bool) {
            let mut events = Events::with_capacity(64);
            for _ in 0..3000 {
                if done(&self.service.counts) {
                    return;
                }
                let wait = Duration::from_millis(if self.more { 0 } else { 10 });
                self.poll.poll(&mut events, Some(wait)).unwrap();
                for event in &events {
                    self.service.ready(self.poll.registry(), event);
                }
                let (correlation, situation) = (PlanCorrelation::default(), Situation::default());
                self.more = self.service.turn(self.poll.registry(), &correlation, &situation, 0);
            }
            panic!("not in 3000 turns: {what}: {:?}", self.service.counts);
        }
    }

    #[test]
    fn many_lines_at_once_are_answered_in_order_and_who_ended_gets_all() {
        let mut bench = Bench::new(1 << 20);
        let mut client = bench.connect();
        let lines: String = (0..500).map(|n| format!("flight A{n} limit 1\r\n")).collect();
        client.write_all(lines.as_bytes()).unwrap();
        client.write_all(b"\nnonsense\nflight LAST").unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        bench.turn_until("left", |counts| counts.left == 1);
        let counts = bench.service.counts;
        assert_eq!((counts.answered, counts.refused_lines, counts.cut_slow), (501, 1, 0));
        let answers: Vec<_> = BufReader::new(client).lines().map(Result::unwrap).collect();
        assert_eq!(answers.len(), 502);
        assert!(answers[500].contains("expected flight"), "{}", answers[500]);
        assert_eq!(counts.octets, answers.iter().map(|a| a.len() as u64 + 1).sum::<u64>());
    }

    #[test]
    fn a_line_too_long_is_answered_and_closed_even_without_its_end() {
        let mut bench = Bench::new(1 << 20);
        let mut client = bench.connect();
        client.write_all(&[b'x'; 5000]).unwrap();
        bench.turn_until("closed", |counts| counts.left == 1);
        assert_eq!(bench.service.counts.cut_long_line, 1);
        let mut answer = String::new();
        BufReader::new(client).read_line(&mut answer).unwrap();
        assert!(answer.contains("a line has at most 512 octets"), "{answer}");
    }

    #[test]
    fn a_client_that_does_not_read_is_cut_and_others_are_served() {
        let mut bench = Bench::new(20_000);
        let mut slow = bench.connect();
        slow.set_nonblocking(true).unwrap();
        let mut good = bench.connect();
        let lines = "flight nobody\n".repeat(1000);
        for _ in 0..3000 {
            // It never reads; at last the kernel takes no more of its questions either.
            let _ = slow.write(lines.as_bytes());
            let cut = bench.service.counts.cut_slow;
            if cut == 1 {
                break;
            }
            let before = bench.service.counts.refused_lines;
            bench.more = true;
            bench.turn_until("served", |c| c.cut_slow == 1 || c.refused_lines > before);
        }
        assert_eq!(bench.service.counts.cut_slow, 1);
        good.write_all(b"flight GOOD\n").unwrap();
        bench.turn_until("answered", |counts| counts.answered == 1);
        let mut answer = String::new();
        BufReader::new(good).read_line(&mut answer).unwrap();
        assert_eq!(answer, "{\"version\":1,\"kind\":\"flight\",\"count\":0,\"flights\":[]}\n");
    }
}
