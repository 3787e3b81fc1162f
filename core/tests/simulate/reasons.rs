//! Why Pods stay Pending, in words.

use apportion_core::allocate::Limits;
use apportion_core::engine::Engine;
use apportion_core::finding::Code;
use apportion_core::profile::{Profile, Version};
use serde_json::{Value, json};

use crate::support::{CLASS, codes, gpu_pod, pod, run, run_with, slice};

fn wanting(requests: &str, constraints: &str) -> String {
    format!(
        "apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ namespace: default, name: want }}
spec: {{ devices: {{ requests: [{requests}], constraints: [{constraints}] }} }}
---
{}",
        pod("p", "  resourceClaims: [{ name: gpu, resourceClaimName: want }]")
    )
}

#[test]
fn what_a_pod_lacks_is_said_beside_what_it_waits_for() {
    let entries = "  resourceClaims: [{ name: gpu, resourceClaimTemplateName: none }]";
    for (held, code) in [
        ("schedulingGates: [{ name: example.com/quota }]", Code::RunSchedulingGated),
        ("schedulerName: own", Code::RunNotModelled),
    ] {
        let ran = run(&format!("{CLASS}{}{}", slice("a", 1), pod("p", &format!("  {held}\n{entries}"))));
        assert_eq!(codes(&ran.pod("p").reasons), [code, Code::RunMissingTemplate]);
    }
}

#[test]
fn devices_in_use_are_counted() {
    let pods = [gpu_pod("one"), gpu_pod("two"), gpu_pod("three")].concat();
    let ran = run(&format!("{CLASS}{}{}{pods}", slice("a", 1), slice("b", 1)));
    let reasons = &ran.pod("three").reasons;
    assert_eq!(codes(reasons), [Code::RunDevicesInUse, Code::RunSchedulerMessage]);
    let claim = &ran.claim_of("three", "gpu").name;
    assert_eq!(
        reasons[0].message,
        format!(
            "request `gpu` of claim `{claim}` needs 1 device; each of 2 nodes offers 1, 1 matches class and selectors, 0 are free"
        )
    );
    assert_eq!(reasons[0].object.as_ref().unwrap().to_string(), "ResourceClaimTemplate default/one-gpu");
    assert_eq!(reasons[0].path, "spec.spec.devices.requests[0]");
    assert!(
        reasons[1].message.starts_with("0/2 nodes are available: 2 cannot allocate all claims. "),
        "{}",
        reasons[1].message
    );
}

#[test]
fn pods_that_ask_the_same_hear_of_their_own_claims_and_others_of_what_they_ask() {
    let want = |name: &str, count: u64| {
        let request = format!("{{ name: gpus, exactly: {{ deviceClassName: gpu.example.com, count: {count} }} }}");
        wanting(&request, "").replace("want }", &format!("{name} }}")).replace("name: p }", &format!("name: {name} }}"))
    };
    let pods = [want("one", 3), want("two", 3), want("four", 4), want("last", 3)].concat();
    let ran = run(&format!("{CLASS}{}{}{pods}", slice("a", 2), slice("b", 1)));
    for (name, count) in [("one", 3), ("two", 3), ("four", 4), ("last", 3)] {
        let message = format!(
            "request `gpus` of claim `{name}` needs {count} devices on one node; 2 nodes offer 3, at most 2 on one node"
        );
        let reason = ran.reason(name);
        assert_eq!((&reason.message, &reason.object.as_ref().unwrap().name), (&message, &name.to_owned()));
    }
}

#[test]
fn too_few_devices_are_counted_per_node() {
    let request = "{ name: gpus, exactly: { deviceClassName: gpu.example.com, count: 3 } }";
    let ran = run(&format!("{CLASS}{}{}{}", slice("a", 2), slice("b", 1), wanting(request, "")));
    let reason = ran.reason("p");
    assert_eq!(reason.code, Code::RunTooFewDevices);
    assert_eq!(
        reason.message,
        "request `gpus` of claim `want` needs 3 devices on one node; 2 nodes offer 3, at most 2 on one node"
    );
}

#[test]
fn devices_of_another_driver_do_not_match() {
    let slices = slice("a", 2).replace("driver: gpu.example.com", "driver: fpga.example.com");
    let request = "{ name: gpu, exactly: { deviceClassName: gpu.example.com } }";
    let ran = run(&format!("{CLASS}{slices}{}", wanting(request, "")));
    let reason = ran.reason("p");
    assert_eq!(reason.code, Code::RunTooFewMatching);
    assert_eq!(
        reason.message,
        "request `gpu` of claim `want` needs 1 device; `a` offers 2, 0 match class and selectors"
    );
}

