//! Differences between two profiles, with tests of significance.
//!
//! The spans are cut into up to 24 blocks of equal length. Where both spans have the same length,
//! the n-th block of one is compared with the n-th of the other (a day with a day, hour by hour:
//! the effect of the time of day cancels out); otherwise the blocks of one with those of the other
//! (Welch's test). All tests of a comparison together report a difference where there is none in at
//! most `false_alarms` of comparisons (Holm's correction).

use super::load_profile::Profile;
use chronoscope_model::Load;
use chronoscope_statistics::{holm, student};
use std::collections::BTreeSet;

/// Blocks that a span is cut into.
const BLOCKS_MAX: usize = 24;
/// Fewer say nothing about chance.
const BLOCKS_MIN: usize = 4;

/// Rates and costs of a class in a span.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Number of transactions.
    pub count: u64,
    /// Transactions per hour.
    pub per_hour: f64,
    /// Mean elapsed time, ns; 0 without transactions.
    pub elapsed_ns: f64,
    /// Mean thread CPU including nested transactions, ns; 0 without transactions.
    pub cpu_ns: f64,
    /// Share of the CPU of all classes that it used itself, in [0, 1].
    pub share: f64,
}

/// Change of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Relative change from base to other, percent of the base; infinite when the base is 0.
    pub percent: f64,
    /// 95 % confidence interval of the change, percent; `None` where blocks are too few.
    pub interval: Option<(f64, f64)>,
    /// p-value, in [0, 1]; `None` where blocks are too few.
    pub probability: Option<f64>,
    /// Whether the value differs, at the comparison's rate of false alarms.
    pub differs: bool,
}

/// Presence of a class in the two profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassPresence {
    /// In both profiles.
    Both,
    /// Only in the other profile.
    New,
    /// Only in the base.
    Gone,
}

/// A class in both profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassChange {
    /// The class.
    pub class: String,
    /// Whether the class is in both profiles, or in which one.
    pub fate: ClassPresence,
    /// Figures in the base.
    pub base: Figures,
    /// Figures in the other profile.
    pub other: Figures,
    /// Change of the rate.
    pub rate: Difference,
    /// Change of the elapsed time per transaction.
    pub elapsed: Difference,
    /// Change of the CPU per transaction.
    pub cpu: Difference,
    /// Change of the share of all CPU.
    pub share: Difference,
}

impl ClassChange {
    /// The four differences, in the order of the fields.
    #[must_use]
    pub const fn differences(&self) -> [&Difference; 4] {
        [&self.rate, &self.elapsed, &self.cpu, &self.share]
    }

    /// Whether the class is new, gone, or differs in a figure.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.fate != ClassPresence::Both
            || self.differences().iter().any(|difference| difference.differs)
    }
}

/// Differences between two profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Changes by class, the largest user of CPU in either profile first.
    pub classes: Vec<ClassChange>,
    /// Number of compared blocks.
    pub block_count: usize,
    /// Whether they were compared one by one.
    pub paired: bool,
    /// Largest part of comparisons without a difference in which at least one is reported.
    pub false_alarms: f64,
}

/// Compares `other` with `base`. Differences smaller than `floor_percent` are never reported.
#[must_use]
pub fn compare(
    base: &Profile,
    other: &Profile,
    false_alarms: f64,
    floor_percent: f64,
) -> Comparison {
    let (a, b) = (base.span_s() as f64, other.span_s() as f64);
    // Recordings of a day begin and end a few seconds apart.
    let paired = (a - b).abs() <= 0.02 * a.max(b) && base.bin_s == other.bin_s;
    let bins = [base.bin_count, other.bin_count];
    let bins = if paired { [bins[0].min(bins[1]); 2] } else { bins };
    let block_count = bins[0].min(bins[1]).min(BLOCKS_MAX);
    let blocks =
        [Blocks::new(base, bins[0], block_count), Blocks::new(other, bins[1], block_count)];
    let names: BTreeSet<&String> = base.classes.keys().chain(other.classes.keys()).collect();
    let mut classes: Vec<_> =
        names.into_iter().map(|class| change(class, &blocks, paired)).collect();
    decide(&mut classes, false_alarms, floor_percent);
    let weight = |change: &ClassChange| change.base.share.max(change.other.share);
    classes.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then_with(|| a.class.cmp(&b.class)));
    Comparison { classes, block_count, paired, false_alarms }
}

