//! Programs in C and C++ over the library, and what their rings hold.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_model::{Flags, Status, TransactionId};
use support::Program;

/// A program that knows nothing but the Open Group's names, in the oldest C there is.
#[test]
fn a_program_for_version_4_0_is_recorded() {
    let flags = ["-std=c89", "-pedantic"];
    let Some(program) = Program::compile("open_group_40.c", &flags) else { return };
    program.run();
    let recorded = program.ring();
    assert_eq!(recorded.ring.process().application, "MRTS");
    let (root, child) = (recorded.one("decodePlots"), recorded.one("Correlate"));
    assert_eq!((root.level, root.parent, root.status()), (0, TransactionId::NONE, Status::Good));
    assert_eq!((child.level, child.parent, child.status()), (1, root.id, Status::Failed));
    assert_eq!((child.chain(), child.root_start_ns), (root.chain(), root.start_ns));
    assert_eq!(child.path, root.path.child(child.class));
    assert!(child.start_ns >= root.start_ns && child.end_ns() <= root.end_ns());
    assert!(!child.flags().contains(Flags::FOREIGN));
}