/// The first reason of Pod `p` that asks for one device in front of some slices.
fn reason_of(slices: &str, request: &str) -> (Code, String) {
    let ran = run(&format!("{CLASS}{slices}{}", wanting(request, "")));
    let reason = ran.reason("p");
    (reason.code, reason.message.clone())
}

const ONE: &str = "{ name: gpu, exactly: { deviceClassName: gpu.example.com } }";

#[test]
fn a_device_of_a_pool_that_lacks_slices_is_in_an_incomplete_pool() {
    let part = slice("a", 1).replace("resourceSliceCount: 1", "resourceSliceCount: 3");
    let (code, message) = reason_of(&part, ONE);
    assert_eq!(code, Code::RunDevicesUnusable);
    assert_eq!(
        message,
        "request `gpu` of claim `want` needs 1 device; `a` offers 0, 0 match class and selectors, 1 is in an incomplete pool: pool `a` says it has 3 slices, 1 of generation 1 is there"
    );
}

#[test]
fn slices_of_two_generations_leave_the_older_one_without_devices() {
    let newer = slice("a", 1).replace("generation: 1", "generation: 2").replace("name: a-gpu", "name: newer-gpu");
    let newer = newer.replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let (code, message) = reason_of(&format!("{}{newer}", slice("a", 2)), ONE);
    assert_eq!(code, Code::RunDevicesUnusable);
    assert!(message.contains("pool `a` says it has 2 slices, 1 of generation 2 is there"), "{message}");
}

#[test]
fn a_device_that_is_published_twice_spoils_its_pool_and_no_other() {
    let first = slice("a", 2).replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let second = first.replace("name: a-gpu", "name: second-gpu");
    let pools = format!("{first}{second}");
    let (code, message) = reason_of(&pools, ONE);
    assert_eq!(code, Code::AllocInvalidPool);
    assert!(message.contains("pool `a`: device `gpu-0` is published twice"), "{message}");
    // A request that wants other devices is short of those.
    let other = "{ name: gpu, exactly: { deviceClassName: gpu.example.com, selectors: [{ cel: { expression: 'device.attributes[\"x\"].?y.orValue(1) == 2' } }] } }";
    assert_eq!(reason_of(&pools, other).0, Code::RunTooFewDevices);
}

#[test]
fn capacity_that_no_device_can_grant_is_not_in_use() {
    let shared = slice("a", 1).replace(
        "{ name: gpu-0 }",
        "{ name: gpu-0, allowMultipleAllocations: true, capacity: { memory: { value: 80Gi, requestPolicy: { default: 10Gi, validRange: { min: 10Gi, step: 10Gi, max: 40Gi } } } } }, { name: gpu-1, capacity: { memory: { value: 60Gi } } }",
    );
    let ask = |what: &str| {
        reason_of(
            &shared,
            &ONE.replace("gpu.example.com", &format!("gpu.example.com, capacity: {{ requests: {{ {what} }} }}")),
        )
    };
    let of = |message: &str| message.rsplit_once("capacity asked for: ").map(|(_, rest)| rest.to_owned());
    let (code, message) = ask("memory: 100Gi");
    assert_eq!(code, Code::RunDevicesUnusable);
    assert_eq!(of(&message).as_deref(), Some("100Gi of `memory`, the most that one has is 80Gi"), "{message}");
    assert_eq!(
        of(&ask("memory: 70Gi").1).as_deref(),
        Some("70Gi of `memory`, which the request policies do not allow")
    );
    assert_eq!(of(&ask("cores: 1").1).as_deref(), Some("there is no `cores`"));
}

