//! `chronoscope track history`: what each process cost in run after run.

use super::runs;
use crate::args::track::history::History;
use crate::exit::Exit;
use crate::screen::show;
use anyhow::{Context, Result};
use chronoscope_track::history::{Options, histories, html, picture, svg};
use chronoscope_track::run::Folder;
use std::path::Path;

/// Runs the command.
pub(super) fn history(args: &History) -> Result<Exit> {
    let folder = runs::folder(&args.runs)?;
    let records = runs::all(&Folder::new(&folder))?;
    let options = Options {
        figure: args.figure.clone(),
        only: args.only.clone(),
        floor: args.floor.map(|ppm| ppm / 1e6),
    };
    let found = histories(&records, &options);
    if found.left_out > 0 {
        let n = found.left_out;
        say!("left out: {n} runs of another machine, method or suite than the last");
    }
    if args.json {
        show(&(found.json()? + "\n"))?;
    }
    if found.series.is_empty() {
        say!("{} has no run with that: `chronoscope track run` makes one", folder.display());
        return Ok(Exit::Nothing);
    }
    if let Some(file) = &args.svg {
        write(file, &svg(&found))?;
    }
    if let Some(file) = &args.html {
        write(file, &html(&found))?;
    }
    if !args.json {
        let pictures: Vec<_> = found.series.iter().map(|s| picture(s, args.width)).collect();
        show(&pictures.join("\n"))?;
    }
    Ok(Exit::Done)
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
