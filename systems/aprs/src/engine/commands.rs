//! Commands of clients to the server itself.

use super::seam::{Now, Output};
use super::worker::Worker;
use crate::filter::{Command, Filter};
use crate::packet::Packet;

/// Destination callsign of the server's own messages: aprsc's, which is registered as `APSC??`.
const TOCALL: &str = "APSC01";
/// Longest text of a message from the server; a longer text is cut and ends with dots.
const MESSAGE_MAX: usize = 400;

impl Worker {
    /// A line that begins with `#`: a filter command, or nothing.
    pub(super) fn comment(&mut self, now: Now, slot: usize, line: &[u8], out: &mut impl Output) {
        if !self.clients[slot].is_igate() {
            return;
        }
        let Some(command) = Command::in_comment(line) else { return };
        for answer in self.follow(slot, &command) {
            self.say(now, slot, format!("# {answer}\r\n").as_bytes(), out);
        }
    }

    /// A message of a client to `SERVER`: acknowledged, followed and answered.
    pub(super) fn message_to_server(
        &mut self,
        now: Now,
        slot: usize,
        packet: &Packet,
        out: &mut impl Output,
    ) {
        // `:SERVER   :text{id`
        let Some(text) = packet.payload().get(11..) else { return };
        if is_acknowledgement(text) {
            return;
        }
        let (text, id) = match text.iter().position(|octet| *octet == b'{') {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, &b""[..]),
        };
        if !id.is_empty() {
            let id = &id[..id.len().min(5)];
            self.message(now, slot, &[b"ack", id].concat(), out);
        }
        let answers = match Command::in_message(text) {
            // aprsc says it in these words here, in others elsewhere, and on every port.
            Some(Command::Query) => {
                let filter = self.clients[slot].filters.user_text();
                vec![format!("filter {} active", filter.unwrap_or_default())]
            }
            Some(command) if self.clients[slot].is_igate() => self.follow(slot, &command),
            Some(_) => vec!["No user-specified filters on this port".to_owned()],
            None => vec!["Unknown command".to_owned()],
        };
        for answer in answers {
            self.message_number += 1;
            let id = message_id(self.message_number);
            self.message(now, slot, format!("{answer}{{{id}").as_bytes(), out);
        }
    }

    /// Carries out a filter command. Returns the answers, in order.
    fn follow(&mut self, slot: usize, command: &Command<'_>) -> Vec<String> {
        let mut answers = Vec::new();
        match command {
            Command::Set(text) => {
                for error in Filter::parse_lenient(text).1 {
                    answers.push(format!("Parse errors on filter spec: '{}'", error.term));
                }
                self.clients[slot].filters.set_user(Some(text));
                self.index_filters(slot);
            }
            Command::Default => {
                self.clients[slot].filters.set_user(None);
                self.index_filters(slot);
            }
            Command::Query | Command::Malformed => {}
        }
        let filter = self.clients[slot].filters.user_text();
        answers.push(command.answer(&filter.unwrap_or_default()));
        answers
    }

    /// Sends a message of the server's own to a client.
    fn message(&mut self, now: Now, slot: usize, text: &[u8], out: &mut impl Output) {
        let Some(client) = self.clients.get(slot) else { return };
        let Some(login) = client.login else { return };
        let server = self.config.server_id;
        let text = &text[..text.len().min(MESSAGE_MAX)];
        let mut line =
            format!("SERVER>{TOCALL},TCPIP*,qAZ,{server}::{:<9}:", login.to_string()).into_bytes();
        line.extend_from_slice(text);
        line.extend_from_slice(b"\r\n");
        self.say(now, slot, &line, out);
    }
}

/// `ack` or `rej` with a message's number: nothing is to be answered.
fn is_acknowledgement(text: &[u8]) -> bool {
    let word = text.get(..3).unwrap_or_default();
    (word == b"ack" || word == b"rej") && (1..=5).contains(&(text.len() - 3))
}

/// A message's number as four letters and digits.
fn message_id(number: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digit = |place: u32| DIGITS[usize::try_from(number / 36_u64.pow(place) % 36).unwrap_or(0)];
    [3, 2, 1, 0].map(|place| char::from(digit(place))).iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{is_acknowledgement, message_id};

    #[test]
    fn numbers_of_messages() {
        assert_eq!(
            [0, 35, 36, 36 * 36 * 36 * 36 + 1].map(message_id),
            ["0000", "000z", "0010", "0001"]
        );
    }

    #[test]
    fn acknowledgements() {
        assert!(is_acknowledgement(b"ackax") && is_acknowledgement(b"rej12345"));
        assert!(!is_acknowledgement(b"ack") && !is_acknowledgement(b"acknowledge"));
        assert!(!is_acknowledgement(b"fi"));
    }
}
