//! One target: its data, and the positions of its parts on the screen.

use super::raster::{Frame, Mask, Rect, round};
use super::symbols::Symbols;
use super::target_style::{HISTORY_DOTS, SYMBOL_HALF, TargetStyle};
use super::text;
use super::view::View;
use crate::asterix::cat062;
use std::collections::VecDeque;

/// Least time between two history dots, ns, …
const DOT_NS: u64 = 8_000_000_000;
/// … and least distance, pixels: dots on top of each other show nothing.
const DOT_PIXELS: f32 = 5.0;
/// Look-ahead time of the speed vector, s.
const VECTOR_S: f64 = 60.0;
/// Number of places of the label around the symbol, clockwise from the upper right.
pub const LABEL_PLACES: u8 = 8;

/// Shown part of a label, as the room around it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All its lines.
    Full,
    /// The first line.
    Name,
    /// No label: it would hide more than it shows.
    Hidden,
}

/// One target on the screen.
#[derive(Clone, Debug)]
pub struct Target {
    /// Track number (I062/040).
    pub number: u16,
    /// Column and row of the position.
    pub at: (f32, f32),
    /// End of the speed vector.
    pub ahead: (f32, f32),
    /// Past positions, the latest first.
    pub history: VecDeque<(f32, f32)>,
    dotted_ns: u64,
    /// Position of the next history dot.
    dotted_at: (f32, f32),
    /// Look of the target.
    pub look: TargetStyle,
    lines: [String; 3],
    label: Mask,
    name: Mask,
    nothing: Mask,
    /// Place of the label, in `[0, LABEL_PLACES)`.
    pub place: u8,
    /// Shown part of the label.
    pub detail: Detail,
    /// Monotonic time of the last update, ns.
    pub updated_ns: u64,
}

impl Target {
    /// A target from its first update.
    pub fn new(number: u16, track: &cat062::Track, view: &View, now_ns: u64) -> Self {
        let mut target = Self {
            number,
            at: (0.0, 0.0),
            ahead: (0.0, 0.0),
            history: VecDeque::with_capacity(HISTORY_DOTS),
            dotted_ns: now_ns,
            dotted_at: (0.0, 0.0),
            look: TargetStyle::Uncorrelated,
            lines: [const { String::new() }; 3],
            label: Mask::default(),
            name: Mask::default(),
            nothing: Mask::default(),
            place: 0,
            detail: Detail::Full,
            updated_ns: now_ns,
        };
        target.update(track, view, now_ns);
        target.dotted_at = target.at;
        target
    }

    /// Takes an update in.
    pub fn update(&mut self, track: &cat062::Track, view: &View, now_ns: u64) {
        if let Some(position) = track.position {
            self.at = view.pixel(position.lat_deg, position.lon_deg);
        }
        if now_ns.saturating_sub(self.dotted_ns) >= DOT_NS {
            let (x, y) = self.dotted_at;
            let moved = (self.at.0 - x).hypot(self.at.1 - y);
            if moved >= DOT_PIXELS {
                self.history.truncate(HISTORY_DOTS - 1);
                self.history.push_front(self.dotted_at);
                self.dotted_at = self.at;
                self.dotted_ns = now_ns;
            }
        }
        let velocity = track.velocity.unwrap_or_default();
        self.ahead = (
            self.at.0 + view.length(velocity.x_m_s * VECTOR_S),
            self.at.1 - view.length(velocity.y_m_s * VECTOR_S),
        );
        self.updated_ns = now_ns;
        self.look = look(track);
        let lines = lines(track, self.look);
        if lines != self.lines {
            let [a, b, c] = &lines;
            let used: &[&str] = if c.is_empty() { &[a, b] } else { &[a, b, c] };
            self.label = text::set(used);
            // Level and speed change with every other update, the name hardly ever.
            if *a != self.lines[0] {
                self.name = text::set(&used[..1]);
            }
            self.lines = lines;
        }
    }

    /// Marks the target as coasting; returns whether it was not before.
    pub fn coast(&mut self) -> bool {
        let changed = self.look != TargetStyle::Coasting;
        self.look = TargetStyle::Coasting;
        changed
    }

    /// The lines of the label.
    pub fn lines(&self) -> &[String; 3] {
        &self.lines
    }

    /// The symbol alone.
    pub fn symbol(&self) -> Rect {
        let side = 2 * SYMBOL_HALF + 1;
        Rect::new(round(self.at.0) - SYMBOL_HALF, round(self.at.1) - SYMBOL_HALF, side, side)
    }