#[test]
fn since_1_38_the_driver_may_stand_before_a_capacity() {
    let is_placed = |version, published: &str, asked: &str| {
        let devices = slice("a", 1)
            .replace("{ name: gpu-0 }", &format!("{{ name: gpu-0, capacity: {{ {published}: {{ value: 80Gi }} }} }}"));
        let request = ONE.replace(" } }", &format!(", capacity: {{ requests: {{ {asked} }} }} }} }}"));
        let ran = run_with(&format!("{CLASS}{devices}{}", wanting(&request, "")), Profile::of(version));
        ran.pod("p").node.is_some()
    };
    let (short, long) = ("memory", "gpu.example.com/memory");
    for (published, asked) in [(short, long), (long, short)] {
        let amount = |amount: &str| format!("{asked}: {amount}");
        assert!(!is_placed(Version::V1_37, published, &amount("30Gi")));
        assert!(is_placed(Version::V1_38, published, &amount("30Gi")));
        assert!(!is_placed(Version::V1_38, published, &amount("90Gi")));
    }
    assert!(!is_placed(Version::V1_38, short, "other.example.com/memory: 30Gi"));
    assert!(!is_placed(Version::V1_38, short, "memory: 30Gi, gpu.example.com/memory: 30Gi"));
}

#[test]
fn a_device_that_draws_more_than_its_counters_have_is_never_free() {
    let counters = "apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: counters }
spec:
  driver: gpu.example.com
  nodeName: a
  pool: { name: a, generation: 1, resourceSliceCount: 2 }
  sharedCounters: [{ name: all, counters: { memory: { value: 40Gi } } }]
---
";
    let draws = "{ name: gpu-0, consumesCounters: [{ counterSet: all, counters: { memory: { value: 50Gi } } }] }";
    let devices =
        slice("a", 1).replace("resourceSliceCount: 1", "resourceSliceCount: 2").replace("{ name: gpu-0 }", draws);
    let (code, message) = reason_of(&format!("{counters}{devices}"), ONE);
    assert_eq!(code, Code::RunDevicesUnusable);
    assert!(
        message.ends_with(
            "1 of these draws more of a shared counter than there is: 50Gi of `memory`, the most that one has is 40Gi"
        ),
        "{message}"
    );
}

#[test]
fn tainted_devices_are_named() {
    let slices =
        slice("a", 1).replace("{ name: gpu-0 }", "{ name: gpu-0, taints: [{ key: broken, effect: NoSchedule }] }");
    let request = "{ name: gpu, exactly: { deviceClassName: gpu.example.com } }";
    let ran = run(&format!("{CLASS}{slices}{}", wanting(request, "")));
    let reason = ran.reason("p");
    assert_eq!(reason.code, Code::RunDevicesTainted);
    assert_eq!(
        reason.message,
        "request `gpu` of claim `want` needs 1 device; `a` offers 1, 1 matches class and selectors, 0 of these without untolerated taints"
    );
}

#[test]
fn alternatives_are_all_explained() {
    let request = "{ name: gpus, firstAvailable: [
  { name: many, deviceClassName: gpu.example.com, count: 4 }, { name: some, deviceClassName: gpu.example.com, count: 3 } ] }";
    let ran = run(&format!("{CLASS}{}{}", slice("a", 2), wanting(request, "")));
    assert_eq!(
        ran.reason("p").message,
        "no alternative of request `gpus` of claim `want` fits: `gpus/many` needs 4 devices; `a` offers 2; `gpus/some` needs 3 devices; `a` offers 2"
    );
}

#[test]
fn requests_that_compete_do_not_fit_together() {
    let requests = "{ name: x, exactly: { deviceClassName: gpu.example.com, count: 2 } },
  { name: z, exactly: { deviceClassName: gpu.example.com, count: 2 } }";
    let ran = run(&format!("{CLASS}{}{}", slice("a", 3), wanting(requests, "")));
    let reason = ran.reason("p");
    assert_eq!(reason.code, Code::RunDevicesTogether);
    assert_eq!(
        reason.message,
        "claim `want` does not fit on `a`: each request finds enough devices by itself, but not all of them together"
    );
}

#[test]
fn claims_that_compete_do_not_fit_together() {
    let claim = |name: &str| {
        format!(
            "apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ namespace: default, name: {name} }}
spec: {{ devices: {{ requests: [{{ name: x, exactly: {{ deviceClassName: gpu.example.com, count: 2 }} }}] }} }}
---
"
        )
    };
    let entries = "  resourceClaims: [{ name: l, resourceClaimName: left }, { name: r, resourceClaimName: right }]";
    let wanted = format!("{CLASS}{}{}{}", claim("left"), claim("right"), pod("p", entries));
    let ran = run(&format!("{}{wanted}", slice("a", 3)));
    let reason = ran.reason("p");
    assert_eq!((reason.code, reason.path.as_str()), (Code::RunDevicesTogether, "spec.resourceClaims"));
    let together = "by itself, but not both together";
    assert_eq!(reason.message, format!("each of 2 claims (`left`, `right`) finds enough devices on `a` {together}"));
    let ran = run(&format!("{}{}{wanted}", slice("a", 3), slice("b", 3)));
    assert!(ran.reason("p").message.ends_with(&format!("on each of 2 nodes {together}")));
}

