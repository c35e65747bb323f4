//! Histories whose steps are known, and such as have none, each made from a seed.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_statistics::Random;
use chronoscope_statistics::change_points::{Floor, find};

/// Now and then far away, always upwards, as disturbances are.
fn disturbed(random: &mut Random) -> f64 {
    if random.share() < 0.1 { random.share() * 20.0 } else { random.normal() }
}

type Noise = fn(&mut Random) -> f64;

fn found(values: &[f64], floor: Floor) -> Vec<usize> {
    find(values, floor).unwrap().points.iter().map(|point| point.index).collect()
}

/// 400 histories of 60 values without a step: a change point in less than 1 %, whatever the noise.
#[test]
fn histories_of_noise_have_no_change_points() {
    let noises: [(&str, Noise); 3] =
        [("normal", Random::normal), ("disturbed", disturbed), ("even", Random::share)];
    for (name, noise) in noises {
        for relative in [1e-6, 3e-5, 7e-3, 0.17] {
            let wrong = (0..400).filter(|seed| {
                let mut random = Random(*seed);
                let value = |_| 1e9 * (1.0 + relative * noise(&mut random)).max(0.01);
                let values: Vec<f64> = (0..60).map(value).collect();
                !found(&values, Floor::default()).is_empty()
            });
            let wrong = wrong.count();
            assert!(wrong <= 4, "{name} {relative}: {wrong} of 400");
        }
    }
}

/// Steps of 0.1 %, in counts of threads (28 ppm), at the half.
#[test]
fn a_step_of_a_thousandth_is_found_where_it_is() {
    let mut exact = 0;
    for seed in 0..100 {
        let mut random = Random(seed);
        let mut value = |n: usize| {
            let step = if n >= 30 { 1.001 } else { 1.0 };
            8.8e8 * step * (1.0 + 28e-6 * random.normal())
        };
        let values: Vec<f64> = (0..60).map(&mut value).collect();
        let history = find(&values, Floor::default()).unwrap();
        assert_eq!(history.points.len(), 1, "{seed}: {history:?}");
        let point = history.points[0];
        assert!((point.change() - 0.001).abs() < 5e-5, "{point:?}");
        exact += usize::from(point.index == 30);
    }
    assert_eq!(exact, 100);
}

#[test]
fn several_steps_and_their_sizes_are_found() {
    let mut random = Random(7);
    let levels = [(0, 1.0), (20, 1.02), (35, 1.005), (50, 1.2)];
    let values: Vec<f64> = (0..80)
        .map(|n| {
            let level = levels.iter().rev().find(|(begin, _)| n >= *begin).unwrap().1;
            1000.0 * level * (1.0 + 1e-3 * random.normal())
        })
        .collect();
    let history = find(&values, Floor::default()).unwrap();
    let points: Vec<_> = history.points.iter().map(|point| point.index).collect();
    assert_eq!(points, [20, 35, 50]);
    let sizes: Vec<_> = history.points.iter().map(|p| (p.change() * 100.0).round()).collect();
    assert_eq!(sizes, [2.0, -1.0, 19.0]);
    assert!(history.noise < 2e-3, "{history:?}");
}

#[test]
fn one_or_two_outliers_are_no_steps() {
    let mut values = vec![1000.0; 40];
    values[10] = 5000.0;
    values[25] = 10.0;
    values[26] = 11.0;
    assert_eq!(found(&values, Floor::default()), [0_usize; 0]);
}

/// Exact counts: any step is far beyond the noise, and only those beyond the floor matter.
#[test]
fn a_step_within_the_floor_is_not_said() {
    let steps = |part: f64| -> Vec<f64> {
        (0..40).map(|n| if n < 20 { 1e9 } else { 1e9 * (1.0 + part) }).collect()
    };
    let floor = Floor { part: 10e-6, length: 3 };
    assert_eq!(found(&steps(9e-6), floor), [0_usize; 0]);
    assert_eq!(found(&steps(12e-6), floor), [20]);
    assert_eq!(found(&steps(4e-4), Floor::default()), [0_usize; 0]);
    assert_eq!(found(&steps(6e-4), Floor::default()), [20]);
}

#[test]
fn short_empty_and_impossible_histories_are_taken() {
    for length in 0..6 {
        assert_eq!(found(&vec![3.0; length], Floor::default()), [0_usize; 0]);
    }
    assert_eq!(found(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], Floor::default()), [3]);
    let shortest = Floor { length: 0, ..Floor::default() };
    assert_eq!(found(&[1.0, 2.0], shortest), [0_usize; 0]);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(find(&[1.0, bad, 1.0], Floor::default()), None);
    }
    // More than are looked at: the last ones are.
    let long: Vec<f64> = (0..2300).map(|n| if n < 2290 { 1.0 } else { 2.0 }).collect();
    assert_eq!(found(&long, Floor::default()), [2290]);
}
