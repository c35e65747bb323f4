//! Checks of a configuration, with findings in words.

use super::about::About;
use super::document::Config;
use super::finding::{Finding, Severity};
use super::instance::utc_ns;
use super::{
    AuthLevelSetting, DeliveryModeSetting, ForwardTable, InstanceTable, PeerTable,
    ProductionSetting, ReturnTable,
};
use crate::pdu::ServiceType;
use std::collections::HashSet;

use toml::Spanned;

impl Config {
    /// Everything that is to be said about it, wrong or right, in the file's order.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut about = About { found: &mut found, line: None };
        about.wrong_if(self.provider.is_none() && self.user.is_none(), || {
            "there is neither a [provider] nor a [user]: nobody would do anything".to_owned()
        });
        self.check_transport(&mut about);
        self.check_selves(&mut about);
        let mut ids = HashSet::new();
        for peer in &self.peer {
            about.line = Some(self.line(peer.span().start));
            let id = &peer.get_ref().id;
            about.wrong_if(!ids.insert(id), || format!("peer {id:?} is configured twice"));
            self.check_peer(&mut about, peer);
        }
        about.line = None;
        about.wrong_if(self.instance.is_empty() && self.forward_frame.is_empty(), || {
            "there is no [[instance]]: nobody could bind to anything".to_owned()
        });
        let mut ids = HashSet::new();
        for instance in &self.instance {
            about.line = Some(self.line(instance.span().start));
            let id = &instance.get_ref().id;
            about.wrong_if(!ids.insert(id), || format!("instance {id:?} is configured twice"));
            self.check_instance(&mut about, instance.get_ref());
        }
        self.check_forward_frames(&mut found);
        self.check_links(&mut found);
        found
    }

    fn check_transport(&self, about: &mut About<'_>) {
        let transport = &self.transport;
        for (name, [from, to]) in [
            ("heartbeat_range_s", transport.heartbeat_range_s),
            ("dead_factor_range", transport.dead_factor_range),
        ] {
            about.wrong_if(from > to, || {
                format!("transport.{name}: {from} is greater than {to}: no value would be accepted")
            });
        }
        about.wrong_if(transport.heartbeat_s > 0 && transport.dead_factor == 0, || {
            "transport.dead_factor = 0: a connection would end at once; 2 or 3 is usual".to_owned()
        });
        about.doubtful_if(transport.heartbeat_s == 0, || {
            "transport.heartbeat_s = 0: the loss of a peer is not detected while nothing is sent"
                .to_owned()
        });
        about.wrong_if(!(256..=64 << 20).contains(&transport.pdu_max), || {
            format!(
                "transport.pdu_max = {}: the range is 256 to 67108864 octets",
                transport.pdu_max
            )
        });
        about.wrong_if(transport.startup_s == 0, || {
            "transport.startup_s = 0: every connection would be closed at once".to_owned()
        });
        about.wrong_if(self.security.delay_s == 0, || {
            "security.delay_s = 0: all credentials would be too old; 180 is usual".to_owned()
        });
    }

    fn check_selves(&self, about: &mut About<'_>) {
        let auth = self.security.auth;
        if let Some(provider) = &self.provider {
            check_id(about, "provider.id", &provider.id);
            about.wrong_if(provider.listen.is_empty() && provider.listen_local.is_empty(), || {
                "provider.listen is empty: set it, for example to [\"127.0.0.1:5008\"]".to_owned()
            });
            about.doubtful_if(
                auth == AuthLevelSetting::None
                    && provider.listen.iter().any(|to| !to.ip().is_loopback()),
                || {
                    "provider.listen is not on loopback only, and security.auth is \"none\": \
                     anyone who can reach the port may bind"
                        .to_owned()
                },
            );
            about.wrong_if(
                provider.control.is_some_and(|control| !control.ip().is_loopback()),
                || {
                    "provider.control accepts commands from anyone who connects: use a loopback address"
                        .to_owned()
                },
            );
            about.wrong_if(provider.connections == 0, || {
                "provider.connections = 0: no user could connect".to_owned()
            });
            check_password(about, "provider", auth, provider.password.octets());
            about.add(
                Severity::Right,
                format!("provider {:?} listens on {:?}", provider.id, provider.listen),
            );
        }
        if let Some(user) = &self.user {
            check_id(about, "user.id", &user.id);
            about.wrong_if(!(1..=600).contains(&user.return_timeout_s), || {
                format!("user.return_timeout_s = {}: the range is 1 to 600", user.return_timeout_s)
            });
            about.wrong_if(user.window == Some(0), || {
                "user.window = 0: no CLTU could be sent".to_owned()
            });
            about.wrong_if(user.window.is_some_and(|window| window > 65_535), || {
                "user.window: the maximum is 65535, because invoke ids have 16 bits".to_owned()
            });
            check_password(about, "user", auth, user.password.octets());
            about.add(Severity::Right, format!("user {:?}", user.id));
        }
    }

    fn check_peer(&self, about: &mut About<'_>, peer: &Spanned<PeerTable>) {
        let peer = peer.get_ref();
        check_id(about, "peer.id", &peer.id);
        let auth = peer.auth.unwrap_or(self.security.auth);
        check_password(about, &format!("peer {:?}", peer.id), auth, peer.password.octets());
        let own = [
            self.provider.as_ref().map(|own| own.password.octets()),
            self.user.as_ref().map(|own| own.password.octets()),
        ];
        about.wrong_if(
            auth != AuthLevelSetting::None && !own.iter().flatten().any(|own| !own.is_empty()),
            || {
                format!(
                    "peer {:?} needs credentials, but neither [provider] nor [user] has a password",
                    peer.id
                )
            },
        );
    }

    fn check_instance(&self, about: &mut About<'_>, instance: &InstanceTable) {
        let id = &instance.id;
        let service = match instance.identifier() {
            Err(error) => return about.add(Severity::Wrong, format!("{id:?}: {error}")),
            Ok(_) => instance.service(),
        };
        let Some(service) = service else {
            return about.add(
                Severity::Wrong,
                format!("{id:?}: the service is not one of cltu, raf, rcf, rocf"),
            );
        };
        let before = about.found.len();
        self.check_versions(about, instance);
        self.check_who(about, instance);
        self.check_period(about, instance);
        match service {
            ServiceType::Fcltu => {
                about.wrong_if(instance.returns.is_some(), || {
                    format!("{id:?} is a forward service but has an [instance.return]")
                });
                check_forward(about, &instance.forward());
            }
            _ => {
                about.wrong_if(instance.forward.is_some(), || {
                    format!("{id:?} is a return service but has an [instance.forward]")
                });
                let returns = instance.returns();
                check_return(about, service, &returns, self.provider.is_some());
                if self.provider.is_some() {
                    self.check_stores(about, &returns);
                }
            }
        }
        let is_right = about.found[before..].iter().all(|finding| !finding.is_wrong());
        if is_right {
            let initiators = self.initiators_of(instance).join(", ");
            about.add(
                Severity::Right,
                format!(
                    "{id}: {service:?}, versions {:?}, initiators {initiators}",
                    instance.versions
                ),
            );
        }
    }

    fn check_versions(&self, about: &mut About<'_>, instance: &InstanceTable) {
        about.wrong_if(instance.versions.is_empty(), || "versions is empty".to_owned());
        for version in instance.versions.iter().filter(|version| !(1..=5).contains(*version)) {
            about.add(Severity::Wrong, format!("version {version}: the versions are 1 to 5"));
        }
        about.doubtful_if(instance.versions.contains(&1), || {
            "version 1 is not tested against any other implementation: use 2 to 5".to_owned()
        });
        if let Some(version) = instance.version {
            about.wrong_if(!instance.versions.contains(&version), || {
                format!("version = {version} is not among versions = {:?}", instance.versions)
            });
        }
        let of_seconds = [
            ("return_timeout_s", instance.return_timeout_s.unwrap_or(60)),
            ("min_reporting_cycle_s", instance.min_reporting_cycle_s),
        ];
        for (key, seconds) in of_seconds.iter().filter(|(_, it)| !(1..=600).contains(it)) {
            about.add(Severity::Wrong, format!("{key} = {seconds}: the range is 1 to 600 s"));
        }
        about.wrong_if(instance.port.is_empty() || instance.port.len() > 128, || {
            "port: the length is 1 to 128 characters".to_owned()
        });
    }

    fn check_who(&self, about: &mut About<'_>, instance: &InstanceTable) {
        if self.provider.is_some() {
            let initiators = self.initiators_of(instance);
            about.wrong_if(initiators.is_empty(), || {
                "no initiator may bind: there is no [[peer]] and no [user]".to_owned()
            });
            for unknown in initiators.iter().filter(|id| self.party(id).is_none()) {
                about.add(
                    Severity::Wrong,
                    format!("initiator {unknown:?} has no [[peer]] table: it could never bind"),
                );
            }
        }
        if self.user.is_some() {
            about.wrong_if(self.address_of(instance).is_none(), || {
                "the address is missing: set address = \"host:port\" here or in [user]".to_owned()
            });
            match self.responder_of(instance) {
                None => about.add(
                    Severity::Wrong,
                    "the responder is missing: set responder = \"ID\" and a [[peer]] of that id"
                        .to_owned(),
                ),
                Some(id) => about.wrong_if(self.party(&id).is_none(), || {
                    format!("responder {id:?} has no [[peer]] table")
                }),
            }
        }
    }

    fn check_period(&self, about: &mut About<'_>, instance: &InstanceTable) {
        let ns = [&instance.from, &instance.until].map(|at| at.as_ref().map(utc_ns));
        for (name, at) in ["from", "until"].iter().zip(ns) {
            about.wrong_if(at == Some(None), || {
                format!("{name}: use a date from 1970 on, such as 2026-11-22T08:00:00Z")
            });
        }
        if let [Some(Some(from)), Some(Some(until))] = ns {
            about.wrong_if(from >= until, || "from is not before until".to_owned());
        }
    }
}

