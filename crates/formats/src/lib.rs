//! Transactions in other people's formats: JSON as every `--json` and the HTTP side print it
//! ([`json`]), XML in ARM's words ([`arm_xml`]), CSV ([`csv_rows`]), tables of databases ([`sql`]),
//! traces for a viewer ([`trace`]); and [`rows`], through which words enter a store.
//!
//! ```
//! use chronoscope_formats::json;
//! assert_eq!(json::document("classes", serde_json::json!([])).to_string(),
//!     r#"{"classes":[],"version":1}"#);
//! ```
//!
//! Limits: 64-bit ids are written as hexadecimal texts, because a JSON number of that size does
//! not survive every reader.
//!
//! Not here: files (`store`), and the words on a terminal (`cli`).
//!
//! # Where to look
//!
//! * rows from other formats: `rows/mod.rs`; formats one by one: `docs/export.md`,
//!   `docs/formats/`
//! * spans of OpenTelemetry: `otlp/read.rs`, `docs/otlp.md`

pub mod arm_xml;
mod bounded;
pub mod csv_rows;
pub mod json;
pub mod otlp;
mod pairs;
pub mod rows;
pub mod sql;
pub mod trace;
