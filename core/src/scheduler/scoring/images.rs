//! Nodes compared by the images that they have already.
//!
//! Source: `pkg/scheduler/framework/plugins/imagelocality`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::MOST;
use crate::api::node::Node;
use crate::api::pod::Pod;
use crate::profile::Version;

const MIB: i64 = 1 << 20;

/// Less than this counts as nothing.
const LEAST: i64 = 23 * MIB;

/// More than this counts as this, for each container.
const ENOUGH: i64 = 1000 * MIB;

/// Which nodes have which images.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduler) struct Images(BTreeMap<String, (i64, BTreeSet<String>)>);

/// The images of a Pod.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Wanted {
    images: Vec<String>,
    /// How many images a Pod may hope to find.
    count: i64,
}

impl Images {
    /// Takes a node into account, as it was and as it is. Whether images changed.
    pub(in crate::scheduler) fn note(&mut self, before: Option<&Node>, after: Option<&Node>) -> bool {
        let images = |node: &Node| node.status.rest.get("images").cloned().unwrap_or_default();
        let (old, new) = (before.map(images).unwrap_or_default(), after.map(images).unwrap_or_default());
        if old == new {
            return false;
        }
        for (name, _) in named(&old) {
            let (Some((_, nodes)), Some(node)) = (self.0.get_mut(name), before) else { continue };
            nodes.remove(&node.metadata.name);
            if nodes.is_empty() {
                self.0.remove(name);
            }
        }
        if let Some(node) = after {
            for (name, size) in named(&new) {
                let (_, nodes) = self.0.entry(name.to_owned()).or_insert_with(|| (size, BTreeSet::new()));
                nodes.insert(node.metadata.name.clone());
            }
        }
        true
    }

    /// How good a node is, among so many.
    pub(super) fn score(&self, wanted: &Wanted, node: &str, count: usize) -> i64 {
        let scaled = |image: &String| {
            let (size, nodes) = self.0.get(image).filter(|(_, nodes)| nodes.contains(node))?;
            Some((*size as f64 * (nodes.len() as f64 / count as f64)) as i64)
        };
        let sum = wanted.images.iter().filter_map(scaled).fold(0i64, i64::saturating_add);
        let most = ENOUGH.saturating_mul(wanted.count).max(LEAST);
        let above = sum.clamp(LEAST, most).saturating_sub(LEAST);
        above.saturating_mul(MOST).checked_div(most.saturating_sub(LEAST)).unwrap_or_default()
    }
}

fn named(images: &Value) -> impl Iterator<Item = (&str, i64)> {
    images.as_array().into_iter().flatten().flat_map(|image| {
        let size = image.get("sizeBytes").and_then(Value::as_i64).unwrap_or_default();
        let names = image.get("names").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str).map(move |name| (name, size))
    })
}

impl Wanted {
    /// The images of a Pod; from 1.36 on also those of its volumes, which 1.37 counts.
    pub(super) fn of(pod: &Pod, version: Version) -> Self {
        let spec = &pod.spec;
        let containers = spec.init_containers.iter().chain(&spec.containers).map(|container| container.image.as_str());
        let volumes = spec.rest.get("volumes").and_then(Value::as_array).filter(|_| version >= Version::V1_36);
        let volumes = volumes.into_iter().flatten().filter_map(|volume| volume.pointer("/image/reference")?.as_str());
        let images: Vec<String> = containers.chain(volumes).map(full_name).collect();
        let count = match version {
            Version::V1_34 | Version::V1_35 | Version::V1_36 => {
                spec.init_containers.len().saturating_add(spec.containers.len())
            }
            Version::V1_37 | Version::V1_38 | Version::All => images.len(),
        };
        Self { images, count: i64::try_from(count).unwrap_or(i64::MAX) }
    }
}

/// An image with its tag.
pub(crate) fn full_name(image: &str) -> String {
    match image.rfind(':') <= image.rfind('/') {
        true => format!("{image}:latest"),
        false => image.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::read::{Json, Path};

    fn pod(spec: Value) -> Pod {
        Pod::read(json!({ "metadata": { "name": "p" }, "spec": spec }), &Path::ROOT, &mut Vec::new()).unwrap()
    }

    fn images(nodes: &[(&str, &str, i64)]) -> Images {
        let mut images = Images::default();
        for (name, image, mib) in nodes {
            let status = json!({ "images": [{ "names": [image], "sizeBytes": mib * MIB }] });
            let node = json!({ "metadata": { "name": name }, "status": status });
            assert!(images.note(None, Some(&Node::read(node, &Path::ROOT, &mut Vec::new()).unwrap())));
        }
        images
    }

    #[test]
    fn scores_are_those_of_the_upstream_tests() {
        // From `image_locality_test.go` of 1.36.
        let images = images(&[("a", "gcr.io/40:latest", 40), ("b", "gcr.io/250:latest", 250)]);
        let pod = pod(
            json!({ "containers": [{ "name": "c", "image": "gcr.io/40" }, { "name": "d", "image": "gcr.io/250" }] }),
        );
        let wanted = Wanted::of(&pod, Version::V1_36);
        assert_eq!(["a", "b"].map(|node| images.score(&wanted, node, 2)), [0, 5]);
    }

    #[test]
    fn images_of_volumes_count_by_version() {
        let images = images(&[("a", "r:5000/model:latest", 250), ("b", "other:1", 1)]);
        let volumes = json!([{ "name": "v", "image": { "reference": "r:5000/model" } }]);
        let pod = pod(json!({ "containers": [{ "name": "c", "image": "none" }], "volumes": volumes }));
        let score = |version| images.score(&Wanted::of(&pod, version), "a", 2);
        assert_eq!([Version::V1_35, Version::V1_36, Version::V1_37].map(score), [0, 10, 5]);
    }
}
