//! What a script has, and what it may look for in vain.

/// The tables that a script has, and the names in each.
pub(super) const TABLES: [(&str, &str); 13] = [
    (
        "_G",
        "_G _VERSION assert collectgarbage coroutine error fennel getmetatable ipairs json load math nb next pairs \
         parameters pcall print rawequal rawget rawlen rawset require select setmetatable string table tonumber \
         tostring type utf8 xpcall",
    ),
    ("coroutine", "close create isyieldable resume running status wrap yield"),
    ("fennel", "view"),
    ("json", "array decode encode null"),
    (
        "math",
        "abs acos asin atan ceil cos deg exp floor fmod huge log max maxinteger min mininteger modf pi rad random \
         randomseed sin sqrt tan tointeger type ult",
    ),
    ("nb", "call event http kv log notify time"),
    ("nb.event", "publish"),
    ("nb.http", "fetch"),
    ("nb.kv", "compare_and_set delete get increment list set"),
    ("nb.log", "error info"),
    (
        "string",
        "byte char find format gmatch gsub len lower match pack packsize rep reverse sub unpack upper",
    ),
    ("table", "concat insert move pack remove sort unpack"),
    ("utf8", "char charpattern codepoint codes len offset"),
];

const NO_FILES: &str = "is not in the sandbox: a tool has no files. Keep values with `nb.kv` (permissions `kv.read`, \
                        `kv.write`), or set `sandboxed: false` and ask for the permission `unsandboxed`.";
const NO_PROCESSES: &str = "is not in the sandbox: a tool starts no programs. One that must sets `sandboxed: false` \
                            and asks for the permission `unsandboxed`.";
const NO_MODULES: &str = "finds the files under `tools/lib` of the package, and this package has none.";
const NO_LOADING: &str = "is not in the sandbox: `require` finds the files under `tools/lib` of the package.";
const NO_DEBUG: &str = "is not in the sandbox. An error already carries its line and its traceback.";
const JSON: &str = "is not in the sandbox: use `json.encode` and `json.decode`.";
const HTTP: &str = "is not in the sandbox: use `nb.http.fetch` (permission `http.fetch`).";
const BITS: &str = "is not in Lua 5.4: use the operators `&`, `|`, `~`, `<<`, `>>`; in Fennel `band`, `bor`, `bxor`, \
                    `lshift`, `rshift`.";
const LUAJIT: &str = "belongs to LuaJIT. The sandbox runs Lua 5.4.";
const PARAMETERS: &str = "is not there: what the tool was called with is `parameters`.";
const NO_ENVIRONMENTS: &str = "is not in Lua 5.4: give the environment to `load`, as its fourth argument.";

/// The functions of `nb` that have another name than the ability that they are short for.
const SHORT: [(&str, &str); 7] = [
    ("kv.compare_and_set", "kv.write"),
    ("kv.delete", "kv.write"),
    ("kv.get", "kv.read"),
    ("kv.increment", "kv.write"),
    ("kv.list", "kv.read"),
    ("kv.set", "kv.write"),
    ("notify", "notify.user"),
];

/// Names that are not in the sandbox, and what is said behind them. A table stands for all in it that is not listed.
pub(super) const ABSENT: [(&str, &str); 60] = [
    // Lua 5.4, outside of the sandbox
    ("debug", NO_DEBUG),
    ("dofile", NO_FILES),
    ("io", NO_FILES),
    ("io.popen", NO_PROCESSES),
    (
        "io.stderr",
        "is not in the sandbox: write to the tool's log with `nb.log.error` (permission `log.error`).",
    ),
    ("io.stdout", "is not in the sandbox: write to the tool's log with `print`."),
    ("io.write", "is not in the sandbox: write to the tool's log with `print`."),
    ("loadfile", NO_FILES),
    ("os", "is not in the sandbox: a tool has no operating system."),
    ("os.clock", "is not in the sandbox: use `nb.time()`, in seconds with a fraction."),
    (
        "os.date",
        "is not in the sandbox: compute the date from `nb.time()`, which is seconds since 1970 in UTC.",
    ),
    ("os.difftime", "is not in the sandbox: subtract one time from the other."),
    ("os.execute", NO_PROCESSES),
    ("os.exit", "is not in the sandbox: end a tool with `return`, or with `error`."),
    (
        "os.getenv",
        "is not in the sandbox: a tool has no environment. List a secret under `secrets` in the manifest and send \
         it in a header, or take the value as a parameter.",
    ),
    ("os.remove", NO_FILES),
    ("os.rename", NO_FILES),
    ("os.time", "is not in the sandbox: use `nb.time()`, which is seconds since 1970."),
    ("os.tmpname", NO_FILES),
    ("package", NO_LOADING),
    ("require", NO_MODULES),
    ("string.dump", "is not in the sandbox: a function has no form outside of its run."),
    ("warn", "is not in the sandbox: write to the tool's log with `print` or `nb.log.info`."),
    // Other versions of Lua
    ("bit", BITS),
    ("bit32", BITS),
    ("ffi", LUAJIT),
    ("getfenv", NO_ENVIRONMENTS),
    ("jit", LUAJIT),
    ("loadstring", "is `load` in Lua 5.4."),
    ("math.atan2", "is `math.atan(y, x)` in Lua 5.4."),
    ("math.ldexp", "is not in Lua 5.4: write `x * 2.0 ^ n`."),
    ("math.log10", "is `math.log(x, 10)` in Lua 5.4."),
    ("math.mod", "is `math.fmod` in Lua 5.4, or the operator `%`."),
    ("math.pow", "is the operator `^` in Lua 5.4."),
    ("math.rand", "is `math.random` in Lua."),
    ("math.round", "is not in Lua: write `math.floor(x + 0.5)`."),
    ("module", "is not in Lua 5.4: a module returns its table."),
    ("newproxy", "is not in Lua 5.4: use `setmetatable({}, …)`."),
    ("setfenv", NO_ENVIRONMENTS),
    ("string.gfind", "is `string.gmatch` in Lua 5.4."),
    ("string.split", "is not in Lua: go over the parts with `string.gmatch(text, \"[^,]+\")`."),
    ("string.trim", "is not in Lua: use `string.match(text, \"^%s*(.-)%s*$\")`."),
    ("table.foreach", "is not in Lua 5.4: write a loop over `pairs`."),
    ("table.foreachi", "is not in Lua 5.4: write a loop over `ipairs`."),
    ("table.getn", "is the operator `#` in Lua 5.4; in Fennel `length`."),
    ("table.maxn", "is not in Lua 5.4: use the operator `#`; in Fennel `length`."),
    ("table.new", LUAJIT),
    ("unpack", "is `table.unpack` in Lua 5.4."),
    // What other runtimes bring along
    ("args", PARAMETERS),
    ("cjson", JSON),
    ("console", "is not in Lua: write to the tool's log with `print`."),
    ("dkjson", JSON),
    ("fetch", HTTP),
    ("http", HTTP),
    ("input", PARAMETERS),
    ("ngx", HTTP),
    ("params", PARAMETERS),
    ("printf", "is not in Lua: use `print(string.format(…))`."),
    (
        "sleep",
        "is not in the sandbox: a tool does not wait. A schedule or a wait belongs into the agent's manifest.",
    ),
    ("socket", HTTP),
];

