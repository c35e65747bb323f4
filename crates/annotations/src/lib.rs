//! Annotations of a store: marks (an instant with a text, as of a deployment) and named views
//! (addresses of the page). They are in one file beside the store, `annotations.log`.
//!
//! ```
//! use chronoscope_annotations::{Annotations, NewMark};
//!
//! let dir = tempfile::tempdir()?;
//! let annotations = Annotations::beside(dir.path());
//! let mark = annotations.add_mark(NewMark {
//!     at_ns: 1_000_000_000,
//!     text: "v4.2 on shop".to_owned(),
//!     ..NewMark::default()
//! })?;
//! assert_eq!(annotations.read()?.marks, [mark]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Guarantees: what a method returned for is durable (`fdatasync`); a write that was cut off harms
//! nothing before it; several processes may write at a time, because each takes the file's lock for
//! its one line. Damaged lines are left out and told with their number. Entries of a kind that is
//! not known, of a newer version, are counted and kept. The format is `docs/formats/annotations.md`.
//!
//! Limits: [`TEXT_MAX`], [`ENTRIES_MAX`]. Reading takes the whole file, a few hundred octets an entry.
//!
//! Not here: marks that are found in rows (`query`), who may write (`server`).

mod entry;
mod error;
mod file;

pub use entry::{Mark, NamedView, NewMark};
pub use error::{ADDRESS_BYTES_MAX, AnnotationsError, ENTRIES_MAX, TEXT_MAX};
pub use file::{Annotations, Content, LineDamage};