#[test]
fn a_request_policy_is_said_of_the_devices_that_have_it() {
    let plain = |first: &str, second: &str| {
        let request =
            "{ name: x, exactly: { deviceClassName: gpu.example.com, capacity: { requests: { memory: 60Gi } } } }";
        let device = |capacity: &str| format!("allowMultipleAllocations: true, capacity: {{ memory: {capacity} }}");
        let devices = two_devices(&device(first), &device(second));
        let mut engine = Engine::new(Profile::default(), Limits::default());
        crate::support::apply(&mut engine, &format!("{CLASS}{devices}{}", wanting(request, "")));
        engine.inquire(json!({ "kind": "explain" })).unwrap()[0]["plain"].as_str().unwrap().to_owned()
    };
    let large = "{ value: 100Gi, requestPolicy: { default: 10Gi, validValues: [10Gi, 25Gi] } }";
    let other = "{ value: 100Gi, requestPolicy: { default: 10Gi, validValues: [10Gi, 30Gi] } }";
    let small = "{ value: 25Gi, requestPolicy: { default: 5Gi, validRange: { min: 5Gi } } }";
    let all = "the request policy allows only `10Gi`, `25Gi`";
    assert_eq!(plain(large, large), format!("asks for a GPU with 60Gi of `memory`; {all}"));
    assert!(plain(large, small).contains("the request policy of GPUs that have as much allows only `10Gi`, `25Gi`"));
    assert!(plain(large, other).contains("the request policy of one GPU allows only `10Gi`, `25Gi`"));
}

/// A slice with two devices, each with what follows its name.
fn two_devices(first: &str, second: &str) -> String {
    slice("a", 2)
        .replace("{ name: gpu-0 }", &format!("{{ name: gpu-0, {first} }}"))
        .replace("{ name: gpu-1 }", &format!("{{ name: gpu-1, {second} }}"))
}

#[test]
fn a_constraint_without_a_choice_is_named() {
    let request = "{ name: gpus, exactly: { deviceClassName: gpu.example.com, count: 2 } }";
    let root = |value: &str| format!("attributes: {{ example.com/root: {{ string: {value} }} }}");
    let devices = two_devices(&root("left"), &root("right"));
    let ran = run(&format!("{CLASS}{devices}{}", wanting(request, "{ matchAttribute: example.com/root }")));
    let reason = ran.reason("p");
    assert_eq!(reason.code, Code::RunDevicesTogether);
    assert!(reason.message.contains("no choice of them satisfies the constraints"), "{}", reason.message);
}

#[test]
fn devices_that_lack_the_attribute_of_a_constraint_are_counted_and_the_near_one_is_named() {
    let request = "{ name: gpus, exactly: { deviceClassName: gpu.example.com, count: 2 } }";
    let devices = two_devices("attributes: { model: { string: a100 } }", "attributes: { other: { string: a100 } }");
    for (constraint, offers, hint) in [
        ("matchAttribute: gpu.example.com/modle", "2 of these lack", "did you mean `gpu.example.com/model`?"),
        ("distinctAttribute: gpu.example.com/model", "1 of these lacks", "name an attribute in the constraint"),
    ] {
        let ran = run(&format!("{CLASS}{devices}{}", wanting(request, &format!("{{ {constraint} }}"))));
        let reason = ran.reason("p");
        let attribute = constraint.split(": ").nth(1).unwrap();
        assert_eq!(reason.code, Code::RunDevicesUnusable);
        assert_eq!(
            reason.message,
            format!(
                "request `gpus` of claim `want` needs 2 devices; `a` offers 2, 2 match class and selectors, {offers} the attribute of a constraint: `{attribute}` of `constraints[0]`"
            )
        );
        assert!(reason.hint.as_ref().unwrap().starts_with(hint), "{:?}", reason.hint);
    }
}