/// What is said behind an absent name of up to two parts.
pub(super) fn absent(path: &[&str]) -> Option<&'static str> {
    let find = |name: &str| ABSENT.iter().find(|(absent, _)| *absent == name).map(|(_, words)| *words);
    let first = path.first()?;
    let whole = path.get(1).and_then(|second| find(&format!("{first}.{second}")));
    whole.or_else(|| find(first))
}

/// The ability that `nb.NAME` is short for, where it has another name.
pub(super) fn ability(name: &str) -> Option<&'static str> {
    SHORT.iter().find(|(short, _)| *short == name).map(|(_, ability)| *ability)
}

/// Whether these words, which are ours, tell what the sandbox lacks: native Lua has it, or looks for it elsewhere.
pub(super) fn is_about_sandbox(words: &str) -> bool {
    words.contains("sandbox") || words == NO_MODULES
}

/// The names in the table of that name.
pub(super) fn table(name: &str) -> Option<Vec<&'static str>> {
    TABLES.iter().find(|(table, _)| *table == name).map(|(_, names)| names.split(' ').collect())
}

/// The global variables of a script.
pub(super) fn globals() -> Vec<&'static str> {
    table("_G").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use mlua::{Lua, Table, Value};

    use super::*;

    /// The host's own, which no plain Lua has.
    const OWN: [&str; 4] = ["fennel", "json", "nb", "parameters"];

    /// What native Lua is built with, for older scripts, and the guest is not.
    const COMPATIBLE: [&str; 4] = ["cosh", "frexp", "sinh", "tanh"];

    fn fields(table: &Table) -> Vec<String> {
        let mut names: Vec<String> = table.pairs::<String, Value>().map(|pair| pair.unwrap().0).collect();
        names.sort();
        names
    }

    #[test]
    fn the_tables_hold_what_lua_has_but_for_what_is_absent() {
        let lua = Lua::new();
        for (name, listed) in TABLES {
            let Ok(table) = lua.globals().get::<Table>(name) else {
                assert!(OWN.iter().any(|own| name.starts_with(own)), "{name}");
                continue;
            };
            let is_here = |field: &String| match name {
                "_G" => field == "require" || absent(&[field]).is_none(),
                _ => absent(&[name, field]).is_none() && !COMPATIBLE.contains(&field.as_str()),
            };
            let listed: Vec<&str> = listed.split(' ').filter(|field| !OWN.contains(field)).collect();
            let in_lua: Vec<String> = fields(&table).into_iter().filter(is_here).collect();
            assert_eq!(in_lua, listed, "{name}");
        }
    }

    #[test]
    fn what_is_short_for_an_ability_is_in_nb() {
        for (name, _) in SHORT {
            let path = format!("nb.{name}");
            let (parent, field) = path.rsplit_once('.').unwrap();
            assert!(table(parent).unwrap().contains(&field), "{name}");
        }
    }

    #[test]
    fn what_is_told_to_be_absent_is_not_listed_as_there() {
        for (name, words) in ABSENT {
            let is_there = match name.split_once('.') {
                Some((of, field)) => table(of).is_some_and(|fields| fields.contains(&field)),
                None => name != "require" && globals().contains(&name),
            };
            assert!(!is_there, "{name}");
            assert!(words.ends_with('.') && words.starts_with(char::is_lowercase), "{name} {words}");
            assert!(words.matches(". ").count() <= 1, "two sentences at most: {words}");
        }
    }
}
