//! The commands, one file each.

mod live;

pub use live::{context, live};
