//! The table of Unicode classes is the one that the reference's regular expressions use.

use std::path::Path;
use std::process::Command;

use apportion_tests::reference;

#[test]
fn generated_unicode_classes_equal_the_file() {
    if !reference::is_available() {
        println!("SKIPPED: Go is not installed, the table cannot be made again");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let made =
        Command::new("go").args(["run", "./unicode"]).current_dir(root.join("tests/reference")).output().unwrap();
    let file = std::fs::read_to_string(root.join("core/src/cel/regex/classes.rs")).unwrap();
    assert!(String::from_utf8_lossy(&made.stdout) == file, "run `go run ./unicode` in tests/reference");
}
