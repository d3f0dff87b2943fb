//! What tokens cost.

use serde::Deserialize;
use serde_json::Value;

use crate::Usage;

/// Prices in US dollars for a million tokens, as providers publish them.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Tokens that are read.
    pub input: f64,
    /// Tokens that are written.
    pub output: f64,
    /// Tokens that come from the provider's cache. None: they cost as much as others that are read.
    #[serde(default)]
    pub cached: Option<f64>,
}

impl Prices {
    /// Reads `{input: 2.5, output: 10, cached: 1.25}`.
    ///
    /// # Errors
    /// A sentence when it is something else, or a price is below zero.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        let prices = Self::deserialize(value)
            .map_err(|error| format!("{error}; written {{input: 2.5, output: 10, cached: 1.25}}, in US dollars for a million tokens"))?;
        let given = [Some(prices.input), Some(prices.output), prices.cached];
        match given.into_iter().flatten().find(|price| !price.is_finite() || *price < 0.0) {
            Some(price) => Err(format!("{price} is no price")),
            None => Ok(prices),
        }
    }

    /// What an answer cost, in US dollars.
    pub fn cost(&self, usage: Usage) -> f64 {
        let cached = usage.cached.min(usage.input);
        let tokens = |count: u64, price: f64| count as f64 * price / 1e6;
        tokens(usage.input - cached, self.input)
            + tokens(cached, self.cached.unwrap_or(self.input))
            + tokens(usage.output, self.output)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cost_follows_the_prices() {
        let prices = Prices::from_value(&json!({"input": 2.0, "output": 10, "cached": 0.5})).unwrap();
        let usage = Usage { input: 1_000_000, output: 100_000, cached: 400_000 };
        assert!((prices.cost(usage) - (1.2 + 0.2 + 1.0)).abs() < 1e-9);
        assert!(Prices::from_value(&json!({"input": -1, "output": 1})).is_err());
        assert!(
            Prices::from_value(&json!({"input": 1, "output": 1, "imput": 1})).unwrap_err().contains("imput")
        );
    }
}
