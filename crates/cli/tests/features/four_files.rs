//! The four legacy files, all with one number; and common ways to save them, as controls.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use testkit::strace::{BEGIN, END};

const FILES: [&str; 4] = ["messages.json", "metadata.json", "state.json", "global_context.json"];

/// Content of the four files with a number: so many messages, and the number in the others.
fn contents(number: u64) -> [String; 4] {
    let messages: Vec<String> =
        (0..number).map(|at| format!("{{\"role\":\"user\",\"content\":\"m{at}\",\"n\":1.10}}")).collect();
    let small = format!("{{\"number\":{number}}}\n");
    let metadata = format!("{{\"number\":{number},\"message_count\":{number}}}\n");
    [format!("[{}]\n", messages.join(",\n")), metadata, small.clone(), small]
}

/// Creates a folder of files with a number.
pub(crate) fn write(folder: &Path, number: u64) {
    fs::create_dir_all(folder).unwrap();
    for (file, content) in FILES.into_iter().zip(contents(number)) {
        fs::write(folder.join(file), content).unwrap();
    }
}

/// Role of a child: saves a number, by `plain` writes or `renames`, and reports it.
pub(crate) fn play(role: &str, folder: &Path) {
    let (way, number) = role.split_once(':').unwrap();
    let contents = contents(number.parse().unwrap());
    let _ = folder.join(BEGIN).exists();
    for (file, content) in FILES.into_iter().zip(contents) {
        let path = folder.join(file);
        match way {
            "plain" => fs::write(path, content).unwrap(),
            "renames" => {
                let temporary = folder.join(format!("{file}.tmp"));
                let mut out = File::create(&temporary).unwrap();
                out.write_all(content.as_bytes()).unwrap();
                out.sync_all().unwrap();
                fs::rename(temporary, path).unwrap();
            }
            way => panic!("{way} is no way to save"),
        }
    }
    let _ = folder.join(END).exists();
    testkit::children::send("saved");
}
