//! Builds the preload libraries with the C compiler that links everything else, and leaves them
//! where `preload.rs` and `heap` put them into the program: nothing has to be installed for a replay.

use std::path::Path;
use std::process::{Command, exit};

/// Flags of both libraries.
const FLAGS: [&str; 9] = [
    "-std=gnu17",
    "-O2",
    "-g",
    "-Wall",
    "-Wextra",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-Wl,-z,defs",
];

fn main() {
    println!("cargo::rerun-if-env-changed=CC");
    println!("cargo::rerun-if-env-changed=CFLAGS");
    let time = ["-Wno-nonnull-compare", "-fno-strict-aliasing", "-Wl,-z,initfirst", "-Wl,-z,now"];
    build("preload", "libchronoscope_time.so", &time);
    build("heap", "libchronoscope_heap.so", &["-fno-builtin", "-Wl,-z,now"]);
}

/// Compiles the C files of a folder into a shared library.
fn build(folder: &str, library: &str, flags: &[&str]) {
    let folder = Path::new(folder);
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        println!("cargo::rerun-if-changed={}", entry.path().display());
        if entry.path().extension().is_some_and(|suffix| suffix == "c") {
            sources.push(entry.path());
        }
    }
    println!("cargo::rerun-if-changed={}", folder.display());
    sources.sort();
    let out = format!("{}/{library}", std::env::var("OUT_DIR").unwrap_or_default());
    let target = std::env::var("TARGET").unwrap_or_default();
    let host = std::env::var("HOST").unwrap_or_default();
    let cross = format!("{}-linux-gnu-gcc", target.split('-').next().unwrap_or_default());
    let usual = if target == host { "cc".to_owned() } else { cross };
    let compiler = std::env::var("CC").unwrap_or(usual);
    // A release maps the paths in the debug information by these: any folder gives the same bytes.
    let chosen = std::env::var("CFLAGS").unwrap_or_default();
    let status = Command::new(&compiler)
        .args(FLAGS)
        .args(flags)
        .args(chosen.split_whitespace())
        .args(["-o", &out])
        .args(&sources)
        .args(["-lpthread", "-ldl"])
        .status();
    if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        println!("cargo::error={compiler} did not build {library}: {status:?}");
        exit(1);
    }
}
