//! Files of settings of our tracker, tried one after the other. Choices are made on the training sets.

use crate::consistency::Consistency;
use crate::ours::{self, Wanted};
use crate::peers::{Plots, Which};
use crate::sensor::Scene;
use crate::{Failure, Options, tune};

/// Tries files of settings on the sets.
pub(crate) fn sweep(options: &Options) -> Result<(), Failure> {
    let scenes: Vec<(Scene, Plots)> = tune::scenes(options)?
        .into_iter()
        .map(|scene| {
            let plots = Plots::of(&scene, 1);
            (scene, plots)
        })
        .collect();
    for file in &options.sweep {
        let settings = crate::settings(file)?;
        let (mut squares, mut nees, mut inside, mut share) = (0.0, 0.0, 0.0, 0.0);
        let (mut wrong, mut tracks, mut swaps, mut each) = (0.0, 0.0, 0, String::new());
        let wanted = if options.clutter { Wanted::Continuity } else { Wanted::Errors };
        for (scene, plots) in &scenes {
            let found = ours::run(scene, settings, wanted);
            // Relative to the plots' own errors, so that no scene outweighs the others.
            let ratio = plots.rms_m(&found.states, &found.states, Which::All)
                / plots.raw_m(&found.states, Which::All);
            let consistency = Consistency::of(&found.states);
            squares += ratio * ratio;
            nees += consistency.nees;
            inside += consistency.inside;
            share += plots.share(&found.states);
            wrong += found.counts.false_per_h;
            tracks += found.tracks_per_flight;
            swaps += found.counts.swaps + found.counts.renumbered;
            // RMS beside the plots' own, and NEES.
            each += &format!(" {ratio:.4}/{:.3}", consistency.nees);
        }
        let count = scenes.len() as f64;
        let mean = |sum: f64| sum / count;
        println!(
            "{file:<28} RMS/raw {:.4} NEES {:.2} in95 {:.3} share {:.3} false/h {:.1} tracks {:.3} swaps, new {swaps} |{each}",
            f64::sqrt(squares / count),
            mean(nees),
            mean(inside),
            mean(share),
            mean(wrong),
            mean(tracks),
        );
    }
    Ok(())
}
