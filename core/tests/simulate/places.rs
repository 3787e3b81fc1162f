//! Where Pods land and which devices their claims get.

use apportion_core::finding::Code;
use serde_json::json;

use crate::support::{CLASS, Ran, codes, gpu_pod, pod, run, slice};

fn devices(ran: &Ran, pod: &str, entry: &str) -> Vec<String> {
    let claim = ran.claim_of(pod, entry);
    claim.devices.iter().map(|device| format!("{}/{}", device.pool, device.device)).collect()
}

const SHARED: &str = "
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { namespace: default, name: shared }
spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu.example.com } }] } }
---
";

/// r_318: a device must match, and be one of a node that suits the Pod.
#[test]
fn r_318_devices_match_and_can_be_reached() {
    let node = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{ name: {name}, labels: {{ zone: {name} }} }}\nstatus: {{ allocatable: {{ cpu: '4', pods: '10' }} }}\n---\n"
        )
    };
    let others = slice("b", 1).replace("gpu.example.com", "a.example.com").replace("gpu", "other");
    let chosen = pod(
        "one",
        "  nodeSelector: { zone: b }\n  resourceClaims: [{ name: gpu, resourceClaimTemplateName: one-gpu }]",
    );
    let ran = run(&format!("{CLASS}{}{}{}{}{others}{chosen}", node("a"), node("b"), slice("a", 1), slice("b", 1)));
    assert_eq!(devices(&ran, "one", "gpu"), ["b/gpu-0"]);
}

#[test]
fn r_318_r_319_claims_get_devices_and_pods_their_node() {
    let pods = [gpu_pod("one"), gpu_pod("two"), gpu_pod("three")].concat();
    let ran = run(&format!("{CLASS}{}{}{pods}", slice("a", 1), slice("b", 2)));
    assert_eq!(devices(&ran, "one", "gpu"), ["a/gpu-0"]);
    assert_eq!(devices(&ran, "two", "gpu"), ["b/gpu-0"]);
    assert_eq!(devices(&ran, "three", "gpu"), ["b/gpu-1"]);
    assert_eq!(ran.pod("three").node.as_deref(), Some("b"));
    assert_eq!(ran.report.nodes[1].allocated_devices, 2);
    assert_eq!(ran.report.nodes[1].pods, ["default/two", "default/three"]);

    let claim = ran.claim_object("default", &ran.claim_of("one", "gpu").name);
    assert_eq!(claim.metadata.finalizers, ["resource.kubernetes.io/delete-protection"]);
    let consumer = &claim.status.reserved_for[0];
    assert_eq!((consumer.api_group.as_str(), consumer.resource.as_str(), consumer.name.as_str()), ("", "pods", "one"));
    assert_eq!(consumer.uid, ran.pod_object("one").metadata.uid);
    assert_eq!(ran.pod_object("one").spec.node_name, "a");
}

#[test]
fn r_303_pods_that_share_a_claim_share_its_node() {
    let reference = "  resourceClaims: [{ name: gpu, resourceClaimName: shared }]";
    let filler = gpu_pod("filler");
    let ran = run(&format!(
        "{CLASS}{SHARED}{}{}{filler}{}{}",
        slice("a", 1),
        slice("b", 1),
        pod("one", reference),
        pod("two", reference)
    ));
    assert_eq!(ran.pod("filler").node.as_deref(), Some("a"));
    assert_eq!(ran.pod("one").node.as_deref(), Some("b"));
    assert_eq!(ran.pod("two").node.as_deref(), Some("b"));
    assert_eq!(ran.claim_of("two", "gpu").reserved_for, ["default/one", "default/two"]);
}

#[test]
fn several_claims_of_a_pod_are_allocated_on_one_node() {
    let spec = "  resourceClaims:
  - { name: x, resourceClaimTemplateName: one-gpu }
  - { name: w, resourceClaimTemplateName: one-gpu }
  - { name: z, resourceClaimName: shared }
  - { name: again, resourceClaimName: shared }";
    let ran = run(&format!("{CLASS}{SHARED}{}{}{}", slice("a", 2), slice("b", 3), pod("p", spec)));
    assert_eq!(ran.pod("p").node.as_deref(), Some("b"));
    assert_eq!(devices(&ran, "p", "x"), ["b/gpu-0"]);
    assert_eq!(devices(&ran, "p", "w"), ["b/gpu-1"]);
    assert_eq!(devices(&ran, "p", "z"), ["b/gpu-2"]);
}

