//! Two versions: from one pair of runs, or from many.

use serde::{Deserialize, Serialize};

use chronoscope_statistics::{Quantile, ascending, median, nearest_rank, student};

/// Repeatability of a count when nothing changed; it decides what one pair of runs can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    /// One thread, or a serialised replay: 10 parts in a million.
    Serialised,
    /// Threads that meet at locks: 500 parts in a million.
    Threaded,
}

impl Exactness {
    /// Changes up to this are none, as a part of the count before.
    pub fn floor(self) -> f64 {
        match self {
            Exactness::Serialised => 10e-6,
            Exactness::Threaded => 500e-6,
        }
    }
}

/// Origin of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Method {
    /// The floor of this exactness; measurements gave no larger one.
    Floor {
        /// The exactness.
        exactness: Exactness,
    },
    /// The changes between runs in which nothing changed (A/A pairs), measured here.
    Spread {
        /// Number of unchanged pairs.
        pairs: usize,
        /// The largest change of any, as a part.
        largest: f64,
    },
    /// The changes that its history had.
    History {
        /// Number of changes in the history.
        changes: usize,
    },
}

/// The smallest change that counts, and its reliability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Threshold {
    /// The threshold as a part of the value before.
    pub part: f64,
    /// Origin of the threshold.
    pub method: Method,
    /// Upper bound on the part of unchanged pairs that would be reported as changed, at 95 %
    /// confidence; `None` where no measurement gives one.
    pub false_alarms_max: Option<f64>,
}

/// Change of a value, with its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The value before.
    pub before: f64,
    /// The value after.
    pub after: f64,
    /// The natural logarithm of after by before: symmetric, unlike a percentage.
    pub log_ratio: f64,
    /// Whether the change is beyond the threshold.
    pub moved: bool,
    /// The threshold that was applied.
    pub threshold: Threshold,
}

impl Verdict {
    /// The relative change: after / before − 1.
    pub fn change(&self) -> f64 {
        self.log_ratio.exp_m1()
    }

    /// The verdict in a sentence, with its method and how often it is wrong.
    pub fn statement(&self) -> String {
        let Threshold { part, method, false_alarms_max } = self.threshold;
        let moved = if self.moved { "moved" } else { "did not move" };
        let by = match method {
            Method::Floor { exactness: Exactness::Serialised } => {
                "the floor of serialised programs".to_owned()
            }
            Method::Floor { exactness: Exactness::Threaded } => {
                "the floor of programs with threads".to_owned()
            }
            Method::Spread { pairs, largest } => {
                format!("{pairs} unchanged pairs, of which the largest moved {}", percent(largest))
            }
            Method::History { changes } => format!("{changes} changes of its history"),
        };
        let wrong = match false_alarms_max {
            Some(part) => no_alarm_among(part),
            None => "how often that is wrong was not measured".to_owned(),
        };
        let sign = if self.change() < 0.0 { '-' } else { '+' };
        let change = percent(self.change().abs());
        format!("{moved}: {sign}{change}, threshold {}, by {by}; {wrong}", percent(part))
    }
}

/// Explains the bound on false alarms: no unchanged pair was reported as changed, of so many that
/// the bound is this part.
fn no_alarm_among(bound: f64) -> String {
    let bound_percent = chronoscope_figures::numbers::percent(bound, 1);
    if bound <= USUAL_ALARMS {
        return format!(
            "none of these was called moved: fewer than {bound_percent} false alarms, at 95 % \
             confidence"
        );
    }
    // 0.95^n is 0.05 there: so many pairs without an alarm bound the rate at 5 %.
    let needed = (0.05_f64.ln() / (1.0 - USUAL_ALARMS).ln()).ceil();
    format!(
        "none of these was called moved, but so few cannot rule out up to {bound_percent} false \
         alarms (95 % confidence); {needed} unchanged pairs would rule out more than {}",
        chronoscope_figures::numbers::percent(USUAL_ALARMS, 0)
    )
}

/// A share of false alarms that most people accept.
const USUAL_ALARMS: f64 = 0.05;

fn percent(part: f64) -> String {
    chronoscope_figures::numbers::percent(part, 4)
}

/// Reason why there is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum VerdictError {
    /// A value that is not positive has no ratio to another.
    #[error("a value of {value} cannot be compared: values must be positive and finite")]
    NotPositive {
        /// The value.
        value: f64,
    },
    /// There are too few pairs to estimate their spread.
    #[error("{count} pairs are too few to estimate their spread: at least {needed} are needed")]
    TooFew {
        /// Number of pairs.
        count: usize,
        /// Number of pairs needed.
        needed: usize,
    },
}

fn log_ratio(before: f64, after: f64) -> Result<f64, VerdictError> {
    for value in [before, after] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(VerdictError::NotPositive { value });
        }
    }
    Ok((after / before).ln())
}

/// Judges one pair of values.
///
/// # Errors
/// When a value is not positive.
pub fn pair(before: f64, after: f64, threshold: Threshold) -> Result<Verdict, VerdictError> {
    let log_ratio = log_ratio(before, after)?;
    let moved = log_ratio.abs() > threshold.part.ln_1p();
    Ok(Verdict { before, after, log_ratio, moved, threshold })
}

