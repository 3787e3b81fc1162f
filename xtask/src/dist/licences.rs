//! The licences of everything that is linked, in one text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::sbom::Part;

/// Beginnings of the names of files with licences and notices.
const NAMES: [&str; 5] = ["licence", "license", "copying", "notice", "unlicense"];

/// Equal texts once, with the parts that they are of; before them a list of all parts with the names of their licences.
pub(super) fn text(parts: &[Part]) -> Result<String> {
    let mut made =
        String::from("Apportion contains these works of others, under the licences named and printed below.\n\n");
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for part in parts.iter().filter(|part| !part.is_ours()) {
        made.push_str(&format!("{} {}: {}\n", part.name, part.version, part.license));
        for text in part.folder.iter().map(|folder| of(folder)).collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            texts.entry(text).or_default().push(&part.name);
        }
    }
    for (text, names) in texts {
        made.push_str(&format!("\n{}\n{}\n\n{}\n", "-".repeat(80), names.join(", "), text.trim_end()));
    }
    Ok(made)
}

/// Licences and notices in the top folder of a package.
fn of(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    // A package that nobody installed here is listed by name only.
    let Ok(entries) = fs::read_dir(folder) else { return Ok(texts) };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            let bytes = fs::read(&path).with_context(|| format!("`{}` cannot be read", path.display()))?;
            texts.push(String::from_utf8_lossy(&bytes).replace('\r', ""));
        }
    }
    texts.sort();
    Ok(texts)
}
