//! A cable between user and provider, which can be cut: from then on nothing comes through, and
//! nobody is told.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) struct Cable {
    pub(crate) address: String,
    is_cut: Arc<AtomicBool>,
}

impl Cable {
    /// To whoever listens there; for one connection.
    pub(crate) fn to(address: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = listener.local_addr().unwrap().to_string();
        let (is_cut, far) = (Arc::new(AtomicBool::new(false)), address.to_owned());
        let cut = Arc::clone(&is_cut);
        std::thread::spawn(move || {
            let (near, _) = listener.accept().unwrap();
            let far = TcpStream::connect(far).unwrap();
            let (to_near, to_far) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            let of_other = Arc::clone(&cut);
            let other = std::thread::spawn(move || carry(far, to_near, &of_other));
            carry(near, to_far, &cut);
            other.join().unwrap();
        });
        Self { address: near, is_cut }
    }

    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Release);
    }
}

/// Carries octets until the end, or until it is cut: then it keeps the sockets open for as long as
/// the test runs.
fn carry(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    from.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut octets = vec![0; 1 << 16];
    loop {
        if is_cut.load(Ordering::Acquire) {
            std::mem::forget((from, to));
            return;
        }
        match from.read(&mut octets) {
            Ok(0) => return,
            Ok(count) => {
                if to.write_all(&octets[..count]).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}
