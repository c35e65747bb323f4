//! What a sender of OTLP is told.

use super::{BODY_WITHIN, REQUEST_BYTES_MAX};
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;
use tonic::{Code, Status};

pub(super) const PROTOBUF: &str = "application/x-protobuf";
/// After which a sender should come again, in seconds.
const AGAIN_AFTER_S: i64 = 1;

/// What became of a request that was taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// Spans that were not.
    pub(super) refused: u64,
    /// Why; empty when all were taken.
    pub(super) message: String,
}

impl Taken {
    /// The `ExportTraceServiceResponse`.
    pub(super) fn encode(&self) -> Bytes {
        let partial = ExportTracePartialSuccess {
            rejected_spans: i64::try_from(self.refused).unwrap_or(i64::MAX),
            error_message: self.message.clone(),
        };
        let partial_success = (self.refused > 0).then_some(partial);
        ExportTraceServiceResponse { partial_success }.encode_to_vec().into()
    }
}

/// Why a request as a whole was not taken.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// A format that is not understood.
    #[error("{0}")]
    Unsupported(String),
    /// Bytes that are no such message.
    #[error("{0}")]
    Malformed(String),
    /// Longer than a request may be.
    #[error("the request has more than {0} octets: send smaller batches")]
    TooLarge(usize),
    /// It becomes much more when it is decompressed.
    #[error(
        "{packed} octets become more than {max} when they are decompressed: send the request \
         uncompressed"
    )]
    TooDense {
        /// As it came.
        packed: usize,
        /// What it may become.
        max: usize,
    },
    /// It did not arrive in time.
    #[error("the request did not arrive within {} s", BODY_WITHIN.as_secs())]
    Slow,
    /// Coming again helps.
    #[error("{0}")]
    Busy(String),
    /// Coming again does not help, and it is not the sender's fault.
    #[error("{0}")]
    Failed(String),
}

impl Refusal {
    pub(super) const fn too_large() -> Self {
        Self::TooLarge(REQUEST_BYTES_MAX)
    }

    /// Why, in one word for the log.
    pub(super) fn reason(&self) -> &'static str {
        reason(self.code())
    }

    /// For OTLP/HTTP. Of these codes a sender repeats 503 only, and 408 never.
    pub(super) fn http(&self) -> Response {
        let status = match self {
            Self::Unsupported(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::TooLarge(_) | Self::TooDense { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let body = self.status(self.code()).encode_to_vec();
        let mut response = protobuf(status, body.into());
        if matches!(self, Self::Busy(_)) {
            response.headers_mut().insert(header::RETRY_AFTER, AGAIN_AFTER_S.into());
        }
        response
    }

    /// For gRPC. Of these codes a sender repeats UNAVAILABLE only: RESOURCE_EXHAUSTED is
    /// repeated when it says when, and here it does not.
    pub(super) fn grpc(&self) -> Status {
        let code = self.code();
        match self {
            Self::Busy(_) => {
                let details = self.status(code).encode_to_vec();
                Status::with_details(code, self.to_string(), details.into())
            }
            _ => Status::new(code, self.to_string()),
        }
    }

    const fn code(&self) -> Code {
        match self {
            Self::Unsupported(_) | Self::Malformed(_) => Code::InvalidArgument,
            Self::TooLarge(_) | Self::TooDense { .. } => Code::ResourceExhausted,
            Self::Slow => Code::Aborted,
            Self::Busy(_) => Code::Unavailable,
            Self::Failed(_) => Code::Internal,
        }
    }

    fn status(&self, code: Code) -> RpcStatus {
        let again = || {
            let retry_delay = Some(Duration { seconds: AGAIN_AFTER_S, nanos: 0 });
            Any {
                type_url: "type.googleapis.com/google.rpc.RetryInfo".to_owned(),
                value: RetryInfo { retry_delay }.encode_to_vec(),
            }
        };
        let details = matches!(self, Self::Busy(_)).then(again).into_iter().collect();
        RpcStatus { code: code as i32, message: self.to_string(), details }
    }
}

/// What a code of gRPC says of a request, in one word for the log.
pub(super) const fn reason(code: Code) -> &'static str {
    match code {
        Code::InvalidArgument | Code::Unimplemented => "malformed",
        Code::ResourceExhausted => "size",
        Code::Aborted => "slow",
        Code::Unavailable => "busy",
        _ => "failed",
    }
}

/// For OTLP/HTTP, when a request was taken.
pub(super) fn http(taken: &Taken) -> Response {
    protobuf(StatusCode::OK, taken.encode())
}

fn protobuf(status: StatusCode, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(PROTOBUF);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// `google.rpc.Status`, which both protocols carry.
#[derive(Clone, PartialEq, prost::Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, prost::Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// `google.rpc.RetryInfo`.
#[derive(Clone, PartialEq, prost::Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<Duration>,
}

/// `google.protobuf.Duration`.
#[derive(Clone, PartialEq, prost::Message)]
struct Duration {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}
