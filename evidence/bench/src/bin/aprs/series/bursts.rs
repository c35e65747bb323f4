//! Weather stations that all report at the same minute: crowds that connect, send a few packets and
//! leave, beside clients that stay.
//!
//! The paper's come every 5 minutes. Nothing of a crowd remains once it has left, so that the time
//! between two of them is shortened here, which is said in the table.

use super::{complete, feeds_of, latencies, tell};
use crate::Arguments;
use crate::load::{self, Plan, login_line};
use crate::packets::{BURST_SENDER, write_mark};
use crate::server::Server;
use crate::table::Table;
use anyhow::{Result, anyhow};
use chronoscope_clock as clock;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Clients that stay: full feeds.
const FEEDS: usize = 100;
/// Packets that each of a crowd sends.
const PACKETS_EACH: u32 = 3;
/// Seconds between two crowds of the paper, at least.
const PERIOD_S: f64 = 300.0;
/// Longest duration of a burst; who has not left by then counts as refused.
const BURST_NS: u64 = 20_000_000_000;

/// How many come, and how often.
#[derive(Clone, Copy, Debug)]
struct Crowds {
    bursts: u32,
    clients: u32,
    period_s: f64,
    /// Seconds before the first one.
    first_s: f64,
}

/// What became of all crowds.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    /// Clients that were not let in, cut, or never answered.
    refused: u64,
    /// Packets that were sent.
    sent: u32,
    /// Longest burst: from the first connection until the last had left, in seconds.
    burst_s_max: f64,
}

#[allow(clippy::cast_precision_loss)]
pub(crate) fn bursts(arguments: &Arguments) -> Result<Value> {
    let (bursts, clients, period_s) = arguments.either((3, 250, 2.0), (6, 1000, 5.0));
    let bursting = Arc::new(AtomicBool::new(false));
    let plan = Plan {
        window_s: f64::from(bursts) * period_s,
        others: true,
        bursting: Arc::clone(&bursting),
        ..arguments.plan(feeds_of(FEEDS), 1000.0)
    };
    let crowds = Crowds { bursts, clients, period_s, first_s: plan.warm_s + period_s / 2.0 };
    let server = Server::start(&arguments.settings("adaptive"))?;
    let address = server.port("igate")?;
    let (outcome, came) = std::thread::scope(|scope| {
        let crowd = scope.spawn(|| come_and_go(address, crowds, &bursting));
        (load::run(&server, &plan), crowd.join())
    });
    let outcome = outcome?;
    let came = came.map_err(|_| anyhow!("the thread of the crowds panicked"))??;
    tell(&plan, &outcome);
    let due = u64::from(came.sent) * FEEDS as u64;
    let lost = due.saturating_sub(outcome.of_bursts);
    let scale = PERIOD_S / period_s;
    let mut table = Table::new(
        "100 full feeds at 1000 lines/s; crowds log in, send 3 packets each and leave (the paper's \
         every 5 minutes)",
        &[
            "crowds",
            "clients each",
            "every s",
            "time scaled by",
            "longest s",
            "refused",
            "their packets lost",
            "p50/p90/p99/max ms between",
            "within",
            "the steady ones complete",
        ],
    );
    table.row(&[
        bursts.to_string(),
        clients.to_string(),
        period_s.to_string(),
        format!("{scale:.0}"),
        format!("{:.2}", came.burst_s_max),
        came.refused.to_string(),
        format!("{lost} of {due}"),
        latencies(&outcome.latency),
        latencies(&outcome.in_bursts),
        complete(&outcome),
    ]);
    arguments.show(&table);
    Ok(json!({
        "bursts": bursts, "clients": clients, "period_s": period_s, "scale": scale,
        "packets_each": PACKETS_EACH, "burst_s_max": came.burst_s_max, "refused": came.refused,
        "due": due, "lost": lost, "outcome": outcome,
    }))
}

/// One crowd after the other, each at its instant. `bursting` is set while one is there.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn come_and_go(address: SocketAddr, crowds: Crowds, bursting: &AtomicBool) -> Result<Came> {
    let started_ns = clock::monotonic_ns();
    let mut came = Came::default();
    for burst in 0..crowds.bursts {
        let due_s = crowds.first_s + f64::from(burst) * crowds.period_s;
        let due_ns = started_ns + (due_s * 1e9) as u64;
        let early_ns = due_ns.saturating_sub(clock::monotonic_ns());
        if early_ns > 0 {
            // Where the one before took too long there is no time between them.
            bursting.store(false, Ordering::Relaxed);
            clock::sleep(Duration::from_nanos(early_ns));
        }
        bursting.store(true, Ordering::Relaxed);
        crowd(address, crowds.clients, &mut came)?;
    }
    bursting.store(false, Ordering::Relaxed);
    Ok(came)
}

