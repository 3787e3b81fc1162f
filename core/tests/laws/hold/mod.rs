//! The laws.

mod agreement;
mod groups;
mod nothing;
mod parts;
mod refused;
pub(crate) mod suggestions;
mod usage;

use crate::Law;

/// Every law by its name.
pub(crate) const LAWS: &[(&str, Law)] = &[
    ("run_until_says_what_run_says", agreement::until),
    ("explain_says_what_run_says", agreement::explain),
    ("explain_says_of_groups_what_run_says", groups::explain),
    ("fit_counts_what_run_uses", agreement::fit),
    ("what_if_starts_from_what_run_says", agreement::what_if),
    ("a_snapshot_answers_as_its_cluster", agreement::snapshot),
    ("check_agrees_about_pods_with_a_node", agreement::check),
    ("what_validate_refuses_is_named", refused::named),
    ("what_validate_refuses_is_left_out", refused::left_out),
    ("who_needs_what_was_refused_says_so", refused::told),
    ("check_names_what_is_refused", refused::checked),
    ("a_dropped_field_has_no_effect", refused::dropped),
    ("suggestions_help", suggestions::help),
    ("what_if_of_nothing_changes_nothing", nothing::what_if),
    ("running_pods_stay", nothing::running),
    ("a_settled_cluster_stays_settled", nothing::settled),
    ("a_simulated_cluster_stays_settled", nothing::simulated),
    ("what_is_not_given_is_not_denied", parts::not_denied),
    ("the_order_of_kinds_does_not_matter", nothing::order),
    ("the_same_input_gives_the_same_bytes", nothing::bytes),
    ("usage_adds_up_and_is_what_claims_have", usage::adds_up),
    ("an_anonymous_snapshot_places_as_its_cluster", agreement::anonymous),
];
