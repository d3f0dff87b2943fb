//! Patterns for agents' names: `*` stands for any text, `?` for one character.

/// Whether the pattern has only characters of a name and placeholders.
pub(crate) fn is_valid(pattern: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '*' | '?');
    (1..=64).contains(&pattern.len()) && pattern.chars().all(plain)
}

/// Whether the pattern matches all of `name`. Linear steps back only to the last `*`, so no pattern is slow.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at_pattern, mut at_name) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(character) = name.get(at_name) {
        match pattern.get(at_pattern) {
            Some(b'*') => {
                retry = Some((at_pattern + 1, at_name));
                at_pattern += 1;
            }
            Some(expected) if *expected == b'?' || expected == character => {
                at_pattern += 1;
                at_name += 1;
            }
            _ => {
                let Some((after_star, taken)) = retry else { return false };
                retry = Some((after_star, taken + 1));
                (at_pattern, at_name) = (after_star, taken + 1);
            }
        }
    }
    pattern.iter().skip(at_pattern).all(|rest| *rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_whole_names() {
        for (pattern, name) in [
            ("hello", "hello"),
            ("*", "x"),
            ("repo-*", "repo-watch"),
            ("*-a*b", "x-aab"),
            ("a?c", "abc"),
            ("repo-*", "repo-"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("hello", "hello2"), ("repo-*", "my-repo-watch"), ("a?c", "ac"), ("*b", "ba"), ("", "x")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
