//! What to do about a name that is not there.

use super::mangling;
use super::mention::{MAX_CHAIN, beside, chain_start, is_beside, is_separator};
use super::names::{ability, absent, globals, is_about_sandbox, table};
use super::token::{Kind, Token};
use super::variable::{Use, Variable};
use super::{Place, Ran};
use crate::source::Lang;

/// The longest name that is compared with others, in bytes: the work grows with its square.
const MAX_COMPARED: usize = 60;

/// The hint for a variable that is nil and is mentioned by these tokens.
pub(super) fn hint(
    variable: &Variable<'_>,
    place: &Place<'_>,
    tokens: &[Token<'_>],
    mentions: &[usize],
) -> Option<String> {
    let (lang, ran) = (place.lang, place.ran);
    if variable.name == "for iterator" {
        return Some(loop_hint(variable).to_owned());
    }
    if !variable.is_nil {
        return None;
    }
    let paths: Vec<Path<'_>> = mentions.iter().map(|index| Path::around(tokens, *index)).collect();
    let path = paths.first().filter(|first| paths.iter().all(|path| path == *first));
    match variable.kind {
        "global" => {
            let name = mangling::global(variable.name);
            let alone = || Path { names: vec![&name], at: 0 };
            of_global(&path.cloned().unwrap_or_else(alone), place, tokens)
        }
        "local" | "upvalue" => {
            let name = mentions
                .first()
                .and_then(|index| tokens.get(*index))
                .map_or(variable.name, |token| token.text);
            let mut names = alias(lang, tokens, name)?;
            if let [_] = names.as_slice() {
                names.extend(path.and_then(|path| path.names.get(1..)).unwrap_or_default());
                return absent_hint(&names, ran);
            }
            of_field(&names, names.len() - 1, ran)
        }
        "field" | "method" => {
            let path = path?;
            let names = match path.names.split_first()? {
                (first, rest) if declared(lang, tokens).contains(first) => {
                    let Some(mut names) = alias(lang, tokens, first) else {
                        return is_nil(path).filter(|_| variable.used == Use::Index);
                    };
                    names.extend(rest);
                    names
                }
                _ => path.names.clone(),
            };
            let known = of_field(&names, names.len().checked_sub(path.names.len() - path.at)?, ran);
            known.or_else(|| is_nil(path).filter(|_| variable.used == Use::Index))
        }
        _ => None,
    }
}

fn loop_hint(variable: &Variable<'_>) -> &'static str {
    match variable.used {
        Use::Call if variable.kind == "function" => {
            "The loop goes over the value in `pairs` or `ipairs`, which must be a table."
        }
        _ => "A loop needs `pairs(…)` or `ipairs(…)` behind `in`, to go over a table.",
    }
}

/// The hint for a value without a name: `ipairs(nil)` fails inside of itself.
pub(super) fn of_nameless(message: &str, tokens: &[Token<'_>], line: u32) -> Option<String> {
    let goes_over = || tokens.iter().any(|token| token.line == line && token.is(&["ipairs"]));
    (message == "attempt to index a nil value" && goes_over())
        .then(|| "The loop goes over the value in `ipairs`, which is nil and must be a table.".to_owned())
}

/// The hint for an ability that was asked for by the name of its function in `nb`.
pub(super) fn of_ability(message: &str) -> Option<String> {
    let name = message.strip_prefix("there is no ability `")?.strip_suffix("` here")?;
    Some(format!("The ability is `{}`; `nb.{name}` is short for it.", ability(name)?))
}

/// The hint for a name that Fennel's compiler does not find.
pub(super) fn of_unknown(message: &str, ran: Ran) -> Option<String> {
    let (_, name) = message.split_once("unknown identifier: ")?;
    let name = name.split_whitespace().next()?;
    absent_hint(&name.split('.').collect::<Vec<_>>(), ran)
}

/// `a.b.c` as it is written, and which part of it failed.
#[derive(Debug, Clone, PartialEq)]
struct Path<'a> {
    names: Vec<&'a str>,
    at: usize,
}

impl<'a> Path<'a> {
    fn around(tokens: &[Token<'a>], index: usize) -> Self {
        let start = chain_start(tokens, index);
        Self { names: chain(tokens, start), at: (index - start) / 2 }
    }
}

/// The names of `a.b.c` from its beginning on.
fn chain<'a>(tokens: &[Token<'a>], start: usize) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut index = start;
    while let Some(token) = tokens.get(index).filter(|token| token.kind == Kind::Name) {
        names.push(token.text);
        if names.len() > MAX_CHAIN || !is_separator(tokens, index, 1) {
            break;
        }
        index += 2;
    }
    names
}

/// The whole of `a.b` that is nil: the message has its last name alone.
fn is_nil(path: &Path<'_>) -> Option<String> {
    let (nil, behind) = path.names.split_at_checked(path.at + 1)?;
    let written = nil.join(".");
    Some(match behind.first() {
        Some(field) => format!("`{written}` is nil, so it has no `{field}`."),
        None => format!("`{written}` is nil."),
    })
}

