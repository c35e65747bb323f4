//! The target, the set-up, and measurements 1 to 3: throughput over the length of a CLTU.

use super::{Printed, Rows, is, number, with};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Picture, Series};
use anyhow::Result;
use serde_json::Value;

pub(super) fn target(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.target");
    let rows = series.table("Frames through FCLTU")?;
    let case = |case: &str, window: f64| {
        rows.row(&[("case", case), ("reports", "none")], &[("window", window)])
    };
    let gain = |window: f64| {
        let [one, single] = ["one CLTU of 7 frames", "7 CLTUs, one by one"]
            .map(|name| number(case(name, window), "frames_per_s"));
        one / single
    };
    let one = case("one CLTU of 7 frames", 1.0);
    found.figure("mbps", number(one, "mbit_per_s")).note(format!(
        "one CLTU of 7 frames, one at a time, without radiation reports; one by one {:.1} Mbit/s",
        number(case("7 CLTUs, one by one", 1.0), "mbit_per_s")
    ));
    found.figure("frames", 7.0);
    found.figure("frame_bytes", 220.0);
    let [alone, many] = [gain(1.0), gain(64.0)];
    found
        .figure("in_one", smaller([alone, many]))
        .note(format!("one operation at a time {alone:.2}, 64 under way {many:.2}"));
    let columns = with(&[("case", "case"), ("reports", "reports"), ("window", "window")]);
    rows.add_to(&mut found, "frames of 220 octets through FCLTU", &columns);
    found.words.extend(series.words(0));
    Ok(found)
}

/// The smaller of two; NaN where one is missing.
pub(super) fn smaller([a, b]: [f64; 2]) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

pub(super) fn setup(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.setup");
    let settings = series.0["steps"].as_array().into_iter().flatten();
    let settings = settings.filter_map(|step| step["settings"].as_array()).flatten();
    let mut lines: Vec<&str> = settings.filter_map(Value::as_str).map(str::trim).collect();
    lines.dedup();
    found.words.extend(lines.into_iter().map(str::to_owned));
    let delay = series.table(super::delay::DELAY)?;
    let near = delay.row(&[], &[("rtt_ms", 0.1)]);
    found.figure("rtt_ms", number(near, "measured_rtt_ms")).note("of a connection, no delay added");
    found.say(
        "User and provider are two processes of one machine; a thread between two network namespaces \
         delays their packets, at most at the document's 1000 Mbit/s (docs/sle-series.md).",
    );
    Ok(found)
}

const CURVES: &str = "Settings of the slides' measurements 1 to 3";
const SHAPES: &str = "Shape over the length";

/// Measurements 1 to 3: the slides' curves are pictures without figures. They show a shape:
/// throughput linear in the length, processing time constant.
pub(super) fn measurement(series: &Printed<'_>, item: &str, slide: &str) -> Result<ItemResults> {
    let mut found = ItemResults::new(item);
    let curves = series.table(CURVES)?;
    let of = |number: &str| {
        let rows = curves.0.iter();
        rows.filter(|row| slide_of(row) == number).cloned().collect::<Vec<_>>()
    };
    let rows = of(slide);
    let shapes = series.table(SHAPES)?;
    let shape = shapes.row(&[("curve", slide)], &[]);
    let theirs = shapes.row(&[("curve", "document")], &[]);
    found.figure("linear", number(shape, "exponent")).note(cause(shape, theirs));
    found.figure("constant", number(shape, "cpu_exponent")).note(processing(&rows));
    let points = |slide: &str, key: &str| {
        let rows = of(slide);
        let points =
            rows.iter().filter_map(|row| Some((row["octets"].as_f64()?, row[key].as_f64()?)));
        points.collect::<Vec<_>>()
    };
    let all = ["1", "2", "3"]
        .map(|slide| Series::line(&format!("measurement {slide}"), points(slide, "mbit_per_s")));
    let document = [(1544.0, 40.221), (2000.0, 53.36), (8000.0, 207.57)];
    let document = Series::points("document (slides 14, 16)", document);
    found.pictures.push(Picture::Chart(Chart {
        title: "Throughput against CLTU length, without delay".to_owned(),
        x: Axis::log("octets of a CLTU"),
        y: Axis::log("Mbit/s"),
        series: all.into_iter().chain([document]).collect(),
        marks: Vec::new(),
    }));
    found.pictures.push(Picture::Chart(Chart {
        title: "Time and processing of a CLTU against its length".to_owned(),
        x: Axis::log("octets of a CLTU"),
        y: Axis::log("µs"),
        series: vec![
            Series::line("time", points(slide, "us_per_cltu")),
            Series::line("CPU of both programs", points(slide, "cpu_us")),
        ],
        marks: Vec::new(),
    }));
    let columns =
        with(&[("octets", "octets"), ("us_per_cltu", "µs/CLTU"), ("cpu_us", "CPU µs/CLTU")]);
    Rows(&rows).add_to(&mut found, "with that slide's settings", &columns);
    let columns = [
        ("curve", "measurement"),
        ("lengths", "lengths"),
        ("exponent", "throughput ~ octets^"),
        ("cpu_exponent", "CPU ~ octets^"),
        ("fixed_us", "fixed µs"),
        ("ns_per_octet", "ns an octet"),
        ("equal_octets", "equal at octets"),
    ];
    shapes.add_to(&mut found, "shape over the length", &columns);
    if slide == "3" {
        let lengths = series.table("Throughput against CLTU length")?;
        let columns =
            with(&[("octets", "octets"), ("window", "window"), ("us_per_cltu", "µs/CLTU")]);
        lengths.add_to(&mut found, "throughput against length, by window", &columns);
        found.words.extend(series.words(1));
    }
    Ok(found)
}

/// The number of the slides' measurement of a curve's row.
fn slide_of(row: &Value) -> &'static str {
    ["1", "2", "3"]
        .into_iter()
        .find(|slide| slide.parse::<f64>().is_ok_and(|slide| is(row, "slide", slide)))
        .unwrap_or("")
}

/// Why the exponent is what it is: the fixed part of a CLTU's time and that of its octets.
fn cause(ours: Option<&Value>, theirs: Option<&Value>) -> String {
    let parts = |row: Option<&Value>| {
        format!(
            "{:.2} µs + {:.3} ns an octet",
            number(row, "fixed_us"),
            number(row, "ns_per_octet")
        )
    };
    format!(
        "a CLTU takes {}; the document's {}, {:.0} to {:.0} octets",
        parts(ours),
        parts(theirs),
        number(ours, "from"),
        number(ours, "to")
    )
}

/// Processing at the shortest and the longest of the lengths.
fn processing(rows: &[Value]) -> String {
    let at = |row: Option<&Value>| {
        format!("{:.2} µs at {} octets", number(row, "cpu_us"), number(row, "octets"))
    };
    format!("CPU of both programs for a CLTU: {}, {}", at(rows.first()), at(rows.last()))
}
