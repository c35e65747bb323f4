//! The parts of the instrumented software that look at outside bytes.

#![allow(clippy::unwrap_used)] // helpers of tests

mod support;

use support::{World, compile, run};

/// Texts of SQL, correlators, pattern files and ELF files, good, odd and damaged.
#[test]
fn outside_bytes_are_read_with_care() {
    let world = World::new();
    let program = world.path().join("units");
    let sources = [
        "tests/c/units.c",
        "common/sql.c",
        "common/parent.c",
        "functions/patterns.c",
        "functions/symbols.c",
    ];
    let checks = ["-std=c11", "-O1", "-fsanitize=address,undefined"];
    // __cxa_demangle is the C++ library's.
    let flags =
        [&checks[..], &["-fno-sanitize-recover", "-Wl,--no-as-needed", "-lstdc++"]].concat();
    compile("gcc", &sources, &flags, &program);
    run(&mut world.command(&program));
}
