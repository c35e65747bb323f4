//! Which place gives a flag its value, and what is told of mistakes.

use super::*;
use crate::args::Command as Commands;
use std::path::Path;

fn variables(of: &[(&str, &str)]) -> BTreeMap<String, String> {
    of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn parsed(line: &str, of: &[(&str, &str)]) -> Result<Parsed, Refused> {
    let words = line.split_whitespace().map(OsString::from).collect();
    parse_with(words, &variables(of))
}

fn serve(line: &str, of: &[(&str, &str)]) -> crate::args::Serve {
    match parsed(line, of).unwrap() {
        Parsed::Run(cli) => match cli.command {
            Commands::Serve(args) => args,
            other => panic!("{other:?}"),
        },
        Parsed::Print(text) => panic!("{text}"),
    }
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn the_command_line_comes_before_the_environment_and_that_before_the_file() {
    let file = file(
        "listen = \"127.0.0.1:1\"\nwait_late = \"1min\"\nkeep_size = 1000\nquiet = true\n\
         allow_host = [\"a\", \"b\"]\n",
    );
    let line = format!("chronoscope serve --listen 127.0.0.1:3 --config {}", file.path().display());
    let of = [("CHRONOSCOPE_SERVE_LISTEN", "127.0.0.1:2"), ("CHRONOSCOPE_SERVE_WAIT_LATE", "2min")];
    let args = serve(&line, &of);
    assert_eq!(args.listen.unwrap().port(), 3);
    assert_eq!(args.wait_late.as_secs(), 120);
    assert_eq!((args.keep_size, args.quiet), (Some(1000), true));
    assert_eq!(args.allow_host, ["a", "b"]);
    let of = [("CHRONOSCOPE_SERVE_ALLOW_HOST", "c"), ("CHRONOSCOPE_SERVE_QUIET", "false")];
    let args = serve(&line, &of);
    assert_eq!((args.allow_host, args.quiet), (vec!["c".to_owned()], false));
}

#[test]
fn a_flag_that_needs_another_finds_it_in_the_file() {
    let file = file("listen = \"127.0.0.1:1\"\n");
    let of = [("CHRONOSCOPE_SERVE_CONFIG", file.path().to_str().unwrap())];
    assert!(serve("chronoscope serve --insecure", &of).insecure);
    assert!(parsed("chronoscope serve --insecure", &[]).is_err());
}

#[test]
fn data_on_the_command_line_hides_the_store_of_the_file() {
    let file = file("store = \"clickhouse://host/db\"\n");
    let line = format!("chronoscope serve --data /x --config {}", file.path().display());
    let args = serve(&line, &[]);
    assert_eq!((args.data.data.as_deref(), args.data.store), (Some(Path::new("/x")), None));
}

#[test]
fn a_wrong_value_is_told_with_its_place() {
    let wrong = file("# a comment\nlisten = \"nowhere\"\n");
    let line = format!("chronoscope serve --config {}", wrong.path().display());
    let Err(Refused::Arguments(error, Some(note))) = parsed(&line, &[]) else { panic!() };
    assert!(error.to_string().contains("nowhere"), "{error}");
    assert_eq!(note, format!("listen is set in {}:2", wrong.path().display()));
    let of = [("CHRONOSCOPE_AGENT_INSECURE", "yes")];
    let Err(Refused::Configuration(error)) = parsed("chronoscope agent", &of) else { panic!() };
    assert_eq!(error.to_string(), "CHRONOSCOPE_AGENT_INSECURE=yes: expected true or false");
}

/// With its command line wrong, `serve` once ended with a panic instead of what is wrong.
#[test]
fn a_mistake_on_the_command_line_is_told_before_a_file_is_read() {
    for (line, sentence) in [
        ("serve --wait-late x", "\"x\" is not a duration"),
        ("serve --listn 127.0.0.1:0", "a similar argument exists: '--listen'"),
        ("serve --duration", "a value is required for '--duration <TIME>'"),
        ("serve somewhere", "unexpected argument 'somewhere'"),
        ("agent --answer here", "invalid value 'here' for '--answer <ADDRESS:PORT>'"),
        ("agent --quiet=yes", "unexpected value 'yes' for '--quiet'"),
    ] {
        let line = format!("chronoscope {line} --config /no/such/file");
        let of = [("CHRONOSCOPE_SERVE_WAIT_LATE", "5min")];
        let Err(Refused::Arguments(error, None)) = parsed(&line, &of) else { panic!("{line}") };
        assert!(error.to_string().contains(sentence), "{line}: {error}");
        assert_eq!(error.exit_code(), 2, "{line}");
    }
}

#[test]
fn other_commands_are_not_completed() {
    let of = [("CHRONOSCOPE_CLASSES_DATA", "/x"), ("CHRONOSCOPE_SERVE_JSON", "true")];
    let Parsed::Run(cli) = parsed("chronoscope classes", &of).unwrap() else { panic!() };
    let Commands::Classes(args) = cli.command else { panic!() };
    assert!(!args.json && args.data.data.is_none());
}

/// A value that a flag takes, as it is in a variable and as it is in a file.
fn example(arg: &Arg) -> (String, String) {
    let name = arg.get_value_names().and_then(|names| names.first());
    let text = match name.map_or("", |name| name.as_str()) {
        "ADDRESS:PORT" => "127.0.0.1:0",
        "TIME" => "42s",
        "SIZE" => "42M",
        "URL" if arg.get_id() == "store" => "file:/there",
        "URL" => "http://127.0.0.1:1/there",
        "NAME=DIR" | "NAME=VALUE" => "name=/there",
        "DIR" | "FILE" => "/there",
        "NAME" => "there",
        _ if is_switch(arg) => return ("true".to_owned(), "true".to_owned()),
        other => panic!("{}: no example of {other}", arg.get_id()),
    };
    let is_list = matches!(arg.get_action(), ArgAction::Append);
    (text.to_owned(), if is_list { format!("[\"{text}\"]") } else { format!("\"{text}\"") })
}

/// Each flag alone, with those that it needs, from either place; `--print-config` says which.
#[test]
fn every_flag_has_a_variable_and_a_key_of_the_file() {
    let root = Cli::command();
    for name in COMMANDS {
        for arg in flags(root.find_subcommand(name).unwrap()) {
            let id = arg.get_id().as_str();
            let needs = [
                ("listen", "--listen 127.0.0.1:0"),
                ("remote_write", "--remote-write http://127.0.0.1:1/"),
                ("tls_cert", "--tls-cert /there"),
                ("tls_key", "--tls-key /there"),
            ];
            let needs = needs.iter().filter(|(flag, _)| *flag != id && name == "serve");
            let needs: Vec<_> = needs.map(|(_, given)| *given).collect();
            let line = format!("chronoscope {name} --print-config {}", needs.join(" "));
            let (word, value) = example(arg);
            let variable = format!("CHRONOSCOPE_{}_{}", name.to_uppercase(), id.to_uppercase());
            let file = file(&format!("{id} = {value}\n"));
            let path = file.path().display();
            for (line, of, place) in [
                (line.clone(), vec![(&*variable, &*word)], variable.clone()),
                (format!("{line} --config {path}"), vec![], format!("{path}:1")),
            ] {
                let Parsed::Print(text) = parsed(&line, &of).unwrap() else { panic!("{line}") };
                let expected = format!("# From {place}.\n{id} = {value}\n");
                assert!(text.contains(&expected), "{line}: no {expected} in\n{text}");
            }
        }
    }
}

/// The promise of `--print-config`: every flag is in it, and the file gives what it was made of.
#[test]
fn what_is_printed_is_a_file_with_every_flag() {
    for name in COMMANDS {
        let line = format!("chronoscope {name} --print-config");
        let Parsed::Print(text) = parsed(&line, &[]).unwrap() else { panic!() };
        let root = Cli::command();
        for arg in flags(root.find_subcommand(name).unwrap()) {
            let key = format!("\n# {} = ", arg.get_id());
            assert!(text.contains(&key), "{key} is not in\n{text}");
        }
    }
    let line = "chronoscope serve --listen 127.0.0.1:9 --insecure --compare a=/b --compare c=/d";
    let Parsed::Print(text) = parsed(&format!("{line} --print-config"), &[]).unwrap() else {
        panic!()
    };
    let file = file(&text);
    let again = serve(&format!("chronoscope serve --config {}", file.path().display()), &[]);
    assert_eq!(format!("{:?}", again.compare), format!("{:?}", serve(line, &[]).compare));
    assert_eq!((again.listen.unwrap().port(), again.insecure), (9, true));
}
