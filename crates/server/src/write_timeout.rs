//! A peer that does not read: how long it is waited for.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection with a write timeout: writing fails when the peer has read nothing for a while.
/// Otherwise an unread answer would occupy memory and the connection's place for ever. Every
/// accepted octet restarts the timeout.
#[derive(Debug)]
pub(crate) struct WriteTimeout<S> {
    stream: S,
    within: Duration,
    cut: Arc<AtomicU64>,
    /// Runs while a write waits.
    overdue: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    /// A connection that is waited for as long as that; where it was in vain, `cut` counts it.
    pub(crate) fn new(stream: S, within: Duration, cut: Arc<AtomicU64>) -> Self {
        Self { stream, within, cut, overdue: None }
    }

    /// The result of a write, or an error when the write timeout has passed.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.overdue = None;
            return written;
        }
        let within = self.within;
        let overdue = self.overdue.get_or_insert_with(|| Box::pin(sleep(within)));
        ready!(overdue.as_mut().poll(context));
        self.cut.fetch_add(1, Ordering::Relaxed);
        self.overdue = None;
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, from);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, from);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn who_reads_nothing_is_cut_and_counted() {
        runtime().block_on(async {
            let (ours, theirs) = tokio::io::duplex(1024);
            let cut = Arc::new(AtomicU64::new(0));
            let mut stream = WriteTimeout::new(ours, Duration::from_millis(20), cut.clone());
            let error = stream.write_all(&[7; 4096]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert_eq!(cut.load(Ordering::Relaxed), 1);
            drop(theirs);
        });
    }

    #[test]
    fn who_reads_an_octet_at_a_time_is_waited_for() {
        runtime().block_on(async {
            let (ours, mut theirs) = tokio::io::duplex(1);
            let cut = Arc::new(AtomicU64::new(0));
            // No single write waits an hour; the whole answer may take any time.
            let mut stream = WriteTimeout::new(ours, Duration::from_hours(1), cut.clone());
            let writes = tokio::spawn(async move { stream.write_all(&[7; 100]).await });
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).await.unwrap();
            writes.await.unwrap().unwrap();
            assert_eq!((all.len(), cut.load(Ordering::Relaxed)), (100, 0));
        });
    }
}
