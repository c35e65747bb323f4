//! One span as encoded, after checks; and the errors for which a span is refused.

use super::limits::Limits;
use super::value::{Refusal, Text};
use super::wire::{Message, WireError};
use chronoscope_model::{ChainId, TransactionId};

/// Reason why a span is refused. Positions are octets of the request, after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// A trace id that is not 16 octets, or all zero.
    #[error("octet {at}: trace_id has {len} octets or is zero, 16 and not zero are expected")]
    TraceId {
        /// Position of the field; of the span when the field is absent.
        at: usize,
        /// Length of the field.
        len: usize,
    },
    /// A span id that is not 8 octets, or all zero.
    #[error("octet {at}: span_id has {len} octets or is zero, 8 and not zero are expected")]
    SpanId {
        /// Position of the field; of the span when the field is absent.
        at: usize,
        /// Length of the field.
        len: usize,
    },
    /// A parent's id that is neither empty nor 8 octets.
    #[error("octet {at}: parent_span_id has {len} octets, 0 or 8 are expected")]
    ParentId {
        /// Position of the field.
        at: usize,
        /// Length of the field.
        len: usize,
    },
    /// The span is its own parent.
    #[error("octet {at}: the span is its own parent")]
    OwnParent {
        /// Position of the parent's id.
        at: usize,
    },
    /// The span ends before it starts.
    #[error("octet {at}: end_time_unix_nano {end_ns} is before start_time_unix_nano {start_ns}")]
    EndBeforeStart {
        /// Position of the span.
        at: usize,
        /// Start of the span.
        start_ns: u64,
        /// End of the span.
        end_ns: u64,
    },
    /// A start that cannot be: not set, or too far in the future.
    #[error("octet {at}: start_time_unix_nano {start_ns} is 0 or too far in the future")]
    Start {
        /// Position of the span.
        at: usize,
        /// Start of the span.
        start_ns: u64,
    },
    /// The span has no name.
    #[error("octet {at}: the span has no name")]
    NoName {
        /// Position of the span.
        at: usize,
    },
    /// A name of a span, a service or a host that is too long.
    #[error("octet {at}: a name of {len} octets: at most {max} are allowed")]
    NameLength {
        /// Position of the field.
        at: usize,
        /// Length of the field.
        len: usize,
        /// Largest length.
        max: usize,
    },
    /// A text that is not UTF-8.
    #[error("octet {at}: a text is not UTF-8")]
    NotUtf8 {
        /// The first octet that is none.
        at: usize,
    },
    /// Lists in lists in lists.
    #[error("octet {at}: values nested deeper than {max}", max = super::value::DEPTH_MAX)]
    Deep {
        /// Position of the first level that is too deep.
        at: usize,
    },
    /// The request has too many spans.
    #[error("octet {at}: the request has more than {max} spans")]
    TooMany {
        /// Position of the span.
        at: usize,
        /// Largest number of spans.
        max: usize,
    },
    /// The rows of the spans before reach the limit of one request.
    #[error("octet {at}: the rows of the request exceed {max} octets")]
    TooMuch {
        /// Position of the span.
        at: usize,
        /// Largest size of the rows.
        max: usize,
    },
    /// The spans of the request start in too many different minutes.
    #[error("octet {at}: the spans of the request start in more than {max} different minutes")]
    TooManyMinutes {
        /// Position of the span.
        at: usize,
        /// Largest number.
        max: usize,
    },
}

/// Errors that end the reading of a span: an invalid request, or a refused span.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    Wire(WireError),
    Span(SpanError),
}

impl From<WireError> for Stop {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl From<SpanError> for Stop {
    fn from(error: SpanError) -> Self {
        Self::Span(error)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Wire(error) => Self::Wire(error),
            Refusal::NotUtf8 { at } => SpanError::NotUtf8 { at }.into(),
            Refusal::Deep { at } => SpanError::Deep { at }.into(),
        }
    }
}

/// A span's own fields; what repeats (attributes, events, links) stays where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<'a> {
    pub(super) message: Message<'a>,
    pub(super) chain: ChainId,
    pub(super) id: TransactionId,
    pub(super) parent: TransactionId,
    pub(super) name: &'a str,
    pub(super) trace_state: Text<'a>,
    pub(super) flags: u32,
    pub(super) kind: u64,
    pub(super) start_ns: i64,
    pub(super) elapsed_ns: u64,
    pub(super) dropped: [u32; 3],
    pub(super) status: Message<'a>,
    /// The first link, where there is one.
    pub(super) link: Option<Message<'a>>,
}

/// Field numbers of what repeats.
pub(super) const ATTRIBUTES: u32 = 9;
pub(super) const EVENTS: u32 = 11;
pub(super) const LINKS: u32 = 13;

