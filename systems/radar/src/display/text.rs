//! Text as coverage masks: what labels and the status line are written with.

use super::raster::Mask;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Rows from one line of text to the next. The glyphs are 16 rows high with room for accents that
/// the labels do not use.
const LINE_ROWS: i32 = 13;
/// Rows of a glyph.
const GLYPH_ROWS: i32 = 16;
/// Rows of nothing above the tallest glyph.
const HEADROOM: i32 = 2;

/// Columns of one character.
fn character_columns() -> i32 {
    i32::try_from(get_raster_width(FontWeight::Regular, RasterHeight::Size16)).unwrap_or(8)
}

/// Sets lines of text. ASCII, and the arrows `↑` and `↓`; other characters come out as blanks.
pub(super) fn set(lines: &[&str]) -> Mask {
    let columns = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    let rows = i32::try_from(lines.len()).unwrap_or(0);
    if columns == 0 {
        return Mask::default();
    }
    let width = character_columns() * i32::try_from(columns.min(200)).unwrap_or(0);
    let mut mask = Mask::new(width, LINE_ROWS * rows + 1);
    for (row, line) in lines.iter().enumerate() {
        for (column, character) in line.chars().take(200).enumerate() {
            let x = character_columns() * i32::try_from(column).unwrap_or(0);
            let y = LINE_ROWS * i32::try_from(row).unwrap_or(0) - HEADROOM;
            place(&mut mask, character, x, y);
        }
    }
    mask
}

fn place(mask: &mut Mask, character: char, x: i32, y: i32) {
    match character {
        '↑' => arrow(mask, x, y, false),
        '↓' => arrow(mask, x, y, true),
        _ => {
            let Some(glyph) = get_raster(character, FontWeight::Regular, RasterHeight::Size16)
            else {
                return;
            };
            for (row, pixels) in (0..GLYPH_ROWS).zip(glyph.rows()) {
                mark(mask, x, y + row, pixels);
            }
        }
    }
}

/// The font has no arrows in its Latin range; a climb has to be seen at a glance.
fn arrow(mask: &mut Mask, x: i32, y: i32, down: bool) {
    const SHAPE: [&[u8; 5]; 8] =
        [b"..#..", b".###.", b"#.#.#", b"..#..", b"..#..", b"..#..", b"..#..", b"..#.."];
    for (row, line) in (0..).zip(SHAPE) {
        for (column, &cell) in (0..).zip(line) {
            let row = if down { 7 - row } else { row };
            if cell == b'#' {
                mark(mask, x + 1 + column, y + 4 + row, &[255]);
            }
        }
    }
}

/// Glyph boxes of neighbouring lines overlap, so coverage adds up instead of replacing.
fn mark(mask: &mut Mask, x: i32, y: i32, coverage: &[u8]) {
    if x < 0 || y < 0 || x >= mask.width || y >= mask.height {
        return;
    }
    let (Ok(at), Ok(room)) = (usize::try_from(y * mask.width + x), usize::try_from(mask.width - x))
    else {
        return;
    };
    for (old, new) in mask.coverage[at..].iter_mut().zip(coverage.iter().take(room)) {
        *old = (*old).max(*new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_as_wide_as_its_longest_line() {
        let mask = set(&["DLH4AB", "330 ↑ 45", "A320 EDDM"]);
        assert_eq!(mask.width, 9 * character_columns());
        assert_eq!(mask.height, 3 * LINE_ROWS + 1);
        assert!(mask.coverage.contains(&255));
        assert_eq!(set(&[""]), Mask::default());
    }

    #[test]
    fn climbing_and_descending_look_different_and_upside_down() {
        let (up, down) = (set(&["↑"]), set(&["↓"]));
        let rows = |m: &Mask| -> Vec<Vec<u8>> {
            m.coverage
                .chunks(usize::try_from(m.width).unwrap())
                .map(<[u8]>::to_vec)
                .filter(|r| r.iter().any(|&c| c > 0))
                .collect()
        };
        let mut turned = rows(&down);
        turned.reverse();
        assert_eq!(rows(&up), turned);
        assert_ne!(up, down);
    }
}
