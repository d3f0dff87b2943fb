//! The printed table.

use std::time::Duration;

use crate::measure::Figures;

const WHAT: usize = 58;
const CELL: usize = 12;

/// Begins a part of the table.
pub fn part(title: &str, columns: &[&str]) {
    println!();
    row(title, columns);
    println!("{}", "─".repeat(WHAT + CELL * columns.len().max(2)));
}

/// One line; each cell brings its unit along.
pub fn row(what: &str, cells: &[impl AsRef<str>]) {
    let cells: String = cells.iter().map(|cell| format!("{:>CELL$}", cell.as_ref())).collect();
    println!("{}", format!("{what:<WHAT$}{cells}").trim_end());
}

/// A line with p50 and p99.
pub fn figures(what: &str, figures: Figures) {
    row(what, &[time(figures.p50), time(figures.p99)]);
}

/// A line in words.
pub fn note(words: &str) {
    println!("  {words}");
}

pub fn time(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    match micros {
        ..10.0 => format!("{micros:.2} µs"),
        ..1e3 => format!("{micros:.1} µs"),
        ..1e6 => format!("{:.2} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}

pub fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2} ×") } else { format!("{} ×", count(ratio)) }
}

/// A number with a comma between its thousands.
pub fn count(number: f64) -> String {
    let number = number.round() as u64;
    if number < 1000 { format!("{number}") } else { format!("{},{:03}", number / 1000, number % 1000) }
}

pub fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
