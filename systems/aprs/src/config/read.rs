//! Reads configuration files: every directive of aprsc's, and the few of our own. All faults of a
//! file are found in one go.

use super::endpoints::{Uplink, UplinkKind};
use super::fault::{ConfigError, ConfigErrors, Fault, Position};
use super::lines::{Word, words};
use super::ports;
use super::reader::{FILE_SIZE_MAX, Reader, Surroundings, beyond};
use super::settings::{Batching, Config};
use super::value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Open files that the server itself needs beside those of clients.
const FILES_BESIDE_CLIENTS: u64 = 50;
const WORKERS_MAX: u64 = 32;

/// Reads the configuration at `path` and the ACL files that it names. Relative paths in it are
/// relative to the working directory, as aprsc has it.
///
/// Remarks that are not faults are in [`Config::warnings`].
///
/// # Errors
/// Every fault with its file, line and column.
pub fn read(path: &Path) -> Result<Config, ConfigErrors> {
    let bytes = std::fs::read(path).map_err(|error| {
        let fault = Fault::Unreadable { reason: error.to_string() };
        ConfigErrors(vec![ConfigError { file: path.to_owned(), at: None, fault }])
    })?;
    let config = parse(&bytes, path, &Surroundings::SYSTEM)?;
    let folder = config.run_dir.as_deref().map(|folder| (folder, std::fs::metadata(folder)));
    let reason = match &folder {
        None => return Ok(config),
        Some((_, Ok(metadata))) if metadata.is_dir() => return Ok(config),
        Some((_, Ok(_))) => "it is something else".to_owned(),
        Some((_, Err(error))) => error.to_string(),
    };
    let path_text = config.run_dir.as_deref().unwrap_or(path).display().to_string();
    let fault = Fault::NoFolder { path: path_text, reason };
    Err(ConfigErrors(vec![ConfigError { file: path.to_owned(), at: None, fault }]))
}

/// Reads a configuration from memory. `file` is the file name given in its faults.
///
/// # Errors
/// Every fault with its place.
pub fn parse(
    bytes: &[u8],
    file: &Path,
    surroundings: &Surroundings<'_>,
) -> Result<Config, ConfigErrors> {
    let mut reader = Reader::new(file, surroundings);
    if bytes.len() > FILE_SIZE_MAX {
        reader.fault(None, Fault::TooLong { size: bytes.len(), max: FILE_SIZE_MAX });
        return Err(ConfigErrors(reader.faults));
    }
    let mut found = Vec::new();
    for line in words(bytes, &mut found) {
        if let [name, arguments @ ..] = line.as_slice() {
            reader.directive(name, arguments);
        }
    }
    for (at, fault) in found {
        reader.fault(Some(at), fault);
    }
    reader.whole();
    reader.finish()
}

/// The names of all directives, as they are written in manuals.
pub const DIRECTIVES: &[&str] = &[
    "ServerId",
    "PassCode",
    "MyAdmin",
    "MyEmail",
    "Fake_Version",
    "RunDir",
    "LogRotate",
    "MaxClients",
    "WorkerThreads",
    "FileLimit",
    "StatsInterval",
    "ExpiryInterval",
    "LastPositionCache",
    "UpstreamTimeout",
    "ClientTimeout",
    "LoginTimeout",
    "Listen",
    "Uplink",
    "UplinkBind",
    "PeerGroup",
    "HTTPStatus",
    "HTTPUpload",
    "HTTPStatusOptions",
    "HTTPAllowHost",
    "DisallowLoginCall",
    "DisallowSourceCall",
    "DisallowIgateCall",
    "Disallow_Unverified",
    "Q_Protocol_Id",
    "Disallow_Other_Protocol_Id",
    "Quirks_Mode",
    "Batching",
    "StaleAfter",
];

/// Directives of aprsc's that are gone, and what to do instead.
const FORMER: &[(&str, &str)] = &[
    ("mycall", ": its name is ServerId now"),
    ("logdir", ": start with -r FOLDER instead"),
    ("myhostname", ": it is not needed any more, take it out"),
    ("dupefiltercache", ": duplicates are known for 30 s, take it out"),
    ("aprsis-uplink", ": its name is Uplink now"),
];

