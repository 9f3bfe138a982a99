//! Numbers of things, in words for people.

/// `1 file`, `2 files`.
pub fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// The same with the verb that goes with it: `1 file was`, `2 files were`.
pub(crate) fn counted_were(count: usize, one: &str) -> String {
    format!("{} {}", counted(count, one), if count == 1 { "was" } else { "were" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "file")), ["0 files", "1 file", "2 files"]);
        assert_eq!([1, 2].map(|count| counted_were(count, "file")), ["1 file was", "2 files were"]);
    }
}
