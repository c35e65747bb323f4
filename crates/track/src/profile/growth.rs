//! Each class over periods of equal length, and the straight line through them.

use chronoscope_model::Load;
use chronoscope_statistics::student;
use std::collections::BTreeMap;

/// A period, usually a day or a week.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Start of the period, UTC, ns since 1970.
    pub start_ns: i64,
    /// Loads by class.
    pub classes: BTreeMap<String, Load>,
}

/// A straight line through the values of the periods, least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// The mean of the periods' values.
    pub mean: f64,
    /// Change a week, percent of the mean.
    pub percent_a_week: f64,
    /// 95 % confidence interval of the slope when periods are independent, percent; `None` with
    /// fewer than three periods.
    pub interval: Option<(f64, f64)>,
}

impl Trend {
    /// Whether the interval leaves no room for standing still.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

/// One class over the periods.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// The class.
    pub class: String,
    /// Loads by period; without transactions all zero.
    pub loads: Vec<Load>,
    /// Trend of transactions per hour.
    pub rate: Option<Trend>,
    /// Trend of the mean elapsed time, over the periods that have transactions.
    pub elapsed: Option<Trend>,
    /// Trend of the mean CPU, over the same periods.
    pub cpu: Option<Trend>,
}

/// Growth of every class over whole periods of `period_s` seconds, in the order of time. The class
/// that uses most CPU comes first.
#[must_use]
pub fn growth(periods: &[Period], period_s: u64) -> Vec<Growth> {
    let mut names: Vec<&String> = periods.iter().flat_map(|period| period.classes.keys()).collect();
    names.sort();
    names.dedup();
    let first_ns = periods.first().map_or(0, |period| period.start_ns);
    let week = |period: &Period| (period.start_ns - first_ns) as f64 / (7.0 * 86_400.0 * 1e9);
    let hours = period_s as f64 / 3600.0;
    let of = |class: &String| {
        let load = |period: &Period| period.classes.get(class).copied().unwrap_or_default();
        let mean = |ns: fn(&Load) -> u64| {
            let values = periods.iter().filter(|period| load(period).count > 0);
            let value = |p| (week(p), ns(&load(p)) as f64 / load(p).count as f64);
            trend(&values.map(value).collect::<Vec<_>>())
        };
        let rates = periods.iter().map(|period| (week(period), load(period).count as f64 / hours));
        Growth {
            class: class.clone(),
            loads: periods.iter().map(load).collect(),
            rate: trend(&rates.collect::<Vec<_>>()),
            elapsed: mean(|load| load.elapsed_ns),
            cpu: mean(|load| load.cpu_ns),
        }
    };
    let mut all: Vec<Growth> = names.into_iter().map(of).collect();
    let weight = |growth: &Growth| growth.loads.iter().map(|load| load.cpu_ns).sum::<u64>();
    all.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| a.class.cmp(&b.class)));
    all
}

/// Trend of values by week; `None` with fewer than two, or where all are zero.
fn trend(values: &[(f64, f64)]) -> Option<Trend> {
    let count = values.len() as f64;
    let mean = values.iter().map(|(_, y)| y).sum::<f64>() / count;
    let middle = values.iter().map(|(x, _)| x).sum::<f64>() / count;
    let spread: f64 = values.iter().map(|(x, _)| (x - middle).powi(2)).sum();
    if values.len() < 2 || mean <= 0.0 || spread <= 0.0 {
        return None;
    }
    let slope = values.iter().map(|(x, y)| (x - middle) * (y - mean)).sum::<f64>() / spread;
    let off = |(x, y): &(f64, f64)| y - mean - slope * (x - middle);
    let left: f64 = values.iter().map(|value| off(value).powi(2)).sum();
    let interval = (values.len() > 2).then(|| {
        let reach =
            student::quantile_two_sided(0.05, count - 2.0) * (left / (count - 2.0) / spread).sqrt();
        ((slope - reach) / mean * 100.0, (slope + reach) / mean * 100.0)
    });
    Some(Trend { mean, percent_a_week: slope / mean * 100.0, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEEK_NS: i64 = 7 * 86_400_000_000_000;

    fn periods(counts: &[u64]) -> Vec<Period> {
        let of = |(week, count): (i64, &u64)| {
            let load =
                Load { count: *count, elapsed_ns: count * 50, cpu_ns: count * 20, own_cpu_ns: 0 };
            Period { start_ns: week * WEEK_NS, classes: [("x::c".to_owned(), load)].into() }
        };
        (0..).zip(counts).map(of).collect()
    }

    /// 1680, 1848, 2016 a week are 10, 11, 12 an hour: one more a week of 11 in the mean.
    #[test]
    fn a_straight_line_is_found_exactly() {
        let all = growth(&periods(&[1680, 1848, 2016]), 604_800);
        let rate = all[0].rate.unwrap();
        assert!((rate.mean - 11.0).abs() < 1e-9);
        assert!((rate.percent_a_week - 100.0 / 11.0).abs() < 1e-9);
        let (low, high) = rate.interval.unwrap();
        assert!((high - low).abs() < 1e-6 && rate.is_certain());
        assert_eq!(all[0].cpu.unwrap().mean, 20.0);
        assert_eq!(all[0].elapsed.unwrap().percent_a_week, 0.0);
    }

    #[test]
    fn what_goes_up_and_down_is_not_certain_and_two_periods_say_little() {
        let all = growth(&periods(&[1000, 1300, 900, 1250, 1000]), 604_800);
        assert!(!all[0].rate.unwrap().is_certain());
        let two = growth(&periods(&[1000, 1100]), 604_800);
        assert_eq!(two[0].rate.unwrap().interval, None);
        assert_eq!(growth(&periods(&[1000]), 604_800)[0].rate, None);
        assert!(growth(&[], 604_800).is_empty());
    }

    /// A class without transactions in one period: its rate falls, its cost comes from the other
    /// periods.
    #[test]
    fn a_period_without_transactions_counts_for_the_rate_alone() {
        let all = growth(&periods(&[168, 168, 0]), 604_800);
        assert!(all[0].rate.unwrap().percent_a_week < 0.0);
        assert_eq!(all[0].cpu.unwrap().mean, 20.0);
    }
}
