//! Transactions as XML in ARM's words, lossless. Format: `docs/formats/arm-xml.md`, schema
//! `docs/formats/arm.xsd`.
//!
//! ```
//! use chronoscope_formats::arm_xml::{Reader, Writer};
//! # use chronoscope_model::{ClassId, Names, Record, Transaction};
//! # let transaction = Transaction::from_record(&Record::default(), b"", &Names::default());
//! let mut writer = Writer::new(Vec::new())?;
//! writer.write(&transaction)?;
//! let bytes = writer.finish()?;
//! let back: Result<Vec<_>, _> = Reader::new(&bytes[..]).collect();
//! assert_eq!(back?, [transaction]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Limits: a document type is refused, and with it every entity beyond XML's own five; tags and
//! texts of at most 1 MiB; 64 attributes; elements nested 16 deep.

mod escape;
mod read;
mod tags;
mod vocabulary;
mod write;

pub use read::Reader;
pub use tags::XmlError;
pub use vocabulary::NAMESPACE;
pub use write::Writer;

#[cfg(test)]
mod tests;
