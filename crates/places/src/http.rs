//! Places of connections that carry requests of HTTP, in tokio.

use crate::{Busy, Place, PlaceOf, Places};
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::Request;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tower_service::Service;

/// Ends when a connection has to leave.
#[derive(Debug)]
pub struct Leave(oneshot::Receiver<()>);

/// A place for a connection from `address`; `None` where there is none.
pub fn take(places: &Arc<Places>, address: IpAddr) -> Option<(Place, Leave)> {
    let (leave, left) = oneshot::channel();
    let place = places.take(address, move || {
        let _ = leave.send(()); // one that has just ended by itself needs no telling
    })?;
    Some((place, Leave(left)))
}

impl Leave {
    /// Returns when the connection has to leave; never for one that may stay.
    pub async fn asked(self) {
        if self.0.await.is_err() {
            std::future::pending().await
        }
    }
}

/// Whether a connection has brought a request yet.
#[derive(Debug, Default)]
pub struct First(AtomicBool);

impl First {
    /// Returns when the first request is overdue; never once there was one.
    pub async fn missed(&self, within: Duration) {
        sleep(within).await;
        if self.0.load(Ordering::Relaxed) {
            std::future::pending().await
        }
    }
}

/// The routes of one connection: a request is noted until its response was sent, and gets its peer
/// and its place as extensions.
#[derive(Clone, Debug)]
pub struct Noted<P> {
    /// Routes that answer.
    pub routes: Router,
    /// The other side.
    pub peer: P,
    /// The connection's place.
    pub place: PlaceOf,
    /// Notes that there was a request.
    pub first: Arc<First>,
}

impl<P, B> Service<Request<B>> for Noted<P>
where
    P: Clone + Send + Sync + 'static,
    Router: Service<Request<B>, Response = Response, Error = Infallible>,
    <Router as Service<Request<B>>>::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.routes.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let busy = self.place.busy();
        request.extensions_mut().insert(self.peer.clone());
        request.extensions_mut().insert(self.place.clone());
        self.first.0.store(true, Ordering::Relaxed);
        let answer = self.routes.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            Ok(answer.map(|body| Body::new(Answering { body, _busy: busy })))
        })
    }
}

/// The body of an answer: its request lasts until it was sent.
struct Answering {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Answering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
