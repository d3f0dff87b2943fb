//! Where a source mentions the variable of a message.

use super::mangling;
use super::token::{Kind, Token};
use super::variable::{Use, Variable};
use crate::source::Lang;

/// How many are looked for: more than one is uncertain already, and a source can have any number of them.
const MAX_MENTIONS: usize = 8;

/// The most names of `a.b.c` that are looked at. No table of the sandbox is deeper than two.
pub(super) const MAX_CHAIN: usize = 8;

/// The longest name that is looked for, in bytes: nobody writes a longer one.
const MAX_NAME: usize = 200;

/// The tokens, by index, that can be what failed in that line. More than one means that it is not certain which.
pub(super) fn mentions(variable: &Variable<'_>, lang: Lang, tokens: &[Token<'_>], line: u32) -> Vec<usize> {
    if variable.name.len() > MAX_NAME {
        return Vec::new();
    }
    match lang {
        Lang::Lua => {
            let fitting = (0..tokens.len()).filter(|index| fits_lua(variable, tokens, *index, line));
            fitting.take(MAX_MENTIONS).collect()
        }
        Lang::Fennel => in_form(variable, tokens, line),
    }
}

/// The token that many places behind `index`, or in front of it.
pub(super) fn beside<'t, 'a>(tokens: &'t [Token<'a>], index: usize, places: isize) -> Option<&'t Token<'a>> {
    tokens.get(index.checked_add_signed(places)?)
}

/// Whether the token beside `index` is one of these.
pub(super) fn is_beside(tokens: &[Token<'_>], index: usize, places: isize, texts: &[&str]) -> bool {
    beside(tokens, index, places).is_some_and(|token| token.is(texts))
}

/// Where `a.b.c` begins that the token at `index` is a part of.
pub(super) fn chain_start(tokens: &[Token<'_>], mut index: usize) -> usize {
    let is_name = |index: usize| beside(tokens, index, -2).is_some_and(|token| token.kind == Kind::Name);
    for _ in 0..MAX_CHAIN {
        if !(is_separator(tokens, index, -1) && is_name(index)) {
            break;
        }
        index -= 2;
    }
    index
}

/// Whether a `.` or `:` between two names is beside `index`.
pub(super) fn is_separator(tokens: &[Token<'_>], index: usize, places: isize) -> bool {
    beside(tokens, index, places).is_some_and(|token| token.kind == Kind::Mark && token.is(&[".", ":"]))
}

/// Whether the token has the variable's name and is used as the message says, by its neighbours. A neighbour may be
/// what stands in the line: Lua reports the line of an operator.
fn fits_lua(variable: &Variable<'_>, tokens: &[Token<'_>], index: usize, line: u32) -> bool {
    let Some(token) = tokens.get(index) else { return false };
    let is_key = variable.kind == "field"
        && is_beside(tokens, index, -1, &["["])
        && is_beside(tokens, index, 1, &["]"]);
    let has_name = match token.kind {
        Kind::Text => token.content() == Some(variable.name) && (is_key || variable.kind == "constant"),
        Kind::Name if token.text == variable.name => match variable.kind {
            "field" => is_beside(tokens, index, -1, &["."]),
            "method" => is_beside(tokens, index, -1, &[":"]),
            "function" => true,
            _ => variable.is_plain() && !is_separator(tokens, index, -1),
        },
        _ => false,
    };
    if !has_name {
        return false;
    }
    let behind = beside(tokens, index, if token.kind == Kind::Text && is_key { 2 } else { 1 });
    let ahead = beside(tokens, chain_start(tokens, index), -1);
    let is = |token: Option<&Token<'_>>, texts: &[&str]| token.is_some_and(|token| token.is(texts));
    let is_called = is(behind, &["(", "{"]) || behind.is_some_and(|token| token.kind == Kind::Text);
    let is_indexed = is(behind, &[".", "[", ":"]);
    let is_used = match variable.used {
        Use::Index => is_indexed,
        Use::Call => is_called,
        _ if is_called || is_indexed => false,
        Use::Length => is(ahead, &["#"]),
        Use::Operand(operators) => is(ahead, operators) || is(behind, operators),
    };
    is_used && [Some(token), ahead, behind].into_iter().flatten().any(|token| token.line == line)
}

/// The mentions in the line and in the rest of the forms that begin in it: Fennel may report a form's first line.
fn in_form(variable: &Variable<'_>, tokens: &[Token<'_>], line: u32) -> Vec<usize> {
    let (mut certain, mut possible) = (Vec::new(), Vec::new());
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip_while(|(_, token)| token.line < line) {
        let enough = certain.len().max(possible.len()) == MAX_MENTIONS;
        if enough || (token.line > line && depth == 0) {
            break;
        }
        if token.is(&["(", "[", "{"]) {
            depth += 1;
        } else if token.is(&[")", "]", "}"]) {
            depth = depth.saturating_sub(1);
        } else if has_name_in_fennel(variable, tokens, index) {
            match is_used_in_fennel(variable, tokens, index) {
                Some(true) => certain.push(index),
                Some(false) => {}
                None => possible.push(index),
            }
        }
    }
    if certain.is_empty() { possible } else { certain }
}

fn has_name_in_fennel(variable: &Variable<'_>, tokens: &[Token<'_>], index: usize) -> bool {
    let Some(token) = tokens.get(index) else { return false };
    let name = variable.name;
    let is_part = is_separator(tokens, index, -1);
    match (variable.kind, token.kind) {
        ("field" | "method" | "constant", Kind::Text) => token.content() == Some(name),
        ("field" | "method", Kind::Name) => is_part && token.text == name,
        ("function", Kind::Name) => token.text == name || (!is_part && mangling::is_local(token.text, name)),
        ("global", Kind::Name) => !is_part && token.text == mangling::global(name),
        ("local" | "upvalue", Kind::Name) => !is_part && mangling::is_local(token.text, name),
        _ => false,
    }
}

/// Whether the token is used as the message says; `None` when its neighbours do not tell.
fn is_used_in_fennel(variable: &Variable<'_>, tokens: &[Token<'_>], index: usize) -> Option<bool> {
    let is_indexed = is_separator(tokens, index, 1);
    let is_first = is_beside(tokens, chain_start(tokens, index), -1, &["("]);
    let is_looked_into = is_beside(tokens, index, -1, &[".", ":"]) && is_beside(tokens, index, -2, &["("]);
    match variable.used {
        Use::Index if is_indexed || is_looked_into => Some(true),
        Use::Index => None,
        _ if is_indexed => Some(false),
        Use::Call if is_first => Some(true),
        _ => None,
    }
}