    /// Bounds of everything but the label: symbol, history, vector.
    pub fn body(&self) -> Rect {
        let mut body = self.symbol();
        for &(x, y) in &self.history {
            body = body.union(Rect::new(round(x) - 1, round(y) - 1, 3, 3));
        }
        body.union(line_bounds(self.at, self.ahead))
    }

    /// Text of the label at a detail.
    fn text(&self, detail: Detail) -> &Mask {
        match detail {
            Detail::Full => &self.label,
            Detail::Name => &self.name,
            Detail::Hidden => &self.nothing,
        }
    }

    /// Bounds of the label's text at its present place.
    pub fn label_text(&self) -> Rect {
        self.label_at(self.place, self.detail)
    }

    /// The label's text, were it at `place` with `detail`.
    pub fn label_at(&self, place: u8, detail: Detail) -> Rect {
        let (x, y) = (round(self.at.0), round(self.at.1));
        let text = self.text(detail);
        let (w, h) = (text.width, text.height);
        let (gap, far) = (10, 18);
        let (left, top) = match place {
            0 => (x + gap, y - gap - h),
            1 => (x + far, y - h / 2),
            2 => (x + gap, y + gap),
            3 => (x - w / 2, y + far),
            4 => (x - gap - w, y + gap),
            5 => (x - far - w, y - h / 2),
            6 => (x - gap - w, y - gap - h),
            _ => (x - w / 2, y - far - h),
        };
        Rect::new(left, top, w, h)
    }

    /// Label and leader line.
    pub fn label_box(&self) -> Rect {
        let text = self.label_text();
        if text.is_empty() {
            return text;
        }
        let (from, to) = self.leader(text);
        text.union(line_bounds(from, to))
    }

    /// Draws the parts within `clip`. `boxes` are the present [`Target::body`] and
    /// [`Target::label_box`], which the caller has at hand: most calls are for a neighbour of a
    /// change.
    pub fn draw(&self, frame: &mut Frame, symbols: &Symbols, boxes: &[Rect; 2], clip: Rect) {
        let faint = self.look.faint();
        if boxes[0].touches(clip) {
            for (age, &(x, y)) in self.history.iter().enumerate() {
                let dot = symbols.dot(age);
                frame.mask(dot, round(x) - 1, round(y) - 1, faint, clip);
            }
            frame.line(self.at, self.ahead, faint, clip);
            let (x, y) = (round(self.at.0) - SYMBOL_HALF, round(self.at.1) - SYMBOL_HALF);
            frame.mask(symbols.of(self.look), x, y, self.look.colour(), clip);
        }
        if self.detail != Detail::Hidden && boxes[1].touches(clip) {
            let text = self.label_text();
            let (from, to) = self.leader(text);
            frame.line(from, to, faint, clip);
            frame.mask(self.text(self.detail), text.x0, text.y0, self.look.colour(), clip);
        }
    }

    /// Line from the rim of the symbol to the nearest point of the label.
    fn leader(&self, text: Rect) -> ((f32, f32), (f32, f32)) {
        #[allow(clippy::cast_precision_loss)] // screen coordinates
        let near = |v: f32, low: i32, high: i32| v.clamp(low as f32, high.max(low) as f32);
        let to = (near(self.at.0, text.x0, text.x1 - 1), near(self.at.1, text.y0, text.y1 - 1));
        let (dx, dy) = (to.0 - self.at.0, to.1 - self.at.1);
        let length = dx.hypot(dy).max(1.0);
        let rim = 6.0_f32.min(length);
        ((self.at.0 + dx / length * rim, self.at.1 + dy / length * rim), to)
    }
}

/// Pixels that a line may touch.
fn line_bounds(a: (f32, f32), b: (f32, f32)) -> Rect {
    Rect {
        x0: round(a.0.min(b.0)) - 1,
        y0: round(a.1.min(b.1)) - 1,
        x1: round(a.0.max(b.0)) + 3,
        y1: round(a.1.max(b.1)) + 3,
    }
}

fn look(track: &cat062::Track) -> TargetStyle {
    let status = track.status.unwrap_or_default();
    match track.mode_a.map(|m| m.code) {
        Some(0o7500 | 0o7600 | 0o7700) => TargetStyle::Emergency,
        _ if status.coasting => TargetStyle::Coasting,
        _ if track.flight_plan.is_some() => TargetStyle::Correlated,
        _ => TargetStyle::Uncorrelated,
    }
}