#[test]
fn r_327_r_330_admin_access_looks_at_devices_in_use() {
    let ran = run(&format!(
        "{CLASS}{}{}
apiVersion: v1
kind: Namespace
metadata: {{ name: default, labels: {{ resource.kubernetes.io/admin-access: 'true' }} }}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ namespace: default, name: watch }}
spec: {{ devices: {{ requests: [{{ name: gpus, exactly: {{ deviceClassName: gpu.example.com, adminAccess: true, allocationMode: All }} }}] }} }}
---
{}",
        slice("a", 2),
        gpu_pod("user"),
        pod("watcher", "  resourceClaims: [{ name: gpus, resourceClaimName: watch }]"),
    ));
    assert_eq!(devices(&ran, "watcher", "gpus"), ["a/gpu-0", "a/gpu-1"]);
    assert!(ran.claim_of("watcher", "gpus").devices.iter().all(|device| device.admin_access));
    // Looking is not taking.
    assert_eq!(ran.report.nodes[0].allocated_devices, 1);
}

#[test]
fn r_331_r_332_the_first_alternative_that_fits_is_taken() {
    let slices = |colour: &str| {
        let slice = slice("a", 3);
        slice
            .replace(
                "{ name: gpu-0 }",
                &format!(
                    "{{ name: gpu-0, attributes: {{ size: {{ string: large }}, color: {{ string: {colour} }} }} }}"
                ),
            )
            .replace(
                "{ name: gpu-1 }",
                "{ name: gpu-1, attributes: { size: { string: small }, color: { string: white } } }",
            )
            .replace(
                "{ name: gpu-2 }",
                "{ name: gpu-2, attributes: { size: { string: small }, color: { string: white } } }",
            )
    };
    let cats = format!(
        "apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ namespace: default, name: cats }}
spec:
  devices:
    requests:
    - name: cats
      firstAvailable:
      - name: large-black
        deviceClassName: gpu.example.com
        selectors:
        - cel:
            expression: |-
              device.attributes[\"gpu.example.com\"].color == \"black\" && device.attributes[\"gpu.example.com\"].size == \"large\"
      - name: small-white
        deviceClassName: gpu.example.com
        count: 2
        selectors:
        - cel:
            expression: |-
              device.attributes[\"gpu.example.com\"].color == \"white\" && device.attributes[\"gpu.example.com\"].size == \"small\"
---
{}",
        pod("p", "  resourceClaims: [{ name: cats, resourceClaimName: cats }]")
    );
    let requests = |ran: &Ran| {
        let claim = ran.claim_of("p", "cats");
        claim.devices.iter().map(|device| format!("{} {}", device.request, device.device)).collect::<Vec<_>>()
    };
    let black = run(&format!("{CLASS}{}{cats}", slices("black")));
    assert_eq!(requests(&black), ["cats/large-black gpu-0"]);
    let grey = run(&format!("{CLASS}{}{cats}", slices("grey")));
    assert_eq!(requests(&grey), ["cats/small-white gpu-1", "cats/small-white gpu-2"]);
}

#[test]
fn r_302_r_304_r_307_classes_and_selectors_choose_and_class_config_is_applied() {
    let manifests = format!(
        "apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{ name: big }}
spec:
  selectors: [{{ cel: {{ expression: 'device.capacity[\"gpu.example.com\"].memory.compareTo(quantity(\"40Gi\")) >= 0' }} }}]
  config: [{{ opaque: {{ driver: gpu.example.com, parameters: {{ mode: exclusive }} }} }}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ namespace: default, name: want }}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: big
        selectors: [{{ cel: {{ expression: 'device.attributes[\"gpu.example.com\"].model.startsWith(\"atlas\")' }} }}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{ name: s }}
spec:
  driver: gpu.example.com
  nodeName: a
  pool: {{ name: a, generation: 1, resourceSliceCount: 1 }}
  devices:
  - {{ name: small, attributes: {{ model: {{ string: atlas-24 }} }}, capacity: {{ memory: {{ value: 24Gi }} }} }}
  - {{ name: other, attributes: {{ model: {{ string: zephyr }} }}, capacity: {{ memory: {{ value: 80Gi }} }} }}
  - {{ name: right, attributes: {{ model: {{ string: atlas-80 }} }}, capacity: {{ memory: {{ value: 80Gi }} }} }}
---
{}",
        pod("p", "  resourceClaims: [{ name: gpu, resourceClaimName: want }]")
    );
    let ran = run(&manifests);
    assert_eq!(devices(&ran, "p", "gpu"), ["a/right"]);
    let allocation = ran.claim_object("default", "want").status.allocation.as_ref().unwrap();
    assert_eq!(allocation.devices.config[0].source.text(), "FromClass");
    assert_eq!(allocation.devices.config[0].opaque.as_ref().unwrap().parameters["mode"], "exclusive");
}

#[test]
fn r_322_r_324_a_placed_pod_gets_no_allocation() {
    let spec = "  nodeName: a\n  resourceClaims: [{ name: gpu, resourceClaimTemplateName: one-gpu }]";
    let ran = run(&format!("{CLASS}{}{}", slice("a", 1), pod("placed", spec)));
    let placed = ran.pod("placed");
    assert_eq!(placed.node.as_deref(), Some("a"));
    assert_eq!(codes(&placed.reasons), [Code::RunNotAllocated]);
    assert!(placed.claims[0].claim.is_some() && !ran.claim_of("placed", "gpu").allocated);
}

#[test]
fn r_323_r_325_a_placed_pod_is_added_to_an_allocated_claim() {
    let reference = "  resourceClaims: [{ name: gpu, resourceClaimName: shared }]";
    let placed = pod("placed", &format!("  nodeName: a\n{reference}"));
    let ran = run(&format!("{CLASS}{SHARED}{}{placed}{}", slice("a", 1), pod("scheduled", reference)));
    assert_eq!(ran.claim_of("placed", "gpu").reserved_for, ["default/scheduled", "default/placed"]);
    assert!(ran.pod("placed").reasons.is_empty());
}

#[test]
fn r_312_a_generated_claim_may_be_used_by_name() {
    let first = run(&format!("{CLASS}{}{}", slice("a", 1), gpu_pod("owner")));
    let name = &first.claim_of("owner", "gpu").name;
    let guest = pod("guest", &format!("  resourceClaims: [{{ name: gpu, resourceClaimName: {name} }}]"));
    let ran = run(&format!("{CLASS}{}{}{guest}", slice("a", 1), gpu_pod("owner")));
    assert_eq!(ran.claim_of("guest", "gpu").reserved_for, ["default/owner", "default/guest"]);
}

#[test]
fn finished_pods_use_nothing() {
    let finished = |phase: &str| {
        format!(
            "{CLASS}{SHARED}{}
apiVersion: v1
kind: Pod
metadata: {{ name: done, namespace: default, uid: done-uid }}
spec: {{ nodeName: a, containers: [{{ name: c }}], resourceClaims: [{{ name: gpu, resourceClaimName: held }}] }}
status: {{ phase: {phase} }}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ namespace: default, name: held, finalizers: [resource.kubernetes.io/delete-protection] }}
spec: {{ devices: {{ requests: [{{ name: gpu, exactly: {{ deviceClassName: gpu.example.com }} }}] }} }}
status:
  allocation: {{ devices: {{ results: [{{ request: gpu, driver: gpu.example.com, pool: a, device: gpu-0 }}] }} }}
  reservedFor: [{{ resource: pods, name: done, uid: done-uid }}]
---
{}",
            slice("a", 1),
            gpu_pod("next")
        )
    };
    let ran = run(&finished("Succeeded"));
    assert_eq!(codes(&ran.pod("done").reasons), [Code::RunFinished]);
    assert_eq!(devices(&ran, "next", "gpu"), ["a/gpu-0"]);
    assert!(ran.claim_object("default", "held").metadata.finalizers.is_empty());
    assert_eq!(run(&finished("Running")).pod("next").node, None);
}