#[test]
fn names_that_are_nearly_those_of_something_are_met_with_what_was_meant() {
    let request = "{ name: gpu, exactly: { deviceClassName: gpu.example.com, tolerations: [{ key: example.com/degarded, operator: Exists }] } }";
    let taint = "taints: [{ key: example.com/degraded, effect: NoSchedule }]";
    let devices = slice("a", 1).replace("{ name: gpu-0 }", &format!("{{ name: gpu-0, {taint} }}"));
    let ran = run(&format!("{CLASS}{devices}{}", wanting(request, "")));
    let hint = "a toleration has the key `example.com/degarded`: did you mean `example.com/degraded`?";
    assert_eq!(ran.reason("p").hint.as_deref(), Some(hint));

    let node = "apiVersion: v1\nkind: Node\nmetadata: { name: worker }\n---\n";
    let request = "{ name: gpu, exactly: { deviceClassName: gpu.example.com } }";
    let ran = run(&format!("{CLASS}{node}{}{}", slice("wroker", 1), wanting(request, "")));
    assert_eq!(ran.finding(Code::RunUnknownNodes).hint.as_deref(), Some("did you mean `worker`?"));

    let draws = "consumesCounters: [{ counterSet: set, counters: { memroy: { value: 1 } } }]";
    let counters = slice("a", 0)
        .replace("a-gpu", "a-counters")
        .replace("devices: []", "sharedCounters: [{ name: set, counters: { memory: { value: 80Gi } } }]");
    let devices = slice("a", 1).replace("{ name: gpu-0 }", &format!("{{ name: gpu-0, {draws} }}"));
    let all = format!("{counters}{devices}").replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let ran = run(&format!("{CLASS}{all}{}", wanting(request, "")));
    let message = &ran.reason("p").message;
    assert!(message.ends_with("counter set `set` has no counter `memroy` (did you mean `memory`?)"), "{message}");
}

#[test]
fn what_is_short_is_named_rather_than_the_number_of_free_devices() {
    let one = |name: &str, more: &str| {
        let request = format!("{{ name: gpu, exactly: {{ deviceClassName: gpu.example.com{more} }} }}");
        wanting(&request, "")
            .replace("want }", &format!("{name} }}"))
            .replace("want }]", &format!("{name} }}]"))
            .replace("name: p }", &format!("name: {name} }}"))
    };
    let amount = ", capacity: { requests: { memory: 30Gi } }";
    let shared = "allowMultipleAllocations: true, capacity: { memory: { value: 50Gi } }";
    let devices = slice("a", 1).replace("{ name: gpu-0 }", &format!("{{ name: gpu-0, {shared} }}"));
    let ran = run(&format!("{CLASS}{devices}{}{}", one("first", amount), one("second", amount)));
    let reason = ran.reason("second");
    assert_eq!(reason.code, Code::RunDevicesInUse);
    assert_eq!(
        reason.message,
        "request `gpu` of claim `second` needs 1 device; `a` offers 1, 1 matches class and selectors, 1 of these has too little capacity left: 30Gi of `memory`, the most that is left is 20Gi"
    );

    let draws = |amount: &str| {
        format!("consumesCounters: [{{ counterSet: set, counters: {{ memory: {{ value: {amount} }} }} }}]")
    };
    let counters = slice("a", 0)
        .replace("a-gpu", "a-counters")
        .replace("devices: []", "sharedCounters: [{ name: set, counters: { memory: { value: 80Gi } } }]");
    let all = format!("{counters}{}", two_devices(&draws("40Gi"), &draws("80Gi")))
        .replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let ran = run(&format!("{CLASS}{all}{}{}", one("first", ""), one("second", "")));
    let reason = ran.reason("second");
    assert_eq!(reason.code, Code::RunDevicesInUse);
    assert_eq!(
        reason.message,
        "request `gpu` of claim `second` needs 1 device; `a` offers 2, 2 match class and selectors, 1 of these draws more of a shared counter than devices in use leave: 80Gi of `memory`, the most that is left is 40Gi, 0 are free"
    );
}

