//! What fuzzing of correlators checks; `fuzz/fuzz_targets/correlator.rs` shares it with the replay of
//! the kept inputs.
#![allow(unreachable_pub, clippy::unwrap_used)] // the fuzz target is a crate of its own

use chronoscope_model::{Ancestor, ClassId, Correlator, TransactionId};

/// A correlator from anybody: refused, or understood. Understood means that it is written the same
/// again, and that a child's token, whatever room its carrier has, reads back. Says which.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(read) = Correlator::decode(bytes) else { return false };
    assert_eq!(Correlator::decode(&read.to_bytes(512)).as_ref(), Ok(&read));
    let own = Ancestor { class: ClassId(7), start_ns: 9 };
    let child = read.child(TransactionId(3), own);
    for room in [0, 48, 64, 80, 254, 512] {
        let again = Correlator::decode(&child.to_bytes(room)).unwrap();
        assert_eq!((again.chain(), again.parent()), (read.chain(), TransactionId(3)));
        assert_eq!((again.level(), again.path()), (child.level(), child.path()));
    }
    true
}
