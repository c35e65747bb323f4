//! `chronoscope replay CAPTURE --real-time`: a recording against a system that runs.

use crate::args::replay::Replay;
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::text::{Table, count};
use crate::usage::Usage;
use anyhow::{Context, Result, bail};
use chronoscope_clock as clock;
use chronoscope_formats::json;
use chronoscope_replay::player::{Answers, Feed, FeedKind, FeedPart, Played, Player};
use serde_json::json;
use std::time::Duration;

/// Time to wait for answers after the last input.
const SETTLE: Duration = Duration::from_secs(1);
/// Interval of progress lines, ns.
const TALK_EVERY_NS: u64 = 1_000_000_000;

/// Runs the command.
pub(crate) fn play(args: &Replay, factor: f64) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let feeds = feeds(args)?;
    let start_ns = feeds.iter().filter_map(Feed::next_ns).min();
    let Some(start_ns) = start_ns else {
        say!("nothing in {} is for these targets", args.scenario.display());
        return Ok(Exit::Nothing);
    };
    let mut player = Player::new(feeds, start_ns);
    if let Some(out) = &args.out {
        std::fs::create_dir_all(out).with_context(|| format!("make {}", out.display()))?;
        player = player.keeping(Answers::new(out.clone()));
    }
    let (begin_ns, mut told_ns) = (clock::monotonic_ns(), 0);
    let played = player.play(factor, || {
        let now_ns = clock::monotonic_ns();
        if environment::stderr_is_terminal() && now_ns - told_ns >= TALK_EVERY_NS {
            told_ns = now_ns;
            let second = (now_ns - begin_ns) as f64 / 1e9 * factor;
            progress(&format!("{second:.0} s of the recording played"));
        }
        !interrupt.is_set()
    });
    progress("");
    // Delivered input is reported even after a failure.
    let settled = player.settle(SETTLE, || !interrupt.is_set()).and_then(|()| player.finish());
    let told = *played.as_ref().unwrap_or(&Played::default());
    tell(args, &player, told, factor)?;
    played.context("the recording could not be played on")?;
    settled.context("answers could not be kept")?;
    Ok(Exit::Done)
}

/// The recorded input of each target, cut to the window and thinned.
fn feeds(args: &Replay) -> Result<Vec<Feed>> {
    let targets = || args.play.to.iter().chain(&args.play.map);
    let is_known = |name: &str| name == "state" || targets().any(|target| target.name == name);
    if let Some((name, _)) = args.thin.iter().find(|(name, _)| !is_known(name)) {
        let names: Vec<&str> = targets().map(|target| &*target.name).collect();
        let names = names.join(", ");
        bail!(Usage::new(format!("--thin {name}: the input is none of {names}, and not state")));
    }
    let mut feeds = Vec::new();
    for target in args.play.to.iter().chain(&args.play.map) {
        let to = (target.transport, target.address);
        let select = target.select.clone();
        let mut feed = Feed::open(&target.name, FeedKind::State, &args.scenario, select, to)?;
        if let Some(first_ns) = feed.next_ns() {
            let one_of =
                args.thin.iter().rev().find(|(name, _)| *name == target.name || name == "state");
            let from = args.window.from.map(|from| from.at_or_after(first_ns));
            let one_of = one_of.map_or(1, |(_, one_of)| *one_of);
            feed.select(FeedPart { one_of, seed: 1, from_ns: from, ..FeedPart::default() });
            let from_ns = from.unwrap_or(first_ns);
            let duration = args.duration.map(|duration| {
                from_ns.saturating_add(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
            });
            let until = args.window.until.map(|until| until.at_or_after(from_ns));
            duration.into_iter().chain(until).for_each(|until_ns| feed.cut(until_ns));
        }
        feeds.push(feed);
    }
    Ok(feeds)
}

fn tell(args: &Replay, player: &Player, played: Played, factor: f64) -> Result<()> {
    let delivered = player.delivered();
    player.remarks().iter().for_each(|remark| say!("{remark}"));
    if args.json {
        let part = json!({
            "factor": factor,
            "recorded_s": played.recorded.as_secs_f64(),
            "elapsed_s": played.elapsed.as_secs_f64(),
            "late": played.late_count,
            "late_max_ns": u64::try_from(played.late_max.as_nanos()).unwrap_or(u64::MAX),
            "inputs": delivered,
            "remarks": player.remarks(),
        });
        return Ok(show(&format!("{:#}\n", json::document("played", part)))?);
    }
    let mut table = Table::new(&["to", "inputs", "octets", "undelivered", "octets back"]);
    for one in &delivered {
        let numbers = [one.inputs, one.bytes, one.undelivered, one.answer_bytes];
        table.row([one.name.clone()].into_iter().chain(numbers.map(count)).collect());
    }
    show(&format!(
        "{table}{:.3} s of the recording in {:.3} s; {} inputs came more than 1 ms late, {:.3} ms \
         at most\n",
        played.recorded.as_secs_f64(),
        played.elapsed.as_secs_f64(),
        count(played.late_count),
        played.late_max.as_secs_f64() * 1e3
    ))?;
    Ok(())
}
