//! Benchmark of ASTERIX records decoded and encoded per second on one core.
//!
//! `cargo bench -p chronoscope-radar --bench asterix`. The plots are the generator's: a data
//! source, time, descriptor, polar position, Mode A, level, address and callsign each. The same
//! datagrams go to the independent decoder asterix-decoder, when its Python environment can be
//! had. CPU time of the thread (of the process there, without starting up).

use chronoscope_clock as clock;
use chronoscope_radar::asterix::cat062::{Position, Track};
use chronoscope_radar::asterix::{Record, TimeOfDay, decode_block, encode_block};
use chronoscope_radar::generator::{Generator, sites::SITES};
use chronoscope_radar::traffic::circles;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const ROUNDS: u32 = 50;

fn main() {
    let mut generator = Generator::new(circles::compose(30, 100), &SITES[..5], 1, 0);
    let mut datagrams = Vec::new();
    while let Some(Ok(transmission)) = generator.next_transmission() {
        if transmission.at_s > 20.0 {
            break;
        }
        datagrams.extend(transmission.datagrams);
    }
    let plots: Vec<_> = datagrams
        .iter()
        .flat_map(|datagram| decode_block(datagram))
        .filter_map(|record| match record {
            Ok(Record::Plot(plot)) => Some(plot),
            _ => None,
        })
        .collect();
    let records: usize = datagrams.iter().map(|datagram| decode_block(datagram).count()).sum();

    let decoded = rate(records, || {
        for datagram in &datagrams {
            for record in decode_block(black_box(datagram)) {
                let _ = black_box(record);
            }
        }
    });
    println!("decode 048 and 034  {decoded:>12.0} records/s");
    match decoder(&datagrams) {
        Some(other) => {
            println!("  asterix-decoder   {other:>12.0} records/s, ours {:.0}×", decoded / other);
        }
        None => eprintln!("SKIPPED: no Python environment asterix-decoder to compare with"),
    }
    let mut out = Vec::new();
    let encoded = rate(plots.len(), || {
        for block in plots.chunks(40) {
            out.clear();
            encode_block(black_box(block), &mut out).expect("the generator's plots");
            black_box(&out);
        }
    });
    println!("encode 048          {encoded:>12.0} records/s");
    let tracks: Vec<Track> = (0..2000).map(track).collect();
    let mut blocks = Vec::new();
    let encoded = rate(tracks.len(), || {
        blocks.clear();
        for block in tracks.chunks(20) {
            encode_block(black_box(block), &mut blocks).expect("tracks within range");
        }
    });
    println!("encode 062          {encoded:>12.0} records/s");
    let decoded = rate(tracks.len(), || {
        for record in decode_block(black_box(&blocks)) {
            let _ = black_box(record);
        }
    });
    println!("decode 062          {decoded:>12.0} records/s");
}

/// Records a second of CPU time, over [`ROUNDS`] rounds of `records` each.
fn rate(records: usize, mut round: impl FnMut()) -> f64 {
    round();
    let begin = clock::thread_cpu_ns();
    for _ in 0..ROUNDS {
        round();
    }
    let elapsed_s = (clock::thread_cpu_ns() - begin) as f64 * 1e-9;
    records as f64 * f64::from(ROUNDS) / elapsed_s
}

/// A track with what the tracker sends.
fn track(number: u16) -> Track {
    Track {
        service_id: Some(1),
        time_of_day: Some(TimeOfDay::from_ticks(number.into())),
        position: Some(Position { lat_deg: 50.0, lon_deg: f64::from(number % 100) / 10.0 }),
        track_number: Some(number),
        measured_flight_level: Some(350.0),
        rate_of_climb_ft_min: Some(0.0),
        special_purpose: vec![0; 120],
        ..Track::default()
    }
}

/// The records a second of asterix-decoder.
fn decoder(datagrams: &[Vec<u8>]) -> Option<f64> {
    const SCRIPT: &str = "
import sys, time, asterix
datagrams = [bytes.fromhex(line) for line in sys.stdin]
begin, records = time.process_time(), 0
for datagram in datagrams:
    records += len(asterix.parse(datagram, verbose=False))
print(records / (time.process_time() - begin))
";
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/venv");
    let python = Command::new(tool).arg("asterix-decoder").output().ok()?;
    let python = python.status.success().then(|| String::from_utf8(python.stdout)).transpose();
    let mut child = Command::new(python.ok()??.trim())
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    for datagram in datagrams {
        let hex: String = datagram.iter().map(|octet| format!("{octet:02x}")).collect();
        writeln!(stdin, "{hex}").ok()?;
    }
    drop(stdin);
    String::from_utf8(child.wait_with_output().ok()?.stdout).ok()?.trim().parse().ok()
}
