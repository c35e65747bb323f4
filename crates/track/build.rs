//! Builds the preload library of the heap with the C compiler that links everything else, and leaves
//! it where `counters/heap` puts it into the program: nothing has to be installed for a measurement.

use std::path::Path;
use std::process::{Command, exit};

fn main() {
    let folder = Path::new("preload");
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        println!("cargo::rerun-if-changed={}", entry.path().display());
        if entry.path().extension().is_some_and(|suffix| suffix == "c") {
            sources.push(entry.path());
        }
    }
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-env-changed=CC");
    sources.sort();
    let out = format!("{}/libchronoscope_heap.so", std::env::var("OUT_DIR").unwrap_or_default());
    let target = std::env::var("TARGET").unwrap_or_default();
    let host = std::env::var("HOST").unwrap_or_default();
    let cross = format!("{}-linux-gnu-gcc", target.split('-').next().unwrap_or_default());
    let usual = if target == host { "cc".to_owned() } else { cross };
    let compiler = std::env::var("CC").unwrap_or(usual);
    let status = Command::new(&compiler)
        .args(["-std=gnu17", "-O2", "-g", "-Wall", "-Wextra"])
        .args(["-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin"])
        .args(["-Wl,-z,now", "-Wl,-z,defs", "-o", &out])
        .args(&sources)
        .args(["-lpthread", "-ldl"])
        .status();
    if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        println!(
            "cargo::error={compiler} did not build the preload library of the heap: {status:?}"
        );
        exit(1);
    }
}
