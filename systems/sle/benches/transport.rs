//! Cost of the transport alone: messages in memory, then over loopback through sockets, driving
//! threads and the queue between threads. The PDUs contain no operations.
//!
//! `cargo bench -p chronoscope-sle --bench transport`. Loopback: one thread sends, each side has
//! its driving thread, all in this process; CPU is that of all of them, per PDU. `PDU/read` is how
//! many one system call brought, on average.

use std::hint::black_box;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use bytes::Bytes;
use chronoscope_clock as clock;
use chronoscope_sle::net::{
    AcceptedConnection, CommandSender, ConnectionProtocol, Driver, DriverLimits, Listener,
    SocketOptions, connect,
};
use chronoscope_sle::time::Now;
use chronoscope_sle::tml::{Heartbeat, HeartbeatLimits, Tml, TmlFault, TransportOutput};

const SIZES: [usize; 4] = [38, 100, 1544, 8000];
/// Octets of a run, about.
const RUN_BYTES: usize = 1 << 30;

fn main() {
    in_memory();
    one_way();
    round_trips();
}

fn pdus(size: usize) -> usize {
    (RUN_BYTES / size).min(2_000_000)
}

fn in_memory() {
    println!("in memory      {:>8} {:>12} {:>14}", "octets", "frame CPU ns", "receive CPU ns");
    for size in SIZES {
        let body = vec![7; size];
        let count = pdus(size);
        let now = Now::read();
        let mut sender = Tml::initiator(Heartbeat::NONE, 1 << 20, now);
        let mut receiver = Tml::responder(HeartbeatLimits::default(), 1 << 20, now);
        let (mut out, mut frame_ns, mut receive_ns, mut left) = (Vec::new(), 0, 0, count);
        while left > 0 {
            // As much as one read of a driver takes.
            let batch = (131_072 / (size + 8)).clamp(1, left);
            let start = clock::thread_cpu_ns();
            for _ in 0..batch {
                let framed = sender.frame::<()>(now, &mut out, |out| {
                    out.extend_from_slice(&body);
                    Ok(())
                });
                assert!(framed.is_ok());
            }
            let framed = clock::thread_cpu_ns();
            receiver.receive(&out, now);
            let mut taken = 0;
            while let Some(pdu) = receiver.next() {
                black_box(pdu.is_ok_and(|pdu| pdu.len() == size));
                taken += 1;
            }
            assert_eq!(taken, batch);
            frame_ns += framed - start;
            receive_ns += clock::thread_cpu_ns() - framed;
            left -= batch;
            out.clear();
        }
        println!(
            "               {size:>8} {:>12.1} {:>14.1}",
            frame_ns as f64 / count as f64,
            receive_ns as f64 / count as f64
        );
    }
}

/// Counts what comes; sends it back where it is told to.
struct Counting {
    tml: Tml,
    output: TransportOutput,
    echo: bool,
    /// Told when so many more have come.
    report: Option<(usize, SyncSender<()>)>,
    /// Told of each.
    each: Option<SyncSender<()>>,
}

impl Counting {
    fn new(tml: Tml) -> Self {
        Self { tml, output: TransportOutput::default(), echo: false, report: None, each: None }
    }

    fn frame(&mut self, body: &[u8], now: Now) {
        let framed = self.tml.frame::<()>(now, &mut self.output.octets, |out| {
            out.extend_from_slice(body);
            Ok(())
        });
        assert!(framed.is_ok());
    }
}

impl ConnectionProtocol for Counting {
    type Command = Bytes;

    fn receive(&mut self, octets: &[u8], now: Now) {
        self.tml.receive(octets, now);
        while let Some(Ok(pdu)) = self.tml.next() {
            if self.echo {
                self.frame(&pdu, now);
            }
            if let Some((left, done)) = &mut self.report {
                *left -= 1;
                if *left == 0 {
                    assert!(done.send(()).is_ok());
                }
            }
            if let Some(each) = &self.each {
                // Nobody listens any more at the end.
                let _ = each.send(());
            }
        }
    }

    fn urgent(&mut self, _: u8, _: Now) {}
    fn closed(&mut self, _: Option<TmlFault>, _: Now) {}

    fn command(&mut self, body: Bytes, now: Now) {
        self.frame(&body, now);
    }