#[test]
fn the_nearest_reason_comes_first_and_ordinary_ones_last() {
    let nodes = "
apiVersion: v1
kind: Node
metadata: { name: cordoned }
spec: { unschedulable: true }
---
apiVersion: v1
kind: Node
metadata: { name: empty }
---
apiVersion: v1
kind: Node
metadata: { name: full }
---
";
    let pods = [gpu_pod("one"), gpu_pod("two")].concat();
    let ran = run(&format!("{nodes}{CLASS}{}{}{pods}", slice("cordoned", 4), slice("full", 1)));
    let reasons = &ran.pod("two").reasons;
    let expected = [Code::RunDevicesInUse, Code::RunTooFewDevices, Code::RunNodeUnsuitable, Code::RunSchedulerMessage];
    assert_eq!(codes(reasons), expected);
    assert_eq!(reasons[2].message, "node `cordoned` is marked as unschedulable");
    assert!(
        reasons[3]
            .message
            .starts_with("0/3 nodes are available: 1 node(s) were unschedulable, 2 cannot allocate all claims. "),
        "{}",
        reasons[3].message
    );
}

#[test]
fn the_schedulers_line_is_whole() {
    let line = |ran: &crate::support::Ran| ran.pod("p").reasons.last().unwrap().message.clone();
    let request = "{ name: gpu, exactly: { deviceClassName: gpu.example.com, count: 2 } }";
    let ran = run(&format!("{CLASS}{}{}", slice("a", 1), wanting(request, "")));
    assert_eq!(
        line(&ran),
        "0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    );

    let node = |name: &str, cpu: u32| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{ name: {name} }}\nstatus: {{ allocatable: {{ cpu: '{cpu}' }} }}\n---\n"
        )
    };
    let asking = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name} }}\nspec: {{ containers: [{{ name: c, resources: {{ requests: {{ cpu: '2' }} }} }}] }}\n---\n"
        )
    };
    let ran = run(&format!("{}{}{}{}", node("small", 1), node("full", 2), asking("first"), asking("p")));
    assert_eq!(
        line(&ran),
        "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    );
    let reasons = &ran.pod("p").reasons;
    assert_eq!(reasons[0].message, "node `small` has too little `cpu`: 1, the Pod asks for 2");
    assert_eq!(reasons[1].message, "node `full` has too little `cpu` left");
}

#[test]
fn a_broken_claim_is_shown_in_its_template() {
    let spec = "  resourceClaims: [{ name: gpu, resourceClaimTemplateName: broken }]";
    let ran = run(&format!(
        "{CLASS}{}
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{ namespace: default, name: broken }}
spec: {{ spec: {{ devices: {{
  requests: [{{ name: gpu, exactly: {{ deviceClassName: gpu.example.com, selectors: [{{ }}] }} }}] }} }} }}
---
{}",
        slice("a", 1),
        pod("p", spec)
    ));
    let reason = ran.reason("p");
    assert_eq!(reason.object.as_ref().unwrap().to_string(), "ResourceClaimTemplate default/broken");
    assert!(reason.path.starts_with("spec.spec.devices.requests[0].exactly.selectors[0]"), "{}", reason.path);
    assert!(ran.pod("p").reasons[1].message.starts_with("running \"DynamicResources\" filter plugin: "));
}

#[test]
fn what_if_names_what_is_refused_and_what_depends_on_it() {
    let engine = run(&format!("{CLASS}{}", slice("a", 1))).engine;
    let with = json!([
        { "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "bad" },
          "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu.example.com", "count": -3 } }] } } },
        { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p" },
          "spec": { "containers": [{ "name": "c", "image": "x" }], "resourceClaims": [{ "name": "gpu", "resourceClaimName": "bad" }] } },
    ]);
    for (inquiry, name) in [
        (json!({ "kind": "whatIf", "with": with }), "what-if"),
        (json!({ "kind": "compare", "objects": with }), "compare"),
    ] {
        let found = engine.inquire(inquiry).unwrap();
        assert_eq!(found["findings"][0]["path"], "spec.devices.requests[0].exactly.count", "{name}: {found}");
        let why = found["pods"][0]["why"].as_str().unwrap();
        assert!(why.starts_with("refers to claim `bad`, which was refused: "), "{name}: {why}");
    }
}

#[test]
fn what_was_refused_of_a_group_is_named_once() {
    let group = |least: u8| {
        json!({ "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": { "name": "g" },
            "spec": { "schedulingPolicy": { "gang": { "minCount": least } } } })
    };
    let member = |name: &str, container: Value| {
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name },
            "spec": { "containers": [container], "schedulingGroup": { "podGroupName": "g" } } })
    };
    let whole = || member("p", json!({ "name": "c", "image": "x" }));
    let reasons = |objects: &[Value]| {
        let mut engine = Engine::new(Profile::default(), Limits::default());
        let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        engine.submit(texts.iter().map(String::as_str));
        engine.run().pods[0].reasons.clone()
    };
    let found = reasons(&[group(0), whole()]);
    assert!(found[0].message.starts_with("refers to PodGroup `g`, which was refused: "), "{found:?}");
    assert_eq!(found.iter().filter(|one| **one == found[0]).count(), 1, "{found:?}");
    let found = reasons(&[group(2), whole(), member("q", json!({ "name": "c" }))]);
    assert_eq!(found[0].hint.as_deref(), Some("correct Pod `q`, which was refused"), "{found:?}");
}

