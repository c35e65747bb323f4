//! `chronoscope import`: transactions of other files into the store.

use crate::args::{Import, ImportFormat};
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::progress;
use crate::text;
use anyhow::{Context, Error, Result, bail};
use chronoscope_clock as clock;
use chronoscope_figures::numbers;
use chronoscope_formats::rows::{self, Builder};
use chronoscope_formats::{arm_xml, csv_rows};
use chronoscope_model::Transaction;
use chronoscope_store::{Append, DELIVERED_ALL, Options, ParquetRows, Store, StoreError, StreamId};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::time::Duration;

/// Rows of one append, which is durable as a whole.
const PIECE_ROWS: usize = 131_072;
/// Bytes of contexts at which an append is closed before that.
const PIECE_CONTEXT_BYTES: usize = 64 << 20;
/// Interval of progress and of the check for Ctrl-C, in transactions.
const LOOK_EVERY: u64 = 8192;
/// Number of maintenance attempts when the store accepts no more rows.
const TRIES: u32 = 100;

/// Runs the command.
pub(crate) fn import(args: &Import) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let mut files = Vec::new();
    // All files are checked before any is stored: a refused file changes nothing.
    for path in &args.files {
        let file = Checked::new(path, args.format, &interrupt);
        files.push(
            file.with_context(|| format!("no transaction was imported: {}", path.display()))?,
        );
    }
    let data_dir = args.data.clone().unwrap_or_else(environment::data_dir);
    // Old minutes wait for nobody.
    let options = Options { wait: Duration::ZERO, ..Options::default() };
    let store = Store::open(&data_dir, options, clock::utc_now_ns()).with_context(|| {
        format!(
            "cannot store into {} (stop chronoscope serve first, or name another store with --data \
             DIR)",
            data_dir.display()
        )
    })?;
    for file in &files {
        let taken = file.store(&store, &interrupt);
        progress("");
        let taken = taken.with_context(|| {
            format!(
                "{}: run the import again, and it continues where it ended",
                file.path.display()
            )
        })?;
        let before = file.rows - taken;
        let known = match before {
            0 => String::new(),
            before => format!(" ({} had been imported before)", text::count(before)),
        };
        say!("{}: {} transactions imported{known}", file.path.display(), text::count(taken));
    }
    store.seal_all(clock::utc_now_ns())?;
    while store.maintain(clock::utc_now_ns())?.again {
        if interrupt.is_set() {
            break; // everything is durable; the rest is tidying up, and waits for the next time
        }
    }
    let rows: u64 = files.iter().map(|file| file.rows).sum();
    Ok(if rows == 0 { Exit::Nothing } else { Exit::Done })
}

/// A file that has been read to its end.
struct Checked<'a> {
    path: &'a Path,
    format: ImportFormat,
    /// Identity of the content: the same content is stored once.
    id: StreamId,
    rows: u64,
}

impl<'a> Checked<'a> {
    fn new(path: &'a Path, format: Option<ImportFormat>, interrupt: &Interrupt) -> Result<Self> {
        let id = fingerprint(path)?;
        let format = match format {
            Some(format) => format,
            None => guess(path)?,
        };
        let mut rows: u64 = 0;
        for t in read(path, format)? {
            rows::check(&t?).with_context(|| format!("transaction {}", rows + 1))?;
            rows += 1;
            if rows.is_multiple_of(LOOK_EVERY) {
                if interrupt.is_set() {
                    bail!("interrupted");
                }
                progress(&format!("{}: {} checked", path.display(), text::count(rows)));
            }
        }
        progress("");
        Ok(Self { path, format, id, rows })
    }

    /// Stores what of it is not in the store; how many rows that were.
    fn store(&self, store: &Store, interrupt: &Interrupt) -> Result<u64> {
        let known = store.stream(self.id).unwrap_or(0);
        let mut piece = Builder::default();
        let mut rows = known;
        if known >= self.rows {
            return Ok(0);
        }
        for t in read(self.path, self.format)?.skip(usize::try_from(known)?) {
            piece.push(&t?);
            rows += 1;
            if piece.len() == PIECE_ROWS || piece.context_bytes() >= PIECE_CONTEXT_BYTES {
                append(store, std::mem::take(&mut piece), (self.id, rows))?;
                let share = numbers::share(rows, self.rows.max(1), 0);
                progress(&format!("{}: {share} stored", self.path.display()));
                if interrupt.is_set() {
                    bail!("interrupted after {} transactions", text::count(rows));
                }
            }
        }
        append(store, piece, (self.id, rows))?;
        Ok(rows - known)
    }
}

