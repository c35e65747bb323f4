//! `chronoscope chains`: how long chains take, and whether that is in time.

use super::durations_out::DurationsFormat;
use crate::args::{Arrivals, Chains, Distinct, Inputs, Measured, Span};
use crate::arrivals;
use crate::causes::{Remark, Stamps, likely};
use crate::exit::Exit;
use crate::picture::Picture;
use crate::screen::{asked, show};
use crate::suggest::did_you_mean;
use crate::text::{self, Align, Table, bar, duration};
use crate::times::Zone;
use crate::usage::Usage;
use anyhow::{Context, Result};
use chronoscope_chain::{
    ChainStatus, ClassSelector, Distribution, LeafLevel, PartStatistics, QUANTILES, VerdictState,
};
use chronoscope_figures::numbers::percent;
use chronoscope_formats::json::document;
use chronoscope_model::{ChainId, ClassName, Status};
use chronoscope_query::{
    Answer, AttributeFilter, AttributeGroup, AttributeGroups, AttributeKey, AttributePlace,
    AttributeSelection, ClockQuality, Clocks, DurationKind, FanInAnswer, GROUPS_MAX, GroupValue,
    InputCase, Limits, PathAnswer, Point, QueryError, Question, Receivers, Required, StoreLocation,
    StoreView, VALUES_MAX, VerdictSubject,
};
use chronoscope_statistics::Bins;
use chronoscope_statistics::{Quantile, nearest_rank};
use serde_json::{Value, json};
use std::fmt::Write;
use std::ops::Range;

const TERMINAL_BINS: usize = 20;
const BAR_CELLS: usize = 50;
const SLOWEST: usize = 3;
/// Largest number of classes that a message names: a store may have a hundred thousand.
const NAMED_MAX: usize = 30;
/// Largest number of groups in a table.
pub(crate) const GROUPS_SHOWN: usize = 40;

/// Runs the command.
pub(crate) fn chains(args: &Chains) -> Result<Exit> {
    let zone = Zone::new(args.span.utc);
    // A name of no format is an error before anything is read.
    args.durations.as_deref().map(DurationsFormat::of).transpose()?;
    let question = question(args, &zone)?;
    if let Some(inputs) = args.inputs {
        return fan_in(args, &question, inputs, &zone);
    }
    let (answer, slowest, known) = stored(&args.data.source()?, |view| {
        let limits = Limits::default();
        let answer = asked(|progress| view.ask_watched(&question, &limits, progress))?;
        let slowest = slowest(view, &answer)?;
        // Read only where they are printed.
        let known = if answer.distribution.is_none() { view.names()? } else { Vec::new() };
        Ok((answer, slowest, known))
    })?;
    if args.correct_clocks && answer.clocks.is_none() {
        say!("--correct-clocks: the store has no clock readings; durations are not corrected");
    }
    if args.json {
        let mut part = chronoscope_server::answer(&answer);
        part["slowest"] = slowest.iter().map(slow_json).collect();
        chronoscope_server::add_filters(&mut part, &question.attributes);
        show(&format!("{:#}\n", document("chains", part)))?;
    } else {
        show(&page(&question, &answer, &slowest, &zone))?;
    }
    let roots = answer.arrivals.as_ref().map_or(0, |arrivals| arrivals.totals.roots);
    match &answer.distribution {
        Some(distribution) => write_files(args, &question, &answer, distribution, &zone)?,
        // Roots of which none arrived are a valid answer when the leaf class exists.
        None if roots > 0 && is_known(question.leaf.as_ref(), &known) => {}
        None => {
            say_nothing_found(&question, &answer, &known);
            return Ok(Exit::Nothing);
        }
    }
    Ok(checked(args, &answer))
}

