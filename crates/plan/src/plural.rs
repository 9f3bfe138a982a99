//! Numbers of things, in words.

/// Formats a number with its noun: `1 file`, `2 files`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Formats a number with its noun and verb: `1 file was`, `2 files were`.
pub(crate) fn plural_were(count: usize, noun: &str) -> String {
    format!("{} {}", plural(count, noun), if count == 1 { "was" } else { "were" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| plural(count, "file")), ["0 files", "1 file", "2 files"]);
        assert_eq!([1, 2].map(|count| plural_were(count, "file")), ["1 file was", "2 files were"]);
    }
}
