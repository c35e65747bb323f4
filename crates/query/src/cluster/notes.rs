//! What senders said besides rows, and whether that tells all that was lost.

use super::ask::ClusterView;
use super::missing::Missing;
use chronoscope_clickhouse::ClickHouseError;
use chronoscope_model::ProcessId;
use chronoscope_store::{ClockTable, Ledger, Loss, Minute, WholeStore};
use std::ops::Range;

/// Losses, deliveries, deletions and clocks. The first shard has them: where it is missing, nothing
/// is known of them.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) ledger: Ledger,
    /// Since when losses are kept; `None` where nobody can say.
    losses_since_ns: Option<i64>,
}

impl ClusterView {
    /// What the first shard has of them.
    pub(super) fn notes(&self, missing: &mut Missing) -> Result<Notes, ClickHouseError> {
        let first = &self.cluster().nodes()[0];
        if missing.0.iter().any(|shard| shard.is(first)) {
            return Ok(Notes::default());
        }
        match self.read_notes() {
            Err(error) => match self.cluster().left_out(first, &error) {
                Some(shard) if self.cluster().shard_count() > 1 => {
                    missing.0.push(shard);
                    Ok(Notes::default())
                }
                _ => Err(error),
            },
            read => read,
        }
    }

    fn read_notes(&self) -> Result<Notes, ClickHouseError> {
        let (mut ledger, losses_since_ns) = self.cluster().ledger()?;
        if ledger.deliveries.iter().any(|(_, delivery)| delivery.exports) {
            // An exporter drops spans while its collector is away, and nobody knows which one that is.
            let (process, from_ns, until_ns) = (ProcessId::NONE, i64::MIN + 1, i64::MAX);
            ledger.losses.insert(Loss { process, from_ns, until_ns, rows: 0 });
        }
        Ok(Notes { ledger, losses_since_ns: Some(losses_since_ns) })
    }

    /// Readings of the hosts' clocks beside that of the first shard.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn clocks(&self) -> Result<ClockTable, ClickHouseError> {
        self.cluster().clock_table(&(i64::MIN..i64::MAX))
    }

    /// The store of which a question needs the rows from the minute `first` on. `extent` is asked for
    /// where the caller does not know it.
    pub(super) fn whole(
        &self,
        notes: &Notes,
        first: i64,
        extent: Option<Range<i64>>,
        mut missing: Missing,
    ) -> Result<WholeStore, ClickHouseError> {
        let known_from = match notes.losses_since_ns {
            _ if !missing.0.is_empty() => None,
            Some(i64::MIN) => Some(i64::MIN),
            // The minute in which it began is known in part.
            Some(since_ns) => Some(Minute::of(since_ns).0 + 1),
            None => None,
        };
        let mut extent = extent;
        let mut knows_losses = known_from.is_some_and(|from| from <= first);
        if let Some(from) = known_from.filter(|_| !knows_losses) {
            // No row is older than the first minute that has any.
            extent = match extent {
                None => self.reachable_extent(&mut missing)?,
                known => known,
            };
            let oldest = extent.as_ref().map_or(i64::MAX, |extent| Minute::of(extent.start).0);
            knows_losses = from <= oldest && missing.0.is_empty();
        }
        Ok(WholeStore { extent, knows_losses, damage: missing.into_damage() })
    }
}
