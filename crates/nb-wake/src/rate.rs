//! How many requests a path takes: a token bucket.

use chrono::{DateTime, Utc};

/// Fills at a steady rate up to a second's worth, and pays one token a request.
#[derive(Debug, Clone)]
pub struct Bucket {
    per_second: f64,
    tokens: f64,
    filled_at: DateTime<Utc>,
}

impl Bucket {
    /// A full bucket.
    pub fn new(per_second: u32, now: DateTime<Utc>) -> Self {
        let per_second = f64::from(per_second);
        Self { per_second, tokens: per_second, filled_at: now }
    }

    /// Takes a token; false when there is none.
    pub fn take(&mut self, now: DateTime<Utc>) -> bool {
        // A clock that was set back fills nothing.
        let passed = (now - self.filled_at).num_microseconds().unwrap_or(i64::MAX).max(0) as f64 / 1e6;
        self.tokens = (self.tokens + passed * self.per_second).min(self.per_second);
        self.filled_at = now;
        let has = self.tokens >= 1.0;
        if has {
            self.tokens -= 1.0;
        }
        has
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::Duration;

    #[test]
    fn a_bucket_gives_a_seconds_worth_at_once_and_fills_again() {
        let start = DateTime::UNIX_EPOCH;
        let mut bucket = Bucket::new(10, start);
        assert_eq!((0..20).filter(|_| bucket.take(start)).count(), 10);
        let later = start + Duration::milliseconds(500);
        assert_eq!((0..20).filter(|_| bucket.take(later)).count(), 5);
        assert!(!bucket.take(start), "a clock that was set back fills nothing");
    }
}
