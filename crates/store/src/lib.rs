//! Durable transactions: a write-ahead log, and a Parquet file for every minute.
//!
//! A [`Store`] takes rows in ([`Store::append`]), makes them durable ([`Store::sync`]) and keeps
//! itself in order ([`Store::maintain`]): a minute is sealed into a segment when late rows have had
//! their time. A [`Snapshot`] reads, in any process, while the store is being written: what is in
//! segments and what is still in the log, nothing missing and nothing doubled.
//!
//! ```
//! use chronoscope_model::{Batch, Record};
//! use chronoscope_store::{Append, Options, Snapshot, Store};
//!
//! let dir = tempfile::tempdir()?;
//! let store = Store::open(dir.path(), Options::default(), 0)?;
//! let mut batch = Batch::default();
//! batch.push(bytemuck::Zeroable::zeroed(), b"");
//! let end = store.append(&Append { batch: Some(&batch), ..Append::default() }, 0)?;
//! assert_eq!(store.sync()?, end); // from here on it survives anything
//! assert_eq!(Snapshot::open(dir.path())?.row_count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Guarantees: rows below the number that [`Store::sync`] returned are there exactly once
//! after any crash, at any instant; rows and the cursors that came with them become durable
//! together; damage costs what it hit, is counted and told, and the rest stays readable; a full
//! disk refuses new rows and harms none that are there. Every byte of a sealed file is verified when
//! it is read; [`check`] reads them all, and [`repair`] makes a damaged store usable without deleting
//! anything (`docs/store.md`).
//!
//! Limits: one writer at a time; at most 2^18 rows in one append; all rows of a minute that wait
//! take memory, up to [`Options::buffer_bytes`], before the minute is sealed in parts.
//!
//! Rows that wait for their way to another host are in a [`Spool`], which has the same log. A store on
//! other machines is a [`RemoteStore`] for those who bring rows.
//!
//! Not here: questions about stored rows (`query`), rows on a cluster (`clickhouse`), reading rings
//! (`collect`), clocks (the time is an argument).

mod aliases;
mod append;
mod check;
mod checked;
mod clocks;
mod compaction;
mod compaction_state;
mod deletion;
mod deletions;
mod deliveries;
mod disk;
mod error;
mod keys;
mod layout;
mod lock;
mod losses;
mod manifest;
mod minute;
mod notes;
mod options;
mod orphans;
mod range_content;
mod recovery;
mod remote;
mod repair;
mod rows;
mod rows_out;
mod segment;
mod snapshot;
mod spool;
mod store;
mod wal;
pub mod wire;

pub use aliases::{ALIAS_AGE_NS, ALIASES_MAX, Aliases, ChainAlias};
pub use append::{Append, Positions, StreamId};
pub use check::{Checked, check};
pub use checked::EndChecksum;
pub use clocks::{CLOCK_HOSTS_MAX, ClockReading, ClockTable};
pub use compaction::{Maintained, confirm_deletion};
pub use deletion::{Deleted, RangeDeletion};
pub use deletions::{DELETIONS_MAX, Deletion, Deletions};
pub use deliveries::{DELIVERED_ALL, Deliveries, Delivery, SOURCES_MAX, SPANS_WITHIN_NS};
pub use error::{Damage, StoreError};
pub use keys::{KEYS_MAX, Keys};
pub use lock::writer;
pub use losses::{INTERVALS_MAX, Loss, LossTable};
pub use minute::{MINUTE_NS, Minute, RowKind, Slot};
pub use notes::{Ledger, StreamEnd};
pub use options::Options;
pub use range_content::RangeContent;
pub use remote::{RemoteError, RemoteNotes, RemoteStore};
pub use repair::{Repaired, repair};
pub use rows_out::{Followed, ParquetRows, ParquetWriter, Tail, Transactions};
pub use segment::{
    Order, SketchRow, each_schema_batch, read_since_root, read_sketch, seal_aside,
    seal_columns_aside, segment_file, write_segment,
};
pub use snapshot::{Segment, Snapshot, WholeStore};
pub use spool::{Spool, SpoolBacklog, SpoolBlock, SpoolOptions};
pub use store::{Backlog, Recovery, Store};

#[cfg(test)]
mod crash;
#[cfg(test)]
mod crash_points;
#[cfg(test)]
mod crash_tests;
