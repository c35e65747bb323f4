//! PHOENIX: the radar chain from plot to redraw, with live traffic and under heavy load.

use super::chain::{Ran, testbed};
use super::{list, number, word};
use crate::outcome::ItemResults;
use crate::picture::Picture;
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::{Cell, Published};
use serde_json::Value;

mod answer;
mod load;
mod recorded;

use answer::{Answer, LIMIT_MS, MAIN, MPA, NORMAL, TO_DISPLAY_NORMAL, TO_MESSAGES};
pub use load::{buffering, heavy};
use recorded::Recorded;

/// Working positions that draw each update at once as long as they can.
const DRAWING: usize = 100;
/// Working positions that always collect. With these, as many chains in a hundred are of MPA mode as
/// the document's three means say of its own: (137.038 − 114) / (373 − 114) = 8.9 %.
const COLLECTING: usize = 10;
/// The document's interval of the redraw in MPA mode, in ms.
const REDRAW_MS: f64 = 500.0;

/// The live scenario on the distributed test bed.
///
/// # Errors
/// When a program fails.
pub fn live(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let seconds = run.either("25", "420");
    let counts = [DRAWING, COLLECTING].map(|count| count.to_string());
    let words = ["--displays", &counts[0], "--averaging", &counts[1], "--seconds", seconds];
    let printed = testbed(run, "live", "live", &words)?;
    let ran = Ran::of(&printed);
    let main = Answer::ask(run, &ran, MAIN)?;
    let normal = Answer::ask(run, &ran, NORMAL)?;
    let mpa = Answer::ask(run, &ran, MPA)?;
    let parts = [
        row("main chain: plot to redraw", &normal),
        row("tracker to message server", &Answer::ask(run, &ran, TO_MESSAGES)?),
        row("message server to working position", &Answer::ask(run, &ran, TO_DISPLAY_NORMAL)?),
    ];
    let call = run.call("chronoscope")?.args(["classes", "--json", "--data"]).arg(&ran.data);
    let classes: Value = call.json()?;
    let mut found = vec![
        image4(&ran, &printed)?,
        image10(&main, &printed)?,
        image9(parts.into()),
        levels(&normal, &mpa)?,
        mpa_mode(&main, &normal, &mpa),
        normal_mode(&normal),
    ];
    found.extend(recorded::items(&Recorded::read(&ran.data)?, &classes)?);
    Ok(found)
}

fn image4(ran: &Ran, printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("phoenix.image4");
    found.figure("tracks", number(printed, "/tracks")?).note(word(printed, "traffic"));
    found.figure("duration_min", number(printed, "/seconds")? / 60.0);
    found.own("plots", "", number(printed, "/tracker/processor/plots")?);
    found.own("track updates", "1/s", number(printed, "/updates_per_s")?);
    found.pictures.push(Picture::png("one working position with live traffic", &ran.picture)?);
    Ok(found)
}

fn image10(main: &Answer, printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("phoenix.image10");
    found.figure("chains", main.count());
    found
        .figure("cwp", number(printed, "/displays")?)
        .note(format!("{COLLECTING} of them always collect: chains of both modes, as theirs"));
    found.figure("mean_ms", main.mean_ms());
    for (figure, key) in [
        ("median_ms", "median_ns"),
        ("sd_ms", "sd_ns"),
        ("max_ms", "max_ns"),
        ("min_ms", "min_ns"),
        ("three_sigma_ms", "three_sigma_ns"),
    ] {
        found.figure(figure, main.ms(key).unwrap_or(f64::NAN));
    }
    let [median, sd, three] =
        ["median_ns", "sd_ns", "three_sigma_ns"].map(|key| main.ms(key).unwrap_or(f64::NAN));
    found
        .figure("interval", three / (median + 3.0 * sd))
        .note("from the printed median and standard deviation");
    found.figure("skew", main.mean_ms() / median);
    let above = main.durations_ns.iter().filter(|ns| **ns as f64 > LIMIT_MS * 1e6).count() as f64;
    found.figure("above_limit_pct", above * 100.0 / main.count());
    let beyond = number(&main.json, "/chains/distribution/above_3_sigma").unwrap_or(f64::NAN);
    found.figure("above_3_sigma", beyond);
    found.figure("above_3_sigma_pct", beyond * 100.0 / main.count());
    for (what, key) in [
        ("updates that a display did not redraw", "updates"),
        ("redraws that are not stored", "rows"),
        ("transactions that recorders lost", "recorder"),
    ] {
        found.own(what, "", number(printed, &format!("/lost/{key}"))?);
    }
    clocks(printed, &mut found);
    found.pictures.push(main.histogram("plot to redraw, all working positions"));
    found.pictures.push(main.scattergram("plot to redraw, all working positions"));
    Ok(found)
}

