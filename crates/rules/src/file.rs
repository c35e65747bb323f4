//! The file of rules: TOML with a `[[limit]]` table for each.
//!
//! ```toml
//! [[limit]]                           # of a class: its own elapsed time
//! class = "CWP::TargetView_redraw"    # or without its application
//! limit_ns = 20_000_000
//!
//! [[limit]]                           # of chains: from the start of a root to the end of a leaf
//! root = "MRTS::decodePlots"
//! leaf = "CWP::TargetView_redraw"
//! level = 4                           # steps from root to leaf; any where it is not given
//! limit_ns = 1_000_000_000
//! arrivals = "each-root"              # each root has to reach a leaf within limit_ns, too
//!
//! [[limit]]                           # a quantile, with hysteresis and reminders
//! name = "redraw-p99"
//! class = "CWP::TargetView_redraw"
//! limit = "20ms"
//! quantile = 0.99                     # or share = 0.01; share = 0.003 where neither is given
//! window = "5min"                     # 1 min where it is not given
//! fires_after = 3                     # judgements in a row
//! clears_after = 5
//! remind = "30min"
//! severity = "ticket"                 # "page" where it is not given
//!
//! [[limit]]                           # of some durations, for each tenant by itself
//! root = "Shop::order"
//! leaf = "Parcels::ship"
//! limit = "1s"
//! where = ["region=eu"]               # attributes, as `chronoscope chains --where` takes them
//! by = "tenant"                       # each value has an alarm of its own
//!
//! [[limit]]                           # no chain for 10 s
//! root = "MRTS::decodePlots"
//! leaf = "CWP::TargetView_redraw"
//! absence = "10s"
//!
//! [[limit]]                           # each radar whose data come irregularly, beside the others
//! name = "irregular-radar"
//! class = "MRTS::receiveRadarData"
//! by = "radar"
//! irregular = 3                       # times the usual spread of the intervals
//! window = "5min"                     # 5 min where it is not given
//!
//! [[limit]]                           # an error budget: 99.7 % within 1 s over 30 days
//! name = "display-budget"
//! root = "MRTS::decodePlots"
//! leaf = "CWP::TargetView_redraw"
//! limit = "1s"
//! objective = 0.997
//! period = "30d"
//! burn = [{ long = "1h", short = "5min", factor = 14.4 }]
//! ```
//!
//! Notifications go to the destinations of the tables `[[notify]]`:
//!
//! ```toml
//! page = "https://chronoscope.example:8080"   # address of the page, for links
//!
//! [[notify]]
//! webhook = "https://chat.example/hook"
//! body = '{"text": "${change}: ${finding} ${link}"}'   # JSON; all fields where it is not given
//! severity = ["page"]                                  # only rules of these; all where not given
//!
//! [[notify]]
//! alertmanager = "http://127.0.0.1:9093"
//!
//! [[notify]]
//! command = ["/usr/local/bin/page-me", "--now"]        # the message is on stdin
//!
//! [[notify]]
//! email = ["duty@example.org"]
//! from = "chronoscope@example.org"
//! smtp = "smtps://mail.example.org"                    # smtp://HOST?tls=required for STARTTLS
//! user = "chronoscope"                                 # with password_file, where a login is wanted
//! password_file = "/etc/chronoscope/smtp-password"
//! ```
//!
//! Where `burn` is not given, its windows are those of the SRE Workbook (chapter 5, table 5-8),
//! with the factors that use up 2 %, 5 % and 10 % of the period's budget in 1 h, 6 h and 3 d.

use crate::condition::{
    BurnWindow, Condition, DEFAULT_SHARE, FACTOR_ONE, MINUTE_NS, ONE, PAST_WINDOWS,
};
use crate::destination::{Destination, WrittenDestination};
use crate::rule::{Arrivals, Rule, RuleSubject};
use crate::words::period;
use chronoscope_chain::{AttributeError, AttributeSelection, ClassSelector, FILTERS_MAX};
use chronoscope_figures::numbers::parse_duration;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::time::Duration;
use toml::Spanned;

