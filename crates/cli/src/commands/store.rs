//! `chronoscope store`: checks and repairs a store.

use crate::args::store::{Check, Repair, Store};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::text::count;
use anyhow::Result;
use chronoscope_formats::json;
use chronoscope_server::deletion;
use chronoscope_server::log::instant;
use chronoscope_store::{Checked, Damage, Repaired, StoreError};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Runs the command.
pub(crate) fn store(command: &Store) -> Result<Exit> {
    match command {
        Store::Check(args) => check(args),
        Store::Repair(args) => repair(args),
        Store::Delete(args) => super::store_delete::delete(args),
        Store::Copy(args) => super::store_copy::copy(args),
        Store::ConfirmDeletion(args) => {
            chronoscope_store::confirm_deletion(&args.folder.dir())?;
            Ok(Exit::Done)
        }
    }
}

fn check(args: &Check) -> Result<Exit> {
    let dir = args.folder.dir();
    let interrupt = Interrupt::install()?;
    let checked = chronoscope_store::check(&dir, |done, total| {
        progress(&format!("{} of {} segments", count(done), count(total)));
        !interrupt.is_set()
    });
    progress("");
    let checked = match checked {
        // Reading changes nothing: there is nothing to save.
        Err(StoreError::Cancelled) => anyhow::bail!("interrupted before the whole store was read"),
        checked => checked?,
    };
    if args.json {
        show(&format!("{:#}\n", json::document("check", checked_json(&checked))))?;
    } else {
        show(&checked_text(&dir, &checked))?;
    }
    Ok(if checked.is_whole() { Exit::Done } else { Exit::CheckFailed })
}

fn repair(args: &Repair) -> Result<Exit> {
    let dir = args.folder.dir();
    let now_ns = chronoscope_clock::utc_now_ns();
    let repaired = chronoscope_store::repair(&dir, args.dry_run, now_ns)?;
    if args.json {
        let mut part = repaired_json(&repaired);
        part["dry_run"] = args.dry_run.into();
        show(&format!("{:#}\n", json::document("repair", part)))?;
    } else {
        show(&repaired_text(&dir, &repaired, args.dry_run))?;
    }
    Ok(Exit::Done)
}

fn paths(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

fn damage(damage: &[Damage]) -> Vec<Value> {
    let one = |damage: &Damage| {
        json!({
            "file": damage.path.display().to_string(),
            "position": damage.position,
            "reason": damage.reason,
            "rows_lost": damage.rows_lost,
        })
    };
    damage.iter().map(one).collect()
}

fn checked_json(checked: &Checked) -> Value {
    json!({
        "whole": checked.is_whole(),
        "segments": checked.segments,
        "bytes": checked.bytes,
        "rows": checked.rows,
        "unverified_segments": checked.unverified,
        "damage": damage(&checked.damage),
        "deletions": checked.deletions.iter().map(deletion).collect::<Value>(),
        "unexplained": paths(&checked.unexplained),
        "set_aside": paths(&checked.set_aside),
    })
}

fn checked_text(dir: &Path, checked: &Checked) -> String {
    let mut text = format!(
        "{}: {} rows; {} segments, {} bytes read\n",
        dir.display(),
        count(checked.rows),
        count(checked.segments),
        count(checked.bytes)
    );
    if checked.unverified > 0 {
        let _ = writeln!(
            text,
            "{} segments have no checksums, because an older program sealed them: they can be decoded, \
             and whether they say what was written is not known; a server writes them anew",
            count(checked.unverified)
        );
    }
    for of in &checked.deletions {
        let [from, until, at] = [of.from_ns, of.until_ns, of.at_ns].map(instant);
        let by = if of.by.is_empty() { String::new() } else { format!(" by {}", of.by) };
        let rows = count(of.rows);
        let _ =
            writeln!(text, "deleted on request at {at}{by}: {rows} rows from {from} to {until}");
    }
    for damage in &checked.damage {
        let _ = writeln!(text, "damaged: {damage}");
    }
    for path in &checked.unexplained {
        let _ = writeln!(text, "not in the manifest: {}", path.display());
    }
    for path in &checked.set_aside {
        let _ = writeln!(text, "set aside earlier: {}", path.display());
    }
    text += if checked.is_whole() {
        "everything that has a checksum is what was written\n"
    } else {
        "what is damaged is left out of every answer; `chronoscope store repair --dry-run` says what \
         can be done\n"
    };
    text
}

fn repaired_json(repaired: &Repaired) -> Value {
    json!({
        "manifest_rebuilt": repaired.manifest_rebuilt,
        "segments": repaired.segments,
        "rows": repaired.rows,
        "log_rows": repaired.log_rows,
        "replaced": paths(&repaired.replaced),
        "lost": damage(&repaired.lost),
        "forgotten": repaired.forgotten,
    })
}

fn repaired_text(dir: &Path, repaired: &Repaired, dry_run: bool) -> String {
    let of = if dry_run { "would have" } else { "has" };
    let mut text = format!(
        "{} {of} {} rows in {} segments and {} in the log\n",
        dir.display(),
        count(repaired.rows),
        count(repaired.segments),
        count(repaired.log_rows)
    );
    if repaired.manifest_rebuilt {
        text += "the manifest is made anew; it does not know any more:\n";
        repaired.forgotten.iter().for_each(|what| {
            let _ = writeln!(text, "  {what}");
        });
    }
    for path in &repaired.replaced {
        let _ = writeln!(text, "its rows are in a newer segment: {}", path.display());
    }
    for damage in &repaired.lost {
        let _ = writeln!(text, "lost: {damage}");
    }
    if !repaired.replaced.is_empty() || !repaired.lost.is_empty() {
        let _ = writeln!(
            text,
            "files that are left out {} lost+found; nothing is deleted",
            match dry_run {
                true => "would go to",
                false => "are in",
            }
        );
    }
    text
}
