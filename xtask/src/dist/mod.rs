//! Releases: an archive of the program for one platform, and what package managers are told about the archives.

mod archive;
mod licences;
mod manifests;

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::command::{cargo, output, program, run};
use crate::{Workspace, sbom, web};

/// What to make.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The platform, as rustc names it; this one without.
    pub target: Option<String>,
    /// A program that was built before.
    pub program: Option<PathBuf>,
    /// Where the archives will be, without the last `/`; `target/dist` itself without.
    pub address: Option<String>,
    /// Only manifests, of the archives that are there.
    pub manifests_only: bool,
}

/// The version of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Makes the archive for one platform, installs from it into an empty folder and tries it there where it runs on this machine; then
/// writes `SHA256SUMS`, the krew manifest and the Homebrew formula of all archives of this version in `target/dist`.
///
/// # Errors
///
/// When something cannot be built, or what was installed does not work.
pub fn dist(workspace: &Workspace, wish: &Wish) -> Result<PathBuf> {
    let folder = workspace.path("target/dist");
    fs::create_dir_all(&folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
    if !wish.manifests_only {
        let host = host()?;
        let target = wish.target.as_deref().unwrap_or(&host);
        let program = match &wish.program {
            Some(program) => program.clone(),
            None => build(workspace, wish.target.as_deref())?,
        };
        let stem = format!("apportion-{VERSION}-{target}");
        let content = folder.join(&stem);
        if !runs_on(target, &host) {
            bail!("a program for {target} cannot be tried on {host}: make its archive on such a machine");
        }
        fill(workspace, &program, &content)?;
        let file = folder.join(format!("{stem}.tar.gz"));
        archive::write(&content, &stem, &file)?;
        fs::remove_dir_all(&content)?;
        let root = workspace.path("target/dist-root");
        try_installed(workspace, &file, &stem, &root)?;
        eprintln!("xtask: {} installs and works", file.display());
    }
    let address = match &wish.address {
        Some(address) => address.clone(),
        None => format!("file://{}", folder.display()),
    };
    let archives = archives(&folder)?;
    if archives.is_empty() {
        bail!("`{}` has no archive of version {VERSION}: run `cargo xtask dist` first", folder.display());
    }
    let head = workspace.path("deploy/krew/apportion.yaml");
    let head = fs::read_to_string(&head).with_context(|| format!("`{}` cannot be read", head.display()))?;
    for (name, text) in [
        ("SHA256SUMS", manifests::sums(&archives)),
        ("krew.yaml", manifests::krew(&head, &archives, &address)),
        ("apportion.rb", manifests::homebrew(&archives, &address)),
    ] {
        fs::write(folder.join(name), text).with_context(|| format!("`{name}` cannot be written"))?;
    }
    Ok(folder)
}

/// An archive of this version.
#[derive(Clone, Debug)]
struct Archive {
    /// With its ending.
    name: String,
    target: String,
    /// SHA-256 in hexadecimal digits.
    sum: String,
}

fn archives(folder: &Path) -> Result<Vec<Archive>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let target = name.strip_prefix(&format!("apportion-{VERSION}-")).and_then(|rest| rest.strip_suffix(".tar.gz"));
        if let Some(target) = target {
            let bytes = fs::read(&path).with_context(|| format!("`{}` cannot be read", path.display()))?;
            found.push(Archive { target: target.to_owned(), sum: sum(&bytes), name });
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn host() -> Result<String> {
    let text = output(Command::new(program("RUSTC", "rustc")).arg("-vV")).context("rustc cannot be started")?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say what it runs on")?.to_owned())
}

/// Whether a machine runs programs of a target: it has to, to write completions and manual pages and to try the archive.
fn runs_on(target: &str, host: &str) -> bool {
    let machine = |triple: &str| -> Vec<String> { triple.split('-').take(3).map(str::to_owned).collect() };
    machine(target) == machine(host)
}

/// Builds the program with the playground in it.
fn build(workspace: &Workspace, target: Option<&str>) -> Result<PathBuf> {
    let page = web::build(workspace)?;
    let mut build = cargo();
    build.current_dir(workspace.root()).args(["build", "--release", "--locked", "--package", "apportion"]);
    build.env("APPORTION_PAGE", page.parent().unwrap_or(&page));
    let mut folder = workspace.target_dir();
    if let Some(target) = target {
        build.args(["--target", target]);
        folder.push(target);
    }
    run(&mut build, "building the program", "the compiler's message is above")?;
    Ok(folder.join("release").join(format!("apportion{EXE_SUFFIX}")))
}

/// Puts everything that the archive holds into a fresh folder.
fn fill(workspace: &Workspace, program: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder.join("completions"))?;
    let installed = folder.join(format!("apportion{EXE_SUFFIX}"));
    copy(program, &installed)?;
    strip(&installed);
    for (shell, name) in [("bash", "apportion.bash"), ("zsh", "_apportion"), ("fish", "apportion.fish")] {
        let made = Command::new(&installed).args(["completions", shell]).stdin(Stdio::null()).output();
        let made = made.with_context(|| format!("`{}` cannot be started", installed.display()))?;
        fs::write(folder.join("completions").join(name), made.stdout)?;
    }
    run(Command::new(&installed).arg("man").arg(folder.join("man")), "writing manual pages", "its message is above")?;
    for name in ["LICENSE", "README.md", "CHANGELOG.md"] {
        copy(&workspace.path(name), &folder.join(name))?;
    }
    copy(&sbom::write(workspace)?, &folder.join("apportion.cdx.json"))?;
    fs::write(folder.join("THIRD-PARTY.txt"), licences::text(&sbom::linked(workspace)?)?)?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("`{}` cannot be copied to `{}`", from.display(), to.display()))?;
    Ok(())
}

