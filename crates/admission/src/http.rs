//! Slots of HTTP connections, in tokio.

use crate::{ActiveRequest, ConnectionSlot, ConnectionSlots, SlotHandle};
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

/// Signal that a connection was evicted.
#[derive(Debug)]
pub struct Eviction(oneshot::Receiver<()>);

/// Acquires a slot for a connection from `address`; `None` if none can be freed.
pub fn acquire(
    slots: &Arc<ConnectionSlots>,
    address: IpAddr,
) -> Option<(ConnectionSlot, Eviction)> {
    let (evict, evicted) = oneshot::channel();
    let slot = slots.acquire(address, move || {
        let _ = evict.send(()); // fails if the connection has just ended by itself
    })?;
    Some((slot, Eviction(evicted)))
}

impl Eviction {
    /// Returns when the connection is evicted; never if it is not.
    pub async fn requested(self) {
        if self.0.await.is_err() {
            std::future::pending().await
        }
    }
}

/// Whether a connection has received its first request.
#[derive(Debug, Default)]
pub struct FirstRequest(AtomicBool);

impl FirstRequest {
    /// Returns after `within` if there was no request until then; otherwise never.
    pub async fn missed(&self, within: Duration) {
        sleep(within).await;
        if self.0.load(Ordering::Relaxed) {
            std::future::pending().await
        }
    }
}

/// The routes of one connection. A request is counted until its response was sent; its extensions
/// are the peer and the slot.
#[derive(Clone, Debug)]
pub struct TrackedRoutes<P> {
    /// The routes.
    pub routes: Router,
    /// The peer, as an extension of each request.
    pub peer: P,
    /// The connection's slot.
    pub slot: SlotHandle,
    /// Set by the first request.
    pub first: Arc<FirstRequest>,
}

impl<P, B> Service<Request<B>> for TrackedRoutes<P>
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
        let active = self.slot.begin_request();
        request.extensions_mut().insert(self.peer.clone());
        request.extensions_mut().insert(self.slot.clone());
        self.first.0.store(true, Ordering::Relaxed);
        let answer = self.routes.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            Ok(answer.map(|body| Body::new(TrackedBody { body, _active: active })))
        })
    }
}

/// The body of a response. Its request ends when the body was sent.
struct TrackedBody {
    body: Body,
    _active: ActiveRequest,
}

impl HttpBody for TrackedBody {
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
