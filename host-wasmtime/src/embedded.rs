//! The component inside the program, as machine code of the program's target with baseline instructions only.

use std::sync::{Arc, OnceLock};

use wasmtime::component::Component;
use wasmtime::{Config, CustomCodeMemory, Engine};

use crate::error::Error;
use crate::guard;
use crate::settings::{self, Pace};

/// Where wasmtime looks for the parts of its code.
#[repr(C, align(4096))]
struct Code<const LENGTH: usize>([u8; LENGTH]);

/// Includes a file of the build script. On Linux it is a part of the program's own code: executable as it is, read from the file page by
/// page when it is needed, and the same memory for all processes.
macro_rules! code {
    ($name:ident, $section:literal, $file:literal) => {
        #[cfg_attr(target_os = "linux", expect(unsafe_code, reason = "nothing else is in this section"))]
        #[cfg_attr(target_os = "linux", unsafe(link_section = $section))]
        static $name: Code<{ include_bytes!(concat!(env!("OUT_DIR"), $file)).len() }> =
            Code(*include_bytes!(concat!(env!("OUT_DIR"), $file)));
    };
}

code!(FREE_CODE, ".text.free", "/free.cwasm");
// The same, in which a call can be ended from outside.
code!(TIMED_CODE, ".text.timed", "/timed.cwasm");

/// Code that is executable where it lies.
struct InPlace;

impl CustomCodeMemory for InPlace {
    fn required_alignment(&self) -> usize {
        align_of::<Code<0>>()
    }

    fn publish_executable(&self, _: *const u8, _: usize) -> wasmtime::Result<()> {
        Ok(())
    }

    fn unpublish_executable(&self, _: *const u8, _: usize) -> wasmtime::Result<()> {
        Ok(())
    }
}

/// The component in its engine, which are loaded once: code that lies in one place cannot be given to two engines.
///
/// # Errors
///
/// When the embedded code does not fit this processor, or the thread that ends calls cannot be started.
pub(crate) fn component(pace: Pace) -> Result<Component, Error> {
    static FREE: OnceLock<Result<Component, String>> = OnceLock::new();
    static TIMED: OnceLock<Result<Component, String>> = OnceLock::new();
    let loaded = match pace {
        Pace::Free => FREE.get_or_init(|| load(pace, &FREE_CODE.0).map_err(|error| format!("{error:#}"))),
        Pace::Timed => TIMED.get_or_init(|| {
            let component = load(pace, &TIMED_CODE.0).map_err(|error| format!("{error:#}"))?;
            guard::tick(component.engine()).map_err(|error| error.to_string())?;
            Ok(component)
        }),
    };
    loaded.clone().map_err(Error::Load)
}

#[expect(unsafe_code, reason = "the bytes come from this crate's own build script, made by the same wasmtime")]
fn load(pace: Pace, code: &'static [u8]) -> wasmtime::Result<Component> {
    let mut config = Config::new();
    settings::apply(&mut config, pace);
    if cfg!(target_os = "linux") {
        config.with_custom_code_memory(Some(Arc::new(InPlace)));
    }
    let engine = Engine::new(&config)?;
    // SAFETY: see the reason above; nothing can write to a static of the program, which lives as long as it.
    unsafe {
        if cfg!(target_os = "linux") {
            Component::deserialize_raw(&engine, code.into())
        } else {
            Component::deserialize(&engine, code)
        }
    }
}
