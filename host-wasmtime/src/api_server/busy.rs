//! Answers of an API server that has no time, in the form of the API.

use std::error::Error;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_LENGTH, RETRY_AFTER};
use hyper::{Response, StatusCode};
use kube::client::DynBody;
use serde_json::{Map, Value, json};

type Answer = Response<Box<DynBody>>;

/// Lets an answer say in its body how long the server wants to be left alone.
///
/// A server that has no time says so before it looks at the request: in a line of text, with the seconds in a header that the
/// client drops. Every other answer passes as it is.
///
/// # Errors
///
/// When the answer ends in the middle.
pub(super) async fn in_form(answer: Answer) -> Result<Answer, Box<dyn Error + Send + Sync>> {
    let Some(seconds) = wish(&answer) else { return Ok(answer) };
    let (mut parts, body) = answer.into_parts();
    let text = body.collect().await?.to_bytes();
    parts.headers.remove(CONTENT_LENGTH);
    let body = Full::new(Bytes::from(status(&text, seconds).to_string())).map_err(|never| match never {});
    Ok(Response::from_parts(parts, Box::new(body)))
}

/// Seconds that a server without time wants to be left alone.
fn wish<B>(answer: &Response<B>) -> Option<u32> {
    let header = answer.headers().get(RETRY_AFTER).filter(|_| answer.status() == StatusCode::TOO_MANY_REQUESTS)?;
    header.to_str().ok()?.trim().parse().ok()
}

/// The status that a body is, or one around its text. Seconds that it names itself stay.
fn status(text: &[u8], seconds: u32) -> Value {
    let bare = || {
        let message = String::from_utf8_lossy(text);
        let fields = [
            ("kind", json!("Status")),
            ("apiVersion", json!("v1")),
            ("metadata", json!({})),
            ("status", json!("Failure")),
            ("reason", json!("TooManyRequests")),
            ("message", json!(message.trim())),
            ("code", json!(StatusCode::TOO_MANY_REQUESTS.as_u16())),
        ];
        fields.into_iter().map(|(field, value)| (field.to_owned(), value)).collect()
    };
    let said = serde_json::from_slice(text).ok();
    let mut status: Map<String, Value> = said
        .filter(|said: &Map<String, Value>| said.get("kind").is_some_and(|kind| kind == "Status"))
        .unwrap_or_else(bare);
    let details = status.entry("details").or_insert_with(|| json!({}));
    if let Some(details) = details.as_object_mut() {
        let known = details.get("retryAfterSeconds").and_then(Value::as_u64).unwrap_or(0);
        if known == 0 {
            details.insert("retryAfterSeconds".to_owned(), json!(seconds));
        }
    }
    Value::Object(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(code: u16, wish: Option<&str>, text: &'static str) -> String {
        let mut answer = Response::builder().status(code);
        if let Some(wish) = wish {
            answer = answer.header(RETRY_AFTER, wish);
        }
        let body: Box<DynBody> = Box::new(Full::new(Bytes::from(text)).map_err(|never| match never {}));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let answer = in_form(answer.body(body).unwrap()).await.unwrap();
            assert_eq!(answer.status().as_u16(), code);
            String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
        })
    }

    #[test]
    fn a_header_becomes_part_of_the_status() {
        let status: Value =
            serde_json::from_str(&body(429, Some("7"), "Too many requests, please try again later.\n")).unwrap();
        assert_eq!(status["details"]["retryAfterSeconds"], 7);
        assert_eq!((&status["code"], &status["kind"]), (&json!(429), &json!("Status")));
        assert_eq!(status["message"], "Too many requests, please try again later.");
        let given = r#"{"kind":"Status","code":429,"message":"slow","details":{"name":"x"}}"#;
        let status: Value = serde_json::from_str(&body(429, Some("3"), given)).unwrap();
        assert_eq!(status["details"], json!({ "name": "x", "retryAfterSeconds": 3 }));
        let given = r#"{"kind":"Status","code":429,"details":{"retryAfterSeconds":9}}"#;
        let status: Value = serde_json::from_str(&body(429, Some("3"), given)).unwrap();
        assert_eq!(status["details"]["retryAfterSeconds"], 9, "what the status says counts");
    }

    #[test]
    fn every_other_answer_passes_as_it_is() {
        for (code, wish) in [(200, Some("7")), (503, Some("7")), (429, None), (429, Some("soon")), (429, Some("-1"))] {
            assert_eq!(body(code, wish, "text"), "text", "{code} {wish:?}");
        }
    }
}
