//! The names that Fennel gives its variables in the Lua program that it becomes.

/// What Fennel puts in front of a global whose name is none in Lua.
const GLOBAL: &str = "__fnl_global__";

/// Whether a local variable of Fennel can have that name in Lua: `foo-bar` is `foo_bar`, `x?` is `x_3f`, and digits
/// behind it tell variables of one name apart.
pub(super) fn is_local(symbol: &str, name: &str) -> bool {
    let symbol = if symbol == "$" { "$1" } else { symbol };
    let mut mangled = String::with_capacity(symbol.len());
    for c in symbol.chars() {
        match c {
            '-' | '_' => mangled.push('_'),
            c if c.is_ascii_alphanumeric() => mangled.push(c),
            c => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    mangled.push_str(&format!("_{byte:02x}"));
                }
            }
        }
    }
    // Keywords of Lua and names that begin with a digit get a `_`.
    let rest = name.strip_prefix(&mangled).or_else(|| name.strip_prefix('_')?.strip_prefix(&mangled));
    rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The global of Fennel that has that name in Lua.
pub(super) fn global(name: &str) -> String {
    let Some(mangled) = name.strip_prefix(GLOBAL) else { return name.to_owned() };
    let mut bytes = Vec::with_capacity(mangled.len());
    let mut rest = mangled.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'_').then(|| std::str::from_utf8(after.get(..2)?).ok()).flatten();
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_lua_belongs_to_a_symbol_of_fennel() {
        for (symbol, name) in [
            ("x", "x"),
            ("foo-bar", "foo_bar"),
            ("x?", "x_3f"),
            ("x", "x0"),
            ("end", "_end"),
            ("$2", "_242"),
            ("$", "_241"),
            ("é", "_c3_a9"),
        ] {
            assert!(is_local(symbol, name), "{symbol} {name}");
        }
        for (symbol, name) in [("x", "xy"), ("foo", "foo_bar"), ("x", "y"), ("x0", "x")] {
            assert!(!is_local(symbol, name), "{symbol} {name}");
        }
    }

    #[test]
    fn a_global_gets_its_name_back() {
        for (name, symbol) in [
            ("x", "x"),
            ("__fnl_global__foo_2dbar", "foo-bar"),
            ("__fnl_global___c3_a9", "é"),
            ("__fnl_global__a_", "a_"),
            ("__fnl_global___ff", "\u{fffd}"),
        ] {
            assert_eq!(global(name), symbol);
        }
    }
}
