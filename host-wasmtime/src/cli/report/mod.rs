//! Findings in the formats of other programs.

pub(crate) mod github;
pub(crate) mod junit;
pub(crate) mod sarif;
