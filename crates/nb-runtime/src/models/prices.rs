//! What models cost, as the operator says it. A cartridge that says it itself is believed before that.

use nb_provider::Prices;
use serde_json::Value;

/// Prices by the names of models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceList(Vec<(String, Prices)>);

impl PriceList {
    /// Adds the prices of a model, or of all whose names begin like `NAME*`: `{input, output, cached}`, in US dollars for a
    /// million tokens.
    ///
    /// # Errors
    /// A sentence when the name or the prices cannot be used.
    pub fn add(&mut self, model: &str, prices: &Value) -> Result<(), String> {
        let stem = model.strip_suffix('*').unwrap_or(model);
        if model.is_empty() || stem.contains('*') {
            return Err("name a model, or the beginning of its name with `*` behind it".to_owned());
        }
        self.0.push((model.to_owned(), Prices::from_value(prices)?));
        Ok(())
    }

    /// The prices of a model: those of its name, else of the longest beginning.
    pub fn of(&self, model: &str) -> Option<Prices> {
        let exact = self.0.iter().find(|(name, _)| name == model);
        let begins = |name: &str| name.strip_suffix('*').is_some_and(|stem| model.starts_with(stem));
        let longest = || self.0.iter().filter(|(name, _)| begins(name)).max_by_key(|(name, _)| name.len());
        exact.or_else(longest).map(|(_, prices)| *prices)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_counts_before_a_beginning_and_a_longer_beginning_before_a_shorter_one() {
        let mut list = PriceList::default();
        for (model, input) in [("*", 1), ("gpt-*", 2), ("gpt-4o*", 3), ("gpt-4o", 4)] {
            list.add(model, &json!({"input": input, "output": 0})).unwrap();
        }
        for (model, input) in [("gpt-4o", 4.0), ("gpt-4o-mini", 3.0), ("gpt-3", 2.0), ("other", 1.0)] {
            assert_eq!(list.of(model).unwrap().input, input, "{model}");
        }
        assert_eq!(PriceList::default().of("gpt-4o"), None);
        for wrong in ["", "gpt-*-mini"] {
            assert!(list.add(wrong, &json!({"input": 1, "output": 1})).is_err(), "{wrong}");
        }
        assert!(list.add("a", &json!({"input": 1})).is_err());
    }
}
