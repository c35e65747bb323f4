//! CSTS: the space link series.

use super::{list, word};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Mark, Picture, Series};
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::{Cell, Published};
use serde_json::Value;

/// Runs the series.
///
/// # Errors
/// When it fails.
pub fn run(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let (out, quick) = (run.fresh("series")?, run.quick);
    let mut call = run.call("sle-series")?.arg("--json").arg("--out").arg(out);
    if quick {
        // The Java peer starts for each point; the document has none.
        call = call.args(["--quick", "--rounds", "1", "--round-ms", "150"]);
    } else {
        call = call.args(["--rounds", "3", "--round-ms", "700"]);
    }
    let printed: Value = call.json()?;
    let series = Printed(&printed);
    Ok(vec![
        target(&series)?,
        setup(&series)?,
        length(&series, "csts.measurement1", "1")?,
        length(&series, "csts.measurement2", "2")?,
        length(&series, "csts.measurement3", "3")?,
        delayed(&series)?,
        reference(&series)?,
        of_reference(&series)?,
        windows(&series)?,
        factors(&series)?,
        aggregation(&series)?,
        confirmed(&series)?,
        buffering(&series)?,
        graph(&series)?,
        asn1(&series)?,
    ])
}

/// Output of the series.
struct Printed<'v>(&'v Value);

/// A table of it.
struct Rows<'v>(&'v [Value]);

impl<'v> Printed<'v> {
    /// The table whose title begins so.
    fn table(&self, title: &str) -> Result<Rows<'v>> {
        let tables =
            list(self.0, "/steps")?.iter().filter_map(|step| step["tables"].as_array()).flatten();
        let found = tables.into_iter().find(|table| word(table, "title").starts_with(title));
        let found = found.with_context(|| format!("the series has no table {title}"))?;
        Ok(Rows(list(found, "/rows")?))
    }

    /// Sentences of a step.
    fn words(&self, step: u64) -> Vec<String> {
        let steps = self.0["steps"].as_array().into_iter().flatten();
        let of =
            steps.filter(|found| found["step"] == step).filter_map(|step| step["words"].as_array());
        of.flatten().filter_map(|line| Some(line.as_str()?.trim().to_owned())).collect()
    }
}

impl Rows<'_> {
    /// The output as a table of the report: columns by key and head.
    fn show(&self, columns: &[(&str, &str)]) -> Vec<Vec<Cell>> {
        let cell = |row: &Value, key: &str| match &row[key] {
            Value::String(text) => text.clone().into(),
            other => other.as_f64().into(),
        };
        self.0.iter().map(|row| columns.iter().map(|(key, _)| cell(row, key)).collect()).collect()
    }

    fn add_to(&self, found: &mut ItemResults, title: &str, columns: &[(&str, &str)]) {
        let heads: Vec<&str> = columns.iter().map(|(_, head)| *head).collect();
        found.table(title, &heads, self.show(columns));
    }
}

/// Whether a row has this number in a column; numbers of a series are printed with a point.
fn is(row: &Value, key: &str, number: impl Into<f64>) -> bool {
    row[key].as_f64() == Some(number.into())
}

/// Columns that all measured points have.
const MEASURED: [(&str, &str); 3] =
    [("mbit_per_s", "Mbit/s"), ("units_per_s", "units/s"), ("spread", "spread")];

fn with<'c>(columns: &[(&'c str, &'c str)]) -> Vec<(&'c str, &'c str)> {
    [columns, &MEASURED].concat()
}

fn target(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.target");
    let rows = series.table("Frames through FCLTU")?;
    let in_one = rows.0.iter().find(|row| word(row, "case").contains("one CLTU"));
    let in_one = in_one.or(rows.0.first()).context("no row")?;
    found
        .figure("mbps", in_one["mbit_per_s"].as_f64().unwrap_or(f64::NAN))
        .note(word(in_one, "case"));
    found.figure("frames", 7.0);
    found.figure("frame_bytes", 220.0);
    let columns = with(&[("case", "case"), ("reports", "reports"), ("window", "window")]);
    rows.add_to(&mut found, "frames of 220 octets through FCLTU", &columns);
    found.words.extend(series.words(0));
    Ok(found)
}

fn setup(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.setup");
    let settings = series.0["steps"].as_array().into_iter().flatten();
    let settings = settings.filter_map(|step| step["settings"].as_array()).flatten();
    let mut lines: Vec<&str> = settings.filter_map(Value::as_str).map(str::trim).collect();
    lines.dedup();
    found.words.extend(lines.into_iter().map(str::to_owned));
    found.say(
        "User and provider are two processes of one machine; a thread between two network namespaces \
         delays their packets, at most at the document's 1000 Mbit/s (docs/sle-series.md).",
    );
    Ok(found)
}

