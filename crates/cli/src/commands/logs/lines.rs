//! Splits chunks into lines. Looks at each byte once, however long a line is.

/// The lines of a stream of chunks.
#[derive(Default)]
pub(super) struct Lines {
    /// The beginning of a line whose end is not read yet.
    rest: Vec<u8>,
}

impl Lines {
    /// Adds a chunk, and passes on each line that is complete by now, with its line feed.
    pub(super) fn add<E>(
        &mut self,
        chunk: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            match piece.ends_with(b"\n") {
                true if self.rest.is_empty() => each(piece)?,
                true => {
                    self.rest.extend_from_slice(piece);
                    each(&self.take_rest())?;
                }
                false => self.rest.extend_from_slice(piece),
            }
        }
        Ok(())
    }

    /// Takes the last line, which has no line feed.
    pub(super) fn take_rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.rest)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn split(chunks: impl Iterator<Item = &'static [u8]>) -> (Vec<Vec<u8>>, Vec<u8>) {
        let (mut lines, mut split) = (Lines::default(), Vec::new());
        for chunk in chunks {
            let Ok(()) = lines.add(chunk, |line| {
                split.push(line.to_vec());
                Ok::<_, Infallible>(())
            });
        }
        (split, lines.take_rest())
    }

    #[test]
    fn lines_are_complete_wherever_chunks_end() {
        let chunks: [&[u8]; 5] = [b"one\ntw", b"o\n", b"\nth", b"ree", b"\nend"];
        let (lines, rest) = split(chunks.into_iter());
        assert_eq!(lines, [&b"one\n"[..], b"two\n", b"\n", b"three\n"]);
        assert_eq!(rest, b"end");
    }

    /// Looking at the whole line for each chunk would take days.
    #[test]
    fn one_long_line_is_read_once() {
        let chunks = 4 << 20;
        let (lines, rest) = split(std::iter::repeat_n(&b"0123456789abcdef"[..], chunks));
        assert_eq!((lines.len(), rest.len()), (0, 16 * chunks));
        let (lines, _) = split(std::iter::once(&[b'\n'; 1 << 20][..]));
        assert_eq!(lines.len(), 1 << 20);
    }
}
