//! Any sequence of calls matches a model in memory.

use std::sync::Arc;

use proptest::prelude::*;
use testkit::folder::scratch;
use testkit::store_conformance::model::{call, check};

use super::open;

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_calls_matches_the_model(calls in prop::collection::vec(call(), 1..60)) {
        let folder = scratch();
        check(&calls, || Arc::new(open(folder.path())));
    }
}
