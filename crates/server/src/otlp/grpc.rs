//! OTLP/gRPC: one unary method, whose message is passed on unchanged.

use super::answer::{Refusal, reason};
use super::limits::REQUEST_BYTES_MAX;
use super::receiver::{Format, Receiver, unpacked_max};
use crate::senders::Peer;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use tonic::codec::{
    BufferSettings, Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder,
};
use tonic::codegen::http::HeaderName;
use tonic::server::{Grpc, UnaryService};
use tonic::{Code, Status};

pub(super) const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
/// Octets before a message: the compression flag and the length.
const PREFIX_BYTES: usize = 5;
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

/// Handles a call.
pub(super) async fn export(State(receiver): State<Arc<Receiver>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let peer = Peer::of(&parts.extensions);
    let stored = match receiver.body(&parts.headers, body).await {
        Ok(stored) => stored,
        Err(refusal) => {
            receiver.refused(peer, refusal.reason(), &refusal.to_string());
            return refusal.grpc().into_http::<Body>().into_response();
        }
    };
    let mut grpc = Grpc::new(Raw)
        .accept_compressed(CompressionEncoding::Gzip)
        .accept_compressed(CompressionEncoding::Zstd)
        .max_decoding_message_size(REQUEST_BYTES_MAX - PREFIX_BYTES);
    let packed = stored.bytes.len();
    let request = Request::from_parts(parts, Body::from(stored.bytes.clone()));
    let export = Export { receiver: receiver.clone(), peer, packed };
    let mut response = grpc.unary(export, request).await;
    // OTLP lets senders repeat OUT_OF_RANGE, and a message that is too long stays that.
    let too_long = HeaderValue::from(Code::OutOfRange as i32);
    if response.headers().get(GRPC_STATUS) == Some(&too_long) {
        let code = HeaderValue::from(Code::ResourceExhausted as i32);
        response.headers_mut().insert(GRPC_STATUS, code);
    }
    // An answer with a status in its head is a refusal, whoever in the stack made it.
    if let Some(refused) = Status::from_header_map(response.headers()) {
        receiver.refused(peer, reason(refused.code()), refused.message());
    }
    response.into_response()
}

/// A message of gRPC: decompressed already.
const PLAIN: Format = Format { json: false, gzip: false };

/// The gRPC method `Export`.
struct Export {
    receiver: Arc<Receiver>,
    peer: Option<SocketAddr>,
    /// Octets of the message before it was decompressed.
    packed: usize,
}

impl UnaryService<Bytes> for Export {
    type Response = Bytes;
    type Future =
        Pin<Box<dyn Future<Output = Result<tonic::Response<Bytes>, Status>> + Send + 'static>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let (receiver, peer, packed) = (self.receiver.clone(), self.peer, self.packed);
        let max = unpacked_max(packed);
        Box::pin(async move {
            if request.get_ref().len() > max {
                return Err(Refusal::TooDense { packed, max }.grpc());
            }
            let taken = receiver.take(request.into_inner(), PLAIN, peer).await;
            taken.map(|taken| tonic::Response::new(taken.encode())).map_err(|r| r.grpc())
        })
    }
}

/// Messages as bytes: they are read where their cost is bounded, and not before.
#[derive(Clone, Copy, Debug, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, target: &mut EncodeBuf<'_>) -> Result<(), Status> {
        bytes::BufMut::put(target, item);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::default()
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        let len = bytes::Buf::remaining(source);
        Ok(Some(bytes::Buf::copy_to_bytes(source, len)))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::default()
    }
}
