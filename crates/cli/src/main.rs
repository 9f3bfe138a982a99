//! The program `agents`.

fn main() {}