#[test]
fn r_308_r_310_a_generated_claim_goes_with_its_pod_and_a_users_own_stays() {
    let done = format!(
        "{CLASS}{SHARED}{}
apiVersion: v1
kind: Pod
metadata: {{ name: done, namespace: default, uid: done-uid }}
spec:
  nodeName: a
  containers: [{{ name: c }}]
  resourceClaims: [{{ name: gpu, resourceClaimTemplateName: one-gpu }}, {{ name: team, resourceClaimName: shared }}]
status: {{ phase: Failed, resourceClaimStatuses: [{{ name: gpu, resourceClaimName: done-gpu-zzzzz }}] }}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  namespace: default
  name: done-gpu-zzzzz
  annotations: {{ resource.kubernetes.io/pod-claim-name: gpu }}
  ownerReferences: [{{ apiVersion: v1, kind: Pod, name: done, uid: done-uid, controller: true }}]
spec: {{ devices: {{ requests: [{{ name: gpu, exactly: {{ deviceClassName: gpu.example.com }} }}] }} }}
status:
  allocation: {{ devices: {{ results: [{{ request: gpu, driver: gpu.example.com, pool: a, device: gpu-0 }}] }} }}
  reservedFor: [{{ resource: pods, name: done, uid: done-uid }}]
",
        slice("a", 1)
    );
    let ran = run(&done);
    let names: Vec<_> = ran.report.claims.iter().map(|claim| claim.name.as_str()).collect();
    assert_eq!(names, ["shared"]);
}

