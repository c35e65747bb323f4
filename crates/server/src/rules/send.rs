//! Sending one notification: webhook, Alertmanager, command, e-mail.

use super::journal_content::Message;
use crate::log::instant;
use chronoscope_clock as clock;
use chronoscope_rules::{Email, Recipient, fill_in};
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::transport::smtp::authentication::Credentials;
use lettre::{SmtpTransport, Transport};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longest time for an answer, and for a command.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Time after which an Alertmanager takes an alert that is not sent again as resolved.
const ALERT_LASTS_NS: i64 = 300_000_000_000;

/// Reason why a notification was not acknowledged.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// Trying again may help.
    #[error("{0}")]
    Failed(String),
    /// The recipient refuses the message; trying again seldom helps.
    #[error("{0}")]
    Refused(String),
}

impl From<io::Error> for SendError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Sends a message; `Ok` when the recipient has acknowledged it. `now_ns`: UTC, nanoseconds since
/// 1970.
pub(super) fn send(to: &Recipient, message: &Message, now_ns: i64) -> Result<(), SendError> {
    match to {
        Recipient::Webhook { url, body } => {
            let body = match body {
                None => message.json().to_string(),
                Some(body) => fill_in(body, |name| message.field(name))
                    .map_err(|name| SendError::Refused(format!("no field {name}")))?,
            };
            post(url, &message.key, &body)
        }
        Recipient::Alertmanager { url } => {
            let url = format!("{url}/api/v2/alerts");
            post(&url, &message.key, &json!([message.alert(now_ns)]).to_string())
        }
        Recipient::Command(command) => run(command, &message.json().to_string()),
        Recipient::Email(email) => mail(email, message),
    }
}

/// Hands a message to a mail server. That it will be delivered is the server's promise.
fn mail(email: &Email, message: &Message) -> Result<(), SendError> {
    let refused = |error: lettre::address::AddressError| SendError::Refused(error.to_string());
    let mailbox = |address: &String| address.parse::<Mailbox>().map_err(refused);
    let from = mailbox(&email.from)?;
    let mut mail = lettre::Message::builder()
        // The same for the same transition: a mail that is sent twice can be recognised.
        .message_id(Some(format!("<{}@{}>", message.key, from.email.domain())))
        .subject(message.subject())
        .header(ContentType::TEXT_PLAIN)
        .from(from);
    for to in &email.to {
        mail = mail.to(mailbox(to)?);
    }
    let mail = mail.body(message.text()).map_err(|why| SendError::Refused(why.to_string()))?;
    let mut server = SmtpTransport::from_url(&email.smtp)
        .map_err(|why| SendError::Refused(why.to_string()))?
        .timeout(Some(ANSWER_WITHIN));
    if let Some((user, file)) = &email.login {
        let password = std::fs::read_to_string(file)
            .map_err(|why| SendError::Failed(format!("{}: {why}", file.display())))?;
        let password = password.trim_end_matches(['\r', '\n']).to_owned();
        server = server.credentials(Credentials::new(user.clone(), password));
    }
    match server.build().send(&mail) {
        Ok(_) => Ok(()),
        Err(error) if error.is_permanent() => Err(SendError::Refused(error.to_string())),
        Err(error) => Err(SendError::Failed(error.to_string())),
    }
}

fn post(url: &str, key: &str, body: &str) -> Result<(), SendError> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(ANSWER_WITHIN))
        .http_status_as_error(false)
        .build()
        .into();
    let request = agent.post(url).header("content-type", "application/json");
    let answer = request.header("idempotency-key", key).send(body);
    let answer = answer.map_err(|error| SendError::Failed(error.to_string()))?;
    match answer.status().as_u16() {
        200..300 => Ok(()),
        status @ (408 | 429 | 500..600) => Err(SendError::Failed(format!("answers {status}"))),
        status => Err(SendError::Refused(format!("answers {status}"))),
    }
}