fn check_id(about: &mut About<'_>, name: &str, id: &str) {
    let is_visible = id.bytes().all(|octet| (0x20..=0x7e).contains(&octet));
    about.wrong_if(!(3..=16).contains(&id.len()) || !is_visible, || {
        format!("{name} = {id:?}: use 3 to 16 printable ASCII characters")
    });
}

fn check_password(about: &mut About<'_>, whose: &str, auth: AuthLevelSetting, password: &[u8]) {
    about.wrong_if(auth != AuthLevelSetting::None && password.is_empty(), || {
        format!("{whose} has no password, but credentials are required")
    });
    about.doubtful_if(!password.is_empty() && !(6..=16).contains(&password.len()), || {
        format!("{whose}'s password has {} octets; the specification says 6 to 16", password.len())
    });
}

fn check_forward(about: &mut About<'_>, forward: &ForwardTable) {
    let most = if forward.beyond_standard { 65_536 } else { 4096 };
    about.wrong_if(!(12..=most).contains(&forward.cltu_max), || {
        format!(
            "forward.cltu_max = {}: the range is 12 to 4096 octets (65536 if beyond_standard = true)",
            forward.cltu_max
        )
    });
    about.wrong_if(forward.buffer < forward.cltu_max, || {
        format!("forward.buffer = {} is smaller than forward.cltu_max", forward.buffer)
    });
    about.wrong_if(forward.bit_rate == Some(0), || {
        "forward.bit_rate = 0: no CLTU would be radiated; remove it for no limit".to_owned()
    });
    about.doubtful_if(forward.blocking, || {
        "forward.blocking: several CLTUs in one invocation are not standard; only sle-user sends them"
            .to_owned()
    });
    for error in forward.uplink.errors() {
        about.add(Severity::Wrong, error);
    }
    let mut ids = HashSet::new();
    for event in &forward.event {
        about.wrong_if(event.id == 0, || "event 0: the identifiers begin at 1".to_owned());
        about.wrong_if(!ids.insert(event.id), || format!("event {} is configured twice", event.id));
        let known = ["completed", "not-completed", "condition-false"];
        about.wrong_if(!known.contains(&event.outcome.as_str()), || {
            format!("event {}: outcome is one of {known:?}, not {:?}", event.id, event.outcome)
        });
        about.wrong_if(event.production.is_some() && event.outcome != "completed", || {
            format!(
                "event {} sets production and is then completed: its outcome cannot be {:?}",
                event.id, event.outcome
            )
        });
    }
    check_production_time(about, forward);
}

