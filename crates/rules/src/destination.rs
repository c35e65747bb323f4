//! Destinations of notifications: the tables `[[notify]]`.

use serde::Deserialize;
use std::path::PathBuf;

/// Names of the fields that a webhook's body may have, as `${name}`.
pub const FIELDS: [&str; 11] = [
    "key", "change", "rule", "severity", "what", "meaning", "finding", "cause", "at", "since",
    "link",
];

/// A destination of notifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Recipient of the messages.
    pub recipient: Recipient,
    /// Severities of the rules that it is told about; none for all.
    pub severities: Vec<String>,
}

/// Recipient of notifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// An HTTP server that takes JSON by POST.
    Webhook {
        /// Its URL.
        url: String,
        /// Template of the body; `None` for all fields.
        body: Option<String>,
    },
    /// A Prometheus Alertmanager, by the URL below which it has `/api/v2/alerts`.
    Alertmanager {
        /// The URL, without a slash at its end.
        url: String,
    },
    /// A program and its arguments; it reads the message from stdin.
    Command(Vec<String>),
    /// Addresses of e-mail, through a server that takes mail by SMTP.
    Email(Email),
}

/// E-mail: whom, and through which server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    /// Addresses of the recipients.
    pub to: Vec<String>,
    /// Address of the sender.
    pub from: String,
    /// The server: `smtps://HOST:PORT` (TLS from the start), `smtp://HOST:PORT?tls=required`
    /// (STARTTLS), `?tls=opportunistic`, or `smtp://HOST:PORT` without TLS.
    pub smtp: String,
    /// Name and file of the password, where the server wants a login. The file is read for each
    /// message: a new password needs no restart.
    pub login: Option<(String, PathBuf)>,
}

/// A destination as it is written.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenDestination {
    webhook: Option<String>,
    body: Option<String>,
    alertmanager: Option<String>,
    command: Option<Vec<String>>,
    email: Option<Vec<String>>,
    from: Option<String>,
    smtp: Option<String>,
    user: Option<String>,
    password_file: Option<PathBuf>,
    #[serde(default)]
    severity: Vec<String>,
}

impl WrittenDestination {
    /// The destination, or what is wrong with it.
    pub(crate) fn checked(&self) -> Result<Destination, String> {
        let Self { webhook, body, alertmanager, command, email, severity, .. } = self;
        if email.is_none() && self.has_keys_of_email() {
            return Err("from, smtp, user and password_file belong to email".to_owned());
        }
        let recipient = match (webhook, alertmanager, command, email) {
            (Some(url), None, None, None) => {
                if let Some(body) = body {
                    check_body(body)?;
                }
                Recipient::Webhook { url: http_url("webhook", url)?, body: body.clone() }
            }
            (None, Some(url), None, None) if body.is_none() => {
                let url = http_url("alertmanager", url)?;
                Recipient::Alertmanager { url: url.trim_end_matches('/').to_owned() }
            }
            (None, None, Some(command), None) if body.is_none() => {
                if command.first().is_none_or(String::is_empty) {
                    return Err("command: expected a program and its arguments".to_owned());
                }
                Recipient::Command(command.clone())
            }
            (None, None, None, Some(to)) if body.is_none() => {
                Recipient::Email(self.checked_email(to)?)
            }
            _ => {
                return Err(
                    "a destination has one of webhook (and body), alertmanager, command and \
                            email"
                        .to_owned(),
                );
            }
        };
        Ok(Destination { recipient, severities: severity.clone() })
    }

    fn has_keys_of_email(&self) -> bool {
        let Self { from, smtp, user, password_file, .. } = self;
        from.is_some() || smtp.is_some() || user.is_some() || password_file.is_some()
    }

    fn checked_email(&self, to: &[String]) -> Result<Email, String> {
        let (Some(from), Some(smtp)) = (&self.from, &self.smtp) else {
            return Err("email needs from (an address) and smtp (the server's URL)".to_owned());
        };
        if to.is_empty() {
            return Err("email: expected at least one address".to_owned());
        }
        let wrong = std::iter::once(from).chain(to).find(|address| !is_address(address));
        if let Some(wrong) = wrong {
            return Err(format!("{wrong:?} is not an address of e-mail, as in duty@example.org"));
        }
        if !smtp.starts_with("smtp://") && !smtp.starts_with("smtps://") {
            return Err(format!("smtp = {smtp:?}: expected a URL with smtp:// or smtps://"));
        }
        if smtp.contains('@') {
            // A password in this file would be read by whoever may read the rules.
            return Err("smtp: give the login as user and password_file".to_owned());
        }
        let login = match (&self.user, &self.password_file) {
            (Some(user), Some(file)) => Some((user.clone(), file.clone())),
            (None, None) => None,
            _ => return Err("user and password_file go together".to_owned()),
        };
        Ok(Email { to: to.to_vec(), from: from.clone(), smtp: smtp.clone(), login })
    }
}

/// Whether a text looks like an address; the server decides whether it is one (RFC 5321, 4.5.3.1.3:
/// at most 254 octets).
fn is_address(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| !c.is_whitespace() && !c.is_control())
    };
    text.len() <= 254
        && text.rsplit_once('@').is_some_and(|(local, domain)| is_part(local) && is_part(domain))
}

impl Destination {
    /// Whether it is told about rules of a severity.
    pub fn is_told_of(&self, severity: &str) -> bool {
        self.severities.is_empty() || self.severities.iter().any(|told| told == severity)
    }
}

