//! `chronoscope store delete`: the transactions of a range of time.

use crate::args::store::Delete;
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::text::count;
use crate::times::Zone;
use anyhow::{Context, Result, bail};
use chronoscope_clickhouse::TableOptions;
use chronoscope_clock as clock;
use chronoscope_formats::json;
use chronoscope_query::StoreLocation;
use chronoscope_store::{
    Deleted, Options, RangeContent, RangeDeletion, Snapshot, Store, StoreError,
};
use serde_json::json;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Runs the command.
pub(crate) fn delete(args: &Delete) -> Result<Exit> {
    let store = args.data.source()?;
    let zone = Zone::new(args.utc);
    let range = zone.range(Some(&args.from), Some(&args.until), clock::utc_now_ns())?;
    let content = match &store {
        StoreLocation::Files(dir) => content(dir, &range)?,
        StoreLocation::Cluster(view) => view.cluster().range_content(&range)?,
    };
    let deleted = match (&store, args.yes && content.rows > 0) {
        (_, false) => None,
        (StoreLocation::Files(dir), true) => Some(delete_now(dir, &range, &content)?),
        (StoreLocation::Cluster(view), true) => {
            let cluster = view.cluster();
            // The table of deletions may be of a version that nobody has made yet.
            cluster.prepare(&TableOptions::default())?;
            let who = environment::user_name();
            Some(cluster.delete_range(&range, (&who, clock::utc_now_ns()))?)
        }
    };
    if args.json {
        let part = as_json(&range, &content, deleted.as_ref());
        show(&format!("{:#}\n", json::document("delete", part)))?;
    } else {
        show(&in_words(&zone, &range, &content, deleted.as_ref()))?;
    }
    Ok(if content.rows == 0 { Exit::Nothing } else { Exit::Done })
}

fn content(dir: &Path, range: &Range<i64>) -> Result<RangeContent> {
    let interrupt = Interrupt::install()?;
    let content = Snapshot::open(dir)?.range_content(range, |done, total| {
        progress(&format!("{} of {} segments", count(done), count(total)));
        !interrupt.is_set()
    });
    progress("");
    match content {
        Err(StoreError::Cancelled) => bail!("interrupted; nothing was deleted"),
        content => Ok(content?),
    }
}

fn delete_now(dir: &Path, range: &Range<i64>, content: &RangeContent) -> Result<Deleted> {
    // The new files are as readable as the old ones.
    let mode = std::fs::metadata(dir.join("segments")).map_or(0, |of| of.permissions().mode());
    let options = Options { group_readable: mode & 0o040 != 0, ..Options::default() };
    let store = Store::open(dir, options, clock::utc_now_ns()).with_context(
        || "nothing was deleted (a server that writes the store deletes by its page, view Data)",
    )?;
    let what = RangeDeletion {
        start_ns: range.clone(),
        rows_max: content.rows,
        by: environment::user_name(),
    };
    let deleted = store.delete(&what, clock::utc_now_ns())?;
    // Nobody writes here who would do it later.
    store.remove_replaced()?;
    Ok(deleted)
}

fn as_json(
    range: &Range<i64>,
    content: &RangeContent,
    deleted: Option<&Deleted>,
) -> serde_json::Value {
    json!({
        "from_ns": range.start,
        "until_ns": range.end,
        "rows": content.rows,
        "chains": content.chains,
        "chains_more": content.chains_more,
        "bytes": content.bytes,
        "minutes": content.minutes,
        "segments_cut": content.segments_cut,
        "deleted": deleted.map(|of| json!({
            "rows": of.rows,
            "segments": of.segments,
            "segments_cut": of.segments_cut,
            "bytes": of.bytes,
        })),
    })
}

fn in_words(
    zone: &Zone,
    range: &Range<i64>,
    content: &RangeContent,
    deleted: Option<&Deleted>,
) -> String {
    let (from, until) = (zone.instant(range.start), zone.instant(range.end));
    let more = if content.chains_more { "at least " } else { "" };
    let mut words = format!(
        "from {from} to {until} ({}): {} rows of {more}{} chains in {} minutes, {} bytes\n",
        zone.name(),
        count(content.rows),
        count(content.chains),
        count(content.minutes),
        count(content.bytes),
    );
    words += &match deleted {
        Some(deleted) => format!(
            "deleted: {} rows; the store is {} bytes smaller\n",
            count(deleted.rows),
            count(deleted.bytes)
        ),
        None if content.rows == 0 => "there is nothing to delete\n".to_owned(),
        None => "nothing was deleted: give --yes to delete them\n".to_owned(),
    };
    words
}
