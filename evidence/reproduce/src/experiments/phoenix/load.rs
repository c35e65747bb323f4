//! PHOENIX under heavy load, and with output held inside the processes.

use super::super::chain::{Ran, testbed};
use super::super::{list, number, word};
use super::answer::{Answer, MAIN, TO_DISPLAY};
use crate::outcome::{ItemResults, Verdict};
use crate::picture::Picture;
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::Cell;
use serde_json::Value;

/// 3000 tracks and one display on one computer, with the document's rule and with ours; in the full
/// form also with as much load as the display cannot do.
///
/// # Errors
/// When a program fails.
pub fn heavy(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let seconds = run.either("20", "60");
    let printed = testbed(run, "heavy", "heavy", &["--seconds", seconds])?;
    let document = by_rule(&printed, "document")?;
    let ran = Ran::of(document);
    let main = Answer::ask(run, &ran, MAIN)?;
    let tracks = number(document, "/display/targets")?;

    let mut image5 = ItemResults::new("phoenix.image5");
    image5.figure("circles", 30.0);
    image5.figure("flights_per_circle", number(&printed, "/flights")?);
    image5.figure("tracks", tracks).note("targets on the display at the end");
    image5.pictures.push(Picture::png("one working position with 3000 tracks", &ran.picture)?);

    let mut image13 = ItemResults::new("phoenix.image13");
    image13.figure("tracks", tracks);
    image13.figure("duration_min", number(document, "/seconds")? / 60.0);
    image13.figure("chains", main.count()).note("one for each update that is redrawn");
    image13.figure("mean_ms", main.mean_ms());
    main.rest(&mut image13);
    image13.pictures.push(main.scattergram("plot to redraw, 3000 tracks"));
    image13.pictures.push(main.histogram("plot to redraw, 3000 tracks"));

    let overloaded = if run.quick {
        None
    } else {
        let words = ["--find-limit", "--seconds", "100"];
        Some(testbed(run, "heavy", "overloaded", &words)?)
    };
    let image14 = image14(run, overloaded.as_ref().unwrap_or(&printed))?;
    Ok(vec![image5, image13, image14])
}

fn by_rule<'v>(printed: &'v Value, rule: &str) -> Result<&'v Value> {
    let runs = list(printed, "/runs")?;
    let run = runs.iter().find(|run| word(run, "rule") == rule);
    run.with_context(|| format!("no run with --mpa {rule}"))
}

/// The peaks that a display makes which leaves MPA mode too early.
fn image14(run: &mut Run<'_>, printed: &Value) -> Result<ItemResults> {
    let document = by_rule(printed, "document")?;
    let to_display = Answer::ask(run, &Ran::of(document), TO_DISPLAY)?;
    let mut found = ItemResults::new("phoenix.image14");
    found.figure("peak_ms", to_display.ms("max_ns")?);
    found.own("tracks", "", number(printed, "/tracks")?);
    found
        .own("share of the processor that the display gets", "", number(printed, "/share")?)
        .note("found by bisection where it is below 1");
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
    found.pictures.push(to_display.scattergram("message server to working position"));
    let share = |group: &str| {
        let pointer = format!("/swing_to_display/{group}/above_limit_pct");
        document.pointer(&pointer).and_then(Value::as_f64).unwrap_or(0.0)
    };
    if number(document, "/display/mode_changes")? == 0.0 {
        found.conclude(
            Verdict::Missing,
            "these tracks are no overload for our display, so it never leaves normal mode and there \
             is nothing to recheck; the full form looks for what overloads it",
        );
    } else if share("near") > share("elsewhere") {
        found.conclude(
            Verdict::Reproduced,
            "with the document's rule chains above 1 s are near changes",
        );
    } else {
        found.conclude(
            Verdict::Differs,
            "overloaded, the display changes its mode every 25 s as the document's does, but its \
             chains near a change are not longer than 1 s: drawing one by one costs it hardly more \
             than collecting",
        );
    }
    Ok(found)
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
    let as_it_is = runs.first().context("no run")?;
    found
        .figure("ratio", number(as_it_is, "/ratio")?)
        .note("as our processes send: at once, without Nagle's algorithm");
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
    let longest = runs.iter().max_by_key(|one| one["flush_ms"].as_u64()).context("no run")?;
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
