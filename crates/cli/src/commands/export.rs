//! `chronoscope export`: stored transactions in other people's formats.

use super::chains::{range, stored};
use super::export_otlp;
use crate::args::{Export, ExportFormat};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::progress;
use crate::suggest::did_you_mean;
use crate::text;
use crate::times::Zone;
use crate::usage::Usage;
use anyhow::{Context, Result, bail};
use chronoscope_formats::rows::Builder;
use chronoscope_formats::{arm_xml, csv_rows, trace};
use chronoscope_model::{ChainId, Flags, Transaction};
use chronoscope_query::ClassSelector;
use chronoscope_query::StoreLocation;
use chronoscope_store::{Minute, ParquetWriter, RowKind, Slot, Snapshot, StoreError};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Interval of progress and of the check for Ctrl-C, in transactions.
const LOOK_EVERY: u64 = 8192;
/// Largest number of rows of a minute in one piece of a Parquet file, as in a store.
const PIECE_ROWS_MAX: usize = 4_000_000;
/// Largest number of foreign chains that `--root` can select: their ids are held in memory.
const FOREIGN_CHAINS_MAX: usize = 4_000_000;

/// Runs the command.
pub(crate) fn export(args: &Export) -> Result<Exit> {
    if args.format == Some(ExportFormat::Parquet) && args.output.is_none() {
        bail!(Usage::new(
            "Parquet cannot be written to standard output: name a file with --output FILE"
        ));
    }
    let mut rows = Selected::new(args)?;
    let token_file = args.token_file.as_deref();
    let done = match (args.format, &args.output) {
        (None, _) => match &args.otlp {
            Some(url) => export_otlp::send(url, token_file, &mut rows),
            None => bail!(Usage::new("the output format is missing: give --format or --otlp")),
        },
        (Some(ExportFormat::Parquet), Some(path)) => into_file(path, |part| {
            let mut writer = ParquetWriter::create(part)?;
            into_parquet(&mut rows, &mut writer)?;
            writer.finish()?;
            Ok(())
        }),
        (Some(format), None) => {
            let mut out = BufWriter::new(io::stdout().lock());
            into(format, &mut rows, &mut out)
        }
        (Some(format), Some(path)) => into_file(path, |part| {
            let file = File::create(part).with_context(|| format!("create {}", part.display()))?;
            let mut out = BufWriter::new(file);
            into(format, &mut rows, &mut out)?;
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

/// Writes one of the formats that are streams.
fn into(format: ExportFormat, rows: &mut Selected, out: &mut impl Write) -> Result<()> {
    match format {
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

/// Writes a file beside and puts it into its place when it is complete: there is a whole file or
/// the one of before.
fn into_file(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = write(&part).and_then(|()| {
        std::fs::rename(&part, path).with_context(|| format!("rename {}", part.display()))
    });
    if written.is_err() {
        // The error is already reported; a failure to remove the part changes nothing.
        let _ = std::fs::remove_file(&part);
    }
    written.with_context(|| format!("{} was not written", path.display()))
}

type Rows = Box<dyn Iterator<Item = Result<Transaction, StoreError>>>;

/// The transactions that a command line selects.
pub(super) struct Selected {
    rows: Rows,
    root: Option<Root>,
    interrupt: Interrupt,
    /// Number of transactions.
    pub(super) count: u64,
    /// Places of the store that could not be read.
    pub(super) damaged: u64,
}

impl Selected {
    /// Opens the store and the selection.
    ///
    /// # Errors
    /// When there is no store, or the arguments select something that it does not have.
    pub(super) fn new(args: &Export) -> Result<Self> {
        let interrupt = Interrupt::install()?;
        let range = range(&args.span, &Zone::new(args.span.utc))?;
        let source = args.data.source()?;
        let mut damaged = 0;
        let rows: Rows = match args.chain {
            Some(id) => {
                let (found, damage) = stored(&source, |view| view.chain(id, None))?;
                for damage in &damage {
                    say!("damaged: {damage}");
                    damaged += 1;
                }
                Box::new(found.into_iter().map(Ok))
            }
            None => {
                let snapshot = opened(&source)?;
                for damage in snapshot.damage() {
                    say!("damaged: {damage}");
                    damaged += 1;
                }
                Box::new(snapshot.transactions(range.clone()))
            }
        };
        let root = match &args.root {
            None => None,
            Some(class) => {
                let mut root =
                    Root { class: ClassSelector(class.clone()), foreign: HashSet::new() };
                root.find_foreign(Box::new(opened(&source)?.transactions(range)), &interrupt)?;
                Some(root)
            }
        };
        Ok(Self { rows, root, interrupt, count: 0, damaged })
    }

    /// The flag that Ctrl-C sets.
    pub(super) fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Passes every transaction to `take`.
    ///
    /// # Errors
    /// Those of `take`, or the user's interrupt. Unreadable files are reported and counted.
    pub(super) fn each(&mut self, mut take: impl FnMut(&Transaction) -> Result<()>) -> Result<()> {
        for t in self.rows.by_ref() {
            if self.interrupt.is_set() {
                bail!("interrupted after {} transactions", text::count(self.count));
            }
            let t = match t {
                Ok(t) => t,
                Err(error) => {
                    say!("damaged: {error}");
                    self.damaged += 1;
                    continue;
                }
            };
            if self.root.as_ref().is_some_and(|root| !root.selects(&t)) {
                continue;
            }
            take(&t)?;
            self.count += 1;
            if self.count.is_multiple_of(LOOK_EVERY) {
                progress(&format!("{} transactions", text::count(self.count)));
            }
        }
        Ok(())
    }
}

/// The store, when all rows are wanted.
fn opened(source: &StoreLocation) -> Result<Snapshot> {
    match source {
        StoreLocation::Files(dir) => Snapshot::open(dir).with_context(|| {
            format!("cannot export {source} (--data DIR or --store URL name another store)")
        }),
        #[allow(unreachable_patterns)] // files are not the only source for long
        other => bail!(
            "{other} can be exported with --chain ID only: the database itself writes CSV and \
             Parquet"
        ),
    }
}

/// Chains below a root of a class.
struct Root {
    class: ClassSelector,
    /// Foreign ones among them: their rows do not know their root.
    foreign: HashSet<ChainId>,
}

impl Root {
    fn find_foreign(&mut self, rows: Rows, interrupt: &Interrupt) -> Result<()> {
        // Unreadable files are reported later, when they are read for writing.
        for t in rows.flatten() {
            if interrupt.is_set() {
                bail!("interrupted while looking for the roots");
            }
            let is_root = t.flags.contains(Flags::FOREIGN) && t.parent.is_none();
            if is_root && self.class.selects(&t.class) {
                self.foreign.insert(t.chain);
            }
            if self.foreign.len() > FOREIGN_CHAINS_MAX {
                bail!(
                    "more than {} foreign chains: give a shorter time with --from and --until",
                    text::count(FOREIGN_CHAINS_MAX as u64)
                );
            }
        }
        Ok(())
    }

    fn selects(&self, t: &Transaction) -> bool {
        if t.flags.contains(Flags::FOREIGN) {
            return self.foreign.contains(&t.chain);
        }
        if t.path.is_empty() {
            return self.class.selects(&t.class);
        }
        // A path begins with its root. Its text is compared only up to the end of the requested
        // class, so that separators inside names do no harm.
        let rest = match t.path.strip_prefix(self.class.0.as_str()) {
            Some(rest) => Some(rest),
            None => t
                .path
                .split_once("::")
                .and_then(|(_, class)| class.strip_prefix(self.class.0.as_str())),
        };
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Names, Record};

    #[test]
    fn a_root_is_the_beginning_of_a_path() {
        let mut t = Transaction::from_record(&Record::default(), b"", &Names::default());
        let selects = |t: &Transaction, class: &str| {
            Root { class: class.into(), foreign: HashSet::new() }.selects(t)
        };
        t.path = "MRTS::decodePlots/WEB::GET /a".into();
        assert!(selects(&t, "MRTS::decodePlots") && selects(&t, "decodePlots"));
        assert!(!selects(&t, "decode") && !selects(&t, "WEB::GET /a") && !selects(&t, "MRTS"));
        t.path = "WEB::GET /a/DB::query".into();
        assert!(selects(&t, "GET /a"));
        t.flags = Flags::FOREIGN;
        assert!(!selects(&t, "GET /a"), "its root is another row");
    }
}
