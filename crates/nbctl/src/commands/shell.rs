//! Words that a shell reads back as they were.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Quotes a word, if it needs it, for sh, bash and zsh. A word with control characters or bytes that are not UTF-8 is
/// written as `$'…'`, which bash, zsh and POSIX.1-2024 know.
pub(crate) fn quote(word: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(byte);
    match std::str::from_utf8(word) {
        // A leading `=` is a command's path to zsh.
        Ok(text) if !word.is_empty() && word.iter().all(plain) && !text.starts_with('=') => text.to_owned(),
        Ok(text) if !text.contains(char::is_control) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => escaped(word),
    }
}

/// Quotes a path; one that begins with a dash gets `./`, so that no program takes it for an option.
pub(crate) fn quote_path(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    if bytes.starts_with(b"-") { quote(&[b"./", bytes].concat()) } else { quote(bytes) }
}

fn escaped(word: &[u8]) -> String {
    let mut out = "$'".to_owned();
    for byte in word {
        match byte {
            b'\'' => out.push_str(r"\'"),
            b'\\' => out.push_str(r"\\"),
            b' '..=b'~' => out.push(char::from(*byte)),
            // Three octal digits end by themselves; a hexadecimal escape would swallow digits that follow it.
            other => out.push_str(&format!("\\{other:03o}")),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;
    use std::process::Command;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let every_byte: Vec<u8> = (1..=255).collect();
        let words: [&[u8]; 9] = [
            b"plain-word_1.0",
            b"",
            b"two words",
            b"it's \"quoted\" \\ $HOME `id` $(id) !! *?[a]~{b,c};|&<>",
            b"=ls",
            b"line\nbreak\t0",
            "naïve ☃".as_bytes(),
            b"\xff\xfe7 not UTF-8",
            &every_byte,
        ];
        for word in words {
            let script = format!("printf %s {}", quote(word));
            let output = Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(output.stdout, word, "{script}");
        }
    }

    #[test]
    fn a_path_is_never_an_option() {
        assert_eq!(quote_path(Path::new("-o")), "./-o");
        assert_eq!(quote_path(Path::new("a b")), "'a b'");
        let path = std::ffi::OsString::from_vec(b"a\xff1".to_vec());
        assert_eq!(quote_path(Path::new(&path)), r"$'a\3771'");
    }
}
