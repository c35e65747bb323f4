//! The commands, one file each.

mod chains;
mod live;
mod serve;

pub use chains::chains;
pub use live::{context, live};
pub use serve::serve;
