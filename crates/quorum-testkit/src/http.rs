//! As much of HTTP as it takes to read a request and to misbehave.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A request as it came.
#[derive(Debug)]
pub(crate) struct RawRequest {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// Reads one request; absent when the other side is done.
pub(crate) fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<RawRequest>> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(RawRequest { path, headers, body }))
}

/// Begins an answer whose end is the end of the connection.
pub(crate) fn head(
    stream: &mut TcpStream,
    status: u16,
    kind: &str,
    more: &[(&str, String)],
) -> io::Result<()> {
    write!(stream, "HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\nconnection: close\r\n")?;
    for (name, value) in more {
        write!(stream, "{name}: {value}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    stream.flush()
}
