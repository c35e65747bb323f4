//! `chronoscope track diff`: what moved between two Callgrind profiles.

use crate::args::track::diff::{Diff, Shown};
use crate::exit::Exit;
use crate::screen::show;
use anyhow::{Context, Result};
use chronoscope_track::callgrind::diff::{Options, diff as compare, folded, svg, text};
use chronoscope_track::callgrind::{Limits, Profile, read_set};
use std::fs;
use std::path::Path;

/// Runs the command.
pub(super) fn diff(args: &Diff) -> Result<Exit> {
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let options = options(&args.shown);
    let found = compare(&before, &after, &options)?;
    for (file, make) in [(&args.svg, svg as fn(&_, &_, &_) -> _), (&args.folded, folded)] {
        if let Some(file) = file {
            let drawn = make(&before, &after, &options)?;
            fs::write(file, drawn).with_context(|| format!("cannot write {}", file.display()))?;
        }
    }
    show(&if args.json { found.json()? + "\n" } else { text(&found, args.shown.rows) })?;
    Ok(Exit::Done)
}

fn options(shown: &Shown) -> Options {
    Options { event: shown.event.clone(), floor: shown.floor / 1e6 }
}

/// A profile with its parts and threads; reports inconsistencies.
fn read(path: &Path) -> Result<Profile> {
    let set = read_set(path, Limits::default())?;
    for stranger in &set.strangers {
        say!("left out: {} is of another process", stranger.display());
    }
    for odd in set.profile.discrepancies() {
        say!(
            "{}: its lines add up to {} {}, and it says {}: it was cut or edited",
            path.display(),
            odd.read,
            odd.event,
            odd.stated
        );
    }
    Ok(set.profile)
}
