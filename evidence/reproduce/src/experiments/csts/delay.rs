//! Measurements 4 and 5: round trips and windows, beside iperf3 on the same path.

use super::{Printed, is, number};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Picture, Series};
use anyhow::Result;
use chronoscope_published::{Cell, Published};
use serde_json::Value;

/// The table of all rows over a delay.
pub(super) const DELAY: &str = "One CLTU an invocation over a delay";
/// The same work with a delay and without.
pub(super) const EQUAL: &str = "A delay and none, with equal work";
const SHAPES: &str = "Shape over the round trip";
/// The document's small window, in octets.
pub(super) const SMALL: f64 = 65_536.0;
const LARGE: f64 = 25_000_000.0;

const EQUAL_COLUMNS: [(&str, &str); 11] = [
    ("window_octets", "TCP buffers"),
    ("octets", "octets"),
    ("operations", "operations"),
    ("bound", "as many as"),
    ("rtt_ms", "RTT ms"),
    ("near_us", "none, µs/CLTU"),
    ("far_us", "delayed, µs/CLTU"),
    ("factor", "slower by"),
    ("near_cpu_us", "none, CPU µs"),
    ("far_cpu_us", "delayed, CPU µs"),
    ("cpu_ratio", "CPU ratio"),
];

pub(super) fn delayed(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.measurement4");
    let rows = series.table(EQUAL)?;
    let row = |window: f64, bound: &str| {
        rows.row(&[("bound", bound)], &[("window_octets", window), ("octets", 1544.0)])
    };
    let busy = row(LARGE, "TCP's");
    found.figure("cpu_ratio", number(busy, "cpu_ratio")).note(format!(
        "25 MB, 1544 octets, {:.0} operations: {:.2} µs without, {:.2} µs over {} ms",
        number(busy, "operations"),
        number(busy, "near_cpu_us"),
        number(busy, "far_cpu_us"),
        number(busy, "rtt_ms")
    ));
    let few = row(SMALL, "document's");
    found.figure("transfer_factor", number(few, "factor")).note(format!(
        "64 kB, 1544 octets, {:.0} operations: {:.1} µs without, {:.0} µs over {} ms",
        number(few, "operations"),
        number(few, "near_us"),
        number(few, "far_us"),
        number(few, "rtt_ms")
    ));
    rows.add_to(&mut found, "the longest round trip and none, with equal work", &EQUAL_COLUMNS);
    Ok(found)
}

pub(super) fn reference(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.measurement5_1");
    let rows = series.table(DELAY)?;
    let of = |window: f64| {
        let rows = rows.0.iter().filter(move |row| is(row, "window_octets", window));
        let mut points: Vec<(f64, f64)> = rows
            .filter_map(|row| Some((row["rtt_ms"].as_f64()?, row["iperf_mbit_per_s"].as_f64()?)))
            .collect();
        points.dedup();
        points
    };
    let lines = [("64 kB", SMALL), ("13 MB", 13e6), ("25 MB", LARGE)];
    let lines: Vec<Series> = lines
        .into_iter()
        .map(|(name, window)| (name, of(window)))
        .filter(|(_, points)| !points.is_empty())
        .map(|(name, points)| Series::line(name, points))
        .collect();
    if lines.is_empty() {
        found.missing("iperf3 is missing: tools/setup bench installs it");
        return Ok(found);
    }
    let shapes = series.table(SHAPES)?;
    let iperf = shapes.row(&[("whose", "iperf3")], &[]);
    found.figure("exponent", number(iperf, "exponent")).note(range(iperf));
    found.figure("of_window", number(iperf, "of_window")).note(format!(
        "{:.0} octets in flight, by rate times round trip; the buffers are 2 × 65,536",
        number(iperf, "in_flight_octets")
    ));
    found.pictures.push(Picture::Chart(Chart {
        title: "iperf3 on our path, by TCP buffers".to_owned(),
        x: Axis::log("round trip, ms"),
        y: Axis::log("Mbit/s"),
        series: lines,
        marks: Vec::new(),
    }));
    Ok(found)
}

/// The round trips of a shape.
fn range(shape: Option<&Value>) -> String {
    format!(
        "{} round trips from {} to {} ms",
        number(shape, "round_trips"),
        number(shape, "from_ms"),
        number(shape, "to_ms")
    )
}