/// Evictions because of taints are named with the Pod, the time and the taint.
#[test]
fn pods_that_taints_of_their_devices_evict_are_named() {
    const RULE: &str = "apiVersion: resource.k8s.io/v1beta2
kind: DeviceTaintRule
metadata: { name: maintenance }
spec: { deviceSelector: { driver: gpu.example.com }, taint: { key: maint, value: soon, effect: NoExecute } }
---
";
    let wanting = |seconds: &str| {
        let toleration = format!("{{ key: maint, operator: Exists, effect: NoExecute{seconds} }}");
        wanting(
            &format!("{{ name: gpu, exactly: {{ deviceClassName: gpu.example.com, tolerations: [{toleration}] }} }}"),
            "",
        )
    };
    let cluster = format!("{CLASS}{}{RULE}", slice("a", 1));
    let ran = run(&format!("{cluster}{}", wanting(", tolerationSeconds: 60")));
    let finding = ran.finding(Code::RunEvicted);
    assert_eq!(finding.object.as_ref().unwrap().to_string(), "Pod default/p");
    assert_eq!(finding.message, "evicted after 1m: taint `maint=soon:NoExecute` of DeviceTaintRule `maintenance`");
    assert!(!run(&format!("{cluster}{}", wanting(""))).has(Code::RunEvicted));
}

/// An object of a mistaken kind does not count as missing.
#[test]
fn what_refers_to_an_object_of_a_mistaken_kind_says_what_was_mistaken() {
    let manifests = wanting(ONE, "").replacen("resource.k8s.io/v1", "resources.k8s.io/v1", 1);
    // What is submitted has to be whole.
    let manifests = manifests.replace("{ name: c }", "{ name: c, image: x }");
    let text = format!("{CLASS}{}{manifests}", slice("a", 1));
    let reading = apportion_yaml::read(text.as_bytes(), &apportion_yaml::Limits::default());
    let texts: Vec<String> = reading.documents.iter().map(|document| document.value.to_string()).collect();
    let mut engine = Engine::new(Profile::default(), Limits::default());
    engine.submit(texts.iter().map(String::as_str));
    let report = engine.run();
    let reason = &report.pods[0].reasons[0];
    assert_eq!(reason.code, Code::RunRefused, "{reason:?}");
    assert!(reason.message.starts_with("refers to claim `want`, which was refused: apiVersion"), "{reason:?}");
    assert!(reason.hint.as_ref().unwrap().contains("`resource.k8s.io`"), "{reason:?}");
}

/// A Node that was refused is not one that nobody gave.
#[test]
fn devices_of_a_refused_node_say_why_it_is_not_there() {
    let text = format!("{CLASS}{}{}", slice("a", 1), wanting(ONE, "")).replace("{ name: c }", "{ name: c, image: x }");
    let refused = "---\napiVersion: v1\nkind: Node\nmetadata: { name: a }\nstatus: { allocatable: { cpu: lots } }\n";
    let explained = |text: &str| {
        let reading = apportion_yaml::read(text.as_bytes(), &apportion_yaml::Limits::default());
        let texts: Vec<String> = reading.documents.iter().map(|document| document.value.to_string()).collect();
        let mut engine = Engine::new(Profile::default(), Limits::default());
        engine.submit(texts.iter().map(String::as_str));
        engine.inquire(json!({ "kind": "explain" })).unwrap()[0].take()
    };
    let alone = explained(&format!("{text}{refused}"));
    assert_eq!(alone["headline"], "the cluster has no nodes: the only Node, `a`, was refused");
    let other = "---\napiVersion: v1\nkind: Node\nmetadata: { name: b }\n";
    let beside = explained(&format!("{text}{refused}{other}"));
    let plain = beside["plain"].as_str().unwrap();
    assert!(plain.contains("node `a` was refused: status.allocatable[cpu]: `lots` is not a quantity"), "{plain}");
}