impl Reader<'_> {
    /// Reads one line: a directive and its arguments.
    fn directive(&mut self, name: &Word, arguments: &[Word]) {
        let lower = name.text.to_ascii_lowercase();
        let outcome = match lower.as_str() {
            "listen" => ports::listen(self, name, arguments),
            "uplink" => {
                self.uplinks_at.push(name.at);
                ports::uplink(self, name, arguments)
            }
            "uplinkbind" => ports::uplink_bind(self, name, arguments),
            "peergroup" => ports::peer_group(self, name, arguments),
            "httpstatus" => ports::http(self, name, arguments, false),
            "httpupload" => ports::http(self, name, arguments, true),
            "httpallowhost" => self.hosts(name, arguments),
            "logrotate" => self.log_rotate(name, arguments),
            "disallowlogincall" | "disallowsourcecall" | "disallowigatecall" => {
                self.globs(name, &lower, arguments)
            }
            _ => match DIRECTIVES.iter().find(|known| known.eq_ignore_ascii_case(&lower)) {
                Some(directive) => self.single(directive, name, arguments),
                None => Err((name.at, unknown(&name.text))),
            },
        };
        if let Err((at, fault)) = outcome {
            self.fault(Some(at), fault);
        }
    }

    /// Reads a directive with one value; the last one counts.
    fn single(
        &mut self,
        directive: &'static str,
        name: &Word,
        arguments: &[Word],
    ) -> Result<(), (Position, Fault)> {
        let [word, rest @ ..] = arguments else {
            return Err((name.at, Fault::TooFew { directive, usage: "one value" }));
        };
        if let Some(first) = self.first.insert(directive, name.at.line) {
            self.warn(name.at, Fault::Repeated { directive, first });
        }
        if let Some(extra) = beyond(rest) {
            self.warn(extra.at, Fault::Ignored { word: extra.text.clone(), directive });
        }
        self.set(directive, word).map_err(|fault| (word.at, fault))
    }

    fn set(&mut self, directive: &str, word: &Word) -> Result<(), Fault> {
        let text = word.text.as_str();
        let config = &mut self.config;
        match directive {
            "ServerId" => config.server_id = value::callsign(text, 3)?,
            "PassCode" => config.passcode = passcode(text)?,
            "MyAdmin" => config.my_admin = text.to_owned(),
            "MyEmail" => config.my_email = Some(text.to_owned()),
            "Fake_Version" => config.fake_version = Some(text.to_owned()),
            "RunDir" => config.run_dir = Some(PathBuf::from(text)),
            "MaxClients" => config.clients_max = size(value::number(text, 0, 10_000_000)?),
            "WorkerThreads" => {
                let asked = value::number(text, 0, u64::MAX)?;
                let used = asked.clamp(1, WORKERS_MAX);
                config.workers = size(used);
                if used != asked {
                    self.warn(word.at, Fault::Clamped { value: text.to_owned(), used });
                }
            }
            "FileLimit" => config.file_limit = Some(value::number(text, 16, 1 << 30)?),
            "StatsInterval" => config.stats_interval = value::interval(text)?,
            "ExpiryInterval" => config.expiry_interval = value::interval(text)?,
            "LastPositionCache" => config.last_position_cache = value::interval(text)?,
            "UpstreamTimeout" => config.upstream_timeout = value::interval(text)?,
            "ClientTimeout" => config.client_timeout = value::interval(text)?,
            "LoginTimeout" => config.login_timeout = value::interval(text)?,
            "StaleAfter" => config.stale_after = value::interval(text)?,
            "HTTPStatusOptions" => config.show_email = show_email(text)?,
            "Disallow_Unverified" => config.disallow_unverified = value::switch(text)?,
            "Disallow_Other_Protocol_Id" => {
                config.disallow_other_q_protocols = value::switch(text)?;
            }
            "Quirks_Mode" => config.quirks_mode = value::switch(text)?,
            "Q_Protocol_Id" => config.q_protocol = q_protocol(text)?,
            "Batching" => config.batching = batching(text)?,
            other => return Err(unknown(other)), // a name that only `directive` handles
        }
        Ok(())
    }

    fn log_rotate(&mut self, name: &Word, arguments: &[Word]) -> Result<(), (Position, Fault)> {
        const USAGE: &str = "LogRotate MEGABYTES FILES";
        let [size, files, rest @ ..] = arguments else {
            return Err((name.at, Fault::TooFew { directive: "LogRotate", usage: USAGE }));
        };
        self.spare(rest, USAGE);
        let megabytes = value::number(&size.text, 1, 1 << 20).map_err(|fault| (size.at, fault))?;
        let kept = value::number(&files.text, 1, 1000).map_err(|fault| (files.at, fault))?;
        self.config.log_rotate = Some((megabytes << 20, u32::try_from(kept).unwrap_or(1000)));
        Ok(())
    }

    /// Names of hosts. Lines add up.
    fn hosts(&mut self, name: &Word, arguments: &[Word]) -> Result<(), (Position, Fault)> {
        if arguments.is_empty() {
            let usage = "HTTPAllowHost NAME ...";
            return Err((name.at, Fault::TooFew { directive: "HTTPAllowHost", usage }));
        }
        let names = arguments.iter().map(|word| word.text.clone());
        self.config.http_allow_hosts.extend(names);
        Ok(())
    }

    /// Globs of callsigns. Lines add up.
    fn globs(
        &mut self,
        name: &Word,
        lower: &str,
        arguments: &[Word],
    ) -> Result<(), (Position, Fault)> {
        if arguments.is_empty() {
            let usage = "callsigns, in which * is any number of characters and ? is one";
            return Err((name.at, Fault::TooFew { directive: "the list", usage }));
        }
        let list = match lower {
            "disallowlogincall" => &mut self.config.disallow_login,
            "disallowsourcecall" => &mut self.config.disallow_source,
            _ => &mut self.config.disallow_igate,
        };
        list.extend(arguments.iter().map(|word| word.text.clone()));
        Ok(())
    }

    /// Checks that need the whole file.
    fn whole(&mut self) {
        let given = |reader: &Self, name| reader.first.contains_key(name);
        for (directive, usage) in [
            ("ServerId", "the server's own callsign, as in ServerId T2NAME"),
            ("MyAdmin", "your name and callsign, as in MyAdmin \"My Name, N0CALL\""),
        ] {
            if !given(self, directive) {
                self.fault(None, Fault::Missing { directive, usage });
            }
        }
        if !self.config.uplinks.is_empty() && !given(self, "PassCode") {
            let usage = "uplinks ask for it";
            self.fault(None, Fault::Missing { directive: "PassCode", usage });
        }
        if self.config.listeners.is_empty() && self.faults.is_empty() {
            self.fault(None, Fault::NoListeners);
        }
        let multi = |uplink: &Arc<Uplink>| uplink.kind == UplinkKind::MultiReadOnly;
        let several = self.config.uplinks.iter().filter(|uplink| multi(uplink)).count();
        if several > 0 && several < self.config.uplinks.len() {
            let at = self.uplinks_at.last().copied();
            self.fault(at, Fault::MixedUplinks);
        }
        let needed = u64::try_from(self.config.clients_max).unwrap_or(u64::MAX);
        let needed = needed.saturating_add(FILES_BESIDE_CLIENTS);
        if let Some(limit) = self.config.file_limit.filter(|limit| *limit < needed) {
            let clients_max = self.config.clients_max;
            let at =
                Position { line: self.first.get("FileLimit").copied().unwrap_or(1), column: 1 };
            self.warn(at, Fault::FewFiles { clients_max, limit, needed });
        }
    }
}

