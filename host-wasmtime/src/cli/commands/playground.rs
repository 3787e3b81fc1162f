//! `apportion playground`: the page, served to this machine and no other.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::cli::shown::Shown;

const EXAMPLE: &str = "\
Example:
  apportion playground --port 8080 --no-open";

/// Open the playground in a browser: a page that this program serves to this machine only
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct PlaygroundArguments {
    /// Port on 127.0.0.1; any free one where it is 0
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Print the address and leave the browser alone
    #[arg(long)]
    no_open: bool,
}

/// A file of the page, by its name below the page's folder.
type File = (&'static str, &'static [u8]);

// `FILES`, written by the build script: empty where the program was built without the page.
include!(concat!(env!("OUT_DIR"), "/playground.rs"));

/// A request may be this long, in bytes, and its sender this slow.
const MAX_REQUEST: u64 = 16 << 10;
const PATIENCE: Duration = Duration::from_secs(5);

/// What browsers hold every file to. The page's own policy is stricter and counts as well: it may connect to nothing at all.
fn policy(files: &[File]) -> String {
    let styles = nonce(files).map(|nonce| format!(" 'nonce-{nonce}'")).unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'{styles}; img-src 'self' data:; \
         manifest-src 'self'; worker-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
}

/// The name that the page's own policy has for styles made while it runs; another one in each build.
fn nonce(files: &[File]) -> Option<&str> {
    let (_, page) = files.iter().find(|(name, _)| *name == "index.html")?;
    let (_, rest) = std::str::from_utf8(page).ok()?.split_once("nonce-")?;
    rest.split(|character: char| !character.is_ascii_alphanumeric() && character != '-' && character != '_').next()
}

/// Serves the page until the program is interrupted.
pub(super) fn playground(arguments: &PlaygroundArguments) -> Result<Shown> {
    if FILES.is_empty() {
        bail!("this program was built without the playground; `cargo xtask install` builds it with the page");
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port))
        .with_context(|| format!("port {} cannot be used: choose another with `--port`", arguments.port))?;
    let address = format!("http://{}/", listener.local_addr().context("the address is not known")?);
    writeln!(io::stdout(), "{address}").context("standard output is closed")?;
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(io::stderr(), "The playground is at this address, for this machine only, until Ctrl+C.");
    if !arguments.no_open {
        open(&address);
    }
    for stream in listener.incoming().flatten() {
        // A browser that goes away in the middle is no failure.
        thread::spawn(move || drop(converse(&stream)));
    }
    bail!("the playground ended")
}

/// Asks the system for a browser. Where there is none, the address is on the terminal.
fn open(address: &str) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut browser = Command::new(program);
    browser.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = browser.spawn();
}

fn converse(mut stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream.take(MAX_REQUEST)).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    // The rest says nothing that matters here, but a connection closed before it was read is a failure to some browsers.
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let answer = answer(&request, FILES);
    stream.write_all(answer.head(FILES).as_bytes())?;
    if answer.has_body {
        stream.write_all(answer.body)?;
    }
    stream.flush()
}

#[derive(PartialEq, Eq, Debug)]
struct Answer {
    status: &'static str,
    kind: &'static str,
    body: &'static [u8],
    has_body: bool,
}

impl Answer {
    fn head(&self, files: &[File]) -> String {
        format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nContent-Security-Policy: {}\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n",
            self.status,
            self.kind,
            self.body.len(),
            policy(files),
        )
    }
}

/// The answer to the first line of a request. Names are looked up, never opened, so no name leads anywhere else.
fn answer(request: &str, files: &[File]) -> Answer {
    let plain = |status, body: &'static str| Answer {
        status,
        kind: "text/plain; charset=utf-8",
        body: body.as_bytes(),
        has_body: true,
    };
    let mut words = request.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return plain("400 Bad Request", "this is no request\n");
    };
    if method != "GET" && method != "HEAD" {
        return plain("405 Method Not Allowed", "only GET and HEAD are answered\n");
    }
    let path = target.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
    let name = if path.is_empty() { "index.html" } else { path };
    match files.iter().find(|(known, _)| *known == name) {
        Some((_, body)) => Answer { status: "200 OK", kind: kind_of(name), body, has_body: method == "GET" },
        None => plain("404 Not Found", "there is no such file\n"),
    }
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: &[File] = &[("index.html", b"<!doctype html>"), ("assets/engine.wasm", b"\0asm")];

    #[test]
    fn files_are_answered_with_their_kind_and_a_policy() {
        let page = answer("GET / HTTP/1.1", SOME);
        assert_eq!((page.status, page.body), ("200 OK", &b"<!doctype html>"[..]));
        assert!(page.head(SOME).contains("Content-Type: text/html; charset=utf-8\r\n"));
        assert!(page.head(SOME).contains("Content-Security-Policy: default-src 'none'; "));
        assert!(page.head(SOME).ends_with("Connection: close\r\n\r\n"));
        let module = answer("HEAD /assets/engine.wasm?v=1 HTTP/1.1", SOME);
        assert_eq!((module.kind, module.has_body), ("application/wasm", false));
        assert!(module.head(SOME).contains("Content-Length: 4\r\n"));
    }

    #[test]
    fn the_policy_allows_the_styles_that_the_page_names() {
        let page: &[File] = &[("index.html", b"content=\"style-src &#39;self&#39; &#39;nonce-aB-9_&#39;; img-src\"")];
        assert!(policy(page).contains("style-src 'self' 'nonce-aB-9_'; img-src"), "{}", policy(page));
        assert!(policy(SOME).contains("style-src 'self'; img-src"), "{}", policy(SOME));
    }

    #[test]
    fn what_is_no_file_of_the_page_is_refused() {
        let status = |request| answer(request, SOME).status;
        for request in ["GET /../Cargo.toml HTTP/1.1", "GET /assets/ HTTP/1.1", "GET //etc/passwd HTTP/1.1"] {
            assert_eq!(status(request), "404 Not Found", "{request}");
        }
        assert_eq!(status("POST / HTTP/1.1"), "405 Method Not Allowed");
        assert_eq!(status(""), "400 Bad Request");
        assert_eq!(status("\u{16}\u{3}"), "400 Bad Request");
    }

    #[test]
    fn a_browser_gets_its_answer_over_a_connection() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || converse(&listener.accept().unwrap().0));
        let mut browser = TcpStream::connect(address).unwrap();
        browser.write_all(b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut text = String::new();
        browser.read_to_string(&mut text).unwrap();
        server.join().unwrap().unwrap();
        assert!(
            text.starts_with("HTTP/1.1 404 Not Found\r\n") && text.ends_with("\r\n\r\nthere is no such file\n"),
            "{text}"
        );
    }
}
