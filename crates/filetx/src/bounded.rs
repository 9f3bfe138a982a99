//! Reading with a limit, so that an endless file such as `/dev/zero` is an error.

use std::io::{self, Read};

/// Reads to the end. Content of more than `limit` bytes is an error of kind
/// [`io::ErrorKind::FileTooLarge`].
pub fn read_bounded(reader: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Bounded::new(reader, limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A reader with a limit. Reading more bytes is an error of kind [`io::ErrorKind::FileTooLarge`].
#[derive(Debug)]
pub struct Bounded<R> {
    reader: R,
    limit: u64,
    remaining: u64,
}

impl<R: Read> Bounded<R> {
    /// Limits a reader to so many bytes.
    pub fn new(reader: R, limit: u64) -> Self {
        Self { reader, limit, remaining: limit }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Read one byte more, to tell the end from more content.
        let len = usize::try_from(self.remaining)
            .map_or(buffer.len(), |remaining| buffer.len().min(remaining.saturating_add(1)));
        let got = self.reader.read(&mut buffer[..len])?;
        let Some(remaining) = self.remaining.checked_sub(got as u64) else {
            let message = format!("it has more than {} bytes", self.limit);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        };
        self.remaining = remaining;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_up_to_the_limit_is_read() {
        for limit in [3, 4, u64::MAX] {
            assert_eq!(read_bounded(&b"abc"[..], limit).unwrap(), b"abc");
        }
        assert_eq!(read_bounded(&b""[..], 0).unwrap(), b"");
    }

    #[test]
    fn longer_content_is_an_error() {
        for limit in [0, 3, 100_000] {
            let error = read_bounded(io::repeat(0), limit).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
            assert_eq!(error.to_string(), format!("it has more than {limit} bytes"));
        }
    }
}
