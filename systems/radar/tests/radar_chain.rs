//! The chain from outside: generator, tracker, message server and displays as processes.

#![allow(clippy::unwrap_used, reason = "a test helper may panic")]

#[path = "support/programs.rs"]
mod programs;

use chronoscope_clock as clock;
use chronoscope_model::Record;
use chronoscope_radar::port_files::ChainPort;
use chronoscope_statistics::nearest_rank;
use programs::{Chain, Transactions, target_pixels, wait_for};
use std::time::Duration;

/// Five times faster than life, so that three turns of the antennas do not take half a minute.
const SMALL: [&str; 10] =
    ["--scenario", "circles", "--circles", "4", "--flights", "15", "--radars", "3", "--speed", "5"];

#[test]
fn tracks_are_drawn_and_their_chains_are_whole() {
    let chain = Chain::new(1 << 16);
    let tracker = chain.tracker();
    let generator = chain.generator(&[&SMALL[..], &["--duration", "9"]].concat());
    let messages = chain.messages(None);
    let at_once = chain.display("at_once.png", &["--mpa", "never"]);
    let collecting = chain.display("collecting.png", &["--mpa", "always"]);
    at_once.picture();
    wait_for("first picture", || chain.path("at_once.png").exists());
    let before = target_pixels(&chain.path("at_once.png"));

    generator.finish();
    // First, because a tracker without plots goes on to send: it extrapolates.
    let tracker = tracker.end();
    clock::sleep(Duration::from_secs(3)); // collected updates wait for half a second
    let (at_once, collecting) = (at_once.end(), collecting.end());
    let messages = messages.end();

    // 60 aircraft, some of them out of the radars' sight.
    let tracks = tracker["tracks"].as_u64().unwrap();
    assert!((45..=60).contains(&tracks), "{tracker}");
    assert_eq!(messages["correlated"], tracks, "{messages}");
    assert_eq!(at_once["targets"], tracks, "{at_once}");
    assert_eq!(collecting["targets"], tracks, "{collecting}");
    let sent = tracker["processor"]["messages"].as_u64().unwrap();
    assert!(sent > 100, "{tracker}");
    assert_eq!(at_once["position"]["standard"], sent, "{at_once}");
    assert_eq!(collecting["position"]["averaged"], sent, "{collecting}");
    assert_eq!(tracker["processor"]["ancestors_dropped"], 0);

    // Each target has a symbol of some 30 pixels at least.
    for png in ["at_once.png", "collecting.png"] {
        let pixels = target_pixels(&chain.path(png));
        assert!(pixels as u64 > 30 * tracks, "{png}: {pixels} pixels for {tracks} targets");
        assert!(before < pixels / 2, "{before} pixels before there was anything to draw");
    }
    let extrapolated = tracker["tracker"]["extrapolated"].as_u64().unwrap();
    check_chains(&chain.transactions(), sent, extrapolated);
}

/// Normal chains end at level 4, those of a collecting display at level 5, and every redraw has
/// its whole line of parents up to the plot, or up to the extrapolation where there was none.
fn check_chains(all: &Transactions, sent: u64, extrapolated: u64) {
    const COMMON: &str = "MSG:TrackStore_updateTrack CWP:TrackStore_updateTrack";
    const PLOT: &str = "MRTS:decodePlots MRTS:Correlate";
    const NO_PLOT: &str = "MRTS:Extrapolate";
    let (by_id, roots) = (all.by_id(), all.roots());
    let redraws = all.of("CWP", "TargetView_redraw");
    let of_way = |way: String| {
        let same = |r: &&&Record| all.lineage(r, &by_id) == format!("{way} CWP:TargetView_redraw");
        redraws.iter().filter(same).copied().collect::<Vec<_>>()
    };
    let mpa = format!("{COMMON} CWP:TrackStore_updateTrackMPA");
    let (normal, averaged) = (of_way(format!("{PLOT} {COMMON}")), of_way(format!("{PLOT} {mpa}")));
    assert_eq!(normal.len() as u64, sent - extrapolated);
    assert_eq!(averaged.len() as u64, sent - extrapolated);
    for way in [format!("{NO_PLOT} {COMMON}"), format!("{NO_PLOT} {mpa}")] {
        assert_eq!(of_way(way).len() as u64, extrapolated);
    }
    assert_eq!(redraws.len() as u64, 2 * sent);
    for (redraws, level) in [(&normal, 4), (&averaged, 5)] {
        for redraw in redraws {
            assert_eq!(redraw.level, level);
            let acpd_ns = redraw.since_root_ns().unwrap();
            let chain = (u128::from(redraw.chain_high) << 64) | u128::from(redraw.chain_low);
            let root = roots[&chain];
            // The duration that the leaf knew when it stopped is the one that a join gives.
            assert_eq!(acpd_ns, redraw.end_ns() - root.start_ns);
            assert!((0..5_000_000_000).contains(&acpd_ns), "{acpd_ns} ns");
        }
    }
    let mean = |redraws: &[&Record]| {
        redraws.iter().map(|r| r.since_root_ns().unwrap() as f64).sum::<f64>()
            / redraws.len() as f64
            / 1e6
    };
    // Collected updates wait for a quarter of a second on average, the others for nothing.
    assert!(mean(&averaged) > 100.0 && mean(&normal) < mean(&averaged) / 2.0);
    eprintln!("mean to the redraw: {:.3} ms normal, {:.1} ms MPA", mean(&normal), mean(&averaged));
    assert_eq!(all.of("CWP", "TargetView_recalculate").len() as u64, 2 * sent);
}

