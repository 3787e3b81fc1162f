//! `apportion allocate`.

use std::io;

use anyhow::{Result, anyhow, bail};
use apportion_core::allocate::{Outcome, Question};
use apportion_core::api::claim::ResourceClaim;
use apportion_core::engine::read_claim_value;
use apportion_core::finding::{ObjectRef, Severity};
use serde_json::json;

use super::args::{AllocateArguments, Output};
use super::diagnose::diagnose;
use super::input::{Input, Taken};
use super::note::Note;
use super::pen::Pen;
use super::{Shown, ask, input, machine, show_allocate};
use crate::api_server::READ;

pub(crate) fn allocate(arguments: &AllocateArguments) -> Result<Shown> {
    let view = &arguments.view;
    let mut door = ask::cluster(&arguments.engine)?;
    let input = input::gather(&arguments.input.files, &arguments.input.cluster, &READ)?;
    let taken = input.apply(door.as_mut())?;
    let claims = arguments.claims.iter().map(|name| claim(&input, &taken, name)).collect::<Result<Vec<_>>>();
    let claims = match ask::or_input(claims, (&input, &taken), &view.look)? {
        Ok(claims) => claims,
        Err(shown) => return Ok(shown),
    };
    let question = Question { claims, nodes: arguments.nodes.clone(), ..Question::default() };
    let answer = door.allocate(&question)?;
    let stdout = match view.output {
        Output::Table => {
            let pen = Pen::new(&view.look, &io::stdout());
            show_allocate::show(&answer, &question, &input, &taken, pen, view.look.verbose)
        }
        Output::Json | Output::Yaml => {
            let body = json!({ "input": machine::input(&input, &taken), "answer": answer.to_json() });
            machine::write("Allocation", &arguments.engine, body, view.output)
        }
    };
    let stderr = diagnose(&taken.notes, &input.sources, Pen::new(&view.look, &io::stderr()), view.look.verbose);
    let is_allocated = matches!(answer.outcome, Outcome::Allocated { .. });
    let verdict = taken.verdict(is_allocated);
    Ok(Shown { stdout: stdout.into(), stderr, verdict })
}

/// The claim that the user named.
fn claim(input: &Input, taken: &Taken, name: &str) -> Result<ResourceClaim> {
    let (namespace, bare) = match name.split_once('/') {
        Some((namespace, bare)) => (Some(namespace), bare),
        None => (None, name),
    };
    // With the positions of the documents.
    let of_kind = |kind: &str| -> Vec<(ObjectRef, usize)> {
        let all = input.documents.iter().enumerate().map(|(index, document)| (document.reference(), index));
        all.filter(|(object, _)| object.kind == kind).collect()
    };
    let is_meant =
        |object: &ObjectRef| object.name == bare && namespace.is_none_or(|wanted| object.namespace == wanted);
    let claims = of_kind("ResourceClaim");
    let mut found: Vec<&(ObjectRef, usize)> = claims.iter().filter(|(object, _)| is_meant(object)).collect();
    // Of one object given twice the later counts, as with kubectl.
    found.reverse();
    found.dedup_by(|some, others| some.0 == others.0);
    let (object, index) = match found.as_slice() {
        [(object, index)] => (object, *index),
        [] => {
            let known: Vec<String> =
                claims.iter().map(|(object, _)| format!("`{}/{}`", object.namespace, object.name)).collect();
            if of_kind("ResourceClaimTemplate").iter().any(|(object, _)| is_meant(object)) {
                bail!(
                    "`{name}` is a ResourceClaimTemplate: claims are made from it when a Pod uses it, which `apportion run` shows"
                );
            }
            match known.is_empty() {
                true => bail!("the manifests hold no ResourceClaim"),
                false => bail!("the manifests hold no ResourceClaim `{name}`; there are {}", known.join(", ")),
            }
        }
        several => {
            let names: Vec<String> =
                several.iter().map(|(object, _)| format!("`{}/{}`", object.namespace, object.name)).collect();
            bail!("`{name}` could be {}: name one with its namespace", names.join(" or "));
        }
    };
    let is_refusal = |note: &Note| note.severity == Severity::Error && note.object.as_ref() == Some(object);
    if taken.notes.iter().any(is_refusal) {
        bail!("{object} was refused");
    }
    let mut claim = read_claim_value(input.object(index)).map_err(|findings| {
        let first = findings.first().map(|finding| format!(": {}: {}", finding.path, finding.message));
        anyhow!("{object} cannot be used{}", first.unwrap_or_default())
    })?;
    if claim.status.allocation.is_some() {
        bail!("{object} is allocated already; take `status.allocation` out of the manifest to ask for it anew");
    }
    claim.metadata.namespace.clone_from(&object.namespace);
    Ok(claim)
}
