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
//! Or it is drawn by browsers ([`browser`]): then this process keeps what there is to show, finds
//! conflicts ([`stca`]), and a redraw ends when a browser has shown it.
//!
//! Not here: a window of its own.

mod airspace;
pub mod alerts;
pub mod browser;
pub mod chart;
mod classes;
mod cleared;
mod freshness;
mod geojson;
mod load;
#[cfg(test)]
mod load_peaks;
pub mod map;
mod map_data;
pub mod map_file;
mod picture;
mod position;
mod raster;
pub mod server;
mod status;
pub mod stca;
mod surface;
mod symbols;
mod target;
mod target_style;
mod text;
mod view;
pub mod world;
pub mod zones;

pub use freshness::{Freshness, PictureAge, PictureState};
pub use load::{LoadControl, LoadSeen, Policy, UpdateMode};
pub use picture::{Picture, Slot};
pub use position::{PositionCounts, WorkingPosition};
pub use raster::{Frame, Mask, Rect, Rgb};
pub use surface::Surface;
pub use symbols::Symbols;
pub use target::{Detail, LABEL_PLACES, Target};
pub use target_style::TargetStyle;
pub use view::{STATUS_ROWS, View};
