//! When a link is to be up.

/// The passes of a link, or always.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LinkSchedule {
    /// Begin and end of each pass, UTC in nanoseconds since 1970, in the order of their begins; `None`:
    /// always.
    passes: Option<Vec<(u64, u64)>>,
}

/// What a schedule says of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassState {
    /// The link is to be up, until then (UTC in nanoseconds since 1970) or without end.
    Up {
        /// End of the pass.
        until_utc_ns: Option<u64>,
    },
    /// It is not, until the next pass begins, if there is one.
    Down {
        /// Begin of the next pass.
        next_utc_ns: Option<u64>,
    },
}

impl LinkSchedule {
    /// Of these passes, in any order; `None`: always.
    pub(super) fn new(passes: Option<Vec<(u64, u64)>>) -> Self {
        let mut passes = passes;
        if let Some(passes) = &mut passes {
            passes.sort_unstable();
        }
        Self { passes }
    }

    /// What it says of an instant. Passes that overlap or touch are one.
    pub(super) fn at(&self, utc_ns: u64) -> PassState {
        let Some(passes) = &self.passes else { return PassState::Up { until_utc_ns: None } };
        let mut end = None;
        for (from, until) in passes {
            let is_in = *from <= end.unwrap_or(utc_ns) && *until > end.unwrap_or(utc_ns);
            if is_in {
                end = Some(*until);
            }
        }
        match end {
            Some(until) => PassState::Up { until_utc_ns: Some(until) },
            None => PassState::Down {
                next_utc_ns: passes.iter().map(|pass| pass.0).find(|from| *from > utc_ns),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_half_open_and_may_overlap() {
        let schedule = LinkSchedule::new(Some(vec![(50, 60), (10, 20), (15, 30), (30, 35)]));
        let up = |until| PassState::Up { until_utc_ns: Some(until) };
        let down = |next_utc_ns| PassState::Down { next_utc_ns };
        assert_eq!(schedule.at(9), down(Some(10)));
        assert_eq!(schedule.at(10), up(35), "three passes in one");
        assert_eq!(schedule.at(34), up(35));
        assert_eq!(schedule.at(35), down(Some(50)));
        assert_eq!(schedule.at(59), up(60));
        assert_eq!(schedule.at(60), down(None));
        assert_eq!(LinkSchedule::new(Some(Vec::new())).at(5), down(None));
        assert_eq!(LinkSchedule::default().at(5), PassState::Up { until_utc_ns: None });
    }
}
