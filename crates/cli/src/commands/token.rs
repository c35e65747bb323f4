//! `chronoscope token`: the tokens that `serve --tokens` knows.

use crate::args::token::{Add, List, Revoke, Token};
use crate::exit::Exit;
use crate::screen::show;
use anyhow::Result;
use chronoscope_formats::json;
use chronoscope_server::{Rights, Tokens};
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn token(token: &Token) -> Result<Exit> {
    match token {
        Token::Add(args) => add(args)?,
        Token::List(args) => list(args)?,
        Token::Revoke(args) => revoke(args)?,
    }
    Ok(Exit::Done)
}

fn add(args: &Add) -> Result<()> {
    let mut tokens = Tokens::read_or_new(&args.file.tokens)?;
    let made = tokens.add(&args.name, Rights { read: args.read, write: args.write })?;
    tokens.write(&args.file.tokens)?;
    Ok(show(&format!("{}\n", made.secret()))?)
}

fn list(args: &List) -> Result<()> {
    let tokens = Tokens::read(&args.file.tokens)?;
    if args.json {
        let one =
            |(name, Rights { read, write })| json!({"name": name, "read": read, "write": write});
        let all = tokens.list().map(one).collect::<Value>();
        return Ok(show(&format!("{:#}\n", json::document("tokens", all)))?);
    }
    let words = |rights: Rights| match (rights.read, rights.write) {
        (true, true) => "read, write",
        (true, false) => "read",
        (false, true) => "write",
        (false, false) => "nothing",
    };
    let lines = tokens.list().map(|(name, rights)| format!("{name}  {}\n", words(rights)));
    Ok(show(&lines.collect::<String>())?)
}

fn revoke(args: &Revoke) -> Result<()> {
    let mut tokens = Tokens::read(&args.file.tokens)?;
    tokens.revoke(&args.name)?;
    Ok(tokens.write(&args.file.tokens)?)
}
