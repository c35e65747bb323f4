//! A log file that is rotated: `x.log` is written, `x.log.0` is the newest of the old ones.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// An open log file.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    size: u64,
    /// Octets at which it is rotated, and old files that are kept.
    pub(super) rotation: Option<(u64, u32)>,
}

impl LogFile {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let (file, size) = append(&path)?;
        Ok(Self { path, file, size, rotation: None })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn reopen(&mut self) -> io::Result<()> {
        (self.file, self.size) = append(&self.path)?;
        Ok(())
    }

    /// Appends a line, and rotates when that was enough for a file. A rotation that does not go
    /// leaves the file growing: lines are worth more than its size.
    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.write_all(line)?;
        self.size += line.len() as u64;
        match self.rotation {
            Some((limit, kept)) if self.size >= limit => self.rotate(kept),
            _ => Ok(()),
        }
    }

    fn rotate(&mut self, kept: u32) -> io::Result<()> {
        let old = |index: u32| {
            let mut path = self.path.clone().into_os_string();
            path.push(format!(".{index}"));
            PathBuf::from(path)
        };
        for index in (1..kept).rev() {
            match fs::rename(old(index - 1), old(index)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::rename(&self.path, old(0))?;
        self.reopen()
    }
}

fn append(path: &Path) -> io::Result<(File, u64)> {
    let file = OpenOptions::new().append(true).create(true).mode(0o640).open(path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}

#[cfg(test)]
mod tests {
    use super::LogFile;
    use std::fs;

    #[test]
    fn the_oldest_is_the_last_of_those_that_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        let mut log = LogFile::open(path.clone()).unwrap();
        log.rotation = Some((20, 2));
        for line in 0..9 {
            log.write(format!("line {line}..\n").as_bytes()).unwrap();
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name));
        assert_eq!(read("x.log").unwrap(), "");
        assert_eq!(read("x.log.0").unwrap(), "line 6..\nline 7..\nline 8..\n");
        assert_eq!(read("x.log.1").unwrap(), "line 3..\nline 4..\nline 5..\n");
        assert!(read("x.log.2").is_err());
        // a file that was there counts from its size on
        let mut log = LogFile::open(folder.path().join("x.log.0")).unwrap();
        log.rotation = Some((19, 1));
        log.write(b"!\n").unwrap();
        assert!(read("x.log.0.0").unwrap().ends_with("line 8..\n!\n"));
    }
}
