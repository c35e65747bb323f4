//! What must hold for any bytes: also the body of the fuzz target.

use chronoscope_track::flame::{
    MeasuredProfile, SampledEvent, TreeLimits, read_perf_script, write_perf_script,
};

fn written(samples: &[SampledEvent]) -> String {
    let mut text = Vec::new();
    write_perf_script(samples, &mut text).expect("writes into memory");
    String::from_utf8(text).expect("names are text")
}

/// Reads; what is samples has a tree that adds up, and the same costs after it was written and read
/// back. Samples without a cost are not written.
pub(crate) fn check(bytes: &[u8]) {
    let Ok(samples) = read_perf_script(bytes) else { return };
    let text = written(&samples);
    if let Ok(again) = read_perf_script(text.as_bytes()) {
        let total = |samples: &[SampledEvent]| -> Vec<u64> {
            samples.iter().map(|sampled| sampled.graph.total).filter(|total| *total > 0).collect()
        };
        assert_eq!(total(&again), total(&samples));
    } else {
        assert!(text.is_empty(), "{text}");
    }
    let measured = MeasuredProfile::of_samples(samples, None).expect("there is an event");
    let tree = measured.tree(TreeLimits::default());
    let parts: u64 = tree.frames.iter().map(|frame| frame.own[0] + frame.left_out[0]).sum();
    assert_eq!(tree.total(), [parts]);
}
