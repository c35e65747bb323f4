//! OTLP, OpenTelemetry's protocol: spans in, transactions out; and back.
//!
//! [`read`] takes the bytes of an `ExportTraceServiceRequest` (opentelemetry-proto 1.10, trace
//! signal) and makes rows of its spans. It reads the wire itself, without a tree of messages in
//! between: what a request may cost is bounded by [`Limits`] whatever its bytes say, and one span
//! that is wrong is refused by name and position while the others are kept. Only bytes that are no
//! message at all refuse the whole.
//!
//! [`Request`] is the other direction: transactions become a request of spans, and what was a span
//! before becomes the same again.
//!
//! A span is a transaction of the class `service.name::NAME`. What a transaction has no field for
//! is kept as properties and metrics; `docs/otlp.md` has the whole table.
//!
//! ```
//! use chronoscope_formats::otlp::{self, Limits, Vocabulary};
//! let nothing = otlp::read(&[], &Limits::default(), &Vocabulary::default()).unwrap();
//! assert_eq!((nothing.batch.len(), nothing.refused), (0, 0));
//! let error = otlp::read(&[0x0a, 0x09, 0x00], &Limits::default(), &Vocabulary::default());
//! assert_eq!(error.unwrap_err().to_string(), "octet 0: the message ends within a field");
//! ```
//!
//! [`from_json`] converts a request in OTLP's JSON to the same bytes.
//!
//! Limits: [`Limits`]. Not here: HTTP and gRPC (`server`), joining chains (`store`), metrics and
//! logs of OTLP.

mod context_builder;
mod events_and_links;
mod json;
mod json_any;
mod keys;
mod limits;
mod read;
mod resource;
mod span;
mod value;
mod vocabulary;
mod wire;
mod write;

pub use json::{GROWTH, JsonError, from_json};
pub use limits::Limits;
pub use read::{Joined, Received, read};
pub use span::SpanError;
pub use vocabulary::{OTHER, Vocabulary};
pub use wire::WireError;
pub use write::{Request, refusal};
