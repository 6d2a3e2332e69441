use logpose_bridges::ParquetWriter;

use crate::{log_of_everything, long_log, replay, write};

#[test]
fn every_call_comes_back() {
    let (header, calls) = log_of_everything();
    for rows in [usize::MAX, 5, 1] {
        let mut file = Vec::new();
        write(ParquetWriter::new(&mut file, header.clone()).unwrap(), &calls, rows);
        assert_eq!(replay("parquet", &file), (header.clone(), calls.clone()), "{rows}");
    }
}

#[test]
fn long_logs_come_back() {
    let (header, calls) = long_log(50_000);
    let mut file = Vec::new();
    write(ParquetWriter::new(&mut file, header.clone()).unwrap(), &calls, 20_000);
    assert_eq!(replay("parquet", &file), (header, calls));
}
