//! `chronoscope contrast`: the attribute values by which slow durations differ from others, or one
//! time from another.

use super::chains::{measured_question, range, selection, stored, title, value_text};
use crate::args::Contrast;
use crate::exit::Exit;
use crate::screen::{asked, show};
use crate::text::{self, Align, Table, duration};
use crate::times::Zone;
use crate::usage::Usage;
use anyhow::Result;
use chronoscope_figures::numbers::{decimal, percent, signed_duration, signed_percent};
use chronoscope_formats::json::document;
use chronoscope_query::{
    AttributeContrast, AttributeDifference, AttributeTest, ContrastSide, DurationCache, GroupValue,
    Limits, QueryEnvironment, QueryError, Question, StoreLocation, StoreView, compared_attributes,
    slow_attributes,
};
use chronoscope_store::{Snapshot, StoreError};

/// Largest number of values in a table.
const SHOWN: usize = 20;

/// Runs the command.
pub(crate) fn contrast(args: &Contrast) -> Result<Exit> {
    let zone = Zone::new(args.span.utc);
    let question = Question {
        start_ns: range(&args.span, &zone)?,
        attributes: selection(&args.filters, &[])?,
        ..measured_question(&args.measured)
    };
    let other = other(args, &question, &zone)?;
    let most = args.sample.into();
    let found = stored(&args.data.source()?, |view| {
        asked(|progress| {
            let (limits, cache) = (Limits::default(), DurationCache::default());
            let asking = QueryEnvironment { limits: &limits, progress, cache: &cache };
            let rows = view.rows_of(&[&question], &limits, progress)?;
            match &other {
                None => Ok(slow_attributes(&rows, &question, (args.above, most), &asking)?),
                Some((store, b)) => with_b((store.as_ref(), b), view, &asking, |second| {
                    compared_attributes((&rows, &question), (second, b), most, &asking)
                }),
            }
        })
    })?;
    if args.json {
        let mut part = chronoscope_server::contrast(&found);
        chronoscope_server::add_filters(&mut part, &question.attributes);
        show(&format!("{:#}\n", document("contrast", part)))?;
    } else {
        show(&page(&question, &found, other.is_some()))?;
    }
    for damage in &found.damage {
        say!("damaged: {damage}");
    }
    let is_empty = found.usual.total + found.other.total == 0;
    if is_empty {
        say!("nothing found for {}", title(&question));
    }
    Ok(if is_empty { Exit::Nothing } else { Exit::Done })
}

/// The store of B, where it is another one, and its question; `None` where slow durations are asked
/// for.
type OtherSide = Option<(Option<StoreLocation>, Question)>;

fn other(args: &Contrast, question: &Question, zone: &Zone) -> Result<OtherSide> {
    let given = [args.b_from.as_deref(), args.b_until.as_deref()];
    let store = args.b_data.clone().map(StoreLocation::Files);
    if store.is_none() && given == [None, None] {
        return Ok(None);
    }
    let now_ns = chronoscope_clock::utc_now_ns();
    let start_ns = zone.range_of(["--b-from", "--b-until"], given, now_ns)?;
    if store.is_none() && start_ns == question.start_ns {
        return Err(Usage::new("A and B are the same time of the same store").into());
    }
    Ok(Some((store, Question { start_ns, ..question.clone() })))
}

/// Asks with the rows of B, of another store or of the same.
fn with_b<T>(
    (other, b): (Option<&StoreLocation>, &Question),
    view: &StoreView,
    asking: &QueryEnvironment<'_>,
    ask: impl Fn(&Snapshot) -> Result<T, StoreError>,
) -> Result<T, QueryError> {
    let ask_view = |view: &StoreView| {
        let rows = view.rows_of(&[b], asking.limits, asking.progress)?;
        Ok(ask(&rows)?)
    };
    match other {
        None => ask_view(view),
        Some(other) => other.with(ask_view),
    }
}

fn page(question: &Question, found: &AttributeContrast, is_compared: bool) -> String {
    let [usual, other] = if is_compared { ["A", "B"] } else { ["others", "slow"] };
    let mut page = format!("{}\n", title(question));
    let sample = |name: &str, side: ContrastSide| {
        let (total, sampled) = (text::count(side.total), text::count(side.sampled));
        format!("{name} {total} (attributes of {sampled} read)")
    };
    page += &format!("{}, {}", sample(other, found.other), sample(usual, found.usual));
    page += &found
        .limit_ns
        .map_or(String::new(), |limit_ns| format!("; slow is above {}", duration(limit_ns as f64)));
    page += &format!("\n\n{}\n", found.sentence);
    // Where the slow ones have one value more often they have the others less often.
    let shown: Vec<&AttributeDifference> = match is_compared {
        true => found.differences.iter().collect(),
        false => found.more_often().collect(),
    };
    if !shown.is_empty() {
        page += &format!("\n{}", table(&shown, [usual, other]));
    }
    let beyond = shown.len().saturating_sub(SHOWN) as u64;
    let less_often = (found.differences.len() - shown.len()) as u64;
    let counts = [
        (beyond, "more values differ (--json lists them)"),
        (less_often, "values are rarer among the slow (--json lists them)"),
        (found.looked_at, "values were looked at"),
        (found.rare, "values were not: too few of the durations that were read have them"),
    ];
    page += "\n";
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        page += &format!("  {} {what}\n", text::count(count));
    }
    page
}

fn table(shown: &[&AttributeDifference], [usual, other]: [&str; 2]) -> String {
    let heading = [
        "attribute",
        other,
        usual,
        "difference",
        "ratio",
        "mean with it",
        "median with it",
        "chance",
    ];
    let mut table = Table::new(&heading).aligned([Align::Left]);
    for difference in shown.iter().take(SHOWN) {
        let share = |share: f64| percent(share, 1);
        let shift = |ns: Option<f64>| ns.map_or(text::UNKNOWN.to_owned(), signed_duration);
        table.row(vec![
            name(difference),
            share(difference.other_share),
            share(difference.usual_share),
            signed_percent(difference.difference(), 1),
            difference.ratio().map_or("∞".to_owned(), |ratio| decimal(ratio, 1)),
            shift(difference.mean_shift_ns),
            shift(difference.median_shift_ns.map(|ns| ns as f64)),
            chance(difference.p_corrected),
        ]);
        for same in &difference.same {
            let mut row = vec![format!("  and {}", one_line(&same.to_string()))];
            row.resize(heading.len(), String::new());
            table.row(row);
        }
    }
    table.to_string()
}

/// A value on one line of a terminal.
fn name(difference: &AttributeDifference) -> String {
    match &difference.filter.test {
        AttributeTest::Exists => format!("{} (is there)", difference.filter),
        _ => one_line(&difference.filter.to_string()),
    }
}

fn one_line(text: &str) -> String {
    value_text(&GroupValue::Text(text.into()))
}

/// A corrected probability: below a thousandth it is not told apart.
fn chance(p: f64) -> String {
    if p <= 0.001 { "≤ 0.001".to_owned() } else { decimal(p, 3) }
}
