//! Build script support: turns a folder of files into Rust source.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes `page.rs` into the build's folder: an expression of type `&[File]` (`File` must be in
/// scope where it is included) with every file below `dist`, a path relative to the crate. Where
/// there is no such folder the table is empty. Who builds the page touches `build.rs` afterwards.
///
/// # Errors
/// When a file cannot be read or written, or this is not called by a build script.
pub fn embed(dist: &str) -> io::Result<()> {
    let dist = variable("CARGO_MANIFEST_DIR")?.join(dist);
    let out_dir = variable("OUT_DIR")?;
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    if dist.is_dir() {
        println!("cargo::rerun-if-changed={}", dist.display());
        find(&dist, &mut files)?;
        files.sort();
    }
    let mut table = String::from("&[\n");
    for (number, path) in files.iter().enumerate() {
        let bytes = std::fs::read(path)?;
        let name = path.strip_prefix(&dist).map_err(io::Error::other)?;
        let name = name.to_str().ok_or_else(|| io::Error::other("a name that is no text"))?;
        let compressed = out_dir.join(format!("page-{number}.gz"));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&bytes)?;
        std::fs::write(&compressed, gzip.finish()?)?;
        let hash = Sha256::digest(&bytes);
        let tag: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let entry = writeln!(
            table,
            "File {{ path: {name:?}, tag: \"\\\"{tag}\\\"\", gzip: include_bytes!({compressed:?}) }},"
        );
        entry.map_err(io::Error::other)?;
    }
    table.push_str("]\n");
    std::fs::write(out_dir.join("page.rs"), table)
}

fn variable(name: &str) -> io::Result<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).ok_or_else(|| io::Error::other(name.to_owned()))
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => find(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