/// Measurements 1 to 3: the slides' curves are pictures without figures. What they show is that
/// time for one CLTU is constant; ours is beside, with the combination of settings of that slide.
fn length(series: &Printed<'_>, item: &str, slide: &str) -> Result<ItemResults> {
    let mut found = ItemResults::new(item);
    let optimised = series.table("Optimisations of application and API")?;
    let of = optimised.0.iter().filter(|row| word(row, "slides").starts_with(&format!("{slide}:")));
    let rows: Vec<&Value> = of.collect();
    let table = rows.iter().map(|row| -> Vec<Cell> {
        let number = |key: &str| row[key].as_f64().into();
        vec![
            word(row, "variant").into(),
            number("octets"),
            number("mbit_per_s"),
            number("units_per_s"),
            number("of_best"),
        ]
    });
    found.table(
        "with that slide's settings",
        &["settings", "octets", "Mbit/s", "CLTU/s", "of the best"],
        table.collect(),
    );
    if slide != "3" {
        return Ok(found);
    }
    let lengths = series.table("Throughput against CLTU length")?;
    let line = |window: u32| {
        let rows = lengths.0.iter().filter(move |row| is(row, "window", window));
        rows.filter_map(|row| Some((row["octets"].as_f64()?, row["mbit_per_s"].as_f64()?)))
            .collect::<Vec<_>>()
    };
    found.pictures.push(Picture::Chart(Chart {
        title: "Throughput against CLTU length, without delay".to_owned(),
        x: Axis::log("octets of a CLTU"),
        y: Axis::log("Mbit/s"),
        series: vec![
            Series::line("window 64", line(64)),
            Series::points("document: RTT 0.1 ms, 1544 octets", [(1544.0, 40.221)]),
            Series::line("window 1", line(1)),
        ],
        marks: Vec::<Mark>::new(),
    }));
    let columns = with(&[("octets", "octets"), ("window", "window"), ("us_per_cltu", "µs/CLTU")]);
    lengths.add_to(&mut found, "throughput against length", &columns);
    found.words.extend(series.words(1));
    Ok(found)
}

const DELAY: &str = "One CLTU an invocation over a delay";

fn delayed(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.measurement4");
    let rows = series.table(DELAY)?;
    let longest = rows.0.iter().filter_map(|row| row["rtt_ms"].as_f64()).fold(0.0, f64::max);
    let at = rows.0.iter().filter(|row| row["rtt_ms"].as_f64() == Some(longest));
    let table = at.map(|row| -> Vec<Cell> {
        let number = |key: &str| row[key].as_f64().into();
        vec![
            number("rtt_ms"),
            number("octets"),
            number("operations"),
            number("mbit_per_s"),
            number("user_us"),
            number("provider_us"),
        ]
    });
    found.table(
        "the longest round trip that was measured",
        &[
            "RTT ms",
            "octets",
            "operations under way",
            "Mbit/s",
            "user CPU µs/CLTU",
            "provider CPU µs/CLTU",
        ],
        table.collect(),
    );
    if longest < 400.0 {
        found.say(format!("The short form goes to {longest} ms; the slide has 400 ms."));
    }
    Ok(found)
}

fn reference(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.measurement5_1");
    let rows = series.table(DELAY)?;
    let of = |window: f64| {
        let rows = rows.0.iter().filter(move |row| row["window_octets"].as_f64() == Some(window));
        let mut points: Vec<(f64, f64)> = rows
            .filter_map(|row| Some((row["rtt_ms"].as_f64()?, row["iperf_mbit_per_s"].as_f64()?)))
            .collect();
        points.dedup();
        points
    };
    let lines = [("64 kB", 65_536.0), ("13 MB", 13e6), ("25 MB", 25e6)];
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
    found.pictures.push(Picture::Chart(Chart {
        title: "iperf3 on our path, by TCP buffers".to_owned(),
        x: Axis::log("round trip, ms"),
        y: Axis::log("Mbit/s"),
        series: lines,
        marks: Vec::new(),
    }));
    Ok(found)
}

fn of_reference(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.measurement5_2");
    let rows = series.table(DELAY)?;
    let ours = |octets: u32| {
        let rows = rows.0.iter().filter(move |row| {
            is(row, "octets", octets)
                && is(row, "window_octets", 65_536)
                && row["bound"] == "TCP's"
                && row["rtt_ms"].as_f64().is_some_and(|ms| ms >= 50.0)
        });
        let ratios: Vec<f64> = rows.filter_map(|row| row["of_iperf"].as_f64()).collect();
        ratios.iter().sum::<f64>() / ratios.len() as f64
    };
    for (figure, octets) in [("of_iperf_1544", 1544), ("of_iperf_1000", 1000)] {
        let ratio = ours(octets);
        if ratio.is_finite() {
            found.figure(figure, ratio).note("mean over the round trips from 50 ms on");
        }
    }
    let line = |bound: &str| {
        let rows = rows.0.iter().filter(|row| {
            is(row, "octets", 1544) && is(row, "window_octets", 65_536) && row["bound"] == bound
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
            Series::line("ours", line("TCP's")),
            Series::line("document", published),
            Series::line("ours, 10 operations under way", line("few")),
        ],
        marks: Vec::new(),
    }));
    found.words.extend(series.words(2));
    Ok(found)
}

