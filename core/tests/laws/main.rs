//! One answer: what every question about one cluster must have in common, on clusters made from seeds in which all features
//! meet.
//!
//! `cargo test -p apportion-core --test laws` holds every law against its own seeds. The long run takes a range of seeds and prints
//! every contradiction by what disagrees, with the seed:
//!
//! ```sh
//! LAWS_SEEDS=0..100000 cargo test --release -p apportion-core --test laws -- --ignored --nocapture long_run
//! LAWS_ONLY=explain LAWS_SEEDS=17..18 LAWS_SHOW=1 cargo test -p apportion-core --test laws -- --ignored --nocapture long_run
//! ```
//!
//! `LAWS_SHOW` prints the smallest input that was found for each contradiction.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a test reads its settings and fails by panicking"
)]

mod ask;
mod coverage;
mod generate;
mod hold;
mod same;
mod smaller;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use generate::{Case, generate};
use hold::LAWS;

/// Clusters that each law is held against in the tests.
const CLUSTERS: u64 = 200;

/// What disagrees, ` | `, and the particulars.
type Contradiction = String;

/// A law: what must hold of a cluster.
type Law = fn(&Case) -> Result<(), Contradiction>;

/// Holds a law against one cluster; a panic is a contradiction, too.
fn hold(law: Law, case: &Case) -> Result<(), Contradiction> {
    catch_unwind(AssertUnwindSafe(|| law(case))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!("panic | {}", text.unwrap_or_else(|| "without text".to_owned())))
    })
}

/// What disagrees, without the particulars.
fn kind_of(contradiction: &str) -> &str {
    contradiction.split(" | ").next().unwrap_or_default()
}

/// Contradictions of a law by what disagrees, each with its seeds and the first one in full.
type Found = BTreeMap<String, (Vec<u64>, Contradiction)>;

fn search(law: Law, seeds: impl Iterator<Item = u64>) -> Found {
    let mut found = Found::new();
    for seed in seeds {
        if let Err(contradiction) = hold(law, &generate(seed)) {
            let entry = found.entry(kind_of(&contradiction).to_owned());
            entry.or_insert_with(|| (Vec::new(), contradiction)).0.push(seed);
        }
    }
    found
}

fn tell(name: &str, found: &Found) -> String {
    let mut text = String::new();
    for (kind, (seeds, first)) in found {
        let few: Vec<String> = seeds.iter().take(8).map(u64::to_string).collect();
        text.push_str(&format!("{name}: {kind}: {} clusters, seeds {}\n  {first}\n", seeds.len(), few.join(" ")));
    }
    text
}

/// Holds a law against the seeds that are its own.
fn check(name: &str) {
    let (index, (_, law)) = LAWS.iter().enumerate().find(|(_, (known, _))| *known == name).unwrap();
    let first = index as u64 * CLUSTERS;
    let found = search(*law, first..first + CLUSTERS);
    let text = tell(name, &found);
    assert!(found.is_empty(), "{text}");
}

macro_rules! laws {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*

        #[test]
        fn every_law_has_its_test() {
            let tests = [$(stringify!($name)),*];
            let laws: Vec<&str> = LAWS.iter().map(|(name, _)| *name).collect();
            assert_eq!(laws, tests);
        }
    };
}

laws! {
    run_until_says_what_run_says
    explain_says_what_run_says
    explain_says_of_groups_what_run_says
    fit_counts_what_run_uses
    what_if_starts_from_what_run_says
    a_snapshot_answers_as_its_cluster
    check_agrees_about_pods_with_a_node
    what_validate_refuses_is_named
    what_validate_refuses_is_left_out
    who_needs_what_was_refused_says_so
    check_names_what_is_refused
    a_dropped_field_has_no_effect
    suggestions_help
    what_if_of_nothing_changes_nothing
    running_pods_stay
    a_settled_cluster_stays_settled
    a_simulated_cluster_stays_settled
    what_is_not_given_is_not_denied
    the_order_of_kinds_does_not_matter
    the_same_input_gives_the_same_bytes
    usage_adds_up_and_is_what_claims_have
    an_anonymous_snapshot_places_as_its_cluster
}

#[test]
#[ignore = "takes as long as its seeds do"]
fn long_run() {
    let seeds = std::env::var("LAWS_SEEDS").unwrap_or_else(|_| "0..2000".to_owned());
    let (first, last) = seeds.split_once("..").unwrap();
    let (first, last): (u64, u64) = (first.parse().unwrap(), last.parse().unwrap());
    let only = std::env::var("LAWS_ONLY").unwrap_or_default();
    let is_shown = std::env::var("LAWS_SHOW").is_ok();
    std::panic::set_hook(Box::new(|_| {}));
    let mut total = 0;
    for (name, law) in LAWS.iter().filter(|(name, _)| name.contains(&only)) {
        let start = std::time::Instant::now();
        let found = search(*law, first..last);
        let count: usize = found.values().map(|(seeds, _)| seeds.len()).sum();
        total += count;
        println!("{name}: {count} contradictions in {} clusters, {:.1?}", last - first, start.elapsed());
        print!("{}", tell(name, &found));
        for (kind, (seeds, _)) in found.iter().filter(|_| is_shown) {
            let small = smaller::smallest(*law, &generate(seeds[0]), kind);
            println!("--- {kind}, seed {}\n{}", seeds[0], smaller::shown(*law, &small));
        }
    }
    let _ = std::panic::take_hook();
    assert_eq!(total, 0, "contradictions");
}
