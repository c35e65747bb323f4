//! Our numbers beside peers’.

pub mod radar_names;
pub mod rings;