/// Symbols are of no use without sources. Where there is no `strip` they stay.
fn strip(program: &Path) {
    let _ = output(Command::new("strip").arg(program));
}

/// Unpacks into an empty folder and uses what is there, and nothing else.
fn try_installed(workspace: &Workspace, file: &Path, stem: &str, root: &Path) -> Result<()> {
    if root.exists() {
        fs::remove_dir_all(root)?;
    }
    archive::unpack(file, root)?;
    let installed = root.join(stem);
    let program = installed.join(format!("apportion{EXE_SUFFIX}"));
    let ask = |arguments: &[&str]| -> Result<(Option<i32>, String)> {
        let mut command = Command::new(&program);
        command.args(arguments).env_clear().current_dir(&installed).stdin(Stdio::null());
        let output = command.output().with_context(|| format!("`{}` cannot be started", program.display()))?;
        Ok((output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned()))
    };
    let version = ask(&["--version"])?;
    if version != (Some(0), format!("apportion {VERSION}\n")) {
        bail!("the installed program gives its version as {version:?}");
    }
    let examples = workspace.path("examples/gpu-sharing");
    let (code, text) = ask(&["run", "-f", &examples.to_string_lossy()])?;
    if code != Some(1) || !text.contains("ml/huge-model") {
        bail!("the installed program answers {code:?} to the first example:\n{text}");
    }
    for part in
        ["completions/apportion.bash", "completions/_apportion", "completions/apportion.fish", "man/apportion.1"]
            .into_iter()
            .chain(["LICENSE", "THIRD-PARTY.txt", "README.md", "CHANGELOG.md", "apportion.cdx.json"])
    {
        if fs::metadata(installed.join(part)).map_or(0, |data| data.len()) == 0 {
            bail!("the archive has no `{part}`, or an empty one");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_made_where_its_program_runs() {
        let linux = "x86_64-unknown-linux-gnu";
        assert!(runs_on("x86_64-unknown-linux-musl", linux));
        for other in ["aarch64-unknown-linux-musl", "x86_64-pc-windows-msvc", "x86_64-apple-darwin"] {
            assert!(!runs_on(other, linux), "{other}");
        }
    }

    #[test]
    fn checksums_are_sha_256() {
        assert_eq!(sum(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
