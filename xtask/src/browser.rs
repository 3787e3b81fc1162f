//! The browser that the page's tests run in.

use std::env;
use std::path::PathBuf;

use crate::{Workspace, debian};

/// Where systems put a Chromium.
const PLACES: [&str; 5] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// The browser named by the variable `CHROMIUM`, or the system's, or Debian's, installed where that is possible without
/// asking. With `None` the tests of the page fail and say what is missing.
#[must_use]
pub fn find(workspace: &Workspace) -> Option<PathBuf> {
    if let Some(named) = env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    installed().or_else(|| {
        let is_there = debian::install(workspace, "Chromium", || Some(vec!["chromium".to_owned()]));
        if is_there { installed() } else { None }
    })
}

fn installed() -> Option<PathBuf> {
    PLACES.into_iter().map(PathBuf::from).find(|path| path.is_file())
}
