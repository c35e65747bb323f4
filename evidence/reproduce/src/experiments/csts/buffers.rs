//! The cost of confirmation, the effects of buffering, and ASN.1's share.

use super::length::smaller;
use super::{Printed, Rows, number, with};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Picture, Series};
use anyhow::Result;
use chronoscope_published::Published;
use serde_json::Value;

const BUFFERS: &str = "RAF: 8000 octets a buffer";
const CONFIRMED: &str = "Confirmed (CLTU) against unconfirmed";
const UNITS: &str = "Cost of a data unit";
const HANDED: &str = "RAF: frames handed over as one";

pub(super) fn confirmed(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.confirmed");
    let rows = series.table(CONFIRMED)?;
    let units = series.table(UNITS)?;
    let mbit = |service: &str, window: Option<f64>, octets: f64| {
        let mut numbers = vec![("octets", octets)];
        numbers.extend(window.map(|window| ("window", window)));
        number(rows.row(&[("service", service)], &numbers), "mbit_per_s")
    };
    let mut factors = Vec::new();
    for (octets, at, [confirmed, unconfirmed, factor]) in [
        (8000.0, "at_8000_us", ["cltu_8000_mbps", "raf_8000_mbps", "factor_8000"]),
        (2000.0, "at_2000_us", ["cltu_2000_mbps", "raf_2000_mbps", "factor_2000"]),
    ] {
        let (cltu, raf) = (mbit("CLTU", Some(64.0), octets), mbit("RAF", None, octets));
        found.figure(confirmed, cltu).note("64 operations under way");
        found.figure(unconfirmed, raf);
        let alone = mbit("CLTU", Some(1.0), octets);
        found.figure(factor, raf / cltu).note(format!(
            "{}; one CLTU at a time: {:.2}",
            fixed_and_octets(&units, at),
            raf / alone
        ));
        factors.push(raf / cltu);
    }
    if let [first, second] = factors[..] {
        found.figure("additional_cost", smaller([first, second]));
    }
    add_units(&mut found, &units);
    let parts = series.table("A confirmed CLTU, one at a time")?;
    let columns = [
        ("octets", "octets"),
        ("total_us", "µs"),
        ("there_us", "there"),
        ("receive_us", "at the provider"),
        ("back_us", "its return"),
        ("acknowledge_us", "acknowledged"),
        ("wait_pct", "return, %"),
    ];
    parts.add_to(&mut found, "a confirmed CLTU, one at a time: parts of its time", &columns);
    let columns = [
        ("case", "case"),
        ("user_calls", "user's calls"),
        ("user_switches", "user's switches"),
        ("provider_switches", "provider's switches"),
        ("us_per_unit", "µs"),
    ];
    let waits = series.table("System calls and context switches")?;
    waits.add_to(&mut found, "system calls and context switches for a CLTU or a frame", &columns);
    let columns = with(&[
        ("service", "service"),
        ("octets", "octets"),
        ("window", "window"),
        ("published_mbit_per_s", "published"),
    ]);
    rows.add_to(&mut found, "confirmed against unconfirmed", &columns);
    Ok(found)
}

/// The cause of a factor between CLTUs and frames: what of their times is fixed.
fn fixed_and_octets(units: &Rows<'_>, at: &str) -> String {
    let parts = |whose: &str, window: Option<f64>| {
        let numbers: Vec<_> = window.map(|window| ("window", window)).into_iter().collect();
        let one = |service: &str, numbers: &[(&str, f64)]| {
            let row = units.row(&[("whose", whose), ("service", service)], numbers);
            format!("{:.2} of {:.2} µs", number(row, "fixed_us"), number(row, at))
        };
        format!("CLTU {}, frame {}", one("CLTU", &numbers), one("RAF", &[]))
    };
    format!("fixed: {}; the document's: {}", parts("ours", Some(64.0)), parts("document", None))
}

