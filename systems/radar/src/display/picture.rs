//! The picture: a cached map with the targets over it, redrawn where it changed.
//!
//! Processing an update ([`Picture::recalculate`]) moves the target's parts and notes the
//! rectangles to repair; [`Picture::redraw`] copies the map back there and draws every target that
//! touches them, in a fixed order and clipped. So the picture is at any time, pixel for pixel, the
//! one that drawing everything anew would give, at the cost of the changes.

use super::raster::{Frame, Rect};
use super::symbols::Symbols;
use super::target::{Detail, LABEL_PLACES, Target};
use super::target_style::TargetStyle;
use super::view::View;
use crate::asterix::cat062;
use std::collections::HashMap;

/// Name of a target inside the picture: its place in the table and in the order of drawing.
pub type Slot = u32;

/// Side of a cell of the index, pixels: about a label's width.
const CELL: i32 = 64;
/// A label is looked for a better place at most this often, ns: labels that jump cannot be read.
const PLACE_NS: u64 = 5_000_000_000;
/// A label hides at most so much, in hundredths of it, where it is shown with all its lines, …
const FULL_MOST: i64 = 12;
/// … and with its first.
const NAME_MOST: i64 = 25;
/// A target not updated for this long is drawn as coasting, ns.
const COAST_NS: u64 = 20_000_000_000;
/// A target not updated for this long is taken off, ns.
const GONE_NS: u64 = 90_000_000_000;

#[derive(Debug)]
struct Entry {
    target: Target,
    placed_ns: u64,
}

/// Map and targets.
#[derive(Debug)]
pub struct Picture {
    view: View,
    map: Frame,
    frame: Frame,
    symbols: Symbols,
    entries: Vec<Option<Entry>>,
    /// Rectangles of each slot in the index and, once redrawn, on the screen: body and label.
    /// Beside the entries and not in them, because most looks at a target end here.
    boxes: Vec<[Rect; 2]>,
    free: Vec<Slot>,
    by_number: HashMap<u16, Slot>,
    columns: i32,
    rows: i32,
    cells: Vec<Vec<Slot>>,
    /// Rectangles spoilt and not repaired yet.
    spoilt: Vec<Rect>,
    /// Number of the last collection of each slot by [`Picture::touching`], to collect it once.
    stamps: Vec<u32>,
    stamp: u32,
    found: Vec<Slot>,
    obstacles: Vec<(Rect, i64)>,
}

impl Picture {
    /// A picture without targets over `map`, which has the view's size.
    pub fn new(view: View, map: Frame) -> Self {
        let columns = i32::from(view.width()) / CELL + 1;
        let rows = i32::from(view.height()) / CELL + 1;
        let count = usize::try_from(columns * rows).unwrap_or(0);
        Self {
            frame: map.clone(),
            view,
            map,
            symbols: Symbols::new(),
            entries: Vec::new(),
            boxes: Vec::new(),
            free: Vec::new(),
            by_number: HashMap::new(),
            columns,
            rows,
            cells: vec![Vec::new(); count],
            spoilt: Vec::new(),
            stamps: Vec::new(),
            stamp: 0,
            found: Vec::new(),
            obstacles: Vec::new(),
        }
    }

