//! A long run with clients that come and go and do what they should not, while steady ones check
//! that they get everything, and the memory is watched.

use super::{complete, feeds_of, latencies, megabytes};
use crate::load::{self, Plan};
use crate::passcode::passcode;
use crate::process::Usage;
use crate::server::Server;
use crate::table::Table;
use crate::{Arguments, filters};
use anyhow::{Result, ensure};
use chronoscope_clock as clock;
use chronoscope_statistics::Random;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Largest growth: memory of the second half beyond that of the first, as a share of it.
const GROWTH_MAX: f64 = 0.05;

/// Runs for so many minutes.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn soak(arguments: &Arguments, minutes: f64) -> Result<Value> {
    let server = Server::start(&arguments.settings("adaptive"))?;
    let mut receivers = feeds_of(50);
    receivers.extend(filters::mixed(200));
    let plan = Plan {
        warm_s: 10.0,
        window_s: minutes * 60.0,
        others: true,
        ..arguments.plan(receivers, 500.0)
    };
    let process = server.process();
    let ports = [server.port("full")?, server.port("igate")?, server.port("HTTPStatus")?];
    let udp = server.port("submit")?;
    let ended = AtomicBool::new(false);
    let (outcome, samples, churned) = std::thread::scope(|scope| {
        let churn = scope.spawn(|| churn(ports, udp, process, &ended));
        let samples = scope.spawn(|| sample(process, minutes, &ended));
        let outcome = load::run(&server, &plan);
        ended.store(true, Ordering::Relaxed);
        (outcome, samples.join(), churn.join())
    });
    let outcome = outcome?;
    let samples = samples.map_err(|_| anyhow::anyhow!("the watch of the memory ended"))??;
    let churned = churned.map_err(|_| anyhow::anyhow!("the restless clients ended"))??;
    ensure!(samples.len() >= 4, "the run is too short for a result about memory");
    // The first tenth fills caches.
    let steady = &samples[samples.len() / 10..];
    let (first, second) = steady.split_at(steady.len() / 2);
    let most = |part: &[u64]| part.iter().copied().max().unwrap_or(0);
    let growth = most(second) as f64 / most(first) as f64 - 1.0;
    let mut table = Table::new(
        "50 full feeds and 200 filtered clients at 500 lines/s, others come, go and misbehave",
        &[
            "minutes",
            "restless clients",
            "reloads",
            "upgrades",
            "RSS MB 1st/2nd half",
            "growth",
            "p50/p90/p99/max ms",
            "complete",
        ],
    );
    table.row(&[
        format!("{minutes:.1}"),
        churned.clients.to_string(),
        churned.reloads.to_string(),
        churned.upgrades.to_string(),
        format!("{:.1}/{:.1}", megabytes(most(first)), megabytes(most(second))),
        format!("{:.1} %", growth * 100.0),
        latencies(&outcome.latency),
        complete(&outcome),
    ]);
    arguments.show(&table);
    let flat = growth < GROWTH_MAX;
    if !arguments.json {
        println!("memory is {}", if flat { "flat" } else { "NOT flat" });
    }
    Ok(json!({
        "minutes": minutes, "restless_clients": churned.clients, "reloads": churned.reloads,
        "upgrades": churned.upgrades, "rss_kb": samples, "growth": growth, "flat": flat,
        "outcome": outcome,
    }))
}

/// Resident memory, in kB, some hundred times over the run.
fn sample(process: u32, minutes: f64, ended: &AtomicBool) -> Result<Vec<u64>> {
    let mut samples = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        clock::sleep(Duration::from_secs_f64((minutes * 60.0 / 200.0).max(0.25)));
        samples.push(Usage::of(process)?.rss_kb);
    }
    Ok(samples)
}

/// Counts of the restless clients.
#[derive(Debug, Default)]
struct Churned {
    clients: u64,
    reloads: u64,
    upgrades: u64,
}

/// Twenty clients a second, each doing one thing; now and then a reload or a live upgrade.
fn churn(
    [full, igate, status]: [SocketAddr; 3],
    udp: SocketAddr,
    process: u32,
    ended: &AtomicBool,
) -> Result<Churned> {
    let mut random = Random(5);
    let mut churned = Churned::default();
    let mut held: Vec<TcpStream> = Vec::new();
    let datagrams = UdpSocket::bind("127.0.0.1:0")?;
    let pid = Pid::from_raw(i32::try_from(process)?);
    while !ended.load(Ordering::Relaxed) {
        clock::sleep(Duration::from_millis(50));
        churned.clients += 1;
        if churned.clients.is_multiple_of(2000) {
            kill(pid, Signal::SIGUSR2)?;
            churned.upgrades += 1;
        } else if churned.clients.is_multiple_of(700) {
            kill(pid, Signal::SIGUSR1)?;
            churned.reloads += 1;
        }
        // A server that is just being replaced may refuse; that is counted by its absence only.
        let address = if random.below(2) == 0 { full } else { igate };
        let call = format!("RST-{}", random.below(50));
        let login = format!("user {call} pass {} vers load 1\r\n", passcode(&call));
        match random.below(8) {
            0 => drop(send(address, login.as_bytes())),
            1 => held.extend(send(address, login.as_bytes())),
            2 => held.extend(send(address, b"user half a log")),
            3 => {
                let garbage: Vec<u8> = (0..4000).map(|_| random.bits().to_le_bytes()[0]).collect();
                drop(send(address, &[login.as_bytes(), &garbage].concat()));
            }
            4 => {
                let long = [login.as_bytes(), &b"X".repeat(9000)[..]].concat();
                held.extend(send(address, &long));
            }
            5 => {
                let filter = format!("{login}#filter r/60/25/{} p/OH -b/X*\r\n", random.below(900));
                held.extend(send(igate, filter.as_bytes()));
            }
            6 => {
                let request =
                    b"GET /status.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
                if let Some(mut stream) = send(status, request) {
                    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
                    let mut answer = Vec::new();
                    // The length of the answer does not matter, only that it was requested.
                    let _ = stream.read_to_end(&mut answer);
                }
            }
            _ => {
                // The last letter keeps its digits from being taken for the mark of a checked
                // packet.
                let line = format!("{login}{call}>APRS:>restless {:x}r\r\n", random.bits());
                datagrams.send_to(line.as_bytes(), udp)?;
            }
        }
        if held.len() > 100 {
            held.drain(..50);
        }
    }
    Ok(churned)
}

fn send(address: SocketAddr, bytes: &[u8]) -> Option<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(2)).ok()?;
    stream.write_all(bytes).ok()?;
    Some(stream)
}
