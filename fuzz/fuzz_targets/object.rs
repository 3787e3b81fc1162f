//! The reader of JSON objects: no input stops it, and what it read it writes so that it reads the same again.

#![no_main]

use apportion_core::api::object::read_object;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(value) = serde_json::from_slice(text) else { return };
    let reading = read_object(value);
    if let Some(object) = reading.object {
        let written = object.write();
        let again = read_object(written.clone()).object.map(|object| object.write());
        assert_eq!(again, Some(written));
    }
});
