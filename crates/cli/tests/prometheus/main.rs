//! Metrics as a real Prometheus reads them and receives them, and the dashboards and alerts over them.
//!
//! Where `prometheus` (a Debian package) cannot be had, each test says so loudly and tests nothing.

#![allow(clippy::unwrap_used)] // helpers of tests

mod grafana;
mod remote_write;
mod scrape;
mod world;
