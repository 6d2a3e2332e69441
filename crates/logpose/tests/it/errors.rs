//! An error that wraps another one gives it as its source.

use std::error::Error as _;

use logpose::find::{FindError, Query};
use logpose::{Error, Log, OpenOptions};

#[test]
fn a_failed_search_has_the_fault_of_its_expression_as_source() {
    let csv = "time,channel,value\n1,/x,1\n".into();
    let log = Log::from_bytes("x.csv", csv, &OpenOptions::default()).unwrap();
    let error = Query::parse("Elevator > 1").unwrap().intervals(&log).unwrap_err();
    assert!(matches!(error, FindError::Query(_)), "{error}");
    assert_eq!(error.source().map(ToString::to_string), Some(error.to_string()));
}

#[test]
fn a_failed_search_has_the_error_of_its_log_as_source() {
    let error = FindError::Log(Error::usage("no"));
    assert!(error.source().is_some_and(|source| source.is::<Error>()));
}

#[test]
fn an_edit_of_a_damaged_recording_has_the_damage_as_source() {
    let damage = logpose_carla::Error { at: 3, kind: logpose_carla::ErrorKind::Magic };
    for error in [logpose_carla::EditError::Damaged(damage), logpose_carla::EditError::Odd(damage)] {
        assert!(error.source().is_some_and(|source| source.is::<logpose_carla::Error>()), "{error}");
    }
}
