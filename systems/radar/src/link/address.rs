//! Files that others wait for: where a program listens, above all.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::net::SocketAddr;
use std::path::Path;

/// Says on stderr, and in `port_file` when there is one, which address the kernel chose.
///
/// # Errors
/// When the file cannot be written.
pub fn announce(
    program: &str,
    what: &str,
    address: SocketAddr,
    port_file: Option<&Path>,
) -> io::Result<()> {
    say!("{program}: {what} on {address}");
    port_file.map_or(Ok(()), |path| write_port_file(path, address))
}

/// The error of listening on `address`, with the address: one program listens on several.
pub(crate) fn cannot_listen(address: SocketAddr) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
}

/// Writes `address` and a line end into `path`, at once: a reader finds the whole line or no file.
///
/// # Errors
/// When the file or its neighbour `path.new` cannot be written, with the path.
pub fn write_port_file(path: &Path, address: SocketAddr) -> io::Result<()> {
    write_whole(path, |file| writeln!(file, "{address}")).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
    })
}

/// Writes `path` by way of a temporary file, `path.new`: a reader finds the whole file or none.
///
/// # Errors
/// Errors of `write`, and when one of the two files cannot be written.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file = BufWriter::new(File::create(&new)?);
    write(&mut file)?;
    file.flush()?;
    drop(file);
    std::fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_file_replaces_an_older_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("port");
        write_port_file(&path, "127.0.0.1:1".parse().unwrap()).unwrap();
        write_port_file(&path, "127.0.0.1:65535".parse().unwrap()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "127.0.0.1:65535\n");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
