//! Samples of pages, run.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::page::{Kind, Page, Sample};
use crate::Workspace;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);

/// In a script, exit code 1 of the program is an answer: something does not fit.
const PRELUDE: &str = "apportion() { command apportion \"$@\" || [ $? = 1 ]; }\n";

/// A line that stands for any number of lines.
const ANYTHING: &str = "...";

/// What the samples came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Samples that say what the program says.
    pub passed: u64,
    /// Samples that are marked as not run.
    pub not_run: u64,
    /// A text for each of the others.
    pub failed: Vec<String>,
}

/// A command of a `console` block, with what the page says that it prints.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    line: usize,
    command: String,
    printed: Vec<String>,
}

/// Runs the samples of one page, one after another in one folder, in which the checkout's files can be read and new ones written.
pub(super) fn run(
    workspace: &Workspace,
    program: &Path,
    path: &Path,
    page: &Page,
    outcome: &mut Outcome,
) -> Result<()> {
    let (marked, wanted): (Vec<&Sample>, Vec<&Sample>) =
        page.samples.iter().partition(|sample| sample.not_run.is_some());
    outcome.not_run = outcome.not_run.saturating_add(marked.len() as u64);
    if wanted.is_empty() {
        return Ok(());
    }
    let name: String = path.to_string_lossy().replace(['/', '\\'], "-");
    let folder = Folder::new(workspace, program, &workspace.path("target/docs").join(name))?;
    for sample in wanted {
        let before = outcome.failed.len();
        match sample.kind {
            Kind::Shell => {
                let (code, said) = folder.shell(&format!("{PRELUDE}{}", sample.text))?;
                if code != Some(0) {
                    let code =
                        code.map_or("no exit code within a minute".to_owned(), |code| format!("exit code {code}"));
                    outcome.failed.push(format!("{}:{}: {code}\n{said}", path.display(), sample.line));
                }
            }
            Kind::Console => match calls(sample) {
                Err((line, what)) => outcome.failed.push(format!("{}:{line}: {what}", path.display())),
                Ok(calls) => {
                    for call in calls {
                        let (_, said) = folder.shell(&call.command)?;
                        let lines: Vec<&str> = said.trim_end().lines().map(str::trim_end).collect();
                        if !is_alike(&call.printed, &lines) {
                            let place = format!("{}:{}", path.display(), call.line);
                            outcome.failed.push(format!("{place}: `{}` prints\n{}", call.command, said.trim_end()));
                        }
                    }
                }
            },
        }
        if outcome.failed.len() == before {
            outcome.passed = outcome.passed.saturating_add(1);
        }
    }
    Ok(())
}

/// The commands of a `console` block.
fn calls(sample: &Sample) -> Result<Vec<Call>, (usize, &'static str)> {
    let mut calls: Vec<Call> = Vec::new();
    let mut goes_on = false;
    for (line, text) in (sample.line..).zip(sample.text.lines()) {
        let ends_open = |text: &str| text.ends_with('\\');
        match (text.strip_prefix("$ "), calls.last_mut()) {
            (None, Some(call)) if goes_on => {
                call.command.push('\n');
                call.command.push_str(text);
                goes_on = ends_open(text);
            }
            (Some(command), _) => {
                goes_on = ends_open(command);
                calls.push(Call { line, command: command.to_owned(), printed: Vec::new() });
            }
            (None, Some(call)) => call.printed.push(text.trim_end().to_owned()),
            (None, None) => return Err((line, "a `console` block begins with `$ ` and a command")),
        }
    }
    for call in &mut calls {
        while call.printed.last().is_some_and(String::is_empty) {
            call.printed.pop();
        }
    }
    Ok(calls)
}

/// Whether the lines are those of the page, in which `...` stands for any number of lines.
fn is_alike(page: &[String], printed: &[&str]) -> bool {
    let mut pieces = page.split(|line| line == ANYTHING).peekable();
    let first = pieces.next().unwrap_or_default();
    let begins =
        |rest: &[&str], piece: &[String]| rest.len() >= piece.len() && rest.iter().zip(piece).all(|(a, b)| a == b);
    if !begins(printed, first) {
        return false;
    }
    let mut rest = printed.get(first.len()..).unwrap_or_default();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        let is_last = pieces.peek().is_none();
        let places = 0..=rest.len().saturating_sub(piece.len());
        let mut fitting = places.filter(|at| rest.get(*at..).is_some_and(|rest| begins(rest, piece)));
        // The last piece is the end of what was printed, any other is taken where it first occurs.
        let Some(at) = (if is_last { fitting.next_back() } else { fitting.next() }) else { return false };
        rest = rest.get(at.saturating_add(piece.len())..).unwrap_or_default();
    }
    rest.is_empty()
}

/// A place to run commands in.
struct Folder {
    path: PathBuf,
    search: OsString,
}

