//! The program as a plugin of kubectl, its manual pages, and what shells complete.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_apportion"))
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[cfg(unix)]
#[test]
fn as_a_plugin_it_says_what_users_type() {
    let plugin = folder("plugin").join("kubectl-apportion");
    std::os::unix::fs::symlink(program(), &plugin).unwrap();
    assert!(text(&run(&plugin, &["--help"])).contains("Usage: kubectl apportion <COMMAND>"));
    assert!(text(&run(&plugin, &["explain", "--help"])).contains("Usage: kubectl apportion explain "));
    let mistake = run(&plugin, &["allocate"]);
    assert_eq!(mistake.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&mistake.stderr).contains("kubectl apportion allocate"));
    assert!(text(&run(program(), &["--help"])).contains("Usage: apportion <COMMAND>"));
}

/// Commands as the help lists them.
fn commands() -> Vec<String> {
    let help = text(&run(program(), &["--help"]));
    let list = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    // What a command does may go on in further lines, which are indented more.
    let named = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    named.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn shells_complete_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = text(&run(program(), &["completions", shell]));
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder("manual").join("man1");
    text(&run(program(), &["man", folder.to_str().unwrap()]));
    let page = |name: &str| fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
    assert!(page("apportion").contains(".TH apportion 1"), "{}", page("apportion"));
    for command in commands().iter().filter(|name| *name != "help") {
        assert!(page(&format!("apportion-{command}")).contains(".SH OPTIONS"), "{command}");
    }
}
