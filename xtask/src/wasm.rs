//! Builds one crate of the workspace for wasm.

use std::path::PathBuf;

use anyhow::Result;

use crate::Workspace;
use crate::command::run;
use crate::toolchain::{TARGET, Toolchain};

/// Builds `package` with a profile of the workspace and returns the module's path.
///
/// # Errors
///
/// When the build fails; the compiler's own messages are on stderr.
pub fn module(workspace: &Workspace, toolchain: &Toolchain, package: &str, profile: &str) -> Result<PathBuf> {
    let target_dir = workspace.wasm_dir();
    let mut cargo = toolchain.cargo_build(workspace);
    cargo.args(["--profile", profile, "--quiet", "--package", package]).arg("--target-dir").arg(&target_dir);
    let way_out =
        "the compiler's message is above; when it says that the lock file needs an update, run `cargo update -w`";
    run(&mut cargo, &format!("building `{package}` for {TARGET}"), way_out)?;
    Ok(target_dir.join(TARGET).join(profile).join(format!("{}.wasm", package.replace('-', "_"))))
}

/// One section of a core module.
pub(crate) struct Section<'m> {
    /// What it holds.
    pub(crate) id: u8,
    body: &'m [u8],
    /// With id and length.
    whole: &'m [u8],
}

/// The sections of a core module. `None` when the bytes are not a module.
pub(crate) fn sections(module: &[u8]) -> Option<Vec<Section<'_>>> {
    let mut rest = module.split_at_checked(8)?.1;
    let mut sections = Vec::new();
    while let Some((id, after_id)) = rest.split_first() {
        let (length, after_length) = leb128(after_id)?;
        let (body, next) = after_length.split_at_checked(length)?;
        let whole = rest.get(..rest.len().checked_sub(next.len())?)?;
        sections.push(Section { id: *id, body, whole });
        rest = next;
    }
    Some(sections)
}

/// A core module without its `name` section, which tells functions' names to debuggers and is a good part of the bytes.
/// `None` when the bytes are not a module.
#[must_use]
pub fn without_names(module: &[u8]) -> Option<Vec<u8>> {
    let mut kept = module.get(..8)?.to_vec();
    // Section 0 is custom, its name comes first: length, then bytes.
    let is_names = |section: &Section<'_>| section.id == 0 && section.body.starts_with(b"\x04name");
    sections(module)?.iter().filter(|section| !is_names(section)).for_each(|section| kept.extend(section.whole));
    Some(kept)
}

fn leb128(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        value |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_section_goes() {
        let header = b"\0asm\x01\0\0\0";
        let module = [&header[..], &[1, 1, 0], &[0, 6, 4], b"name\x01", &[0, 5, 4], b"type", &[3, 1, 0]].concat();
        let expected = [&header[..], &[1, 1, 0], &[0, 5, 4], b"type", &[3, 1, 0]].concat();
        assert_eq!(without_names(&module), Some(expected));
        assert_eq!(without_names(&module[..module.len() - 1]), None);
        assert_eq!(without_names(b"text"), None);
    }
}