    /// Pixels of the picture.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Pixels of the picture, to draw outside the targets' area.
    pub fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frame
    }

    /// The current view.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Number of targets.
    pub fn target_count(&self) -> usize {
        self.by_number.len()
    }

    /// Iterates over all targets.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.entries.iter().flatten().map(|e| &e.target)
    }

    /// Takes an update of a track in; nothing is drawn yet. `now_ns` is monotonic.
    pub fn recalculate(&mut self, track: &cat062::Track, now_ns: u64) {
        let Some(number) = track.track_number else { return };
        let slot = match self.by_number.get(&number) {
            Some(&slot) => {
                let view = &self.view;
                if let Some(Some(entry)) = self.entries.get_mut(slot as usize) {
                    entry.target.update(track, view, now_ns);
                }
                slot
            }
            None => self.insert(Target::new(number, track, &self.view, now_ns)),
        };
        self.place_label(slot, now_ns);
        self.moved(slot);
    }

    /// Takes a target off; nothing is drawn yet.
    pub fn remove(&mut self, number: u16) {
        let Some(slot) = self.by_number.remove(&number) else { return };
        if self.entries[slot as usize].take().is_some() {
            let boxes = std::mem::take(&mut self.boxes[slot as usize]);
            self.unlist(slot, boxes);
            self.spoilt.extend(boxes);
            self.free.push(slot);
        }
    }

    /// Marks targets that were not updated for long, and removes ended ones; nothing is drawn yet.
    /// Call about once a second.
    pub fn sweep(&mut self, now_ns: u64) {
        let mut gone = Vec::new();
        for (entry, boxes) in self.entries.iter_mut().zip(&self.boxes) {
            let Some(entry) = entry else { continue };
            let silent_ns = now_ns.saturating_sub(entry.target.updated_ns);
            if silent_ns > GONE_NS {
                gone.push(entry.target.number);
            } else if silent_ns > COAST_NS && entry.target.coast() {
                self.spoilt.extend(boxes);
            }
        }
        for number in gone {
            self.remove(number);
        }
    }

    /// Repairs what one update spoilt: few and small rectangles.
    pub fn redraw(&mut self) {
        let mut spoilt = std::mem::take(&mut self.spoilt);
        merge(&mut spoilt);
        for &area in &spoilt {
            self.repair(area);
        }
        spoilt.clear();
        self.spoilt = spoilt;
    }

    /// Repairs what many updates spoilt: each tile of the screen at most once.
    pub fn redraw_all(&mut self) {
        if self.spoilt.is_empty() {
            return;
        }
        let spoilt = std::mem::take(&mut self.spoilt);
        let mut dirty = vec![false; self.cells.len()];
        for &area in &spoilt {
            self.each_cell(area, |cell| dirty[cell] = true);
        }
        for row in 0..self.rows {
            let mut column = 0;
            while column < self.columns {
                let start = column;
                while column < self.columns && dirty[self.cell(column, row)] {
                    column += 1;
                }
                if column > start {
                    // A run of tiles at once: labels that span two are drawn once.
                    let run = Rect::new(start * CELL, row * CELL, (column - start) * CELL, CELL);
                    self.repair(run);
                }
                column += 1;
            }
        }
    }

    /// The picture drawn anew as a whole, without the status line.
    pub fn drawn_anew(&self) -> Frame {
        let mut frame = self.map.clone();
        for (entry, boxes) in self.entries.iter().zip(&self.boxes) {
            let Some(entry) = entry else { continue };
            entry.target.draw(&mut frame, &self.symbols, boxes, self.view.area());
        }
        frame
    }

    fn insert(&mut self, target: Target) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.boxes.push(<_>::default());
            self.stamps.push(0);
            Slot::try_from(self.entries.len() - 1).unwrap_or(Slot::MAX)
        });
        self.by_number.insert(target.number, slot);
        // Placed long ago: the first update finds the label a place.
        self.entries[slot as usize] = Some(Entry { target, placed_ns: 0 });
        slot
    }

    /// Enters the target where it is now and notes what that spoils.
    fn moved(&mut self, slot: Slot) {
        let Some(Some(entry)) = self.entries.get(slot as usize) else { return };
        let new = [entry.target.body(), entry.target.label_box()];
        let old = std::mem::replace(&mut self.boxes[slot as usize], new);
        // Most updates move a target by less than a pixel.
        if old != new {
            self.unlist(slot, old);
            self.list(slot, new);
        }
        for (old, new) in old.into_iter().zip(new) {
            self.spoilt.extend([old, new]);
        }
    }

    fn repair(&mut self, area: Rect) {
        let area = area.intersect(self.view.area());
        if area.is_empty() {
            return;
        }
        self.frame.copy_from(&self.map, area);
        let mut found = std::mem::take(&mut self.found);
        self.touching(area, &mut found);
        // The order of drawing is that of the slots, everywhere and always.
        found.sort_unstable();
        for &slot in &found {
            let at = slot as usize;
            if let Some(Some(entry)) = self.entries.get(at) {
                entry.target.draw(&mut self.frame, &self.symbols, &self.boxes[at], area);
            }
        }
        self.found = found;
    }

    /// Collects every target that touches `area`, once.
    fn touching(&mut self, area: Rect, found: &mut Vec<Slot>) {
        found.clear();
        self.stamp = self.stamp.wrapping_add(1);
        let (x0, x1, y0, y1) = self.cell_range(area);
        for y in y0..=y1 {
            for x in x0..=x1 {
                let cell = self.cell(x, y);
                for &slot in &self.cells[cell] {
                    let at = slot as usize;
                    if self.stamps[at] != self.stamp
                        && self.boxes[at].iter().any(|b| b.touches(area))
                    {
                        self.stamps[at] = self.stamp;
                        found.push(slot);
                    }
                }
            }
        }
    }

    /// Finds a label a place, and so much detail as there is room for: in a crowd all labels
    /// together would hide each other and the map.
    fn place_label(&mut self, slot: Slot, now_ns: u64) {
        let Some(Some(entry)) = self.entries.get_mut(slot as usize) else { return };
        let first = entry.placed_ns == 0;
        if !first && now_ns.saturating_sub(entry.placed_ns) < PLACE_NS {
            return;
        }
        entry.placed_ns = now_ns.max(1);
        let mut obstacles = std::mem::take(&mut self.obstacles);
        if first || !self.stands_well(slot, &mut obstacles) {
            self.place_anew(slot, first, &mut obstacles);
        }
        self.obstacles = obstacles;
    }

    /// Whether a label may stay where it is, judged by the objects under it alone. Most may.
    fn stands_well(&mut self, slot: Slot, obstacles: &mut Vec<(Rect, i64)>) -> bool {
        let Some(Some(entry)) = self.entries.get(slot as usize) else { return true };
        // One with less than all its lines may get more: that takes a look around.
        if entry.target.detail != Detail::Full {
            return false;
        }
        let label = entry.target.label_text();
        self.obstacles(slot, label, obstacles);
        let most = stays_hidden(Detail::Full);
        hidden(label, obstacles, self.view.area(), most) <= most
    }

    /// Looks at all places around the symbol; keeps the present one where it will do.
    fn place_anew(&mut self, slot: Slot, first: bool, obstacles: &mut Vec<(Rect, i64)>) {
        let Some(Some(entry)) = self.entries.get(slot as usize) else { return };
        let around = (0..LABEL_PLACES)
            .map(|place| entry.target.label_at(place, Detail::Full))
            .fold(Rect::default(), Rect::union);
        self.obstacles(slot, around, obstacles);
        let Some(Some(entry)) = self.entries.get_mut(slot as usize) else { return };
        let (place, detail) = (entry.target.place, entry.target.detail);
        let urgent = entry.target.look == TargetStyle::Emergency;
        let area = self.view.area();
        let cost = |place, detail, most| {
            hidden(entry.target.label_at(place, detail), obstacles, area, most)
        };
        // An emergency has all its lines whatever they hide: there the least has to be known.
        let full_most = if urgent { i64::MAX } else { FULL_MOST };
        let full = best(full_most, |place, most| cost(place, Detail::Full, most));
        // What stands well enough stays: a label that jumps cannot be read.
        let stays = stays_hidden(detail);
        let may_stay = !first && (detail != Detail::Name || full.0 != 0);
        if may_stay && cost(place, detail, stays) <= stays {
            return;
        }
        (entry.target.place, entry.target.detail) = if full.0 <= full_most {
            (full.1, Detail::Full)
        } else {
            let name = best(NAME_MOST, |place, most| cost(place, Detail::Name, most));
            let detail = if name.0 <= NAME_MOST { Detail::Name } else { Detail::Hidden };
            (name.1, detail)
        };
    }

    /// Objects within `around` that a label of `slot` should not cover, each with its weight.
    fn obstacles(&mut self, slot: Slot, around: Rect, obstacles: &mut Vec<(Rect, i64)>) {
        obstacles.clear();
        let mut found = std::mem::take(&mut self.found);
        self.touching(around, &mut found);
        for other in found.iter().filter(|&&other| other != slot) {
            let Some(Some(other)) = self.entries.get(*other as usize) else { continue };
            // Hiding a symbol is worse than hiding a label.
            let parts = [(other.target.label_text(), 1), (other.target.symbol(), 2)];
            obstacles.extend(parts.into_iter().filter(|(part, _)| part.touches(around)));
        }
        self.found = found;
    }

    /// Enters a slot in each cell that its boxes touch, once.
    fn list(&mut self, slot: Slot, boxes: [Rect; 2]) {
        self.each_cell_of(boxes, |list| list.push(slot));
    }

    fn unlist(&mut self, slot: Slot, boxes: [Rect; 2]) {
        self.each_cell_of(boxes, |list| {
            if let Some(at) = list.iter().position(|&s| s == slot) {
                list.swap_remove(at);
            }
        });
    }

    fn each_cell_of(&mut self, boxes: [Rect; 2], mut change: impl FnMut(&mut Vec<Slot>)) {
        let body = self.cell_range(boxes[0]);
        let label = self.cell_range(boxes[1]);
        let of_body = |x, y| (body.0..=body.1).contains(&x) && (body.2..=body.3).contains(&y);
        for (is_label, (x0, x1, y0, y1)) in [(false, body), (true, label)] {
            for y in y0..=y1 {
                for x in x0..=x1 {
                    if !(is_label && of_body(x, y)) {
                        let cell = self.cell(x, y);
                        change(&mut self.cells[cell]);
                    }
                }
            }
        }
    }

    fn each_cell(&self, area: Rect, mut see: impl FnMut(usize)) {
        let (x0, x1, y0, y1) = self.cell_range(area);
        for y in y0..=y1 {
            for x in x0..=x1 {
                see(self.cell(x, y));
            }
        }
    }

    /// First and last column, first and last row of the cells of `area`; none when it lies
    /// outside the screen.
    fn cell_range(&self, area: Rect) -> (i32, i32, i32, i32) {
        let area = area.intersect(self.frame.bounds());
        if area.is_empty() {
            return (0, -1, 0, -1);
        }
        (area.x0 / CELL, (area.x1 - 1) / CELL, area.y0 / CELL, (area.y1 - 1) / CELL)
    }

    fn cell(&self, column: i32, row: i32) -> usize {
        usize::try_from(row * self.columns + column).unwrap_or(0)
    }
}

