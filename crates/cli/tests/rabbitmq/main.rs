//! Three programs around a real RabbitMQ, measured by instrumentation of others as it is, and the
//! verdicts of `chronoscope chains` beside what those programs really did.
//!
//! Each scenario asks all the time: of everything and of cuts of time, while orders are on their
//! way and afterwards. The programs write what they did into files; a verdict that contradicts
//! these is wrong. RabbitMQ comes by `tools/rabbitmq`, the instrumentation by `tools/venv pika`;
//! where one cannot be had the tests say so and pass.

#![allow(clippy::unwrap_used)] // helpers of tests

mod ask;
mod judge;
mod scenarios;
#[path = "../walk_through/service.rs"]
mod service;
mod shop;
mod truth;
// Not everything that the tests of single programs need.
#[allow(dead_code)]
#[path = "../otlp/world.rs"]
mod world;
