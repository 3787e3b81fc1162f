//! The CEL environment of DRA device selectors: parser, checker, cost-metered evaluator.
