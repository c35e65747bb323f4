//! PHOENIX: the radar chain from plot to redraw, with live traffic and under heavy load.

use super::chain::{Ran, switched, testbed};
use super::{list, number, word};
use crate::outcome::{ItemResults, Verdict};
use crate::picture::{Flow, Picture};
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::Cell;
use serde_json::Value;

mod answer;
mod load;

use answer::{Answer, LIMIT_MS, MAIN, MPA, NORMAL, TO_DISPLAY_NORMAL, TO_MESSAGES};
pub use load::{buffering, heavy};

/// Working positions that do as they like; one more always collects.
const DISPLAYS: usize = 110;

/// The live scenario on the distributed test bed.
///
/// # Errors
/// When a program fails.
pub fn live(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let seconds = run.either("25", "420");
    let displays = DISPLAYS.to_string();
    let words = ["--displays", &displays, "--averaging", "1", "--seconds", seconds];
    let printed = testbed(run, "live", "live", &words)?;
    let ran = Ran::of(&printed);
    let switched = switched(&printed, DISPLAYS)?;
    // A display that was set to collect always is not comparable with the others.
    let main = match switched {
        0 => None,
        _ => Some(Answer::ask(run, &ran, MAIN)?),
    };
    let normal = Answer::ask(run, &ran, NORMAL)?;
    let mpa = Answer::ask(run, &ran, MPA)?;
    let mut own = image10(main.as_ref().unwrap_or(&normal), &printed)?;
    if switched > 0 {
        own.say(format!(
            "{switched} of {DISPLAYS} displays collected updates for a while; with these are the \
             chains of one more that always does."
        ));
    }
    let parts = [
        row("main chain: plot to redraw", &normal),
        row("tracker to message server", &Answer::ask(run, &ran, TO_MESSAGES)?),
        row("message server to working position", &Answer::ask(run, &ran, TO_DISPLAY_NORMAL)?),
    ];
    let call = run.call("chronoscope")?.args(["classes", "--json", "--data"]).arg(&ran.data);
    let classes: Value = call.json()?;
    let mut found = vec![
        image4(&ran, &printed)?,
        own,
        image9(parts.into()),
        levels(&normal, &mpa)?,
        mpa_mean(&mpa),
        normal_mode(&normal),
    ];
    found.extend(flows(&classes, DISPLAYS + 1, &printed)?);
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
    found.figure("cwp", DISPLAYS as f64);
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

fn levels(normal: &Answer, mpa: &Answer) -> Result<ItemResults> {
    let mut found = ItemResults::new("phoenix.levels");
    let way = |answer: &Answer| -> Result<Vec<String>> {
        let path =
            list(&answer.json, "/chains/paths")?.first().context("no chain at this level")?;
        Ok(word(path, "path").split('/').map(str::to_owned).collect())
    };
    let (four, five) = (way(normal)?, way(mpa)?);
    let cell = |way: &[String], row: usize| way.get(row).cloned().unwrap_or_default().into();
    let rows = (0..five.len().max(four.len())).map(|row| vec![cell(&four, row), cell(&five, row)]);
    found.table("paths that were found", &["level 4", "level 5"], rows.collect());
    // The names differ where the document itself has two spellings of one step.
    let last = |way: &[String]| way.last().is_some_and(|step| step.ends_with("redraw"));
    let averaged = five.get(4).is_some_and(|step| step.ends_with("updateTrackMPA"));
    if four.len() == 5 && five.len() == 6 && last(&four) && last(&five) && averaged {
        found.conclude(Verdict::Reproduced, "");
    } else {
        found.conclude(Verdict::Differs, "other steps than the document's");
    }
    Ok(found)
}

fn mpa_mean(mpa: &Answer) -> ItemResults {
    let mut found = ItemResults::new("phoenix.image11");
    found.figure("mean_ms", mpa.mean_ms()).note("a display that always collects (--mpa always)");
    found.figure("redraw_period_ms", 500.0);
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

/// Images 1, 2 and 3: classes and what passes between them.
fn flows(classes: &Value, displays: usize, printed: &Value) -> Result<Vec<ItemResults>> {
    let (columns, table, steps) = recorded_steps(classes)?;
    let mut image1 = ItemResults::new("phoenix.image1");
    image1.table("classes of transactions", &["class", "count", "mean µs", "p99 µs"], table);
    image1.say(
        "The window is the page that `chronoscope serve` shows (docs/page.md): its graph view has these \
         classes as boxes. Here are the figures behind it.",
    );
    let mut image3 = ItemResults::new("phoenix.image3");
    image3.figure("steps", f64::from(steps));
    image3.pictures.push(Picture::Flow(step_flow(columns)));
    Ok(vec![image1, processes(displays, printed)?, image3])
}

/// Columns of a flow: the application, and the boxes below it with two lines each.
type Columns = Vec<(String, Vec<(String, String)>)>;

/// The steps of the chain in their order: as boxes of a flow, as rows of a table, and how many.
fn recorded_steps(classes: &Value) -> Result<(Columns, Vec<Vec<Cell>>, u32)> {
    let order = [
        ("MRTS", &["decodePlots", "Conversion", "Correlate"][..]),
        ("MSG", &["TrackStore_updateTrack"]),
        (
            "CWP",
            &[
                "TrackStore_updateTrack",
                "TrackStore_updateTrackMPA",
                "TargetView_recalculate",
                "TargetView_redraw",
            ],
        ),
    ];
    let rows = list(classes, "/classes/rows")?;
    let class = |application: &str, class: &str| {
        rows.iter()
            .find(|row| word(row, "application") == application && word(row, "class") == class)
    };
    let (mut columns, mut table, mut steps) = (Vec::new(), Vec::new(), 0);
    for (application, names) in order {
        let mut boxes = Vec::new();
        for name in names {
            let Some(row) = class(application, name) else { continue };
            steps += 1;
            let (count, mean_us) =
                (number(row, "/elapsed/count")?, number(row, "/elapsed/mean_ns")? / 1e3);
            let below =
                format!("{} × {} µs", crate::report::number(count), crate::report::number(mean_us));
            boxes.push(((*name).to_owned(), below));
            let p99_us = number(row, "/elapsed/p99_ns")? / 1e3;
            table.push(vec![
                format!("{application}::{name}").into(),
                count.into(),
                mean_us.into(),
                p99_us.into(),
            ]);
        }
        columns.push((application.to_owned(), boxes));
    }
    Ok((columns, table, steps))
}

/// The steps as they were recorded, with what passes from one to another.
fn step_flow(columns: Columns) -> Flow {
    let at = |column: usize, name: &str| {
        columns
            .get(column)
            .and_then(|(_, boxes)| boxes.iter().position(|(step, _)| step == name))
            .map(|row| [column, row])
    };
    let arrows = [
        (at(0, "decodePlots"), at(0, "Conversion"), ""),
        (at(0, "Correlate"), at(1, "TrackStore_updateTrack"), "track update"),
        (at(1, "TrackStore_updateTrack"), at(2, "TrackStore_updateTrack"), "with flight plan"),
        (at(2, "TrackStore_updateTrackMPA"), at(2, "TargetView_recalculate"), ""),
        (at(2, "TargetView_recalculate"), at(2, "TargetView_redraw"), ""),
    ];
    let arrows =
        arrows.into_iter().filter_map(|(from, to, words)| Some((from?, to?, words.to_owned())));
    let arrows = arrows.collect();
    Flow {
        title: "steps as they were recorded: how often, and how long on average".to_owned(),
        columns,
        arrows,
    }
}

/// Image 2: processes and hosts.
fn processes(displays: usize, printed: &Value) -> Result<ItemResults> {
    let mut image2 = ItemResults::new("phoenix.image2");
    image2.figure("mrts", 1.0);
    image2.figure("msg", 1.0);
    image2.figure("cwp", displays as f64);
    let all = number(printed, "/displays")? + 3.0;
    image2.own("processes, generator included; agents and collector beside", "", all);
    let hosts = list(printed, "/hosts")?.len();
    image2.own(
        "hosts (network namespaces)",
        "",
        if printed["apart"] == true { hosts as f64 } else { 1.0 },
    );
    let hosts = [
        ("radars", "radar-generator"),
        ("MRTS", "radar-tracker"),
        ("MSG", "radar-messages"),
        ("CWP", "radar-display"),
    ];
    let columns: Vec<_> = hosts
        .into_iter()
        .map(|(name, program)| {
            let below = if name == "CWP" {
                format!("{displays} processes")
            } else {
                "1 process".to_owned()
            };
            (name.to_owned(), vec![(program.to_owned(), below)])
        })
        .collect();
    let arrows =
        ["ASTERIX 048 by UDP", "ASTERIX 062 by TCP", "ASTERIX 062 by TCP"].into_iter().enumerate();
    let arrows = arrows.map(|(at, words)| ([at, 0], [at + 1, 0], words.to_owned())).collect();
    image2.pictures.push(Picture::Flow(Flow {
        title: "processes and what passes between them".to_owned(),
        columns,
        arrows,
    }));
    Ok(image2)
}
