//! `chronoscope mark`: notes, lists and removes marks, in a data folder or by a server.

use crate::args::mark::Mark as MarkArgs;
use crate::environment;
use crate::exit::Exit;
use crate::screen::show;
use crate::text::{Align, Table};
use crate::times::Zone;
use crate::usage::Usage;
use anyhow::{Context, Result, bail};
use chronoscope_annotations::{AnnotationsError, Mark, NewMark};
use chronoscope_clickhouse::TableOptions;
use chronoscope_clock as clock;
use chronoscope_formats::json::document;
use chronoscope_query::StoreLocation;
use chronoscope_server::StoreAnnotations;
use serde_json::{Value, json};
use std::time::Duration;

/// Longest time for a server's answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// Longest answer, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where marks are kept.
enum Place {
    Store(StoreAnnotations),
    Server(Server),
}

/// Runs the command.
pub(crate) fn mark(args: &MarkArgs) -> Result<Exit> {
    let place = match &args.server {
        Some(url) => Place::Server(Server::new(url, args)?),
        None => {
            let store = args.data.source()?;
            match &store {
                StoreLocation::Files(folder) if !folder.is_dir() => {
                    bail!("{}: there is no such folder", folder.display());
                }
                StoreLocation::Files(_) => {}
                // Who only notes a mark may be the first to write there.
                StoreLocation::Cluster(view) => view.cluster().prepare(&TableOptions::default())?,
            }
            Place::Store(StoreAnnotations::of(&store))
        }
    };
    let zone = Zone::new(args.utc);
    match (&args.text, args.remove) {
        (Some(text), _) => add(args, text, &place, &zone),
        (None, Some(id)) => remove(id, &place),
        (None, None) => list(args, &place, &zone),
    }
}

fn add(args: &MarkArgs, text: &str, place: &Place, zone: &Zone) -> Result<Exit> {
    let now_ns = clock::utc_now_ns();
    let at_ns = match &args.at {
        Some(at) => zone.parse(at, now_ns).map_err(|why| Usage::new(format!("--at: {why}")))?,
        None => now_ns,
    };
    let service = args.service.clone().unwrap_or_default();
    let mark = match place {
        Place::Store(annotations) => {
            let new = NewMark { at_ns, text: text.to_owned(), service, by: String::new() };
            annotations.add_mark(new).map_err(refused)?
        }
        Place::Server(server) => {
            let service = Some(service).filter(|service| !service.is_empty());
            let new = json!({"text": text, "at_ns": at_ns, "service": service});
            serde_json::from_value(server.post(&new)?).context("the server's answer")?
        }
    };
    if args.json {
        show(&format!("{:#}\n", document("mark", serde_json::to_value(&mark)?)))?;
    } else {
        show(&format!("mark {} at {}: {}\n", mark.id, zone.instant(mark.at_ns), words(&mark)))?;
    }
    Ok(Exit::Done)
}

/// What the arguments ask for may not be; else an error of the file.
fn refused(error: AnnotationsError) -> anyhow::Error {
    match error {
        AnnotationsError::Io(_) | AnnotationsError::Full { .. } => error.into(),
        error => Usage::new(error).into(),
    }
}

fn words(Mark { text, service, .. }: &Mark) -> String {
    if service.is_empty() { text.clone() } else { format!("{text} ({service})") }
}

fn remove(id: u64, place: &Place) -> Result<Exit> {
    let is_removed = match place {
        Place::Store(annotations) => annotations.remove_mark(id)?,
        Place::Server(server) => server.delete(id)?,
    };
    if !is_removed {
        say!("no mark has the number {id}; chronoscope mark --list shows them");
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

fn list(args: &MarkArgs, place: &Place, zone: &Zone) -> Result<Exit> {
    let (marks, damage, unknown) = match place {
        Place::Store(annotations) => {
            let content = annotations.read()?;
            (content.marks, content.damage, content.unknown)
        }
        Place::Server(server) => {
            let mut answer = server.get()?;
            let mut take = |field: &str| answer[field].take();
            let (marks, damage) = (take("marks"), take("damage"));
            let marks: Vec<Mark> = serde_json::from_value(marks).context("the server's answer")?;
            let damage: Vec<String> = serde_json::from_value(damage).unwrap_or_default();
            (marks, damage, 0)
        }
    };
    if args.json {
        let part = json!({"marks": marks, "damage": damage});
        show(&format!("{:#}\n", document("marks", part)))?;
    } else if !marks.is_empty() {
        let heading = ["number", &*format!("at ({})", zone.name()), "service", "mark"];
        let mut table =
            Table::new(&heading).aligned([Align::Right, Align::Left, Align::Left, Align::Left]);
        for mark in &marks {
            let at = zone.instant(mark.at_ns);
            table.row(vec![mark.id.to_string(), at, mark.service.clone(), mark.text.clone()]);
        }
        show(&table.to_string())?;
    }
    for damage in &damage {
        say!("damaged: {damage}");
    }
    if unknown > 0 {
        say!("{unknown} entries are of a newer version and not shown");
    }
    if marks.is_empty() {
        say!("no marks");
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

/// The marks of a server.
struct Server {
    agent: ureq::Agent,
    url: String,
    authorization: Option<String>,
}

impl Server {
    fn new(url: &str, args: &MarkArgs) -> Result<Self> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Usage::new(format!("--server {url}: expected http://HOST:PORT")).into());
        }
        let token = environment::token(args.token_file.as_deref())?;
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER_WITHIN))
            .http_status_as_error(false)
            .build();
        Ok(Self {
            agent: config.into(),
            url: format!("{}/api/v1/marks", url.trim_end_matches('/')),
            authorization: token.map(|token| format!("Bearer {}", token.secret())),
        })
    }

    fn get(&self) -> Result<Value> {
        let request = self.authorized(self.agent.get(&self.url));
        self.answer(request.call().with_context(|| self.url.clone())?)
    }

    fn post(&self, body: &Value) -> Result<Value> {
        let request = self.authorized(self.agent.post(&self.url));
        let request = request.header("content-type", "application/json");
        self.answer(request.send(body.to_string()).with_context(|| self.url.clone())?)
    }

    /// False where the server knows no such mark.
    fn delete(&self, id: u64) -> Result<bool> {
        let url = format!("{}/{id}", self.url);
        let answer = self.authorized(self.agent.delete(&url)).call().with_context(|| url)?;
        match answer.status().as_u16() {
            404 => Ok(false),
            204 => Ok(true),
            _ => self.answer(answer).map(|_| true),
        }
    }

    fn authorized<B>(&self, request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
        match &self.authorization {
            Some(authorization) => request.header("authorization", authorization),
            None => request,
        }
    }

    fn answer(&self, mut answer: ureq::http::Response<ureq::Body>) -> Result<Value> {
        let status = answer.status();
        let text = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec()?;
        let said: Value = serde_json::from_slice(&text).unwrap_or_default();
        if status.is_success() {
            return Ok(said);
        }
        let error = said["error"].as_str().unwrap_or("no reason is given");
        bail!("{} answers {}: {error}", self.url, status.as_u16())
    }
}
