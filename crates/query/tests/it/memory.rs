use crate::support::{ask, large, line, with};
use logpose_query::Options;

fn limited(bytes: u64) -> logpose_query::Engine {
    with(vec![large(40, 5000)], &Options { threads: 2, memory: Some(bytes), ..Options::default() })
}

#[test]
fn what_does_not_fit_goes_to_the_disk() {
    let engine = limited(24 << 20);
    let sql = "SELECT count(*) FROM (SELECT number, channel, row_number() OVER (ORDER BY number, time_ns, channel) AS n FROM samples) WHERE n > 0";
    assert_eq!(line(&engine, sql), "200000");
}

#[test]
fn too_little_memory_is_said_in_one_sentence() {
    let engine = limited(1 << 20);
    let mut answer = engine.run("SELECT time_ns, channel, array_agg(number) FROM samples GROUP BY time_ns, channel").unwrap();
    let error = answer.find_map(Result::err).unwrap();
    assert_eq!(error.code, "memory");
    assert!(!error.message.contains('\n') && error.help.unwrap().contains("--limit-memory"));
    // The engine is still there.
    assert_eq!(ask(&engine, "SELECT 1").len(), 1);
}
