//! The streams of `tests/streams`, cut at every place: an answer does not depend on the pieces in which it comes.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use nb_spec::ProviderSection;
use proptest::prelude::*;
use serde_json::json;

use crate::environment::{Environment, Variable};
use crate::frame::Framing;
use crate::reading::Reading;
use crate::section::Section;
use crate::wire::{Bad, Outgoing, Wire};
use crate::{Answer, Chat, Delta, Turn};
use crate::{anthropic, cohere, google, maritaca, mistral, ollama, openai};

/// A file, and the wire that it is for.
struct Stream {
    name: String,
    bytes: Vec<u8>,
    wire: Box<dyn Wire>,
    outgoing: Outgoing,
    framing: Framing,
}

/// An answer, the error that ended it, and its text as it was handed on.
#[derive(Debug, Clone, PartialEq)]
struct Read {
    answer: Answer,
    error: Option<String>,
    whole: bool,
    told: String,
}

struct Nothing;

impl Environment for Nothing {
    fn variable(&self, _: &str) -> Result<Option<Variable>, String> {
        Ok(None)
    }

    fn file(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("there is no file".to_owned())
    }

    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH
    }

    fn chance(&self) -> f64 {
        0.0
    }
}

fn wire(provider: &str) -> Box<dyn Wire> {
    let credentials = json!({"access-token": "k", "api-key": "k", "service": "generative-language-api"});
    let section: ProviderSection = serde_json::from_value(json!({
        "id": provider, "credentials": credentials, "settings": {"model": "m"}, "options": {"model": "m"},
    }))
    .unwrap();
    let section = Section::new(&section, &Nothing).unwrap();
    let environment: Arc<dyn Environment> = Arc::new(Nothing);
    let parts = match provider {
        "anthropic" => anthropic::new(section),
        "cohere" => cohere::new(section),
        "google" => google::new(section, &environment),
        "maritaca" => maritaca::new(section),
        "mistral" => mistral::new(section),
        "ollama" => ollama::new(section),
        "openai" => openai::new(section),
        other => panic!("there is no provider {other}"),
    };
    parts.unwrap().wire
}

/// The streams of a provider.
fn streams(provider: &str) -> Vec<Stream> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams");
    let mut streams = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().display().to_string();
        if name.split('-').next() != Some(provider) {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let wire = wire(provider);
        let mut chat = Chat { turns: vec![Turn::User("Hi.".to_owned())], ..Chat::default() };
        if name == "maritaca-calls" {
            // Its other interface.
            chat.tools.push(crate::Tool { name: "t".into(), description: String::new(), parameters: None });
        }
        let outgoing = wire.request(&chat, true).unwrap();
        let framing = outgoing.framing.unwrap();
        streams.push(Stream { name, bytes, wire, outgoing, framing });
    }
    assert!(streams.len() > 2, "the streams of {provider} are gone");
    streams
}

impl Stream {
    fn read(&self, pieces: &[&[u8]]) -> Read {
        let mut reading = Reading::new(self.framing, self.wire.reader(&self.outgoing));
        let mut told = String::new();
        let mut on = |delta: Delta<'_>| match delta {
            Delta::Text(text) | Delta::Thinking(text) => told.push_str(text),
        };
        // The end is a piece as well. Nobody reads on behind an error.
        let mut pieces = pieces.iter().copied().map(Some).chain([None]);
        let error =
            pieces.find_map(|piece| reading.take(piece, &mut on).err()).map(|unread| match unread.bad {
                Bad::Malformed(reason) => reason,
                Bad::Refused(refusal) => refusal.message,
            });
        Read { whole: reading.is_whole(), answer: reading.answer(), error, told }
    }
}

/// Every split in two, and the bytes one by one.
fn every_split_reads_alike(provider: &str) {
    for stream in streams(provider) {
        let whole = stream.read(&[&stream.bytes]);
        assert!(whole.whole || whole.error.is_some(), "{} does not end: {whole:?}", stream.name);
        assert_eq!(whole.told, format!("{}{}", whole.answer.thinking, whole.answer.text), "{}", stream.name);
        for at in 0..=stream.bytes.len() {
            let (first, second) = stream.bytes.split_at(at);
            assert_eq!(stream.read(&[first, second]), whole, "{} split at {at}", stream.name);
        }
        let single: Vec<&[u8]> = stream.bytes.chunks(1).collect();
        assert_eq!(stream.read(&single), whole, "{} byte by byte", stream.name);
    }
}

/// Cuts at random; and in events other line ends, and lines that say nothing, between any two lines.
fn every_form_reads_alike(provider: &str) {
    let streams = streams(provider);
    let forms = (0..streams.len(), ends(), prop::collection::vec((0..1000usize, idle()), 0..6), cuts());
    proptest!(ProptestConfig::with_cases(300), |((number, end, idle, cuts) in forms)| {
        let stream = &streams[number];
        let whole = stream.read(&[&stream.bytes]);
        let bytes = match stream.framing {
            Framing::Events => changed(&stream.bytes, end, &idle),
            Framing::Lines => stream.bytes.clone(),
        };
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(stream.read(&pieces), whole, "{}", stream.name);
    });
}

fn ends() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("\n"), Just("\r\n"), Just("\r")]
}

/// Lines that servers and proxies send to keep a connection open.
fn idle() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(":"), Just(": keep-alive"), Just(": PROCESSING"), Just("id: 7"), Just("retry: 5000")]
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..10_000usize, 0..40)
}

/// The same events with other line ends, and idle lines put between its lines.
fn changed(bytes: &[u8], end: &str, idle: &[(usize, &str)]) -> Vec<u8> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    for (place, line) in idle {
        let place = place % (lines.len() + 1);
        lines.insert(place, line);
        // Between two events an idle line may be an event of its own, with nothing in it.
        if place == 0 || lines[place - 1].is_empty() {
            lines.insert(place + 1, "");
        }
    }
    lines.iter().flat_map(|line| [line.as_bytes(), end.as_bytes()].concat()).collect()
}

#[test]
fn a_stream_of_openai_is_read_alike_in_any_pieces() {
    every_split_reads_alike("openai");
    every_form_reads_alike("openai");
}

#[test]
fn a_stream_of_anthropic_is_read_alike_in_any_pieces() {
    every_split_reads_alike("anthropic");
    every_form_reads_alike("anthropic");
}

#[test]
fn a_stream_of_cohere_is_read_alike_in_any_pieces() {
    every_split_reads_alike("cohere");
    every_form_reads_alike("cohere");
}

#[test]
fn a_stream_of_google_is_read_alike_in_any_pieces() {
    every_split_reads_alike("google");
    every_form_reads_alike("google");
}

#[test]
fn a_stream_of_mistral_is_read_alike_in_any_pieces() {
    every_split_reads_alike("mistral");
    every_form_reads_alike("mistral");
}

#[test]
fn a_stream_of_ollama_is_read_alike_in_any_pieces() {
    every_split_reads_alike("ollama");
    every_form_reads_alike("ollama");
}

#[test]
fn a_stream_of_maritaca_is_read_alike_in_any_pieces() {
    every_split_reads_alike("maritaca");
    every_form_reads_alike("maritaca");
}
