//! The component: `wit/guest` built for wasm and wrapped in its contract.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use wit_component::{ComponentEncoder, DecodedWasm};
use wit_parser::{Resolve, TypeDefKind, TypeId, WorldItem};

use crate::fingerprint::{Fingerprint, lock};
use crate::toolchain::Toolchain;
use crate::{Workspace, wasm};

/// Everything the component is made from.
pub const INPUTS: [&str; 7] = [
    "Cargo.toml",
    "Cargo.lock",
    "core",
    "wit",
    "xtask/src/component.rs",
    "xtask/src/toolchain.rs",
    "xtask/src/wasm.rs",
];

/// A built component.
#[derive(Clone, Debug)]
pub struct Component {
    /// `target/wasm/apportion.wasm`.
    pub path: PathBuf,
    /// Whether this call made it; otherwise it was already up to date.
    pub is_new: bool,
}

/// Builds the component where it is missing or older than its inputs.
///
/// # Errors
///
/// When no toolchain is found, the build fails, or the result imports anything.
pub fn build(workspace: &Workspace) -> Result<Component> {
    let path = workspace.wasm_dir().join("apportion.wasm");
    let _lock = lock(&workspace.wasm_dir(), ".component.lock")?;
    let inputs = Fingerprint::of(workspace, &INPUTS)?;
    if inputs.is_of(&path) {
        return Ok(Component { path, is_new: false });
    }
    let start = Instant::now();
    let toolchain = Toolchain::find(workspace)?;
    eprintln!("xtask: building the component with {}", toolchain.describe());
    let module = wasm::module(workspace, &toolchain, "apportion-guest", "wasm")?;
    let bytes = fs::read(&module).with_context(|| format!("`{}` cannot be read", module.display()))?;
    let bytes = wasm::without_names(&bytes)
        .with_context(|| format!("`{}` is not a WebAssembly module: remove it and try again", module.display()))?;
    let component = ComponentEncoder::default()
        .validate(true)
        .module(&bytes)
        .and_then(|mut encoder| encoder.encode())
        .context("the module does not fit its contract: compare wit/apportion.wit with wit/guest/src")?;
    refuse_imports(&component)?;
    fs::write(&path, &component).with_context(|| format!("`{}` cannot be written", path.display()))?;
    inputs.note(&path)?;
    eprintln!("xtask: component built in {:.1} s, {} bytes", start.elapsed().as_secs_f64(), component.len());
    Ok(Component { path, is_new: true })
}

/// The names of what a component imports: functions, and interfaces that hold a function or a resource. An interface
/// of plain types is not an import, since nothing can be called through it and no host links anything for it.
///
/// # Errors
///
/// When the bytes are not a component.
pub fn imports(component: &[u8]) -> Result<Vec<String>> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(component)? else {
        bail!("the file holds a WIT package, not a component");
    };
    let world = resolve.worlds.get(world).context("the component has no world")?;
    let calls_out = |item: &WorldItem| match item {
        WorldItem::Function(_) => true,
        WorldItem::Type { id, .. } => is_resource(&resolve, *id),
        WorldItem::Interface { id, .. } => resolve.interfaces.get(*id).is_none_or(|interface| {
            !interface.functions.is_empty() || interface.types.values().any(|id| is_resource(&resolve, *id))
        }),
    };
    let items = world.imports.iter().filter(|(_, item)| calls_out(item));
    Ok(items.map(|(key, _)| resolve.name_world_key(key)).collect())
}

fn is_resource(resolve: &Resolve, id: TypeId) -> bool {
    resolve.types.get(id).is_some_and(|found| matches!(found.kind, TypeDefKind::Resource | TypeDefKind::Handle(_)))
}

fn refuse_imports(component: &[u8]) -> Result<()> {
    let found = imports(component)?;
    if let Some(first) = found.first() {
        bail!(
            "the component imports `{first}`, but it must import nothing: remove what calls it from core or wit/guest, \
             and the import from wit/apportion.wit"
        );
    }
    Ok(())
}
