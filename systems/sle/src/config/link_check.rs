//! Checks of the links that `sle-user link` keeps up.

use super::about::About;
use super::document::Config;
use super::finding::{Finding, Severity};
use super::instance::{DeliveryModeSetting, InstanceTable};
use super::link::{LinkForwardTable, LinkReturnTable, LinkTable};
use crate::link::{LinkAddress, selection};
use crate::pdu::ServiceType;
use crate::source::check_store;
use std::collections::HashSet;

/// Least octets for a slow reader: several transfer buffers.
const BUFFER_MIN: usize = 1 << 18;

impl Config {
    /// Adds the findings about `[[link]]`.
    pub(super) fn check_links(&self, found: &mut Vec<Finding>) {
        let (mut instances, mut used) = (HashSet::new(), HashSet::new());
        for link in &self.link {
            let mut about = About { found, line: Some(self.line(link.span().start)) };
            let link = link.get_ref();
            let instance = match self.find(Some(&link.instance)) {
                Ok(instance) => instance,
                Err(error) => {
                    about.add(Severity::Wrong, format!("link.instance: {error}"));
                    continue;
                }
            };
            about.wrong_if(!instances.insert(&instance.id), || {
                format!("two links have the instance {:?}: one association at a time", instance.id)
            });
            let before = about.found.len();
            check_schedule(&mut about, link);
            self.check_kind(&mut about, link, instance);
            for used_twice in resources(link).filter(|one| !used.insert(one.clone())) {
                about.add(Severity::Wrong, format!("{used_twice} is used by two links"));
            }
            let is_right = about.found[before..].iter().all(|finding| !finding.is_wrong());
            if is_right && let Some(service) = instance.service() {
                let when = match &link.passes {
                    None => "always".to_owned(),
                    Some(passes) => format!("{} passes", passes.len()),
                };
                about.add(
                    Severity::Right,
                    format!("link {}: {service:?} of {}, {when}", link.name(), instance.id),
                );
            }
        }
    }

    fn check_kind(&self, about: &mut About<'_>, link: &LinkTable, instance: &InstanceTable) {
        // An instance of another service was found wrong with the instances.
        let Some(service) = instance.service() else { return };
        about.wrong_if(self.user.is_none(), || "a link needs a [user]".to_owned());
        match (service, &link.forward, &link.returns) {
            (ServiceType::Fcltu, Some(forward), None) => check_forward(about, forward),
            (ServiceType::Fcltu, _, _) => about.add(
                Severity::Wrong,
                "a link of FCLTU has a [link.forward] with listen and journal, and no [link.return]"
                    .to_owned(),
            ),
            (_, None, returns) => {
                check_return(about, service, &returns.clone().unwrap_or_default(), instance);
            }
            (_, Some(_), _) => about.add(
                Severity::Wrong,
                format!("a link of {service:?} has a [link.return] and no [link.forward]"),
            ),
        }
    }
}

fn check_schedule(about: &mut About<'_>, link: &LinkTable) {
    let [least, most] = link.reconnect_s;
    about.wrong_if(least == 0 || least > most || most > 3600, || {
        format!("link.reconnect_s = [{least}, {most}]: use 1 <= shortest <= longest <= 3600")
    });
    let Some(passes) = &link.passes else { return };
    about.doubtful_if(passes.is_empty(), || {
        "link.passes is empty: the link is never up; remove passes for always".to_owned()
    });
    for (pass, index) in passes.iter().zip(1..) {
        match pass.utc_ns() {
            None => about.add(
                Severity::Wrong,
                format!("link.passes, pass {index}: use dates such as 2026-11-28T08:00:00Z"),
            ),
            Some((from, until)) => about.wrong_if(from >= until, || {
                format!("link.passes, pass {index}: from is not before until")
            }),
        }
    }
}

fn check_forward(about: &mut About<'_>, forward: &LinkForwardTable) {
    match forward.listen.parse::<LinkAddress>() {
        Err(error) => about.add(Severity::Wrong, format!("link.forward.listen: {error}")),
        Ok(address) => about.wrong_if(!address.is_local(), || {
            format!(
                "link.forward.listen = {:?}: whoever connects there commands the spacecraft; use \
                 unix:PATH or an address on loopback",
                forward.listen
            )
        }),
    }
    about.wrong_if(forward.queue < 65_536, || {
        format!("link.forward.queue = {}: the minimum is 65536 octets", forward.queue)
    });
    about.doubtful_if(forward.hold_s > 3600, || {
        format!(
            "link.forward.hold_s = {}: a CLTU that waits for hours may be none that is wanted any more",
            forward.hold_s
        )
    });
}