const SECOND_NS: u64 = 1_000_000_000;
/// Longest window: a day more than the longest month.
const WINDOW_NS_MAX: u64 = 32 * 24 * 3600 * SECOND_NS;
/// Window of a rule on regularity where none is given.
const REGULARITY_WINDOW_NS: u64 = 300 * SECOND_NS;
/// Windows of the SRE Workbook: the long and the short one, and the percents of the budget that are
/// used up in the long one.
const WORKBOOK: [(u64, u64, u64); 3] = [
    (3600 * SECOND_NS, 300 * SECOND_NS, 2),
    (6 * 3600 * SECOND_NS, 1800 * SECOND_NS, 5),
    (72 * 3600 * SECOND_NS, 6 * 3600 * SECOND_NS, 10),
];

/// The content of a file of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFile {
    /// The rules, in the order of the file. A limit with `arrivals` is two: on its durations and
    /// on the arrivals.
    pub rules: Vec<Rule>,
    /// Destinations of notifications, in the order of the file.
    pub destinations: Vec<Destination>,
    /// Address of the page without a slash at its end, for links; `None` where it is not given.
    pub page: Option<String>,
}

/// A file of rules that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct RuleFileError {
    /// Number of the line, from 1; for a value out of range the first line of its table.
    pub line: usize,
    /// Description of the fault, and the expected form.
    pub message: String,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    limit: Vec<Spanned<WrittenRule>>,
    #[serde(default)]
    notify: Vec<Spanned<WrittenDestination>>,
    page: Option<String>,
}

/// A rule as it is written.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    name: Option<String>,
    class: Option<String>,
    root: Option<String>,
    leaf: Option<String>,
    level: Option<u16>,
    arrivals: Option<Arrivals>,
    #[serde(default, rename = "where")]
    filters: Vec<String>,
    by: Option<String>,
    limit_ns: Option<u64>,
    limit: Option<Period>,
    window: Option<Period>,
    quantile: Option<f64>,
    share: Option<f64>,
    absence: Option<Period>,
    irregular: Option<f64>,
    objective: Option<f64>,
    period: Option<Period>,
    burn: Option<Vec<WrittenBurn>>,
    fires_after: Option<u32>,
    clears_after: Option<u32>,
    remind: Option<Period>,
    severity: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBurn {
    long: Period,
    short: Period,
    factor: f64,
}

/// A length of time with its unit, in nanoseconds.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct Period(u64);

impl TryFrom<String> for Period {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).ok();
        let ns = ns(parse_duration(&text)?).filter(|ns| *ns > 0);
        ns.map(Self).ok_or_else(|| format!("{text:?}: expected a time above 0"))
    }
}

impl RuleFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`RuleFileError`] when it is not valid TOML, or a rule is not complete, contradicts itself or
    /// has a value out of range.
    pub fn parse(text: &str) -> Result<Self, RuleFileError> {
        let line = |at: usize| text.as_bytes()[..at.min(text.len())].iter();
        let line = |at: usize| line(at).filter(|byte| **byte == b'\n').count() + 1;
        let written: Written = toml::from_str(text).map_err(|error| RuleFileError {
            line: error.span().map_or(1, |span| line(span.start)),
            message: error.message().to_owned(),
        })?;
        let mut file = Self::default();
        let mut names = BTreeSet::new();
        for table in written.limit {
            let refused = |message| RuleFileError { line: line(table.span().start), message };
            let found = rules(table.get_ref()).map_err(refused)?;
            for mut rule in found {
                if table.get_ref().name.is_none() {
                    rule.name = unused(&names, rule.name);
                }
                if !names.insert(rule.name.clone()) {
                    return Err(refused(format!("name = {:?}: two rules have it", rule.name)));
                }
                file.rules.push(rule);
            }
        }
        if let Some(taken) =
            file.rules.iter().map(|rule| &rule.name).find(|name| {
                file.rules.iter().any(|grouped| grouped.value_of_group(name).is_some())
            })
        {
            let message = format!("name = {taken:?}: a group of another rule would have this name");
            return Err(RuleFileError { line: 1, message });
        }
        for table in written.notify {
            let refused = |message| RuleFileError { line: line(table.span().start), message };
            file.destinations.push(table.get_ref().checked().map_err(refused)?);
        }
        file.page = written.page.map(|page| page.trim_end_matches('/').to_owned());
        Ok(file)
    }
}