impl Folder {
    /// An empty folder with a link to each file and folder at the top of the checkout.
    fn new(workspace: &Workspace, program: &Path, path: &Path) -> Result<Self> {
        if path.exists() {
            fs::remove_dir_all(path).with_context(|| format!("`{}` cannot be removed", path.display()))?;
        }
        fs::create_dir_all(path).with_context(|| format!("`{}` cannot be made", path.display()))?;
        for entry in fs::read_dir(workspace.root())? {
            let entry = entry?;
            if entry.file_name() != ".git" && entry.file_name() != "target" {
                link(&entry.path(), &path.join(entry.file_name()))?;
            }
        }
        let mut search = OsString::from(program.parent().unwrap_or(program));
        if let Some(more) = env::var_os("PATH") {
            search.push(":");
            search.push(more);
        }
        Ok(Self { path: path.to_owned(), search })
    }

    /// The exit code, if the script ended in time, and everything it printed, in the order of printing.
    fn shell(&self, script: &str) -> Result<(Option<i32>, String)> {
        let output = self.path.with_extension("output");
        let file = File::create(&output).with_context(|| format!("`{}` cannot be made", output.display()))?;
        let mut shell = Command::new("bash");
        shell.args(["--noprofile", "--norc", "-eu", "-o", "pipefail", "-c", script]).current_dir(&self.path);
        // No cluster, no colours, no width of a terminal: the same everywhere.
        shell.env_clear().env("PATH", &self.search).env("HOME", &self.path).env("NO_COLOR", "1");
        shell.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let mut child = shell.spawn().context("bash cannot be started: install it to run the samples")?;
        let start = Instant::now();
        let code = loop {
            if let Some(status) = child.try_wait()? {
                break status.code();
            }
            if start.elapsed() > LIMIT {
                child.kill()?;
                child.wait()?;
                break None;
            }
            sleep(Duration::from_millis(5));
        };
        let bytes = fs::read(&output).with_context(|| format!("`{}` cannot be read", output.display()))?;
        Ok((code, String::from_utf8_lossy(&bytes).into_owned()))
    }
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> Result<()> {
    std::os::unix::fs::symlink(from, to).with_context(|| format!("`{}` cannot be made", to.display()))
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> Result<()> {
    anyhow::bail!("the samples of the pages are scripts for a Unix shell: run them there")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(text: &str) -> Sample {
        Sample { line: 10, kind: Kind::Console, text: text.to_owned(), not_run: None }
    }

    #[test]
    fn a_console_block_is_commands_with_what_they_print() {
        let found = calls(&sample("$ a \\\n    b\none\n\ntwo\n\n$ c\n")).unwrap();
        let call = |line, command: &str, printed: &[&str]| Call {
            line,
            command: command.to_owned(),
            printed: printed.iter().map(|line| (*line).to_owned()).collect(),
        };
        assert_eq!(found, [call(10, "a \\\n    b", &["one", "", "two"]), call(16, "c", &[])]);
        assert!(calls(&sample("a\n")).is_err());
    }

    #[test]
    fn dots_stand_for_any_number_of_lines() {
        let alike = |page: &str, printed: &str| {
            let page: Vec<String> = page.split(' ').filter(|line| !line.is_empty()).map(str::to_owned).collect();
            let printed: Vec<&str> = printed.split(' ').filter(|line| !line.is_empty()).collect();
            is_alike(&page, &printed)
        };
        for (page, printed) in [
            ("a b", "a b"),
            ("", ""),
            ("...", ""),
            ("... b", "a b b"),
            ("a ...", "a"),
            ("a ... c", "a b c"),
            ("a ... c ... e", "a b c d e"),
            ("... b ...", "a b c"),
        ] {
            assert!(alike(page, printed), "{page} {printed}");
        }
        for (page, printed) in
            [("a", "a b"), ("", "a"), ("a b", "a"), ("a ... c", "a b"), ("a ... a", "a"), ("... b", "b a")]
        {
            assert!(!alike(page, printed), "{page} {printed}");
        }
    }

    /// Samples with planted errors, run by a program that stands in for ours.
    #[cfg(unix)]
    #[test]
    fn samples_that_say_something_else_fail() {
        use std::os::unix::fs::PermissionsExt;

        let workspace = Workspace::find().unwrap();
        let place = workspace.path("target/docs/stand-in");
        fs::create_dir_all(&place).unwrap();
        let program = place.join("apportion");
        fs::write(&program, "#!/bin/sh\necho \"said $1\"\nexit \"$2\"\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let text = "\
```console
$ apportion yes 1
said yes
$ apportion no 0
said yes
```
```sh
apportion x 1 > written
cat written README.md > /dev/null
```
```sh
apportion x 2
```
<!-- not run: it would fail -->
```sh
false
```
";
        let mut outcome = Outcome::default();
        run(&workspace, &program, Path::new("planted.md"), &Page::read(text), &mut outcome).unwrap();
        assert_eq!((outcome.passed, outcome.not_run), (1, 1));
        assert_eq!(
            outcome.failed,
            ["planted.md:4: `apportion no 0` prints\nsaid no", "planted.md:12: exit code 1\nsaid x\n"]
        );
    }
}
