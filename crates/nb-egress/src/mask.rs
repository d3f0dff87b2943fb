//! Hides the values of secrets in what comes back.
//!
//! Masked as `***`: the value; its percent-encoded and JSON-escaped forms, also partly encoded; its base64, in
//! both alphabets and at any place inside of a longer text (`Basic` authorization encodes `user:value`); all of
//! that in any mixture of upper and lower case, because hosts and header names come back in lower case. At the end of a
//! text the beginning of a value counts too, from [`SHORTEST`] bytes on: a connection may have broken inside of it.
//!
//! This protects against services that echo what they got. It cannot protect against one that means harm: that
//! one has the secret already. Values under [`SHORTEST`] bytes are left: they occur in ordinary text, and a mask
//! at each place would both spoil the text and tell the value.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::SecretValue;

/// Values with fewer bytes are not masked. Passwords and keys that are worth the name are longer.
pub const SHORTEST: usize = 8;

const MASK: &[u8] = b"***";

/// Values to hide. Cheap to clone.
#[derive(Clone, Default)]
pub struct Mask {
    /// Indexed by byte: the needles that can begin with it, plain or encoded.
    begins: Arc<[Vec<Arc<[u8]>>]>,
    /// A bit for each two bytes that a needle can begin with: answers have megabytes, and nearly none of them do.
    pairs: Arc<[u64]>,
}

impl Mask {
    /// Hides these values. Those under [`SHORTEST`] bytes are left.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v SecretValue>) -> Self {
        let mut needles: Vec<Vec<u8>> = Vec::new();
        for value in values {
            let value = value.as_bytes();
            if value.len() >= SHORTEST {
                needles.push(value.to_vec());
                needles.extend(base64_forms(value));
            }
        }
        needles.sort_unstable();
        needles.dedup();
        let mut begins = vec![Vec::new(); 256];
        for needle in &needles {
            let shared: Arc<[u8]> = needle.as_slice().into();
            for byte in forms(needle.first()) {
                if let Some(entry) = begins.get_mut(usize::from(byte)) {
                    entry.push(shared.clone());
                }
            }
        }
        let mut pairs = vec![0_u64; if needles.is_empty() { 0 } else { (1 << 16) / 64 }];
        for needle in &needles {
            for first in forms(needle.first()) {
                for second in seconds(first, needle) {
                    let at = usize::from(first) << 8 | usize::from(second);
                    if let Some(bits) = pairs.get_mut(at / 64) {
                        *bits |= 1 << (at % 64);
                    }
                }
            }
        }
        Self { begins: begins.into(), pairs: pairs.into() }
    }

    /// The same bytes with `***` in place of each value.
    pub fn bytes(&self, text: Vec<u8>) -> Vec<u8> {
        let mut masked = Vec::new();
        let mut copied = 0;
        let mut at = 0;
        while let Some((found, end)) = self.next(&text, at) {
            masked.extend_from_slice(text.get(copied..found).unwrap_or_default());
            masked.extend_from_slice(MASK);
            copied = end;
            at = end;
        }
        if copied == 0 {
            return text;
        }
        masked.extend_from_slice(text.get(copied..).unwrap_or_default());
        masked
    }

    /// The same text with `***` in place of each value.
    pub fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes().to_vec())).into_owned()
    }

    /// The next place where a needle stands, as (begin, end). Of several at one place the longest counts. So does the
    /// beginning of one that the end of the text cuts off.
    fn next(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let mut begin = self.candidate(text, from)?;
        loop {
            let rest = text.get(begin..)?;
            if let Some(length) = self.longest_at(rest) {
                return Some((begin, begin + length));
            }
            if rest.len() >= SHORTEST && self.may_go_on(rest) {
                return Some((begin, text.len()));
            }
            begin = self.candidate(text, begin + 1)?;
        }
    }

    /// The next place at which a needle can begin, as far as two bytes tell.
    fn candidate(&self, text: &[u8], from: usize) -> Option<usize> {
        if self.pairs.is_empty() {
            return None;
        }
        let rest = text.get(from..)?;
        let fits = |pair: &[u8]| match pair {
            [first, second] => {
                let at = usize::from(*first) << 8 | usize::from(*second);
                self.pairs.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
            }
            _ => false,
        };
        let last = rest.len().checked_sub(1);
        rest.windows(2).position(fits).or(last).map(|offset| from + offset)
    }

    /// The length of the longest needle that stands at the beginning of `text`.
    fn longest_at(&self, text: &[u8]) -> Option<usize> {
        let needles = self.begins.get(usize::from(*text.first()?))?;
        needles
            .iter()
            .filter_map(|needle| match standing_at(needle, text, false) {
                Standing::Whole(length) => Some(length),
                Standing::Part | Standing::No => None,
            })
            .max()
    }

    /// Whether more text could make a needle, or a longer one, of all that is there.
    fn may_go_on(&self, text: &[u8]) -> bool {
        let needles = text.first().and_then(|byte| self.begins.get(usize::from(*byte)));
        needles.is_some_and(|needles| {
            needles.iter().any(|needle| matches!(standing_at(needle, text, true), Standing::Part))
        })
    }
}

