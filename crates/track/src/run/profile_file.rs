//! The profiles of an item, in the folder of its run.

use crate::callgrind::{self, Profile, WriteOptions};
use crate::flame::{SampledEvent, write_perf_script};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a profile below a run's folder; its path from there.
pub(super) fn keep_profile(folder: &Path, item: &str, profile: &Profile) -> io::Result<PathBuf> {
    let path = Path::new("profiles").join(item);
    fs::create_dir_all(folder.join("profiles"))?;
    let mut file = BufWriter::new(File::create(folder.join(&path))?);
    callgrind::write(profile, WriteOptions::default(), &mut file)?;
    file.flush()?;
    Ok(path)
}

/// Writes sampled stacks below a run's folder; their path from there.
pub(super) fn keep_stacks(
    folder: &Path,
    item: &str,
    samples: &[SampledEvent],
) -> io::Result<PathBuf> {
    let path = Path::new("stacks").join(item);
    fs::create_dir_all(folder.join("stacks"))?;
    let mut file = BufWriter::new(File::create(folder.join(&path))?);
    write_perf_script(samples, &mut file)?;
    file.flush()?;
    Ok(path)
}
