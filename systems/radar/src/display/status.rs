//! The status line at the top of the picture.

use super::freshness::{PictureAge, PictureState};
use super::load::UpdateMode;
use super::raster::{Frame, Rect, Rgb, round};
use super::text;
use super::view::{STATUS_ROWS, View};
use crate::geodesy::METRES_PER_NM;

const GROUND: Rgb = [30, 38, 47];
const EDGE: Rgb = [64, 80, 94];
const PLAIN: Rgb = [160, 176, 190];
const GOOD: Rgb = [130, 200, 160];
const ALERT: Rgb = [255, 176, 80];
/// Ground of the line over a stale picture.
const STALE: Rgb = [150, 24, 24];
const ON_STALE: Rgb = [255, 255, 255];

/// Values of the status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// UTC now, ns.
    pub(super) utc_ns: i64,
    /// Number of targets shown.
    pub(super) targets: usize,
    /// Mode of drawing updates.
    pub(super) mode: UpdateMode,
    /// Whether the message server is there.
    pub(super) connected: bool,
    /// Updates in the last second.
    pub(super) updates: u64,
    /// Whether the picture is current.
    pub(super) picture: PictureAge,
    /// The tracker in operation, of a pair; 0 where there is one alone.
    pub(super) tracker: u8,
}

/// Draws the line over whatever was there.
pub(super) fn draw(frame: &mut Frame, view: &View, status: Status) {
    let width = i32::from(view.width());
    let bar = Rect::new(0, 0, width, STATUS_ROWS);
    let stale = stale(status);
    frame.fill(bar, if stale.is_some() { STALE } else { GROUND }, 255);
    frame.fill(Rect::new(0, STATUS_ROWS - 1, width, 1), EDGE, 255);

    let of_day = status.utc_ns.rem_euclid(86_400_000_000_000) / 1_000_000_000;
    let clock = format!("{:02}:{:02}:{:02} UTC", of_day / 3600, of_day / 60 % 60, of_day % 60);
    let (mode, mode_colour) = match status.mode {
        UpdateMode::Standard => ("STD", GOOD),
        UpdateMode::Averaging => ("MPA", ALERT),
    };
    let (link, link_colour) = match status.picture.state {
        PictureState::Empty => ("NO TRACKS", PLAIN),
        _ => ("MSG UP", GOOD),
    };
    let mut pen = Pen { frame, bar, x: 10 };
    pen.write(&clock, PLAIN);
    pen.write(&format!("TRACKS {:4}", status.targets), PLAIN);
    pen.write(&format!("UPD {:5}/s", status.updates), PLAIN);
    match stale {
        Some(words) => pen.write(&words, ON_STALE),
        None => {
            pen.write(mode, mode_colour);
            pen.write(link, link_colour);
        }
    }
    if status.tracker > 0 {
        pen.write(&format!("TRACKER {}", status.tracker), PLAIN);
    }
    scale(frame, view, bar);
}

/// Words about a picture that must not be taken for the present one.
fn stale(status: Status) -> Option<String> {
    let age = status.picture.age_ms.map(|age_ms| format!("STALE PICTURE {} s", age_ms / 1000));
    let of = |why: &str| format!("{}: {why}", age.as_deref().unwrap_or("NO PICTURE"));
    match status.picture.state {
        _ if !status.connected => Some(of("MSG DOWN")),
        PictureState::Stale if age.is_none() => Some(of("NO TRACKER")),
        PictureState::Stale => Some(of("NO UPDATES")),
        PictureState::Empty | PictureState::Current => None,
    }
}

/// A bar 50 nautical miles long, at the right.
fn scale(frame: &mut Frame, view: &View, bar: Rect) {
    let length = round(view.length(50.0 * METRES_PER_NM)).clamp(1, bar.x1 / 3);
    let (x1, y) = (bar.x1 - 14, 16);
    frame.fill(Rect::new(x1 - length, y, length, 1), PLAIN, 255);
    for x in [x1 - length, x1 - 1] {
        frame.fill(Rect::new(x, y - 4, 1, 5), PLAIN, 255);
    }
    let label = text::set(&["50 NM"]);
    frame.mask(&label, x1 - length - label.width - 8, 5, PLAIN, bar);
}

struct Pen<'a> {
    frame: &'a mut Frame,
    bar: Rect,
    x: i32,
}

impl Pen<'_> {
    fn write(&mut self, words: &str, colour: Rgb) {
        let mask = text::set(&[words]);
        self.frame.mask(&mask, self.x, 5, colour, self.bar);
        self.x += mask.width + 22;
    }
}
