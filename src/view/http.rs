//! HTTP/1.1, as far as a page on this machine needs it: one request per connection, without a body.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longest head of a request, bytes, and most headers in it.
const LONGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;
/// How long a connection may be silent.
const SILENCE: Duration = Duration::from_secs(20);

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// Method, such as `GET`.
    pub method: String,
    /// Path and query as they were sent.
    pub target: String,
    /// Value of the header `Host`; `None` if there is not exactly one.
    pub host: Option<String>,
}

/// An answer.
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Media type of the body.
    pub media_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// Reads the head of a request. `None`: the connection ended first, or what came is no request.
pub fn read(stream: &mut TcpStream) -> std::io::Result<Option<Request>> {
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    let mut head = Vec::new();
    let mut part = [0; 2048];
    while head.len() < LONGEST_HEAD {
        let count = match stream.read(&mut part) {
            Ok(0) => return Ok(None),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        head.extend_from_slice(&part[..count]);
        match parse(&head) {
            Ok(None) => {}
            Ok(request) => return Ok(request),
            Err(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// The request whose head these bytes begin with; `None` if it is not complete.
fn parse(head: &[u8]) -> Result<Option<Request>, httparse::Error> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    if request.parse(head)?.is_partial() {
        return Ok(None);
    }
    let mut hosts = request
        .headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case("host"));
    let host = hosts
        .next()
        .and_then(|header| std::str::from_utf8(header.value).ok());
    let host = host.filter(|_| hosts.next().is_none()).map(str::to_owned);
    Ok(Some(Request {
        method: request.method.unwrap_or_default().to_owned(),
        target: request.path.unwrap_or_default().to_owned(),
        host,
    }))
}

/// Writes an answer with these headers; without its body if it answers a `HEAD` request.
pub fn write(
    stream: &mut TcpStream,
    response: &Response,
    headers: &[(&str, &str)],
    is_head: bool,
) -> std::io::Result<()> {
    let reason = match response.status {
        200 => "OK",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    };
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", response.status);
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    let length = response.body.len();
    head += &format!(
        "Content-Type: {}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n",
        response.media_type
    );
    stream.write_all(head.as_bytes())?;
    if !is_head {
        stream.write_all(&response.body)?;
    }
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(head: &str) -> Option<Request> {
        parse(head.as_bytes()).expect("a request")
    }

    #[test]
    fn a_request_is_complete_after_its_empty_line() {
        assert_eq!(parsed("GET /a?b HTTP/1.1\r\nHost: x\r\n"), None);
        let request = parsed("GET /a?b HTTP/1.1\r\nhOst: x:1\r\n\r\n").expect("complete");
        assert_eq!((&*request.method, &*request.target), ("GET", "/a?b"));
        assert_eq!(request.host.as_deref(), Some("x:1"));
    }

    #[test]
    fn two_hosts_or_none_are_no_host() {
        let two =
            parsed("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n").expect("complete");
        let none = parsed("GET / HTTP/1.1\r\nAccept: */*\r\n\r\n").expect("complete");
        assert_eq!((two.host, none.host), (None, None));
        assert!(parse(b"nonsense\r\n\r\n").is_err());
    }
}
