//! What is named and not there, with what was probably meant.

use std::collections::BTreeSet;

use super::words::list;
use crate::allocate::DeviceId;
use crate::cluster::Cluster;
use crate::finding::{Code, Finding, ObjectRef};
use crate::gather::Gather;
use crate::near::nearest_name;

/// That there is no such object.
pub(crate) fn unknown(cluster: &Cluster, object: &ObjectRef) -> Finding {
    let shown = |key: &ObjectRef| match key.namespace.as_str() {
        "" => key.name.clone(),
        namespace => format!("{namespace}/{}", key.name),
    };
    let names: Vec<String> = cluster.keys(&object.kind).map(|key| key.name).collect();
    let message = format!("there is no {} `{}`", object.kind, shown(object));
    let finding = Finding::new(Code::ReadBadSettings, "", message);
    let elsewhere = cluster.keys(&object.kind).find(|key| key.name == object.name);
    finding.with_hint(match (elsewhere, nearest_name(&object.name, names.iter())) {
        (Some(key), _) => format!("did you mean `{}`?", shown(&key)),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) if names.is_empty() => "none is given".to_owned(),
        (None, None) => {
            let all: Vec<String> = cluster.keys(&object.kind).map(|key| shown(&key)).collect();
            format!("there are {}", list(all.iter()))
        }
    })
}

/// That there are no such devices. They are named by driver, pool and device, or by some of these that stand together.
pub(crate) fn unknown_device(cluster: &Cluster, wanted: &str) -> Finding {
    let message =
        if wanted.is_empty() { "there is no device".to_owned() } else { format!("there is no device `{wanted}`") };
    let finding = Finding::new(Code::ReadBadSettings, "", message);
    let ids = || cluster.newest_devices().map(|(slice, device)| DeviceId::of(slice, device));
    let spelled = |DeviceId { driver, pool, device }: DeviceId| {
        let long = format!("{driver}/{pool}/{device}");
        [format!("{driver}/{pool}"), format!("{pool}/{device}"), driver, device, long]
    };
    let known: BTreeSet<String> = ids().flat_map(spelled).gather();
    match (nearest_name(wanted, known.iter()), ids().next()) {
        (Some(near), _) => finding.with_hint(format!("did you mean `{near}`?")),
        (None, Some(DeviceId { driver, pool, device })) => {
            finding.with_hint(format!("one is `{driver}/{pool}/{device}`"))
        }
        (None, None) => finding.with_hint("no ResourceSlice is given"),
    }
}
