//! Extra work in versions of the tracker that prove that a regression is found.
//!
//! With the features `slower-1`, `slower-3` and `slower-10` so many thousandths of the 11.6 million
//! instructions that the tracker executes in the replay `evidence/bench/replays/radar/short.toml` (424 plots
//! that are correlated; release profile, x86-64, Callgrind). Without these features the code is not
//! compiled.

use std::hint::black_box;

/// Rounds for a plot: four instructions each, and nine for the call.
const ROUNDS: u32 = if cfg!(feature = "slower-10") {
    66
} else if cfg!(feature = "slower-3") {
    18
} else if cfg!(feature = "slower-1") {
    4
} else {
    0
};

/// Called for each plot.
#[inline]
pub(super) fn unnecessary() {
    if ROUNDS != 0 {
        forgotten();
    }
}

/// A separate function, so that a profile names it.
#[inline(never)]
fn forgotten() {
    for round in 0..black_box(ROUNDS) {
        black_box(round);
    }
}
