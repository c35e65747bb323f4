//! Classes of the transactions of a working position.

use chronoscope_record::{Class, class};

pub(super) static UPDATE_TRACK: Class = class!("TrackStore_updateTrack");
pub(super) static UPDATE_TRACK_MPA: Class = class!("TrackStore_updateTrackMPA");
pub(super) static RECALCULATE: Class = class!("TargetView_recalculate");
pub(super) static REDRAW: Class = class!("TargetView_redraw");
