//! Projection from positions on the earth to the screen.

use super::raster::Rect;
use crate::geodesy::{METRES_PER_NM, Plane, Stereographic, Wgs84};

/// The part of the earth that the picture shows: north is up, one scale everywhere.
#[derive(Clone, Debug)]
pub struct View {
    plane: Stereographic,
    width: u16,
    height: u16,
    pixels_per_m: f64,
}

/// Rows at the top that belong to the status line.
pub const STATUS_ROWS: i32 = 24;

impl View {
    /// A picture of `width` × `height` pixels around `centre`, `height_nm` nautical miles high
    /// below the status line.
    pub fn new(width: u16, height: u16, centre: Wgs84, height_nm: f64) -> Self {
        let rows = f64::from(height) - f64::from(STATUS_ROWS);
        let pixels_per_m = rows.max(1.0) / (height_nm.max(0.1) * METRES_PER_NM);
        Self { plane: Stereographic::new(centre), width, height, pixels_per_m }
    }

    /// Columns of the picture.
    pub fn width(&self) -> u16 {
        self.width
    }

    /// Rows of the picture.
    pub fn height(&self) -> u16 {
        self.height
    }

    /// Area of the targets: all but the status line.
    pub fn area(&self) -> Rect {
        Rect { x0: 0, y0: STATUS_ROWS, x1: i32::from(self.width), y1: i32::from(self.height) }
    }

    /// Pixels of a length.
    pub fn length(&self, metres: f64) -> f32 {
        #[allow(clippy::cast_possible_truncation)] // a screen coordinate
        let pixels = (metres * self.pixels_per_m) as f32;
        pixels
    }

    /// Column and row of a position in degrees.
    pub fn pixel(&self, lat_deg: f64, lon_deg: f64) -> (f32, f32) {
        let Plane { x_m, y_m } = self.plane.project(Wgs84::new(lat_deg, lon_deg, 0.0));
        let middle_y = (f32::from(self.height) + STATUS_ROWS_F32) / 2.0;
        (f32::from(self.width) / 2.0 + self.length(x_m), middle_y - self.length(y_m))
    }
}

/// [`STATUS_ROWS`] as a screen coordinate.
const STATUS_ROWS_F32: f32 = 24.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_centre_is_in_the_middle_and_the_height_fills_the_picture() {
        let view = View::new(1000, 824, Wgs84::new(51.0, 10.0, 0.0), 480.0);
        assert_eq!(view.pixel(51.0, 10.0), (500.0, 424.0));
        // 4 degrees of latitude are 240 NM: half the height.
        let (_, top) = view.pixel(55.0, 10.0);
        assert!((top - 24.0).abs() < 3.0, "{top}");
    }
}
