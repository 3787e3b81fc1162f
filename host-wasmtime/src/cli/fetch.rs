//! Manifests at an address.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use apportion_yaml::Limits;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::header::{LOCATION, USER_AGENT};
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use kube::Config;
use kube::client::ConfigExt as _;
use tokio::runtime::Builder;
use tokio::time::timeout;

/// For all of it: connecting, redirections, and the text.
const PATIENCE: Duration = Duration::from_secs(30);

const MOST_REDIRECTIONS: usize = 5;

/// Whether a path is an address.
pub(crate) fn is_address(path: &str) -> bool {
    path.starts_with("https://") || path.starts_with("http://")
}

/// The text at an address, not longer than what is read of a file.
///
/// # Errors
///
/// When there is no answer, or none that holds a text.
pub(crate) fn fetch(address: &str) -> Result<Vec<u8>> {
    let runtime = Builder::new_current_thread().enable_all().build().context("no request can be sent")?;
    let text = runtime.block_on(async { timeout(PATIENCE, follow(address)).await });
    match text {
        Ok(text) => text.with_context(|| format!("`{address}` cannot be read")),
        Err(_) => bail!("`{address}` cannot be read: no answer within {} s", PATIENCE.as_secs()),
    }
}

async fn follow(address: &str) -> Result<Vec<u8>> {
    let mut uri: Uri = address.parse().context("this is no address")?;
    for _ in 0..=MOST_REDIRECTIONS {
        // The certificates are those that the machine trusts.
        let connector = Config::new(uri.clone()).rustls_https_connector().context("no connection can be made")?;
        let client = Client::builder(TokioExecutor::new()).build::<_, Empty<Bytes>>(connector);
        let request = Request::get(uri.clone()).header(USER_AGENT, "apportion").body(Empty::new());
        let answer = client.request(request.context("no request can be made")?).await?;
        let status = answer.status();
        if status.is_redirection() {
            let next = answer.headers().get(LOCATION).and_then(|next| next.to_str().ok());
            uri = target(&uri, next.context("a redirection to nowhere")?)?;
            continue;
        }
        if !status.is_success() {
            bail!("the answer is {status}");
        }
        let most = Limits::default().max_bytes;
        let body = Limited::new(answer.into_body(), most).collect().await;
        return match body {
            Ok(body) => Ok(body.to_bytes().to_vec()),
            Err(error) => bail!("{error} (at most {most} bytes are read)"),
        };
    }
    bail!("more than {MOST_REDIRECTIONS} redirections")
}

/// Where a redirection leads: an address, or a path on the same host. What began encrypted stays so.
fn target(from: &Uri, to: &str) -> Result<Uri> {
    let whole = match (to.starts_with('/'), from.scheme_str(), from.authority()) {
        (true, Some(scheme), Some(authority)) => format!("{scheme}://{authority}{to}"),
        _ => to.to_owned(),
    };
    let next: Uri = whole.parse().with_context(|| format!("a redirection to `{to}`, which is no address"))?;
    let is_weaker = from.scheme_str() == Some("https") && next.scheme_str() != Some("https");
    if is_weaker || !is_address(&whole) {
        bail!("a redirection to `{to}`");
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirections_stay_encrypted() {
        let from: Uri = "https://a.example/x".parse().unwrap_or_default();
        let to = |text| target(&from, text).map(|uri| uri.to_string()).ok();
        assert_eq!(to("/y"), Some("https://a.example/y".to_owned()));
        assert_eq!(to("https://b.example/z"), Some("https://b.example/z".to_owned()));
        assert_eq!(to("http://b.example/z"), None);
        assert_eq!(to("file:///etc/passwd"), None);
    }
}
