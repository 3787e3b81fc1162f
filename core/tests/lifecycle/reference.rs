//! What `reference` mode does as Kubernetes does it, where `sound` mode does better.

use apportion_core::profile::{Mode, Profile, Version};

use crate::play::{Play, documents, pod, profile};

fn play(mode: Mode, version: Version) -> Play {
    Play::with(Profile { version, mode, ..profile() })
}

/// A Pod with two claim entries.
fn with_entries(one: &str, two: &str) -> String {
    pod("p", one, "").replace("resourceClaims: [", &format!("resourceClaims: [{{name: other, {two}}}, "))
}

const MADE: &str = "resourceClaimTemplateName: gpu-template";
const LATE: &str = "resourceClaimTemplateName: late";

/// kube-controller-manager stops at the first entry that it can make no claim for: those before it have a claim that is not recorded, those
/// after it have none.
#[test]
fn claims_are_recorded_once_all_of_them_can_be_made() {
    let found = |mode: Mode, entries: (&str, &str)| {
        let mut play = play(mode, Version::V1_37);
        play.apply(&with_entries(entries.0, entries.1));
        let before = (play.claims().len(), play.pod("p").status.resource_claim_statuses.len());
        let template = documents(crate::play::WORLD).remove(3);
        let mut late = template.clone();
        late["metadata"]["name"] = "late".into();
        play.create(late).unwrap();
        play.run(60);
        assert_eq!(play.pod("p").status.resource_claim_statuses.len(), 2);
        before
    };
    assert_eq!(found(Mode::Sound, (LATE, MADE)), (1, 1));
    assert_eq!(found(Mode::Reference, (LATE, MADE)), (1, 0));
    assert_eq!(found(Mode::Reference, (MADE, LATE)), (0, 0));
}
