//! Step 6: what limits throughput, in words, from what the other steps measured.

use crate::series::{Series, Step};

/// The verdict over all steps that were taken.
pub(crate) fn verdict(series: &Series, taken: &[Step]) -> Step {
    let mut step = Step::new(6, "What limits throughput");
    step.settings.push(
        "from the recorder's chains (user send, provider receive, queue, radiate, acknowledge; of a \
         buffer: deliver, receive) of each point's work, done once more for one round with the \
         recorder on; medians. The rate named first is without it"
            .to_owned(),
    );
    for of in taken {
        step.words.extend(of.limits.iter().map(crate::verdict::Point::words));
    }
    step.words.extend(question(series, taken));
    step
}

/// The document's question: whether blocking significantly increases throughput, and why a frame
/// by itself is slow.
fn question(series: &Series, taken: &[Step]) -> Vec<String> {
    let blocked: Vec<String> = taken
        .iter()
        .filter(|step| matches!(step.number, 0 | 3))
        .flat_map(|step| step.words.iter().cloned())
        .collect();
    if blocked.is_empty() {
        return Vec::new();
    }
    let mut words = vec![format!(
        "The document asked whether frames blocked into one buffer carry significantly more (its \
         case: {} frames of {} octets for {} Mbit/s). Measured here:",
        series.published.setup.frames_per_cltu,
        series.published.setup.frame_octets,
        series.published.setup.target_mbit_per_s
    )];
    words.extend(blocked.into_iter().map(|line| format!("  {line}")));
    words
}