/// A text that arrives in pieces, masked as if it came in one. What may be the beginning of a value is held back until
/// more has come.
#[derive(Default)]
pub struct MaskedPieces {
    held: String,
}

impl MaskedPieces {
    /// What of the text can be told, now that this piece is there.
    pub fn push(&mut self, mask: &Mask, piece: &str) -> String {
        self.held.push_str(piece);
        let text = self.held.as_bytes();
        let mut told = Vec::with_capacity(text.len());
        let mut at = 0;
        loop {
            let begin = mask.candidate(text, at).unwrap_or(text.len());
            told.extend_from_slice(text.get(at..begin).unwrap_or_default());
            at = begin;
            let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty() && !mask.may_go_on(rest)) else {
                break;
            };
            match mask.longest_at(rest) {
                Some(length) => {
                    told.extend_from_slice(MASK);
                    at += length;
                }
                None => {
                    told.extend(rest.first());
                    at += 1;
                }
            }
        }
        // A value begins and ends with a whole character.
        self.held = self.held.get(at..).unwrap_or_default().to_owned();
        String::from_utf8_lossy(&told).into_owned()
    }

    /// The rest, when nothing more comes.
    pub fn end(&mut self, mask: &Mask) -> String {
        mask.text(&std::mem::take(&mut self.held))
    }
}

/// The bytes that can stand for one of a needle: itself in both cases, and what begins an escape.
fn forms(byte: Option<&u8>) -> Vec<u8> {
    let Some(byte) = byte else { return Vec::new() };
    let mut forms = vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase(), b'%', b'\\', b'+'];
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// The bytes that can follow such a first one: any, inside of an escape.
fn seconds(first: u8, needle: &[u8]) -> Vec<u8> {
    match first {
        b'%' | b'\\' | b'+' => (0..=u8::MAX).collect(),
        _ => forms(needle.get(1)),
    }
}

/// How a needle stands at the beginning of a text.
enum Standing {
    /// It takes so many bytes.
    Whole(usize),
    /// The text ends inside of it.
    Part,
    No,
}

/// How the needle stands at the beginning of `text`, plain or encoded. Where more of the text may come, a `%` at its end
/// may be an escape that is cut.
fn standing_at(needle: &[u8], text: &[u8], more: bool) -> Standing {
    if !more && text.get(..needle.len()).is_some_and(|plain| plain.eq_ignore_ascii_case(needle)) {
        return Standing::Whole(needle.len());
    }
    let mut used = 0;
    for wanted in needle {
        let rest = text.get(used..).unwrap_or_default();
        if more && (rest.is_empty() || is_cut(rest)) {
            return Standing::Part;
        }
        let same = || rest.first().is_some_and(|byte| byte.eq_ignore_ascii_case(wanted));
        match encoded(rest, *wanted).or_else(|| same().then_some(1)) {
            Some(length) => used += length,
            None => return Standing::No,
        }
    }
    Standing::Whole(used)
}

/// Whether a text ends inside of an escape.
fn is_cut(rest: &[u8]) -> bool {
    match rest {
        [b'%', ..] => rest.len() < 3,
        [b'\\'] => true,
        [b'\\', b'u', ..] => rest.len() < 6,
        _ => false,
    }
}

