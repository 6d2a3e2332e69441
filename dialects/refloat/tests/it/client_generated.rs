//! A client, given anything at any time.

use logpose_sim::fuzzing;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_oneof, proptest};
use proptest::strategy::{Just, Strategy};

/// Steps of which most let something happen.
fn steps() -> impl Strategy<Value = Vec<u8>> {
    let what = prop_oneof![
        4 => Just(0xfe_u8),
        2 => Just(0x1e),
        2 => Just(8),
        1 => Just(12),
        1 => Just(0x2d),
        1 => 0..16_u8,
        1 => any::<u8>()
    ];
    vec((what, 0..20_u8), 0..120)
        .prop_map(|steps| steps.into_iter().flat_map(|(what, wait)| [what & 0x7f, wait]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_the_client_goes_on(data in vec(any::<u8>(), 0..400)) {
        fuzzing::session(&data);
    }

    #[test]
    fn whatever_becomes_of_requests_the_samples_are_those_of_the_board(
        kind in any::<u8>(), size in any::<u8>(), fetch in 11..16_u8, flags in 0..8_u8, steps in steps()
    ) {
        let mut data = vec![kind, size, 1, 0, 3, fetch | flags << 4];
        data.extend(steps);
        fuzzing::session(&data);
    }
}

#[test]
fn a_download_in_which_all_is_well_is_complete() {
    for kind in 0..=255_u8 {
        let mut data = vec![kind, 200, 1, 0, 3, 0x3f];
        data.extend([0x7e, 1].repeat(40));
        fuzzing::session(&data);
    }
}
