//! Developer commands: tests with their set-up, the demo, the guest, benchmarks.

fn main() {}
