//! Lines of a file from outside, one at a time and bounded.

use std::io::{self, BufRead, Read};

/// Reason why there is no next line.
#[derive(Debug)]
pub(crate) enum LineError {
    /// The file could not be read.
    Io(io::Error),
    /// The line is longer than the limit.
    TooLong,
}

/// Reads the next line into `buffer`, without its end; false at the end of the file. No more than
/// `limit` octets and one are held.
pub(crate) fn next_line(
    from: &mut impl BufRead,
    buffer: &mut Vec<u8>,
    limit: usize,
) -> Result<bool, LineError> {
    buffer.clear();
    let count =
        Read::take(from, limit as u64 + 1).read_until(b'\n', buffer).map_err(LineError::Io)?;
    if buffer.last() == Some(&b'\n') {
        buffer.pop();
    } else if buffer.len() > limit {
        return Err(LineError::TooLong);
    }
    Ok(count > 0)
}
