//! Stretches of a chain in which nothing ran.

/// Stretches between the first start and the last end in which nothing ran, given `(start, end)` in
/// any order.
pub(super) fn idle(mut ran: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    ran.sort_unstable();
    let mut idle = Vec::new();
    let mut until: Option<i64> = None;
    for (start, end) in ran {
        if let Some(until) = until.filter(|until| *until < start) {
            idle.push((until, start));
        }
        until = Some(until.map_or(end, |until| until.max(end)));
    }
    idle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_is_what_no_row_covers() {
        assert_eq!(idle(vec![(30, 40), (0, 10), (5, 12), (12, 20)]), [(20, 30)]);
        assert!(idle(vec![(0, 50), (10, 20)]).is_empty() && idle(Vec::new()).is_empty());
    }
}