    fn due(&self) -> Option<u64> {
        self.tml.due()
    }

    fn tick(&mut self, now: Now) {
        assert!(self.tml.tick(now, &mut self.output.octets).is_ok());
    }

    fn output(&mut self) -> &mut TransportOutput {
        &mut self.output
    }
}

/// Both ends of a connection, and the port that it came through.
fn connection(
    responder: impl FnOnce(&mut Counting) + Send + 'static,
    initiator: impl FnOnce(&mut Counting),
) -> (Listener, CommandSender<Bytes>, CommandSender<Bytes>) {
    let (out, accepted) = sync_channel(1);
    let mut once = Some(responder);
    let accept = move |connection: AcceptedConnection| {
        let driver = connection.drive("responder", DriverLimits::default(), |_| {
            let tml = Tml::responder(HeartbeatLimits::default(), 1 << 20, Now::read());
            let mut counting = Counting::new(tml);
            if let Some(set) = once.take() {
                set(&mut counting);
            }
            counting
        });
        let _ = out.send(driver);
    };
    let options = SocketOptions::default();
    let any = ([127, 0, 0, 1], 0).into();
    let listener = Listener::start(any, &options, 8, accept).expect("a port");
    let socket = connect(listener.address(), &options, Duration::from_secs(5)).expect("it listens");
    let driver = Driver::spawn("initiator", socket, &options, DriverLimits::default(), |_| {
        let mut counting = Counting::new(Tml::initiator(Heartbeat::NONE, 1 << 20, Now::read()));
        initiator(&mut counting);
        counting
    });
    let driver = driver.expect("a thread");
    let other = accepted.recv().expect("it accepts").expect("a thread");
    (listener, driver.sender().clone(), other.sender().clone())
}

fn one_way() {
    println!(
        "\none way        {:>8} {:>12} {:>10} {:>10} {:>10} {:>10}",
        "octets", "PDU/s", "Mbit/s", "CPU ns", "PDU/write", "PDU/read"
    );
    for size in SIZES {
        let count = pdus(size);
        let (done, wait) = sync_channel(1);
        let (_listener, sender, other) =
            connection(move |counting| counting.report = Some((count, done)), |_| {});
        let body = Bytes::from(vec![7; size]);
        let (start, cpu) = (clock::monotonic_ns(), clock::process_cpu_ns());
        for _ in 0..count {
            assert!(sender.send(body.clone(), size).is_ok());
        }
        wait.recv().expect("all came");
        let s = (clock::monotonic_ns() - start) as f64 / 1e9;
        let cpu_ns = (clock::process_cpu_ns() - cpu) as f64;
        let count = count as f64;
        println!(
            "               {size:>8} {:>12.0} {:>10.0} {:>10.0} {:>10.0} {:>10.0}",
            count / s,
            count * size as f64 * 8.0 / s / 1e6,
            cpu_ns / count,
            count / sender.counters().writes as f64,
            count / other.counters().reads as f64,
        );
        sender.reset();
    }
}

fn round_trips() {
    println!(
        "\nround trips    {:>8} {:>8} {:>12} {:>12} {:>10}",
        "octets", "window", "PDU/s", "µs/round", "CPU ns"
    );
    for window in [1, 64, 1000] {
        let size = 1544;
        let count = if window == 1 { 20_000 } else { 300_000 };
        let (each, came) = sync_channel(2000);
        let (_listener, sender, _other) =
            connection(|counting| counting.echo = true, |counting| counting.each = Some(each));
        let body = Bytes::from(vec![7; size]);
        let (start, cpu) = (clock::monotonic_ns(), clock::process_cpu_ns());
        for sent in 0..count {
            if sent >= window {
                came.recv().expect("it comes back");
            }
            assert!(sender.send(body.clone(), size).is_ok());
        }
        for _ in 0..window {
            came.recv().expect("it comes back");
        }
        let ns = (clock::monotonic_ns() - start) as f64;
        let cpu_ns = (clock::process_cpu_ns() - cpu) as f64;
        println!(
            "               {size:>8} {window:>8} {:>12.0} {:>12.1} {:>10.0}",
            count as f64 / ns * 1e9,
            ns / 1000.0 / count as f64 * window as f64,
            cpu_ns / count as f64,
        );
        sender.reset();
    }
}
