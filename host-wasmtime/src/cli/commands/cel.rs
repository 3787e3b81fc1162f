//! `apportion cel`.

use anyhow::Result;
use apportion_core::ask::{ExpressionAnswer, ExpressionRequest, Inquiry};
use apportion_core::explain::ReadValue;
use clap::Args;
use serde_json::json;

use crate::cli::arguments::{EngineArguments, NamespaceArguments, RepeatedArguments, ViewArguments};
use crate::cli::ask;
use crate::cli::pen::{Ink, Pen};
use crate::cli::shown::Shown;
use crate::cli::text::{self, clean, columns, pad};

const EXAMPLE: &str = "\
Example:
  apportion cel 'device.driver == \"nic.example.com\"' --device node-a/gpu-0 -f examples/gpu-sharing/";

/// Evaluate a CEL expression on devices: value, type, cost, and the values of its parts
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct CelArguments {
    /// The expression
    expression: String,
    /// Manifests, as behind `-f`
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    pub(super) input: RepeatedArguments,
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// The device: DEVICE, POOL/DEVICE or DRIVER/POOL/DEVICE; without one, every device
    #[arg(long, short = 'd', value_name = "DEVICE", default_value = "", hide_default_value = true)]
    device: String,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    #[command(flatten)]
    pub(super) view: ViewArguments,
}

pub(super) fn cel(arguments: &CelArguments) -> Result<Shown> {
    let CelArguments { expression, paths, input, namespace, device, engine, view } = arguments;
    let mut asked =
        ask::cluster(engine, &view.look, &[input.files.as_slice(), paths].concat(), &input.cluster, namespace)?;
    let request = ExpressionRequest { expression: expression.clone(), device: device.clone() };
    let (answer, found): (_, Vec<ExpressionAnswer>) = asked.inquire(&Inquiry::Expression(request))?;
    let table = |pen| found.iter().map(|answer| show(answer, pen)).collect::<Vec<_>>().join("\n");
    let is_false = |answer: &ExpressionAnswer| answer.parts.first().is_none_or(|whole| whole.is_cause);
    Ok(asked.show(view.output, "Expression", || json!({ "devices": answer }), table, !found.iter().all(is_false)))
}

fn show(answer: &ExpressionAnswer, pen: Pen) -> String {
    let id = &answer.device;
    let name = format!("{}/{}/{}", id.driver, id.pool, id.device);
    let mut lines = vec![pen.paint(Ink::Device, &clean(&name))];
    let indent = |depth: u64| "  ".repeat(usize::try_from(depth).unwrap_or_default().saturating_add(1));
    let rows: Vec<(String, String, bool)> = answer
        .parts
        .iter()
        .map(|part| {
            let value = if part.is_error { format!("error: {}", part.value) } else { part.value.clone() };
            let text = part.text.split_whitespace().collect::<Vec<_>>().join(" ");
            (format!("{}{text}", indent(part.depth)), format!("{value}  ({})", part.result_type), part.is_cause)
        })
        .collect();
    let width = rows.iter().map(|(text, ..)| columns(text)).max().unwrap_or_default().min(70);
    for (text, value, is_cause) in rows {
        let value = if is_cause { pen.paint(Ink::Bad, &clean(&value)) } else { clean(&value).into_owned() };
        lines.push(format!("{}  {value}", pad(&clean(&text), width)));
    }
    for ReadValue { name, value } in &answer.reads {
        let value = value.as_deref().unwrap_or("the device does not have it");
        lines.push(pen.paint(Ink::Faint, &clean(&format!("  reads {name}: {value}"))));
    }
    let cost = match answer.cost {
        Some(cost) => format!("  cost {cost}, at most {} on any device, of 1000000", answer.max_cost),
        None => format!("  not evaluated; at most {} on any device, of 1000000", answer.max_cost),
    };
    lines.push(pen.paint(Ink::Faint, &cost));
    text::lines(lines)
}
