//! The controller working position: track messages in, pixels out.
//!
//! Each update is `TrackStore_updateTrack`, child of the message server's transaction by the
//! correlator of the message; in it `TargetView_recalculate` moves the target and
//! `TargetView_redraw` repairs the pixels that this spoils ([`Picture`]). When the process cannot
//! keep up, it collects updates and draws them together every 500 ms ([`LoadControl`],
//! multiplot averaging).
//!
//! The picture is drawn in memory, by the processor; [`WorkingPosition::png`] shows it.
//!
//! Not here: a window, pan and zoom by hand, conflict alerts.

mod load;
pub mod map;
mod map_data;
mod picture;
mod position;
mod raster;
pub mod server;
mod status;
mod symbols;
mod target;
mod text;
mod view;

pub use load::{LoadControl, Mode, Policy};
pub mod stca;
pub use picture::{Picture, Slot};
pub use position::{PositionCounts, WorkingPosition};
pub use raster::{Frame, Mask, Rect, Rgb};
pub use symbols::Symbols;
pub use target::{Detail, LABEL_PLACES, Look, Target};
pub use view::{STATUS_ROWS, View};