/// The length of an escape for this byte at the beginning of `rest`.
fn encoded(rest: &[u8], wanted: u8) -> Option<usize> {
    let same = |byte: u8| byte.eq_ignore_ascii_case(&wanted);
    match rest {
        [b'%', high, low, ..] if hex(*high, *low).is_some_and(same) => Some(3),
        [b'\\', b'u', b'0', b'0', high, low, ..] if hex(*high, *low).is_some_and(same) => Some(6),
        [b'\\', b'n', ..] if wanted == b'\n' => Some(2),
        [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] if *byte == wanted => Some(2),
        [b'+', ..] if wanted == b' ' => Some(1),
        _ => None,
    }
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// The base64 of a value, whole, and as it stands inside of a longer text's base64: the characters that depend
/// on the value alone, for each of the three ways in which it can be aligned.
fn base64_forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![STANDARD.encode(value).into_bytes()];
    for alphabet in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        forms.push(alphabet.encode(value).into_bytes());
        for (before, mixed) in [(0, 0), (1, 2), (2, 3)] {
            let mut aligned = vec![0; before];
            aligned.extend_from_slice(value);
            let whole = aligned.len() * 8 / 6;
            let text = alphabet.encode(&aligned);
            forms.extend(text.as_bytes().get(mixed..whole).map(<[u8]>::to_vec));
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(values: &[&str]) -> Mask {
        let values: Vec<SecretValue> = values.iter().map(|value| (*value).into()).collect();
        Mask::new(&values)
    }

    #[test]
    fn a_value_is_masked_wherever_it_stands() {
        let mask = mask(&["hunter2-hunter2"]);
        assert_eq!(mask.text("hunter2-hunter2"), "***");
        assert_eq!(mask.text("a hunter2-hunter2, hunter2-hunter2hunter2-hunter2."), "a ***, ******.");
        assert_eq!(mask.text("HUNTER2-hunter2.evil.example"), "***.evil.example");
        assert_eq!(mask.text("hunter2-hunter of it"), "hunter2-hunter of it");
        assert_eq!(mask.text("and hunter2-hunter"), "and ***", "cut off by the end");
        assert_eq!(mask.text("and hunter2"), "and hunter2");
        assert_eq!(mask.text(""), "");
    }

    #[test]
    fn bytes_that_are_not_text_are_masked_and_kept() {
        let masked = mask(&["hunter2-hunter2"]).bytes(b"\xff\x00hunter2-hunter2\xfe".to_vec());
        assert_eq!(masked, b"\xff\x00***\xfe");
    }

    #[test]
    fn percent_encoded_values_are_masked_however_much_is_encoded() {
        let mask = mask(&["p@ss word/100%"]);
        for text in [
            "p@ss word/100%",
            "p%40ss%20word%2F100%25",
            "p%40ss%20word%2f100%25",
            "p%40ss+word/100%25",
            "%70%40%73%73%20%77%6f%72%64%2F%31%30%30%25",
        ] {
            assert_eq!(mask.text(&format!("?q={text}&x=1")), "?q=***&x=1", "{text}");
        }
    }

    #[test]
    fn a_value_with_percent_signs_of_its_own_is_masked() {
        let mask = mask(&["ab%25cd%41ef"]);
        assert_eq!(mask.text("ab%25cd%41ef"), "***");
        assert_eq!(mask.text("ab%2525cd%2541ef"), "***");
    }

    #[test]
    fn json_escapes_are_masked() {
        let mask = mask(&["a\"b\\c/d<e&f\ng"]);
        assert_eq!(mask.text(r#"{"k":"a\"b\\c/d<e&f\ng"}"#), r#"{"k":"***"}"#);
        assert_eq!(mask.text(r#"{"k":"a\u0022b\u005Cc\/d\u003ce\u0026f\u000ag"}"#), r#"{"k":"***"}"#);
    }

    #[test]
    fn base64_is_masked_in_both_alphabets_and_at_each_alignment() {
        let value = "s3cr\u{ff}\u{fe}t~~~?value";
        let mask = mask(&[value]);
        for before in ["", "u", "us", "user:"] {
            for after in ["", "x", "xy", "xyz"] {
                let text = format!("{before}{value}{after}");
                for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                    let masked = mask.text(&encoded);
                    assert!(masked.contains("***"), "{text}: {encoded} → {masked}");
                    // A few bits at the edges depend on the neighbours; no more than that stays.
                    let kept = masked.replace("***", "").len();
                    assert!(kept <= (before.len() + after.len()).div_ceil(3) * 4 + 6, "{encoded} → {masked}");
                }
            }
        }
        assert_eq!(mask.text(&STANDARD.encode(value)), "***");
        let in_query = STANDARD.encode(value).replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        assert_eq!(mask.text(&in_query), "***");
    }

    #[test]
    fn the_longest_of_two_values_at_one_place_is_masked() {
        assert_eq!(mask(&["password", "password-and-more"]).text("password-and-more password"), "*** ***");
    }

    #[test]
    fn a_value_under_eight_bytes_is_left() {
        assert_eq!(mask(&["1234567"]).text("1234567"), "1234567");
        assert_eq!(mask(&["12345678"]).text("12345678"), "***");
    }

    #[test]
    fn a_value_is_masked_however_the_text_is_cut() {
        let mask = mask(&["hunter2-hunter2", "hunter2-hunter2-and-more", "p@ss word/100%"]);
        for text in [
            "a hunter2-hunter2, hunter2-hunter2hunter2-hunter2.",
            "hunter2-hunter2-and-mor",
            "hunter2-hunter2-and-more",
            "hunthunter2-hunter2",
            "ä p%40ss%20word%2f100%25 é \\ % %4",
            "aHVudGVyMi1odW50ZXIy",
            "",
        ] {
            let whole = mask.text(text);
            let cuts: Vec<usize> = (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)).collect();
            for first in &cuts {
                for second in cuts.iter().filter(|second| *second >= first) {
                    let mut pieces = MaskedPieces::default();
                    let mut told = String::new();
                    for piece in [&text[..*first], &text[*first..*second], &text[*second..]] {
                        told += &pieces.push(&mask, piece);
                    }
                    told += &pieces.end(&mask);
                    assert_eq!(told, whole, "{text} cut at {first} and {second}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_become_a_value_is_told_at_once() {
        let mask = mask(&["hunter2-hunter2"]);
        let mut pieces = MaskedPieces::default();
        assert_eq!(pieces.push(&mask, "a hunt"), "a ");
        assert_eq!(pieces.push(&mask, "ing"), "hunting");
    }
}
