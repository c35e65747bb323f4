//! Our numbers beside peers’.

pub mod rings;
