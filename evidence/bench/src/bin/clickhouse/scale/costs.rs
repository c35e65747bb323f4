//! What a row and what an insert cost: the line through several clusters.

use super::measure::Measured;

/// Costs, by least squares over all clusters that were measured. Seconds of a processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    /// The shards' time for a row.
    pub(crate) shards_row_s: f64,
    /// A shard's time for its part of an insert, however many rows that has.
    pub(crate) shards_insert_s: f64,
    /// Our time for a row, and for a shard's part of an insert.
    pub(crate) ours_row_s: f64,
    pub(crate) ours_insert_s: f64,
    /// Linking and sketches, a row: the shards' time and ours.
    pub(crate) link_shards_s: f64,
    pub(crate) link_ours_s: f64,
    /// Durations to a leaf, a row of the store.
    pub(crate) acpd_shards_s: f64,
    pub(crate) acpd_ours_s: f64,
    /// Largest part of the insert's time of a cluster that the line does not explain.
    pub(crate) insert_residual: f64,
    /// Bytes a row.
    pub(crate) sent_bytes: f64,
    pub(crate) disk_bytes: f64,
    /// Times that a row is written, the first time included.
    pub(crate) written: f64,
}

impl Costs {
    /// `None` where there are fewer than three sizes of a cluster, or no line is through them.
    pub(crate) fn of(measured: &[Measured]) -> Option<Self> {
        let mut sizes: Vec<usize> = measured.iter().map(|one| one.shards).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.len() < 3 {
            return None;
        }
        let points = |of: fn(&Measured) -> f64| -> Vec<[f64; 3]> {
            let parts = |one: &Measured| (one.inserts * one.shards as u64) as f64;
            measured.iter().map(|one| [one.rows as f64, parts(one), of(one)]).collect()
        };
        let insert = points(|one| one.insert_servers_s);
        let (shards_row_s, shards_insert_s) = line(&insert)?;
        let (ours_row_s, ours_insert_s) = line(&points(|one| one.insert_ours_s))?;
        let rows: f64 = measured.iter().map(|one| one.rows as f64).sum();
        let mean = |of: fn(&Measured) -> f64| measured.iter().map(of).sum::<f64>() / rows;
        let off = |[rows, parts, took]: &[f64; 3]| {
            (rows * shards_row_s + parts * shards_insert_s - took).abs() / took
        };
        Some(Self {
            shards_row_s,
            shards_insert_s,
            ours_row_s,
            ours_insert_s,
            link_shards_s: mean(|one| one.link_servers_s),
            link_ours_s: mean(|one| one.link_ours_s),
            acpd_shards_s: mean(|one| one.acpd_servers_s),
            acpd_ours_s: mean(|one| one.acpd_ours_s),
            insert_residual: insert.iter().map(off).fold(0.0, f64::max),
            sent_bytes: mean(|one| one.sent_bytes),
            disk_bytes: mean(|one| one.disk_bytes),
            written: 1.0 + mean(|one| one.merged_rows as f64),
        })
    }
}

/// The `(a, b)` for which `a x + b y` is nearest to `z`, relative to `z`, over points `[x, y, z]`.
fn line(points: &[[f64; 3]]) -> Option<(f64, f64)> {
    let (mut xx, mut xy, mut yy, mut x1, mut y1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for [x, y, z] in points {
        let (x, y) = (x / z, y / z);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
        (x1, y1) = (x1 + x, y1 + y);
    }
    let determinant = xx * yy - xy * xy;
    let (a, b) = ((x1 * yy - y1 * xy) / determinant, (y1 * xx - x1 * xy) / determinant);
    (a.is_finite() && b.is_finite()).then_some((a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_goes_through_all_points_is_found() {
        let points = [[1e6, 20.0], [1e6, 40.0], [2e6, 300.0]];
        let points = points.map(|[x, y]| [x, y, x * 2e-6 + y * 4e-2]);
        let (a, b) = line(&points).unwrap();
        assert!((a - 2e-6).abs() < 1e-12 && (b - 4e-2).abs() < 1e-8, "{a} {b}");
        assert!(line(&[[1.0, 2.0, 3.0]; 3]).is_none(), "they are one point");
    }
}