/// Devices of an older generation count where no newer slice has them.
#[test]
fn devices_that_only_an_older_generation_has_are_named() {
    let newer = slice("a", 0).replace("generation: 1", "generation: 2").replace("name: a-gpu", "name: newer-gpu");
    let newer = newer.replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let (code, message) = reason_of(&format!("{}{newer}", slice("a", 2)), ONE);
    assert_eq!(code, Code::RunDevicesUnusable);
    assert!(message.contains("2 are in an incomplete pool: pool `a` says it has 2 slices, 1 of"), "{message}");
}

/// Devices that choose their nodes themselves are offered to no other node.
#[test]
fn a_device_of_another_node_is_not_offered() {
    let chosen = "devices: [{ name: gpu-0, nodeName: a }, { name: gpu-1, nodeName: b }]";
    let pool = slice("a", 0).replace("nodeName: a", "perDeviceNodeSelection: true").replace("devices: []", chosen);
    let (code, message) = reason_of(&pool, "{ name: gpu, exactly: { deviceClassName: gpu.example.com, count: 2 } }");
    assert_eq!(code, Code::RunTooFewDevices);
    assert!(message.ends_with("needs 2 devices; each of 2 nodes offers 1"), "{message}");
}

#[test]
fn members_of_a_gang_name_those_that_they_wait_for() {
    let member = |name: &str, spec: &str| pod(name, &format!("  schedulingGroup: {{ podGroupName: g }}\n{spec}"));
    let group = "apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: { namespace: default, name: g }\nspec: { schedulingPolicy: { gang: { minCount: 3 } } }\n---\n";
    let node = "apiVersion: v1\nkind: Node\nmetadata: { name: n1 }\nstatus: { allocatable: { pods: 9 } }\n---\n";
    let free = [member("a", ""), member("b", "")].concat();
    let together = "the Pod fits on its own, but the 3 Pods that the gang of PodGroup `g` needs do not fit together";
    let waits = "the Pod fits on its own; the gang of PodGroup `g` needs 3 Pods at once and waits for Pod `c`";
    for (spec, message) in [
        ("  schedulingGates: [{ name: x.example.com/wait }]\n", waits),
        ("  schedulerName: other\n", waits),
        ("  nodeSelector: { zone: nowhere }\n", together),
    ] {
        let ran = run(&format!("{node}{group}{free}{}", member("c", spec)));
        assert_eq!(ran.reason("a").message, message);
    }
    // Enough others are there.
    let gated = member("c", "  schedulingGates: [{ name: x.example.com/wait }]\n");
    let ran = run(&format!("{node}{group}{free}{}{gated}", member("d", "  nodeSelector: { zone: nowhere }\n")));
    assert_eq!(ran.reason("a").message, together);
}

#[test]
fn a_selector_that_fails_is_met_with_what_to_write() {
    let device = "[{ name: x, attributes: { version: { version: 1.2.3 } }, capacity: { memory: { value: 40Gi } } }]";
    let slice = slice("a", 0).replace("devices: []", &format!("devices: {device}"));
    for (expression, because, hint) in [
        (
            "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('80GB'))",
            "`80GB` is not an amount: quantities must match",
            "write `80G` or `80Gi`",
        ),
        (
            "device.attributes['gpu.example.com'].version > '1'",
            "`device.attributes[\"gpu.example.com\"].version` is a version, which no operator compares: no such overload",
            "write `device.attributes[\"gpu.example.com\"].version.compareTo(semver(\"1.0.0\")) > 0`",
        ),
        (
            "device.attributes.gpu.example.com.version == semver('1.2.3')",
            "`gpu.example.com` without quotes is a row of names, not a domain: no such key",
            "write `device.attributes[\"gpu.example.com\"].version`",
        ),
    ] {
        let selector = format!("selectors: [{{ cel: {{ expression: \"{}\" }} }}]", expression.replace('"', "\\\""));
        let request = format!("{{ name: gpu, exactly: {{ deviceClassName: gpu.example.com, {selector} }} }}");
        let ran = run(&format!("{CLASS}{slice}{}", wanting(&request, "")));
        let reason = ran.reason("p");
        let start = format!("the selector fails on device `gpu.example.com/a/x`, since {because}");
        assert!(reason.message.starts_with(&start), "{}", reason.message);
        assert_eq!(reason.hint.as_deref(), Some(hint));
    }
}
