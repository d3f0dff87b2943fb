#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| nb_sandbox_fuzz::compile::run(input));
