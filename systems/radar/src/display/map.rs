//! The map under the targets, drawn once.

use super::map_data::{AIRPORTS, BORDERS, GERMANY, MapLine, OTHER_LAND};
use super::map_file::{MapFile, MapLayer, Place, Shape};
use super::raster::{Frame, Mask, Rgb, round};
use super::text;
use super::view::View;
use crate::geodesy::METRES_PER_NM;
use std::sync::Arc;
use tiny_skia::{
    Color, FillRule, LineCap, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

/// The ground of the picture: what no land covers.
pub const SEA: Rgb = [13, 18, 24];
const LAND: Rgb = [20, 26, 33];
const HOME: Rgb = [29, 38, 47];
const COAST: Rgb = [58, 74, 90];
const BORDER: Rgb = [44, 55, 66];
const HOME_BORDER: Rgb = [98, 122, 144];
const RING: Rgb = [38, 50, 58];
const RADAR: Rgb = [64, 140, 146];
const SECTOR: Rgb = [75, 95, 82];
const AIRWAY: Rgb = [60, 70, 96];
const AREA: Rgb = [110, 84, 70];
const AIRPORT: Rgb = [96, 112, 128];

/// Layers of the map besides land.
#[derive(Clone, Debug, Default)]
pub struct MapLayers {
    /// Radar sites: name, latitude, longitude in degrees.
    pub radars: Vec<(String, f64, f64)>,
    /// Centre of the range rings, latitude and longitude in degrees.
    pub rings: Option<(f64, f64)>,
    /// The operator's map, in place of the coarse one of Germany.
    pub file: Option<Arc<MapFile>>,
}

/// Distance of one range ring from the next, NM.
const RING_NM: f64 = 50.0;
const RINGS: u32 = 6;

/// Draws the map of a view.
pub fn draw(view: &View, layers: &MapLayers) -> Frame {
    let Some(mut map) = Pixmap::new(view.width().into(), view.height().into()) else {
        return Frame::new(view.width(), view.height(), SEA);
    };
    map.fill(colour(SEA));
    match &layers.file {
        Some(file) => given(&mut map, view, file),
        None => germany(&mut map, view),
    }
    if let Some(centre) = layers.rings {
        rings(&mut map, view, centre);
    }
    let mut frame = frame_of(view, &map);
    match &layers.file {
        Some(file) => names(&mut frame, view, file),
        None => {
            for (name, lat, lon) in AIRPORTS {
                airport(&mut frame, view, name, f64::from(*lat), f64::from(*lon));
            }
        }
    }
    for (name, lat, lon) in &layers.radars {
        radar(&mut frame, view, name, *lat, *lon);
    }
    frame
}

/// The coarse outline of Germany and its surroundings.
fn germany(map: &mut Pixmap, view: &View) {
    let path = |line: MapLine, closed| {
        path(view, line.iter().map(|&(lat, lon)| (lat.into(), lon.into())), closed)
    };
    for land in OTHER_LAND {
        area(map, path(land, true), LAND, Some(COAST));
    }
    area(map, path(GERMANY, true), HOME, None);
    for border in BORDERS {
        stroke(map, path(border, false), BORDER, 1.0, &[]);
    }
    stroke(map, path(GERMANY, false), HOME_BORDER, 1.2, &[]);
}

/// Areas and lines of the operator's map.
fn given(map: &mut Pixmap, view: &View, file: &MapFile) {
    for feature in &file.features {
        match &feature.shape {
            Shape::Point(_) => {}
            Shape::Line(line) => {
                let colour = if feature.layer == MapLayer::Airway { AIRWAY } else { BORDER };
                stroke(map, path(view, line.iter().copied(), false), colour, 1.0, &[]);
            }
            Shape::Area(rings) => {
                let outer = rings.first().and_then(|ring| path(view, ring.iter().copied(), true));
                match feature.layer {
                    MapLayer::Land => area(map, outer, LAND, Some(COAST)),
                    MapLayer::Sector => stroke(map, outer, SECTOR, 1.0, &[8.0, 5.0]),
                    _ => stroke(map, outer, AREA, 1.0, &[3.0, 3.0]),
                }
            }
        }
    }
}

/// Points of the operator's map, with their names.
fn names(frame: &mut Frame, view: &View, file: &MapFile) {
    for feature in &file.features {
        let Shape::Point((lat, lon)) = feature.shape else { continue };
        match feature.layer {
            MapLayer::Radar => radar(frame, view, &feature.name, lat, lon),
            _ => airport(frame, view, &feature.name, lat, lon),
        }
    }
}

fn frame_of(view: &View, map: &Pixmap) -> Frame {
    // Everything drawn is opaque: premultiplied colours equal plain ones.
    let pixels = map.data().as_chunks::<4>().0.to_vec();
    Frame::from_pixels(view.width(), view.height(), pixels)
        .unwrap_or_else(|| Frame::new(view.width(), view.height(), SEA))
}

fn colour([r, g, b]: Rgb) -> Color {
    Color::from_rgba8(r, g, b, 255)
}

fn paint(rgb: Rgb) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour(rgb));
    paint
}

