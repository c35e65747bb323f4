//! An HTTP/1.1 response that comes in parts (RFC 9112): as much of it as an exporter's answer
//! needs.
//!
//! Not here: trailers, codings other than `chunked`, answers without a length.

/// Most octets of an answer's head, and of its body.
const HEAD_MAX: usize = 16 * 1024;
const BODY_MAX: usize = 1 << 20;
/// Most octets of the line before a chunk.
const CHUNK_LINE_MAX: usize = 64;
const HEADERS_MAX: usize = 64;

/// Reasons why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HttpError {
    #[error("octet {at} of the answer: not an HTTP/1.1 response: {reason}")]
    Form { at: usize, reason: &'static str },
    #[error("the answer's {what} is longer than {octets_max} octets")]
    TooLong { what: &'static str, octets_max: usize },
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    /// The connection may be used again.
    pub(super) keep: bool,
}

/// Octets received so far.
#[derive(Debug, Default)]
pub(super) struct Response {
    octets: Vec<u8>,
    head: Option<Head>,
    body: Vec<u8>,
    /// Up to where `octets` are in `body`.
    done: usize,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    status: u16,
    keep: bool,
    /// Octets of the body; `None`: in chunks.
    length: Option<usize>,
}

impl Response {
    /// Whether nothing has come.
    pub(super) fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    /// Takes more of it; the answer once it is whole.
    pub(super) fn take(&mut self, more: &[u8]) -> Result<Option<Answer>, HttpError> {
        self.octets.extend_from_slice(more);
        if self.octets.len() > HEAD_MAX + 2 * BODY_MAX {
            return Err(HttpError::TooLong { what: "body", octets_max: BODY_MAX });
        }
        let head = match self.head {
            Some(head) => head,
            None => match self.read_head()? {
                Some(head) => *self.head.insert(head),
                None => return Ok(None),
            },
        };
        let whole = match head.length {
            Some(length) => match self.octets.get(self.done..self.done + length) {
                Some(body) => {
                    self.body = body.to_vec();
                    true
                }
                None => false,
            },
            None => self.read_chunks()?,
        };
        let Head { status, keep, .. } = head;
        Ok(whole.then(|| Answer { status, body: std::mem::take(&mut self.body), keep }))
    }

    fn read_head(&mut self) -> Result<Option<Head>, HttpError> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut headers);
        let form = |reason| HttpError::Form { at: 0, reason };
        let len = match response.parse(&self.octets).map_err(|_| form("its head"))? {
            httparse::Status::Complete(len) => len,
            httparse::Status::Partial if self.octets.len() > HEAD_MAX => {
                return Err(HttpError::TooLong { what: "head", octets_max: HEAD_MAX });
            }
            httparse::Status::Partial => return Ok(None),
        };
        let find = |name: &str| {
            let mut all = response.headers.iter().filter(|h| h.name.eq_ignore_ascii_case(name));
            let value = all.next().map(|header| header.value)?;
            std::str::from_utf8(value).ok().map(str::trim)
        };
        let length = match (find("transfer-encoding"), find("content-length")) {
            (Some(coding), None) if coding.eq_ignore_ascii_case("chunked") => None,
            (None, Some(length)) => {
                Some(length.parse().map_err(|_| form("Content-Length is not a number"))?)
            }
            _ => return Err(form("neither Content-Length nor chunks")),
        };
        if length.is_some_and(|length| length > BODY_MAX) {
            return Err(HttpError::TooLong { what: "body", octets_max: BODY_MAX });
        }
        let close = find("connection").is_some_and(|word| word.eq_ignore_ascii_case("close"));
        let keep = response.version == Some(1) && !close;
        self.done = len;
        Ok(Some(Head { status: response.code.unwrap_or(0), keep, length }))
    }

    /// Whether the last chunk is there.
    fn read_chunks(&mut self) -> Result<bool, HttpError> {
        loop {
            let rest = &self.octets[self.done..];
            let form = |reason| HttpError::Form { at: self.done, reason };
            let (line, size) = match httparse::parse_chunk_size(rest) {
                Ok(httparse::Status::Complete(found)) => found,
                Ok(httparse::Status::Partial) if rest.len() < CHUNK_LINE_MAX => return Ok(false),
                _ => return Err(form("a chunk's size")),
            };
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            if size > BODY_MAX - self.body.len() {
                return Err(HttpError::TooLong { what: "body", octets_max: BODY_MAX });
            }
            let Some(end) = rest.get(line + size..line + size + 2) else { return Ok(false) };
            if end != b"\r\n" {
                return Err(form("a chunk without an end"));
            }
            self.body.extend_from_slice(&rest[line..line + size]);
            self.done += line + size + 2;
            if size == 0 {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n";

    #[test]
    fn both_lengths() {
        let plain =
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 3\r\nConnection: close\r\n\r\nno!";
        let answer = Response::default().take(plain).unwrap().unwrap();
        assert_eq!(answer, Answer { status: 400, body: b"no!".to_vec(), keep: false });
        let answer = Response::default().take(CHUNKED).unwrap().unwrap();
        assert_eq!(answer, Answer { status: 200, body: b"hello world".to_vec(), keep: true });
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |text: &str| Response::default().take(text.as_bytes()).unwrap_err().to_string();
        let ok = "HTTP/1.1 200 OK\r\n";
        assert!(wrong("SSH-2.0-OpenSSH\r\n").contains("its head"));
        assert!(wrong(&format!("{ok}\r\n")).contains("neither Content-Length nor chunks"));
        assert!(wrong(&format!("{ok}Content-Length: 9999999\r\n\r\n")).contains("1048576"));
        assert!(wrong(&format!("{ok}Content-Length: -1\r\n\r\n")).contains("is not a number"));
        let chunks = format!("{ok}Transfer-Encoding: chunked\r\n\r\n");
        let at = chunks.len();
        assert!(wrong(&format!("{chunks}xyz\r\n")).contains(&format!("octet {at} ")));
        assert!(wrong(&format!("{chunks}FFFFFFFF\r\n")).contains("1048576"));
        assert!(wrong(&format!("{chunks}1\r\nabc\r\n")).contains("a chunk without an end"));
        assert!(wrong(&format!("{ok}x: {}\r\n", "y".repeat(20_000))).contains("16384"));
    }

    proptest! {
        /// An answer is the same however its parts come, and nothing breaks on others.
        #[test]
        fn parts_make_the_whole(
            cuts in prop::collection::vec(1usize..20, 1..60),
            change in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let mut octets = CHUNKED.to_vec();
            if let Some((at, octet)) = change {
                let at = at.index(octets.len());
                octets[at] = octet;
            }
            let whole = Response::default().take(&octets);
            let (mut response, mut rest) = (Response::default(), &octets[..]);
            let mut parts = Ok(None);
            for cut in cuts.into_iter().chain([octets.len()]) {
                let (part, more) = rest.split_at(cut.min(rest.len()));
                rest = more;
                parts = response.take(part);
                if !matches!(parts, Ok(None)) {
                    break;
                }
            }
            if change.is_none() {
                prop_assert_eq!(parts, whole);
            }
        }
    }
}