/// Errors set on the hosts' clocks, and the estimates of them.
fn clocks(printed: &Value, found: &mut ItemResults) {
    let hosts = printed["clocks"].as_array().map_or(&[][..], Vec::as_slice);
    if hosts.is_empty() {
        found.say("All on one host: nobody here may make network namespaces.");
        return;
    }
    let row = |host: &Value| {
        let of = |key: &str| host[key].as_f64().into();
        let keys = ["injected_ms", "found_ms", "bound_ms", "residual_ms"];
        [vec![word(host, "host").into()], keys.map(of).to_vec()].concat()
    };
    found.table(
        "clocks of hosts, made wrong on purpose",
        &["host", "error given, ms", "found, ms", "bound, ms", "error left, ms"],
        hosts.iter().map(row).collect(),
    );
}

/// A row of the three chains.
fn row(name: &str, answer: &Answer) -> Vec<Cell> {
    let ms = |key| answer.ms(key).ok().into();
    vec![
        name.into(),
        answer.count().into(),
        answer.mean_ms().into(),
        ms("quantiles_ns/p99"),
        ms("max_ns"),
    ]
}

fn image9(rows: Vec<Vec<Cell>>) -> ItemResults {
    let mut found = ItemResults::new("phoenix.image9");
    found.figure("limit_ms", LIMIT_MS);
    found.table(
        "the three chains, normal mode",
        &["", "chains", "mean ms", "p99 ms", "longest ms"],
        rows,
    );
    found
}

/// The document's names of steps, in two spellings of its own, and ours.
const SPELLINGS: [(&str, &str); 6] = [
    ("MRTS::decodePlot", "MRTS::decodePlots"),
    ("MRTS::Correlation", "MRTS::Correlate"),
    ("MSG::UpdateTrack", "MSG::TrackStore_updateTrack"),
    ("CWP::UpdateTrack", "CWP::TrackStore_updateTrack"),
    ("CWP::UpdateTrackMPA", "CWP::TrackStore_updateTrackMPA"),
    ("CWP::redraw", "CWP::TargetView_redraw"),
];

fn levels(normal: &Answer, mpa: &Answer) -> Result<ItemResults> {
    let mut found = ItemResults::new("phoenix.levels");
    let way = |answer: &Answer| -> Result<Vec<String>> {
        let path =
            list(&answer.json, "/chains/paths")?.first().context("no chain at this level")?;
        Ok(word(path, "path").split('/').map(str::to_owned).collect())
    };
    let ways = [way(normal)?, way(mpa)?];
    let cell = |way: &[String], row: usize| way.get(row).cloned().unwrap_or_default().into();
    let longest = ways.iter().map(Vec::len).max().unwrap_or(0);
    let rows = (0..longest).map(|row| ways.iter().map(|way| cell(way, row)).collect());
    found.table("paths that were found", &["level 4", "level 5"], rows.collect());
    let published = Published::read()?;
    for (column, (figure, way)) in ["level4", "level5"].into_iter().zip(&ways).enumerate() {
        let names = published.rows("phoenix.levels")?.iter().filter_map(|row| match &row[column] {
            Cell::Text(name) if !name.is_empty() => Some(name.as_str()),
            _ => None,
        });
        // Each of the document's steps in its place.
        let is_ours = |name: &str, step: &str| SPELLINGS.contains(&(name, step));
        let places = names.zip(way).filter(|(name, step)| is_ours(name, step));
        found.figure(figure, places.count() as f64);
        found.own(&format!("steps of our path, {figure}"), "", way.len() as f64);
    }
    Ok(found)
}

/// Image 11: how much collecting adds, and how many of all chains it concerns.
fn mpa_mode(main: &Answer, normal: &Answer, mpa: &Answer) -> ItemResults {
    let mut found = ItemResults::new("phoenix.image11");
    found.figure("mean_ms", mpa.mean_ms()).note("displays that always collect (--mpa always)");
    found.figure("redraw_period_ms", REDRAW_MS);
    found.figure("added", (mpa.mean_ms() - normal.mean_ms()) / REDRAW_MS);
    found.figure("slower", mpa.mean_ms() / normal.mean_ms());
    found
        .figure("chains_pct", mpa.count() * 100.0 / main.count())
        .note("as many displays were set to collect");
    mpa.rest(&mut found);
    found.pictures.push(mpa.scattergram("plot to redraw at level 5, MPA mode"));
    found.pictures.push(mpa.histogram("plot to redraw at level 5, MPA mode"));
    found
}

fn normal_mode(normal: &Answer) -> ItemResults {
    let mut found = ItemResults::new("phoenix.image12");
    found.figure("mean_ms", normal.mean_ms());
    normal.rest(&mut found);
    found.pictures.push(normal.scattergram("plot to redraw at level 4, normal mode"));
    found.pictures.push(normal.histogram("plot to redraw at level 4, normal mode"));
    found
}
