//! The mapped file: reserved addresses that fill up from the front, never moved and never returned.
//! A pointer into it stays valid for the life of the process.
//!
//! Space is allocated (`fallocate`) before it is mapped: a full file system is an error here and
//! never a SIGBUS later. When the file cannot grow, private memory is used at the same addresses:
//! the program runs on, its core file shows it, and outsiders do not see it.
//!
//! Chunks are whole pages of 4096 bytes on every machine, and readers count in them. The kernel maps
//! whole pages of its own, which on aarch64 may have 16 or 64 KiB: the last mapped one may have room
//! for the next chunk.
#![allow(unsafe_code)] // mmap, fallocate

use crate::env::Settings;
use crate::layout::PAGE;
use crate::say::{self, Topic};
use crate::{Storage, liveness, os, shared, sigbus};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Addresses set aside, in bytes; the first that the system grants. No memory is behind them.
const RESERVATIONS: [usize; 4] = [64 << 30, 8 << 30, 1 << 30, 128 << 20];

/// The mapped file.
#[derive(Debug)]
pub(crate) struct Region {
    base: *mut u8,
    reserved: usize,
    used: usize,
    /// Bytes that are mapped: whole pages of the kernel's, of which `used` are given out.
    mapped: usize,
    file: Option<OwnFile>,
    path: Option<PathBuf>,
    storage: Storage,
    /// Whether the file is locked, which tells readers how long the process lives.
    is_locked: bool,
}

/// The ring's file. A daemon closes descriptors that it has not opened, and another file can then
/// have our descriptor number: the file's identity is checked before each use.
#[derive(Debug)]
struct OwnFile {
    /// Not closed when the descriptor is another file's.
    file: ManuallyDrop<File>,
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl OwnFile {
    fn new(file: File, path: PathBuf) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let (device, inode) = (metadata.dev(), metadata.ino());
        Ok(Self { file: ManuallyDrop::new(file), path, device, inode })
    }

    fn is_ours(&self, file: &File) -> bool {
        let same =
            |found: std::fs::Metadata| (found.dev(), found.ino()) == (self.device, self.inode);
        file.metadata().is_ok_and(same)
    }

    /// The file, opened again where somebody has closed it.
    fn get(&mut self) -> io::Result<&File> {
        if !self.is_ours(&self.file) {
            let flags = libc::O_CLOEXEC | libc::O_NOFOLLOW;
            let again =
                OpenOptions::new().read(true).write(true).custom_flags(flags).open(&self.path)?;
            let again = beyond_standard(again)?;
            if !self.is_ours(&again) {
                return Err(io::Error::other(
                    "another part of the program closed its file, and the file has been removed",
                ));
            }
            self.file = ManuallyDrop::new(again);
        }
        Ok(&self.file)
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if self.is_ours(&self.file) {
            // SAFETY: dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

/// The same file by a number above those of stdin, stdout and stderr, which a daemon may have
/// closed: its output must not go into the ring.
fn beyond_standard(file: File) -> io::Result<File> {
    if file.as_raw_fd() > libc::STDERR_FILENO {
        return Ok(file);
    }
    // SAFETY: a plain system call on an open file.
    let other =
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, libc::STDERR_FILENO + 1) };
    if other < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor without another owner.
    Ok(unsafe { File::from_raw_fd(other) })
}

// SAFETY: `base` is an address that is never unmapped while the region exists; the memory behind it
// is shared by rules of the layout, not of this type.
unsafe impl Send for Region {}

/// Bytes that were added to a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grown {
    pub(crate) offset: usize,
    /// Whether the bytes are not in the file.
    pub(crate) private: bool,
}

impl Region {
    /// Opens a new file with `first` bytes in the first folder that has room, else private memory.
    /// `None` when the system grants no addresses at all.
    pub(crate) fn create(settings: &Settings, file_name: &str, first: usize) -> Option<Self> {
        let (base, reserved) = RESERVATIONS.iter().find_map(|bytes| reserve(*bytes))?;
        let mut region = Self {
            base,
            reserved,
            used: 0,
            mapped: 0,
            file: None,
            path: None,
            storage: Storage::PrivateMemory,
            is_locked: false,
        };
        let folders =
            [(&settings.folder, Storage::Folder), (&settings.fallback, Storage::OtherFolder)];
        for (folder, storage) in folders {
            match create_file(folder, file_name, first) {
                Ok(file) => {
                    (region.path, region.storage) = (Some(file.path.clone()), storage);
                    region.file = Some(file);
                    break;
                }
                Err(error) => say::once(
                    if storage == Storage::Folder {
                        Topic::OtherFolder
                    } else {
                        Topic::PrivateMemory
                    },
                    &format!(
                        "cannot make a ring in {}: {error}; trying another folder",
                        folder.display()
                    ),
                ),
            }
        }
        if region.file.is_none() {
            say::once(
                Topic::Growth,
                "the ring is in private memory: it can be read from a core file only",
            );
        }
        // Without the lock, which some network file systems do not have, readers go by our number.
        region.is_locked =
            region.file.as_ref().is_some_and(|own| liveness::hold(&own.file).is_ok());
        if settings.sigbus && region.file.is_some() {
            sigbus::guard(base as usize);
        }
        region.grow(first).map(|_| region)
    }

