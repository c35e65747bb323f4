//! Files of transactions that others wrote: XML, CSV or Parquet. A file is checked to its end before
//! any of it is stored, so that one that is refused changes nothing; then it is read in pieces, each
//! with its place in the file.
//!
//! ```
//! use chronoscope_import::ImportFile;
//!
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("rows.csv");
//! std::fs::write(
//!     &path,
//!     "application,class,start,elapsed_ns,id,parent,chain_high,chain_low\nA,b,1,2,3,0,0,4\n",
//! )?;
//! let file = ImportFile::check(&path, None, |_| true)?;
//! assert_eq!(file.row_count(), 1);
//! let pieces = file.pieces(0)?.collect::<Result<Vec<_>, _>>()?;
//! assert_eq!((pieces.len(), pieces[0].end_row), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Guarantees: the same content has the same [`ImportFile::id`], whatever its name, and its rows the
//! same numbers: a store that numbers what it takes by them takes the content once, and an import
//! that was interrupted continues where it ended.
//!
//! Not here: the formats (`formats`, and Parquet in `store`), and storing the pieces.

mod file;
mod fingerprint;
mod piece;
mod transactions;

pub use file::ImportFile;
pub use fingerprint::Fingerprint;
pub use piece::{Piece, Pieces};
pub use transactions::{FileFormat, ImportError};