/// The command with `--inputs`: over parents and links.
fn fan_in(args: &Chains, question: &Question, inputs: Inputs, zone: &Zone) -> Result<Exit> {
    let case = match inputs {
        Inputs::All => InputCase::All,
        Inputs::Best => InputCase::Best,
        Inputs::Worst => InputCase::Worst,
        Inputs::Age => InputCase::Age,
    };
    let about_roots = matches!(question.judged, VerdictSubject::Roots { .. });
    if about_roots && case != InputCase::All {
        return Err(Usage::new(
            "which roots arrived is known with --inputs all only: the best and the worst input and \
             the age of messages are of leaves",
        )
        .into());
    }
    let judged = if case == InputCase::All { question.judged } else { VerdictSubject::Durations };
    let question = Question { judged, split: false, ..question.clone() };
    let (found, slowest, known) = stored(&args.data.source()?, |view| {
        let limits = Limits::default();
        let found = asked(|progress| view.ask_inputs(&question, case, &limits, progress))?;
        let slowest = found.slowest.iter().map(|(at, chain)| Slow::of(view, *at, Some(*chain)));
        let slowest = slowest.collect::<Result<Vec<_>, _>>()?;
        let known = if found.answer.distribution.is_none() { view.names()? } else { Vec::new() };
        Ok((found, slowest, known))
    })?;
    let answer = &found.answer;
    if args.json {
        let mut part = chronoscope_server::answer(answer);
        part["slowest"] = slowest.iter().map(slow_json).collect();
        part["inputs"] = chronoscope_server::inputs(case, &found);
        show(&format!("{:#}\n", document("chains", part)))?;
    } else {
        show(&(page(&question, answer, &slowest, zone) + &input_lines(inputs, &found)))?;
    }
    let roots = answer.arrivals.as_ref().map_or(0, |arrivals| arrivals.totals.roots);
    match &answer.distribution {
        Some(distribution) => write_files(args, &question, answer, distribution, zone)?,
        None if roots > 0 && is_known(question.leaf.as_ref(), &known) => {}
        None => {
            say_nothing_found(&question, answer, &known);
            return Ok(Exit::Nothing);
        }
    }
    Ok(checked(args, answer))
}

