//! The command as a person runs it.

// The condition always holds here; it tells the lints that helpers are test code too.
#[cfg(test)]
mod daemon;
#[cfg(test)]
mod files;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod support;
