//! A page of `docs`: its fenced blocks, and what they ask the reader to do.
//!
//! | block | the reader |
//! |---|---|
//! | `sh install` | installs packages |
//! | `LANGUAGE file=NAME` | writes it into the file NAME |
//! | `sh` | types it into the terminal |
//! | `sh again` | types it again and again, until it shows the next block |
//! | `text` | sees it as the output of the block before it |

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Install,
    WriteFile { name: String },
    Type { again: bool, shows: Option<String> },
}

/// A block of the page with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Heading of its section.
    pub(crate) section: String,
    /// Line of its first fence, from 1.
    pub(crate) line: usize,
    pub(crate) task: Task,
    pub(crate) body: String,
}

/// All blocks of a page, in order.
///
/// # Panics
/// With the line of a block that is none of the above.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut section = String::new();
    let mut lines = page.lines().zip(1..);
    while let Some((text, line)) = lines.next() {
        if let Some(heading) = text.strip_prefix("## ") {
            heading.clone_into(&mut section);
        }
        let Some(info) = text.strip_prefix("```") else { continue };
        let body: String = lines
            .by_ref()
            .take_while(|(text, _)| *text != "```")
            .map(|(l, _)| l.to_owned() + "\n")
            .collect();
        if info == "text" {
            show(blocks.last_mut(), line, body);
            continue;
        }
        let task = match info.split_once(' ') {
            None if info == "sh" => Task::Type { again: false, shows: None },
            Some(("sh", "again")) => Task::Type { again: true, shows: None },
            Some(("sh", "install")) => Task::Install,
            Some((_, rest)) if rest.starts_with("file=") => {
                Task::WriteFile { name: rest["file=".len()..].to_owned() }
            }
            _ => panic!("line {line}: a block without a task: {info}"),
        };
        blocks.push(Block { section: section.clone(), line, task, body });
    }
    blocks
}

/// Attaches an output to the block before it.
fn show(before: Option<&mut Block>, line: usize, output: String) {
    match before.map(|block| &mut block.task) {
        Some(Task::Type { shows: shows @ None, .. }) => *shows = Some(output),
        _ => panic!("line {line}: an output of no command"),
    }
}

/// The first line of `expected` that is not in `output`; each line of it counts once, in any order.
///
/// Two lines are alike when their words are. Numbers, and words with digits, are all alike; so are
/// units of time behind them, and bars do not count. `…` stands for any words.
pub(crate) fn not_shown<'a>(expected: &'a str, output: &str) -> Option<&'a str> {
    let mut lines: Vec<Vec<&str>> = output.lines().map(words).collect();
    expected.lines().find(|line| {
        let pattern = words(line);
        let found = lines.iter().position(|line| is_alike(&pattern, line));
        found.map(|index| lines.remove(index)).is_none()
    })
}

fn words(line: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    for word in line.split_whitespace() {
        if word.chars().all(|letter| ('\u{2580}'..='\u{259f}').contains(&letter)) {
            continue;
        }
        let is_unit = matches!(word, "ns" | "µs" | "ms" | "s") && words.last() == Some(&"0");
        let is_number = word.contains(|letter: char| letter.is_ascii_digit());
        words.push(match word {
            _ if is_number => "0",
            _ if is_unit => "s",
            _ => word,
        });
    }
    words
}

fn is_alike(pattern: &[&str], line: &[&str]) -> bool {
    match pattern {
        [] => line.is_empty(),
        ["…", rest @ ..] => (0..=line.len()).any(|skipped| is_alike(rest, &line[skipped..])),
        [first, rest @ ..] => line.first() == Some(first) && is_alike(rest, &line[1..]),
    }
}

#[test]
fn a_page_is_read_block_by_block() {
    let page =
        "# T\n## One\n```sh\na\nb\n```\nwords\n```text\nseen\n```\n```py file=x.py\nc\n```\n";
    let blocks = blocks(page);
    assert_eq!(blocks.len(), 2);
    assert_eq!(
        (blocks[0].section.as_str(), blocks[0].line, blocks[0].body.as_str()),
        ("One", 3, "a\nb\n")
    );
    assert_eq!(blocks[0].task, Task::Type { again: false, shows: Some("seen\n".into()) });
    assert_eq!(blocks[1].task, Task::WriteFile { name: "x.py".into() });
}

#[test]
fn an_output_shows_the_same_words_with_other_numbers() {
    let output = "  chains  12\n  p99  1.2 ms  ██▌\nlabel a b c end\n";
    assert_eq!(not_shown("p99 345 µs █\nlabel … end\n", output), None);
    assert_eq!(not_shown("chains 1\nlabel b …\n", output), Some("label b …"));
    assert_eq!(not_shown("p99 1 s\nchains 12\np99 1 s\n", output), Some("p99 1 s"), "once");
}
