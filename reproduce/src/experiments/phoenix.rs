//! PHOENIX: the radar chain from plot to redraw, with live traffic and under heavy load.

use super::chain::{Chain, Ran, live as live_traffic};
use super::{list, number, word};
use crate::outcome::{Found, Verdict};
use crate::picture::{Flow, Picture};
use crate::run::Run;
use anyhow::{Context, Result};
use serde_json::Value;

mod answer;

use answer::{Answer, LIMIT_MS, MAIN, MPA, NORMAL, TO_DISPLAY, TO_MESSAGES};

/// The live scenario: four displays as they are, one that always collects.
///
/// # Errors
/// When a program fails.
pub fn live(run: &mut Run<'_>) -> Result<Vec<Found>> {
    let (scenario, traffic) = live_traffic(run)?;
    let seconds = run.either(30, 180);
    let displays = ["auto", "auto", "auto", "auto", "always"];
    let chain = Chain { scenario, displays: &displays, seconds };
    let ran = chain.run(run, "live")?;
    let main = Answer::ask(run, &ran.data, MAIN)?;
    let normal = Answer::ask(run, &ran.data, NORMAL)?;
    let mpa = Answer::ask(run, &ran.data, MPA)?;
    let parts = [
        ("main chain: plot to redraw", Answer::ask(run, &ran.data, NORMAL)?),
        ("tracker to message server", Answer::ask(run, &ran.data, TO_MESSAGES)?),
        ("message server to working position", Answer::ask(run, &ran.data, TO_DISPLAY)?),
    ];
    let call = run.call("chronoscope")?.args(["classes", "--json", "--data"]).arg(&ran.data);
    let classes: Value = call.json()?;
    let tracks = number(&ran.displays[0], "/targets")?;
    let own = ran.displays.iter().take(displays.len() - 1);
    let switched = own.map(|one| number(one, "/mode_changes")).collect::<Result<Vec<_>>>()?;
    let switched = switched.iter().any(|changes| *changes > 0.0);
    let mut found = vec![
        image4(&ran, tracks, f64::from(seconds), traffic)?,
        // A display that was told to collect is not how the others are.
        if switched {
            image10(&main, "one of five always in MPA mode")
        } else {
            image10(&normal, "")
        },
        image9(&parts),
        levels(&normal, &mpa)?,
        mpa_mean(&mpa),
        normal_mode(&normal),
        buffering(&normal)?,
    ];
    found.extend(flows(&classes, displays.len())?);
    Ok(found)
}

/// 3000 tracks, one display with the document's rule.
///
/// # Errors
/// When a program fails.
pub fn heavy(run: &mut Run<'_>) -> Result<Vec<Found>> {
    let scenario = ["--scenario", "circles", "--circles", "30", "--flights", "100"];
    let scenario = scenario.map(Into::into).to_vec();
    let seconds = run.either(30, 300);
    let chain = Chain { scenario, displays: &["document"], seconds };
    let ran = chain.run(run, "heavy")?;
    let main = Answer::ask(run, &ran.data, MAIN)?;
    let to_display = Answer::ask(run, &ran.data, TO_DISPLAY)?;
    let tracks = number(&ran.displays[0], "/targets")?;
    let changes = number(&ran.displays[0], "/mode_changes")?;
    let averaging_s = number(&ran.displays[0], "/averaging_seconds")?;

    let mut image5 = Found::new("phoenix.image5");
    image5.figure("circles", 30.0);
    image5.figure("flights_per_circle", 100.0);
    image5.figure("tracks", tracks).note("targets on the display at the end");
    image5.pictures.push(Picture::png("one working position with 3000 tracks", &ran.picture)?);

    let mut image13 = Found::new("phoenix.image13");
    image13.figure("tracks", tracks);
    image13.figure("duration_min", f64::from(seconds) / 60.0);
    image13.figure("chains", main.count()).note("one for each update that is redrawn");
    image13.figure("mean_ms", main.mean_ms());
    main.rest(&mut image13);
    image13.pictures.push(main.scattergram("plot to redraw, 3000 tracks"));
    image13.pictures.push(main.histogram("plot to redraw, 3000 tracks"));

    let mut image14 = Found::new("phoenix.image14");
    image14.figure("peak_ms", to_display.ms("max_ns")?);
    image14.own("changes between normal and MPA mode", "", changes);
    image14.own("in MPA mode", "s", averaging_s);
    image14
        .pictures
        .push(to_display.scattergram("message server to working position, 3000 tracks"));
    if changes == 0.0 {
        image14.say(
            "The display follows the document's rule (--mpa document) and did not leave normal mode: \
             3000 tracks are no overload for it, so there is nothing to recheck every 25 s. The \
             document's two peaks need an overloaded display.",
        );
    }
    Ok(vec![image5, image13, image14])
}

