//! Filters as clients have them: by first letter r 55 %, a 23 %, b 8 %, p 8 %, t 6 %; every eighth
//! with more terms, every sixteenth with one that takes something out again.

use crate::packets::place;
use chronoscope_statistics::Random;

/// Makes `count` filters, from a fixed seed.
pub(crate) fn mixed(count: usize) -> Vec<String> {
    let mut random = Random(23);
    (0..count).map(|_| filter(&mut random)).collect()
}

fn filter(random: &mut Random) -> String {
    let mut text = term(random);
    if random.below(8) == 0 {
        for _ in 0..2 + random.below(2) {
            text.push(' ');
            text.push_str(&term(random));
        }
    }
    if random.below(16) == 0 {
        text.push_str(" -t/t");
    }
    text
}

fn term(random: &mut Random) -> String {
    let (latitude, longitude) = place(random);
    let call = |random: &mut Random| {
        let letter = |value: u64| char::from(b'A' + u8::try_from(value % 26).unwrap_or(0));
        let (a, b, digit) = (letter(random.bits()), letter(random.bits()), random.below(10));
        let (c, d, e) = (letter(random.bits()), letter(random.bits()), letter(random.bits()));
        format!("{a}{b}{digit}{c}{d}{e}")
    };
    match random.below(100) {
        0..55 => format!("r/{latitude:.2}/{longitude:.2}/{}", 30 + random.below(220)),
        55..78 => {
            let (north, west) = (latitude + 1.0, longitude - 1.5);
            format!("a/{north:.2}/{west:.2}/{:.2}/{:.2}", north - 2.0, west + 3.0)
        }
        78..86 => (0..9).fold("b".to_owned(), |text, _| format!("{text}/{}", call(random))),
        86..94 => (0..3).fold("p".to_owned(), |text, _| format!("{text}/{}", &call(random)[..2])),
        _ => ["t/m", "t/w", "t/o", "t/s"][usize::try_from(random.below(4)).unwrap_or(0)].to_owned(),
    }
}