impl Recipient {
    /// The whole recipient as text: the same for the same recipient, and for no other.
    pub fn id(&self) -> String {
        match self {
            Self::Webhook { url, .. } => format!("webhook {url}"),
            Self::Alertmanager { url } => format!("alertmanager {url}"),
            Self::Command(command) => format!("command {}", command.join(" ")),
            Self::Email(Email { to, from, smtp, .. }) => {
                format!("email {} from {from} by {smtp}", to.join(" "))
            }
        }
    }
}

/// For people and the log: of a URL without user, path and query, which may be secrets.
impl std::fmt::Display for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Webhook { url, .. } => write!(f, "webhook {}", origin(url)),
            Self::Alertmanager { url } => write!(f, "alertmanager {}", origin(url)),
            Self::Command(command) => {
                write!(f, "command {}", command.first().map_or("", String::as_str))
            }
            Self::Email(email) => write!(f, "email {}", email.to.join(", ")),
        }
    }
}

/// Scheme, host and port of a URL.
fn origin(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}")
}

fn http_url(key: &str, url: &str) -> Result<String, String> {
    match url.starts_with("http://") || url.starts_with("https://") {
        true => Ok(url.to_owned()),
        false => Err(format!("{key} = {url:?}: expected a URL with http:// or https://")),
    }
}

/// Checks that a template is JSON and has only known fields.
fn check_body(body: &str) -> Result<(), String> {
    let filled = fill_in(body, |name| FIELDS.contains(&name).then(|| name.to_owned()));
    let filled = filled.map_err(|name| {
        format!("body: ${{{name}}} is not one of the fields {}", FIELDS.join(", "))
    })?;
    let json: Result<serde_json::Value, _> = serde_json::from_str(&filled);
    json.map(|_| ()).map_err(|error| format!("body: not JSON: {error}"))
}

/// Replaces each `${name}` of a template by a value, escaped as the inside of a JSON string.
///
/// # Errors
/// The name of the first field without a value.
pub fn fill_in(template: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { return Err(after.to_owned()) };
        let value = value(name).ok_or_else(|| name.to_owned())?;
        let quoted = serde_json::Value::String(value).to_string();
        text += before;
        text += &quoted[1..quoted.len() - 1];
        rest = after;
    }
    Ok(text + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::RuleFile;
    use proptest::prelude::*;

    #[test]
    fn destinations_are_read_and_what_is_wrong_is_named() {
        let text = "page = 'https://c/'\n[[notify]]\nwebhook = 'https://u:p@a/secret?b'\nbody = '{\"text\": \
                    \"${finding}\"}'\nseverity = ['page']\n[[notify]]\nalertmanager = 'http://b/'\n\
                    [[notify]]\ncommand = ['cat', '-n']\n\
                    [[notify]]\nemail = ['duty@a.org']\nfrom = 'c@a.org'\n\
                    smtp = 'smtps://mail.a.org'\nuser = 'c'\npassword_file = '/p'";
        let file = RuleFile::parse(text).unwrap();
        let recipients: Vec<_> =
            file.destinations.iter().map(|it| it.recipient.to_string()).collect();
        assert_eq!(
            recipients,
            ["webhook https://a", "alertmanager http://b", "command cat", "email duty@a.org"]
        );
        assert_eq!(file.destinations[0].recipient.id(), "webhook https://u:p@a/secret?b");
        assert_eq!(file.page.as_deref(), Some("https://c"));
        for (wrong, what) in [
            ("", "has one of"),
            ("webhook = 'ftp://a'", "http://"),
            ("webhook = 'http://a'\nbody = '{'", "not JSON"),
            ("webhook = 'http://a'\nbody = '\"${colour}\"'", "${colour} is not one of"),
            ("command = []", "expected a program"),
            ("webhook = 'http://a'\ncommand = ['a']", "has one of"),
            ("alertmanager = 'http://a'\nbody = '1'", "has one of"),
            ("webhook = 'http://a'\nfrom = 'a@b'", "belong to email"),
            ("email = ['a@b']", "needs from"),
            ("email = []\nfrom = 'a@b'\nsmtp = 'smtp://c'", "at least one address"),
            ("email = ['a b@c']\nfrom = 'a@b'\nsmtp = 'smtp://c'", "\"a b@c\" is not"),
            ("email = ['a@b']\nfrom = 'a@b'\nsmtp = 'mail.c'", "smtps://"),
            ("email = ['a@b']\nfrom = 'a@b'\nsmtp = 'smtp://u:p@c'", "password_file"),
            ("email = ['a@b']\nfrom = 'a@b'\nsmtp = 'smtp://c'\nuser = 'u'", "go together"),
        ] {
            let error = RuleFile::parse(&format!("[[notify]]\n{wrong}")).unwrap_err();
            assert!(error.message.contains(what) && error.line == 1, "{wrong}: {error}");
        }
    }

    proptest! {
        /// A body stays JSON, and has the value, whatever the value is.
        #[test]
        fn no_value_breaks_a_body(value in ".*") {
            let body = fill_in("{\"a\": \"<${rule}>\"}", |_| Some(value.clone())).unwrap();
            let json: serde_json::Value = serde_json::from_str(&body).unwrap();
            let expected = format!("<{value}>");
            prop_assert_eq!(json["a"].as_str(), Some(&*expected));
        }
    }
}
