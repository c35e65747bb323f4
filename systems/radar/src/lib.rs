//! A radar data processing chain: generator, tracker, message server, display.

pub mod asterix;
pub mod day;
pub mod display;
pub mod evaluate;
pub mod generator;
pub mod geodesy;
pub mod link;
pub mod messages;
pub mod tracker;
pub mod traffic;