/// Factor between the threshold and the largest change of an unchanged pair.
pub const MARGIN: f64 = 1.5;

impl Threshold {
    /// The floor alone, before anything was measured here.
    pub fn floor(exactness: Exactness) -> Threshold {
        let method = Method::Floor { exactness };
        Threshold { part: exactness.floor(), method, false_alarms_max: None }
    }

    /// The threshold from values of runs in which nothing changed: every two of them are a pair. It
    /// is [`MARGIN`] times the largest change of any pair, and at least the floor.
    ///
    /// Runs are independent, pairs are not: of `n` runs, none beyond the threshold when compared
    /// with the run before it, the rate of false alarms is at most `1 - 0.05^(1/(n/2))` at 95 %
    /// confidence (the rule of three, on `n/2` pairs that share no run).
    ///
    /// # Errors
    /// With fewer than six values, or one that is not positive.
    pub fn from_unchanged(values: &[f64], exactness: Exactness) -> Result<Threshold, VerdictError> {
        let needed = 6;
        if values.len() < needed {
            return Err(VerdictError::TooFew { count: values.len(), needed });
        }
        let sorted = ascending(values.iter().copied());
        let widest = log_ratio(sorted[0], sorted[sorted.len() - 1])?;
        let independent = values.len() / 2;
        Ok(Threshold {
            part: (widest * MARGIN).exp_m1().max(exactness.floor()),
            method: Method::Spread { pairs: independent, largest: widest.exp_m1() },
            false_alarms_max: Some(1.0 - 0.05_f64.powf(1.0 / independent as f64)),
        })
    }
}

/// Smallest change that counts without a history.
const WITHOUT_HISTORY: f64 = 0.002;
/// Fewer changes do not have quartiles worth the name.
const HISTORY_MIN: usize = 8;

/// The threshold that adapts to noise: the third quartile of the sizes of a history's changes plus
/// three times the interquartile range (beyond it lie Tukey's far outliers). It is at least the
/// floor, and at least 0.2 % while the history is short. `history` has values of consecutive
/// versions, most of which changed nothing.
///
/// # Errors
/// When a value is not positive.
pub fn threshold(history: &[f64], exactness: Exactness) -> Result<Threshold, VerdictError> {
    let changes = history.windows(2).map(|pair| Ok(log_ratio(pair[0], pair[1])?.abs().exp_m1()));
    let changes = ascending(changes.collect::<Result<Vec<_>, _>>()?);
    let part = match (nearest_rank(&changes, Quantile::P25), nearest_rank(&changes, Quantile::P75))
    {
        (Some(first), Some(third)) if changes.len() >= HISTORY_MIN => third + 3.0 * (third - first),
        _ => WITHOUT_HISTORY,
    };
    Ok(Threshold {
        part: part.max(exactness.floor()),
        method: Method::History { changes: changes.len() },
        false_alarms_max: None,
    })
}

/// The verdict on many pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairsVerdict {
    /// Number of pairs.
    pub pairs: usize,
    /// The change, from the mean of the log ratios, as a part.
    pub change: f64,
    /// The interval that has the true change in it with the confidence 1 - `alpha`.
    pub interval: (f64, f64),
    /// The probability of so large a change when there is none (Student's t on log ratios).
    pub probability: f64,
    /// The median of the log ratios as a part: far from `change` when a few pairs decide.
    pub median: f64,
    /// Improbable, and beyond the floor.
    pub moved: bool,
    /// Smallest change that counts.
    pub floor: f64,
    /// The part of unchanged comparisons that are called changed, were there no floor.
    pub alpha: f64,
    /// The change that these pairs would have found in 95 of 100 cases.
    pub detectable: f64,
}

