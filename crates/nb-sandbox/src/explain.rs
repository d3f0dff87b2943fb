//! What an error gets beside its message: the line of the source, the column, a hint.
//!
//! # Layout
//! - `excerpt`: the line as it is shown
//! - `column`: where in the line, from the words of the message
//! - `variable`: what a message says about a variable
//! - `mention`: where the source mentions that variable, with `mangling` for the names of Fennel
//! - `hint`: what to do about a name that is not there, with the tables in `names`
//! - `token`, `lua_tokens`, `fennel_tokens`: the words of a source

mod column;
pub(crate) mod excerpt;
mod fennel_tokens;
mod hint;
mod lua_tokens;
mod mangling;
mod mention;
mod names;
#[cfg(test)]
mod tests;
mod token;
mod variable;

use self::token::{Token, tokens};
use self::variable::Variable;
use crate::script_error::{ScriptError, ScriptErrorKind};
use crate::source::{Lang, Source};

/// The largest source that is read for a column or a hint, in bytes: the reading is work that no fuel pays for.
const MAX_READ: usize = 256 << 10;

/// Where a script ran, which decides what it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ran {
    Sandboxed,
    Native,
}

/// Completes an error from the sources that it may point into.
pub fn explain(error: &mut ScriptError, sources: &[Source]) {
    explain_where(error, sources, Ran::Sandboxed);
}

/// The same for a script that ran on native Lua: what the sandbox lacks is no advice there.
pub fn explain_native(error: &mut ScriptError, sources: &[Source]) {
    explain_where(error, sources, Ran::Native);
}

fn explain_where(error: &mut ScriptError, sources: &[Source], ran: Ran) {
    let source =
        error.position.as_ref().and_then(|at| sources.iter().find(|source| *source.file == *at.file));
    let line = error.position.as_ref().map_or(0, |position| position.line);
    let text = source.and_then(|source| source.text.lines().nth((line as usize).checked_sub(1)?));

    let lang = source.map_or(Lang::Lua, |source| source.lang);
    let place = Place { lang, text: read(source), line, ran };
    let (column, hint) = look(error, &place);
    if error.hint.is_none() {
        error.hint = hint;
    }
    if let Some(position) = &mut error.position {
        position.column = position.column.or(column).and_then(|column| match text {
            Some(text) => excerpt::within(column, text),
            None => Some(column),
        });
        error.excerpt = text.and_then(|text| excerpt::excerpt(text, position.column));
    }
}

/// The source of an error and the line in it; without text where there is none.
struct Place<'a> {
    lang: Lang,
    text: &'a str,
    line: u32,
    ran: Ran,
}

fn read(source: Option<&Source>) -> &str {
    source.map(|source| &*source.text).filter(|text| text.len() <= MAX_READ).unwrap_or_default()
}

/// The column and the hint that the message allows.
fn look(error: &ScriptError, place: &Place<'_>) -> (Option<u32>, Option<String>) {
    let words = || -> Vec<Token<'_>> { tokens(place.lang, place.text) };
    match error.kind {
        ScriptErrorKind::Syntax if place.lang == Lang::Lua => {
            (column::of_syntax(&error.message, &words(), place.line), None)
        }
        ScriptErrorKind::Syntax => (None, hint::of_unknown(&error.message, place.ran)),
        ScriptErrorKind::Runtime => {
            let words = words();
            let Some(variable) = Variable::parse(&error.message) else {
                let nameless = || hint::of_nameless(&error.message, &words, place.line);
                return (None, hint::of_ability(&error.message).or_else(nameless));
            };
            let mentions = mention::mentions(&variable, place.lang, &words, place.line);
            let column = column::of_only(&mentions, &words, place.line);
            (column, hint::hint(&variable, place, &words, &mentions))
        }
        _ => (None, None),
    }
}
