//! Blocks of categories that the tracker does not use, for people: how many there are by now.

use std::collections::BTreeMap;

/// How often they are told while there are more, ns.
const INTERVAL_NS: u64 = 60_000_000_000;

/// What was told of them.
#[derive(Debug, Default)]
pub(super) struct NotUsed {
    told: BTreeMap<u8, u64>,
    told_ns: Option<u64>,
}

impl NotUsed {
    /// The `counts` of categories that have grown, once a minute. `now_ns` is monotonic.
    pub(super) fn news(&mut self, counts: &BTreeMap<u8, u64>, now_ns: u64) -> Vec<String> {
        let told_ns = *self.told_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(told_ns) < INTERVAL_NS {
            return Vec::new();
        }
        self.told_ns = Some(now_ns);
        let grown = counts
            .iter()
            .filter(|(category, count)| self.told.get(category).is_none_or(|told| told < count));
        let news = grown.map(|(category, count)| {
            format!("ASTERIX category {category:03} is not used: {count} blocks by now")
        });
        let news = news.collect();
        self.told.clone_from(counts);
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_told_once_a_minute_while_they_grow() {
        let mut not_used = NotUsed::default();
        let mut told = |count: u64, second: u64| {
            not_used.news(&BTreeMap::from([(247, count)]), second * 1_000_000_000)
        };
        assert!(told(1, 5).is_empty() && told(20, 64).is_empty());
        assert_eq!(told(30, 65), ["ASTERIX category 247 is not used: 30 blocks by now"]);
        assert!(told(40, 66).is_empty(), "it was just told");
        assert_eq!(told(40, 125).len(), 1);
        assert!(told(40, 185).is_empty(), "no more have come");
    }
}
