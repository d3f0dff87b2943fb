//! What a component answers, and what it hands to the host's functions.
//!
//! The input is a text with one step in a line; other lines are passed over. A number is decimal or hexadecimal.
//!
//! | step | |
//! |---|---|
//! | `encoding utf8`, `utf16`, `latin1` | of its strings |
//! | `variables N` | it is called with N bytes |
//! | `answer TEXT`, `refusal TEXT`, `long-answer N` | what the host says next to `invoke` |
//! | `text ADDRESS TEXT` | writes the bytes of the text |
//! | `return ADDRESS` | ends: the answer lies there |
//! | `store8 ADDRESS VALUE`, `store32 ADDRESS VALUE` | |
//! | `log ADDRESS LENGTH` | |
//! | `invoke ADDRESS LENGTH ADDRESS LENGTH ADDRESS` | ability, arguments, and where the answer is written |
//! | `grow PAGES`, `realloc ADDRESS` | its memory; what its next allocation answers, where 1 never ends |
//! | `now`, `spin`, `recurse`, `trap` | |

use std::iter;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use nb_sandbox::{ComponentTool, Limits, ToolError};

use super::host::Answers;
use super::watch::{self, CHECK_EVERY, sandbox};

const ENCODINGS: [(&str, &str); 3] = [
    ("utf8", "string-encoding=utf8"),
    ("utf16", "string-encoding=utf16"),
    ("latin1", "string-encoding=latin1+utf16"),
];

/// The steps in the order of the component's table, each with the count of its numbers.
const STEPS: [(&str, usize); 11] = [
    ("return", 1),
    ("store8", 2),
    ("store32", 2),
    ("log", 2),
    ("invoke", 5),
    ("grow", 1),
    ("realloc", 1),
    ("now", 0),
    ("spin", 0),
    ("recurse", 0),
    ("trap", 0),
];

const STORE8: u64 = 1;

/// The longest texts that are made of a number.
const MAX_LENGTH: u64 = 1 << 20;

pub fn run(input: &[u8]) {
    static INPUTS: AtomicU64 = AtomicU64::new(0);
    if INPUTS.fetch_add(1, Ordering::Relaxed).is_multiple_of(CHECK_EVERY) {
        a_good_answer_is_read();
    }
    // What comes of it may be anything; the promises are checked there.
    let _ = Plan::parse(&String::from_utf8_lossy(input)).run();
}

struct Plan {
    encoding: usize,
    variables: usize,
    answers: Answers,
}

impl Plan {
    fn parse(text: &str) -> Self {
        let mut plan = Self { encoding: 0, variables: 2, answers: Answers::default() };
        for line in text.lines() {
            plan.read(line);
        }
        plan
    }

    fn read(&mut self, line: &str) {
        let (step, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbers = || rest.split_whitespace().map_while(number);
        let length = || numbers().next().unwrap_or_default().min(MAX_LENGTH) as usize;
        match step {
            "encoding" => self.encoding = ENCODINGS.iter().position(|(name, _)| *name == rest).unwrap_or(0),
            "variables" => self.variables = length(),
            "answer" => self.answers.invoke.push_back(Ok(rest.into())),
            "refusal" => self.answers.invoke.push_back(Err(rest.into())),
            "long-answer" => self.answers.invoke.push_back(Ok("x".repeat(length()))),
            "text" => {
                let Some((address, text)) = rest.split_once(' ') else { return };
                let Some(address) = number(address) else { return };
                for (at, byte) in (0..).zip(text.bytes()) {
                    self.answers.random.extend([STORE8, address.wrapping_add(at), u64::from(byte)]);
                }
            }
            _ => {
                let Some(at) = STEPS.iter().position(|(name, _)| *name == step) else { return };
                self.answers.random.push_back(at as u64);
                self.answers.random.extend(numbers().chain(iter::repeat(0)).take(STEPS[at].1));
            }
        }
    }

    fn run(self) -> Result<String, ToolError> {
        // A component counts instructions, and asks its host for each of its steps.
        let limits = Limits { fuel: 4_000_000, host_calls: 2_000, ..watch::limits() };
        let variables = " ".repeat(self.variables);
        watch::run_within(limits, TOOLS[self.encoding].clone(), &variables, self.answers).0
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse::<u64>().ok().or_else(|| text.parse::<i64>().ok().map(i64::cast_unsigned)),
    }
}

static TOOLS: LazyLock<Vec<ComponentTool>> = LazyLock::new(|| {
    let load = |(name, encoding)| {
        let text = include_str!("component.wat").replace("STRING_ENCODING", encoding);
        let wasm = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}"));
        sandbox().load_component(name, &wasm).unwrap_or_else(|error| panic!("{error}"))
    };
    ENCODINGS.map(load).to_vec()
});

fn a_good_answer_is_read() {
    let good = include_str!("../../../fuzz/seeds/component/good");
    assert_eq!(Plan::parse(good).run(), Ok(r#"{"a": 1}"#.to_owned()));
}
