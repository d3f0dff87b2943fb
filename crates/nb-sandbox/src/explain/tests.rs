//! Columns and hints for what Lua and Fennel really say.

mod carets;
mod hints;

use mlua::{Function, Lua, Table};

use super::explain;
use super::names::TABLES;
use crate::script_error::{Position, ScriptError, ScriptErrorKind};
use crate::source::{Lang, Source};

/// Makes native Lua's globals those of the sandbox, and returns a function that runs a source and tells its error.
const RUN: &str = r#"
local fennel, tables = ...
local load, pcall, tostring = load, pcall, tostring
for _, name in ipairs { "os", "io", "package", "require", "dofile", "loadfile", "warn", "debug" } do _G[name] = nil end
for _, name in ipairs { "pow", "log10", "ldexp", "atan2" } do math[name] = nil end
string.dump = nil
for name, fields in pairs(tables) do
  local at = _G
  for part in name:gmatch "[^.]+" do
    at[part] = at[part] or {}
    at = at[part]
  end
  for _, field in ipairs(fields) do at[field] = at[field] or nb or {} end
end
parameters = {}
return function(is_fennel, text)
  if is_fennel then
    text = fennel.compileString(text, { filename = "t", correlate = true, allowedGlobals = false })
  end
  local program, message = load(text, "=t")
  local kind = "syntax"
  if program then
    kind = "runtime"
    local ok, raised = pcall(program)
    assert(not ok, "it does not fail")
    message = tostring(raised)
  end
  local line, rest = message:match "^t:(%d+): (.*)$"
  return kind, tonumber(line), rest
end
"#;

struct Native {
    run: Function,
    _lua: Lua,
}

impl Native {
    fn new() -> Self {
        let lua = Lua::new();
        let fennel: Table =
            lua.load(include_str!("../../../../guest-lua/vendor/fennel.lua")).call(()).unwrap();
        let tables = lua.create_table().unwrap();
        for (name, fields) in TABLES.iter().filter(|(name, _)| name.starts_with("nb") || *name == "json") {
            tables.set(*name, fields.split(' ').collect::<Vec<_>>()).unwrap();
        }
        Self { run: lua.load(RUN).call((fennel, tables)).unwrap(), _lua: lua }
    }

    /// The error of a source, explained.
    fn error(&self, lang: Lang, text: &str) -> ScriptError {
        let (kind, line, message): (String, u32, String) =
            self.run.call((lang == Lang::Fennel, text)).unwrap();
        let kind = if kind == "syntax" { ScriptErrorKind::Syntax } else { ScriptErrorKind::Runtime };
        let position = Some(Position { file: "t".into(), line, column: None });
        let mut error = ScriptError { kind, position, ..ScriptError::new("t", message) };
        explain(&mut error, &[Source::new(lang, "t", text)]);
        error
    }

    /// Checks sources in which `¦` stands where the caret belongs; without it there must be none.
    fn check_carets(&self, lang: Lang, sources: &[&str]) {
        for marked in sources {
            let text = marked.replacen('¦', "", 1);
            let error = self.error(lang, &text);
            let place = marked.split_once('¦').map(|(before, _)| {
                let last = before.rsplit('\n').next().unwrap();
                (1 + before.matches('\n').count() as u32, last.chars().count() as u32 + 1)
            });
            let position = error.position.as_ref().unwrap();
            let told = position.column.map(|column| (position.line, column));
            assert_eq!(told, place, "{marked}\n{error}");
        }
    }

    fn check_hints(&self, lang: Lang, sources: &[(&str, &str)]) {
        for (text, expected) in sources {
            let error = self.error(lang, text);
            let hint = error.hint.as_deref().unwrap_or_default();
            assert!(hint.contains(expected) && hint.is_empty() == expected.is_empty(), "{text}\n{error}");
        }
    }
}

#[test]
fn an_error_that_has_a_column_and_a_hint_keeps_them() {
    let position = Some(Position { file: "t".into(), line: 1, column: Some(3) });
    let message = "attempt to index a nil value (global 'os')";
    let mut error = ScriptError { position, hint: Some("own".into()), ..ScriptError::new("t", message) };
    explain(&mut error, &[Source::new(Lang::Lua, "t", "  os.time()")]);
    assert_eq!(error.to_string(), format!("t:1:3: {message}\n  1 |   os.time()\n    |   ^\nhint: own"));
}

#[test]
fn an_error_without_a_source_still_gets_its_hint() {
    let mut error = ScriptError::new("t", "attempt to index a nil value (global 'os')");
    explain(&mut error, &[]);
    assert!(error.hint.unwrap().starts_with("`os` is not in the sandbox"));
}

#[test]
fn no_text_makes_it_panic() {
    const WORDS: &str =
        "( ) [ ] [[ ]=] -- --[[ ' \" \\ \\z . .. : os x _ENV local let = # ` , 0x 1e+ é “ \u{1f600} \0 { } ;";
    const MESSAGES: [&str; 14] = [
        "\n",
        "\r",
        "\t ",
        " near '",
        " near <eof>",
        " near '<\\226>'",
        "attempt to index a nil value (local 'x')",
        "attempt to call a nil value (field 'x')",
        "attempt to call a nil value (global '",
        "__fnl_global__",
        "_2d')",
        "bad argument #1 to '",
        "malformed number",
        "attempt to assign to const variable '",
    ];
    let pieces: Vec<&str> = WORDS.split(' ').chain(MESSAGES).collect();
    // A linear congruential generator: the same texts in each run.
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for round in 0..20_000 {
        let mut text =
            |most: usize| -> String { (0..below(most)).map(|_| pieces[below(pieces.len())]).collect() };
        let (message, source) = (text(5), text(60));
        let line = below(4) as u32;
        let column = [None, Some(0), Some(1), Some(u32::MAX)][below(4)];
        for lang in [Lang::Lua, Lang::Fennel] {
            for kind in [ScriptErrorKind::Syntax, ScriptErrorKind::Runtime] {
                let position = Some(Position { file: "t".into(), line, column });
                let mut error = ScriptError { kind, position, ..ScriptError::new("t", message.as_str()) };
                explain(&mut error, &[Source::new(lang, "t", source.as_str())]);
                let told = error.position.as_ref().and_then(|position| position.column);
                let length =
                    source.lines().nth((line as usize).wrapping_sub(1)).map(|line| line.chars().count());
                let is_in_line = |length| told.is_none_or(|told| (1..=length + 1).contains(&(told as usize)));
                assert!(length.is_none_or(is_in_line), "{round}: {message:?} {source:?}");
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn a_chain_of_any_length_is_read_in_no_time_and_no_memory() {
    for (lang, begin, part, end) in
        [(Lang::Lua, "local y = ", "x.", "x"), (Lang::Fennel, "(local y ", "x.", "x)")]
    {
        let text = format!("{begin}{}{end}", part.repeat(120_000));
        let source = Source::new(lang, "test", text);
        for message in
            ["attempt to index a nil value (field 'x')", "attempt to index a nil value (global 'x')"]
        {
            let mut error = ScriptError::new("test", message);
            error.position = Some(Position { file: "test".into(), line: 1, column: None });
            explain(&mut error, std::slice::from_ref(&source));
            assert!(error.excerpt.is_some());
        }
    }
}
