//! The commands, one file each.

mod chains;
mod live;
mod serve;

pub(crate) use chains::chains;
pub(crate) use live::{context, live};
pub(crate) use serve::serve;
