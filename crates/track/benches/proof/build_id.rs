//! Tells two builds of a measured system apart.

use std::path::{Path, PathBuf};

use super::Failure;

/// FNV-1a, 64 bits, over pieces.
pub(crate) struct BuildId(pub(crate) u64);

impl BuildId {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(&mut self, octets: &[u8]) {
        let mix = |hash: u64, octet: &u8| (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3);
        self.0 = octets.iter().fold(self.0, mix);
    }

    /// The files of a folder, not of those in it: their names and what is in them.
    pub(crate) fn add_folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let said = |path: &Path, error| format!("{}: {error}", path.display());
        let entries = std::fs::read_dir(folder).map_err(|error| said(folder, error))?;
        let mut files: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        files.retain(|path| path.is_file());
        files.sort();
        for path in files {
            self.add(path.file_name().unwrap_or_default().as_encoded_bytes());
            self.add(&std::fs::read(&path).map_err(|error| said(&path, error))?);
        }
        Ok(())
    }
}
