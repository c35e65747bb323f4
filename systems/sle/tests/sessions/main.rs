//! The octets of whole sessions of every service, in both dialects: from the first context message
//! to the close, with both sides ours. They are as in `sessions.txt`, octet for octet.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::Path;

use chronoscope_sle::time::Now;
use chronoscope_sle::tml::TransportOutput;

/// Two sides of one dialect and what they exchange, as text. The associations of the dialects are of
/// types of their own with the same operations; `Association`, `AssociationEvent` and `Pdu` are those of the
/// module that asks for it.
macro_rules! session {
    () => {
        struct Session {
            user: Association,
            provider: Association,
            text: String,
        }

        fn identity(id: &str) -> Identity {
            Identity { id: id.into(), password: b"password1".to_vec() }
        }

        impl Session {
            fn bind(&mut self) {
                self.user.bind(now()).unwrap();
                self.settle();
            }

            fn invoke(&mut self, pdu: Pdu) {
                self.user.send(pdu, now()).unwrap();
                self.settle();
            }

            fn answer(&mut self, pdu: Pdu) {
                self.provider.send(pdu, now()).unwrap();
                self.settle();
            }

            /// Carries octets until there are none; what both sides tell is in the text, too.
            fn settle(&mut self) {
                loop {
                    let Self { user, provider, text } = self;
                    events(text, "user", user);
                    events(text, "provider", provider);
                    let (up, down) =
                        (std::mem::take(user.output()), std::mem::take(provider.output()));
                    if up.is_empty() && down.is_empty() {
                        return;
                    }
                    for (output, from, to) in [(&up, "user", provider), (&down, "provider", user)] {
                        if output.is_empty() {
                            continue;
                        }
                        line(text, from, output);
                        to.receive(&output.octets, now());
                        if let Some(octet) = output.urgent {
                            to.urgent(octet, now());
                        }
                        if output.close || output.reset {
                            to.closed(None, now());
                        }
                    }
                }
            }
        }

        fn events(text: &mut String, side: &str, association: &mut Association) {
            while let Some(event) = association.next_event() {
                let what = match event {
                    AssociationEvent::Pdu(pdu) => pdu.name(),
                    AssociationEvent::Bound { .. } => "bound",
                    AssociationEvent::BindRefused(_) => "refused",
                    AssociationEvent::Ignored { .. } => "ignored",
                    AssociationEvent::Unbound { .. } => "unbound",
                    AssociationEvent::Ended(_) => "ended",
                };
                text.push_str(&format!("{side} hears: {what}\n"));
            }
        }
    };
}

mod csts;
mod sle;

const SECOND_NS: u64 = 1_000_000_000;

fn now() -> Now {
    Now { monotonic_ns: 1_000 * SECOND_NS, utc_ns: 1_700_000_000 * SECOND_NS }
}

/// Appends what one side wants done, as one line: octets, urgent octet, close or reset.
fn line(text: &mut String, side: &str, output: &TransportOutput) {
    text.push_str(side);
    text.push(' ');
    for octet in &output.octets {
        write!(text, "{octet:02x}").unwrap();
    }
    if let Some(octet) = output.urgent {
        write!(text, " urgent {octet}").unwrap();
    }
    if output.close {
        text.push_str(" close");
    }
    if output.reset {
        text.push_str(" reset");
    }
    text.push('\n');
}

#[test]
fn sessions_have_the_same_octets_as_ever() {
    let text = sle::sessions() + &csts::sessions();
    let expected = include_str!("sessions.txt");
    if text != expected {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sessions.txt");
        std::fs::write(&path, &text).unwrap();
        let at = text.lines().zip(expected.lines()).position(|(is, was)| is != was);
        panic!("other octets, first in line {at:?} (from 0): {}", path.display());
    }
}
