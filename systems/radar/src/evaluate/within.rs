//! Shares of reports whose errors are within limits.

use std::fmt;
use std::str::FromStr;

/// A kind of error of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Horizontal distance, m.
    Distance,
    /// Along the reference's course, m.
    Along,
    /// Across it, m.
    Across,
    /// How far the report is behind along the reference's course, divided by the speed, s.
    Latency,
    /// Ground speed, m/s.
    Speed,
    /// Course, degrees.
    Course,
    /// Level, ft.
    Level,
    /// Rate of climb, ft/min.
    Climb,
}

impl ErrorKind {
    /// All of them, with their names and units.
    const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::Distance, "distance", "m"),
        (Self::Along, "along", "m"),
        (Self::Across, "across", "m"),
        (Self::Latency, "latency", "s"),
        (Self::Speed, "speed", "m/s"),
        (Self::Course, "course", "°"),
        (Self::Level, "level", "ft"),
        (Self::Climb, "climb", "ft/min"),
    ];

    fn name_and_unit(self) -> (&'static str, &'static str) {
        let [.., last] = Self::ALL;
        let found = Self::ALL.into_iter().find(|(kind, ..)| *kind == self).unwrap_or(last);
        (found.1, found.2)
    }
}

/// A limit for one kind of error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorLimit {
    /// The kind.
    pub kind: ErrorKind,
    /// The greatest error that is within it, in the unit of the kind; not negative.
    pub most: f64,
}

/// Why a text is no limit of an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not WHAT=LIMIT, with distance, along, across (m), latency (s), speed (m/s), course (°), \
     level (ft) or climb (ft/min), as distance=350"
)]
pub struct ErrorLimitError(String);

impl FromStr for ErrorLimit {
    type Err = ErrorLimitError;

    fn from_str(text: &str) -> Result<Self, ErrorLimitError> {
        let refuse = || ErrorLimitError(text.to_owned());
        let (name, limit) = text.split_once('=').ok_or_else(refuse)?;
        let (kind, ..) =
            ErrorKind::ALL.into_iter().find(|kind| kind.1 == name).ok_or_else(refuse)?;
        let most = limit.parse().ok().filter(|most: &f64| most.is_finite() && *most >= 0.0);
        Ok(Self { kind, most: most.ok_or_else(refuse)? })
    }
}

impl fmt::Display for ErrorLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit) = self.kind.name_and_unit();
        write!(f, "{name} within {} {unit}", self.most)
    }
}

/// The limits where none are given: no standard's. 926 m and 555 m are those of large errors for
/// separations of 5 and 3 NM; a level is right within 300 ft, as Mode C is tolerated.
pub const USUAL_LIMITS: [ErrorLimit; 8] = [
    ErrorLimit { kind: ErrorKind::Distance, most: 926.0 },
    ErrorLimit { kind: ErrorKind::Along, most: 555.0 },
    ErrorLimit { kind: ErrorKind::Across, most: 555.0 },
    ErrorLimit { kind: ErrorKind::Latency, most: 2.0 },
    ErrorLimit { kind: ErrorKind::Speed, most: 10.0 },
    ErrorLimit { kind: ErrorKind::Course, most: 10.0 },
    ErrorLimit { kind: ErrorKind::Level, most: 300.0 },
    ErrorLimit { kind: ErrorKind::Climb, most: 500.0 },
];

/// `given`, and the usual limits of kinds that none of these is of.
#[must_use]
pub fn limits(given: &[ErrorLimit]) -> Vec<ErrorLimit> {
    let is_missing = |usual: &ErrorLimit| given.iter().all(|limit| limit.kind != usual.kind);
    given.iter().copied().chain(USUAL_LIMITS.into_iter().filter(is_missing)).collect()
}

/// Share of the reports within a limit.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Within {
    /// Name of the kind of error.
    pub what: &'static str,
    /// Unit of the limit.
    pub unit: &'static str,
    /// The limit.
    pub limit: f64,
    /// Reports that have this error: whose reference has a course, or a level.
    pub reports: u64,
    /// Share of them within the limit, in `[0, 1]`.
    pub share: Option<f64>,
}

/// Counts reports within limits.
#[derive(Debug)]
pub(super) struct WithinCounts {
    /// Limit, reports, those within it.
    counts: Vec<(ErrorLimit, u64, u64)>,
}

impl WithinCounts {
    pub(super) fn new(limits: &[ErrorLimit]) -> Self {
        Self { counts: limits.iter().map(|limit| (*limit, 0, 0)).collect() }
    }

    /// Takes in an error of a report.
    pub(super) fn add(&mut self, kind: ErrorKind, error: f64) {
        for (limit, reports, within) in &mut self.counts {
            if limit.kind == kind {
                *reports += 1;
                *within += u64::from(error.abs() <= limit.most);
            }
        }
    }

    pub(super) fn finish(&self) -> Vec<Within> {
        let within = |&(limit, reports, within): &(ErrorLimit, u64, u64)| {
            let (what, unit) = limit.kind.name_and_unit();
            let share = (reports > 0).then(|| within as f64 / reports as f64);
            Within { what, unit, limit: limit.most, reports, share }
        };
        self.counts.iter().map(within).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_limits_take_the_place_of_usual_ones_of_their_kind() {
        let given = ["distance=100", "distance=350"].map(|text| text.parse().unwrap());
        let all = limits(&given);
        assert_eq!(all.len(), 9);
        assert!(
            all.iter().all(|limit| *limit != USUAL_LIMITS[0]) && all.contains(&USUAL_LIMITS[1])
        );
        let mut counts = WithinCounts::new(&all);
        for error in [50.0, -100.0, 101.0, 900.0] {
            counts.add(ErrorKind::Distance, error);
        }
        let found = counts.finish();
        assert_eq!((found[0].reports, found[0].share), (4, Some(0.5)));
        assert_eq!(
            (found[1].what, found[1].limit, found[1].share),
            ("distance", 350.0, Some(0.75))
        );
        assert_eq!((found[2].what, found[2].share), ("along", None));
    }

    #[test]
    fn other_texts_are_no_limits() {
        for text in ["distance", "distance=", "distance=-1", "distance=inf", "height=3", "=3"] {
            let error = text.parse::<ErrorLimit>().unwrap_err().to_string();
            assert!(error.contains("as distance=350"), "{error}");
        }
        let limit: ErrorLimit = "latency=0.5".parse().unwrap();
        assert_eq!(limit.to_string(), "latency within 0.5 s");
    }
}
