//! Answers to senders of OTLP.

use super::limits::{BODY_WITHIN, REQUEST_BYTES_MAX};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;
use serde_json::json;
use tonic::{Code, Status};

pub(super) const PROTOBUF: &str = "application/x-protobuf";
pub(super) const JSON: &str = "application/json";
/// Delay that a sender is asked to wait before it retries, in seconds.
const AGAIN_AFTER_S: i64 = 1;

/// Encoding of an answer over HTTP: that of the request, and Protocol Buffers where it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
}

impl Encoding {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        match word(headers, &header::CONTENT_TYPE).as_str() {
            JSON => Self::Json,
            _ => Self::Protobuf,
        }
    }
}

/// The value of a header up to its first parameter, in lower case.
pub(super) fn word(headers: &HeaderMap, name: &HeaderName) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Result of an accepted request.
#[derive(Clone, Debug, Default)]
pub(super) struct Accepted {
    /// Spans that were not.
    pub(super) refused: u64,
    /// Reason for refused spans; empty when all were accepted.
    pub(super) message: String,
}

impl Accepted {
    /// The `ExportTraceServiceResponse`.
    pub(super) fn encode(&self) -> Bytes {
        let partial = ExportTracePartialSuccess {
            rejected_spans: i64::try_from(self.refused).unwrap_or(i64::MAX),
            error_message: self.message.clone(),
        };
        let partial_success = (self.refused > 0).then_some(partial);
        ExportTraceServiceResponse { partial_success }.encode_to_vec().into()
    }

    /// The answer over HTTP.
    pub(super) fn http(&self, encoding: Encoding) -> Response {
        let body = match encoding {
            Encoding::Protobuf => self.encode(),
            Encoding::Json if self.refused == 0 => Bytes::from_static(b"{}"),
            // ProtoJSON has numbers of 64 bits as texts.
            Encoding::Json => {
                let (rejected, error) = (self.refused.to_string(), &self.message);
                let partial = json!({ "rejectedSpans": rejected, "errorMessage": error });
                json!({ "partialSuccess": partial }).to_string().into()
            }
        };
        response(StatusCode::OK, encoding, body)
    }
}

/// Reason why a whole request was refused.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// A format that is not understood.
    #[error("{0}")]
    Unsupported(String),
    /// Metrics or logs.
    #[error("{0}")]
    OtherSignal(&'static str),
    /// Bytes that are no such message.
    #[error("{0}")]
    Malformed(String),
    /// Longer than a request may be.
    #[error("the request has more than {0} octets: send smaller batches")]
    TooLarge(usize),
    /// The compression ratio is too high.
    #[error(
        "{packed} octets become more than {max} when they are decompressed: send the request \
         uncompressed"
    )]
    TooDense {
        /// Size as received, in bytes.
        packed: usize,
        /// Largest decompressed size, in bytes.
        max: usize,
    },
    /// The body did not arrive in time.
    #[error("the request did not arrive within {} s", BODY_WITHIN.as_secs())]
    Slow,
    /// A temporary failure: a retry may succeed.
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

    /// The reason in one word, for the log.
    pub(super) fn reason(&self) -> &'static str {
        reason(self.code())
    }

    /// The answer for OTLP/HTTP. Of these status codes a sender retries 503 only, and 408 never.
    pub(super) fn http(&self, encoding: Encoding) -> Response {
        let status = match self {
            Self::Unsupported(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::OtherSignal(_) => StatusCode::NOT_IMPLEMENTED,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::TooLarge(_) | Self::TooDense { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let body = match encoding {
            Encoding::Protobuf => self.status(self.code()).encode_to_vec(),
            Encoding::Json => {
                let (code, message) = (self.code() as i32, self.to_string());
                json!({ "code": code, "message": message }).to_string().into_bytes()
            }
        };
        let mut response = response(status, encoding, body.into());
        if matches!(self, Self::Busy(_)) {
            response.headers_mut().insert(header::RETRY_AFTER, AGAIN_AFTER_S.into());
        }
        response
    }

    /// The answer for gRPC. Of these codes a sender retries UNAVAILABLE only: RESOURCE_EXHAUSTED is
    /// retried when the answer carries a delay, and here it does not.
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
            Self::OtherSignal(_) => Code::Unimplemented,
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

/// The meaning of a gRPC code in one word, for the log.
pub(super) const fn reason(code: Code) -> &'static str {
    match code {
        Code::InvalidArgument | Code::Unimplemented => "malformed",
        Code::ResourceExhausted => "size",
        Code::Aborted => "slow",
        Code::Unavailable => "busy",
        _ => "failed",
    }
}

fn response(status: StatusCode, encoding: Encoding, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let kind = match encoding {
        Encoding::Protobuf => PROTOBUF,
        Encoding::Json => JSON,
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
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
