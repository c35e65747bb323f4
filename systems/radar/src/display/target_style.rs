//! Looks of targets: colours, and sizes of what is drawn for each.

use super::raster::Rgb;

/// Dots behind the symbol.
pub(super) const HISTORY_DOTS: usize = 6;
/// Half the side of a symbol's mask, pixels.
pub(super) const SYMBOL_HALF: i32 = 6;

/// Look of a target, by what the system knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetStyle {
    /// Correlated with a flight plan.
    Correlated,
    /// Not correlated: the label shows the transponder's data.
    Uncorrelated,
    /// The track was not updated for some time.
    Coasting,
    /// Mode A 7500, 7600 or 7700.
    Emergency,
}

impl TargetStyle {
    /// Colour of symbol and label.
    pub fn colour(self) -> Rgb {
        match self {
            Self::Correlated => [186, 226, 200],
            Self::Uncorrelated => [214, 190, 120],
            Self::Coasting => [120, 128, 136],
            Self::Emergency => [255, 92, 80],
        }
    }

    /// Colour of what belongs to it but matters less: dots, vector and leader line.
    pub fn faint(self) -> Rgb {
        self.colour().map(|c| c / 2 + c / 8)
    }
}
