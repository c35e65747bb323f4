//! Free space of a disk.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes that an ordinary user may still write on the disk of `path`; `None` when the system does
/// not tell.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut stat = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: `path` ends in NUL and `stat` has room for what the call writes.
    let result = unsafe { libc::statvfs(path.as_ptr(), stat.as_mut_ptr()) };
    // SAFETY: the call returned 0, so it has filled `stat`.
    let stat = (result == 0).then(|| unsafe { stat.assume_init() })?;
    Some(stat.f_bavail * stat.f_frsize)
}