/// Stores rows durably, together with how far the file is read with them.
fn append(store: &Store, piece: Builder, stream: (StreamId, u64)) -> Result<()> {
    let (batch, names) = piece.into_parts();
    // A file is all that its programs will ever deliver.
    let delivered: Vec<_> = names.processes().map(|(id, _)| (id, DELIVERED_ALL)).collect();
    let input = Append {
        batch: Some(&batch),
        names: Some(&names),
        stream: Some(stream),
        delivered: &delivered,
        ..Append::default()
    };
    patiently(store, || store.append(&input, clock::utc_now_ns()))?;
    patiently(store, || store.sync())?;
    while store.maintain(clock::utc_now_ns())?.again {}
    Ok(())
}

/// Tries again where the store takes nothing more for now: nobody else seals here.
fn patiently(store: &Store, call: impl Fn() -> Result<u64, StoreError>) -> Result<(), StoreError> {
    let mut tries = 1;
    loop {
        match call() {
            Ok(_) => return Ok(()),
            Err(error) if error.is_passing() && !error.is_full() && tries < TRIES => {
                tries += 1;
                store.maintain(clock::utc_now_ns())?;
            }
            Err(error) => return Err(error),
        }
    }
}

type Rows = Box<dyn Iterator<Item = Result<Transaction>>>;

/// The transactions of a file.
fn read(path: &Path, format: ImportFormat) -> Result<Rows> {
    let open = || File::open(path).with_context(|| format!("open {}", path.display()));
    Ok(match format {
        ImportFormat::Xml => {
            Box::new(arm_xml::Reader::new(open()?).map(|t| t.map_err(Error::from)))
        }
        ImportFormat::Csv => {
            let reader = csv_rows::Reader::new(BufReader::new(open()?))?;
            Box::new(reader.map(|t| t.map_err(Error::from)))
        }
        ImportFormat::Parquet => Box::new(ParquetRows::open(path)?.map(|t| t.map_err(Error::from))),
    })
}

/// Format of a file, by its name or by its contents.
fn guess(path: &Path) -> Result<ImportFormat> {
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    match extension.as_deref() {
        Some("xml") => return Ok(ImportFormat::Xml),
        Some("csv") => return Ok(ImportFormat::Csv),
        Some("parquet") => return Ok(ImportFormat::Parquet),
        _ => {}
    }
    let mut begin = Vec::new();
    let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
    file.take(1024).read_to_end(&mut begin)?;
    let text = begin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&begin).trim_ascii_start();
    if begin.starts_with(b"PAR1") {
        Ok(ImportFormat::Parquet)
    } else if text.starts_with(b"<") {
        Ok(ImportFormat::Xml)
    } else if text.split(|byte| *byte == b'\n').next().is_some_and(|line| line.contains(&b',')) {
        Ok(ImportFormat::Csv)
    } else {
        bail!("the file is not XML, CSV or Parquet: name its format with --format")
    }
}

/// FNV-1a over the content, 128 bits: two files of an operator have the same one when they have the
/// same content.
fn fingerprint(path: &Path) -> Result<StreamId> {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut file = File::open(path).with_context(|| format!("open {}", path.display()))?;
    let mut buffer = vec![0; 1 << 16];
    let mut hash = OFFSET;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(StreamId(hash)),
            len => {
                for byte in &buffer[..len] {
                    hash = (hash ^ u128::from(*byte)).wrapping_mul(PRIME);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_name_or_its_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let guessed = |name: &str, content: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, content).unwrap();
            guess(&path).ok()
        };
        assert_eq!(guessed("a.XML", ""), Some(ImportFormat::Xml));
        assert_eq!(guessed("a", "\u{feff} <armData>"), Some(ImportFormat::Xml));
        assert_eq!(guessed("a", "PAR1xx"), Some(ImportFormat::Parquet));
        assert_eq!(guessed("a.txt", "application,class\n"), Some(ImportFormat::Csv));
        assert_eq!(guessed("a.txt", "words"), None);
    }

    #[test]
    fn the_fingerprint_is_fnv() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "a").unwrap();
        // The published 128-bit vector of "a".
        assert_eq!(fingerprint(&path).unwrap().0, 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
