//! Shards that do not answer, where an answer may be without them.

use chronoscope_clickhouse::MissingShard;
use chronoscope_store::Damage;

/// Shards that did not answer while a question was answered.
#[derive(Debug, Default)]
pub(super) struct Missing(pub(super) Vec<MissingShard>);

impl Missing {
    /// What the answer says of them, each once.
    pub(super) fn into_damage(mut self) -> Vec<Damage> {
        self.0.sort_by(|a, b| a.name.cmp(&b.name));
        self.0.dedup_by(|a, b| a.name == b.name);
        let part =
            |MissingShard { name, reason }| Damage::missing_part(format!("shard {name}"), reason);
        self.0.into_iter().map(part).collect()
    }
}
