//! An API server in this process: objects in memory, lists in pages, watches, preconditions, and faults on demand.

#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, of which each program uses a part"
)]

pub(crate) mod answer;
mod store;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

pub(crate) use store::{Change, Fault, Request, Store};

/// A running server; it ends with this value.
pub(crate) struct ApiServer {
    pub(crate) address: SocketAddr,
    store: Arc<Mutex<Store>>,
    changed: watch::Sender<u64>,
    folder: PathBuf,
    /// Last, so that requests end first.
    _runtime: Runtime,
}

impl ApiServer {
    pub(crate) fn start(name: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let store = Arc::new(Mutex::new(Store::default()));
        let (changed, seen) = watch::channel(0);
        let shared = (Arc::clone(&store), changed.clone());
        runtime.spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                let (shared, seen) = (shared.clone(), seen.clone());
                tokio::spawn(async move {
                    let service = service_fn(|request| {
                        let (shared, seen) = (shared.clone(), seen.clone());
                        async move { answer::answer(shared.0, shared.1, seen, request).await }
                    });
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        let folder = std::env::temp_dir().join(format!("apportion-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let server = Self { address, store, changed, folder, _runtime: runtime };
        std::fs::write(server.kubeconfig(), server.kubeconfig_text()).unwrap();
        server
    }

    /// The path of a kubeconfig that names this server.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    fn kubeconfig_text(&self) -> String {
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{ "name": "test", "cluster": { "server": format!("http://{}", self.address) } }],
            "contexts": [{ "name": "test", "context": { "cluster": "test", "user": "test" } }],
            "users": [{ "name": "test", "user": {} }],
        })
        .to_string()
    }

    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap()
    }

    fn tell(&self) {
        self.changed.send_modify(|number| *number += 1);
    }

    /// Stores objects, as their authors would; those that are there are replaced.
    pub(crate) fn apply(&self, objects: &[Value]) {
        for object in objects {
            self.store().given(|store| store.put(object.clone()));
        }
        self.tell();
    }

    pub(crate) fn apply_yaml(&self, text: &str) {
        let mut objects = Vec::new();
        let _ = apportion_yaml::read_each(text.as_bytes(), &apportion_yaml::Limits::default(), |document| {
            objects.push(document.value);
        });
        self.apply(&objects);
    }

    pub(crate) fn delete(&self, plural: &str, namespace: &str, name: &str) {
        self.store().given(|store| store.delete(plural, namespace, name));
        self.tell();
    }

    pub(crate) fn get(&self, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        self.store().get(plural, namespace, name)
    }

    pub(crate) fn list(&self, plural: &str) -> Vec<Value> {
        self.store().list(plural)
    }

    /// Lets all watches end, as a server that restarts does.
    pub(crate) fn cut_watches(&self) {
        self.store().cut += 1;
        self.tell();
    }

    /// Waits until something holds, for at most some seconds.
    pub(crate) fn until<T>(&self, what: &str, seconds: u64, mut holds: impl FnMut(&Self) -> Option<T>) -> T {
        let end = std::time::Instant::now() + Duration::from_secs(seconds);
        loop {
            if let Some(found) = holds(self) {
                return found;
            }
            assert!(std::time::Instant::now() < end, "waited {seconds} s for: {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        if !std::thread::panicking() {
            let broken = self.store().broken_laws();
            assert!(broken.is_empty(), "laws were broken: {broken:?}");
        }
    }
}

/// What hyper wants an answer to be.
pub(crate) type Answered<B> = Result<hyper::Response<B>, Infallible>;
