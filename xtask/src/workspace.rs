//! Where things lie in the checkout.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The checkout that is being built.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The checkout around the package that is running: this crate, or the one whose build script calls.
    ///
    /// # Errors
    ///
    /// When the folder above that package is not the workspace.
    pub fn find() -> Result<Self> {
        let package =
            env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = package.parent().context("the package lies at the root of the file system")?.to_path_buf();
        if !root.join("wit/guest/Cargo.toml").is_file() {
            bail!("`{}` is not a checkout of Apportion: build from a full clone of the repository", root.display());
        }
        Ok(Self { root })
    }

    /// The top folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the top folder.
    #[must_use]
    pub fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    /// Where the wasm builds and their results go: always inside the checkout, also when `CARGO_TARGET_DIR` moves the
    /// rest, because a shared folder would mix the modules of two checkouts.
    #[must_use]
    pub fn wasm_dir(&self) -> PathBuf {
        self.path("target/wasm")
    }

    /// Where cargo puts everything else.
    #[must_use]
    pub fn target_dir(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.path("target"), |dir| self.root.join(dir))
    }
}
