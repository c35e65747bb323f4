//! Pages of `docs` that lead a stranger from nothing to an answer, followed word for word.
//!
//! Every file of a page is written and every command of it is typed into one shell, and the output
//! has to be the one that the page shows, but for its numbers. What surrounds the reader is real:
//! RabbitMQ, Kafka, PostgreSQL, Prometheus, Alertmanager, and OpenTelemetry's own instrumentation,
//! unmodified. Only two things differ: the kernel chooses the ports, in the page's block of
//! settings; and packages are those that `tools/setup test` installs, in the versions that the page
//! names. Where one of them cannot be had a test says so and passes.

#![allow(clippy::unwrap_used)] // helpers of tests

mod kafka;
mod page;
mod rabbitmq;
mod reader;
mod service;
mod terminal;
