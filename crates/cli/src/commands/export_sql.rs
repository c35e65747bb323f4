//! `chronoscope export --to`: stored transactions into a table of a database.

use super::export_rows::Selected;
use super::part_file::into_file;
use anyhow::{Context, Result, bail};
use chronoscope_formats::sql::{TableName, postgres, sqlite};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a new table into an SQLite database. A file that is not there yet appears when it is
/// complete; in one that is there the table appears when it is.
pub(super) fn into_sqlite(path: &Path, table: &TableName, rows: &mut Selected) -> Result<()> {
    if path.exists() {
        let added = sqlite::add(path, table, |into| rows.each(|t| Ok(into.write(t)?)));
        return added.with_context(|| format!("{} is unchanged", path.display()));
    }
    into_file(path, |part| {
        // A part that a killed export left would be taken for the database.
        match std::fs::remove_file(part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("remove {}", part.display()));
            }
            _ => {}
        }
        sqlite::create(part, table, |into| rows.each(|t| Ok(into.write(t)?)))?;
        Ok(File::open(part)?.sync_all()?)
    })
}

/// Writes the script that makes the table.
pub(super) fn into_script(table: &TableName, rows: &mut Selected, out: impl Write) -> Result<()> {
    let mut writer = postgres::Writer::new(out, table.clone())?;
    rows.each(|t| Ok(writer.write(t)?))?;
    writer.finish()?;
    Ok(())
}

/// Runs `psql` with the script as its input. What it has to say goes to stderr.
pub(super) fn into_postgres(url: &str, table: &TableName, rows: &mut Selected) -> Result<()> {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-f", "-", "-d", url]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = psql.spawn().with_context(|| {
        "cannot start psql, which connects to the database: install it (Debian: \
         postgresql-client), or write a script for another host with --format postgres"
    })?;
    let Some(input) = child.stdin.take() else { bail!("psql has no input") };
    let written = into_script(table, rows, BufWriter::with_capacity(1 << 16, input));
    let broken = written.as_ref().is_err_and(|error| {
        let io = error.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    });
    if written.is_err() && !broken {
        // Before its input ends: it has not seen the end of the transaction either way.
        child.kill().context("end psql")?;
    }
    let ended = child.wait().context("wait for psql")?;
    if !broken {
        written.context("nothing was written to the database")?;
    }
    if broken || !ended.success() {
        bail!(
            "psql ended with {ended}, and nothing was written to the database: it says why above. \
             If the table {table} exists, name another one with --table, or drop it"
        );
    }
    Ok(())
}