const OF: &str = "Span";

impl<'a> Span<'a> {
    /// Reads and checks a span.
    pub(super) fn read(message: Message<'a>, limits: &Limits) -> Result<Self, Stop> {
        let nothing = Message { bytes: &[], at: message.at };
        let (mut trace_id, mut span_id, mut parent_id, mut name) =
            (nothing, nothing, nothing, nothing);
        let (mut start_ns, mut end_ns) = (0, 0);
        let mut span = Self {
            message,
            chain: ChainId::NONE,
            id: TransactionId::NONE,
            parent: TransactionId::NONE,
            name: "",
            trace_state: Text::default(),
            flags: 0,
            kind: 0,
            start_ns: 0,
            elapsed_ns: 0,
            dropped: [0; 3],
            status: nothing,
            link: None,
        };
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => trace_id = field.bytes(OF)?,
                2 => span_id = field.bytes(OF)?,
                3 => span.trace_state = Text(field.bytes(OF)?),
                4 => parent_id = field.bytes(OF)?,
                5 => name = field.bytes(OF)?,
                6 => span.kind = field.varint(OF)?,
                7 => start_ns = field.fixed64(OF)?,
                8 => end_ns = field.fixed64(OF)?,
                10 => span.dropped[0] = low(field.varint(OF)?),
                12 => span.dropped[1] = low(field.varint(OF)?),
                14 => span.dropped[2] = low(field.varint(OF)?),
                LINKS => span.link = span.link.or(Some(field.bytes(OF)?)),
                15 => span.status = field.bytes(OF)?,
                16 => span.flags = field.fixed32(OF)?,
                _ => {}
            }
        }
        span.identify(trace_id, span_id, parent_id)?;
        span.name = self::name(name, limits)?;
        if span.name.is_empty() {
            return Err(SpanError::NoName { at: message.at }.into());
        }
        span.time(start_ns, end_ns, limits)?;
        Ok(span)
    }

    fn identify(
        &mut self,
        trace_id: Message<'_>,
        span_id: Message<'_>,
        parent_id: Message<'_>,
    ) -> Result<(), SpanError> {
        let wrong = SpanError::TraceId { at: trace_id.at, len: trace_id.bytes.len() };
        self.chain = chain(trace_id).ok_or(wrong)?;
        let wrong = SpanError::SpanId { at: span_id.at, len: span_id.bytes.len() };
        self.id = id(span_id).ok_or(wrong)?;
        // Eight zeros are how some senders say that there is none.
        self.parent = match parent_id.bytes {
            [] | [0, 0, 0, 0, 0, 0, 0, 0] => TransactionId::NONE,
            bytes => {
                let wrong = SpanError::ParentId { at: parent_id.at, len: bytes.len() };
                id(parent_id).ok_or(wrong)?
            }
        };
        if self.parent == self.id {
            return Err(SpanError::OwnParent { at: parent_id.at });
        }
        Ok(())
    }

    fn time(&mut self, start_ns: u64, end_ns: u64, limits: &Limits) -> Result<(), SpanError> {
        let at = self.message.at;
        let elapsed = end_ns.checked_sub(start_ns);
        self.elapsed_ns = elapsed.ok_or(SpanError::EndBeforeStart { at, start_ns, end_ns })?;
        let start = i64::try_from(start_ns).ok().filter(|ns| *ns > 0 && *ns < limits.until_ns);
        self.start_ns = start.ok_or(SpanError::Start { at, start_ns })?;
        Ok(())
    }
}

/// A trace id as a chain's; `None` when it is none.
pub(super) fn chain(trace_id: Message<'_>) -> Option<ChainId> {
    let bytes: [u8; 16] = trace_id.bytes.try_into().ok()?;
    Some(ChainId(u128::from_be_bytes(bytes))).filter(|chain| !chain.is_none())
}

/// A span id as a transaction's; `None` when it is none.
pub(super) fn id(span_id: Message<'_>) -> Option<TransactionId> {
    let bytes: [u8; 8] = span_id.bytes.try_into().ok()?;
    Some(TransactionId(u64::from_be_bytes(bytes))).filter(|id| !id.is_none())
}

/// A name that becomes a class's, an application's or a host's.
pub(super) fn name<'a>(name: Message<'a>, limits: &Limits) -> Result<&'a str, Stop> {
    let max = limits.name_bytes_max;
    if name.bytes.len() > max {
        return Err(SpanError::NameLength { at: name.at, len: name.bytes.len(), max }.into());
    }
    Ok(Text(name).text()?)
}

/// A `uint32` as it came in a varint.
#[allow(clippy::cast_possible_truncation)] // that is how the encoding guide reads them
const fn low(value: u64) -> u32 {
    value as u32
}