/// Judges many pairs of (before, after), each measured close in time, so that a disturbance affects
/// both. A change must be significant at `alpha` and larger than `floor`: with enough pairs the
/// smallest drift becomes significant, though it does not matter.
///
/// # Errors
/// With fewer than three pairs, or a value that is not positive.
pub fn pairs(pairs: &[(f64, f64)], alpha: f64, floor: f64) -> Result<PairsVerdict, VerdictError> {
    let needed = 3;
    let count = pairs.len();
    if count < needed {
        return Err(VerdictError::TooFew { count, needed });
    }
    let ratios: Result<Vec<_>, _> = pairs.iter().map(|(b, a)| log_ratio(*b, *a)).collect();
    let ratios = ratios?;
    let n = count as f64;
    let mean = ratios.iter().sum::<f64>() / n;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    let probability = if error == 0.0 {
        f64::from(u8::from(mean == 0.0)) // all alike: certain either way
    } else {
        student::two_sided(mean / error, n - 1.0)
    };
    let wide = student::quantile_two_sided(alpha, n - 1.0);
    // 1.645: what 95 of 100 are below, of a normal distribution.
    let detectable = ((wide + 1.645) * error).exp_m1().max(floor);
    let change = mean.exp_m1();
    Ok(PairsVerdict {
        pairs: count,
        change,
        interval: ((mean - wide * error).exp_m1(), (mean + wide * error).exp_m1()),
        probability,
        median: median(ratios).unwrap_or(mean).exp_m1(),
        moved: probability <= alpha && mean.abs() > floor.ln_1p(),
        floor,
        alpha,
        detectable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pair_tells_a_thousandth_where_counts_repeat() {
        let threaded = Threshold::floor(Exactness::Threaded);
        let judge = |after| pair(880_000_000.0, after, threaded).unwrap();
        assert!(!judge(880_190_000.0).moved); // 216 ppm, the largest that was measured of A/A
        assert!(judge(880_880_000.0).moved); // 0.1 %
        assert!(judge(879_120_000.0).moved);
        let serial = Threshold::floor(Exactness::Serialised);
        assert!(pair(1e9, 1e9 + 12_000.0, serial).unwrap().moved);
        assert!(!pair(1e9, 1e9 + 8_000.0, serial).unwrap().moved);
    }

    #[test]
    fn a_verdict_says_its_method_and_how_often_it_is_wrong() {
        let values = [1000.0, 1000.4, 1000.1, 1000.2, 1000.3, 1000.0, 1000.1, 1000.4];
        let threshold = Threshold::from_unchanged(&values, Exactness::Threaded).unwrap();
        assert_eq!(
            pair(1000.0, 1003.0, threshold).unwrap().statement(),
            "moved: +0.3000 %, threshold 0.0600 %, by 4 unchanged pairs, of which the largest \
             moved 0.0400 %; none of these was called moved, but so few cannot rule out up to \
             52.7 % false alarms (95 % confidence); 59 unchanged pairs would rule out more than 5 %"
        );
        let floor = Threshold::floor(Exactness::Serialised);
        assert_eq!(
            pair(1000.0, 1000.0, floor).unwrap().statement(),
            "did not move: +0.0000 %, threshold 0.0010 %, by the floor of serialised programs; \
             how often that is wrong was not measured"
        );
    }

    /// 300 unchanged pairs without an alarm: a rate of at most 1 %.
    #[test]
    fn the_stated_rate_falls_with_what_was_measured() {
        let values: Vec<f64> = (0..600).map(|n| 1e9 + f64::from(n % 7)).collect();
        let threshold = Threshold::from_unchanged(&values, Exactness::Serialised).unwrap();
        let rate = threshold.false_alarms_max.unwrap();
        assert!((rate - 0.00994).abs() < 1e-4, "{rate}");
        let said = pair(1e9, 1e9, threshold).unwrap().statement();
        assert!(said.ends_with("fewer than 1.0 % false alarms, at 95 % confidence"), "{said}");
        assert_eq!(threshold.part, 10e-6);
    }

    #[test]
    fn a_noisy_history_needs_larger_changes() {
        let noisy: Vec<f64> = (0..40).map(|n| 1000.0 + f64::from(n * 7 % 11)).collect();
        let quiet: Vec<f64> = (0..40).map(|n| 1e9 + f64::from(n * 7 % 11)).collect();
        let of = |history: &[f64]| threshold(history, Exactness::Serialised).unwrap().part;
        assert!(of(&noisy) > 0.004, "{}", of(&noisy));
        assert_eq!(of(&quiet), 10e-6);
        assert_eq!(of(&noisy[..5]), 0.002);
    }

    #[test]
    fn what_has_no_ratio_is_refused() {
        let floor = Threshold::floor(Exactness::Serialised);
        for (before, after) in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert!(matches!(pair(before, after, floor), Err(VerdictError::NotPositive { .. })));
        }
        let few = pairs(&[(1.0, 1.0); 2], 0.01, 0.0);
        assert_eq!(few, Err(VerdictError::TooFew { count: 2, needed: 3 }));
    }

    #[test]
    fn pairs_have_an_interval_and_a_floor() {
        let noisy = |change: f64| -> Vec<(f64, f64)> {
            let noise = |n: i32| 1.0 + f64::from(n * 37 % 19 - 9) * 1e-3;
            (0..38).map(|n| (1000.0 * noise(n), 1000.0 * noise(n + 7) * (1.0 + change))).collect()
        };
        let none = pairs(&noisy(0.0), 0.01, 5e-4).unwrap();
        assert!(!none.moved && none.interval.0 < 0.0 && none.interval.1 > 0.0, "{none:?}");
        let some = pairs(&noisy(0.01), 0.01, 5e-4).unwrap();
        assert!(some.moved && some.interval.0 > 0.005 && some.interval.1 < 0.015, "{some:?}");
        // Significant, and beneath notice.
        let drift: Vec<_> = (0..50).map(|n| (1e9, 1e9 + 100.0 + f64::from(n % 3))).collect();
        let drift = pairs(&drift, 0.01, 10e-6).unwrap();
        assert!(drift.probability < 1e-6 && !drift.moved, "{drift:?}");
    }
}
