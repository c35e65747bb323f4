//! Puts the page into the program: every file below `page/dist`, compressed, with its hash.
//!
//! `page/dist` is made by `make page`, which needs Node. Where it is not there the program is built
//! without the page and says so when it is asked for it.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let crate_dir = variable("CARGO_MANIFEST_DIR")?;
    let out_dir = variable("OUT_DIR")?;
    let dist = crate_dir.join("../../page/dist");
    println!("cargo::rerun-if-changed=build.rs"); // which `make page` touches
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