pub(super) fn of_reference(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.measurement5_2");
    let rows = series.table(DELAY)?;
    let shapes = series.table(SHAPES)?;
    let shape =
        |bound: &str| shapes.row(&[("whose", "ours"), ("bound", bound)], &[("octets", 1544.0)]);
    let [tcp, few] = [shape("TCP's"), shape("document's")];
    found.figure("exponent", number(tcp, "exponent")).note(format!(
        "{}; with as many operations under way as the document had: {:.3}",
        range(tcp),
        number(few, "exponent")
    ));
    // Mean over the round trips that the document has.
    let of_iperf = |octets: f64, bound: &str| {
        let far = |row: &&Value| row["rtt_ms"].as_f64().is_some_and(|ms| ms >= 50.0);
        let rows = rows.0.iter().filter(far).filter(|row| {
            is(row, "octets", octets) && is(row, "window_octets", SMALL) && row["bound"] == bound
        });
        let ratios: Vec<f64> = rows.filter_map(|row| row["of_iperf"].as_f64()).collect();
        ratios.iter().sum::<f64>() / ratios.len() as f64
    };
    for (figure, octets) in [("of_iperf_1544", 1544.0), ("of_iperf_1000", 1000.0)] {
        let operations =
            rows.row(&[("bound", "document's")], &[("window_octets", SMALL), ("octets", octets)]);
        found.figure(figure, of_iperf(octets, "TCP's")).note(format!(
            "as many operations under way as TCP takes; with {:.0}, as the document's rates say it had: \
             {:.3}. Its limit was the number of operations, not TCP's window",
            number(operations, "operations"),
            of_iperf(octets, "document's")
        ));
    }
    let line = |bound: &str| {
        let rows = rows.0.iter().filter(|row| {
            is(row, "octets", 1544) && is(row, "window_octets", SMALL) && row["bound"] == bound
        });
        rows.filter_map(|row| Some((row["rtt_ms"].as_f64()?, row["mbit_per_s"].as_f64()?)))
            .collect::<Vec<_>>()
    };
    let published = Published::read()?;
    let published = published.rows("csts.table5")?.iter().filter_map(|row| {
        let is_wanted = row[0] == Cell::from("64 KB") && row[2].number() == Some(1544.0);
        is_wanted.then(|| row[1].number().zip(row[6].number())).flatten()
    });
    let published: Vec<_> = published.collect();
    found.pictures.push(Picture::Chart(Chart {
        title: "Throughput against round trip, CLTUs of 1544 octets, 64 kB".to_owned(),
        x: Axis::log("round trip, ms"),
        y: Axis::log("Mbit/s"),
        series: vec![
            Series::line("ours, as many operations as TCP takes", line("TCP's")),
            Series::line("document", published),
            Series::line("ours, as many operations as the document", line("document's")),
        ],
        marks: Vec::new(),
    }));
    let columns = [
        ("whose", "whose"),
        ("octets", "octets"),
        ("bound", "as many as"),
        ("round_trips", "round trips"),
        ("exponent", "throughput ~ (1/RTT)^"),
        ("in_flight_octets", "octets in flight"),
        ("of_window", "of the window"),
    ];
    shapes.add_to(&mut found, "shape over the round trip", &columns);
    found.words.extend(series.words(2));
    Ok(found)
}

pub(super) fn windows(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.table5");
    let rows = series.table(DELAY)?;
    for (figure, window, rtt_ms) in [
        ("mbps_64k_100", SMALL, 100.0),
        ("mbps_25m_100", LARGE, 100.0),
        ("mbps_25m_near", LARGE, 0.1),
    ] {
        let numbers = [("window_octets", window), ("rtt_ms", rtt_ms), ("octets", 1544.0)];
        let row = |bound: &str| rows.row(&[("bound", bound)], &numbers);
        found.figure(figure, number(row("TCP's"), "mbit_per_s")).note(format!(
            "{:.0} operations under way; with {:.0}: {:.3} Mbit/s",
            number(row("TCP's"), "operations"),
            number(row("document's"), "operations"),
            number(row("document's"), "mbit_per_s")
        ));
    }
    let gains = series.table("Windows over 100 ms")?;
    let gain = |window: f64, bound: &str| {
        let row = gains.row(&[("bound", bound)], &[("window_octets", window)]);
        number(row, "gain")
    };
    let in_flight = |window: f64| {
        let row = gains.row(&[("bound", "TCP's")], &[("window_octets", window)]);
        number(row, "in_flight_octets") / 1e3
    };
    found.figure("window_gain", gain(13e6, "TCP's")).note(format!(
        "{:.0} kB in flight against {:.0} kB, here by TCP's window and the link; the document's 147 \
         and 11 kB are its numbers of operations. With these under way: {:.2}",
        in_flight(13e6),
        in_flight(SMALL),
        gain(13e6, "document's")
    ));
    found.figure("larger_window", gain(LARGE, "TCP's") / gain(13e6, "TCP's")).note(
        "beyond the product of rate and delay a window gains nothing: here the link's, there that of \
         the operations under way",
    );
    let answers = series.table("How big must the window be")?;
    for row in answers.0 {
        let row = Some(row);
        let what = format!(
            "slide 14: “How big must the window size be … for the example of 40 Mbit/sec?” {} ms: {:.0} \
             operations, {:.0} octets on the wire; with these",
            number(row, "rtt_ms"),
            number(row, "operations"),
            number(row, "window_octets")
        );
        found.own(&what, "Mbit/s", number(row, "mbit_per_s"));
    }
    let columns = [
        ("window_octets", "TCP buffers"),
        ("rtt_ms", "RTT ms"),
        ("octets", "octets"),
        ("operations", "operations"),
        ("mbit_per_s", "Mbit/s"),
        ("units_per_s", "CLTU/s"),
        ("iperf_mbit_per_s", "iperf3"),
        ("of_iperf", "of iperf3"),
        ("published_mbit_per_s", "published"),
        ("factor", "factor"),
    ];
    rows.add_to(&mut found, "one CLTU an invocation over a delay", &columns);
    Ok(found)
}
