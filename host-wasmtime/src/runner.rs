//! One per program: the engine and the component, ready to be instantiated.

use std::fmt;

use apportion_core::allocate::Limits;
use apportion_core::profile::Profile;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store};

use crate::bindings::{Dra, DraPre};
use crate::cluster::Cluster;
use crate::embedded;
use crate::error::Error;
use crate::guard::{self, Guard, HostLimits};
use crate::settings::{self, Pace};

/// The component, loaded and linked once. Cheap to clone.
#[derive(Clone)]
pub struct Runner {
    pre: DraPre<Guard>,
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").finish_non_exhaustive()
    }
}

impl Runner {
    /// Loads the embedded component, as fast as it can be. No call of it can be ended from outside.
    ///
    /// # Errors
    ///
    /// When the embedded code does not fit this processor.
    pub fn new() -> Result<Self, Error> {
        Self::of(&embedded::component(Pace::Free)?)
    }

    /// Loads the embedded component for a program that must not hang: each call ends within [`HostLimits::time`].
    ///
    /// # Errors
    ///
    /// When the embedded code does not fit this processor, or no thread can be started.
    pub fn timed() -> Result<Self, Error> {
        Self::of(&embedded::component(Pace::Timed)?)
    }

    /// Compiles a component given as WebAssembly, which takes seconds.
    ///
    /// # Errors
    ///
    /// When the bytes are no component, or one that imports something or does not keep the contract.
    pub fn from_wasm(bytes: &[u8]) -> Result<Self, Error> {
        let mut config = Config::new();
        settings::apply(&mut config, Pace::Free);
        let engine = Engine::new(&config).map_err(load_error)?;
        let component = Component::from_binary(&engine, bytes).map_err(load_error)?;
        Self::of(&component)
    }

    fn of(component: &Component) -> Result<Self, Error> {
        // INVARIANT: nothing is ever added to the linker.
        let linker = Linker::new(component.engine());
        let pre = linker.instantiate_pre(component).and_then(DraPre::new).map_err(load_error)?;
        Ok(Self { pre })
    }

    /// Names of what the component imports; empty.
    pub fn imports(&self) -> Vec<String> {
        let component = self.pre.instance_pre().component();
        component.component_type().imports(component.engine()).map(|(name, _)| name.to_owned()).collect()
    }

    /// An empty cluster of a given Kubernetes in an instance of its own.
    ///
    /// # Errors
    ///
    /// When an instance cannot be had within the limits.
    pub fn cluster(&self, profile: &Profile, limits: Limits, host_limits: HostLimits) -> Result<Cluster, Error> {
        Cluster::new(self.clone(), profile, limits, host_limits)
    }

    /// A fresh instance in a store of its own.
    pub(crate) fn instantiate(&self, limits: HostLimits) -> wasmtime::Result<(Store<Guard>, Dra)> {
        let mut store = Store::new(self.pre.engine(), Guard { limits });
        store.limiter(|guard| guard);
        guard::start(&mut store);
        let instance = self.pre.instantiate(&mut store)?;
        Ok((store, instance))
    }
}

fn load_error(error: wasmtime::Error) -> Error {
    Error::Load(format!("{error:#}"))
}
