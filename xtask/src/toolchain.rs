//! Finds, or makes, a Rust toolchain that can build for `wasm32-unknown-unknown`.
//!
//! In this order: the target is installed for the active toolchain; `rustup target add` installs it; Debian's
//! packages, with the standard library built along. No file of the checkout names a target: with one named in
//! `rust-toolchain.toml`, rustup would refuse every command wherever the target cannot be had.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::command::{self, output, program};
use crate::{Workspace, debian};

/// What both modules are built for.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// The oldest compiler that builds the workspace, as `rust-version` in the root manifest says.
const OLDEST_MINOR: u32 = 95;

/// A way to build for [`TARGET`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// The active toolchain has the target's standard library.
    Active,
    /// Debian's compiler builds the standard library from its sources; the linker is the given one.
    Debian {
        /// A `wasm-ld`.
        linker: PathBuf,
    },
}

impl Toolchain {
    /// Finds a toolchain, installing what is missing where that is possible without asking.
    ///
    /// `APPORTION_WASM_TOOLCHAIN=active|debian` limits the search to one kind.
    ///
    /// # Errors
    ///
    /// One sentence that says what to install.
    pub fn find(workspace: &Workspace) -> Result<Self> {
        let only = env::var("APPORTION_WASM_TOOLCHAIN").unwrap_or_default();
        let chosen = workspace.wasm_dir().join("toolchain");
        if only != "debian" {
            if is_installed(workspace) {
                return Ok(Self::Active);
            }
            // An earlier run already learnt that rustup cannot help here; asking it again would only cost time.
            let rustup_failed = fs::read_to_string(&chosen).is_ok_and(|text| text.trim() == "debian");
            if !rustup_failed && rustup_adds_target(workspace) && is_installed(workspace) {
                return Ok(Self::Active);
            }
        }
        if only != "active" {
            let found = match debians() {
                Some(found) => Some(found),
                None if install_debian_packages(workspace) => debians(),
                None => None,
            };
            if let Some(found) = found {
                fs::create_dir_all(workspace.wasm_dir())?;
                fs::write(&chosen, "debian\n")?;
                return Ok(found);
            }
        }
        bail!(
            "no Rust toolchain here can build for {TARGET}: run `rustup target add {TARGET}`, or on Debian 12 as root \
             `apt-get install rustc-web cargo-web rust-web-src lld-22`, then try again"
        )
    }

    /// The start of a cargo command for the target: program, environment, and the flags that build the standard
    /// library where it has to be built. The caller adds `build` arguments.
    #[must_use]
    pub fn cargo_build(&self, workspace: &Workspace) -> Command {
        let mut command = match self {
            Self::Active => command::cargo(),
            Self::Debian { .. } => Command::new("/usr/bin/cargo"),
        };
        command::without_cargo_environment(&mut command);
        command.current_dir(workspace.root()).args(["build", "--locked", "--target", TARGET]);
        // The paths of this machine stay out of what is shipped.
        let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
        let mut flags = OsString::from("--remap-path-prefix=");
        flags.push(workspace.root());
        flags.push("=/apportion");
        if let Some(home) = home {
            flags.push("\u{1f}--remap-path-prefix=");
            flags.push(home);
            flags.push("=/cargo");
        }
        // Selectors may nest 250 deep; a megabyte, the default, is not enough for the deepest.
        flags.push("\u{1f}-Clink-arg=-zstack-size=8388608");
        // Addresses take the bytes that they need; the linker by itself pads each to five.
        flags.push("\u{1f}-Clink-arg=--compress-relocations");
        // Functions of equal code are kept once; by itself the compiler has that done only where code is to be fast.
        flags.push("\u{1f}-Cpasses=mergefunc");
        command.env("CARGO_ENCODED_RUSTFLAGS", flags);
        if let Self::Debian { linker } = self {
            command
                .env("RUSTC", "/usr/bin/rustc")
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                .arg("-Zbuild-std=std,panic_abort");
        }
        command
    }

    /// One line that names compiler and way, for messages and fingerprints.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Active => version(&program("RUSTC", "rustc")).unwrap_or_default(),
            Self::Debian { linker } => {
                let version = version(&"/usr/bin/rustc".into()).unwrap_or_default();
                format!("{version}, standard library from source, {}", linker.display())
            }
        }
    }
}

fn version(rustc: &OsString) -> Option<String> {
    output(Command::new(rustc).arg("--version"))
}

fn is_installed(workspace: &Workspace) -> bool {
    let rustc = program("RUSTC", "rustc");
    output(Command::new(rustc).args(["--print", "sysroot"]).current_dir(workspace.root()))
        .is_some_and(|sysroot| Path::new(&sysroot).join("lib/rustlib").join(TARGET).join("lib").is_dir())
}

/// Quiet: where rustup is missing or cannot download, the next way is tried.
fn rustup_adds_target(workspace: &Workspace) -> bool {
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", TARGET]).current_dir(workspace.root());
    // A slow answer is worth waiting for, no answer is not.
    rustup.env("RUSTUP_MAX_RETRIES", "1");
    output(&mut rustup).is_some()
}

fn debians() -> Option<Toolchain> {
    let rustc = version(&"/usr/bin/rustc".into())?;
    let is_new_enough = minor(&rustc).is_some_and(|minor| minor >= OLDEST_MINOR);
    let has_sources = Path::new("/usr/lib/rustlib/src/rust/library/std/Cargo.toml").is_file();
    let has_cargo = Path::new("/usr/bin/cargo").is_file();
    if !(is_new_enough && has_sources && has_cargo) {
        return None;
    }
    Some(Toolchain::Debian { linker: newest_linker()? })
}

/// `rustc 1.96.0 (...)` is 96.
fn minor(version: &str) -> Option<u32> {
    version.strip_prefix("rustc 1.")?.split('.').next()?.parse().ok()
}

fn newest_linker() -> Option<PathBuf> {
    let names = fs::read_dir("/usr/bin").ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let newest = names.filter_map(|name| name.strip_prefix("wasm-ld-")?.parse::<u32>().ok()).max()?;
    Some(PathBuf::from(format!("/usr/bin/wasm-ld-{newest}")))
}

fn install_debian_packages(workspace: &Workspace) -> bool {
    debian::install(workspace, "Rust for WebAssembly", || {
        let linker = newest_linker_package()?;
        let packages = ["rustc-web", "cargo-web", "rust-web-src", &linker];
        debian::has_candidate("rust-web-src").then(|| packages.map(str::to_owned).to_vec())
    })
}

/// Debian 12 has `lld-13` to `lld-22`; a linker should not be older than the compiler's LLVM.
fn newest_linker_package() -> Option<String> {
    let found = output(Command::new("apt-cache").args(["pkgnames", "lld-"]))?;
    let newest = found.lines().filter_map(|name| name.strip_prefix("lld-")?.parse::<u32>().ok()).max()?;
    Some(format!("lld-{newest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minor_version_is_read_from_rustc() {
        assert_eq!(minor("rustc 1.96.0 (abc 2026-05-01) (built from a source tarball)"), Some(96));
        assert_eq!(minor("rustc 1.95.0-nightly"), Some(95));
        assert_eq!(minor("clang 19"), None);
    }

    #[test]
    fn the_oldest_compiler_is_the_workspaces() {
        let manifest = fs::read_to_string(Workspace::find().unwrap().path("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("rust-version = \"1.{OLDEST_MINOR}\"")));
    }
}
