//! The multi-radar tracker.
pub mod assignment;
pub mod grid;
pub mod imm;
pub mod kinematic;
pub mod linear;
