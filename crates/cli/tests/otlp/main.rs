//! OpenTelemetry's own SDKs send to `chronoscope serve`, and questions are asked.
//!
//! The Python SDK comes by `tools/venv otel`, the Java SDK by `tools/otel-java`, the JavaScript SDK by
//! `tools/node otel`; where one cannot be had its tests say so and pass.

#![allow(clippy::unwrap_used)] // helpers of tests

mod export;
mod hostile;
mod java;
mod javascript;
mod log;
mod python;
mod world;
