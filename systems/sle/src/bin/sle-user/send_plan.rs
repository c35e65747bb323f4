//! What `send` is to send: all CLTUs, or what a journal has left; and the journal itself.

use super::args::SendArgs;
use super::pieces::DataSource;
use anyhow::{Context, bail};
use chronoscope_sle::client::notation;
use chronoscope_sle::journal::{FateWord, SendPlan, TransferIdentity, TransferJournal};
use chronoscope_sle::time::{Now, Time};
use std::path::PathBuf;

/// CLTUs of a transfer at most: CLTU identifications have 32 bits, and fates need half of them.
const CLTUS_MAX: u64 = 1 << 31;

/// The work of one call of `send`.
pub(crate) struct SendWork {
    pub(crate) plan: SendPlan,
    /// CLTU identification of the first.
    pub(crate) first: u32,
    pub(crate) journal: Option<TransferJournal>,
    /// Path of the journal.
    pub(crate) path: Option<PathBuf>,
}

impl SendWork {
    /// The plan for the data to an instance, and the journal, which is made or read.
    pub(crate) fn of(send: &SendArgs, pieces: &DataSource, instance: &str) -> anyhow::Result<Self> {
        let cltus = pieces.count();
        if cltus > CLTUS_MAX {
            bail!("{cltus} CLTUs: one transfer has {CLTUS_MAX} at most");
        }
        let encoded = if send.encode { ", encoded" } else { "" };
        let source = pieces.description() + encoded;
        let identity = TransferIdentity { instance: instance.to_owned(), source, cltus };
        let Some(path) = &send.resume else {
            let path = journal_path(send, instance);
            let journal = match &path {
                Some(path) => Some(TransferJournal::create(path, &identity)?),
                None => None,
            };
            let plan = SendPlan::from(0..cltus);
            return Ok(Self { plan, first: send.first, journal, path });
        };
        let again = again(&send.resend)?;
        let journal = TransferJournal::resume(path, &identity).context("--resume")?;
        let state = journal.state();
        let wanted = state.fates().runs().filter(|run| again.contains(&run.fate.fate));
        // A contradicted CLTU may have been radiated, whatever its fate says.
        let plan = SendPlan::of(wanted.flat_map(|run| state.without_contradicted(run.cltus)));
        let first = state.next_number().unwrap_or(send.first);
        Ok(Self { plan, first, journal: Some(journal), path: Some(path.clone()) })
    }
}

/// Path of a new journal; `None`: there is none.
fn journal_path(send: &SendArgs, instance: &str) -> Option<PathBuf> {
    if send.no_journal || send.acknowledged && send.journal.is_none() {
        return None;
    }
    Some(send.journal.clone().unwrap_or_else(|| {
        let time = notation::time(Time::from_utc_ns(Now::read().utc_ns));
        let time: String = time.as_str().unwrap_or("").replace(['-', ':'], "");
        let end = instance.rsplit('=').next().unwrap_or(instance);
        // The identifier is the configuration's: its last part may have any character.
        let end: String =
            end.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        PathBuf::from(format!("send-{end}-{time}.journal"))
    }))
}

/// The fates whose CLTUs are sent.
fn again(resend: &[String]) -> anyhow::Result<Vec<FateWord>> {
    let mut fates = vec![FateWord::NotSent];
    for word in resend {
        match (word.as_str(), FateWord::parse(word)) {
            ("all", _) => {
                fates.extend(FateWord::ALL.into_iter().filter(|fate| *fate != FateWord::Radiated));
            }
            (_, Some(fate)) => fates.push(fate),
            (_, None) => {
                let words: Vec<&str> = FateWord::ALL.map(FateWord::word).to_vec();
                bail!("--resend {word:?}: use all, or fates out of {}", words.join(", "));
            }
        }
    }
    Ok(fates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_is_sent_again() {
        let words =
            |words: &[&str]| again(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(words(&[]).unwrap(), [FateWord::NotSent]);
        let two = words(&["unknown", "discarded"]).unwrap();
        assert_eq!(two, [FateWord::NotSent, FateWord::Unknown, FateWord::Discarded]);
        assert!(!words(&["all"]).unwrap().contains(&FateWord::Radiated));
        let said = words(&["lost"]).unwrap_err().to_string();
        assert!(said.contains("use all, or fates out of not-sent, unknown"), "{said}");
    }
}