fn size(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn passcode(text: &str) -> Result<i32, Fault> {
    let bad = || Fault::BadValue {
        value: text.to_owned(),
        what: "passcode",
        expected: "a number of 0 to 32767, or -1 for none",
    };
    text.parse().ok().filter(|code| (-1..=32_767).contains(code)).ok_or_else(bad)
}

fn q_protocol(text: &str) -> Result<u8, Fault> {
    match text.as_bytes() {
        [letter] if letter.is_ascii_uppercase() => Ok(*letter),
        _ => Err(Fault::BadValue {
            value: text.to_owned(),
            what: "protocol of q constructs",
            expected: "one capital letter; APRS-IS has A",
        }),
    }
}

fn batching(text: &str) -> Result<Batching, Fault> {
    let within = |text: &str| -> Option<u64> { text.strip_suffix("ms")?.trim_end().parse().ok() };
    match text.to_ascii_lowercase().as_str() {
        "adaptive" => Ok(Batching::Adaptive),
        "latency" => Ok(Batching::Latency),
        "throughput" => Ok(Batching::Throughput),
        other => match within(other) {
            Some(ms @ 1..=1000) => Ok(Batching::Within(Duration::from_millis(ms))),
            _ => Err(Fault::BadValue {
                value: text.to_owned(),
                what: "way of batching",
                expected: "adaptive, latency, throughput, or a wait of 1ms to 1000ms",
            }),
        },
    }
}

/// `ShowEmail=1`; several options have `&` or commas between them.
fn show_email(text: &str) -> Result<bool, Fault> {
    let mut show = false;
    for option in text.split(['&', ',', ' ']).filter(|option| !option.is_empty()) {
        match option.to_ascii_lowercase().as_str() {
            "showemail=1" => show = true,
            "showemail=0" => show = false,
            _ => {
                let usage = "ShowEmail=1 or ShowEmail=0";
                return Err(Fault::UnknownOption { option: option.to_owned(), usage });
            }
        }
    }
    Ok(show)
}

fn unknown(name: &str) -> Fault {
    let lower = name.to_ascii_lowercase();
    let former = FORMER.iter().find(|(former, _)| *former == lower);
    let near = || {
        let distance = |known: &&&str| distance(&known.to_ascii_lowercase(), &lower);
        DIRECTIVES.iter().min_by_key(distance).filter(|known| distance(known) <= 2)
    };
    let hint = match former {
        Some((_, hint)) => (*hint).to_owned(),
        None => near().map_or(String::new(), |known| format!("; is it {known}?")),
    };
    Fault::UnknownDirective { name: name.to_owned(), hint }
}

/// Levenshtein distance, of the first 32 octets.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<_>, Vec<_>) = (a.bytes().take(32).collect(), b.bytes().take(32).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