/// With held output nothing is lost, and the time is where it belongs: between the processes, not
/// in any of them.
#[test]
fn held_output_arrives_whole_and_waits_between_the_hops() {
    let chain = Chain::new(1 << 16);
    let hold = ["--nagle", "--flush-ms", "300"];
    let tracker = chain.tracker_with(&hold);
    let generator = chain.generator(&[&SMALL[..], &["--duration", "9"]].concat());
    let messages = chain.messages_with(None, &hold);
    let display = chain.display("held.png", &["--mpa", "never"]);
    generator.finish();
    clock::sleep(Duration::from_millis(100));
    // What each still holds it sends when it ends.
    let tracker = tracker.end();
    clock::sleep(Duration::from_secs(2));
    let messages = messages.end();
    clock::sleep(Duration::from_secs(2));
    let display = display.end();

    let sent = tracker["processor"]["messages"].as_u64().unwrap();
    assert!(sent > 100, "{tracker}");
    assert_eq!(messages["forwarder"]["updates"], sent, "{messages}");
    assert_eq!(display["position"]["standard"], sent, "{display}");

    let all = chain.transactions();
    let by_id = all.by_id();
    let redraws = all.of("CWP", "TargetView_redraw");
    assert_eq!(redraws.len() as u64, sent);
    let (mut inside_ns, mut between_ns, mut held) = (0, 0, 0);
    for redraw in redraws {
        let drawn = by_id[&redraw.parent.0];
        let forwarded = by_id[&drawn.parent.0];
        let correlated = by_id[&forwarded.parent.0];
        let waits = [forwarded.start_ns - correlated.end_ns(), drawn.start_ns - forwarded.end_ns()];
        // Some 10 µs is what stamps of two processes may be off by.
        assert!(waits.iter().all(|ns| *ns > -100_000), "{waits:?}");
        inside_ns += [correlated, forwarded, drawn].iter().map(|r| r.elapsed_ns).sum::<u64>();
        between_ns += waits.iter().sum::<i64>();
        held += u64::from(waits[0] > 1_000_000 && waits[1] > 1_000_000);
    }
    assert!(held > sent / 2, "{held} of {sent} waited in both processes");
    assert!(between_ns.cast_unsigned() > 10 * inside_ns, "{between_ns} {inside_ns}");
}

#[test]
fn a_killed_message_server_is_found_again_by_all() {
    let chain = Chain::new(1 << 12);
    let tracker = chain.tracker();
    let generator = chain.generator(&[&SMALL[..], &["--duration", "14"]].concat());
    let messages = chain.messages(None);
    let address = chain.address(ChainPort::Updates);
    let displays = [chain.display("a.png", &[]), chain.display("b.png", &[])];
    clock::sleep(Duration::from_secs(5));
    messages.kill();
    clock::sleep(Duration::from_millis(500));
    let messages = chain.messages(Some(&address));
    generator.finish();
    let messages = messages.end();
    assert_eq!(messages["displays"]["connected"], 2, "{messages}");
    assert!(messages["forwarder"]["updates"].as_u64().unwrap() > 50, "{messages}");
    for display in displays {
        let summary = display.end();
        assert_eq!(summary["messages"]["connected"], 2, "{summary}");
        assert!(summary["messages"]["failed"].as_u64().unwrap() >= 1, "{summary}");
        assert!(summary["targets"].as_u64().unwrap() > 40, "{summary}");
        // The message torn by the kill was not taken for one.
        assert_eq!(summary["position"]["malformed"], 0, "{summary}");
    }
    let tracker = tracker.end();
    assert_eq!(tracker["subscribers"]["connected"], 2, "{tracker}");
    assert_eq!(tracker["subscribers"]["cut_slow"], 0, "{tracker}");
}

/// The heavy scenario: 3000 tracks in 30 circles, five displays, one computer. Takes a minute and
/// wants an optimised build:
/// `cargo test --release -p chronoscope-radar --test radar_chain -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement of a minute, to be run in a release build"]
fn three_thousand_tracks_on_five_displays() {
    let chain = Chain::new(1 << 18);
    let tracker = chain.tracker();
    let generator = chain.generator(&["--scenario", "circles", "--duration", "60"]);
    let messages = chain.messages(None);
    let displays: Vec<_> = (0..5).map(|i| chain.display(&format!("{i}.png"), &[])).collect();
    generator.finish();
    clock::sleep(Duration::from_millis(700));
    let displays: Vec<_> = displays.into_iter().map(programs::Program::end).collect();
    let (messages, tracker) = (messages.end(), tracker.end());
    for summary in displays.iter().chain([&messages, &tracker]) {
        eprintln!("{summary}");
    }
    let all = chain.transactions();
    let mut acpd_ms: Vec<f64> = all
        .of("CWP", "TargetView_redraw")
        .iter()
        .map(|r| r.since_root_ns().unwrap() as f64 / 1e6)
        .collect();
    acpd_ms.sort_by(f64::total_cmp);
    let count = acpd_ms.len();
    let at = |quantile: &str| nearest_rank(&acpd_ms, quantile.parse().unwrap()).unwrap();
    let mean = acpd_ms.iter().sum::<f64>() / count as f64;
    eprintln!(
        "decodePlots to TargetView_redraw, {count} chains: mean {mean:.3} ms, median {:.3}, \
         p99 {:.3}, p99.7 {:.3}, max {:.3} ms",
        at("p50"),
        at("p99"),
        at("p99.7"),
        acpd_ms[count - 1]
    );
    assert!(mean < 20.0 && at("p99.7") < 100.0);
}
