//! `chronoscope rules`: what the rules of a file mean, and what they would have done.

use super::chains::{range, stored};
use crate::args::Span;
use crate::args::rules::{Check, Rules, Test};
use crate::exit::Exit;
use crate::screen::show;
use crate::text::count;
use crate::times::Zone;
use crate::usage::Usage;
use anyhow::{Context, Result};
use chronoscope_formats::json::document;
use chronoscope_rules::{Rule, RuleFile, RuleFileError, Unjudged};
use chronoscope_server::{RuleHistories, RuleHistory, rule_histories};
use serde_json::{Value, json};
use std::path::Path;

/// Runs the command.
pub(crate) fn rules(rules: &Rules) -> Result<Exit> {
    match rules {
        Rules::Check(args) => check(args),
        Rules::Test(args) => test(args),
    }
}

/// Reads a file of rules.
///
/// # Errors
/// When the file cannot be read or is not valid, with its line.
pub(crate) fn read(path: &Path) -> Result<RuleFile> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    RuleFile::parse(&text).map_err(|RuleFileError { line, message }| {
        Usage::new(format!("{}:{line}: {message}", path.display())).into()
    })
}

fn check(args: &Check) -> Result<Exit> {
    let RuleFile { rules, destinations, .. } = read(&args.file)?;
    if args.json {
        let one = |rule: &Rule| json!({ "name": rule.name, "sentence": rule.sentence() });
        let all = rules.iter().map(one).collect::<Value>();
        show(&format!("{:#}\n", document("rules", all)))?;
    } else {
        let told = destinations.iter().map(|to| match to.severities.is_empty() {
            true => format!("notifies {}\n", to.recipient),
            false => format!("notifies {} of {}\n", to.recipient, to.severities.join(", ")),
        });
        let meanings = rules.iter().map(|rule| rule.sentence() + "\n");
        show(&meanings.chain(told).collect::<String>())?;
    }
    if rules.is_empty() {
        say!("{}: no rule; a rule is a table [[limit]]", args.file.display());
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

fn test(args: &Test) -> Result<Exit> {
    let rules = read(&args.file)?.rules;
    let zone = Zone::new(args.utc);
    let span = Span { from: args.from.clone(), until: args.until.clone(), utc: args.utc };
    let mut range = range(&span, &zone)?;
    // The last minute of a store that is being written has not ended.
    range.end = range.end.min(chronoscope_clock::utc_now_ns());
    let found = stored(&args.data.source()?, |view| {
        let one = |rule: &Rule| rule_histories(view, rule, range.clone());
        rules.iter().map(one).collect::<Result<Vec<_>, _>>()
    })?;
    if args.json {
        let all = found.iter().flat_map(histories_json).collect::<Value>();
        show(&format!("{:#}\n", document("rules", all)))?;
    } else {
        show(&found.iter().map(|found| histories_text(found, &zone)).collect::<String>())?;
    }
    let judged = |(_, history): &(Rule, RuleHistory)| history.held + history.broken > 0;
    Ok(if found.iter().flat_map(|found| &found.histories).any(judged) {
        Exit::Done
    } else {
        Exit::Nothing
    })
}

fn histories_json(found: &RuleHistories) -> impl Iterator<Item = Value> {
    found.histories.iter().map(|history| history_json(history, found.beyond))
}

fn history_json((rule, history): &(Rule, RuleHistory), beyond: u64) -> Value {
    let transitions = history.transitions.iter().map(|transition| {
        json!({
            "change": transition.change.name(),
            "at_ns": transition.at_ns,
            "since_ns": transition.since_ns,
        })
    });
    json!({
        "name": rule.name,
        "group_of": rule.group_of,
        "groups_not_judged": beyond,
        "sentence": rule.sentence(),
        "transitions": transitions.collect::<Value>(),
        "held": history.held,
        "broken": history.broken,
        "not_judged": history.not_judged,
        "not_judged_reason": history.not_judged_reason,
        "is_firing": history.is_firing,
    })
}

fn histories_text(found: &RuleHistories, zone: &Zone) -> String {
    let mut text: String =
        found.histories.iter().map(|history| history_text(history, zone)).collect();
    if found.beyond > 0 {
        text += &format!("  {}\n\n", Unjudged::Groups(found.beyond));
    }
    text
}

fn history_text((rule, history): &(Rule, RuleHistory), zone: &Zone) -> String {
    let RuleHistory { transitions, held, broken, not_judged, is_firing, .. } = history;
    let mut text = format!("{}\n", rule.sentence());
    for transition in transitions {
        text += &format!("  {}  {}\n", zone.instant(transition.at_ns), transition.change.name());
    }
    if transitions.is_empty() {
        text += "  never fired\n";
    }
    text += &format!(
        "  judged {} times, broken {} times{}",
        count(held + broken),
        count(*broken),
        if *is_firing { ", still firing at the end" } else { "" }
    );
    if *not_judged > 0 {
        let reason = history.not_judged_reason.as_deref().unwrap_or_default();
        text += &format!("; could not be judged {} times: {reason}", count(*not_judged));
    }
    text + "\n\n"
}