/// A name that no other rule has: the name itself, or with a number.
fn unused(names: &BTreeSet<String>, name: String) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut all = std::iter::once(name.clone()).chain(numbered);
    all.find(|name| !names.contains(name)).unwrap_or(name)
}

/// The rules of a table.
fn rules(written: &WrittenRule) -> Result<Vec<Rule>, String> {
    let subject = subject(written)?;
    let condition = condition(written)?;
    let at_least_1 = |key: &str, value: Option<u32>| match value {
        Some(0) => Err(format!("{key} = 0: expected 1 or more")),
        value => Ok(value.unwrap_or(1)),
    };
    let name = written.name.clone().unwrap_or_else(|| subject.to_string());
    if name.is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
        return Err(format!("name = {name:?}: expected 1 to 200 visible characters"));
    }
    let rule = Rule {
        name,
        attributes: attributes(written, &condition)?,
        group_of: None,
        subject,
        condition,
        fires_after: at_least_1("fires_after", written.fires_after)?,
        clears_after: at_least_1("clears_after", written.clears_after)?,
        remind_ns: written.remind.map(|remind| remind.0),
        severity: written.severity.clone().unwrap_or_else(|| "page".to_owned()),
    };
    if written.arrivals.is_none() {
        return Ok(vec![rule]);
    }
    let (Condition::Share { limit_ns, window_ns, .. }, true) =
        (&rule.condition, rule.condition.is_default())
    else {
        let why = "arrivals: not with share, quantile, window, absence, irregular or objective";
        return Err(why.to_owned());
    };
    let arrivals = Rule {
        name: format!("{} arrivals", rule.name),
        condition: Condition::Arrivals { limit_ns: *limit_ns, window_ns: *window_ns },
        ..rule.clone()
    };
    Ok(vec![rule, arrivals])
}

fn subject(written: &WrittenRule) -> Result<RuleSubject, String> {
    let WrittenRule { class, root, leaf, level, arrivals, .. } = written;
    let selector = |class: &String| ClassSelector(class.clone());
    match (class, root, leaf) {
        (Some(class), None, None) if level.is_none() && arrivals.is_none() => {
            Ok(RuleSubject::Class(selector(class)))
        }
        (None, Some(root), Some(leaf)) => {
            Ok(RuleSubject::Chain { root: selector(root), leaf: selector(leaf), level: *level })
        }
        _ => Err("a limit is of a class, or of chains from a root to a leaf".to_owned()),
    }
}

fn attributes(written: &WrittenRule, condition: &Condition) -> Result<AttributeSelection, String> {
    let WrittenRule { filters, by, arrivals, .. } = written;
    let by: Vec<&String> = by.iter().collect();
    if matches!(condition, Condition::Absence { .. }) && !by.is_empty() {
        return Err("absence: not with by: which values are to come is not known; where = \
                    [\"KEY=VALUE\"] judges one of them"
            .to_owned());
    }
    // The value of a group is one more filter.
    if filters.len() + by.len() > FILTERS_MAX {
        return Err(format!("where: at most {FILTERS_MAX} filters, one less with by"));
    }
    let refused = |error: AttributeError| error.to_string();
    let filters = filters.iter().map(|text| text.parse().map_err(refused));
    let by = by.into_iter().map(|text| text.parse().map_err(refused));
    let selection =
        AttributeSelection::new(filters.collect::<Result<_, _>>()?, by.collect::<Result<_, _>>()?)
            .map_err(refused)?;
    if arrivals.is_some() && !(selection.filters_roots() && selection.by().is_empty()) {
        let why = "a root without a leaf has no leaf whose attributes could be looked at";
        return Err(format!("arrivals: not with by, and with where root.KEY alone: {why}"));
    }
    Ok(selection)
}