fn path(view: &View, line: impl Iterator<Item = Place>, closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (index, (lat, lon)) in line.enumerate() {
        let (x, y) = view.pixel(lat, lon);
        if index == 0 {
            builder.move_to(x, y);
        } else {
            builder.line_to(x, y);
        }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

fn area(map: &mut Pixmap, outline: Option<Path>, fill: Rgb, edge: Option<Rgb>) {
    let Some(outline) = outline else { return };
    map.fill_path(&outline, &paint(fill), FillRule::Winding, Transform::identity(), None);
    if let Some(edge) = edge {
        stroke(map, Some(outline), edge, 1.0, &[]);
    }
}

fn stroke(map: &mut Pixmap, path: Option<Path>, rgb: Rgb, width: f32, dash: &[f32]) {
    let Some(path) = path else { return };
    let dash = (!dash.is_empty()).then(|| StrokeDash::new(dash.to_vec(), 0.0)).flatten();
    let stroke = Stroke { width, line_cap: LineCap::Round, dash, ..Stroke::default() };
    map.stroke_path(&path, &paint(rgb), &stroke, Transform::identity(), None);
}

fn rings(map: &mut Pixmap, view: &View, (lat, lon): (f64, f64)) {
    let (x, y) = view.pixel(lat, lon);
    for ring in 1..=RINGS {
        let radius = view.length(f64::from(ring) * RING_NM * METRES_PER_NM);
        stroke(map, PathBuilder::from_circle(x, y, radius), RING, 1.0, &[2.0, 5.0]);
    }
}

fn label(frame: &mut Frame, text: &str, x: i32, y: i32, rgb: Rgb) {
    let clip = frame.bounds();
    frame.mask(&text::set(&[text]), x, y, rgb, clip);
}

fn airport(frame: &mut Frame, view: &View, name: &str, lat: f64, lon: f64) {
    let (x, y) = view.pixel(lat, lon);
    let (x, y) = (round(x), round(y));
    let clip = frame.bounds();
    let (left, top) = (x - 3, y - 3);
    let mut cross = Mask::new(7, 7);
    for i in 0..7 {
        cross.coverage[3 * 7 + i] = 255;
        cross.coverage[i * 7 + 3] = 255;
    }
    frame.mask(&cross, left, top, AIRPORT, clip);
    label(frame, name, x + 6, y - 6, BORDER);
}

fn radar(frame: &mut Frame, view: &View, name: &str, lat: f64, lon: f64) {
    let (x, y) = view.pixel(lat, lon);
    let clip = frame.bounds();
    let corners = [(x, y - 5.0), (x + 5.0, y + 4.0), (x - 5.0, y + 4.0)];
    for (index, &corner) in corners.iter().enumerate() {
        frame.line(corner, corners[(index + 1) % 3], RADAR, clip);
    }
    label(frame, name, round(x) - 10, round(y) + 6, RADAR);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geodesy::Wgs84;

    /// The colour at a place, far enough from any line.
    fn at(frame: &Frame, view: &View, lat: f64, lon: f64) -> [u8; 3] {
        let (x, y) = view.pixel(lat, lon);
        let width = usize::from(view.width());
        let index = usize::try_from(round(y)).unwrap() * width + usize::try_from(round(x)).unwrap();
        frame.octets()[index * 4..index * 4 + 3].try_into().unwrap()
    }

    #[test]
    fn cities_are_on_the_right_side_of_the_border_and_the_coast() {
        let view = View::new(900, 924, Wgs84::new(51.0, 10.3, 0.0), 520.0);
        let map = draw(&view, &MapLayers::default());
        for (lat, lon) in [(52.2, 8.0), (50.5, 9.6), (48.0, 10.5), (51.6, 13.9), (54.2, 9.5)] {
            assert_eq!(at(&map, &view, lat, lon), HOME, "{lat} {lon}");
        }
        for (lat, lon) in [(49.8, 14.4), (48.5, 6.0), (52.4, 16.5), (52.2, 5.6), (47.1, 8.2)] {
            assert_eq!(at(&map, &view, lat, lon), LAND, "{lat} {lon}");
        }
        for (lat, lon) in [(54.4, 7.0), (54.6, 14.2)] {
            assert_eq!(at(&map, &view, lat, lon), SEA, "{lat} {lon}");
        }
    }
}
