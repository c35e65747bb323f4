//! Octets that may be a CLTU: what is taken for one gives back the frames that make it again.
#![no_main]

use chronoscope_sle::cltu;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    if let Ok(frames) = cltu::decode(octets) {
        let again = cltu::encode(&frames);
        // The filler bit of a code block may be anything.
        assert_eq!(again.len(), octets.len());
        assert!(cltu::check(&again).is_ok());
        assert_eq!(cltu::decode(&again), Ok(frames));
    }
});