/// Decides which differences are held to be some, all tests together by Holm's rule.
fn decide(classes: &mut [ClassChange], false_alarms: f64, floor_percent: f64) {
    let mut tests: Vec<(&mut Difference, f64)> = classes
        .iter_mut()
        .filter(|change| change.fate == ClassPresence::Both)
        .flat_map(|c| [&mut c.rate, &mut c.elapsed, &mut c.cpu, &mut c.share])
        .filter_map(|difference| difference.probability.map(|p| (difference, p)))
        .collect();
    let probabilities: Vec<f64> = tests.iter().map(|(_, probability)| *probability).collect();
    let corrected = holm(&probabilities, probabilities.len());
    for ((test, _), corrected) in tests.iter_mut().zip(corrected) {
        test.differs = corrected <= false_alarms && test.percent.abs() >= floor_percent;
    }
}

/// A profile in blocks.
struct Blocks<'a> {
    profile: &'a Profile,
    bins: usize,
    count: usize,
    /// CPU of all classes, by block, ns.
    all_cpu: Vec<f64>,
    /// CPU of all classes in the whole span, ns.
    own_cpu_ns: u64,
}

impl<'a> Blocks<'a> {
    fn new(profile: &'a Profile, bins: usize, count: usize) -> Self {
        let all = 0..profile.bin_count;
        let own_cpu_ns =
            profile.classes.keys().map(|class| profile.sum(class, all.clone()).own_cpu_ns).sum();
        let mut blocks = Self { profile, bins, count, all_cpu: Vec::new(), own_cpu_ns };
        blocks.all_cpu = (0..count)
            .map(|block| {
                let of = |class: &String| blocks.load(class, block).own_cpu_ns as f64;
                profile.classes.keys().map(of).sum()
            })
            .collect();
        blocks
    }

    fn range(&self, block: usize) -> std::ops::Range<usize> {
        block * self.bins / self.count..(block + 1) * self.bins / self.count
    }

    fn load(&self, class: &str, block: usize) -> Load {
        self.profile.sum(class, self.range(block))
    }

    /// A figure of every block; `None` where a block does not have it.
    fn values(&self, class: &str, figure: Figure) -> Vec<Option<f64>> {
        let of = |block: usize| {
            let load = self.load(class, block);
            let hours = (self.range(block).len() as u64 * self.profile.bin_s) as f64 / 3600.0;
            let per = |ns: u64| (load.count > 0).then(|| ns as f64 / load.count as f64);
            match figure {
                Figure::Rate => Some(load.count as f64 / hours),
                Figure::Elapsed => per(load.elapsed_ns),
                Figure::Cpu => per(load.cpu_ns),
                Figure::Share => {
                    let all = self.all_cpu[block];
                    (all > 0.0).then(|| load.own_cpu_ns as f64 / all)
                }
            }
        };
        (0..self.count).map(of).collect()
    }
}

#[derive(Clone, Copy)]
enum Figure {
    Rate,
    Elapsed,
    Cpu,
    Share,
}

fn figures(profile: &Profile, class: &str, all: u64) -> Figures {
    let load = profile.sum(class, 0..profile.bin_count);
    let per = |ns: u64| if load.count > 0 { ns as f64 / load.count as f64 } else { 0.0 };
    Figures {
        count: load.count,
        per_hour: load.count as f64 * 3600.0 / profile.span_s().max(1) as f64,
        elapsed_ns: per(load.elapsed_ns),
        cpu_ns: per(load.cpu_ns),
        share: if all > 0 { load.own_cpu_ns as f64 / all as f64 } else { 0.0 },
    }
}

