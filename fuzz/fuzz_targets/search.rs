#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| memdir_fuzz::search(data));
