//! `chronoscope import`: transactions of other files into the store.

use crate::args::{Import, ImportFormat};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::progress;
use crate::text;
use anyhow::{Context, Result, bail};
use chronoscope_clickhouse::{ClusterWriter, TableOptions};
use chronoscope_clock as clock;
use chronoscope_collect::Ingest;
use chronoscope_figures::numbers;
use chronoscope_import::{FileFormat, ImportFile};
use chronoscope_query::StoreLocation;
use chronoscope_store::{Options, Store};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Runs the command.
pub(crate) fn import(args: &Import) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let source = args.data.source()?;
    let mut files = Vec::new();
    // All files are checked before any is stored: a refused file changes nothing.
    for path in &args.files {
        let file = checked(path, args.format, &interrupt);
        files.push(
            file.with_context(|| format!("no transaction was imported: {}", path.display()))?,
        );
    }
    let ingest = ingest(&source)?;
    for file in &files {
        let taken = store_file(file, &ingest, &interrupt);
        progress("");
        let taken = taken.with_context(|| {
            format!(
                "{}: run the import again, and it continues where it ended",
                file.path().display()
            )
        })?;
        let before = file.row_count() - taken;
        let known = match before {
            0 => String::new(),
            before => format!(" ({} had been imported before)", text::count(before)),
        };
        say!("{}: {} transactions imported{known}", file.path().display(), text::count(taken));
    }
    if let Some(store) = ingest.store() {
        store.seal_all(clock::utc_now_ns())?;
        while store.maintain(clock::utc_now_ns())?.again {
            if interrupt.is_set() {
                break; // everything is durable; the rest is tidying up, and waits for the next time
            }
        }
    }
    let rows: u64 = files.iter().map(ImportFile::row_count).sum();
    Ok(if rows == 0 { Exit::Nothing } else { Exit::Done })
}

/// The door of the store.
fn ingest(source: &StoreLocation) -> Result<Ingest> {
    let data_dir = match source {
        StoreLocation::Files(dir) => dir,
        StoreLocation::Cluster(view) => {
            let cluster = view.cluster();
            let cannot = || format!("cannot store into {cluster}");
            cluster.prepare(&TableOptions::default()).with_context(cannot)?;
            return Ok(Ingest::into_cluster(ClusterWriter::new(cluster.clone())));
        }
    };
    // Old minutes wait for nobody.
    let options = Options { wait: Duration::ZERO, ..Options::default() };
    let store = Store::open(data_dir, options, clock::utc_now_ns()).with_context(|| {
        format!(
            "cannot store into {} (stop chronoscope serve first, or name another store with --data \
             DIR)",
            data_dir.display()
        )
    })?;
    Ok(Ingest::into_files(Arc::new(store)))
}

/// Reads a file to its end.
fn checked(path: &Path, format: Option<ImportFormat>, interrupt: &Interrupt) -> Result<ImportFile> {
    let file = ImportFile::check(path, format.map(FileFormat::from), |rows| {
        progress(&format!("{}: {} checked", path.display(), text::count(rows)));
        !interrupt.is_set()
    });
    progress("");
    Ok(file?)
}

/// Stores what of a file is not in the store; how many rows that were.
fn store_file(file: &ImportFile, ingest: &Ingest, interrupt: &Interrupt) -> Result<u64> {
    let known = ingest.next_row(file.id())?.unwrap_or(0);
    if known >= file.row_count() {
        return Ok(0);
    }
    for piece in file.pieces(known)? {
        let piece = piece?;
        ingest.import(file.id(), piece.first_row, &piece.batch, &piece.names)?;
        if let Some(store) = ingest.store() {
            while store.maintain(clock::utc_now_ns())?.again {}
        }
        let share = numbers::share(piece.end_row, file.row_count(), 0);
        progress(&format!("{}: {share} stored", file.path().display()));
        if interrupt.is_set() && piece.end_row < file.row_count() {
            bail!("interrupted after {} transactions", text::count(piece.end_row));
        }
    }
    Ok(file.row_count() - known)
}

impl From<ImportFormat> for FileFormat {
    fn from(format: ImportFormat) -> Self {
        match format {
            ImportFormat::Xml => Self::Xml,
            ImportFormat::Csv => Self::Csv,
            ImportFormat::Parquet => Self::Parquet,
        }
    }
}
