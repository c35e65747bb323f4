//! PHOENIX under heavy load, and with output held inside the processes.

use super::super::chain::{Ran, testbed};
use super::super::{list, number, word};
use super::answer::{Answer, MAIN, TO_DISPLAY};
use crate::outcome::ItemResults;
use crate::picture::Picture;
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::Cell;
use serde_json::Value;

/// 3000 tracks and one display on one computer, which is no load for our display; in the full form
/// also with the load that saturates it, which is found first.
///
/// # Errors
/// When a program fails.
pub fn heavy(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    // Below half a minute the tracker has not confirmed all tracks.
    let words = run.either(&["--seconds", "32", "--rules", "document"][..], &["--seconds", "60"]);
    let printed = testbed(run, "heavy", "heavy", words)?;
    let ran = Ran::of(by_rule(&printed, "document")?);
    let tracks = number(by_rule(&printed, "document")?, "/display/targets")?;
    let mut image5 = ItemResults::new("phoenix.image5");
    image5.figure("circles", number(&printed, "/circles")?).note("set for the generator");
    image5.figure("flights_per_circle", number(&printed, "/flights")?).note("set");
    image5.figure("tracks", tracks).note("targets on the display at the end");
    image5.pictures.push(Picture::png("one working position with 3000 tracks", &ran.picture)?);

    let as_many = Answer::ask(run, &ran, MAIN)?;
    let [mut image13, image14] =
        if run.quick { not_searched() } else { overloaded(run, &as_many)? };
    image13.own(
        "mean with 3000 tracks and all of a processor, no load for our display",
        "ms",
        as_many.mean_ms(),
    );
    Ok(vec![image5, image13, image14])
}

/// Images 13 and 14 in the short form, which does not search for the load.
fn not_searched() -> [ItemResults; 2] {
    ["phoenix.image13", "phoenix.image14"].map(|item| {
        let mut found = ItemResults::new(item);
        found.missing(
            "the whole form finds the load that saturates our display, which takes minutes",
        );
        found
    })
}

/// Images 13 and 14 at the load that saturates our display.
fn overloaded(run: &mut Run<'_>, as_many: &Answer) -> Result<[ItemResults; 2]> {
    let printed = testbed(run, "heavy", "overloaded", &["--find-limit", "--seconds", "100"])?;
    let main = Answer::ask(run, &Ran::of(by_rule(&printed, "document")?), MAIN)?;
    Ok([saturated(&printed, &main, as_many)?, peaks(run, &printed)?])
}

/// Image 13: the load at which our display cannot draw each update, as theirs with 3000 tracks.
fn saturated(printed: &Value, main: &Answer, as_many: &Answer) -> Result<ItemResults> {
    let mut found = ItemResults::new("phoenix.image13");
    let document = by_rule(printed, "document")?;
    let load = load_found(printed)?;
    found.figure("tracks", number(document, "/display/targets")?).note(load);
    found.figure("duration_min", number(document, "/seconds")? / 60.0);
    found.figure("chains", main.count()).note("one for each update that is redrawn");
    found.figure("mean_ms", main.mean_ms());
    found
        .figure("slower", main.mean_ms() / as_many.mean_ms())
        .note(format!("{} ms without saturation", crate::report::number(as_many.mean_ms())));
    main.rest(&mut found);
    let steps = list(printed, "/limit/steps")?.iter().map(|step| -> Vec<Cell> {
        let of = |key: &str| step[key].as_f64().into();
        let keys = ["tracks", "updates_per_s", "share", "processors", "backlog_ms_max"];
        let verdict = if step["overloaded"] == true { "saturated" } else { "fits" };
        [keys.map(of).to_vec(), vec![verdict.into()]].concat()
    });
    found.table(
        "search for the load that saturates the display",
        &["tracks", "updates/s", "share of a processor", "processors used", "backlog ms", ""],
        steps.collect(),
    );
    found.pictures.push(main.scattergram("plot to redraw, saturated display"));
    found.pictures.push(main.histogram("plot to redraw, saturated display"));
    Ok(found)
}

/// The load that was found, beside the document's.
fn load_found(printed: &Value) -> Result<String> {
    let (tracks, share) = (number(printed, "/tracks")?, number(printed, "/share")?);
    Ok(format!(
        "the load that saturates our display, times 1.3: {tracks} tracks with {} of a processor for it",
        crate::report::number(share)
    ))
}

fn by_rule<'v>(printed: &'v Value, rule: &str) -> Result<&'v Value> {
    let runs = list(printed, "/runs")?;
    let run = runs.iter().find(|run| word(run, "rule") == rule);
    run.with_context(|| format!("no run with --mpa {rule}"))
}