fn condition(written: &WrittenRule) -> Result<Condition, String> {
    let WrittenRule { limit_ns, limit, window, quantile, share, absence, .. } = written;
    let limit_ns = match (limit_ns, limit) {
        (Some(_), Some(_)) => return Err("give limit or limit_ns, not both".to_owned()),
        (limit_ns, limit) => limit_ns.or(limit.map(|limit| limit.0)),
    };
    let has_budget =
        written.objective.is_some() || written.period.is_some() || written.burn.is_some();
    let irregular = written.irregular;
    let given =
        [quantile.is_some(), share.is_some(), absence.is_some(), irregular.is_some(), has_budget];
    if given.iter().filter(|given| **given).count() > 1 {
        let why = "give one of quantile, share, absence, irregular, and objective with period";
        return Err(why.to_owned());
    }
    if let Some(times) = irregular {
        return match limit_ns {
            None => self::irregular(times, *window),
            Some(_) => Err("irregular: not with limit or limit_ns".to_owned()),
        };
    }
    if let Some(absence) = absence {
        return match (limit_ns, window) {
            (None, None) => Ok(Condition::Absence { window_ns: slid("absence", absence.0)? }),
            _ => Err("absence: not with limit, limit_ns or window".to_owned()),
        };
    }
    let limit_ns =
        limit_ns.ok_or("limit is missing: the longest allowed duration, as in \"1s\"")?;
    if has_budget {
        return match window {
            None => burn(written, limit_ns),
            Some(_) => Err("window: not with objective; burn has the windows".to_owned()),
        };
    }
    let window_ns = window.map_or(Ok(MINUTE_NS), |window| slid("window", window.0))?;
    Ok(match (quantile, share) {
        (Some(quantile), _) => {
            let quantile = fraction("quantile", *quantile)?;
            Condition::Quantile { limit_ns, quantile, window_ns }
        }
        (None, share) => {
            let share = share.map(|share| fraction("share", share)).transpose()?;
            Condition::Share { limit_ns, share: share.unwrap_or(DEFAULT_SHARE), window_ns }
        }
    })
}