fn change(class: &str, blocks: &[Blocks<'_>; 2], paired: bool) -> ClassChange {
    let [a, b] = [0, 1].map(|side| figures(blocks[side].profile, class, blocks[side].own_cpu_ns));
    let difference = |figure, from: f64, to: f64| {
        let [x, y] = [&blocks[0], &blocks[1]].map(|blocks| blocks.values(class, figure));
        let percent = if from == to { 0.0 } else { (to - from) / from * 100.0 };
        let tested = if paired { pairs(&x, &y) } else { welch(&x, &y) };
        let interval = tested.map(|test| {
            let of = |sign: f64| (test.mean + sign * test.reach) / test.base * 100.0;
            (of(-1.0), of(1.0))
        });
        let probability = tested.map(|test| test.probability);
        Difference { percent, interval, probability, differs: false }
    };
    let fate = match (a.count, b.count) {
        (0, _) => ClassPresence::New,
        (_, 0) => ClassPresence::Gone,
        _ => ClassPresence::Both,
    };
    ClassChange {
        class: class.to_owned(),
        fate,
        rate: difference(Figure::Rate, a.per_hour, b.per_hour),
        elapsed: difference(Figure::Elapsed, a.elapsed_ns, b.elapsed_ns),
        cpu: difference(Figure::Cpu, a.cpu_ns, b.cpu_ns),
        share: difference(Figure::Share, a.share, b.share),
        base: a,
        other: b,
    }
}

#[derive(Clone, Copy)]
struct Test {
    /// Mean of the differences.
    mean: f64,
    /// Half of the interval of 95 %.
    reach: f64,
    /// Mean of the base's blocks.
    base: f64,
    probability: f64,
}

fn test(mean: f64, error: f64, freedom: f64, base: f64) -> Option<Test> {
    let probability = match (error > 0.0, mean == 0.0) {
        (true, _) => student::two_sided(mean / error, freedom),
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    let reach = student::quantile_two_sided(0.05, freedom) * error;
    (base > 0.0).then_some(Test { mean, reach, base, probability })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The square of the mean's standard error.
fn error_squared(values: &[f64]) -> f64 {
    let middle = mean(values);
    let sum: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    sum / (values.len() - 1) as f64 / values.len() as f64
}

/// Student's test of the differences, block by block.
fn pairs(a: &[Option<f64>], b: &[Option<f64>]) -> Option<Test> {
    let both: Vec<(f64, f64)> = a.iter().zip(b).filter_map(|(a, b)| a.zip(*b)).collect();
    if both.len() < BLOCKS_MIN {
        return None;
    }
    let differences: Vec<f64> = both.iter().map(|(a, b)| b - a).collect();
    let base = both.iter().map(|(a, _)| a).sum::<f64>() / both.len() as f64;
    let error = error_squared(&differences).sqrt();
    test(mean(&differences), error, (both.len() - 1) as f64, base)
}

/// Welch's test.
fn welch(a: &[Option<f64>], b: &[Option<f64>]) -> Option<Test> {
    let a: Vec<f64> = a.iter().copied().flatten().collect();
    let b: Vec<f64> = b.iter().copied().flatten().collect();
    if a.len() < BLOCKS_MIN || b.len() < BLOCKS_MIN {
        return None;
    }
    let (x, y) = (error_squared(&a), error_squared(&b));
    let below = x * x / (a.len() - 1) as f64 + y * y / (b.len() - 1) as f64;
    let freedom = if below > 0.0 { (x + y).powi(2) / below } else { 1.0 };
    test(mean(&b) - mean(&a), (x + y).sqrt(), freedom, mean(&a))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look like chance and are the same every time (Knuth's MMIX constants).
    struct Dice(u64);

    impl Dice {
        fn uniform(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        /// About a Poisson number: twelve uniform ones make a normal one.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
        fn count(&mut self, mean: f64) -> u64 {
            let normal = (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0;
            (mean + normal * mean.sqrt()).max(0.0) as u64
        }
    }

    /// Four hours of eight classes that follow the time of day, with chance in counts and times.
    fn day(dice: &mut Dice, factor: impl Fn(usize) -> f64) -> Profile {
        let mut profile = Profile { bin_s: 60, bin_count: 240, ..Profile::default() };
        for class in 0..8 {
            let bins = profile.classes.entry(format!("x::c{class}")).or_default();
            for bin in 0..240 {
                let of_day = 1.0 + (bin as f64 / 240.0 * 6.3).sin() * 0.6;
                let count = dice.count(400.0 * (class + 1) as f64 * of_day);
                let cost = (1000.0 + 100.0 * dice.uniform()) * factor(class);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "small"
                )]
                let ns = (count as f64 * cost) as u64;
                bins.insert(bin, Load { count, elapsed_ns: ns * 3, cpu_ns: ns, own_cpu_ns: ns });
            }
        }
        profile
    }

    #[test]
    fn alike_profiles_seldom_differ() {
        let mut dice = Dice(1);
        let mut alarms = 0;
        for _ in 0..300 {
            let (a, b) = (day(&mut dice, |_| 1.0), day(&mut dice, |_| 1.0));
            let found = compare(&a, &b, 0.01, 0.0);
            assert!(found.paired && found.block_count == 24);
            alarms += u32::from(found.classes.iter().any(ClassChange::differs));
        }
        assert!(alarms <= 9, "{alarms} of 300 at a promised 1 %"); // 3 expected; 9 is beyond 1 in 500
    }

    #[test]
    fn what_moved_is_found_with_its_size_and_nothing_else() {
        let mut dice = Dice(2);
        for _ in 0..50 {
            let a = day(&mut dice, |_| 1.0);
            let b = day(&mut dice, |class| if class == 3 { 1.05 } else { 1.0 });
            let found = compare(&a, &b, 0.01, 0.5);
            let of = |name: &str| found.classes.iter().find(|c| c.class == name).unwrap();
            let moved = of("x::c3");
            assert!(moved.cpu.differs && moved.elapsed.differs && !moved.rate.differs);
            assert!((moved.cpu.percent - 5.0).abs() < 1.0, "{}", moved.cpu.percent);
            let (low, high) = moved.cpu.interval.unwrap();
            assert!(low < moved.cpu.percent && moved.cpu.percent < high && low > 3.0);
            assert!(found.classes.iter().all(|c| c.class == "x::c3" || !c.cpu.differs));
        }
    }

    #[test]
    fn spans_of_other_lengths_are_compared_by_rate() {
        let mut dice = Dice(3);
        let mut b = day(&mut dice, |_| 1.0);
        b.bin_count = 120;
        b.classes.values_mut().for_each(|bins| bins.retain(|bin, _| *bin < 120));
        let mut a = b.clone();
        a.bin_count = 60;
        a.classes.values_mut().for_each(|bins| bins.retain(|bin, _| *bin < 60));
        let found = compare(&a, &b, 0.01, 0.0);
        assert!(!found.paired);
        let change = &found.classes[0];
        let expected = b.sum(&change.class, 0..120).count as f64 / 2.0;
        assert!((change.other.per_hour - expected).abs() < 1e-6);
    }

    #[test]
    fn new_and_gone_classes_are_said() {
        let load = Load { count: 10, elapsed_ns: 100, cpu_ns: 50, own_cpu_ns: 50 };
        let one = |name: &str| Profile {
            bin_s: 60,
            bin_count: 2,
            classes: [
                (name.to_owned(), [(0, load)].into()),
                ("x::same".to_owned(), [(1, load)].into()),
            ]
            .into(),
        };
        let found = compare(&one("x::old"), &one("x::new"), 0.01, 1.0);
        let fate = |name: &str| found.classes.iter().find(|c| c.class == name).unwrap().fate;
        assert_eq!(
            [fate("x::old"), fate("x::new"), fate("x::same")],
            [ClassPresence::Gone, ClassPresence::New, ClassPresence::Both]
        );
        let same = found.classes.iter().find(|c| c.class == "x::same").unwrap();
        assert_eq!((same.base.share, same.base.per_hour, same.base.cpu_ns), (0.5, 300.0, 5.0));
        assert_eq!(same.rate.probability, None, "two blocks say nothing about chance");
    }
}
