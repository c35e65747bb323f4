//! What each setting is worth (slide 15), and what blocking is (step 2).

use super::delay::{EQUAL, SMALL};
use super::length::smaller;
use super::{Printed, Rows, number, with};
use crate::outcome::ItemResults;
use anyhow::Result;
use serde_json::Value;

pub(super) fn factors(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.summary1");
    let optimised = series.table("Optimisations of application and API")?;
    api(&mut found, &optimised);
    let nagle = series.table("Nagle")?;
    waits(&mut found, &nagle);
    delay(&mut found, series)?;
    let columns = with(&[
        ("octets", "octets"),
        ("variant", "settings"),
        ("slides", "slide's measurement"),
        ("of_best", "of the first"),
        ("user_calls", "user's calls/CLTU"),
    ]);
    optimised.add_to(&mut found, "optimisations", &columns);
    let columns = with(&[
        ("octets", "octets"),
        ("window", "window"),
        ("nagle", "Nagle"),
        ("delayed_ack", "delayed ack"),
        ("us_per_cltu", "µs/CLTU"),
        ("slower", "slower by"),
        ("more_us", "more µs/CLTU"),
        ("timers_per_cltu", "40 ms timers/CLTU"),
        ("explained", "timers, of the time"),
        ("expected", "factor at the document's time"),
    ]);
    nagle.add_to(&mut found, "Nagle and delayed acknowledgement", &columns);
    Ok(found)
}

/// The variant whose API is not optimised.
const PLAIN: &str = "API plain (both)";

/// What the optimised API gains, and by what.
fn api(found: &mut ItemResults, optimised: &Rows<'_>) {
    let of = |name: &str, octets: f64| optimised.row(&[("variant", name)], &[("octets", octets)]);
    let calls = |name: &str| number(of(name, 1544.0), "user_calls");
    // In pairs of one pass of the series, of equal lengths.
    let gain = |name: &str, octets: f64| 1.0 / number(of(name, octets), "of_best");
    let factor = gain(PLAIN, 1544.0);
    found
        .figure("api_gain_pct", (factor - 1.0) * 100.0)
        .note("1544 octets, of our two switches together");
    found.figure("optimised_factor", factor).note(format!(
        "the median of interleaved pairs, 1544 octets; of 100 octets {:.2}. It depends on the length and \
         on how many PDUs leave in one write: one write for all alone brings {:.2} (100 octets: {:.2}), \
         the codec without declarations alone {:.2} ({:.2}); {:.2} system calls of the user for a CLTU, \
         {:.2} with the plain API",
        gain(PLAIN, 100.0),
        gain("a write for each PDU", 1544.0),
        gain("a write for each PDU", 100.0),
        gain("codec by declaration", 1544.0),
        gain("codec by declaration", 100.0),
        calls("everything optimised"),
        calls(PLAIN),
    ));
}

/// The window that the document's rates with large TCP windows correspond to, 1544 octets; what both
/// on cost there, and the timers that are the cause.
fn waits(found: &mut ItemResults, nagle: &Rows<'_>) {
    let is_both = |row: &&Value| row["nagle"] == "on" && row["delayed_ack"] == "on";
    let both = nagle.0.iter().filter(is_both).filter(|row| super::is(row, "octets", 1544));
    let most = both.max_by(|a, b| number(Some(a), "window").total_cmp(&number(Some(b), "window")));
    let window = number(most, "window");
    let off = nagle.row(
        &[("nagle", "off"), ("delayed_ack", "off")],
        &[("octets", 1544.0), ("window", window)],
    );
    let document = nagle.0.iter().find(|row| row["nagle"] == "on (document)");
    found.figure("nagle_factor", number(most, "slower")).note(format!(
        "1544 octets, {window:.0} operations under way: {:.1} µs a CLTU, with both on {:.1} µs. {:.4} \
         timers of 40 ms a CLTU are {:.0} % of that. The document's 2.5 is {:.0} µs more on {:.0} µs: a \
         timer in {:.0} CLTUs. Ours on its time would be a factor of {:.2}",
        number(off, "us_per_cltu"),
        number(most, "us_per_cltu"),
        number(most, "timers_per_cltu"),
        number(most, "explained") * 100.0,
        number(document, "more_us"),
        number(document, "us_per_cltu") - number(document, "more_us"),
        1.0 / number(document, "timers_per_cltu"),
        number(most, "expected")
    ));
}

/// A round trip against none: equal lengths, window and operations.
fn delay(found: &mut ItemResults, series: &Printed<'_>) -> Result<()> {
    let equal = series.table(EQUAL)?;
    let row =
        equal.row(&[("bound", "document's")], &[("window_octets", SMALL), ("octets", 1544.0)]);
    found.figure("delay_factor", number(row, "factor")).note(format!(
        "1544 octets, 64 kB, {:.0} operations under way, as in the document: {:.1} µs a CLTU without, \
         {:.1} ms over {} ms, which is the round trip by the operations. The document's own table: 0.307 \
         ms and 57.2 ms, a factor of 186; a CLTU without delay is {:.0} times faster here",
        number(row, "operations"),
        number(row, "near_us"),
        number(row, "far_us") / 1e3,
        number(row, "rtt_ms"),
        307.0 / number(row, "near_us")
    ));
    Ok(())
}

pub(super) fn aggregation(series: &Printed<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("csts.step2");
    let rows = series.table("CLTUs in an invocation")?;
    let frames = series.table("The outcome")?;
    let least = |rows: &Rows<'_>, how: Option<&str>| {
        let near = rows.0.iter().filter(|row| row["path"] == "loopback");
        let of = near.filter(|row| {
            super::is(row, "together", 80) && how.is_none_or(|how| row["how"] == how)
        });
        let factors: Vec<f64> = of.filter_map(|row| row["of_single"].as_f64()).collect();
        match factors[..] {
            [] => f64::NAN,
            _ => factors.into_iter().fold(f64::INFINITY, f64::min),
        }
    };
    let far = |rows: &Rows<'_>, how: Option<&str>| {
        let found = rows.0.iter().find(|row| {
            row["path"] == "100 ms"
                && super::is(row, "together", 80)
                && how.is_none_or(|how| row["how"] == how)
        });
        number(found, "of_single")
    };
    let note = "the smallest of the lengths and windows without delay";
    found
        .figure("blocking", least(&rows, None))
        .note(format!("{note}; over 100 ms {:.1}", far(&rows, None)));
    let unconfirmed = Some("frames, unconfirmed");
    found
        .figure("buffers", least(&frames, unconfirmed))
        .note(format!("{note}; over 100 ms {:.1}", far(&frames, unconfirmed)));
    let both = least(&frames, Some("CLTUs together, confirmed"));
    let both = smaller([both, least(&frames, unconfirmed)]);
    found.own("the smaller of CLTUs together and frames in a buffer, 80 each", "times", both);
    let columns = with(&[
        ("path", "path"),
        ("octets", "octets"),
        ("window", "window"),
        ("together", "N"),
        ("of_single", "times one by one"),
    ]);
    rows.add_to(&mut found, "CLTUs in an invocation", &columns);
    let columns = with(&[
        ("path", "path"),
        ("octets", "octets"),
        ("how", "how"),
        ("together", "N"),
        ("of_single", "times one CLTU"),
    ]);
    frames.add_to(&mut found, "forward frames (CSTS) in a buffer, beside CLTUs", &columns);
    Ok(found)
}