fn add_units(found: &mut ItemResults, units: &Rows<'_>) {
    let columns = [
        ("whose", "whose"),
        ("service", "service"),
        ("window", "window"),
        ("lengths", "lengths"),
        ("fixed_us", "fixed µs"),
        ("ns_per_octet", "ns an octet"),
        ("at_2000_us", "2000 octets, µs"),
        ("at_8000_us", "8000 octets, µs"),
        ("fixed_pct_8000", "fixed at 8000, %"),
    ];
    units.add_to(found, "cost of a data unit at full rate: a line over its length", &columns);
}

pub(super) fn buffering(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.buffering");
    let rows = series.table(BUFFERS)?;
    let of = |octets: f64, together: f64, key: &str| {
        number(rows.row(&[], &[("octets", octets), ("together", together)]), key)
    };
    let handed = series.table(HANDED)?;
    let handed_over = |how: &str| number(handed.row(&[("how", how)], &[]), "mbit_per_s");
    let single = handed_over("RAF 1 × 2000 octets");
    let four = of(2000.0, 4.0, "mbit_per_s");
    found.figure("frames_per_s_80", of(100.0, 80.0, "units_per_s"));
    found.figure("mbps_1", of(8000.0, 1.0, "mbit_per_s"));
    found.figure("mbps_4", four);
    found.figure("single_2000_mbps", single);
    let costs = series.table("Cost of a buffer")?;
    found.figure("four_to_one", four / single).note(parts_of_a_buffer(&costs));
    let [large, small] = [of(8000.0, 1.0, "mbit_per_s"), of(100.0, 80.0, "mbit_per_s")];
    found
        .figure("large_to_small", large / small)
        .note(format!("{large:.0} against {small:.0} Mbit/s; the document's table: 23.4"));
    let concatenated = handed_over("RAF 80 × 100 octets as one");
    found.figure("concatenated_mbps", concatenated).note(
        "the provider's source makes 80 frames and copies them into one data unit, each time",
    );
    let whole = handed_over("RAF 1 × 8000 octets, again");
    found.figure("concatenated_factor", concatenated / whole).note(format!(
        "making and copying 80 frames takes {:.2} µs more for 8000 octets; the document's took 195 µs \
         for all",
        64_000.0 / concatenated - 64_000.0 / whole
    ));
    let columns = [
        ("whose", "whose"),
        ("invocation_us", "invocation µs"),
        ("frame_us", "a frame µs"),
        ("ns_per_octet", "ns an octet"),
        ("octets_us", "8000 octets, µs"),
        ("single_us", "1 × 2000, µs"),
        ("four_us", "4 × 2000, µs"),
        ("four_to_one", "4 to 1 by these"),
        ("measured", "4 to 1 measured"),
    ];
    costs.add_to(&mut found, "cost of a buffer: the invocation, each frame, each octet", &columns);
    let columns = with(&[
        ("how", "handed over"),
        ("octets", "octets"),
        ("published_mbit_per_s", "published"),
    ]);
    handed.add_to(&mut found, "frames handed over as one", &columns);
    let columns = with(&[
        ("octets", "frame size"),
        ("together", "frames/buffer"),
        ("us_per_frame", "µs/frame"),
        ("published_mbit_per_s", "published Mbit/s"),
        ("published_frames_per_s", "published frames/s"),
        ("factor", "factor"),
    ]);
    rows.add_to(&mut found, "8000 octets a buffer", &columns);
    add_server(&mut found, series);
    Ok(found)
}

/// The configuration in which the document measured its frames: a communication server between the
/// provider and the network. The short form has no such table.
fn add_server(found: &mut ItemResults, series: &Printed<'_>) {
    let Ok(rows) = series.table("A communication server, beside the direct way") else { return };
    let columns = [
        ("work", "work"),
        ("way", "way"),
        ("mbit_per_s", "Mbit/s"),
        ("ratio", "× direct"),
        ("ratio_least", "least"),
        ("ratio_most", "most"),
        ("more_us", "more µs/unit"),
        ("cpu_us", "CPU µs, all"),
        ("server_us", "CPU µs, server"),
        ("switches", "switches, all"),
        ("server_calls", "calls, server"),
    ];
    rows.add_to(found, "with a communication server, as on slide 19, and without", &columns);
    found.words.extend(series.words(7));
}