fn check_production_time(about: &mut About<'_>, forward: &ForwardTable) {
    let times = [&forward.production_from, &forward.production_until];
    let ns = times.map(|at| at.as_ref().map(utc_ns));
    for (name, at) in ["production_from", "production_until"].iter().zip(ns) {
        about.wrong_if(at == Some(None), || {
            format!("forward.{name}: use a date from 1970 on, such as 2026-11-22T08:00:00Z")
        });
    }
    if let [Some(Some(from)), Some(Some(until))] = ns {
        about.wrong_if(from >= until, || {
            "forward.production_from is not before forward.production_until".to_owned()
        });
    }
}

/// Checks the permitted requests of a return service.
fn check_offer(about: &mut About<'_>, service: ServiceType, returns: &ReturnTable) {
    let lists = [
        ("qualities", ServiceType::Raf, returns.qualities.as_ref().map(Vec::len)),
        ("control_words", ServiceType::Rocf, returns.control_words.as_ref().map(Vec::len)),
        ("update_modes", ServiceType::Rocf, returns.update_modes.as_ref().map(Vec::len)),
        // Empty, it says something.
        ("tc_channels", ServiceType::Rocf, returns.tc_channels.as_ref().map(|_| 1)),
    ];
    for (name, of, length) in lists {
        about.wrong_if(length == Some(0), || {
            format!("return.{name} is empty: no START could be accepted; remove it to permit all")
        });
        about.wrong_if(length.is_some() && of != service, || {
            format!("return.{name} is a key of {of:?}, but this instance is of {service:?}")
        });
    }
    let tc_channels = returns.tc_channels.iter().flatten();
    for wrong in tc_channels.filter(|channel| **channel > 63) {
        about.add(Severity::Wrong, format!("return.tc_channels: {wrong} is not in [0, 63]"));
    }
}

