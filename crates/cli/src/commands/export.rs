//! `chronoscope export`: stored transactions in other people's formats.

use super::chains::stored;
use super::export_rows::Selected;
use super::part_file::into_file;
use super::{export_otlp, export_sql};
use crate::args::database::Database;
use crate::args::{Export, ExportFormat};
use crate::exit::Exit;
use crate::screen::progress;
use crate::suggest::did_you_mean;
use crate::text;
use crate::usage::Usage;
use anyhow::{Context, Result, bail};
use chronoscope_formats::rows::Builder;
use chronoscope_formats::sql::TableName;
use chronoscope_formats::{arm_xml, csv_rows, trace};
use chronoscope_model::Flags;
use chronoscope_store::{Minute, ParquetWriter, RowKind, Slot};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Largest number of rows of a minute in one piece of a Parquet file, as in a store.
const PIECE_ROWS_MAX: usize = 4_000_000;

/// Runs the command.
pub(crate) fn export(args: &Export) -> Result<Exit> {
    if args.format == Some(ExportFormat::Parquet) && args.output.is_none() {
        bail!(Usage::new(
            "Parquet cannot be written to standard output: name a file with --output FILE"
        ));
    }
    let mut rows = Selected::new(args)?;
    let done = match (args.format, &args.output) {
        (None, _) => send(args, &mut rows),
        (Some(ExportFormat::Parquet), Some(path)) => into_file(path, |part| {
            let mut writer = ParquetWriter::create(part)?;
            into_parquet(&mut rows, &mut writer)?;
            writer.finish()?;
            Ok(())
        }),
        (Some(format), None) => {
            let mut out = BufWriter::new(io::stdout().lock());
            into(format, &args.table, &mut rows, &mut out)
        }
        (Some(format), Some(path)) => into_file(path, |part| {
            let file = File::create(part).with_context(|| format!("create {}", part.display()))?;
            let mut out = BufWriter::new(file);
            into(format, &args.table, &mut rows, &mut out)?;
            let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            Ok(file.sync_all()?)
        }),
    };
    progress("");
    done?;
    say!("{} transactions exported", text::count(rows.count));
    if rows.damaged > 0 {
        say!("{} files of the store could not be read: what they hold is missing", rows.damaged);
        return Ok(Exit::Error);
    }
    if rows.count > 0 {
        return Ok(Exit::Done);
    }
    if let Some(class) = &args.root {
        let known = stored(&args.data.source()?, |view| view.names())?;
        let meant = did_you_mean(class, &known);
        say!("no chain in that time has a root of class {class}.{meant}");
    }
    Ok(Exit::Nothing)
}

/// Sends the transactions where no format is to be named: to a receiver or into a database.
fn send(args: &Export, rows: &mut Selected) -> Result<()> {
    match (&args.otlp, &args.to) {
        (Some(url), _) => export_otlp::send(url, args.token_file.as_deref(), rows),
        (None, Some(Database::Sqlite(path))) => export_sql::into_sqlite(path, &args.table, rows),
        (None, Some(Database::Postgres(url))) => export_sql::into_postgres(url, &args.table, rows),
        (None, None) => {
            bail!(Usage::new("the output format is missing: give --format, --to or --otlp"))
        }
    }
}

/// Writes one of the formats that are streams.
fn into(
    format: ExportFormat,
    table: &TableName,
    rows: &mut Selected,
    out: &mut impl Write,
) -> Result<()> {
    match format {
        ExportFormat::Postgres => export_sql::into_script(table, rows, out)?,
        ExportFormat::Xml => {
            let mut writer = arm_xml::Writer::new(out)?;
            rows.each(|t| Ok(writer.write(t)?))?;
            writer.finish()?;
        }
        ExportFormat::Csv => {
            let mut writer = csv_rows::Writer::new(out)?;
            rows.each(|t| Ok(writer.write(t)?))?;
            writer.finish()?;
        }
        ExportFormat::Trace => {
            let mut all = Vec::new();
            rows.each(|t| {
                if all.len() == trace::TRANSACTIONS_MAX {
                    bail!(
                        "more than {} transactions, which no viewer can show: export fewer with \
                         --from, --until, --root or --chain",
                        text::count(trace::TRANSACTIONS_MAX as u64)
                    );
                }
                all.push(t.clone());
                Ok(())
            })?;
            trace::write(&mut all, out)?;
        }
        ExportFormat::Parquet => {
            bail!(Usage::new("a Parquet file needs a name: give --output FILE"))
        }
    }
    Ok(())
}

/// Writes Parquet, minute by minute as a store does: so the column `links` is right.
fn into_parquet(rows: &mut Selected, writer: &mut ParquetWriter) -> Result<()> {
    let mut piece = Builder::default();
    let mut slot: Option<Slot> = None;
    let mut flush = |piece: &mut Builder| -> Result<()> {
        let (batch, names) = std::mem::take(piece).into_parts();
        Ok(writer.write(&batch, &names)?)
    };
    rows.each(|t| {
        let foreign = t.flags.contains(Flags::FOREIGN);
        let minute = Minute::of(t.root_start_ns.unwrap_or(t.start_ns));
        let this = Slot { minute, kind: if foreign { RowKind::Foreign } else { RowKind::Native } };
        if slot.replace(this) != Some(this) || piece.len() == PIECE_ROWS_MAX {
            flush(&mut piece)?;
        }
        piece.push(t);
        Ok(())
    })?;
    flush(&mut piece)
}