    /// Adds `bytes`, zeroed; `None` when addresses or memory have run out.
    pub(crate) fn grow(&mut self, bytes: usize) -> Option<Grown> {
        let bytes = bytes.next_multiple_of(PAGE);
        if bytes > self.reserved - self.used {
            return None;
        }
        let private = match self.extend_file(self.used + bytes) {
            Ok(()) => false,
            Err(error) => {
                if self.file.take().is_some() {
                    let text = format!("the ring cannot grow: {error}; the rest is private memory");
                    say::once(Topic::Growth, &text);
                    // From here on all is private, which keeps the file's part of the addresses one
                    // piece: the SIGBUS handler relies on it.
                    self.used = self.mapped;
                }
                self.extend_private(self.used + bytes).ok()?;
                true
            }
        };
        let offset = self.used;
        self.used = offset + bytes;
        Some(Grown { offset, private })
    }

    /// Whether the file is locked ([`liveness`]).
    pub(crate) fn is_locked(&self) -> bool {
        self.is_locked
    }

    /// Maps the file up to `end`, where it is not mapped already.
    fn extend_file(&mut self, end: usize) -> io::Result<()> {
        let (base, from, to) = (self.base, self.mapped, self.mapped_to(end));
        let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?.get()?;
        if sigbus::is_damaged() {
            return Err(io::Error::other("another program truncated the file"));
        }
        if to > from {
            allocate(file, from, to - from)?;
            Self::map(base, from, to - from, Some(file))?;
            sigbus::set_file_end(base as usize + to);
            self.mapped = to;
        }
        Ok(())
    }

    /// Maps private memory up to `end`, where nothing is mapped already.
    fn extend_private(&mut self, end: usize) -> io::Result<()> {
        let (from, to) = (self.mapped, self.mapped_to(end));
        if to > self.reserved {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if to > from {
            Self::map(self.base, from, to - from, None)?;
            self.mapped = to;
        }
        Ok(())
    }

    /// Where the mapped part ends when it reaches to `end`: at a page of the kernel's.
    fn mapped_to(&self, end: usize) -> usize {
        end.next_multiple_of(os::page_bytes().max(PAGE)).max(self.mapped)
    }

    /// Maps what has been allocated of `file`, or private memory, into the reservation at `base`.
    fn map(base: *mut u8, offset: usize, bytes: usize, file: Option<&File>) -> io::Result<()> {
        let (flags, fd) = match file {
            Some(file) => (libc::MAP_SHARED, file.as_raw_fd()),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
        };
        // SAFETY: the addresses are inside our own reservation and not used yet.
        let address = unsafe {
            libc::mmap(
                base.add(offset).cast(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                flags | libc::MAP_FIXED,
                fd,
                if file.is_some() { offset.cast_signed() as libc::off_t } else { 0 },
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // Touched now, so that no page fault falls into a measurement. An older kernel (before
        // 5.14) refuses, and then the faults come later.
        // SAFETY: the range was just mapped.
        unsafe { libc::madvise(address, bytes, libc::MADV_POPULATE_WRITE) };
        Ok(())
    }

    /// First address of the region.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// The file's name, while there is a file.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Storage of the region.
    pub(crate) fn storage(&self) -> Storage {
        self.storage
    }
}

impl Drop for Region {
    /// Only regions that never came into use are dropped.
    fn drop(&mut self) {
        // SAFETY: no pointer into it was given out.
        unsafe { libc::munmap(self.base.cast(), self.reserved) };
    }
}

fn reserve(bytes: usize) -> Option<(*mut u8, usize)> {
    // SAFETY: asks for fresh addresses.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return None;
    }
    // A debugger that writes a core file would look at every page of the empty addresses.
    // SAFETY: the range was just mapped.
    unsafe { libc::madvise(base, bytes, libc::MADV_DONTDUMP) };
    Some((base.cast(), bytes))
}

fn allocate(file: &File, offset: usize, bytes: usize) -> io::Result<()> {
    loop {
        // SAFETY: a plain system call on an open file.
        let failed = unsafe {
            libc::fallocate(
                file.as_raw_fd(),
                0,
                offset.cast_signed() as libc::off_t,
                bytes.cast_signed() as libc::off_t,
            )
        };
        if failed == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn create_file(folder: &Path, file_name: &str, bytes: usize) -> io::Result<OwnFile> {
    let is_shared = make_own_folder(folder)?;
    let path = folder.join(file_name);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
        .open(&path)?;
    // Not by the mode of the opening: a program's umask is for its own files.
    let opened_to_group = match is_shared {
        true => file.set_permissions(Permissions::from_mode(shared::RING_MODE)),
        false => Ok(()),
    };
    if let Err(error) = opened_to_group.and_then(|()| allocate(&file, 0, bytes)) {
        // A leftover without content would be of no use to anyone.
        let _ = std::fs::remove_file(&path);
        return Err(error);
    }
    OwnFile::new(beyond_standard(file)?, path)
}

/// Makes the folder, or checks that the one that is there is ours alone or shared by a group of
/// ours: its parent is often writable by everybody. Whether it is shared.
fn make_own_folder(folder: &Path) -> io::Result<bool> {
    match DirBuilder::new().mode(0o700).recursive(false).create(folder) {
        Ok(()) => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = std::fs::symlink_metadata(folder)?;
    if !found.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    if shared::is_by_group(&found) {
        return Ok(true);
    }
    if found.uid() != os::user() {
        return Err(io::Error::other(format!("it belongs to user {}", found.uid())));
    }
    if found.mode() & 0o022 != 0 {
        return Err(io::Error::other("other users may write to it"));
    }
    Ok(false)
}
