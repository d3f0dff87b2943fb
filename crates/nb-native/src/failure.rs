//! What is told about a script that failed: kind, message, place, and the calls that led there.

use std::cell::RefCell;
use std::fmt;

use mlua::{Error, Function, Lua, Table, Value};
use nb_sandbox::{Position, ScriptError, ScriptErrorKind};

use crate::json::{self, ArrayMark};

/// Bytes of a message; a script can raise an error of any size.
const MAX_MESSAGE: usize = 4096;

/// Bytes of a traceback. It has at most 22 lines, but a name can have any length.
const MAX_TRACEBACK: usize = 16 << 10;

/// How the functions of the prelude are shown in a traceback.
pub(crate) const PRELUDE: &str = "[nanobot]";

/// How those of the compiler are, which call the modules.
pub(crate) const COMPILER: &str = "[compiler]";

/// An error that one of our functions raises. Scripts that catch it see its text.
#[derive(Debug)]
pub(crate) struct Raised(pub(crate) String);

impl fmt::Display for Raised {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Raised {}

/// An error of one of our functions, with the position of the script's call in front, as Lua's functions write it.
pub(crate) fn raise(lua: &Lua, message: impl fmt::Display) -> Error {
    let position = lua.inspect_stack(1, |info| {
        let line = info.current_line()?;
        Some(format!("{}:{line}: ", info.source().short_src?))
    });
    Error::external(Raised(format!("{}{message}", position.flatten().unwrap_or_default())))
}

/// What Lua would have as the message of an error that passed through Rust.
pub(crate) fn plain(error: &Error) -> String {
    without_prelude(&told(error)).to_owned()
}

/// A message without the place of the prelude in front, which stands in for a function of Lua.
pub(crate) fn without_prelude(message: &str) -> &str {
    let rest = message.strip_prefix(PRELUDE).and_then(|rest| rest.strip_prefix(':'));
    let rest = rest.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message)
}

fn told(error: &Error) -> String {
    match error {
        Error::CallbackError { cause, .. } => told(cause),
        Error::MemoryError(_) => "not enough memory".into(),
        // Where Rust calls Lua, a traceback comes behind the message.
        Error::RuntimeError(message) => match message.rfind("\nstack traceback:\n") {
            Some(end) => message[..end].into(),
            None => message.clone(),
        },
        Error::SyntaxError { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

fn is_memory(error: &Error) -> bool {
    match error {
        Error::CallbackError { cause, .. } => is_memory(cause),
        Error::MemoryError(_) => true,
        _ => false,
    }
}

/// The files that errors can point into, and how Lua writes their names.
#[derive(Debug, Default)]
pub(crate) struct Files(Vec<(String, String)>);

impl Files {
    pub(crate) fn add(&mut self, lua: &Lua, file: &str) -> mlua::Result<()> {
        let shown = lua.load("").set_name(chunk_name(file)).into_function()?.info().short_src;
        self.0.push((shown.unwrap_or_default(), file.to_owned()));
        Ok(())
    }

    fn by_shown(&self, shown: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == shown).map(|(_, file)| file.as_str())
    }

    /// Takes a position `file:line: ` from the front of a message of Lua.
    fn lua_position<'m>(&self, message: &'m str) -> Option<(Position, &'m str)> {
        self.0.iter().find_map(|(shown, file)| {
            let (line, rest) = message.strip_prefix(shown.as_str())?.strip_prefix(':')?.split_once(": ")?;
            Some((position(file, line)?, rest))
        })
    }

    /// Of a text of Fennel the message and its advice, once; not the line of the source, which is shown beside it, nor
    /// Fennel's own traceback and places.
    pub(crate) fn fennel_text(text: &str) -> String {
        let mut lines = text.split('\n');
        let first = lines.next().unwrap_or_default();
        let mut told = vec![without_inner_places(first)];
        for advice in lines.filter(|line| line.starts_with("* ")) {
            if !told.iter().any(|line| line == advice) {
                told.push(advice.to_owned());
            }
        }
        told.join("\n")
    }

    /// Takes a position `file:line:column: ` from the front of a message of Fennel, whose columns begin at 0. An error
    /// in a module of macros has the place that uses it in front of its own; the innermost counts.
    pub(crate) fn fennel_position<'m>(&self, message: &'m str) -> Option<(Position, &'m str)> {
        let (found, rest) = self.0.iter().find_map(|(_, file)| {
            let (line, rest) = message.strip_prefix(file.as_str())?.strip_prefix(':')?.split_once(':')?;
            let text = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            let column = rest[..rest.len() - text.len()].parse::<u32>().ok();
            let position = Position { column: column.map(|column| column + 1), ..position(file, line)? };
            Some((position, text.strip_prefix(':').unwrap_or(text).trim_start()))
        })?;
        let without_kind = rest.strip_prefix("Compile error: ").unwrap_or(rest);
        let inner = self.fennel_position(rest).or_else(|| self.fennel_position(without_kind));
        inner.or(Some((found, rest)))
    }

    /// A message of Fennel with its position as Lua writes one.
    pub(crate) fn as_lua_writes(&self, message: String) -> String {
        let Some((Position { file, line, .. }, rest)) = self.fennel_position(&message) else {
            return message;
        };
        let shown = self.0.iter().find(|(_, name)| *name == file).map_or(&*file, |(shown, _)| shown);
        format!("{shown}:{line}: {rest}")
    }
}