/// Whether frames may be handed over as one.
fn check_concatenation(about: &mut About<'_>, service: ServiceType, returns: &ReturnTable) {
    let count = returns.concatenated;
    about.wrong_if(count == 0, || "return.concatenated = 0: the minimum is 1".to_owned());
    if count <= 1 {
        return;
    }
    about.wrong_if(
        service != ServiceType::Raf || returns.delivery == DeliveryModeSetting::Offline,
        || {
            format!(
                "return.concatenated = {count}: only RAF in online delivery has data units of \
                 several frames; remove it"
            )
        },
    );
    let octets = returns.generator.as_ref().map_or(0, |made| made.octets);
    about.wrong_if(u64::from(count) * u64::from(octets) > 65_536, || {
        format!(
            "return.concatenated = {count}: that many frames of {octets} octets are more than the \
             65536 of a data unit"
        )
    });
}

fn check_return(
    about: &mut About<'_>,
    service: ServiceType,
    returns: &ReturnTable,
    provides: bool,
) {
    let sources = [returns.generator.is_some(), returns.udp.is_some(), returns.file.is_some()];
    let count = sources.iter().filter(|is_there| **is_there).count();
    about.wrong_if(provides && count != 1, || {
        format!("return: set exactly one of generator, udp and file; {count} are set")
    });
    about.wrong_if(
        returns.delivery == DeliveryModeSetting::Offline && returns.file.is_none(),
        || "return.delivery = \"offline\" needs a frame store: set file".to_owned(),
    );
    about.wrong_if(returns.frames_per_buffer == 0, || {
        "return.frames_per_buffer = 0: the minimum is 1".to_owned()
    });
    about.wrong_if(!(1..=3600).contains(&returns.latency_s), || {
        format!("return.latency_s = {}: the range is 1 to 3600", returns.latency_s)
    });
    about.wrong_if(returns.production == ProductionSetting::Configured, || {
        "return.production: only forward services have the status \"configured\"".to_owned()
    });
    about.wrong_if(returns.backlog == 0, || {
        "return.backlog = 0: no frame could be delivered".to_owned()
    });
    about.wrong_if(returns.antenna.is_empty() || returns.antenna.len() > 16, || {
        "return.antenna: the length is 1 to 16 characters".to_owned()
    });
    about.doubtful_if(
        provides && service != ServiceType::Raf && returns.channels.is_empty(),
        || "return.channels is empty: no channel may be requested".to_owned(),
    );
    check_offer(about, service, returns);
    check_concatenation(about, service, returns);
    if let Some(generator) = &returns.generator {
        // Header, and what else is asked for.
        let least = 6 + if generator.ocf { 4 } else { 0 } + if generator.fecf { 2 } else { 0 };
        about.wrong_if(!(least + 1..=65_536).contains(&generator.octets), || {
            format!("generator.octets = {}: the range is {} to 65536", generator.octets, least + 1)
        });
        about.wrong_if(generator.spacecraft > 1023, || {
            "generator.spacecraft: the maximum is 1023".to_owned()
        });
        let channels = &generator.virtual_channels;
        about.wrong_if(channels.is_empty() || channels.iter().any(|channel| *channel > 7), || {
            "generator.virtual_channels: at least one is needed, each in [0, 7]".to_owned()
        });
        about.wrong_if(generator.rate == Some(0), || {
            "generator.rate = 0: no frame would be generated; remove it for no limit".to_owned()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> Vec<String> {
        let found = Config::parse(text).unwrap().check();
        found.iter().filter(|finding| finding.is_wrong()).map(ToString::to_string).collect()
    }

    const GOOD: &str = "[provider]\nid = \"STATION\"\nlisten = [\"127.0.0.1:0\"]\n\
        [user]\nid = \"MCC\"\n[[instance]]\nid = \"sagr=1.spack=2.fsl-fg=1.cltu=cltu1\"\n";

    #[test]
    fn what_is_right_is_said_too() {
        let found = Config::parse(GOOD).unwrap().check();
        assert!(found.iter().all(|finding| !finding.is_wrong()), "{found:?}");
        let last = found.last().unwrap().to_string();
        assert!(
            last.starts_with("right: line 6: sagr=1.spack=2.fsl-fg=1.cltu=cltu1: Fcltu"),
            "{last}"
        );
        assert!(last.ends_with("initiators MCC"), "{last}");
    }

    #[test]
    fn an_empty_file_does_nothing() {
        assert_eq!(wrong("").len(), 2);
    }

    #[test]
    fn everything_wrong_is_found_at_once() {
        let text = "[provider]\nid = \"S\"\nlisten = []\n[security]\nauth = \"all\"\n\
            [[peer]]\nid = \"MCC\"\n\
            [[instance]]\nid = \"sagr=1.spack=2.fsl-fg=1.cltu=cltu1\"\nversions = [2, 6]\n\
            initiators = [\"OTHER\"]\n[instance.forward]\ncltu_max = 8000\n\
            [[instance]]\nid = \"sagr=1.spack=2.rsl-fg=1.raf=onlc1\"\n";
        let all = wrong(text).join("\n");
        for part in [
            "provider.id = \"S\"",
            "provider.listen is empty",
            "provider has no password",
            "line 6: peer \"MCC\" has no password",
            "line 8: version 6",
            "line 8: initiator \"OTHER\" has no [[peer]]",
            "line 8: forward.cltu_max = 8000",
            "line 14: return: set exactly one of",
        ] {
            assert!(all.contains(part), "{part} in\n{all}");
        }
    }

    #[test]
    fn what_production_does_has_to_make_sense() {
        let forward = "[instance.forward]\nproduction_from = 2026-11-22T09:00:00Z\n\
            production_until = 2026-11-22T08:00:00Z\n[[instance.forward.event]]\nid = 1\n\
            outcome = \"condition-false\"\nproduction = \"halted\"\n\
            [[instance.forward.event]]\nid = 2\nproduction = \"interrupted\"\n";
        let all = wrong(&format!("{GOOD}{forward}"));
        assert_eq!(all.len(), 2, "{all:?}");
        assert!(all[0].contains("event 1 sets production"), "{}", all[0]);
        assert!(all[1].contains("production_from is not before"), "{}", all[1]);
    }

    #[test]
    fn what_may_be_asked_for_is_of_a_service() {
        let of = |service: &str, keys: &str| {
            let instance = format!("[[instance]]\nid = \"sagr=1.spack=2.rsl-fg=1.{service}=a\"\n");
            let common = "[instance.return]\nudp = \"127.0.0.1:0\"\nchannels = [\"1.0\"]\n";
            wrong(&format!("{GOOD}{instance}{common}{keys}")).join("\n")
        };
        let rocf = "control_words = [\"clcw\", \"not-clcw\"]\nupdate_modes = [\"change-based\"]\n\
            tc_channels = []\n";
        assert_eq!(of("rocf", rocf), "");
        assert_eq!(of("raf", "qualities = [\"good\"]\n"), "");
        let no_matter = of("raf", rocf);
        assert!(
            no_matter.contains("return.tc_channels is a key of Rocf, but this instance is of Raf")
        );
        assert!(of("raf", "qualities = []\n").contains("return.qualities is empty"));
        assert!(of("rocf", "tc_channels = [64]\n").contains("64 is not in [0, 63]"));
    }

    #[test]
    fn a_user_needs_to_know_where_and_whom() {
        let text =
            "[user]\nid = \"MCC\"\n[[instance]]\nid = \"sagr=1.spack=2.fsl-fg=1.cltu=cltu1\"\n";
        let all = wrong(text).join("\n");
        assert!(all.contains("the address is missing"), "{all}");
        assert!(all.contains("the responder is missing"), "{all}");
    }
}
