//! Cost of a frame in the state machines of the return services: generated, put into transfer
//! buffers by the provider, counted by the user. No encoding, no sockets.
//!
//! `cargo bench -p chronoscope-sle --bench returns`. Frames of 100 octets, 80 a buffer, in batches
//! of 256. CPU time of this thread, the best of five runs. The limit beside it is one copy of a
//! frame's octets.

use chronoscope_clock as clock;
use chronoscope_sle::frame::{FrameTrailer, ReceivedFrame};
use chronoscope_sle::pdu::{
    ControlWordType, DeliveryMode, GvcId, PermittedChannel, RequestedFrameQuality, ReturnSelection,
    ReturnStart, UpdateMode,
};
use chronoscope_sle::service::ServiceAction;
use chronoscope_sle::service::returns::{ReturnConfig, ReturnProvider, ReturnUser, ServiceOffer};
use chronoscope_sle::source::{FrameGenerator, GeneratorSettings};
use chronoscope_sle::time::Now;
use std::hint::black_box;

const RUNS: usize = 5;
const FRAMES: usize = 400_000;
const BATCH: usize = 256;
const OCTETS: usize = 100;
const NOW: Now = Now { monotonic_ns: 1, utc_ns: 1_700_000_000_000_000_000 };
const MASTER: GvcId = GvcId { spacecraft: 1, version: 0, virtual_channel: None };

fn main() {
    println!("{:<44} {:>10} {:>14}", "", "ns a frame", "frames/s");
    row("one copy of a frame's octets (the limit)", best(copied));
    row("generator, OCF and FECF", best(generated));
    let channels = || vec![PermittedChannel { spacecraft: 1, version: 0, virtual_channels: None }];
    let rocf = ServiceOffer::Rocf {
        channels: channels(),
        control_words: vec![0],
        tc_channels: None,
        updates: vec![UpdateMode::Continuous],
    };
    let ocf = ReturnSelection::Ocf {
        channel: MASTER,
        control_word: ControlWordType::All,
        update: UpdateMode::Continuous,
    };
    for (name, offer, select) in [
        ("RAF", ReturnConfig::raf().offer, ReturnSelection::Frames(RequestedFrameQuality::All)),
        ("RCF", ServiceOffer::Rcf { channels: channels() }, ReturnSelection::Channel(MASTER)),
        ("ROCF", rocf, ocf),
    ] {
        for delivery in [DeliveryMode::TimelyOnline, DeliveryMode::CompleteOnline] {
            let config = ReturnConfig {
                offer: offer.clone(),
                delivery,
                trailer: FrameTrailer { fecf: true, aos_ocf: false },
                ..ReturnConfig::raf()
            };
            let (provider, user) = best_pair(&config, select);
            row(&format!("{name} provider, {delivery:?}"), provider);
            row(&format!("{name} user, {delivery:?}"), user);
        }
    }
}

fn row(what: &str, ns: f64) {
    println!("{what:<44} {ns:>10.1} {:>14.0}", 1e9 / ns);
}

fn best(mut run: impl FnMut() -> f64) -> f64 {
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn best_pair(config: &ReturnConfig, select: ReturnSelection) -> (f64, f64) {
    let runs = (0..RUNS).map(|_| served(config, select));
    runs.fold((f64::INFINITY, f64::INFINITY), |best, run| (best.0.min(run.0), best.1.min(run.1)))
}

#[allow(clippy::cast_precision_loss)] // far below 2^52
fn each(ns: u64) -> f64 {
    ns as f64 / FRAMES as f64
}

fn settings() -> GeneratorSettings {
    GeneratorSettings {
        octets: OCTETS,
        spacecraft: 1,
        virtual_channels: vec![0],
        rate: None,
        count: Some(FRAMES as u64),
        ocf: true,
        fecf: true,
    }
}

fn generator() -> FrameGenerator {
    FrameGenerator::new(settings()).expect("such frames exist")
}

fn copied() -> f64 {
    let from = vec![7u8; OCTETS * BATCH];
    let mut to = vec![0u8; OCTETS * BATCH];
    let start = clock::thread_cpu_ns();
    for _ in 0..FRAMES / BATCH {
        for (from, to) in from.chunks_exact(OCTETS).zip(to.chunks_exact_mut(OCTETS)) {
            to.copy_from_slice(black_box(from));
        }
        black_box(&mut to);
    }
    each(clock::thread_cpu_ns() - start)
}

fn generated() -> f64 {
    let mut generator = generator();
    let mut frames = Vec::with_capacity(BATCH);
    let start = clock::thread_cpu_ns();
    for _ in 0..FRAMES / BATCH {
        frames.clear();
        generator.read(BATCH, NOW, &mut frames);
        black_box(&frames);
    }
    each(clock::thread_cpu_ns() - start)
}

/// ns a frame of the provider's, and of the user's.
fn served(config: &ReturnConfig, select: ReturnSelection) -> (f64, f64) {
    let mut provider = ReturnProvider::new(config.clone());
    let mut user = ReturnUser::new(config.service());
    provider.bound(5, NOW);
    user.bound();
    let start = user.start(ReturnStart { start: None, stop: None, select }).expect("ready");
    let mut out = Vec::new();
    provider.pdu(start, NOW, &mut out);
    let mut generator = generator();
    let mut frames: Vec<ReceivedFrame> = Vec::with_capacity(BATCH);
    let (mut provider_ns, mut user_ns) = (0, 0);
    for _ in 0..FRAMES / BATCH {
        generator.read(BATCH, NOW, &mut frames);
        let before = clock::thread_cpu_ns();
        provider.frames(frames.drain(..), NOW, &mut out);
        let between = clock::thread_cpu_ns();
        for action in out.drain(..) {
            let ServiceAction::Send(pdu) = action else { panic!("{action:?}") };
            black_box(user.pdu(pdu, NOW).expect("as the book says"));
        }
        provider_ns += between - before;
        user_ns += clock::thread_cpu_ns() - between;
    }
    assert_eq!(user.counts().missing, 0);
    assert!(user.counts().frames + 80 > (FRAMES / BATCH * BATCH) as u64);
    (each(provider_ns), each(user_ns))
}