#[test]
fn a_free_allocation_in_the_way_is_given_up() {
    let allocated = |reserved: &str| {
        format!(
            "{CLASS}{}{}
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ namespace: default, name: mine }}
spec: {{ devices: {{ requests: [{{ name: gpu, exactly: {{ deviceClassName: gpu.example.com }} }}] }} }}
status:
  allocation:
    devices: {{ results: [{{ request: gpu, driver: gpu.example.com, pool: a, device: gpu-0 }}] }}
    nodeSelector: {{ nodeSelectorTerms: [{{ matchFields: [{{ key: metadata.name, operator: In, values: [a] }}] }}] }}
  {reserved}
---
{}",
            slice("a", 1),
            slice("b", 1),
            pod(
                "p",
                "  nodeSelector: { kubernetes.io/hostname: b }\n  resourceClaims: [{ name: gpu, resourceClaimName: mine }]"
            )
        )
    };
    let ran = run(&allocated(""));
    assert_eq!(devices(&ran, "p", "gpu"), ["b/gpu-0"]);
    // Somebody else uses it: it stays, and the Pod waits.
    let ran = run(&allocated("reservedFor: [{ resource: pods, name: other, uid: u }]"));
    assert_eq!(ran.pod("p").node, None);
    assert!(codes(&ran.pod("p").reasons).contains(&Code::RunClaimElsewhere));
}

#[test]
fn a_gated_pod_is_not_scheduled() {
    let ran = run(&pod("p", "  schedulingGates: [{ name: example.com/quota }]"));
    assert_eq!(ran.reason("p").message, "scheduling waits for `example.com/quota`");
}

#[test]
fn a_claim_has_room_for_256_pods() {
    let reference = "  resourceClaims: [{ name: gpu, resourceClaimName: shared }]";
    let consumers: Vec<String> =
        (0..255).map(|number| format!("{{ resource: pods, name: p{number}, uid: u{number} }}")).collect();
    let shared = format!(
        "{}status:
  allocation: {{ devices: {{ results: [{{ request: gpu, driver: gpu.example.com, pool: a, device: gpu-0 }}] }} }}
  reservedFor: [{}]
---
",
        SHARED.trim_end().trim_end_matches('-'),
        consumers.join(", ")
    );
    let ran = run(&format!("{CLASS}{shared}{}{}{}", slice("a", 1), pod("fits", reference), pod("late", reference)));
    assert!(ran.pod("fits").node.is_some());
    assert_eq!(ran.reason("late").code, Code::RunReservationsFull);
}

#[test]
fn the_report_is_the_same_bytes_for_the_same_input() {
    let manifests = format!("{CLASS}{}{}{}", slice("a", 2), gpu_pod("one"), gpu_pod("two"));
    let bytes = |ran: &Ran| serde_json::to_string(&ran.report).unwrap();
    let (one, two) = (run(&manifests), run(&manifests));
    assert_eq!(bytes(&one), bytes(&two));
    let value = serde_json::to_value(&one.report).unwrap();
    assert_eq!(value["nodes"][0]["localDevices"], json!(2));
}