/// Names the durations over several parents that were measured, and the unknown parts of the graph.
fn input_lines(inputs: Inputs, found: &FanInAnswer) -> String {
    let what = match inputs {
        Inputs::All => "from each root above a leaf",
        Inputs::Best => "from the last root above each leaf (the freshest input)",
        Inputs::Worst => "from the first root above each leaf (the oldest input)",
        Inputs::Age => "from the start of each direct input to the start of the leaf (message age)",
    };
    let links = text::count(found.links);
    let mut lines = format!("\ninputs: {what}, over parents and {links} links\n");
    let counts = [
        (found.unknown_inputs, "links lead to transactions that are not in the store"),
        (found.counts.incomplete, "durations are of leaves above which something is missing"),
        (found.counts.root_missing, "leaves have no root: something above them is missing"),
        (
            found.counts.beyond_links,
            "leaves have ways of more than 8 links; these were not followed",
        ),
        (found.cut_edges, "parents and links were cut because they lie on a cycle"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        lines += &format!("  {} {what}\n", text::count(count));
    }
    lines
}

/// Exit code of the command.
fn checked(args: &Chains, answer: &Answer) -> Exit {
    let state = answer.verdict.map(|verdict| verdict.state());
    match state.filter(|_| args.check) {
        None | Some(VerdictState::Holds) => Exit::Done,
        Some(VerdictState::DoesNotHold) => Exit::CheckFailed,
        Some(VerdictState::Undetermined) => Exit::Undetermined,
    }
}

/// Asks the stored transactions, with what to do when there are none.
pub(crate) fn stored<T>(
    source: &StoreLocation,
    ask: impl FnMut(&StoreView) -> Result<T, QueryError>,
) -> Result<T> {
    source.with(ask).with_context(|| {
        format!(
            "cannot read {source} (chronoscope serve fills a store; --data DIR or --store URL name \
             another one)"
        )
    })
}

/// The time range of a command line.
pub(crate) fn range(span: &Span, zone: &Zone) -> Result<Range<i64>> {
    let now_ns = chronoscope_clock::utc_now_ns();
    Ok(zone.range(span.from.as_deref(), span.until.as_deref(), now_ns)?)
}

/// Filters and keys of a command line.
pub(crate) fn selection(
    filters: &[AttributeFilter],
    by: &[AttributeKey],
) -> Result<AttributeSelection, Usage> {
    AttributeSelection::new(filters.to_vec(), by.to_vec()).map_err(Usage::new)
}

/// The question about durations that a command line names.
pub(crate) fn measured_question(measured: &Measured) -> Question {
    let kind = match (&measured.sync, measured.apcd) {
        (Some(_), _) => DurationKind::Sync,
        (None, true) => DurationKind::Apcd,
        (None, false) => DurationKind::Acpd,
    };
    let root = measured.sync.as_ref().or(measured.root.as_ref()).cloned().unwrap_or_default();
    Question {
        kind,
        root: ClassSelector(root),
        leaf: measured.leaf.clone().map(ClassSelector),
        level: measured.level,
        ..Question::sync("")
    }
}

fn question(args: &Chains, zone: &Zone) -> Result<Question> {
    let measured = measured_question(&args.measured);
    Ok(Question {
        start_ns: range(&args.span, zone)?,
        attributes: selection(&args.filters, &args.by)?,
        limit_ns: Some(u64::try_from(args.limit.as_nanos())?),
        judged: judged(args)?,
        split: measured.kind == DurationKind::Acpd && !args.no_split,
        points: true,
        clocks: if args.correct_clocks { Clocks::Corrected } else { Clocks::Raw },
        ..measured
    })
}

/// The population that the verdict judges.
fn judged(args: &Chains) -> Result<VerdictSubject> {
    let Arrivals { each_root, leaves, distinct, timeout, arrived } = &args.arrivals;
    let judges_roots =
        *each_root || *arrived || leaves.is_some() || distinct.is_some() || timeout.is_some();
    let of_others = args.filters.iter().find(|filter| filter.key.place != AttributePlace::Root);
    if let Some(filter) = of_others.filter(|_| judges_roots) {
        return Err(Usage::new(format!(
            "--where {filter}: which roots without a leaf would pass it is not known; roots are judged \
             with --where root.KEY"
        ))
        .into());
    }
    let required = match (arrived, each_root, leaves) {
        (true, ..) => return Ok(VerdictSubject::Arrived),
        (_, true, _) => Required::AtLeast(1),
        (_, _, Some(required)) => *required,
        (false, false, None) if distinct.is_none() && timeout.is_none() => {
            return Ok(VerdictSubject::Described);
        }
        (false, false, None) => Required::AtLeast(1),
    };
    let timeout_ns = timeout.map(|time| u64::try_from(time.as_nanos())).transpose()?;
    if timeout.is_some_and(|timeout| timeout < args.limit) {
        let reason = "--timeout is shorter than --limit: a root must stay open for at least the \
                      limit";
        return Err(Usage::new(reason).into());
    }
    let receivers = distinct.map(|distinct| match distinct {
        Distinct::Process => Receivers::Processes,
        Distinct::Host => Receivers::Hosts,
    });
    Ok(VerdictSubject::Roots { required, receivers, timeout_ns })
}

/// One of the slowest durations, with its chain for `chronoscope chain` and the chain's status.
struct Slow {
    point: Point,
    chain: Option<ChainId>,
    status: Option<Status>,
}

impl Slow {
    fn of(view: &StoreView, point: Point, chain: Option<ChainId>) -> Result<Self, QueryError> {
        let near = point.start_ns..point.start_ns.saturating_add(1);
        let rows = chain.map(|id| view.chain(id, Some(near))).transpose()?;
        let rows = rows.map(|(rows, _)| rows).filter(|rows| !rows.is_empty());
        Ok(Self { point, chain, status: rows.map(|rows| ChainStatus::of(&rows).status) })
    }
}

fn slowest(view: &StoreView, answer: &Answer) -> Result<Vec<Slow>, QueryError> {
    let mut slowest: Vec<Point> = Vec::new();
    for point in &answer.points {
        if slowest.len() == SLOWEST && slowest[SLOWEST - 1].duration_ns >= point.duration_ns {
            continue;
        }
        // Leaves of one root share its start: one line for each root.
        match slowest.iter_mut().find(|known| known.start_ns == point.start_ns) {
            Some(known) => known.duration_ns = known.duration_ns.max(point.duration_ns),
            None => slowest.push(*point),
        }
        slowest.sort_by_key(|point| std::cmp::Reverse(point.duration_ns));
        slowest.truncate(SLOWEST);
    }
    let found = |point: Point| Slow::of(view, point, view.locate(&point)?);
    slowest.into_iter().map(found).collect()
}

fn slow_json(Slow { point, chain, status }: &Slow) -> Value {
    json!({
        "start_ns": point.start_ns,
        "duration_ns": point.duration_ns,
        "chain": chain.map(|chain| chain.to_string()),
        "status": status.map(Status::name),
    })
}

fn slow_lines(slowest: &[Slow], zone: &Zone) -> String {
    let mut text = "\nslowest, for chronoscope chain ID:\n".to_owned();
    for Slow { point, chain, status } in slowest {
        let chain = chain.map_or("not found".to_owned(), |chain| chain.to_string());
        let bad = status.filter(|status| *status != Status::Good);
        let bad = bad.map_or_else(String::new, |status| format!("  {status}"));
        let (at, time) = (zone.instant(point.start_ns), duration(point.duration_ns as f64));
        text += &format!("  {at}  {time:>12}  {chain}{bad}\n");
    }
    if slowest.is_empty() { String::new() } else { text }
}

/// The question in words: `decodePlots to TargetView_redraw (ACPD, any level), tenant=acme`.
pub(crate) fn title(question: &Question) -> String {
    let filters = question.attributes.filters().iter();
    let words = std::iter::once(measured(question)).chain(filters.map(ToString::to_string));
    words.collect::<Vec<_>>().join(", ")
}

/// What is measured, in words.
fn measured(question: &Question) -> String {
    let level = match question.level {
        LeafLevel::Any => "any level".to_owned(),
        LeafLevel::Exactly(level) => format!("level {level}"),
    };
    match (question.kind, &question.leaf) {
        (DurationKind::Sync, _) => format!("{} (elapsed)", question.root),
        (DurationKind::Apcd, _) => format!("{} to the end of its chain (APCD)", question.root),
        (DurationKind::Acpd, Some(leaf)) => format!("{} to {leaf} (ACPD, {level})", question.root),
        (DurationKind::Acpd, None) => format!("{} to every leaf (ACPD, {level})", question.root),
    }
}

fn page(question: &Question, answer: &Answer, slowest: &[Slow], zone: &Zone) -> String {
    let mut page = format!("{}\n", title(question));
    if let Some(covered) = &answer.covered_ns {
        let (from, to) = (zone.instant(*covered.start()), zone.instant(*covered.end()));
        page += &format!("from {from} to {to} ({})\n", zone.name());
    }
    if let Some(distribution) = &answer.distribution {
        page += &format!("\n{}\n{}", numbers(distribution, answer), histogram(answer));
    }
    page += &answer.groups.as_ref().map_or(String::new(), groups);
    page += &answer.arrivals.as_ref().map_or(String::new(), |found| arrivals::lines(found, zone));
    if answer.paths.len() > 1 || answer.paths.iter().any(|path| path.split.is_some()) {
        for path in &answer.paths {
            page += &format!("\n{}", by_path(path));
        }
    }
    page += &answer.clocks.as_ref().map_or(String::new(), clocks);
    page += &slow_lines(slowest, zone);
    page += &remarks(question, answer);
    if let Some(verdict) = answer.verdict.filter(|verdict| verdict.count > 0) {
        page += &format!("\n{verdict}\n");
        page += &arrivals::what_decides(question, answer, &verdict, zone);
    }
    page
}

fn numbers(d: &Distribution, answer: &Answer) -> String {
    let mut rows = vec![
        ("chains".to_owned(), text::count(d.count)),
        ("min".to_owned(), duration(d.min_ns as f64)),
        ("mean".to_owned(), duration(d.mean_ns)),
        ("median".to_owned(), duration(d.median_ns() as f64)),
        ("sd".to_owned(), duration(d.sd_ns)),
    ];
    let beyond_the_median = QUANTILES.iter().zip(d.quantiles_ns).skip(1);
    rows.extend(beyond_the_median.map(|(q, ns)| (q.to_string(), duration(ns as f64))));
    rows.push(("max".to_owned(), duration(d.max_ns as f64)));
    let mut text = String::new();
    for (name, value) in rows {
        text += &format!("  {name:<10}{value:>14}\n");
    }
    if let Some(verdict) = answer.verdict {
        // Verdict on the durations; roots that did not arrive follow below.
        let requirement = verdict.requirement;
        let above = requirement.judge(&answer.durations_ns).above();
        let (limit, share) = (duration(requirement.limit_ns as f64), text::percent(above, d.count));
        text += &format!("  above the limit of {limit}: {} ({share})\n", text::count(above));
    }
    let (bound, share) = (duration(d.three_sigma_ns()), text::percent(d.above_3_sigma, d.count));
    let above = text::count(d.above_3_sigma);
    text += &format!("  above 3 sigma (median + 3 sd = {bound}): {above} ({share})\n");
    text
}

/// Twenty bins up to the 99.9 % quantile, and what lies beyond as one more.
fn histogram(answer: &Answer) -> String {
    let durations = &answer.durations_ns;
    let (Some(first), Some(shown)) = (durations.first(), nearest_rank(durations, Quantile::P99_9))
    else {
        return String::new();
    };
    let bins = Bins::of_ascending(durations, *first..shown.max(*first) + 1, TERMINAL_BINS);
    let largest = bins.counts.iter().copied().max().unwrap_or(0);
    let mut table = Table::new(&["  from", "chains", ""]);
    for (index, count) in bins.counts.iter().enumerate() {
        table.row(vec![
            format!("  {}", duration(bins.edge_ns(index) as f64)),
            text::count(*count),
            format!("{:<BAR_CELLS$}", bar(*count, largest, BAR_CELLS)),
        ]);
    }
    if bins.above > 0 {
        let from = format!("  {} and more", duration(bins.range_ns.end as f64));
        let drawn = format!("{:<BAR_CELLS$}", bar(bins.above, largest, BAR_CELLS));
        table.row(vec![from, text::count(bins.above), drawn]);
    }
    table.to_string()
}

/// The durations by the values of attributes.
fn groups(found: &AttributeGroups) -> String {
    let mut heading: Vec<String> = found.by.iter().map(ToString::to_string).collect();
    heading.extend(["chains", "mean", "median", "p99", "max", "above"].map(str::to_owned));
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let mut table = Table::new(&heading).aligned(found.by.iter().map(|_| Align::Left));
    for AttributeGroup { values, distribution: d, above, .. } in
        found.groups.iter().take(GROUPS_SHOWN)
    {
        let mut row: Vec<String> = values.iter().map(value_text).collect();
        row.push(text::count(d.count));
        let times = [d.mean_ns, d.median_ns() as f64, d.quantiles_ns[2] as f64, d.max_ns as f64];
        row.extend(times.map(duration));
        row.push(above.map_or(text::UNKNOWN.to_owned(), |above| {
            format!("{} ({})", text::count(above), text::percent(above, d.count))
        }));
        table.row(row);
    }
    let more = found.groups.len().saturating_sub(GROUPS_SHOWN);
    format!("\n{table}{}", more_groups(more, found.merged, &found.by, &found.cut))
}

/// A value on one line of a terminal, cut where it is long.
pub(crate) fn value_text(value: &GroupValue) -> String {
    const LETTERS_MAX: usize = 40;
    let text = value.to_string().replace(['\n', '\r', '\t'], " ");
    match text.char_indices().nth(LETTERS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// What a table of groups does not show.
pub(crate) fn more_groups(more: usize, merged: u64, by: &[AttributeKey], cut: &[bool]) -> String {
    let mut lines = String::new();
    if more > 0 {
        lines += &format!("  {} more groups (--json lists them)\n", text::count(more as u64));
    }
    if merged > 0 {
        let merged = text::count(merged);
        lines += &format!("  {merged} groups beyond the {GROUPS_MAX} largest are in (others)\n");
    }
    for (key, _) in by.iter().zip(cut).filter(|(_, cut)| **cut) {
        let most = text::count(VALUES_MAX as u64);
        lines += &format!("  {key} has more than {most} values: the rest is in (others)\n");
    }
    lines
}

fn by_path(path: &PathAnswer) -> String {
    let d = &path.distribution;
    let mut text = format!(
        "path {}\n  {} chains, mean {}, {} {}\n",
        path.path,
        text::count(d.count),
        duration(d.mean_ns),
        Quantile::P99,
        duration(d.quantiles_ns[2] as f64),
    );
    let Some(split) = &path.split else { return text };
    let mut table = Table::new(&[
        "  where the time goes",
        "inside mean",
        "p50",
        "p99",
        "waiting behind it, mean",
        "p50",
        "p99",
    ]);
    let cells = |part: &PartStatistics| {
        let quantile = |q| part.quantile_ns(q).map(|ns| ns as f64);
        [part.mean_ns(), quantile(Quantile::P50), quantile(Quantile::P99)]
            .map(|ns| ns.map_or("–".to_owned(), duration))
    };
    let last = split.hops.len().saturating_sub(1);
    for (index, (hop, (inside, waiting))) in path.hops.iter().zip(&split.hops).enumerate() {
        let mut row = vec![format!("  {hop}")];
        row.extend(cells(inside));
        if index < last {
            row.extend(cells(waiting));
        }
        table.row(row);
    }
    let _ = write!(text, "{table}");
    text
}

/// Error bounds of durations that go from one host to another.
fn clocks(quality: &ClockQuality) -> String {
    let ClockQuality { corrected, durations, crossings } = quality;
    let (count, all) = (text::count(crossings.count), text::count(*durations));
    if crossings.count == 0 {
        return String::new();
    }
    let mut line = format!("\nclocks: {count} of {all} durations cross hosts");
    if *corrected {
        line += ", corrected by the clocks' offsets";
    }
    if let Some(mean) = crossings.error_ns_mean() {
        let most = duration(crossings.error_ns_max as f64);
        line += &format!(", uncertain by up to ±{most} (mean ±{}", duration(mean));
        let share = crossings.share_mean();
        line += &share.map_or(String::new(), |share| format!(", {} of them", percent(share, 1)));
        line += ")";
    }
    if let Some(shortest) = crossings.shortest.filter(|shortest| shortest.is_explained()) {
        let shortest = duration(shortest.duration_ns as f64).replace('-', "−");
        line += &format!("; minimum {shortest} is explained by it");
    }
    line += "\n";
    let lines = [
        (crossings.explained, "are not longer than what the clocks may be off by"),
        (crossings.unknown, "are from or to a host whose clock was never read"),
    ];
    for (count, what) in lines.into_iter().filter(|(count, _)| *count > 0) {
        line += &format!("  {} {what}\n", text::count(count));
    }
    line
}

/// Durations that were left out or are used with reservations; a line only for cases that occur.
fn remarks(question: &Question, answer: &Answer) -> String {
    let (counts, losses) = (&answer.counts, &answer.losses);
    let one_host = answer.clocks.as_ref().is_some_and(|clocks| clocks.crossings.count == 0);
    let before = likely(if one_host {
        Remark::BeforeParentOnOneHost
    } else {
        Remark::BeforeParentAcrossHosts
    });
    let before = format!("used, though the leaf starts before its parent ({before})");
    let repeated =
        format!("rows left out: another has the same id ({})", likely(Remark::RepeatedId));
    let cut = counts.incomplete + counts.root_missing + losses.unsplit > 0;
    let deleted = match cut {
        true => "rows of this time were deleted on request: missing ones may be among them",
        false => "rows of this time were deleted on request: they are in no number here",
    };
    let lines = [
        (counts.incomplete, "used, though a transaction between root and leaf is missing"),
        (counts.before_parent, &before),
        (counts.foreign, "put together from rows without ancestors"),
        (counts.negative, "left out: they end before their root starts (clocks disagree)"),
        (counts.root_missing, "left out: their root is not in the store"),
        (counts.duplicates, &repeated),
        (losses.unsplit, "not split: a transaction on the way is missing"),
        (
            losses.lost_rows,
            "rows were lost at any time before they were read (rings lapped or full)",
        ),
        (
            losses.uncounted_losses,
            "times rows were lost that nobody counted (rings damaged, or removed unread)",
        ),
        (losses.damaged_rows, "rows are damaged in the store"),
        (losses.expired_rows, "rows were removed for their age or for space"),
        (losses.deleted_rows(), deleted),
    ];
    let mut text = String::new();
    for (count, what) in lines.into_iter().filter(|(count, _)| *count > 0) {
        text += &format!("  {} {what}\n", text::count(count));
    }
    for damage in &losses.damage {
        text += &format!("  damaged: {damage}\n");
    }
    let mut stamps = Stamps::default();
    let (application, class) = question.root.0.split_once("::").unwrap_or((&question.root.0, ""));
    let root = ClassName { application: application.to_owned(), class: class.to_owned() };
    answer.points.iter().for_each(|point| stamps.add(&root, point.start_ns));
    for remark in stamps.remarks() {
        text += &format!("  {remark}\n");
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Whether a class is among those of the store.
fn is_known(class: Option<&ClassSelector>, known: &[ClassName]) -> bool {
    class.is_none_or(|class| known.iter().any(|name| class.selects(name)))
}

fn say_nothing_found(question: &Question, answer: &Answer, known: &[ClassName]) {
    let asked = [Some(&question.root), question.leaf.as_ref()].into_iter().flatten();
    let unknown = asked.filter(|class| !is_known(Some(class), known));
    let meant: String = unknown.map(|class| did_you_mean(&class.0, known)).collect();
    let more = known.len().saturating_sub(NAMED_MAX);
    let named: Vec<_> = known.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    let known = match (named.is_empty(), more) {
        (true, _) => "none yet".to_owned(),
        (_, 0) => named.join(", "),
        _ => format!(
            "{} and {} more (chronoscope classes lists them)",
            named.join(", "),
            text::count(more as u64)
        ),
    };
    say!(
        "nothing found for {}, in {} rows.{meant} Classes in the store: {known}",
        title(question),
        text::count(answer.rows_read)
    );
    if answer.losses.deleted_rows() > 0 {
        let rows = text::count(answer.losses.deleted_rows());
        say!("{rows} rows of this time were deleted on request");
    }
}

/// Writes the files that were asked for: durations and pictures.
fn write_files(
    args: &Chains,
    question: &Question,
    answer: &Answer,
    d: &Distribution,
    zone: &Zone,
) -> Result<()> {
    let mut notes = vec![format!(
        "{} chains, mean {}, median {}, sd {}, {} {}, max {}",
        text::count(d.count),
        duration(d.mean_ns),
        duration(d.median_ns() as f64),
        duration(d.sd_ns),
        Quantile::P99_73,
        duration(d.quantiles_ns[3] as f64),
        duration(d.max_ns as f64),
    )];
    notes.extend(answer.verdict.map(|verdict| verdict.to_string()));
    let picture = Picture {
        title: &title(question),
        notes: &notes,
        durations_ns: &answer.durations_ns,
        points: &answer.points,
        limit_ns: question.limit_ns,
        zone,
    };
    if let Some(path) = &args.durations {
        DurationsFormat::of(path)?.write(path, &answer.points)?;
    }
    if let Some(path) = &args.svg {
        picture.write_svg(path)?;
    }
    if let Some(path) = &args.png {
        picture.write_png(path)?;
    }
    Ok(())
}
