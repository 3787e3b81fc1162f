//! What no rule about a set looks at is dropped at once, so that a set takes a fraction of its objects' room.

use super::json::{Json, kind};

/// Drops of a held object the large parts that the rules about sets do not look at.
pub(super) fn trim(object: &mut Json<'_>) {
    let is_slice = kind(object) == "ResourceSlice";
    let is_template = matches!(kind(object), "ClusterResourceClaimTemplate" | "ResourceClaimTemplate");
    clear(object, &["status"]);
    if let Some(metadata) = inner(object, "metadata") {
        clear(metadata, &["finalizers", "managedFields", "ownerReferences"]);
        // Those of templates may say which namespaces they are for.
        if !is_template {
            clear(metadata, &["annotations"]);
        }
    }
    let devices = inner(object, "spec").and_then(|spec| inner(spec, "devices")).filter(|_| is_slice);
    if let Some(Json::Array(devices)) = devices {
        for device in devices {
            if let Some(basic) = inner(device, "basic") {
                clear(basic, &OF_DEVICE);
            }
            clear(device, &OF_DEVICE);
        }
    }
}

const OF_DEVICE: [&str; 4] = ["attributes", "capacity", "nodeSelector", "taints"];

fn inner<'v, 't>(value: &'v mut Json<'t>, name: &str) -> Option<&'v mut Json<'t>> {
    match value {
        Json::Object(fields) => fields.get_mut(name),
        _ => None,
    }
}

fn clear(value: &mut Json<'_>, names: &[&str]) {
    for name in names {
        if let Some(field) = inner(value, name) {
            *field = Json::Null;
        }
    }
}
