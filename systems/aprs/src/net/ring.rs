//! Many sends in one system call, by the kernel's `io_uring`: a call for each lets a reader on the
//! same machine run between any two, and costs more.
#![allow(unsafe_code)]

use io_uring::{IoUring, opcode, types};
use std::io;
use std::os::fd::RawFd;

/// Sends that are handed over at once, at most.
const ENTRIES: u32 = 128;

/// Sends of one call.
pub(crate) struct Ring {
    ring: IoUring,
    /// Results of the sends of a call, by their index in it.
    results: Vec<Option<i32>>,
    /// The kernel refused a call: what it took of it is not known, and the ring is not used again.
    is_broken: bool,
}

/// A send that is to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Send<'a> {
    pub(crate) fd: RawFd,
    pub(crate) bytes: &'a [u8],
}

impl Ring {
    /// A ring for the calling thread; `None` where the kernel has none for us, as in many
    /// containers, or where a replay has to see each call.
    pub(crate) fn new() -> Option<Self> {
        if chronoscope_clock::is_virtual() {
            return None;
        }
        let mut builder = IoUring::builder();
        builder.setup_coop_taskrun().setup_single_issuer().setup_submit_all();
        let ring = builder.build(ENTRIES).ok()?;
        Some(Self { ring, results: Vec::new(), is_broken: false })
    }

    /// Makes sends that never wait. The results, in their order, are what send(2) returns: octets,
    /// or an error. Where the kernel fails, the last ones are missing: these were not made.
    pub(crate) fn send(&mut self, sends: &[Send<'_>]) -> Vec<io::Result<usize>> {
        let mut results = Vec::with_capacity(sends.len());
        for sends in sends.chunks(ENTRIES as usize) {
            if self.is_broken {
                break;
            }
            self.is_broken = self.send_chunk(sends).is_err();
            // The kernel makes them in their order: where it failed, the first ones are made.
            let made = self.results.iter().map_while(|result| *result);
            results.extend(made.map(|result| {
                usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))
            }));
        }
        results
    }

    /// Returns when all are done: none refers to the octets any more.
    fn send_chunk(&mut self, sends: &[Send<'_>]) -> io::Result<()> {
        self.results.clear();
        for (index, send) in (0..).zip(sends) {
            // A longer one is sent in parts, like one that the socket has no room for.
            let octets = u32::try_from(send.bytes.len()).unwrap_or(u32::MAX);
            let entry = opcode::Send::new(types::Fd(send.fd), send.bytes.as_ptr(), octets)
                .flags(libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
                .build()
                .user_data(index);
            // SAFETY: the octets are borrowed until this function returns. That is when the kernel
            // has completed every send that it took, or when it took none of those that are left:
            // a send that does not wait is completed in the call that hands it over.
            let pushed = unsafe { self.ring.submission().push(&entry) };
            // There is room: the queue is empty, and a chunk is no longer than it.
            pushed.map_err(io::Error::other)?;
        }
        self.results.resize(sends.len(), None);
        let mut left = sends.len();
        while left > 0 {
            let handed_over = self.ring.submit_and_wait(left);
            for entry in self.ring.completion() {
                let index = usize::try_from(entry.user_data()).unwrap_or(usize::MAX);
                if let Some(result) = self.results.get_mut(index) {
                    *result = Some(entry.result());
                    left -= 1;
                }
            }
            match handed_over {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Ring, Send};
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn each_send_has_its_own_result() {
        let Some(mut ring) = Ring::new() else {
            return eprintln!("SKIPPED: the kernel gives no io_uring");
        };
        let mut pairs: Vec<_> = (0..150).map(|_| UnixStream::pair().unwrap()).collect();
        let words: Vec<String> = (0..150).map(|number| format!("to {number}")).collect();
        let (gone, there) = UnixStream::pair().unwrap();
        drop(there);
        let mut sends: Vec<Send<'_>> = pairs
            .iter()
            .zip(&words)
            .map(|((ours, _), word)| Send { fd: ours.as_raw_fd(), bytes: word.as_bytes() })
            .collect();
        sends.push(Send { fd: gone.as_raw_fd(), bytes: b"nobody" });
        let results = ring.send(&sends);
        assert_eq!(results.len(), 151);
        for (word, result) in words.iter().zip(&results) {
            assert_eq!(*result.as_ref().unwrap(), word.len());
        }
        let error = results[150].as_ref().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EPIPE));
        for ((_, theirs), word) in pairs.iter_mut().zip(&words) {
            let mut octets = vec![0; word.len()];
            theirs.read_exact(&mut octets).unwrap();
            assert_eq!(octets, word.as_bytes());
        }
    }

    #[test]
    fn a_full_socket_says_so_at_once() {
        let Some(mut ring) = Ring::new() else {
            return eprintln!("SKIPPED: the kernel gives no io_uring");
        };
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let bytes = vec![0; 1 << 20];
        let send = [Send { fd: ours.as_raw_fd(), bytes: &bytes }];
        let mut first = || ring.send(&send).pop().unwrap();
        assert!(first().unwrap() < bytes.len());
        let error = (0..1000).find_map(|_| first().err()).unwrap();
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
}
