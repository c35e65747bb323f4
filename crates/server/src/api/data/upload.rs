//! A request's body as a file, for as long as it is read.

use super::super::error::ApiError;
use axum::body::Body;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_stream::StreamExt as _;

/// Largest body, in bytes.
pub(super) const BYTES_MAX: u64 = 1 << 30;
/// Longest time for the whole body.
const WITHIN: Duration = Duration::from_mins(10);
/// Longest time without any of it.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// Folder of the files in a data folder.
const FOLDER: &str = "uploads";

/// Folder of files that wait for being read.
#[derive(Clone, Copy, Debug)]
pub(super) enum UploadFolder<'a> {
    /// In a data folder, where the next start finds what was left.
    Of(&'a Path),
    /// In the system's temporary folder, one for each file: a server before a cluster has no other.
    Temporary,
}

/// A file that is removed with this.
#[derive(Debug)]
pub(super) struct Upload {
    path: PathBuf,
    file: File,
    bytes: u64,
    /// The folder that has nothing but this file.
    own_folder: Option<PathBuf>,
}

impl Upload {
    /// Receives a body.
    ///
    /// # Errors
    /// When the body is larger or slower than allowed, or the disk is full.
    pub(super) async fn receive(dir: UploadFolder<'_>, body: Body) -> Result<Self, ApiError> {
        let received = tokio::time::timeout(WITHIN, Self::receive_all(dir, body)).await;
        received.unwrap_or_else(|_| {
            let what = format!("the file did not arrive within {} s", WITHIN.as_secs());
            Err(ApiError::question(what).hint("use `chronoscope import` on the server's host"))
        })
    }

    async fn receive_all(dir: UploadFolder<'_>, body: Body) -> Result<Self, ApiError> {
        let mut upload = Self::create(dir).map_err(ApiError::failed)?;
        let mut pieces = body.into_data_stream();
        loop {
            let next = tokio::time::timeout(IDLE_MAX, pieces.next()).await;
            let next = next.map_err(|_| {
                ApiError::question(format!("nothing arrived for {} s", IDLE_MAX.as_secs()))
            })?;
            let Some(piece) = next else { return Ok(upload) };
            let piece = piece.map_err(ApiError::question)?;
            upload.bytes += piece.len() as u64;
            if upload.bytes > BYTES_MAX {
                return Err(too_large());
            }
            // Writing waits for the disk at most when its cache is full: pieces are small.
            upload.file.write_all(&piece).map_err(ApiError::failed)?;
        }
    }

    fn create(dir: UploadFolder<'_>) -> std::io::Result<Self> {
        let mut number = [0; 8];
        getrandom::fill(&mut number).map_err(std::io::Error::other)?;
        let name = format!("{:016x}", u64::from_le_bytes(number));
        let (folder, own_folder) = match dir {
            UploadFolder::Of(dir) => {
                let folder = dir.join(FOLDER);
                fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
                (folder, None)
            }
            UploadFolder::Temporary => {
                let folder = std::env::temp_dir().join(format!("chronoscope-upload-{name}"));
                // Fails where somebody else has made it.
                fs::DirBuilder::new().mode(0o700).create(&folder)?;
                (folder.clone(), Some(folder))
            }
        };
        let path = folder.join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { path, file, bytes: 0, own_folder })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its size.
    pub(super) const fn size_bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // One that stays in a data folder is removed at the next start.
        let _ = fs::remove_file(&self.path);
        if let Some(folder) = &self.own_folder {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The refusal of a body that is too large.
pub(super) fn too_large() -> ApiError {
    ApiError::question(format!("the file has more than {BYTES_MAX} bytes"))
        .hint("use `chronoscope import` on the server's host")
}

/// Removes what a server that was killed has left.
pub(crate) fn remove_left(dir: &Path) {
    if let Ok(entries) = fs::read_dir(dir.join(FOLDER)) {
        entries.flatten().for_each(|entry| drop(fs::remove_file(entry.path())));
    }
}
