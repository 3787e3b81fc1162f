//! `entry/decisions.d.ts`: the types of the answers as TypeScript sees them.

use std::fs;

use apportion_core::typescript::{declaration, declarations};

use crate::life::ScriptStep;
use crate::manifests::{DocumentEntry, Place, Placed, Utf16Range};
use crate::question::Unreadable;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/entry/decisions.d.ts");

const HEAD: &str = "\
// Made from the types of the core and of this package; do not edit. `APPORTION_RECORD=1 cargo test -p apportion-npm typescript` makes it anew.

import type { Integer, Json } from \"./types.d.ts\";
";

#[test]
fn the_declarations_are_those_of_the_types() {
    let own = [
        declaration::<Utf16Range>(),
        declaration::<Place>(),
        declaration::<Placed<'_>>(),
        declaration::<DocumentEntry>(),
        declaration::<ScriptStep>(),
        declaration::<Unreadable<'_>>(),
    ];
    let made = format!("{HEAD}{}{}", declarations(), own.concat());
    if std::env::var_os("APPORTION_RECORD").is_some() {
        fs::write(FILE, &made).unwrap();
    }
    let kept = fs::read_to_string(FILE).unwrap_or_default();
    assert!(kept == made, "{FILE} is not what the types are: record it anew");
}