fn image4(ran: &Ran, tracks: f64, seconds: f64, traffic: &str) -> Result<Found> {
    let mut found = Found::new("phoenix.image4");
    found.figure("tracks", tracks).note(traffic);
    found.figure("duration_min", seconds / 60.0);
    found.own("plots", "", number(&ran.tracker, "/processor/plots")?);
    found.pictures.push(Picture::png("one working position with live traffic", &ran.picture)?);
    Ok(found)
}

fn image10(main: &Answer, note: &str) -> Found {
    let mut found = Found::new("phoenix.image10");
    found.figure("chains", main.count());
    found.figure("cwp", if note.is_empty() { 4.0 } else { 5.0 }).note(note);
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
    found.pictures.push(main.histogram("plot to redraw, all working positions"));
    found.pictures.push(main.scattergram("plot to redraw, all working positions"));
    found
}

fn image9(parts: &[(&str, Answer); 3]) -> Found {
    let mut found = Found::new("phoenix.image9");
    found.figure("limit_ms", LIMIT_MS);
    let rows = parts.iter().map(|(name, answer)| {
        let ms = |key| answer.ms(key).ok().into();
        vec![
            (*name).into(),
            answer.count().into(),
            answer.mean_ms().into(),
            ms("quantiles_ns/p99"),
            ms("max_ns"),
        ]
    });
    found.table(
        "the three chains, normal mode",
        &["", "chains", "mean ms", "p99 ms", "longest ms"],
        rows.collect(),
    );
    found
}

fn levels(normal: &Answer, mpa: &Answer) -> Result<Found> {
    let mut found = Found::new("phoenix.levels");
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

fn mpa_mean(mpa: &Answer) -> Found {
    let mut found = Found::new("phoenix.image11");
    found.figure("mean_ms", mpa.mean_ms()).note("a display that always collects (--mpa always)");
    found.figure("redraw_period_ms", 500.0);
    mpa.rest(&mut found);
    found.pictures.push(mpa.scattergram("plot to redraw at level 5, MPA mode"));
    found.pictures.push(mpa.histogram("plot to redraw at level 5, MPA mode"));
    found
}

fn normal_mode(normal: &Answer) -> Found {
    let mut found = Found::new("phoenix.image12");
    found.figure("mean_ms", normal.mean_ms());
    normal.rest(&mut found);
    found.pictures.push(normal.scattergram("plot to redraw at level 4, normal mode"));
    found.pictures.push(normal.histogram("plot to redraw at level 4, normal mode"));
    found
}

fn buffering(normal: &Answer) -> Result<Found> {
    let mut found = Found::new("phoenix.buffering");
    let path = list(&normal.json, "/chains/paths")?.first().context("no chain in normal mode")?;
    let (mut rows, mut inside_ms) = (Vec::new(), 0.0);
    for hop in list(path, "/hops")? {
        let of = |part: &str| number(hop, &format!("/{part}/mean_ns")).map(|ns| ns / 1e6);
        let (inside, waiting) = (of("inside")?, of("waiting").unwrap_or(f64::NAN));
        inside_ms += inside;
        rows.push(vec![word(hop, "hop").into(), inside.into(), waiting.into()]);
    }
    let ratio = normal.mean_ms() / inside_ms;
    found
        .figure("ratio", ratio)
        .note("normal mode; mean of chains over the sum of the steps' means");
    found.table(
        "where the time goes, normal mode",
        &["step", "inside, mean ms", "waiting behind it, mean ms"],
        rows,
    );
    found
        .say("Our processes send each update as it comes (TCP_NODELAY): what waits is scheduling.");
    Ok(found)
}

/// Images 1, 2 and 3: classes and what passes between them.
fn flows(classes: &Value, displays: usize) -> Result<Vec<Found>> {
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
    let flow = Flow {
        title: "steps as they were recorded: how often, and how long on average".to_owned(),
        columns,
        arrows: arrows.collect(),
    };

    let mut image1 = Found::new("phoenix.image1");
    image1.table("classes of transactions", &["class", "count", "mean µs", "p99 µs"], table);
    image1.say(
        "The window is the page that `chronoscope serve` shows (docs/page.md): its graph view has these \
         classes as boxes. Here are the figures behind it.",
    );
    let mut image2 = Found::new("phoenix.image2");
    image2.figure("mrts", 1.0);
    image2.figure("msg", 1.0);
    image2.figure("cwp", displays as f64);
    image2.own("processes, generator and collector included", "", displays as f64 + 4.0);
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
        title: "processes and what passes between them, all on one host".to_owned(),
        columns,
        arrows,
    }));
    let mut image3 = Found::new("phoenix.image3");
    image3.figure("steps", f64::from(steps));
    image3.pictures.push(Picture::Flow(flow));
    Ok(vec![image1, image2, image3])
}
