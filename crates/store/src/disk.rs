//! The only place that changes files.
//!
//! Every change goes through a [`Disk`], so that a test can let the machine crash before, after
//! and in the middle of each one of them.

use crate::StoreError;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, IoSlice, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(test)]
use crate::crash::Crash;

/// Readers of the files that are created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Access {
    /// The owner only: rows reveal the activity of a system, and properties may hold its data.
    #[default]
    Owner,
    /// The owner's group too.
    Group,
    /// According to the process's umask, for a file that was requested by name.
    Umask,
}

impl Access {
    /// Permission bits of a file.
    pub(crate) const fn of_file(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::Group => 0o640,
            Self::Umask => 0o666,
        }
    }

    /// Permission bits of a directory.
    const fn of_dir(self) -> u32 {
        match self {
            Self::Owner => 0o700,
            Self::Group => 0o750,
            Self::Umask => 0o777,
        }
    }
}

/// Changes files in a store's directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    pub(crate) access: Access,
    /// Whether files are for this process only: they need not survive anything.
    pub(crate) passing: bool,
    #[cfg(test)]
    pub(crate) crash: Option<Arc<Crash>>,
}

/// A file being written, from its start to its end.
#[derive(Clone, Debug)]
pub(crate) struct DiskFile {
    disk: Disk,
    file: Arc<File>,
    path: PathBuf,
}

impl Disk {
    /// A disk whose files those may read.
    #[allow(clippy::needless_update)] // tests have another field
    pub(crate) fn of(access: Access) -> Self {
        Self { access, ..Self::default() }
    }

    /// A disk for files of this process, which need not survive anything.
    pub(crate) fn passing() -> Self {
        Self { passing: true, ..Self::default() }
    }

    /// Creates a directory and its parents, where they are missing.
    pub(crate) fn create_dirs(&self, path: &Path) -> Result<(), StoreError> {
        self.step("create directory", path)?;
        let mut builder = DirBuilder::new();
        let created = builder.recursive(true).mode(self.access.of_dir()).create(path);
        created.map_err(StoreError::io("create directory", path))
    }

    /// Creates a file, empty; one that is there already was left by a crash and is replaced.
    pub(crate) fn create(&self, path: &Path) -> Result<DiskFile, StoreError> {
        self.step("create", path)?;
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true);
        let file = options.mode(self.access.of_file()).open(path);
        let file = Arc::new(file.map_err(StoreError::io("create", path))?);
        #[cfg(test)]
        self.note(|crash| crash.created(path));
        Ok(DiskFile { disk: self.clone(), file, path: path.to_owned() })
    }

    /// Gives a file another name, replacing what had it.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        self.step("rename", from)?;
        #[cfg(test)]
        self.note(|crash| crash.renaming(from, to));
        std::fs::rename(from, to).map_err(StoreError::io("rename", from))
    }

    /// Removes a file; that it is gone already is no error.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), StoreError> {
        self.step("remove", path)?;
        #[cfg(test)]
        self.note(|crash| crash.removing(path));
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("remove", path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Makes the names in a directory durable.
    pub(crate) fn sync_dir(&self, path: &Path) -> Result<(), StoreError> {
        self.step("fsync directory", path)?;
        let result = File::open(path).and_then(|dir| dir.sync_all());
        result.map_err(StoreError::io("fsync directory", path))?;
        #[cfg(test)]
        self.note(|crash| crash.synced_dir(path));
        Ok(())
    }

    /// Writes a file whole and durably under a name that held another or nothing.
    pub(crate) fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let new = path.with_extension("new");
        let mut file = self.create(&new)?;
        file.write_slices(&mut [IoSlice::new(bytes)])?;
        file.sync()?;
        self.rename(&new, path)?;
        self.sync_dir(path.parent().unwrap_or(Path::new(".")))
    }

    #[cfg(test)]
    fn step(&self, operation: &'static str, path: &Path) -> Result<(), StoreError> {
        match &self.crash {
            Some(crash) => crash.step().map_err(StoreError::io(operation, path)),
            None => Ok(()),
        }
    }

    #[cfg(not(test))]
    #[inline]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // tests crash here
    fn step(&self, _operation: &'static str, _path: &Path) -> Result<(), StoreError> {
        Ok(())
    }

    #[cfg(test)]
    fn note(&self, what: impl FnOnce(&Crash)) {
        if let Some(crash) = &self.crash {
            what(crash);
        }
    }
}

impl DiskFile {
    /// The file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends all of `slices`.
    pub(crate) fn write_slices(
        &mut self,
        mut slices: &mut [IoSlice<'_>],
    ) -> Result<(), StoreError> {
        #[cfg(test)]
        if let Some(crash) = &self.disk.crash {
            crash.write(&self.file, slices).map_err(StoreError::io("write", &self.path))?;
        }
        IoSlice::advance_slices(&mut slices, 0); // drops empty ones, which look like "no progress"
        while !slices.is_empty() {
            match (&*self.file).write_vectored(slices) {
                Ok(0) => return Err(self.error("write")(io::ErrorKind::WriteZero.into())),
                Ok(n) => IoSlice::advance_slices(&mut slices, n),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error("write")(error)),
            }
        }
        Ok(())
    }

    /// Makes the file's bytes durable.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        if self.disk.passing {
            return Ok(());
        }
        self.disk.step("fdatasync", &self.path)?;
        self.file.sync_data().map_err(self.error("fdatasync"))?;
        #[cfg(test)]
        self.disk.note(|crash| crash.synced(&self.path));
        Ok(())
    }

    /// Cuts the file to `len` bytes and goes on from there.
    pub(crate) fn cut(&mut self, len: u64) -> Result<(), StoreError> {
        use std::io::Seek;
        self.disk.step("ftruncate", &self.path)?;
        self.file.set_len(len).map_err(self.error("ftruncate"))?;
        (&*self.file).seek(io::SeekFrom::Start(len)).map_err(self.error("lseek"))?;
        Ok(())
    }

    fn error(&self, operation: &'static str) -> impl FnOnce(io::Error) -> StoreError {
        StoreError::io(operation, &self.path)
    }
}

/// For writers that know only [`Write`].
impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.write_slices(&mut [IoSlice::new(bytes)]) {
            Ok(()) => Ok(bytes.len()),
            Err(StoreError::Io { source, .. }) => Err(source),
            Err(other) => Err(io::Error::other(other)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The files in a directory, sorted; none where there is no such directory.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("read directory", dir)(error)),
    };
    let path = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.map(|entry| entry.path()).map_err(StoreError::io("read directory", dir))
    };
    let mut files = entries.map(path).collect::<Result<Vec<_>, _>>()?;
    files.sort();
    Ok(files)
}
