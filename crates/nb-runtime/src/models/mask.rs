//! Hides the values of secrets in what a provider section makes of them: an address that cannot be read is told with its
//! text, and a model may be named by a secret.

/// Values that no text may show.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mask(Vec<String>);

/// Below this a value is no secret, and to hide it would only spoil texts.
const SHORTEST: usize = 4;

impl Mask {
    /// Hides these values, as they are and as they stand between quotes.
    pub(crate) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut forms: Vec<String> = values
            .into_iter()
            .filter(|value| value.len() >= SHORTEST)
            .flat_map(|value| {
                let escaped = [value.escape_default().to_string(), value.escape_debug().to_string()];
                let json = serde_json::Value::String(value.clone()).to_string();
                let json = json.trim_matches('"').to_owned();
                [value].into_iter().chain(escaped).chain([json])
            })
            .collect();
        // A value that holds another one goes first.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self(forms)
    }

    /// The text without them.
    pub(crate) fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, value| text.replace(value.as_str(), "***"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_hidden_however_it_is_quoted() {
        let mask = Mask::new(["to\"ken\n".to_owned(), "to\"ken\n-longer".to_owned(), "abc".to_owned()]);
        for text in ["`to\"ken\n`", "`to\\\"ken\\n`", "`to\"ken\n-longer`"] {
            assert_eq!(mask.text(text), "`***`", "{text}");
        }
        assert_eq!(mask.text("abc"), "abc");
    }
}
