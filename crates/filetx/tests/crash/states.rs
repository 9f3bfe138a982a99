//! Limits and totals of the exploration.

use testkit::explore::{Limits, Report, SecondCrash};
use testkit::report::is_proof;

/// Limits of a listed workload: every state if possible. The long form has higher limits.
pub(crate) fn limits() -> Limits {
    let (cuts, second, second_cuts) = if is_proof() { (6_000, 8, 16) } else { (3_000, 16, 8) };
    Limits {
        cuts_per_point: cuts,
        second_crash: SecondCrash::OneIn(second),
        second_cuts_per_point: second_cuts,
        seed: testkit::seed::from_env_or(1),
        ..Limits::default()
    }
}

/// Records the extent of the exploration, for the page that lists it.
pub(crate) fn figure(name: &str, report: &Report) {
    testkit::report::figure(&format!("simulated states, {name}"), report.states);
    testkit::report::figure(
        &format!("simulated crash and fault points, {name}"),
        report.points + report.second_points,
    );
}
