//! The profile of an item, in the folder of its run.

use crate::callgrind::{self, Profile, WriteOptions};
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
