//! Durations of linked minutes: the native rows of a minute once more, as their durations since
//! their roots, and how many there are of each path.
//!
//! Both are made by the shard itself from `transactions`, under the version of the minute that is
//! being sealed ([`crate::SealedMinute`]). That version is published only when they have as many rows
//! as were linked, so that a reader sees all of them or none.

mod prune;
pub(crate) mod tables;

use crate::cluster::Cluster;
use crate::error::ClickHouseError;
use chronoscope_model::Flags;
use std::time::Duration;

/// How long the durations of a version stay after another one has replaced it: a question that takes
/// longer has to look whether one of its minutes was linked anew ([`Cluster::is_linked_anew`]).
pub const DURATIONS_KEPT: Duration = Duration::from_mins(10);

const FOREIGN: u8 = Flags::FOREIGN.0;

/// The value of the column `cell` for a version of a minute.
pub fn duration_cell(minute: i64, version: u64) -> String {
    format!("{minute}.{version}")
}

impl Cluster {
    /// Fills in the durations of a minute of a shard under a version that nobody has seen yet;
    /// whether there are `rows` of them now.
    ///
    /// # Errors
    /// [`ClickHouseError`]; what was filled in then is of a version that is never published.
    ///
    /// # Panics
    /// When there is no such shard.
    pub fn fill_durations(
        &self,
        shard: usize,
        (minute, version): (i64, u64),
        rows: u64,
    ) -> Result<bool, ClickHouseError> {
        let node = &self.nodes()[shard];
        let cell = duration_cell(minute, version);
        let native = format!(
            "(SELECT minute, '{cell}' AS cell, top, path, host, \
             host = '' OR host != ifNull(root_host, '') AS crosses, \
             toUnixTimestamp64Nano(root_start) AS root_start_ns, \
             toUnixTimestamp64Nano(start) + elapsed_ns - root_start_ns AS duration_ns \
             FROM transactions WHERE minute = {minute} AND bitAnd(flags, {FOREIGN}) = 0)"
        );
        node.execute(
            &[],
            &format!(
                "INSERT INTO durations (minute, cell, top, path, root_start_ns, duration_ns, host) \
                 SELECT minute, cell, top, path, root_start_ns, duration_ns, host FROM {native}"
            ),
        )?;
        node.execute(
            &[],
            &format!(
                "INSERT INTO path_extents (minute, cell, top, path, rows, negative, first_ns, last_ns, \
                 longest_ns, crossing, shortest_ns) \
                 SELECT minute, cell, top, path, count(), countIf(duration_ns < 0), \
                 minIf(root_start_ns, duration_ns >= 0), maxIf(root_start_ns, duration_ns >= 0), \
                 max(duration_ns), countIf(crosses), minIf(duration_ns, duration_ns >= 0) FROM {native} GROUP BY minute, cell, top, path"
            ),
        )?;
        let within = format!("minute = {minute} AND cell = '{cell}'");
        let counts = node.execute(
            &[("select_sequential_consistency", "1")],
            &format!(
                "SELECT (SELECT count() FROM durations WHERE {within}), \
                 (SELECT sum(rows) FROM path_extents WHERE {within})"
            ),
        )?;
        // Rows came or went meanwhile, or an insert was sent twice: the minute is linked again.
        Ok(counts == format!("{rows}\t{rows}"))
    }
}