fn check_return(
    about: &mut About<'_>,
    service: ServiceType,
    returns: &LinkReturnTable,
    instance: &InstanceTable,
) {
    about.wrong_if(instance.returns().delivery == DeliveryModeSetting::Offline, || {
        "a link is of online delivery: use sle-user receive --from --until for offline".to_owned()
    });
    if let Err(error) = selection(service, returns) {
        about.add(Severity::Wrong, format!("link.return: {error}"));
    }
    for address in &returns.listen {
        match address.parse::<LinkAddress>() {
            Err(error) => about.add(Severity::Wrong, format!("link.return.listen: {error}")),
            Ok(parsed) => about.doubtful_if(!parsed.is_local(), || {
                format!("link.return.listen = {address:?}: anyone who reaches it reads the frames")
            }),
        }
    }
    let goes_nowhere =
        returns.udp.is_empty() && returns.listen.is_empty() && returns.store.is_none();
    about.doubtful_if(goes_nowhere, || {
        "link.return has no udp, listen or store: frames are only counted".to_owned()
    });
    about.wrong_if(returns.buffer < BUFFER_MIN, || {
        format!("link.return.buffer = {}: the minimum is {BUFFER_MIN} octets", returns.buffer)
    });
    about.wrong_if(returns.store_octets < 1 << 20, || {
        format!("link.return.store_octets = {}: the minimum is 1048576", returns.store_octets)
    });
    if let Some(store) = returns.store.as_ref().filter(|store| store.exists())
        && store.read_dir().is_ok_and(|mut files| files.next().is_some())
        && let Err(error) = check_store(store)
    {
        about.add(Severity::Wrong, format!("link.return.store: {error}"));
    }
}

/// Files and addresses that only one link can have.
fn resources(link: &LinkTable) -> impl Iterator<Item = String> {
    let forward = link.forward.iter().flat_map(|forward| {
        [forward.listen.clone(), format!("journal {}", forward.journal.display())]
    });
    let returns = link.returns.iter().flat_map(|returns| {
        let store = returns.store.iter().map(|store| format!("store {}", store.display()));
        returns.listen.iter().cloned().chain(store)
    });
    // Port 0 is another one each time.
    forward.chain(returns).filter(|one| !one.ends_with(":0")).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "[user]\nid = \"MCC\"\naddress = \"127.0.0.1:1\"\n[[peer]]\nid = \"STATION\"\n\
        [[instance]]\nid = \"sagr=1.spack=2.fsl-fg=1.cltu=cltu1\"\n\
        [[instance]]\nid = \"sagr=1.spack=2.rsl-fg=1.rcf=onlc2\"\n";

    fn wrong(text: &str) -> String {
        let found = Config::parse(&(BASE.to_owned() + text)).unwrap().check();
        let wrong = found.iter().filter(|finding| finding.is_wrong()).map(ToString::to_string);
        wrong.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_is_right_is_said() {
        let text = "[[link]]\ninstance = \"cltu1\"\n\
             passes = [{ from = 2026-11-28T08:00:00Z, until = 2026-11-28T08:10:00Z }]\n\
             [link.forward]\nlisten = \"unix:/tmp/cltu1.sock\"\njournal = \"cltu1.journal\"\n\
             [[link]]\ninstance = \"onlc2\"\n[link.return]\nchannel = \"1.0.0\"\nudp = [\"127.0.0.1:9\"]\n";
        let found = Config::parse(&(BASE.to_owned() + text)).unwrap().check();
        assert!(found.iter().all(|finding| !finding.is_wrong()), "{found:?}");
        let says = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(says.contains("link cltu1: Fcltu of sagr"), "{says}");
        assert!(says.contains(", 1 passes"), "{says}");
    }

    #[test]
    fn what_is_wrong_has_its_line_and_the_remedy() {
        let forward = "[link.forward]\nlisten = \"0.0.0.0:7000\"\njournal = \"j\"\n";
        let public = wrong(&format!("[[link]]\ninstance = \"cltu1\"\n{forward}"));
        assert!(public.contains("line 10: link.forward.listen") && public.contains("loopback"));
        let none = wrong("[[link]]\ninstance = \"cltu9\"\n");
        assert!(none.contains("there is no service instance \"cltu9\""), "{none}");
        let kind = wrong("[[link]]\ninstance = \"onlc2\"\n");
        assert!(kind.contains("needs a channel"), "{kind}");
        let kind = wrong("[[link]]\ninstance = \"cltu1\"\n[link.return]\n");
        assert!(kind.contains("[link.forward] with listen and journal"), "{kind}");
        let pass = "passes = [{ from = 2026-11-28T08:00:00Z, until = 2026-11-28T07:00:00Z }]\n";
        let pass = wrong(&format!("[[link]]\ninstance = \"onlc2\"\n{pass}"));
        assert!(pass.contains("pass 1: from is not before until"), "{pass}");
        let local = forward.replace("0.0.0.0", "127.0.0.1");
        let twice = wrong(&format!("[[link]]\ninstance = \"cltu1\"\n{local}").repeat(2));
        assert!(twice.contains("two links have the instance"), "{twice}");
        assert!(twice.contains("127.0.0.1:7000 is used by two links"), "{twice}");
    }
}
