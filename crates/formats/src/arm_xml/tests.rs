use super::*;
use crate::rows::samples::transaction;
use chronoscope_model::Transaction;
use proptest::prelude::*;

fn read(text: &str) -> Result<Vec<Transaction>, XmlError> {
    Reader::new(text.as_bytes()).collect()
}

fn written(rows: &[Transaction]) -> String {
    let mut writer = Writer::new(Vec::new()).unwrap();
    rows.iter().for_each(|row| writer.write(row).unwrap());
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn document(inside: &str) -> String {
    format!("<armData xmlns=\"{NAMESPACE}\">{inside}</armData>")
}

const ROW: &str = r#"application="A" name="c" startTime="5" responseTime="7" id="1" chain="9""#;

#[test]
fn few_attributes_are_enough_and_unknown_things_are_passed_over() {
    let text = document(&format!(
        "<!-- by hand --><note><deep/></note><transaction {ROW} colour=\"red\"><x>\n</x>\
         <property name=\"k\" value=\"a&#10;b_x0001__x005F_x0002_\"/></transaction>"
    ));
    let rows = read(&text).unwrap();
    assert_eq!((rows.len(), rows[0].elapsed_ns), (1, 7));
    assert_eq!(rows[0].properties, [("k".to_owned(), "a\nb\u{1}_x0002_".to_owned())]);
}

fn error(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn errors_name_the_place() {
    assert_eq!(
        error(&document("<transaction name=\"c\"/>")),
        "byte 43: <transaction>: application: \"\" is not there"
    );
    let bad = document(&format!("<transaction {ROW} level=\"70000\"/>"));
    assert!(error(&bad).ends_with("level: \"70000\" is not a number of 16 bits"));
    assert!(error("<svg xmlns=\"s\"/>").contains("<svg> of the namespace \"s\""));
    assert!(error(&document("words")).contains("found a text, expected an element"));
    assert!(matches!(read("").unwrap_err(), XmlError::Truncated { position: 0 }));
    assert!(matches!(
        read(&document("").replace("</armData>", "")).unwrap_err(),
        XmlError::Truncated { .. }
    ));
    assert!(matches!(read("<a></b>").unwrap_err(), XmlError::Unexpected { .. }));
    assert!(matches!(read(&document("<x></y>")).unwrap_err(), XmlError::Syntax { .. }));
    let twice = document(&format!("<transaction {ROW} id=\"2\"/>"));
    assert!(error(&twice).ends_with("<transaction>: the attribute id is given twice"));
    assert!(matches!(
        read("<?xml version=\"1.0\" encoding=\"latin1\"?><a/>").unwrap_err(),
        XmlError::Encoding { .. }
    ));
}

/// Entities that multiply, external files, endless nesting, endless pieces: each is refused by its
/// name before it costs anything.
#[test]
fn hostile_documents_are_refused_by_name() {
    let laughs = "<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;\">]>";
    let bomb = format!("{laughs}{}", document("&lol2;"));
    assert!(matches!(read(&bomb).unwrap_err(), XmlError::DocumentType { position: 0 }));
    let file = document("<!DOCTYPE a SYSTEM \"file:///etc/passwd\">");
    assert!(matches!(read(&file).unwrap_err(), XmlError::DocumentType { .. }));
    let entity = document(&format!("<transaction {ROW} path=\"&secret;\"/>"));
    assert!(matches!(read(&entity).unwrap_err(), XmlError::Entity { .. }));
    assert!(matches!(read(&document("&lol;")).unwrap_err(), XmlError::Entity { .. }));
    let deep = document(&"<a>".repeat(100_000));
    assert!(matches!(read(&deep).unwrap_err(), XmlError::TooDeep { .. }));
    let many: String = (0..100_000).map(|n| format!(" a{n}=\"\"")).collect();
    let many = document(&format!("<transaction{many}/>"));
    assert!(matches!(
        read(&many).unwrap_err(),
        XmlError::Attributes { .. } | XmlError::TooLong { .. }
    ));
    for endless in ["<!--", "<a b=\"", "x"] {
        let text = document(&format!("{endless}{}", "y".repeat(4 << 20)));
        assert!(matches!(read(&text).unwrap_err(), XmlError::TooLong { .. }), "{endless}");
    }
}

proptest! {
    /// Every field survives writing and reading.
    #[test]
    fn what_is_written_reads_back(rows in prop::collection::vec(transaction(), 0..8)) {
        let text = written(&rows);
        prop_assert_eq!(read(&text).unwrap(), rows, "{}", text);
    }

    #[test]
    fn any_text_in_an_attribute_reads_back(text in "[a_x0-9A-F\u{0}-\u{1f}\u{fffe}&<>\"']{0,20}") {
        let mut written = String::new();
        escape::append(&mut written, &text);
        let rows = read(&document(&format!("<transaction {ROW} path=\"{written}\"/>"))).unwrap();
        prop_assert_eq!(&rows[0].path, &text);
    }
}
