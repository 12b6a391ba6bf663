//! The server: answers programs on this machine alone.
//!
//! It listens on the loopback address. It refuses requests that name another host, because a page of another site could
//! otherwise reach it through a name that resolves to this machine (DNS rebinding). The page may load nothing from
//! elsewhere and run no script but its own.

use std::io::Cursor;
use std::net::{Ipv4Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;
use tiny_http::{Header, Method, Request, Response, Server, StatusCode};

use super::assets;
use super::error::ViewError;
use super::routes::{self, Answer};
use super::viewed::ViewedStore;

/// Number of requests that are answered at a time.
const THREADS: usize = 4;

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
    server: Server,
    port: u16,
}

impl ViewServer {
    /// Listens on this port of the loopback address; on any free one if it is 0.
    pub fn listen(port: u16) -> Result<Self, ViewError> {
        let failed = |what: String| ViewError::Listen { port, what };
        let server =
            Server::http((Ipv4Addr::LOCALHOST, port)).map_err(|error| failed(error.to_string()))?;
        let address = server.server_addr().to_ip();
        let port = address.map(|address: SocketAddr| address.port());
        let port = port.ok_or_else(|| failed("the address has no port".to_owned()))?;
        Ok(ViewServer { server, port })
    }

    /// Address of the page.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers requests about these stores until the process ends.
    pub fn serve(&self, stores: &[ViewedStore]) {
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while let Ok(request) = self.server.recv() {
                        respond(request, stores);
                    }
                });
            }
        });
    }
}

type Bytes = Response<Cursor<Vec<u8>>>;

fn respond(request: Request, stores: &[ViewedStore]) {
    // A fault in one answer must not end the thread that gives it.
    let response = catch_unwind(AssertUnwindSafe(|| response(&request, stores)))
        .unwrap_or_else(|_| error(500, "the server failed here; its terminal says why"));
    // A page that was closed does not wait for its answer.
    let _ = request.respond(response);
}

fn response(request: &Request, stores: &[ViewedStore]) -> Bytes {
    let host = request
        .headers()
        .iter()
        .find(|header| header.field.equiv("Host"));
    if !host.is_some_and(|header| is_own_host(header.value.as_str())) {
        return error(
            403,
            "this server answers requests to 127.0.0.1 or localhost only",
        );
    }
    if !matches!(request.method(), Method::Get | Method::Head) {
        return error(405, "this server answers GET requests only");
    }
    let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
    let name = match path {
        "/" => "index.html",
        other => other.trim_start_matches('/'),
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

fn error(status: u16, what: &str) -> Bytes {
    json_bytes(status, &json!({ "error": what }))
}

fn json_bytes(status: u16, value: &serde_json::Value) -> Bytes {
    bytes(status, "application/json", value.to_string().into_bytes())
}

fn bytes(status: u16, media_type: &str, bytes: Vec<u8>) -> Bytes {
    let headers = HEADERS.into_iter().chain([("Content-Type", media_type)]);
    let headers = headers.filter_map(|(name, value)| Header::from_bytes(name, value).ok());
    let mut response = Response::from_data(bytes).with_status_code(StatusCode(status));
    for header in headers {
        response.add_header(header);
    }
    response
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
