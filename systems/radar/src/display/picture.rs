//! The picture: a cached map, the targets over it, and how a change becomes pixels.
//!
//! Taking an update in ([`Picture::recalculate`]) moves the target's parts and notes which
//! rectangles that spoils; repairing them ([`Picture::redraw`]) copies the map back and draws
//! every target that touches them, in a fixed order and clipped. So the picture is at any time,
//! pixel for pixel, what drawing everything anew would give, at the cost of what changed.

use super::raster::{Frame, Rect};
use super::symbols::Symbols;
use super::target::{Detail, LABEL_PLACES, Target};
use super::view::View;
use crate::asterix::cat062;
use std::collections::HashMap;

/// Name of a target inside the picture: its place in the table and in the order of drawing.
pub type Slot = u32;

/// Side of a cell of the index, pixels: about a label's width.
const CELL: i32 = 64;
/// A label is looked for a better place at most this often, ns: labels that jump cannot be read.
const PLACE_NS: u64 = 5_000_000_000;
/// A target not updated for this long is drawn as coasting, ns.
const COAST_NS: u64 = 20_000_000_000;
/// A target not updated for this long is taken off, ns.
const GONE_NS: u64 = 90_000_000_000;

#[derive(Debug)]
struct Entry {
    target: Target,
    /// Where it is entered in the index and, once redrawn, on the screen.
    boxes: [Rect; 2],
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
    free: Vec<Slot>,
    by_number: HashMap<u16, Slot>,
    columns: i32,
    rows: i32,
    cells: Vec<Vec<Slot>>,
    /// Rectangles spoilt and not repaired yet.
    spoilt: Vec<Rect>,
    /// When each slot was last collected by [`Picture::touching`], to collect it once.
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

    /// The pixels.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The pixels, for what is drawn outside the targets' area.
    pub fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frame
    }

    /// The view.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Targets now.
    pub fn target_count(&self) -> usize {
        self.by_number.len()
    }

    /// All targets.
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
        if let Some(entry) = self.entries[slot as usize].take() {
            self.unlist(slot, entry.boxes);
            self.spoilt.extend(entry.boxes);
            self.free.push(slot);
        }
    }

    /// Marks what has not been heard of for long, and takes off what is gone; nothing is drawn
    /// yet. Call about once a second.
    pub fn sweep(&mut self, now_ns: u64) {
        let mut gone = Vec::new();
        for entry in self.entries.iter_mut().flatten() {
            let silent_ns = now_ns.saturating_sub(entry.target.updated_ns);
            if silent_ns > GONE_NS {
                gone.push(entry.target.number);
            } else if silent_ns > COAST_NS && entry.target.coast() {
                self.spoilt.extend(entry.boxes);
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

    /// What the picture would be if everything were drawn anew, status line left out.
    pub fn drawn_anew(&self) -> Frame {
        let mut frame = self.map.clone();
        for entry in self.entries.iter().flatten() {
            entry.target.draw(&mut frame, &self.symbols, self.view.area());
        }
        frame
    }

    fn insert(&mut self, target: Target) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.stamps.push(0);
            Slot::try_from(self.entries.len() - 1).unwrap_or(Slot::MAX)
        });
        self.by_number.insert(target.number, slot);
        let empty = [Rect::default(); 2];
        // Placed long ago: the first update finds the label a place.
        self.entries[slot as usize] = Some(Entry { target, boxes: empty, placed_ns: 0 });
        slot
    }

    /// Enters the target where it is now and notes what that spoils.
    fn moved(&mut self, slot: Slot) {
        let Some(Some(entry)) = self.entries.get_mut(slot as usize) else { return };
        let old = entry.boxes;
        let new = [entry.target.body(), entry.target.label_box()];
        entry.boxes = new;
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
            if let Some(Some(entry)) = self.entries.get(slot as usize) {
                entry.target.draw(&mut self.frame, &self.symbols, area);
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
                    let Some(Some(entry)) = self.entries.get(at) else { continue };
                    if self.stamps[at] != self.stamp && entry.boxes.iter().any(|b| b.touches(area))
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
        let (current, urgent) = (
            (entry.target.place, entry.target.detail),
            entry.target.look == super::target::Look::Emergency,
        );
        let mut obstacles = std::mem::take(&mut self.obstacles);
        self.obstacles(slot, &mut obstacles);
        let Some(Some(entry)) = self.entries.get_mut(slot as usize) else { return };
        let area = self.view.area();
        let hidden = |(place, detail)| {
            let label = entry.target.label_at(place, detail);
            let cost: i64 = obstacles.iter().map(|(o, w)| w * label.intersect(*o).area()).sum();
            // Share of the label that lies over something, in hundredths.
            (cost + 4 * (label.area() - label.intersect(area).area())) * 100 / label.area().max(1)
        };
        // What stands well enough stays: a label that jumps cannot be read.
        let stays = match current.1 {
            Detail::Full => 30,
            Detail::Name => 50,
            Detail::Hidden => -1,
        };
        let full = best(Detail::Full, hidden);
        if !first && hidden(current) <= stays && !(current.1 == Detail::Name && full.0 == 0) {
            self.obstacles = obstacles;
            return;
        }
        let name = best(Detail::Name, hidden);
        let (place, detail) = match (full, name) {
            ((cost, place), _) if cost <= 12 || urgent => (place, Detail::Full),
            (_, (cost, place)) if cost <= 25 => (place, Detail::Name),
            (_, (_, place)) => (place, Detail::Hidden),
        };
        entry.target.place = place;
        entry.target.detail = detail;
        self.obstacles = obstacles;
    }

    /// What a label of `slot` should not cover, each with how much it matters.
    fn obstacles(&mut self, slot: Slot, obstacles: &mut Vec<(Rect, i64)>) {
        obstacles.clear();
        let Some(Some(entry)) = self.entries.get(slot as usize) else { return };
        let around = (0..LABEL_PLACES)
            .map(|place| entry.target.label_at(place, Detail::Full))
            .fold(Rect::default(), Rect::union);
        let mut found = std::mem::take(&mut self.found);
        self.touching(around, &mut found);
        for other in found.iter().filter(|&&other| other != slot) {
            let Some(Some(other)) = self.entries.get(*other as usize) else { continue };
            obstacles.push((other.target.label_text(), 1));
            // Hiding a symbol is worse than hiding a label.
            obstacles.push((other.target.symbol(), 2));
        }
        self.found = found;
    }

    fn list(&mut self, slot: Slot, boxes: [Rect; 2]) {
        for area in boxes {
            let (x0, x1, y0, y1) = self.cell_range(area);
            for y in y0..=y1 {
                for x in x0..=x1 {
                    let cell = self.cell(x, y);
                    self.cells[cell].push(slot);
                }
            }
        }
    }

    fn unlist(&mut self, slot: Slot, boxes: [Rect; 2]) {
        for area in boxes {
            let (x0, x1, y0, y1) = self.cell_range(area);
            for y in y0..=y1 {
                for x in x0..=x1 {
                    let cell = self.cell(x, y);
                    let list = &mut self.cells[cell];
                    if let Some(at) = list.iter().position(|&s| s == slot) {
                        list.swap_remove(at);
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

/// The place where a label of `detail` hides least, after what it hides there.
fn best(detail: Detail, hidden: impl Fn((u8, Detail)) -> i64) -> (i64, u8) {
    (0..LABEL_PLACES).map(|place| (hidden((place, detail)), place)).min().unwrap_or_default()
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