/// Image 14: the peaks that a display makes which leaves MPA mode too early.
fn peaks(run: &mut Run<'_>, printed: &Value) -> Result<ItemResults> {
    let document = by_rule(printed, "document")?;
    let to_display = Answer::ask(run, &Ran::of(document), TO_DISPLAY)?;
    let mut found = ItemResults::new("phoenix.image14");
    found.figure("peak_ms", to_display.ms("max_ns")?).note(load_found(printed)?);
    found
        .figure("recheck_s", recheck_s(document)?)
        .note("median time between returns to normal mode");
    found.own("changes of the mode", "", number(document, "/display/mode_changes")?);
    let rows = list(printed, "/runs")?.iter().map(|run| -> Vec<Cell> {
        let of = |pointer: &str| run.pointer(pointer).and_then(Value::as_f64).into();
        let keys = [
            "/display/mode_changes",
            "/swing_to_display/near/p99_ms",
            "/swing_to_display/near/above_limit_pct",
            "/swing_to_display/elsewhere/p99_ms",
            "/swing_to_display/elsewhere/above_limit_pct",
        ];
        [vec![format!("--mpa {}", word(run, "rule")).into()], keys.map(of).to_vec()].concat()
    });
    found.table(
        "message server to working position, within 2 s of a change of the mode and elsewhere",
        &["rule", "changes", "near, p99 ms", "near, > 1 s, %", "elsewhere, p99 ms", "> 1 s, %"],
        rows.collect(),
    );
    let p99_ms = |group: &str| {
        let pointer = format!("/swing_to_display/{group}/p99_ms");
        document.pointer(&pointer).and_then(Value::as_f64).unwrap_or(f64::NAN)
    };
    found
        .figure("near_to_elsewhere", p99_ms("near") / p99_ms("elsewhere"))
        .note("99 % within, within 2 s of a change to elsewhere");
    found.pictures.push(to_display.scattergram("message server to working position"));
    Ok(found)
}

/// Median time between two returns to normal mode, in seconds; not a number with fewer than two.
fn recheck_s(document: &Value) -> Result<f64> {
    let changes = list(document, "/display/changes")?;
    let returns = changes.iter().filter(|change| change["averaging"] == false);
    let at_ns: Vec<f64> = returns.filter_map(|change| change["utc_ns"].as_f64()).collect();
    let between = at_ns.windows(2).map(|pair| (pair[1] - pair[0]) / 1e9);
    Ok(chronoscope_statistics::median(between).unwrap_or(f64::NAN))
}

/// Held output: how much longer chains are than what they compute, and where the time is.
///
/// # Errors
/// When a program fails.
pub fn buffering(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let words = run.either(
        &["--seconds", "16", "--flush-ms", "0,200", "--no-nagle"][..],
        &["--seconds", "20"],
    );
    let printed = testbed(run, "buffering", "buffering", words)?;
    let mut found = ItemResults::new("phoenix.buffering");
    let runs = list(&printed, "/runs")?;
    let longest = runs.iter().max_by_key(|one| one["flush_ms"].as_u64()).context("no run")?;
    let at_once = runs.iter().find(|one| one["flush_ms"] == 0).context("no run without buffers")?;
    found
        .figure("ratio", number(longest, "/ratio")?)
        .note(format!("with output held for up to {} ms in both processes", longest["flush_ms"]));
    let waiting_ms = |one: &Value| {
        number(one, "/chains/mean_ms")
            .map(|mean| mean - one["inside_ms"].as_f64().unwrap_or(f64::NAN))
    };
    found
        .figure("in_buffers_pct", (1.0 - waiting_ms(at_once)? / waiting_ms(longest)?) * 100.0)
        .note("of the wait between steps, what sending at once takes away");
    found.own("the same ratio as our processes send: at once", "", number(at_once, "/ratio")?);
    let rows = runs.iter().map(|one| -> Vec<Cell> {
        let of = |pointer: &str| one.pointer(pointer).and_then(Value::as_f64).into();
        let nagle = if one["nagle"] == true { "on" } else { "off" };
        let keys = ["/chains/chains", "/chains/mean_ms", "/inside_ms", "/ratio"].map(of);
        [vec![of("/flush_ms"), nagle.into()], keys.to_vec()].concat()
    });
    found.table(
        "output held in tracker and message server",
        &["sent every ms", "Nagle", "chains", "mean ms", "inside ms", "ratio"],
        rows.collect(),
    );
    let rows = list(longest, "/hops")?.iter().map(|hop| -> Vec<Cell> {
        let of = |key: &str| hop[key].as_f64().into();
        vec![word(hop, "hop").into(), of("inside_ms"), of("waiting_ms")]
    });
    found.table(
        &format!("where the time goes, sent every {} ms", longest["flush_ms"]),
        &["step", "inside, mean ms", "waiting behind it, mean ms"],
        rows.collect(),
    );
    Ok(vec![found])
}
