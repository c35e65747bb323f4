//! A filter, and what a client has of them.

use super::evaluate::{Centres, Context, ContextCentres, Subject};
use super::parse::{FilterError, terms};
use super::stations::Facts;
use super::term::Term;
use crate::packet::Packet;
use std::sync::Arc;

/// Terms that pass packets and terms that hold them back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    text: Box<str>,
    pub(super) passes: Box<[Term]>,
    pub(super) excludes: Box<[Term]>,
}

impl Filter {
    /// Parses a filter whose terms are all to be right, as in a configuration.
    ///
    /// # Errors
    /// The first term that is none.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, FilterError> {
        let (filter, errors) = Self::parse_lenient(text);
        errors.into_iter().next().map_or(Ok(filter), Err)
    }

    /// Parses a client's filter text: invalid terms are left out, as aprsc does, and returned as
    /// errors.
    pub fn parse_lenient(text: impl AsRef<[u8]>) -> (Self, Vec<FilterError>) {
        let text = text.as_ref();
        let (mut passes, mut excludes, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for (_, term) in terms(text) {
            match term {
                Ok((true, term)) => excludes.push(term),
                Ok((false, term)) => passes.push(term),
                Err(error) => errors.push(error),
            }
        }
        let filter = Self { text: shown(text), passes: passes.into(), excludes: excludes.into() };
        (filter, errors)
    }

    /// The text it was made of, for status and log: blanks of all kinds as spaces, and what else
    /// is not printable ASCII as `_`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the filter has no term.
    pub fn is_empty(&self) -> bool {
        self.passes.is_empty() && self.excludes.is_empty()
    }
}

/// A filter's text for people: blanks of all kinds as spaces, and what else is not printable ASCII
/// as `_`.
pub fn shown(text: &[u8]) -> Box<str> {
    text.trim_ascii()
        .iter()
        .map(|octet| match octet {
            b' '..=b'~' => char::from(*octet),
            blank if blank.is_ascii_whitespace() => ' ',
            _ => '_',
        })
        .collect::<String>()
        .into()
}

/// All filters of a client.
#[derive(Clone, Debug, Default)]
pub struct FilterSet {
    /// Filter of the client's port, which the client cannot change.
    pub forced: Option<Arc<Filter>>,
    /// The client's own filter.
    pub user: Option<Arc<Filter>>,
}

impl FilterSet {
    /// Whether the client gets `packet`. The order is: the port's exclusions, the port's passing
    /// terms, the client's own exclusions, its own passing terms.
    pub fn matches(&self, packet: &Packet, facts: Facts, context: &dyn Context) -> bool {
        self.passes(&Subject::new(packet, facts), &ContextCentres(context))
    }

    pub(super) fn passes(&self, subject: &Subject<'_>, centres: &dyn Centres) -> bool {
        let any = |terms: &[Term]| terms.iter().any(|term| term.matches(subject, centres));
        for filter in self.filters() {
            if any(&filter.excludes) {
                return false;
            }
            if any(&filter.passes) {
                return true;
            }
        }
        false
    }

    /// The port's and the client's own, in this order.
    pub(super) fn filters(&self) -> impl Iterator<Item = &Filter> {
        self.forced.iter().chain(&self.user).map(Arc::as_ref)
    }
}
