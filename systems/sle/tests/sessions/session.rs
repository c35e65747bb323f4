//! Both sides of one association, and the text of what goes between them.

use chronoscope_sle::association::event::AssociationEvent;
use chronoscope_sle::association::machine::{Association, Operations};
use chronoscope_sle::association::protocol::AbortDiagnostic;

use super::{line, now};

pub(crate) struct Session<D: Operations> {
    pub(crate) user: Association<D>,
    pub(crate) provider: Association<D>,
    pub(crate) text: String,
}

impl<D: Operations> Session<D> {
    pub(crate) fn new(user: Association<D>, provider: Association<D>) -> Self {
        Self { user, provider, text: String::new() }
    }

    pub(crate) fn invoke(&mut self, pdu: D::Pdu) {
        self.user.send(pdu, now()).unwrap();
        self.settle();
    }

    pub(crate) fn answer(&mut self, pdu: D::Pdu) {
        self.provider.send(pdu, now()).unwrap();
        self.settle();
    }

    pub(crate) fn abort(&mut self, by_user: bool) {
        let side = if by_user { &mut self.user } else { &mut self.provider };
        side.abort(D::Abort::OPERATIONAL_REQUIREMENT);
        self.settle();
    }

    /// Carries octets until there are none; what both sides tell is in the text, too.
    pub(crate) fn settle(&mut self) {
        loop {
            let Self { user, provider, text } = self;
            events(text, "user", user);
            events(text, "provider", provider);
            let (up, down) = (std::mem::take(user.output()), std::mem::take(provider.output()));
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

fn events<D: Operations>(text: &mut String, side: &str, association: &mut Association<D>) {
    while let Some(event) = association.next_event() {
        let what = match event {
            AssociationEvent::Pdu(pdu) => D::name(&pdu),
            AssociationEvent::Bound { .. } => "bound",
            AssociationEvent::BindRefused(_) => "refused",
            AssociationEvent::Ignored { .. } => "ignored",
            AssociationEvent::Unbound(_) => "unbound",
            AssociationEvent::Ended(_) => "ended",
        };
        text.push_str(&format!("{side} hears: {what}\n"));
    }
}
