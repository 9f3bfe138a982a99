//! Kills the primary of a Patroni cluster repeatedly while eight processes record, and checks that
//! no acknowledged record is lost. Started by `cargo xtask failover`; `docs/many-machines.md` has
//! the latest result.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the result is what this program is for"))]

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod cluster;
#[cfg(unix)]
mod node;
#[cfg(unix)]
mod round;
#[cfg(unix)]
mod verdict;

#[cfg(unix)]
const HELP: &str = "\
Kills the primary of a Patroni cluster again and again while eight processes record.

Usage: failover [--rounds N]

  --rounds N   How often the primary is killed [default: 10]. In the middle one replication stands still before that.

Then once more with replication that nobody waits for: this control has to lose something, or the check is worth nothing.
";

#[cfg(unix)]
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[cfg(unix)]
fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["client", folder] => client::run(folder.as_ref()),
        [] => failover(10),
        ["--rounds", count] => failover(count.parse()?),
        _ => {
            print!("{HELP}");
            Ok(())
        }
    }
}

/// Runs the rounds and the control, each on its own cluster.
#[cfg(unix)]
fn failover(rounds: usize) -> Result<()> {
    use cluster::{Cluster, Replication};
    use round::{Freeze, play, replay};
    use testkit::report::figure;

    println!(
        "| round | acknowledged | lost | one order | longest time without an answer | errors seen |\n|---|---|---|---|---|---|"
    );
    let mut cluster = Cluster::start(Replication::Synchronous)?;
    let (mut played, mut acknowledged, mut failed) = (Vec::new(), 0, Vec::new());
    let mut longest = std::time::Duration::ZERO;
    for number in 1..=rounds {
        let freeze = if number == rounds.div_ceil(2) { Freeze::BeforeTheKill } else { Freeze::Never };
        let (round, verdict) = play(&mut cluster, freeze)?;
        let name = if freeze == Freeze::Never { number.to_string() } else { format!("{number}, frozen") };
        println!("| {name} | {verdict} |");
        acknowledged += verdict.acknowledged;
        longest = longest.max(verdict.outage);
        if !verdict.is_sound() {
            failed.push(name);
        }
        played.push(round);
    }
    // Records of earlier rounds that a later failover lost.
    let lost = replay(&cluster, &played)?;
    drop(cluster);
    figure("records acknowledged over failovers of a synchronous cluster", acknowledged);
    figure("of these lost", lost);
    figure("longest time without an answer, in seconds", format!("{:.1}", longest.as_secs_f64()));

    let mut cluster = Cluster::start(Replication::Asynchronous)?;
    let (_, control) = play(&mut cluster, Freeze::BeforeTheKill)?;
    println!("| control, asynchronous, frozen | {control} |");
    figure("records that the asynchronous control lost", control.lost);
    if !failed.is_empty() || lost > 0 {
        return Err(format!("rounds {failed:?} are not sound; {lost} records are lost at the end").into());
    }
    if control.lost == 0 || control.is_linearizable {
        return Err("the control lost nothing, so the check shows nothing".into());
    }
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the cluster is started as on Unix");
}