/// A client of a crowd.
struct Visitor {
    stream: TcpStream,
    call: String,
    answer: Vec<u8>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Connecting,
    LoggingIn,
    /// It has sent its packets, and waits for the server's end.
    Leaving,
    Gone,
}

/// All connect at once; each leaves when it has sent its packets.
#[allow(clippy::cast_precision_loss)]
fn crowd(address: SocketAddr, client_count: u32, came: &mut Came) -> Result<()> {
    let began_ns = clock::monotonic_ns();
    let mut poll = Poll::new()?;
    let mut visitors = Vec::new();
    for number in 0..client_count {
        let mut stream = TcpStream::connect(address)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(&mut stream, Token(number as usize), interest)?;
        let call = format!("CW{number:04}");
        visitors.push(Visitor { stream, call, answer: Vec::new(), stage: Stage::Connecting });
    }
    let mut events = Events::with_capacity(1024);
    let mut left = visitors.len();
    while left > 0 && clock::monotonic_ns() - began_ns < BURST_NS {
        poll.poll(&mut events, Some(Duration::from_millis(200)))?;
        for event in &events {
            let visitor = &mut visitors[event.token().0];
            let was_gone = visitor.stage == Stage::Gone;
            if visitor.go_on(&mut came.sent).is_err() && visitor.stage != Stage::Gone {
                visitor.stage = Stage::Gone;
                came.refused += 1;
            }
            left -= usize::from(!was_gone && visitor.stage == Stage::Gone);
        }
    }
    came.refused += left as u64;
    let burst_s = (clock::monotonic_ns() - began_ns) as f64 / 1e9;
    came.burst_s_max = came.burst_s_max.max(burst_s);
    Ok(())
}

impl Visitor {
    /// Does what can be done now; counts what it sends. An error means that it was not let in.
    fn go_on(&mut self, sent: &mut u32) -> std::io::Result<()> {
        if self.stage == Stage::Connecting {
            match self.stream.write(login_line(&self.call, "").as_bytes()) {
                Ok(_) => self.stage = Stage::LoggingIn,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        let mut buffer = [0; 2048];
        while self.stage != Stage::Gone {
            match self.stream.read(&mut buffer) {
                Ok(0) if self.stage == Stage::Leaving => self.stage = Stage::Gone,
                Ok(0) => return Err(ErrorKind::ConnectionAborted.into()),
                Ok(count) if self.stage == Stage::LoggingIn => {
                    self.answer.extend_from_slice(&buffer[..count]);
                    if self.answer.windows(10).any(|part| part == b" verified,") {
                        self.report(sent)?;
                    }
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sends its packets, and nothing more.
    fn report(&mut self, sent: &mut u32) -> std::io::Result<()> {
        let mut lines = String::new();
        for number in *sent..*sent + PACKETS_EACH {
            lines.push_str(&self.call);
            lines.push_str(">APRS,TCPIP*:@111111z6010.20N/02456.30E_073/004g005t077h50b09900 ");
            write_mark(&mut lines, BURST_SENDER, number, clock::monotonic_ns());
        }
        // So few octets are taken whole by an empty socket.
        self.stream.write_all(lines.as_bytes())?;
        *sent += PACKETS_EACH;
        self.stage = Stage::Leaving;
        self.stream.shutdown(Shutdown::Write)
    }
}

#[cfg(test)]
mod tests {
    use super::{Came, PACKETS_EACH, crowd};
    use crate::packets::{BURST_SENDER, mark};
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// A server that lets all in but the last one.
    #[test]
    fn a_crowd_reports_and_leaves_and_the_refused_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let mut numbers = Vec::new();
            for refused in [false, false, true] {
                let (stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let login = lines.next().unwrap().unwrap();
                let call = login.split(' ').nth(1).unwrap();
                assert!(call.starts_with("CW"), "{login}");
                if refused {
                    continue;
                }
                writeln!(&stream, "# logresp {call} verified, server X\r").unwrap();
                for line in lines {
                    let (sender, number, _) = mark(line.unwrap().as_bytes()).unwrap();
                    assert_eq!(sender, BURST_SENDER);
                    numbers.push(number);
                }
            }
            numbers
        });
        let mut came = Came::default();
        crowd(address, 3, &mut came).unwrap();
        assert_eq!((came.refused, came.sent), (1, 2 * PACKETS_EACH));
        let mut numbers = server.join().unwrap();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..2 * PACKETS_EACH).collect::<Vec<_>>());
    }
}
