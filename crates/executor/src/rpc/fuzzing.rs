//! For fuzz targets: reads messages as the two ends of the socket do, without a socket.

use std::io;

use super::protocol::{Bodies, Request, Response, read_line};

/// Reads the requests of a connection with their bodies, up to the first that is refused. Returns their
/// lines, as a client sends them.
pub fn read_requests(mut bytes: &[u8]) -> Vec<String> {
    let mut accepted = Vec::new();
    while let Ok(Some(line)) = read_line(&mut bytes) {
        let Ok(request) = Request::parse(line) else { break };
        let mut unread = request.body_lengths.iter().sum();
        let mut bodies = Bodies::new(&mut bytes, &request.body_lengths, &mut unread);
        while let Ok(mut body) = bodies.next() {
            if io::copy(&mut body, &mut io::sink()).is_err() {
                break;
            }
        }
        if unread != 0 {
            break;
        }
        accepted.push(serde_json::to_string(&request).expect("a request is made of text and numbers"));
    }
    accepted
}

/// Reads a response. Returns false if it is refused.
pub fn read_response(line: &[u8]) -> bool {
    matches!(Response::parse(line), Ok(Ok(_)))
}