fn windows(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.table5");
    let rows = series.table(DELAY)?;
    let mbit = |window: u32, rtt_ms: f64| {
        let rows = rows.0.iter().filter(|row| {
            is(row, "window_octets", window)
                && row["rtt_ms"].as_f64() == Some(rtt_ms)
                && is(row, "octets", 1544)
                && row["bound"] == "TCP's"
        });
        rows.filter_map(|row| row["mbit_per_s"].as_f64()).next()
    };
    for (figure, window, rtt_ms) in [
        ("mbps_64k_100", 65_536, 100.0),
        ("mbps_25m_100", 25_000_000, 100.0),
        ("mbps_25m_near", 25_000_000, 0.1),
    ] {
        if let Some(mbit) = mbit(window, rtt_ms) {
            found.figure(figure, mbit);
        }
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

fn factors(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.summary1");
    let optimised = series.table("Optimisations of application and API")?;
    let best = optimised.0.iter().find(|row| word(row, "slides").starts_with("3:"));
    let api = optimised.0.iter().find(|row| word(row, "variant") == "API plain (both)");
    if let (Some(best), Some(plain)) = (best, api)
        && let (Some(best), Some(plain)) =
            (best["mbit_per_s"].as_f64(), plain["mbit_per_s"].as_f64())
    {
        let note = "optimised over plain API, application optimised";
        found.figure("api_gain_pct", (best / plain - 1.0) * 100.0).note(note);
    }
    let nagle = series.table("Nagle")?;
    let both = nagle.0.iter().filter(|row| row["nagle"] == "on" && row["delayed_ack"] == "on");
    let slower = both.filter_map(|row| row["slower"].as_f64()).fold(f64::NAN, f64::max);
    if slower.is_finite() {
        found
            .figure("nagle_factor", slower)
            .note("the worst of the lengths and windows that were measured");
    }
    let delay = series.table(DELAY)?;
    let few = delay.0.iter().filter(|row| row["bound"] == "few" && is(row, "octets", 1544));
    let far = few.filter_map(|row| Some((row["rtt_ms"].as_f64()?, row["mbit_per_s"].as_f64()?)));
    let far = far.max_by(|a, b| a.0.total_cmp(&b.0));
    let near = series.table("Throughput against CLTU length")?;
    let near = near.0.iter().filter_map(|row| row["mbit_per_s"].as_f64()).fold(0.0, f64::max);
    if let Some((rtt_ms, mbit)) = far {
        let note = format!("best without delay over 10 operations under way at {rtt_ms} ms");
        found.figure("delay_factor", near / mbit).note(note);
    }
    let columns = with(&[
        ("octets", "octets"),
        ("variant", "settings"),
        ("slides", "slide's measurement"),
        ("of_best", "of the first"),
    ]);
    optimised.add_to(&mut found, "optimisations", &columns);
    let columns = with(&[
        ("octets", "octets"),
        ("window", "window"),
        ("nagle", "Nagle"),
        ("delayed_ack", "delayed ack"),
        ("slower", "slower by"),
    ]);
    nagle.add_to(&mut found, "Nagle and delayed acknowledgement", &columns);
    Ok(found)
}

fn aggregation(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.step2");
    let rows = series.table("CLTUs in an invocation")?;
    let columns = with(&[
        ("path", "path"),
        ("octets", "octets"),
        ("window", "window"),
        ("together", "N"),
        ("of_single", "times one by one"),
    ]);
    rows.add_to(&mut found, "CLTUs in an invocation", &columns);
    let frames = series.table("The outcome")?;
    let columns = with(&[
        ("path", "path"),
        ("octets", "octets"),
        ("how", "how"),
        ("together", "N"),
        ("of_single", "times one CLTU"),
    ]);
    frames.add_to(&mut found, "forward frames (CSTS) in a buffer, beside CLTUs", &columns);
    let most = rows.0.iter().chain(frames.0).filter_map(|row| row["of_single"].as_f64());
    let most = most.fold(0.0, f64::max);
    found.figure("blocking", most).note("the best of the lengths, windows and paths measured");
    Ok(found)
}

fn confirmed(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.confirmed");
    let rows = series.table(CONFIRMED)?;
    let mbit = |service: &str, octets: u32| {
        let of = rows
            .0
            .iter()
            .filter(|row| word(row, "service").contains(service) && is(row, "octets", octets));
        of.filter_map(|row| row["mbit_per_s"].as_f64()).fold(f64::NAN, f64::max)
    };
    for (octets, [confirmed, unconfirmed, more]) in [
        (8000, ["cltu_8000_mbps", "raf_8000_mbps", "more_8000_pct"]),
        (2000, ["cltu_2000_mbps", "raf_2000_mbps", "more_2000_pct"]),
    ] {
        let (cltu, raf) = (mbit("CLTU", octets), mbit("RAF", octets));
        if cltu.is_finite() && raf.is_finite() {
            found.figure(confirmed, cltu).note("with the window that carries most");
            found.figure(unconfirmed, raf);
            found.figure(more, (raf / cltu - 1.0) * 100.0);
        }
    }
    let columns = with(&[
        ("service", "service"),
        ("octets", "octets"),
        ("window", "window"),
        ("published_mbit_per_s", "published"),
    ]);
    rows.add_to(&mut found, "confirmed against unconfirmed", &columns);
    Ok(found)
}

const BUFFERS: &str = "RAF: 8000 octets a buffer";
const CONFIRMED: &str = "Confirmed (CLTU) against unconfirmed";

fn buffering(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.buffering");
    let rows = series.table(BUFFERS)?;
    let of = |octets: u32, together: u32, key: &str| {
        let found =
            rows.0.iter().find(|row| is(row, "octets", octets) && is(row, "together", together));
        found.and_then(|row| row[key].as_f64())
    };
    // One frame of 2000 octets is a buffer of another length: it stands beside the confirmed ones.
    let beside = series.table(CONFIRMED)?;
    let single =
        beside.0.iter().find(|row| word(row, "service") == "RAF" && is(row, "octets", 2000));
    let single = single.and_then(|row| row["mbit_per_s"].as_f64());
    let four = of(2000, 4, "mbit_per_s");
    let figures = [
        ("frames_per_s_80", of(100, 80, "units_per_s")),
        ("mbps_1", of(8000, 1, "mbit_per_s")),
        ("mbps_4", four),
        ("single_2000_mbps", single),
        ("four_to_one", four.zip(single).map(|(four, one)| four / one)),
    ];
    for (figure, ours) in figures {
        if let Some(ours) = ours {
            found.figure(figure, ours);
        }
    }
    if let Some(mbit) = of(8000, 1, "mbit_per_s") {
        found
            .figure("concatenated_mbps", mbit)
            .note("80 frames of 100 octets as one are a frame of 8000");
    }
    let columns = with(&[
        ("octets", "frame size"),
        ("together", "frames/buffer"),
        ("us_per_frame", "µs/frame"),
        ("published_mbit_per_s", "published Mbit/s"),
        ("published_frames_per_s", "published frames/s"),
        ("factor", "factor"),
    ]);
    rows.add_to(&mut found, "8000 octets a buffer", &columns);
    Ok(found)
}

fn graph(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.buffering_graph");
    let rows = series.table(BUFFERS)?;
    let whole = rows.0.iter().filter(|row| {
        row["octets"].as_f64().zip(row["together"].as_f64()).is_some_and(|(a, b)| a * b == 8000.0)
    });
    let ours =
        whole.filter_map(|row| Some((row["together"].as_f64()?, row["mbit_per_s"].as_f64()?)));
    let published = Published::read()?;
    let published = published.rows("csts.buffering")?.iter();
    let published = published.filter_map(|row| row[1].number().zip(row[2].number()));
    let published: Vec<_> = published.collect();
    found.pictures.push(Picture::Chart(Chart {
        title: "8000 octets a buffer, in more and smaller frames".to_owned(),
        x: Axis::log("frames in a buffer"),
        y: Axis::log("Mbit/s"),
        series: vec![
            Series::line("ours", ours.collect::<Vec<_>>()),
            Series::line("document", published),
        ],
        marks: Vec::new(),
    }));
    Ok(found)
}

fn asn1(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.asn1");
    let rows = series.table("ASN.1 in the local processing")?;
    let share = |published: f64| {
        let row = rows.0.iter().find(|row| row["published_pct"].as_f64() == Some(published))?;
        row["share_pct"].as_f64()
    };
    let published = Published::read()?;
    for figure in ["with_frames_pct", "invocation_pct"] {
        if let Some(ours) = share(published.number("csts.asn1", figure)?) {
            found.figure(figure, ours);
        }
    }
    let columns = [
        ("case", "case"),
        ("side", "side"),
        ("codec_ns", "codec ns/op"),
        ("process_ns", "process ns/op"),
        ("share_pct", "codec %"),
        ("profile_pct", "profile %"),
        ("published_pct", "published %"),
    ];
    rows.add_to(&mut found, "ASN.1 in the local processing", &columns);
    found.words.extend(series.words(5));
    found.say("A share is of what else is done: our processes do less else than those of 2011.");
    Ok(found)
}