fn of_global(path: &Path<'_>, place: &Place<'_>, tokens: &[Token<'_>]) -> Option<String> {
    if let Some(hint) = absent_hint(&path.names, place.ran) {
        return Some(hint);
    }
    let name = path.names.first()?;
    let candidates = globals().into_iter().chain(declared(place.lang, tokens));
    match nearest(name, candidates) {
        Some(nearest) => Some(format!("There is no variable `{name}`. Did you mean `{nearest}`?")),
        // The message names it as Fennel translated it.
        None if !is_name_in_lua(name) => Some(format!("There is no variable `{name}`.")),
        None => None,
    }
}

fn of_field(names: &[&str], at: usize, ran: Ran) -> Option<String> {
    if let (["_G", rest @ ..], true) = (names, at > 0) {
        return if at == 1 { absent_hint(rest, ran) } else { of_field(rest, at - 1, ran) };
    }
    let parent = names.get(..at)?.join(".");
    let field = names.get(at)?;
    let fields = table(&parent)?;
    if fields.contains(field) {
        return None;
    }
    if let Some(hint) = absent_hint(names, ran).filter(|_| at == 1) {
        return Some(hint);
    }
    Some(match nearest(field, fields.iter().copied()) {
        Some(nearest) => format!("`{parent}` has no `{field}`. Did you mean `{parent}.{nearest}`?"),
        None => format!("`{parent}` has no `{field}`. It has {}.", list(&fields)),
    })
}

fn absent_hint(names: &[&str], ran: Ran) -> Option<String> {
    let words = absent(names).filter(|words| ran == Ran::Sandboxed || !is_about_sandbox(words))?;
    let written = names.get(..names.len().min(2))?.join(".");
    Some(format!("`{written}` {words}"))
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn is_name_in_lua(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The candidate that `word` was probably meant to be: another case, or at most two slips away and less than a third
/// of the word.
fn nearest<'c>(word: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    if word.len() > MAX_COMPARED {
        return None;
    }
    let distance = |candidate: &str| match candidate.eq_ignore_ascii_case(word) {
        true => 0,
        false => strsim::osa_distance(word, candidate),
    };
    candidates
        .filter(|candidate| *candidate != word && candidate.len().abs_diff(word.len()) <= 2)
        .map(|candidate| (distance(candidate), candidate))
        .filter(|(distance, _)| *distance <= 2 && distance * 3 <= word.len())
        .min()
        .map(|(_, candidate)| candidate)
}

/// The names that the source gives to local variables, functions and their parameters.
fn declared<'a>(lang: Lang, tokens: &[Token<'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut declaring = false;
    for (index, token) in tokens.iter().enumerate() {
        let is_declared = match lang {
            Lang::Lua => {
                let begins = token.is(&["local", "function", "for"]);
                let goes_on = token.kind == Kind::Name || token.is(&[",", "(", ".", ":"]);
                declaring = begins || (declaring && goes_on && !token.is(&["in"]));
                declaring && !begins
            }
            Lang::Fennel => {
                let begins = token.is(&["["]);
                declaring = begins || (declaring && !token.is(&["]", "("]));
                let follows = is_beside(tokens, index, -1, &["local", "var", "global", "fn", "lambda", "λ"]);
                declaring || follows
            }
        };
        let is_whole = !is_separator(tokens, index, -1) && !is_separator(tokens, index, 1);
        if is_declared && is_whole && token.kind == Kind::Name {
            names.push(token.text);
        }
    }
    names
}

/// What a local variable is another name of, after `local kv = nb.kv`. `None` when it is declared in another way, or
/// more than once.
fn alias<'a>(lang: Lang, tokens: &[Token<'a>], name: &str) -> Option<Vec<&'a str>> {
    let mut values = (0..tokens.len()).filter_map(|index| {
        let is_name = tokens.get(index)?.is(&[name]) && tokens.get(index)?.kind == Kind::Name;
        let start = match lang {
            Lang::Lua => (is_beside(tokens, index, -1, &["local"]) && is_beside(tokens, index, 1, &["="]))
                .then_some(index + 2),
            Lang::Fennel => {
                let in_let = is_beside(tokens, index, -1, &["["]) && is_beside(tokens, index, -2, &["let"]);
                (in_let || is_beside(tokens, index, -1, &["local", "var"])).then_some(index + 1)
            }
        };
        start.filter(|_| is_name)
    });
    let start = values.next()?;
    let is_only = declared(lang, tokens).iter().filter(|declared| **declared == name).count() <= 1;
    let names = chain(tokens, start);
    let behind = beside(tokens, start + (2 * names.len()).checked_sub(1)?, 0);
    let is_whole = match (lang, behind) {
        (_, None) => true,
        (Lang::Lua, Some(token)) => {
            token.is(&[";"]) || (token.kind == Kind::Name && !token.is(&["and", "or"]))
        }
        (Lang::Fennel, Some(_)) => true,
    };
    (is_only && is_whole && values.next().is_none()).then_some(names)
}
