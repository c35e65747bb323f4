//! Checks of the instances of the Forward Frame service.

use super::choice::{InstanceChoiceError, choose};
use super::document::Config;
use super::finding::{Finding, Severity};
use super::frames::ForwardFrameTable;

impl Config {
    /// The instance of the Forward Frame service that is called so; the first where nothing is
    /// asked for.
    ///
    /// # Errors
    /// [`InstanceChoiceError`]: there is none, or more than one.
    pub fn find_forward_frame(
        &self,
        wanted: Option<&str>,
    ) -> Result<&ForwardFrameTable, InstanceChoiceError> {
        let all = self.forward_frame.iter().map(toml::Spanned::get_ref);
        choose(all, wanted, |one| vec![&one.name, &one.id])
    }

    /// Adds the findings about the instances of the Forward Frame service.
    pub(super) fn check_forward_frames(&self, found: &mut Vec<Finding>) {
        let mut names = std::collections::HashSet::new();
        for spanned in &self.forward_frame {
            let (one, line) = (spanned.get_ref(), self.line(spanned.span().start));
            let twice = !names.insert(one.name.as_str()) || !names.insert(one.id.as_str());
            self.check_forward_frame(one, line, twice, found);
        }
    }

    /// Adds the findings about an instance; `twice`: another has its name or id.
    fn check_forward_frame(
        &self,
        one: &ForwardFrameTable,
        line: usize,
        twice: bool,
        found: &mut Vec<Finding>,
    ) {
        let before = found.len();
        let mut wrong = |is_wrong: bool, says: String| {
            if is_wrong {
                found.push(Finding { severity: Severity::Wrong, line: Some(line), says });
            }
        };
        let name = &one.name;
        wrong(twice, format!("forward_frame {name:?}: its name or id is configured twice"));
        wrong(
            one.identifier().is_none(),
            format!(
                "forward_frame {name:?}: id = {:?}: use spacecraft/facility/service/number; the \
                 first three are object identifiers",
                one.id
            ),
        );
        let [from, to] = one.frame_octets;
        wrong(
            from == 0 || from > to || to > 1 << 20,
            format!(
                "forward_frame {name:?}: frame_octets = [{from}, {to}]: both are in [1, 1048576]"
            ),
        );
        wrong(
            (one.queue as usize) < to || one.queue_frames == 0,
            format!("forward_frame {name:?}: the queue has no room for a frame of {to} octets"),
        );
        wrong(
            one.forward_buffer_max == 0 || one.blocked == 0,
            format!("forward_frame {name:?}: forward_buffer_max and blocked are at least 1"),
        );
        wrong(
            one.blocked > one.forward_buffer_max,
            format!(
                "forward_frame {name:?}: blocked = {} is more than forward_buffer_max = {}: \
                 the provider would abort the association",
                one.blocked, one.forward_buffer_max
            ),
        );
        for (is_wrong, says) in self.missing_parties(one) {
            wrong(is_wrong, says);
        }
        if found.len() == before {
            let says = format!("forward_frame {name:?}: {:?}", one.procedure);
            found.push(Finding { severity: Severity::Right, line: Some(line), says });
        }
    }

    /// The parties that an instance lacks: whether each is missing, and the finding.
    fn missing_parties(&self, one: &ForwardFrameTable) -> [(bool, String); 4] {
        let name = &one.name;
        let provides = self.provider.as_ref();
        let initiators = self.initiators_or_all(&one.initiators);
        let responder = self.responder_or_own(one.responder.as_ref());
        [
            (
                provides.is_some_and(|own| {
                    own.listen_csts.is_empty() && own.listen_csts_local.is_empty()
                }),
                format!("forward_frame {name:?}: provider.listen_csts is missing"),
            ),
            (
                provides.is_some() && initiators.iter().any(|id| self.party(id).is_none()),
                format!("forward_frame {name:?}: an initiator has no [[peer]] table"),
            ),
            (
                self.user.is_some() && self.address_of_csts(one).is_none(),
                format!(
                    "forward_frame {name:?}: the address is missing: set address here or address_csts in [user]"
                ),
            ),
            (
                self.user.is_some() && responder.and_then(|id| self.party(&id)).is_none(),
                format!(
                    "forward_frame {name:?}: the responder is missing: set responder and a [[peer]] of that id"
                ),
            ),
        ]
    }

    /// The address that a user connects to for an instance of CSTS.
    #[must_use]
    pub fn address_of_csts(&self, instance: &ForwardFrameTable) -> Option<String> {
        let of_user = || self.user.as_ref()?.address_csts.clone();
        let own = || Some(self.provider.as_ref()?.listen_csts.first()?.to_string());
        instance.address.clone().or_else(of_user).or_else(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[provider]\nid = \"STATION\"\nlisten = [\"127.0.0.1:0\"]\n\
        listen_csts = [\"127.0.0.1:0\"]\n[user]\nid = \"MCC\"\n[[forward_frame]]\n\
        name = \"ff1\"\nid = \"1.3.112.4.7.1/1.3.112.4.6.1/1.3.112.4.4.1.2.3/1\"\n";

    #[test]
    fn an_instance_with_nothing_but_its_names_is_right() {
        let config = Config::parse(TEXT).unwrap();
        let wrong: Vec<_> = config.check().into_iter().filter(Finding::is_wrong).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        let one = config.find_forward_frame(Some("ff1")).unwrap();
        assert_eq!(one.identifier().unwrap().to_string(), one.id);
        assert_eq!(config.address_of_csts(one).unwrap(), "127.0.0.1:0");
        assert!(config.find_forward_frame(Some("ff2")).is_err());
    }

    #[test]
    fn what_is_wrong_with_one_is_said_with_its_line() {
        for (more, said) in [
            ("blocked = 81", "blocked = 81 is more than forward_buffer_max = 80"),
            ("frame_octets = [9, 8]", "frame_octets = [9, 8]: both are in [1, 1048576]"),
            ("queue = 100", "the queue has no room for a frame of 65536 octets"),
            ("initiators = [\"NOBODY\"]", "an initiator has no [[peer]] table"),
        ] {
            let config = Config::parse(&format!("{TEXT}{more}\n")).unwrap();
            let all: Vec<String> = config.check().iter().map(ToString::to_string).collect();
            let found =
                all.iter().any(|one| one.starts_with("wrong: line 7: ") && one.contains(said));
            assert!(found, "{said}: {all:?}");
        }
        let config = Config::parse(&TEXT.replace("/1\"", "\"")).unwrap();
        assert!(config.check().iter().any(|f| f.is_wrong() && f.says.contains("spacecraft/")));
    }
}
