//! Binary patches of git: zlib in base 85, with the hashes that git requires.

use std::io::{self, Write};

use miniz_oxide::deflate::compress_to_vec_zlib;
use sha1::{Digest, Sha1};

const ALPHABET: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// Bytes per line.
const LINE_BYTES: usize = 52;
/// The compression level of zlib: the default of git.
const LEVEL: u8 = 6;

/// Writes the index line with the full hashes of both contents; zeros for an absent side.
pub(super) fn write_index(
    out: &mut dyn Write,
    old: Option<&Vec<u8>>,
    new: Option<&Vec<u8>>,
) -> io::Result<()> {
    let hash =
        |content: Option<&Vec<u8>>| content.map_or_else(|| "0".repeat(40), |content| git_hash(content));
    writeln!(out, "index {}..{}", hash(old), hash(new))
}

/// The hash of a blob in git.
fn git_hash(content: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", content.len()));
    hash.update(content);
    filetx::hex(&hash.finalize()).to_string()
}

/// Writes a whole content.
pub(super) fn write_literal(out: &mut dyn Write, content: &[u8]) -> io::Result<()> {
    writeln!(out, "literal {}", content.len())?;
    for part in compress_to_vec_zlib(content, LEVEL).chunks(LINE_BYTES) {
        let length = match part.len() as u8 {
            length @ ..=26 => b'A' + length - 1,
            length => b'a' + length - 27,
        };
        out.write_all(&[length])?;
        for word in part.chunks(4) {
            out.write_all(&base85(word))?;
        }
        out.write_all(b"\n")?;
    }
    out.write_all(b"\n")
}

/// Encodes up to four bytes as five characters.
fn base85(word: &[u8]) -> [u8; 5] {
    let mut bytes = [0; 4];
    bytes[..word.len()].copy_from_slice(word);
    let mut number = u32::from_be_bytes(bytes);
    let mut text = [0; 5];
    for character in text.iter_mut().rev() {
        *character = ALPHABET[(number % 85) as usize];
        number /= 85;
    }
    text
}