fn run(command: &[String], message: &str) -> Result<(), SendError> {
    let [program, arguments @ ..] = command else {
        return Err(SendError::Refused("no program".to_owned()));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let ended = wait(&mut child, message);
    if ended.is_err() {
        let _ = child.kill(); // it may have ended by itself
        let _ = child.wait();
    }
    ended
}

fn wait(child: &mut Child, message: &str) -> Result<(), SendError> {
    if let Some(mut stdin) = child.stdin.take() {
        // A message fits into the pipe; a program that does not read it may still succeed.
        let _ = stdin.write_all(message.as_bytes());
    }
    let begin_ns = clock::monotonic_ns();
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(SendError::Failed(status.to_string())),
            None => {}
        }
        let passed = Duration::from_nanos(clock::monotonic_ns().saturating_sub(begin_ns));
        if passed > ANSWER_WITHIN {
            return Err(SendError::Failed("it has not ended within 10 s".to_owned()));
        }
        clock::sleep(Duration::from_millis(20));
    }
}

impl Message {
    /// The value of a field of [`chronoscope_rules::FIELDS`].
    fn field(&self, name: &str) -> Option<String> {
        Some(match name {
            "key" => self.key.clone(),
            "change" => self.change.clone(),
            "rule" => self.rule.clone(),
            "severity" => self.severity.clone(),
            "what" => self.what.clone(),
            "meaning" => self.meaning.clone(),
            "finding" => self.finding.clone(),
            "cause" => self.cause.clone(),
            "at" => instant(self.at_ns),
            "since" => instant(self.since_ns),
            "link" => self.link.clone(),
            _ => return None,
        })
    }

    /// Subject of a mail. A name with a line break would be a header of its own: there is none.
    fn subject(&self) -> String {
        let subject = format!("[{}] {} {}", self.severity, self.rule, self.change);
        subject.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    }

    /// Text of a mail.
    fn text(&self) -> String {
        let mut text = format!("{}\n\n{}\n\n", self.finding, self.meaning);
        let lines = [
            ("cause", self.cause.clone()),
            ("subject of the rule", self.what.clone()),
            ("at", instant(self.at_ns)),
            ("since", instant(self.since_ns)),
            ("scattergram", self.link.clone()),
        ];
        for (key, value) in lines.into_iter().filter(|(_, value)| !value.is_empty()) {
            text += &format!("{key}: {value}\n");
        }
        if let Some(slowest) = &self.slowest {
            let seconds = Duration::from_nanos(slowest.duration_ns).as_secs_f64();
            text += &format!("slowest: {seconds:.3} s, chain {} {}\n", slowest.chain, slowest.link);
        }
        text
    }

    /// All fields.
    pub(super) fn json(&self) -> Value {
        let fields = chronoscope_rules::FIELDS.into_iter();
        let mut all: serde_json::Map<String, Value> =
            fields.filter_map(|name| Some((name.to_owned(), self.field(name)?.into()))).collect();
        all.insert("version".to_owned(), 1.into());
        all.insert("at_ns".to_owned(), self.at_ns.into());
        all.insert("since_ns".to_owned(), self.since_ns.into());
        all.insert("slowest".to_owned(), json!(self.slowest));
        Value::Object(all)
    }

    /// The alert as the Alertmanager's API v2 has it. An alert is the same by its labels.
    fn alert(&self, now_ns: i64) -> Value {
        let ends_ns = match self.change.as_str() {
            "cleared" => self.at_ns,
            _ => now_ns.saturating_add(ALERT_LASTS_NS),
        };
        let mut alert = json!({
            "labels": {
                "alertname": self.group_of.as_ref().unwrap_or(&self.rule),
                "rule": self.rule,
                "severity": self.severity,
                "what": self.what,
            },
            "annotations": { "summary": self.finding, "description": self.meaning },
            "startsAt": instant(self.since_ns),
            "endsAt": instant(ends_ns),
        });
        if !self.link.is_empty() {
            alert["generatorURL"] = self.link.clone().into();
        }
        if !self.cause.is_empty() {
            alert["annotations"]["cause"] = self.cause.clone().into();
        }
        if let Some(slowest) = &self.slowest {
            alert["annotations"]["slowest"] = slowest.chain.clone().into();
        }
        alert
    }
}
