//! The server: answers programs on this machine alone.
//!
//! It listens on the loopback address. It refuses requests that name another host, because a page of another site could
//! otherwise reach it through a name that resolves to this machine (DNS rebinding). The page may load nothing from
//! elsewhere and run no script but its own.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::assets;
use super::error::ViewError;
use super::http::{self, Request, Response};
use super::routes::{self, Answer};
use super::viewed::ViewedStore;

/// Most connections at a time; browsers open six.
const MOST_CONNECTIONS: usize = 64;
/// Pause after a connection that the system could not accept, as it has too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Names by which this machine calls itself.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Headers of every answer.
const HEADERS: [(&str, &str); 6] = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
];

/// A server that listens, and does not answer yet.
pub struct ViewServer {
    listener: TcpListener,
    port: u16,
}

impl ViewServer {
    /// Listens on this port of the loopback address; on any free one if it is 0.
    pub fn listen(port: u16) -> Result<Self, ViewError> {
        let failed = |error: std::io::Error| ViewError::Listen {
            port,
            what: error.to_string(),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(ViewServer { listener, port })
    }

    /// Address of the page.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers requests about these stores until the process ends. Each connection has a thread of its own.
    pub fn serve(&self, stores: &[ViewedStore]) {
        let connections = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for stream in self.listener.incoming() {
                let Ok(mut stream) = stream else {
                    std::thread::sleep(PAUSE);
                    continue;
                };
                if connections.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                    connections.fetch_sub(1, Ordering::Relaxed);
                    let busy = error(503, "too many connections");
                    let _ = http::write(&mut stream, &busy, &HEADERS, false);
                    continue;
                }
                let connections = &connections;
                scope.spawn(move || {
                    // A page that was closed does not wait for its answer.
                    let _ = respond(&mut stream, stores);
                    connections.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
    }
}

fn respond(stream: &mut TcpStream, stores: &[ViewedStore]) -> std::io::Result<()> {
    let Some(request) = http::read(stream)? else {
        return Ok(());
    };
    // A fault in one answer must not end the server.
    let response = catch_unwind(AssertUnwindSafe(|| response(&request, stores)))
        .unwrap_or_else(|_| error(500, "the server failed here; its terminal says why"));
    http::write(stream, &response, &HEADERS, request.method == "HEAD")
}

fn response(request: &Request, stores: &[ViewedStore]) -> Response {
    if !request.host.as_deref().is_some_and(is_own_host) {
        return error(
            403,
            "this server answers requests to 127.0.0.1 or localhost only",
        );
    }
    if !matches!(&*request.method, "GET" | "HEAD") {
        return error(405, "this server answers GET requests only");
    }
    let (path, query) = request
        .target
        .split_once('?')
        .unwrap_or((&request.target, ""));
    let name = match path {
        "/" => "index.html",
        other => other.strip_prefix('/').unwrap_or_default(),
    };
    if let Some(asset) = assets::asset(name) {
        return bytes(200, asset.media_type, asset.text.as_bytes().to_vec());
    }
    match routes::answer(stores, path, query) {
        Ok(Answer::Json(value)) => json_bytes(200, &value),
        Ok(Answer::Arrays(arrays)) => bytes(200, "application/octet-stream", arrays),
        Err(what @ ViewError::NoSuchAddress(_)) => error(404, &what.to_string()),
        Err(what) => error(500, &what.to_string()),
    }
}

/// Whether the value of a `Host` header names this machine. The port may be that of a tunnel.
fn is_own_host(value: &str) -> bool {
    let is_port = |rest: &str| {
        let digits = rest.strip_prefix(':').unwrap_or("0");
        digits.parse::<u16>().is_ok()
    };
    HOSTS.iter().any(|host| {
        let (name, rest) = value.split_at_checked(host.len()).unwrap_or(("", ""));
        name.eq_ignore_ascii_case(host)
            && is_port(rest)
            && (rest.is_empty() || rest.starts_with(':'))
    })
}

fn error(status: u16, what: &str) -> Response {
    json_bytes(status, &json!({ "error": what }))
}

fn json_bytes(status: u16, value: &serde_json::Value) -> Response {
    bytes(status, "application/json", value.to_string().into_bytes())
}

fn bytes(status: u16, media_type: &'static str, body: Vec<u8>) -> Response {
    Response {
        status,
        media_type,
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        for own in ["127.0.0.1:80", "localhost:9000", "LocalHost", "[::1]:1"] {
            assert!(is_own_host(own), "{own}");
        }
        for other in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil:80",
            "127.0.0.1:x",
            "",
            "[::1]x",
            "127.0.0.12",
        ] {
            assert!(!is_own_host(other), "{other}");
        }
    }
}