/// Callsign (or code); level, trend and ground speed in tens of knots; type and destination.
fn lines(track: &cat062::Track, look: TargetStyle) -> [String; 3] {
    let plan = track.flight_plan.as_ref();
    let code = track.mode_a.map(|m| m.code);
    let name = plan
        .and_then(|p| p.callsign.clone())
        .or_else(|| track.target_identification.map(|t| t.callsign.to_string()))
        .filter(|name| !name.is_empty());
    let first = match (look, name, code) {
        (TargetStyle::Emergency, name, Some(code)) => {
            format!("{} {code:04o}", name.unwrap_or_default()).trim_start().to_owned()
        }
        (_, Some(name), _) => name,
        (_, None, Some(code)) => format!("A{code:04o}"),
        (_, None, None) => format!("#{}", track.track_number.unwrap_or_default()),
    };
    let level = track.measured_flight_level.or(track.barometric_altitude.map(|b| b.level));
    let level = level.map_or_else(|| "---".to_owned(), |l| format!("{:03}", l.round()));
    let trend = match track.rate_of_climb_ft_min {
        Some(rate) if rate > 300.0 => '↑',
        Some(rate) if rate < -300.0 => '↓',
        _ => ' ',
    };
    let velocity = track.velocity.unwrap_or_default();
    let knots = velocity.x_m_s.hypot(velocity.y_m_s) * 3600.0 / 1852.0;
    let second = format!("{level}{trend}{:02}", (knots / 10.0).round());
    let third = plan
        .map(|p| {
            let part = |text: &Option<String>| text.clone().unwrap_or_default();
            format!("{} {}", part(&p.aircraft_type), part(&p.destination)).trim().to_owned()
        })
        .unwrap_or_default();
    [first, second, third]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::cat062::{FlightPlan, ModeA, Position, Track, Velocity};
    use crate::geodesy::Wgs84;

    fn view() -> View {
        View::new(1000, 1024, Wgs84::new(51.0, 10.0, 0.0), 500.0)
    }

    fn track() -> Track {
        Track {
            position: Some(Position { lat_deg: 51.0, lon_deg: 10.0 }),
            velocity: Some(Velocity { x_m_s: 231.5, y_m_s: 0.0 }),
            mode_a: Some(ModeA { code: 0o1234, ..ModeA::default() }),
            measured_flight_level: Some(75.25),
            rate_of_climb_ft_min: Some(-1500.0),
            ..Track::default()
        }
    }

    #[test]
    fn a_label_says_what_the_controller_needs() {
        let bare = Target::new(7, &track(), &view(), 0);
        // 231.5 m/s are 450 kt.
        assert_eq!(bare.lines(), &["A1234", "075↓45", ""]);
        let plan = FlightPlan {
            callsign: Some("DLH4AB".to_owned()),
            aircraft_type: Some("A320".to_owned()),
            destination: Some("EDDM".to_owned()),
            ..FlightPlan::default()
        };
        let known = Track { flight_plan: Some(plan), ..track() };
        let known = Target::new(7, &known, &view(), 0);
        assert_eq!(known.lines(), &["DLH4AB", "075↓45", "A320 EDDM"]);
        assert_eq!(known.look, TargetStyle::Correlated);
        let code = ModeA { code: 0o7700, ..ModeA::default() };
        let emergency = Target::new(7, &Track { mode_a: Some(code), ..track() }, &view(), 0);
        assert_eq!(
            (emergency.look, emergency.lines()[0].as_str()),
            (TargetStyle::Emergency, "7700")
        );
    }

    #[test]
    fn history_follows_at_its_interval_and_is_bounded() {
        let mut target = Target::new(7, &track(), &view(), 0);
        let at = |second: u64| {
            let lon_deg = 9.0 + 0.01 * second as f64;
            Track { position: Some(Position { lat_deg: 51.0, lon_deg }), ..track() }
        };
        for second in 1..=17 {
            target.update(&at(second), &view(), second * 1_000_000_000);
        }
        assert_eq!(target.history.len(), 2);
        for second in 18..200 {
            target.update(&at(second), &view(), second * 1_000_000_000);
        }
        assert_eq!(target.history.len(), HISTORY_DOTS);
        // The latest is the nearest.
        assert!(target.history[0].0 > target.history[5].0);
        // Standing still leaves no dots.
        let mut still = Target::new(8, &track(), &view(), 0);
        still.update(&track(), &view(), 60_000_000_000);
        assert!(still.history.is_empty());
    }
}
