//! `chronoscope store copy`: the rows of one store into another, and the proof that they are there.
//!
//! A row is put into the copy when it is not there yet, by its content. So a copy that was
//! interrupted continues where it ended, and running it again copies what is new.

mod rows;
mod writer;

use super::chains::range;
use crate::args::store::Copy;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::text::count;
use crate::times::Zone;
use crate::usage::Usage;
use anyhow::{Context, Result, bail};
use chronoscope_clock as clock;
use chronoscope_formats::json;
use chronoscope_query::StoreLocation;
use chronoscope_store::Minute;
use rows::{MinuteReader, fingerprint, row_set};
use serde_json::json;
use std::ops::Range;
use writer::Writer;

/// Most minutes that are named in the text.
const NAMED_MAX: usize = 10;

/// Runs the command.
pub(crate) fn copy(args: &Copy) -> Result<Exit> {
    let open = |url: &str| StoreLocation::open(url).map_err(Usage::new);
    let (from, to) = (open(&args.from_store)?, open(&args.to_store)?);
    if from.to_string() == to.to_string() {
        return Err(Usage::new(format!("{from} is copied into itself: name two stores")).into());
    }
    let range = range(&args.span, &Zone::new(args.span.utc))?;
    let interrupt = Interrupt::install()?;
    let begin_ns = clock::monotonic_ns();
    let copied = match args.verify {
        true => Copied::default(),
        false => copy_rows(&from, &to, &range, &interrupt)?,
    };
    // Opened again, so that nothing of what was read before is taken for what is there now.
    let (from, to) = (open(&args.from_store)?, open(&args.to_store)?);
    let compared = compare(&from, &to, &range, &interrupt)?;
    progress("");
    let seconds = (clock::monotonic_ns() - begin_ns) as f64 * 1e-9;
    if args.json {
        let part = as_json(&copied, &compared, seconds);
        show(&format!("{:#}\n", json::document("copy", part)))?;
    } else {
        show(&in_words(&from, &to, &copied, &compared))?;
    }
    Ok(match compared {
        Compared { missing: 1.., .. } => Exit::CheckFailed,
        Compared { rows: 0, .. } => Exit::Nothing,
        _ => Exit::Done,
    })
}

/// What a run copied.
#[derive(Debug, Default)]
struct Copied {
    /// Rows that were put into the copy.
    new: u64,
    /// Rows that were there before.
    known: u64,
}

/// What a comparison of all rows found.
#[derive(Debug, Default)]
struct Compared {
    minutes: u64,
    /// Rows of the source.
    rows: u64,
    /// Sum of the fingerprints of the source's rows, modulo 2^128.
    checksum: u128,
    /// The same of those among them that are in the copy.
    copy_checksum: u128,
    /// Rows of the source that are not in the copy.
    missing: u64,
    /// Rows in these minutes of the copy that are not in the source.
    further: u64,
    /// Minutes with missing or further rows.
    different: Vec<MinuteDifference>,
}

#[derive(Debug)]
struct MinuteDifference {
    minute: Minute,
    missing: u64,
    further: u64,
}

fn copy_rows(
    from: &StoreLocation,
    to: &StoreLocation,
    range: &Range<i64>,
    interrupt: &Interrupt,
) -> Result<Copied> {
    let mut source = MinuteReader::open(from, range)?;
    let mut writer = Writer::open(to, rows::names(from)?)?;
    // First, so that no question of the copy takes its rows for all that there were.
    writer.note(&rows::lost_rows(from)?)?;
    let mut target = MinuteReader::open(to, range)?;
    let mut copied = Copied::default();
    while let Some(minute) = source.next_minute()? {
        let mut there = row_set(&mut target, minute)?;
        source.each(minute, |row| {
            if there.take(fingerprint(&row)) {
                copied.known += 1;
                return Ok(());
            }
            writer.push(&row, interrupt)?;
            copied.new += 1;
            Ok(())
        })?;
        let rows = copied.known + copied.new;
        progress(&format!("{} rows, {} of them new", count(rows), count(copied.new)));
        if interrupt.is_set() {
            writer.finish(interrupt)?;
            bail!(
                "interrupted after {} rows: run the same command again, and it continues there",
                count(rows)
            );
        }
    }
    writer.finish(interrupt)?;
    Ok(copied)
}

/// Reads both stores and compares them row by row.
fn compare(
    from: &StoreLocation,
    to: &StoreLocation,
    range: &Range<i64>,
    interrupt: &Interrupt,
) -> Result<Compared> {
    let mut source = MinuteReader::open(from, range)?;
    let mut target = MinuteReader::open(to, range).context("the copy cannot be compared")?;
    let mut found = Compared::default();
    while let Some(minute) = source.next_minute()? {
        let mut there = row_set(&mut target, minute)?;
        let mut missing = 0;
        source.each(minute, |row| {
            let fingerprint = fingerprint(&row);
            found.checksum = found.checksum.wrapping_add(fingerprint);
            found.rows += 1;
            match there.take(fingerprint) {
                true => found.copy_checksum = found.copy_checksum.wrapping_add(fingerprint),
                false => missing += 1,
            }
            Ok(())
        })?;
        found.minutes += 1;
        found.missing += missing;
        found.further += there.rows;
        if missing + there.rows > 0 {
            found.different.push(MinuteDifference { minute, missing, further: there.rows });
        }
        progress(&format!("{} rows compared", count(found.rows)));
        if interrupt.is_set() {
            bail!("interrupted after {} rows were compared", count(found.rows));
        }
    }
    Ok(found)
}

fn as_json(copied: &Copied, found: &Compared, seconds: f64) -> serde_json::Value {
    let different = found.different.iter().map(|of| {
        json!({
            "from_ns": of.minute.start_ns(),
            "missing_rows": of.missing,
            "further_rows": of.further,
        })
    });
    json!({
        "copied_rows": copied.new,
        "known_rows": copied.known,
        "rows": found.rows,
        "minutes": found.minutes,
        "checksum": format!("{:032x}", found.checksum),
        "copy_checksum": format!("{:032x}", found.copy_checksum),
        "missing_rows": found.missing,
        "further_rows": found.further,
        "different_minutes": different.collect::<serde_json::Value>(),
        "seconds": seconds,
    })
}

fn in_words(from: &StoreLocation, to: &StoreLocation, copied: &Copied, found: &Compared) -> String {
    let mut text = format!(
        "{from} → {to}: {} rows copied, {} had been copied before\n",
        count(copied.new),
        count(copied.known)
    );
    text += &match found.missing {
        0 => format!(
            "compared: all {} rows of {} minutes are in the copy (checksum {:032x})\n",
            count(found.rows),
            count(found.minutes),
            found.checksum
        ),
        missing => format!(
            "compared: {} of {} rows are NOT in the copy (checksum {:032x}, of the copy {:032x}); \
             run the same command again\n",
            count(missing),
            count(found.rows),
            found.checksum,
            found.copy_checksum
        ),
    };
    if found.further > 0 {
        text += &format!(
            "the copy has {} further rows in these minutes, which are not in {from}\n",
            count(found.further)
        );
    }
    for of in found.different.iter().take(NAMED_MAX) {
        let at = chronoscope_server::log::instant(of.minute.start_ns());
        text += &format!("  {at}: {} missing, {} further\n", count(of.missing), count(of.further));
    }
    if found.different.len() > NAMED_MAX {
        text += &format!("  and {} more minutes\n", found.different.len() - NAMED_MAX);
    }
    text
}
