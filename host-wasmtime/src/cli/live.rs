//! A live cluster as input.

use anyhow::{Context, Result};
use tokio::runtime::Builder;

use super::arguments::{ClusterArguments, Output};
use super::files::Source;
use super::input::Input;
use super::machine;
use super::note::Note;
use super::progress::Progress;
use super::shown::Shown;
use crate::api_server::{Resource, connect, list, reader_role};

/// Lists the objects of these kinds of the cluster that the arguments name.
pub(crate) fn read(arguments: &ClusterArguments, kinds: &[Resource]) -> Result<Input> {
    let runtime = Builder::new_current_thread().enable_all().build().context("no request can be sent")?;
    let (context, listed) = runtime.block_on(async {
        let connection = connect(arguments.context.as_deref()).await?;
        let progress = Progress::new(kinds.len(), "kinds");
        let listed = list(&connection.client, kinds, || progress.step()).await?;
        anyhow::Ok((connection.context, listed))
    })?;
    let mut input = Input::of_objects(Source::cluster(format!("context {context}")), listed.objects);
    input.problems.extend(listed.findings.into_iter().map(|finding| Note::of_finding(finding, None)));
    Ok(input)
}

/// The role that doing this with these kinds needs, as a manifest.
pub(crate) fn role((kinds, verbs): (&[Resource], &[&str])) -> Result<Shown> {
    Ok(Shown::text(machine::text(&serde_json::to_value(reader_role(kinds, verbs))?, Output::Yaml)))
}
