//! A correlator from anybody: refused, or understood; understood means that it is written the same
//! again, and that what follows from it (a child's token, whatever room the carrier has) reads
//! back.
#![no_main]

use chronoscope_model::{Ancestor, ClassId, Correlator, TransactionId};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(read) = Correlator::decode(bytes) else { return };
    assert_eq!(Correlator::decode(&read.to_bytes(512)).as_ref(), Ok(&read));
    let own = Ancestor { class: ClassId(7), start_ns: 9 };
    let child = read.child(TransactionId(3), own);
    for room in [0, 48, 64, 80, 254, 512] {
        let again = Correlator::decode(&child.to_bytes(room)).expect("our own bytes");
        assert_eq!((again.chain(), again.parent()), (read.chain(), TransactionId(3)));
        assert_eq!((again.level(), again.path()), (child.level(), child.path()));
    }
});
