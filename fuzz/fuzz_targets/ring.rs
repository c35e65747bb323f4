//! A ring that anybody has written: refused with a position, or read; never more.
#![no_main]

use chronoscope_model::Batch;
use chronoscope_record::read::{Cursors, Ring};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut ring) = Ring::from_bytes(bytes.to_vec()) else { return };
    let mut batch = Batch::default();
    let _ = ring.drain(&mut Cursors::default(), 10_000, &mut batch);
    let _ = ring.statistics();
    let _ = ring.open_transactions();
    let _ = ring.last(10);
    let _ = ring.counters();
});