/// A message of Fennel without the places in texts that have no file: `[string "…"]:2: `, `unknown:?:?: Compile error: `.
fn without_inner_places(message: &str) -> String {
    let mut message = message.to_owned();
    while let Some(begin) = message.find("[string \"")
        && let Some(name) = message[begin..].find("\"]:")
    {
        let place = &message[begin + name + 3..];
        let line = place.trim_start_matches(|c: char| c.is_ascii_digit());
        let Some(rest) = line.strip_prefix(": ") else { break };
        message = format!("{}{rest}", &message[..begin]);
    }
    while let Some(begin) = message.find("unknown:")
        && let Some(length) = message[begin..].find(": Compile error: ")
    {
        message.replace_range(begin..begin + length + ": Compile error: ".len(), "");
    }
    message
}

fn position(file: &str, line: &str) -> Option<Position> {
    let digits = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    let line = line.parse().ok().filter(|_| digits)?;
    Some(Position { file: file.to_owned(), line, column: None })
}

/// What Lua calls the chunk of a file: up to its first zero, as C reads a name.
pub(crate) fn chunk_name(file: &str) -> String {
    format!("@{}", file.split('\0').next().unwrap_or_default())
}

/// An error of a script with what is known of it.
pub(crate) fn script_error(tool: &str, files: &Files, kind: ScriptErrorKind, message: &str) -> ScriptError {
    let (mut message, mut place) = (without_prelude(message), None);
    // An error that left a coroutine has a position of its own in front of the inner one; the innermost counts.
    while let Some((position, rest)) = files.lua_position(message) {
        (place, message) = (Some(position), without_prelude(rest));
    }
    ScriptError { kind, position: place, ..ScriptError::new(tool, cut(message, MAX_MESSAGE)) }
}

fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes)])
}

/// What the message handler of a call saw.
pub(crate) struct Handler<'a> {
    pub(crate) tool: &'a str,
    pub(crate) files: &'a Files,
    pub(crate) tostring: Function,
    pub(crate) mark: ArrayMark,
    pub(crate) seen: RefCell<Option<ScriptError>>,
}

impl Handler<'_> {
    /// Called by Lua where the error was raised, with everything still on the stack.
    pub(crate) fn handle(&self, lua: &Lua, value: &Value) -> mlua::Result<()> {
        let kind = match value {
            Value::Error(error) if is_memory(error) => ScriptErrorKind::Memory,
            _ => ScriptErrorKind::Runtime,
        };
        let message = self.message(value)?;
        let mut error = script_error(self.tool, self.files, kind, &message);
        if error.position.is_none() {
            error.position = self.innermost(lua);
        }
        let lines = lua.traceback(None, 1)?;
        error.traceback = cut(&traceback(&lossy(&lines.as_bytes())), MAX_TRACEBACK);
        self.seen.replace(Some(error));
        Ok(())
    }

    /// The message of an error value: itself, its field `message`, the table as JSON, or what tostring says.
    fn message(&self, value: &Value) -> mlua::Result<String> {
        match value {
            Value::Error(error) => return Ok(plain(error)),
            Value::Table(table) if !has_text(table)? => {
                if let Value::String(message) = table.raw_get("message")? {
                    return Ok(lossy(&message.as_bytes()));
                }
                if let Ok(json) = json::encode(&self.mark, value) {
                    return Ok(json);
                }
            }
            _ => {}
        }
        let text: mlua::LuaString = self.tostring.call(value)?;
        Ok(lossy(&text.as_bytes()))
    }

    fn innermost(&self, lua: &Lua) -> Option<Position> {
        (0..).find_map(|level| {
            let place = lua.inspect_stack(level, |info| {
                let line = u32::try_from(info.current_line()?).ok()?;
                let file = self.files.by_shown(&info.source().short_src?)?.to_owned();
                Some(Position { file, line, column: None })
            });
            // The inner one is `None` for a call that is not the script's, the outer one at the end of the stack.
            match place {
                Some(None) => None,
                Some(found) => Some(found),
                None => Some(None),
            }
        })?
    }
}

/// Lua's own traceback without its heading, its indentation and our own frames.
fn traceback(text: &str) -> String {
    let text = text.strip_prefix("stack traceback:").unwrap_or(text);
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n').map(|line| line.strip_prefix('\t').unwrap_or(line)) {
        if line.starts_with(COMPILER) {
            // It called a module's chunk, which Lua shows as what it is called there.
            if let Some(chunk) = lines.last_mut().and_then(|line| line.strip_suffix("upvalue 'chunk'")) {
                let chunk = format!("{chunk}main chunk");
                lines.pop();
                lines.push(chunk);
            }
        } else if let Some((_, called)) = line.strip_prefix(PRELUDE).and_then(|rest| rest.split_once(" in "))
        {
            // It stands in for a function of Lua, which it calls: the two are shown as that one.
            lines.pop_if(|line| line.starts_with("[C]: in upvalue"));
            let called = if called.starts_with("function <") { "?" } else { called };
            lines.push(format!("[C]: in {called}"));
        } else if !line.is_empty() {
            lines.push(line.to_owned());
        }
    }
    // What called the script.
    lines.pop_if(|line| line.starts_with("[C]: in "));
    lines.join("\n")
}

/// Whether a table says itself what its text is.
pub(crate) fn has_text(table: &Table) -> mlua::Result<bool> {
    let Some(metatable) = table.metatable() else { return Ok(false) };
    Ok(!metatable.raw_get::<Value>("__tostring")?.is_nil())
}

/// Text with each byte that is not UTF-8 replaced by U+FFFD.
pub(crate) fn lossy(mut bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    loop {
        match str::from_utf8(bytes) {
            Ok(rest) => return text + rest,
            Err(error) => {
                text.push_str(str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default());
                text.push(char::REPLACEMENT_CHARACTER);
                bytes = &bytes[error.valid_up_to() + 1..];
            }
        }
    }
}