/// Share of a label, in hundredths, that lies over something or outside of `area`; once it is more
/// than `most`, how much more does not matter.
fn hidden(label: Rect, obstacles: &[(Rect, i64)], area: Rect, most: i64) -> i64 {
    let whole = label.area().max(1);
    // The bound for `most`; any larger value rounds down to more than `most`.
    let enough = most.saturating_add(1).saturating_mul(whole);
    let mut cost = 4 * (label.area() - label.intersect(area).area()) * 100;
    for (obstacle, weight) in obstacles {
        if cost >= enough {
            break; // in a crowd this is soon
        }
        cost += 100 * weight * label.intersect(*obstacle).area();
    }
    cost / whole
}

/// Largest hidden share of a label, in hundredths, before another place is searched for.
fn stays_hidden(detail: Detail) -> i64 {
    match detail {
        Detail::Full => 30,
        Detail::Name => 50,
        Detail::Hidden => -1,
    }
}

/// Finds the first place where a label hides least, and its cost. Where every cost is above `most`,
/// returns some place and a cost above `most`. `cost` gives a place's cost, exact up to its second
/// argument.
fn best(most: i64, cost: impl Fn(u8, i64) -> i64) -> (i64, u8) {
    let mut least = (i64::MAX, 0);
    for place in 0..LABEL_PLACES {
        least = least.min((cost(place, most.min(least.0)), place));
        if least.0 <= 0 {
            break; // nothing is hidden: no place is better
        }
    }
    least
}

/// Joins rectangles wherever one around both is hardly larger than the two.
fn merge(areas: &mut Vec<Rect>) {
    areas.retain(|a| !a.is_empty());
    let mut index = 0;
    while index < areas.len() {
        let joined = (index + 1..areas.len()).find(|&other| {
            let union = areas[index].union(areas[other]);
            union.area() <= (areas[index].area() + areas[other].area()) * 11 / 10
        });
        match joined {
            Some(other) => {
                areas[index] = areas[index].union(areas.swap_remove(other));
                // Larger now: it may take in one that was passed over.
                index = 0;
            }
            None => index += 1,
        }
    }
}

#[cfg(test)]
mod tests;
