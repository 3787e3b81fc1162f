//! `apportion cel`.

use std::io;

use anyhow::Result;
use apportion_core::ask::Inquiry;
use apportion_core::ask::{ExpressionAnswer, ExpressionRequest};
use serde_json::json;

use super::args::{CelArguments, Output};
use super::diagnose::diagnose;
use super::pen::{Ink, Pen};
use super::text::{clean, columns, pad};
use super::{Shown, ask, input, machine};
use crate::api_server::READ;

pub(crate) fn cel(arguments: &CelArguments) -> Result<Shown> {
    let view = &arguments.view;
    let mut door = ask::cluster(&arguments.engine)?;
    let input = input::gather(&arguments.input.files, &arguments.input.cluster, &READ)?;
    let taken = input.apply(door.as_mut())?;
    let request = ExpressionRequest { expression: arguments.expression.clone(), device: arguments.device.clone() };
    let asked = ask::inquire(door.as_mut(), &Inquiry::Expression(request), (&input, &taken), &view.look)?;
    let answer = match asked {
        Ok(answer) => answer,
        Err(shown) => return Ok(shown),
    };
    let found: Vec<ExpressionAnswer> = serde_json::from_value(answer.clone())?;
    let stdout = match view.output {
        Output::Table => {
            let pen = Pen::new(&view.look, &io::stdout());
            let shown: Vec<String> = found.iter().map(|answer| show(answer, pen)).collect();
            shown.join("\n")
        }
        output => {
            let body = json!({ "input": machine::input(&input, &taken), "devices": answer });
            machine::write("Expression", &arguments.engine, body, output)
        }
    };
    let stderr = diagnose(&taken.notes, &input.sources, Pen::new(&view.look, &io::stderr()), view.look.verbose);
    let is_false = |answer: &ExpressionAnswer| answer.parts.first().is_none_or(|whole| whole.is_cause);
    let verdict = taken.verdict(!found.iter().all(is_false));
    Ok(Shown { stdout: stdout.into(), stderr, verdict })
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
    for (name, value) in &answer.reads {
        let value = value.as_deref().unwrap_or("the device does not have it");
        lines.push(pen.paint(Ink::Faint, &clean(&format!("  reads {name}: {value}"))));
    }
    let cost = match answer.cost {
        Some(cost) => format!("  cost {cost}, at most {} on any device, of 1000000", answer.max_cost),
        None => format!("  not evaluated; at most {} on any device, of 1000000", answer.max_cost),
    };
    lines.push(pen.paint(Ink::Faint, &cost));
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}