/// The cause of the factor of four frames a buffer: what an invocation, a frame and octets take.
fn parts_of_a_buffer(costs: &Rows<'_>) -> String {
    let parts = |whose: &str| {
        let row = costs.row(&[("whose", whose)], &[]);
        format!(
            "invocation {:.2} µs, frame {:.2} µs, 8000 octets {:.2} µs, from which {:.2} follows",
            number(row, "invocation_us"),
            number(row, "frame_us"),
            number(row, "octets_us"),
            number(row, "four_to_one")
        )
    };
    format!("{}; the document's: {}", parts("ours"), parts("document"))
}

pub(super) fn graph(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.buffering_graph");
    let rows = series.table(BUFFERS)?;
    let point = |row: &Value| Some((row["together"].as_f64()?, row["mbit_per_s"].as_f64()?));
    let ours: Vec<(f64, f64)> = rows.0.iter().filter_map(point).collect();
    let published = Published::read()?;
    let published = published.rows("csts.buffering")?.iter();
    let published = published.filter_map(|row| row[1].number().zip(row[2].number()));
    let published: Vec<_> = published.collect();
    let falling = ours.windows(2).filter(|two| two[1].1 < two[0].1).count();
    let steps = if ours.len() == published.len() { falling as f64 } else { f64::NAN };
    found.figure("falling", steps).note(format!("of {} steps", ours.len().saturating_sub(1)));
    let costs = series.table("Cost of a buffer")?;
    let exponent = chronoscope_statistics::exponent(&ours).unwrap_or(f64::NAN);
    found.figure("exponent", exponent).note(parts_of_a_buffer(&costs));
    found.pictures.push(Picture::Chart(Chart {
        title: "8000 octets a buffer, in more and smaller frames".to_owned(),
        x: Axis::log("frames in a buffer"),
        y: Axis::log("Mbit/s"),
        series: vec![Series::line("ours", ours), Series::line("document", published)],
        marks: Vec::new(),
    }));
    Ok(found)
}

pub(super) fn asn1(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.asn1");
    let encoding = series.table("Encoding of the transfer buffer")?;
    let part = |name: &str| encoding.row(&[("part", name)], &[]);
    let [whole, alone] = ["with its frames", "the invocation alone"].map(part);
    for (figure, row) in [("with_frames_pct", whole), ("invocation_pct", alone)] {
        found.figure(figure, number(row, "share_pct")).note(format!(
            "{:.0} of {:.0} ns of the provider's CPU for a buffer; the document's at most {:.0} of \
             {:.0} ns{}",
            number(row, "encode_ns"),
            number(row, "process_ns"),
            number(row, "published_ns"),
            number(row, "published_ns") / number(row, "published_pct") * 100.0,
            profile(row)
        ));
    }
    found.figure("not_encoding", number(whole, "share_pct"));
    found.figure("invocation_part", number(alone, "encode_ns") / number(whole, "encode_ns"));
    let columns = [
        ("part", "part"),
        ("encode_ns", "ns a buffer"),
        ("process_ns", "provider's CPU, ns a buffer"),
        ("share_pct", "share %"),
        ("profile_pct", "profile %"),
        ("published_pct", "published %"),
        ("published_ns", "published, ns at most"),
    ];
    encoding.add_to(&mut found, "encoding of the transfer buffer, 80 × 100 octets", &columns);
    let columns = [
        ("case", "case"),
        ("side", "side"),
        ("codec_ns", "codec ns/op"),
        ("process_ns", "process ns/op"),
        ("share_pct", "codec %"),
        ("profile_pct", "profile %"),
        ("published_pct", "published %"),
    ];
    let rows = series.table("ASN.1 in the local processing")?;
    rows.add_to(&mut found, "ASN.1 in the local processing", &columns);
    found.words.extend(series.words(5));
    Ok(found)
}

/// The share by samples, where there is perf.
fn profile(row: Option<&Value>) -> String {
    match number(row, "profile_pct") {
        percent if percent.is_finite() => format!("; by samples of perf {percent:.1} %"),
        _ => String::new(),
    }
}
