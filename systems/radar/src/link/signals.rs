//! Signals as events of the poll: a program ends or saves a picture between two messages, never
//! in the middle of one.

use mio::net::UnixStream;
use mio::{Interest, Registry, Token};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::{flag, low_level::pipe};
use std::io::{self, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// SIGINT and SIGTERM ask for a clean end, SIGUSR1 for a picture.
#[derive(Debug)]
pub struct Signals {
    stop: Arc<AtomicBool>,
    picture: Arc<AtomicBool>,
    wake: UnixStream,
}

impl Signals {
    /// Catches the signals from now on; `token` becomes readable when one arrived.
    ///
    /// # Errors
    /// When the handlers or the wake-up socket cannot be set up.
    pub fn catch(registry: &Registry, token: Token) -> io::Result<Self> {
        let (read, write) = std::os::unix::net::UnixStream::pair()?;
        read.set_nonblocking(true)?;
        let (stop, picture) = (Arc::default(), Arc::default());
        for (signal, asked) in [(SIGINT, &stop), (SIGTERM, &stop), (SIGUSR1, &picture)] {
            // The flag first: when the wake-up is read, the flag must already say why.
            flag::register(signal, Arc::clone(asked))?;
            pipe::register(signal, write.try_clone()?)?;
        }
        let mut wake = UnixStream::from_std(read);
        registry.register(&mut wake, token, Interest::READABLE)?;
        Ok(Self { stop, picture, wake })
    }

    /// Empties the wake-up socket; call when its token was readable.
    pub fn acknowledge(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.wake.read(&mut bytes), Ok(1..)) {}
    }

    /// Whether the program was asked to end.
    pub fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether a picture was asked for since the last call.
    pub fn take_picture(&self) -> bool {
        self.picture.swap(false, Ordering::Relaxed)
    }
}
