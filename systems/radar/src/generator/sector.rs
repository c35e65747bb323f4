//! Sectors of a radar's turn.

/// Sectors of a turn, 11.25° each.
pub const SECTORS: u32 = 32;

/// Sector of an azimuth within a turn.
pub(super) fn sector_of(azimuth_deg: f64) -> u64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in [0, SECTORS)")]
    let sector = (azimuth_deg.rem_euclid(360.0) / 360.0 * f64::from(SECTORS)) as u64;
    sector.min(u64::from(SECTORS) - 1)
}
