//! What happens to the objects of one kind, as events of a watch.

use std::time::Duration;

use futures::StreamExt;
use kube::Client;
use kube::api::Api;
use kube::core::ApiResource;
use kube::runtime::watcher::{self, Event, watcher};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;

use super::raw::Raw;

/// What is heard of a kind.
pub(crate) enum Followed {
    /// All that there are now, as an event `LISTED`.
    Listed(Value),
    /// An event of the API server.
    Happened(Value),
    /// The watch failed, and is begun again after a pause.
    Failed(watcher::Error),
}

/// Pause before a watch that failed is begun again.
const PAUSE: Duration = Duration::from_secs(1);

/// Follows all objects of a kind until nobody listens: first a list, then what happens, and a list again wherever the watch failed or a
/// part was missed. What is heard carries the plural of the kind.
pub(crate) async fn follow(client: Client, kind: ApiResource, news: UnboundedSender<(String, Followed)>) {
    let api: Api<Raw> = Api::all_with(client, &kind);
    let write = |object: Raw| object.of_kind(&kind);
    let begin = || Box::pin(watcher(api.clone(), watcher::Config::default()));
    let mut events = begin();
    let mut items = Vec::new();
    while let Some(event) = events.next().await {
        let heard = match event {
            Ok(Event::Init) => {
                items.clear();
                continue;
            }
            Ok(Event::InitApply(object)) => {
                items.push(write(object));
                continue;
            }
            Ok(Event::InitDone) => {
                let (list_kind, items) = (format!("{}List", kind.kind), std::mem::take(&mut items));
                let list = json!({ "apiVersion": kind.api_version, "kind": list_kind, "items": items });
                Followed::Listed(json!({ "type": "LISTED", "object": list }))
            }
            Ok(Event::Apply(object)) => Followed::Happened(json!({ "type": "MODIFIED", "object": write(object) })),
            Ok(Event::Delete(object)) => Followed::Happened(json!({ "type": "DELETED", "object": write(object) })),
            Err(error) => Followed::Failed(error),
        };
        let has_failed = matches!(heard, Followed::Failed(_));
        if news.send((kind.plural.clone(), heard)).is_err() {
            return;
        }
        if has_failed {
            // By the list that comes first everybody can tell that it works again.
            sleep(PAUSE).await;
            events = begin();
        }
    }
}
