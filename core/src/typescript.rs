//! The types that cross borders as JSON, declared in TypeScript.

use serde_json::Value;
use ts_rs::{Config, TS};

use crate::allocate::fits::{KnownPlaces, PlacesFailed, PlacesGaveUp, Written as Places};
use crate::allocate::json::{Allocated, Failed, GaveUp, Refusal, Refused as Failure, Unsatisfied, Written as Decision};
use crate::allocate::{DeviceId, Inability, RequestFunnel, Unable};
use crate::ask::snapshot::Snapshot;
use crate::ask::{AllocatedDevice, ClaimReport, NodeReport, PodClaimReport, PodReport, Report};
use crate::ask::{
    AmountUsage, Bounds, ClaimDifference, DeviceAsk, DeviceLost, Devices, Difference, Eviction, ExpressionAnswer, Fit,
    FitRequest, FitRow, Largest, NamespaceDevices, NewNode, NodeScore, NodesNeeded, NodesNeededRequest, NodesOfTaint,
    Part, Per, Place, Placing, PodDifference, PodLeft, PodScores, Remainder, ScoresRequest, ShapeNeeded, ShapeNodes,
    StrandedBy, Supposition, TaintSpec, Totals, Usage, UsageOf, UsageRow,
};
use crate::control_plane::server::Refused;
use crate::control_plane::{Build, Command, Component, DevicePath, Happening, Moment, Settled};
use crate::controller::{Conclusion, Lane, Part as ControllerPart, Task};
use crate::controllers::template_sync::{Counts as CopyCounts, Place as CopyStanding, Stands};
use crate::decision::{Action, Cause, Decision as Reconciliation, EventRecord, Identified, Merging};
use crate::evaluate::{Costs, Written as Evaluation};
use crate::explain::{
    AttributeStatistic, Change, ClosestNode, ConflictPart, DeviceDetail, Explanation, Holder, NodeDetail,
    PlacementRule, ReadValue, Reason, ReasonCount, ReasonKind, Request, RequestDetail, RequestExplanation, SelectorRef,
    Served, Shortage, State, Step, Suggestion, ValueCount,
};
use crate::finding::{ErrorKind, Finding, Fix, ObjectRef, Severity};
use crate::profile::{Mode, Ranking, Version};
use crate::validate::Operation;
use crate::wire::controller::WireSettings as ControllerSettings;
use crate::wire::simulation::RecordedEvent;
use crate::wire::{
    Settings, Stage, WireDevice, WireEvaluation, WireFeatures, WireInUse, WireKnown, WireNames, WirePrepared,
    WireQuestion, WireSubmission,
};

/// The declarations, each exported and with its documentation. They use `Integer`, for integers of 64 bits, and `Json`, for any value.
pub fn declarations() -> String {
    macro_rules! declare {
        ($($type:ty),* $(,)?) => { [$(declaration::<$type>()),*].concat() };
    }
    declare! {
        ObjectRef, Severity, ErrorKind, Fix, Finding, Version, Mode, Ranking, Settings, WireQuestion, WirePrepared, WireKnown, WireNames,
        WireInUse,
        WireDevice, Places<'_>, KnownPlaces, PlacesFailed<'_>, PlacesGaveUp<'_>,
        Decision<'_>, Allocated<'_>, Unsatisfied<'_>, Failed<'_>, GaveUp<'_>, Refusal<'_>, Failure<'_>,
        WireEvaluation, Stage, WireFeatures, Evaluation<'_>, Costs, WireSubmission, Operation, Snapshot, DeviceId,
        RequestFunnel, Unable, Inability, Report, NodeReport, PodReport, PodClaimReport, ClaimReport, AllocatedDevice,
        Request, Explanation, State, RequestExplanation, Served, ReasonCount, ReasonKind, SelectorRef, AttributeStatistic, ValueCount, ReadValue,
        ClosestNode, NodeDetail, RequestDetail, DeviceDetail, Reason, Shortage, Holder, ConflictPart, Suggestion, Step,
        Change, PlacementRule, Supposition, TaintSpec, Placing, Difference, Totals, DeviceLost, PodDifference, Place, ClaimDifference, Eviction, FitRequest, Per,
        Bounds, DeviceAsk, Fit, NodesOfTaint, FitRow, Largest, NamespaceDevices, Remainder, NodesNeededRequest, NodesNeeded,
        ShapeNeeded, PodLeft, NewNode, ShapeNodes, ScoresRequest, PodScores, NodeScore, Usage, UsageOf, UsageRow, Devices,
        AmountUsage, StrandedBy, ExpressionAnswer, Part, Command, DevicePath, Component, Build, Settled,
        Happening, Moment, EventRecord, RecordedEvent, Refused, ControllerPart, ControllerSettings, Lane, Task,
        Reconciliation<Value>, Action<Value>, Merging, Identified, Cause, Conclusion, Stands, CopyCounts,
        CopyStanding,
    }
}

/// One declaration, behind an empty line.
pub fn declaration<T: TS>() -> String {
    let config = Config::new().with_large_int("Integer");
    let made = format!("{}export {}", T::docs().unwrap_or_default(), T::decl(&config));
    let mut page = Page { text: "\n".to_owned(), depth: 0 };
    let mut lines = made.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if line == "/**" {
            page.comment(lines.by_ref().take_while(|line| *line != "*/"));
        } else {
            page.code(line);
        }
    }
    page.text
}

/// Lines with the indentation of their depth.
struct Page {
    text: String,
    depth: usize,
}

impl Page {
    fn comment<'l>(&mut self, lines: impl Iterator<Item = &'l str>) {
        let lines: Vec<&str> = lines.map(|line| line.trim_start_matches('*').trim()).collect();
        if let [only] = lines.as_slice() {
            return self.line(&format!("/** {only} */"));
        }
        self.line("/**");
        for line in lines {
            self.line(format!(" * {line}").trim_end());
        }
        self.line(" */");
    }

    /// What stands between braces gets lines of its own.
    fn code(&mut self, code: &str) {
        let mut line = String::new();
        for character in code.chars() {
            if character == '}' {
                self.line(line.trim_end());
                line.clear();
                self.depth = self.depth.saturating_sub(1);
            }
            if character != ' ' || !line.is_empty() {
                line.push(character);
            }
            if character == '{' {
                self.line(&line);
                line.clear();
                self.depth += 1;
            }
        }
        self.line(&line);
    }

    fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.push_str(&"  ".repeat(self.depth));
            self.text.push_str(line);
            self.text.push('\n');
        }
    }
}