fn irregular(times: f64, window: Option<Period>) -> Result<Condition, String> {
    if !(1.0..=1e6).contains(&times) {
        return Err(format!("irregular = {times}: expected a multiple of the usual, from 1 on"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 1 and 1e9")]
    let times = (times * FACTOR_ONE as f64).round() as u64;
    let window_ns = window.map_or(Ok(REGULARITY_WINDOW_NS), |window| slid("window", window.0))?;
    match window_ns.checked_mul(1 + PAST_WINDOWS).is_some_and(|all| all <= WINDOW_NS_MAX) {
        true => Ok(Condition::Irregular { times, window_ns }),
        false => Err(format!(
            "window = {:?}: with irregular at most {}, because {PAST_WINDOWS} windows before it are \
             counted as well",
            period(window_ns),
            period(WINDOW_NS_MAX / (1 + PAST_WINDOWS) / MINUTE_NS * MINUTE_NS),
        )),
    }
}

/// The length of a window by which others are slid: seconds, from a minute on minutes.
fn slid(key: &str, ns: u64) -> Result<u64, String> {
    let unit = if ns < MINUTE_NS { SECOND_NS } else { MINUTE_NS };
    match (SECOND_NS..=WINDOW_NS_MAX).contains(&ns) && ns.is_multiple_of(unit) {
        true => Ok(ns),
        false => Err(format!(
            "{key} = {:?}: expected whole seconds from 1 s to 59 s, or whole minutes up to 32 d",
            period(ns)
        )),
    }
}

/// A fraction of one, in parts of a billion.
fn fraction(key: &str, value: f64) -> Result<u64, String> {
    let parts = (value * ONE as f64).round();
    match parts >= 1.0 && parts < ONE as f64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within")]
        true => Ok(parts as u64),
        false => Err(format!("{key} = {value}: expected a number above 0 and below 1")),
    }
}

fn burn(written: &WrittenRule, limit_ns: u64) -> Result<Condition, String> {
    let (Some(objective), Some(period_ns)) = (written.objective, written.period) else {
        return Err("an error budget has objective, as in 0.997, and period, as in \"30d\"".into());
    };
    let (objective, period_ns) = (fraction("objective", objective)?, period_ns.0);
    let budget = ONE - objective;
    let windows = match &written.burn {
        None => WORKBOOK.map(|window| workbook(window, period_ns)).to_vec(),
        Some(windows) if windows.is_empty() => return Err("burn: expected a window".to_owned()),
        Some(windows) => windows.iter().map(burn_window).collect::<Result<_, _>>()?,
    };
    for window in &windows {
        let (factor, long) = (window.factor, period(window.long_ns));
        if window.long_ns > period_ns {
            return Err(format!("burn: the window of {long} is longer than the period"));
        }
        if u128::from(factor) * u128::from(budget) >= u128::from(FACTOR_ONE * ONE) {
            return Err(format!(
                "burn: with objective = {} and the factor {} of the window of {long} the rule \
                 can never fire: the factor has to be below {}",
                objective as f64 / ONE as f64,
                factor as f64 / FACTOR_ONE as f64,
                ONE as f64 / budget as f64,
            ));
        }
    }
    Ok(Condition::Burn { limit_ns, budget, period_ns, windows })
}

/// A pair of the workbook's windows: its factor uses up so many percents of the budget.
const fn workbook((long_ns, short_ns, percents): (u64, u64, u64), period_ns: u64) -> BurnWindow {
    // In u128 no period overflows; a factor that does not fit would be refused anyway.
    let factor = period_ns as u128 * percents as u128 * FACTOR_ONE as u128 / 100 / long_ns as u128;
    #[expect(clippy::cast_possible_truncation, reason = "a period has at most 2^64 ns")]
    BurnWindow { long_ns, short_ns, factor: factor as u64 }
}

fn burn_window(written: &WrittenBurn) -> Result<BurnWindow, String> {
    let WrittenBurn { long, short, factor } = *written;
    let minutes = |key: &str, ns: u64| match ns.is_multiple_of(MINUTE_NS) {
        true => slid(key, ns),
        false => Err(format!("burn: {key} = {:?}: expected whole minutes", period(ns))),
    };
    let (long_ns, short_ns) = (minutes("long", long.0)?, minutes("short", short.0)?);
    if short_ns >= long_ns {
        return Err("burn: short has to be shorter than long".to_owned());
    }
    let parts = (factor * FACTOR_ONE as f64).round();
    if !(1.0..1e9).contains(&parts) {
        return Err(format!("burn: factor = {factor}: expected a number above 0"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 1 and 1e9")]
    Ok(BurnWindow { long_ns, short_ns, factor: parts as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the module's documentation.
    fn example() -> String {
        let lines = include_str!("file.rs").lines().filter_map(|line| line.strip_prefix("//!"));
        let lines = lines.map(str::trim_start).skip_while(|line| *line != "```toml").skip(1);
        lines.take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect()
    }

    #[test]
    fn the_example_says_what_each_rule_means() {
        let rules = RuleFile::parse(&example()).unwrap().rules;
        let sentences: Vec<String> = rules.iter().map(Rule::sentence).collect();
        let expected = [
            "CWP::TargetView_redraw: fires when 0.3 % or more of CWP::TargetView_redraw take longer \
             than 20 ms, over 1 min; judged every 1 min; clears with the first judgement that holds.",
            "MRTS::decodePlots → CWP::TargetView_redraw at level 4: fires when 0.3 % or more of \
             MRTS::decodePlots → CWP::TargetView_redraw at level 4 take longer than 1 s, over 1 min; \
             judged every 1 min; clears with the first judgement that holds.",
            "MRTS::decodePlots → CWP::TargetView_redraw at level 4 arrivals: fires when 0.3 % or \
             more of the roots of MRTS::decodePlots → CWP::TargetView_redraw at level 4 that start \
             within 1 min have no leaf within 1 s; judged every 1 min; clears with the first \
             judgement that holds.",
            "redraw-p99: fires when the 0.99 quantile of CWP::TargetView_redraw is longer than 20 \
             ms, over 5 min, in 3 judgements in a row; judged every 1 min; clears after 5 judgements \
             in a row that hold; reminds every 30 min.",
            "Shop::order → Parcels::ship: fires when 0.3 % or more of Shop::order → Parcels::ship \
             with region=eu take longer than 1 s, over 1 min, for each tenant by itself; judged every \
             1 min; clears with the first judgement that holds.",
            "MRTS::decodePlots → CWP::TargetView_redraw: fires when no MRTS::decodePlots → \
             CWP::TargetView_redraw has ended for 10 s; judged every 2 s; clears with the first \
             judgement that holds.",
            "irregular-radar: fires when the intervals between the ends of MRTS::receiveRadarData vary, \
             over 5 min, by more than 3 times what is usual, for each radar by itself; judged every 1 \
             min; clears with the first judgement that holds.",
            "display-budget: fires when the error budget of MRTS::decodePlots → \
             CWP::TargetView_redraw (99.7 % within 1 s over 30 d) is used up 14.4 times faster than \
             allowed over the last 1 h and over the last 5 min (more than 4.32 % are slower in \
             both); judged every 1 min; clears with the first judgement that holds.",
        ];
        assert_eq!(sentences, expected);
    }

    #[test]
    fn the_workbooks_windows_are_taken_where_none_are_given() {
        let text = "[[limit]]\nclass = 'a'\nlimit = '1s'\nobjective = 0.999\nperiod = '30d'";
        let rules = RuleFile::parse(text).unwrap().rules;
        let Condition::Burn { windows, budget, .. } = &rules[0].condition else { panic!() };
        let factors: Vec<u64> = windows.iter().map(|window| window.factor).collect();
        assert_eq!((factors, *budget), (vec![14_400, 6_000, 1_000], 1_000_000));
        assert_eq!(rules[0].slots_max(), 72 * 60);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let cases = [
            ("[[limit]]\nlimit_ns = 1", 1, "a limit is of a class"),
            ("[[limit]]\nclass = 'a'\nroot = 'b'\nlimit_ns = 1", 1, "a limit is of a class"),
            ("[[limit]]\nclass = 'a'\nlevel = 3\nlimit_ns = 1", 1, "a limit is of a class"),
            ("[[limit]]\nroot = 'a'\nlimit_ns = 1", 1, "a limit is of a class"),
            ("[[limit]]\nclass = 'a'\narrivals = 'each-root'\nlimit_ns = 1", 1, "of a class"),
            ("[[limit]]\nroot = 'a'\nleaf = 'b'\narrivals = 'some'\nlimit_ns = 1", 4, "some"),
            ("\n[[limit]]\nclass = 'a'", 2, "limit is missing"),
            ("[[limit]]\nclass = 'a'\nlimit = '1 fortnight'", 3, "not a duration"),
            ("[[limit]]\nclass = 'a'\nlimit = '1s'\nlimit_ns = 1", 1, "not both"),
            ("[[limit]]\nclass = 'a'\nlimit = '1s'\nshare = 1.0", 1, "share = 1"),
            ("[[limit]]\nclass = 'a'\nlimit = '1s'\nwindow = '90s'", 1, "whole minutes"),
            ("[[limit]]\nclass = 'a'\nlimit = '1s'\nfires_after = 0", 1, "fires_after = 0"),
            ("[[limit]]\nclass = 'a'\nabsence = '10s'\nlimit = '1s'", 1, "absence: not with"),
            ("[[limit]]\nclass = 'a'\nirregular = 3\nlimit = '1s'", 1, "irregular: not with"),
            ("[[limit]]\nclass = 'a'\nirregular = 0.5", 1, "irregular = 0.5"),
            ("[[limit]]\nclass = 'a'\nirregular = nan", 1, "irregular = NaN"),
            ("[[limit]]\nclass = 'a'\nirregular = 3\nwindow = '10d'", 1, "are counted as well"),
            ("[[limit]]\nclass = 'a'\nirregular = 3\nabsence = '9s'", 1, "give one of"),
            ("[[limit]]\nclass = 'a'\nlimit = '1s'\nobjective = 0.9", 1, "and period"),
            (
                "[[limit]]\nclass = 'a'\nlimit = '1s'\nobjective = 0.9\nperiod = '30d'",
                1,
                "never fire",
            ),
            ("[[limit]]\nclass = 'a'\nlimit = '1s'\n\n\nlimits = 4", 6, "unknown field"),
            ("[[limit]]\nclass = 'a'\nabsence = '9s'\nby = 'k'", 1, "absence: not with by"),
            ("[[limit]]\nclass = 'a'\nlimit = '1s'\nwhere = ['=x']", 1, "no key"),
            ("[[limit]]\nclass = 'a'\nlimit = '1s'\nby = ''", 1, "no key"),
            (
                "[[limit]]\nroot = 'a'\nleaf = 'b'\nlimit = '1s'\narrivals = 'each-root'\n\
                 where = ['k=v']",
                1,
                "with where root.KEY alone",
            ),
            (
                "[[limit]]\nroot = 'a'\nleaf = 'b'\nlimit = '1s'\narrivals = 'each-root'\nby = 'k'",
                1,
                "arrivals: not with by",
            ),
            (
                "[[limit]]\nname = 'n'\nclass = 'a'\nlimit = '1s'\nby = 'k'\n[[limit]]\n\
                 name = 'n[k=v]'\nclass = 'a'\nlimit = '1s'",
                1,
                "a group of another rule",
            ),
            ("limits = 3", 1, "unknown field"),
            ("[[limit]]\nclass = ", 2, ""),
            (
                "[[limit]]\nname = 'n'\nclass = 'a'\nlimit_ns = 1\n[[limit]]\nname = 'n'\nclass = 'b'\n\
                 limit_ns = 1",
                5,
                "two rules have it",
            ),
        ];
        for (text, line, message) in cases {
            let error = RuleFile::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn a_rule_of_groups_makes_a_rule_for_each_value() {
        let text = "[[limit]]\nname = 'slow'\nroot = 'a'\nleaf = 'b'\nlimit = '1s'\n\
                    where = ['region=eu']\nby = 'tenant'";
        let rule = RuleFile::parse(text).unwrap().rules.remove(0);
        assert!(!rule.is_plain_limit(), "the page's limits are on all durations");
        assert_eq!(
            rule.sentence(),
            "slow: fires when 0.3 % or more of a → b with region=eu take longer than 1 s, over 1 \
             min, for each tenant by itself; judged every 1 min; clears with the first judgement \
             that holds."
        );
        let acme = rule.of_group("a]b=c").unwrap();
        assert_eq!(
            (acme.name.as_str(), acme.group_of.as_deref()),
            ("slow[tenant=a]b=c]", Some("slow"))
        );
        assert_eq!(acme.what(), "a → b with region=eu and tenant=a]b=c");
        assert_eq!(rule.value_of_group(&acme.name), Some("a]b=c"));
        assert_eq!((rule.value_of_group("slow"), acme.of_group("x")), (None, None));
    }

    #[test]
    fn rules_without_a_name_are_told_apart() {
        let text = "[[limit]]\nclass = 'a'\nlimit_ns = 1\n".repeat(2);
        let names: Vec<_> =
            RuleFile::parse(&text).unwrap().rules.into_iter().map(|rule| rule.name).collect();
        assert_eq!(names, ["a", "a (2)"]);
    }
}
