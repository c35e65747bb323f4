//! Cost of the kernel alone: the same octets to as many sockets in writes of the same size, by a
//! thread that does nothing else. No server that writes to TCP sockets can be cheaper at these
//! intervals.

use crate::Arguments;
use crate::table::Table;
use anyhow::{Context, Result};
use chronoscope_clock as clock;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Octets of a packet, with CR LF.
const PACKET_OCTETS: f64 = 82.0;

pub(crate) fn limits(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "The kernel alone: 750 packets/s of 82 octets to 400 sockets in one write each interval",
        &["interval ms", "writes/s", "CPU-s/M"],
    );
    let mut rows = Vec::new();
    for interval_ms in [4.0, 8.0, 24.0, 50.0, 100.0] {
        let cpu_s = write_only(400, interval_ms, 750.0, arguments.either(1.5, 5.0))?;
        let writes = format!("{:.0}", 400.0 * 1e3 / interval_ms);
        table.row(&[interval_ms.to_string(), writes, format!("{cpu_s:.3}")]);
        rows.push(json!({ "interval_ms": interval_ms, "cpu_s_per_million": cpu_s }));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

/// Seconds of CPU time that a million packets cost the writing thread, when each of
/// `client_count` sockets is written to every `interval_ms` and `packets_per_s` go to each.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn write_only(
    client_count: usize,
    interval_ms: f64,
    packets_per_s: f64,
    seconds: f64,
) -> Result<f64> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let (mut out, mut inward) = (Vec::new(), Vec::new());
    for _ in 0..client_count {
        inward.push(TcpStream::connect(address)?);
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        out.push(stream);
    }
    let reader = std::thread::spawn(move || read_all(&inward));
    let packets = packets_per_s * interval_ms / 1e3;
    let bytes = vec![b'x'; (packets * PACKET_OCTETS) as usize];
    let rounds = (seconds * 1e3 / interval_ms) as u64;
    let started_ns = clock::monotonic_ns();
    let cpu_before = clock::thread_cpu_ns();
    for round in 1..=rounds {
        for stream in &mut out {
            stream.write_all(&bytes)?;
        }
        let next = started_ns + (round as f64 * interval_ms * 1e6) as u64;
        let left = next.saturating_sub(clock::monotonic_ns());
        clock::sleep(Duration::from_nanos(left));
    }
    let cpu_s = (clock::thread_cpu_ns() - cpu_before) as f64 / 1e9;
    drop(out);
    reader.join().ok().context("the reading thread ended")??;
    Ok(cpu_s * 1e6 / (packets * rounds as f64 * client_count as f64))
}

/// Reads until all ends are closed.
fn read_all(streams: &[TcpStream]) -> Result<()> {
    let mut poll = mio::Poll::new()?;
    let mut open = Vec::new();
    for (index, stream) in streams.iter().enumerate() {
        stream.set_nonblocking(true)?;
        let mut stream = mio::net::TcpStream::from_std(stream.try_clone()?);
        poll.registry().register(&mut stream, mio::Token(index), mio::Interest::READABLE)?;
        open.push(Some(stream));
    }
    let mut events = mio::Events::with_capacity(1024);
    let mut buffer = vec![0; 1 << 18];
    while open.iter().any(Option::is_some) {
        poll.poll(&mut events, Some(Duration::from_millis(100)))?;
        for event in &events {
            let slot = &mut open[event.token().0];
            while let Some(stream) = slot {
                match stream.read(&mut buffer) {
                    Ok(0) => *slot = None,
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
        }
    }
    Ok(())
}
