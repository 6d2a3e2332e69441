use logpose::{ConvertOptions, Log, OpenOptions, Wrapper};
use tempfile::TempDir;

use crate::support::{AKIT, by_channel, convert_to, open, open_demo};

#[test]
fn every_wrapper_gives_back_what_it_got() {
    let dir = TempDir::new().unwrap();
    let whole = open_demo(AKIT).bytes().to_vec();
    for wrapper in Wrapper::ALL {
        let path = dir.path().join(format!("x.wpilog.{wrapper}"));
        let log = [open_demo(AKIT)];
        let options = ConvertOptions { verify: true, ..ConvertOptions::default() };
        let report = convert_to(&log, Vec::new(), &path, &options).unwrap();
        assert!(report.verified);
        let log = open(&path);
        assert_eq!(log.wrapper(), Some(wrapper));
        assert!(log.file_len() < whole.len() as u64, "{wrapper}");
        assert_eq!(log.bytes(), whole, "{wrapper}");
        assert!(log.problems.is_empty());
    }
}

#[test]
fn a_wrapper_that_was_cut_keeps_what_came_out() {
    let dir = TempDir::new().unwrap();
    let whole = by_channel(open_demo(AKIT)).len();
    for wrapper in Wrapper::ALL {
        let path = dir.path().join(format!("x.wpilog.{wrapper}"));
        convert_to(&[open_demo(AKIT)], Vec::new(), &path, &ConvertOptions::default()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let cut = Log::from_bytes("cut", bytes[..bytes.len() * 2 / 3].to_vec(), &OpenOptions::default()).unwrap();
        let codes: Vec<_> = cut.problems.list().iter().map(|problem| problem.code).collect();
        assert_eq!(codes.first(), Some(&"truncated-wrapper"), "{wrapper}");
        let kept = by_channel(cut).len();
        assert!(kept > whole / 4 && kept < whole, "{wrapper}: {kept} of {whole}");
    }
}

#[test]
fn a_wrapper_cut_at_its_very_start_is_an_error() {
    for wrapper in Wrapper::ALL {
        let bytes = pack(wrapper, &[7; 1000])[..7].to_vec();
        let error = Log::from_bytes("cut", bytes, &OpenOptions::default()).unwrap_err();
        assert_eq!(error.code(), "wrapper", "{wrapper}: {error}");
    }
}

#[test]
fn two_compressed_streams_in_a_row_are_one() {
    let whole = open_demo(AKIT).bytes().to_vec();
    let (a, b) = whole.split_at(whole.len() / 3);
    for wrapper in Wrapper::ALL {
        let mut bytes = pack(wrapper, a);
        bytes.extend(pack(wrapper, b));
        let log = Log::from_bytes("two", bytes, &OpenOptions::default()).unwrap();
        assert!(log.bytes() == whole, "{wrapper}");
        assert!(log.problems.is_empty(), "{wrapper}");
    }
}

#[test]
fn damage_in_a_wrapper_is_reported() {
    let mut bytes = pack(Wrapper::Gz, open_demo(AKIT).bytes());
    let middle = bytes.len() / 2;
    bytes[middle..middle + 200].fill(0xa5);
    let log = Log::from_bytes("bad", bytes, &OpenOptions::default()).unwrap();
    assert_eq!(log.problems.list()[0].code, "damaged-wrapper");
}

fn pack(wrapper: Wrapper, bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    match wrapper {
        Wrapper::Gz => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        Wrapper::Zst => zstd::encode_all(bytes, 1).unwrap(),
        Wrapper::Xz => {
            let mut out = liblzma::write::XzEncoder::new(Vec::new(), 1);
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        Wrapper::Lz4 => {
            let mut out = lz4_flex::frame::FrameEncoder::new(Vec::new());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
    }
}

#[test]
fn what_is_unpacked_has_a_limit() {
    // A gigabyte of zeros and more, which no log becomes.
    let mut zeros = pack(Wrapper::Zst, &vec![0; 16 << 20]);
    zeros = zeros.repeat((1 << 30) / (16 << 20) + 1);
    assert!(zeros.len() < 1 << 20);
    let error = Log::from_bytes("x.zst", zeros, &OpenOptions::default()).unwrap_err();
    assert_eq!(error.code(), "io");
    let expected =
        "x.zst: unpacked, it has more than 1024 MiB, far more than logs become; raise --limit-unpacked to read it";
    assert_eq!(error.to_string(), expected);
    let whole = open_demo(AKIT).bytes().to_vec();
    for wrapper in Wrapper::ALL {
        let options = |limit| OpenOptions { unpacked: Some(limit), ..OpenOptions::default() };
        let packed = pack(wrapper, &whole);
        let open = |limit| Log::from_bytes("x", packed.clone(), &options(limit));
        assert!(open(whole.len() as u64).is_ok(), "{wrapper}");
        let error = open(1 << 10).unwrap_err().to_string();
        assert_eq!(error, "x: unpacked, it has more than 1024 bytes; raise --limit-unpacked to read it", "{wrapper}");
    }
}
