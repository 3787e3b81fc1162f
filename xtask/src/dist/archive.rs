//! Archives whose bytes depend on their content alone.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

/// 1 January 2020: some tools do not take the beginning of 1970.
const TIME: u64 = 1_577_836_800;

/// Writes a folder as `stem/...` into a `.tar.gz`: files in order, without owner and times.
pub(super) fn write(folder: &Path, stem: &str, file: &Path) -> Result<()> {
    let made = File::create(file).with_context(|| format!("`{}` cannot be made", file.display()))?;
    let mut archive = Builder::new(GzEncoder::new(made, Compression::best()));
    let mut files = Vec::new();
    list(folder, &mut files)?;
    files.sort();
    for path in files {
        let bytes = fs::read(&path).with_context(|| format!("`{}` cannot be read", path.display()))?;
        let below = path.strip_prefix(folder)?;
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(bytes.len() as u64);
        header.set_mtime(TIME);
        let is_program = ["apportion", "apportion.exe"].iter().any(|name| below == Path::new(name));
        header.set_mode(if is_program { 0o755 } else { 0o644 });
        archive.append_data(&mut header, Path::new(stem).join(below), bytes.as_slice())?;
    }
    archive.into_inner()?.finish()?.flush()?;
    Ok(())
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("`{}` cannot be listed", folder.display()))? {
        let path = entry?.path();
        match path.is_dir() {
            true => list(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

/// Unpacks an archive below a folder.
pub(super) fn unpack(file: &Path, folder: &Path) -> Result<()> {
    let packed = File::open(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
    let mut archive = tar::Archive::new(GzDecoder::new(packed));
    archive.unpack(folder).with_context(|| format!("`{}` cannot be unpacked", file.display()))
}

#[cfg(test)]
mod tests {
    use std::env::temp_dir;

    use super::*;

    #[test]
    fn equal_content_gives_equal_archives() {
        let place = temp_dir().join(format!("apportion-archive-{}", std::process::id()));
        let content = place.join("content");
        fs::create_dir_all(content.join("man")).unwrap();
        fs::write(content.join("man/apportion.1"), "page").unwrap();
        fs::write(content.join("apportion"), "program").unwrap();
        fs::write(content.join("apportion.cdx.json"), "{}").unwrap();
        let made = |name: &str| {
            let file = place.join(name);
            write(&content, "apportion-1", &file).unwrap();
            fs::read(file).unwrap()
        };
        assert_eq!(made("one.tar.gz"), made("two.tar.gz"));
        unpack(&place.join("one.tar.gz"), &place.join("root")).unwrap();
        assert_eq!(fs::read_to_string(place.join("root/apportion-1/man/apportion.1")).unwrap(), "page");
        #[cfg(unix)]
        for (name, mode) in [("apportion", 0o755), ("apportion.cdx.json", 0o644)] {
            use std::os::unix::fs::PermissionsExt;
            let data = fs::metadata(place.join("root/apportion-1").join(name)).unwrap();
            assert_eq!(data.permissions().mode() & 0o777, mode, "{name}");
        }
        fs::remove_dir_all(place).unwrap();
    }
}
