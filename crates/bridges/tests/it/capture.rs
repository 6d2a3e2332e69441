//! Captures of all formats and link types.

use std::net::{IpAddr, Ipv6Addr};

use logpose_bridges::fuzzing;
use logpose_core::{Confidence, FileDialect, Limits, ReadOptions};

use crate::bridge;
use crate::capture_kit::{
    Classic, LINK_TYPES, OTHER_ROBOT, Pcapng, ROBOT, START, STATION, Traffic, ethernet, ip, pcap, raw, see, see_with,
    udp,
};

fn v6(last: u16) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, last))
}

#[test]
fn a_link_is_read_in_full() {
    let seen = see(&Traffic::link(STATION, ROBOT).capture());
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(seen.flags("/ds/control/enabled"), [(0, false), (200, true)]);
    assert_eq!(seen.flags("/ds/status/enabled"), [(2, false), (202, true)]);
    assert_eq!(seen.doubles("/ds/battery").len(), 50);
    assert_eq!(seen.doubles("/ds/battery")[3], 12.0 + 3.0 / 256.0);
    assert!(seen.doubles("/ds/trip_time").iter().all(|trip| (trip - 0.002).abs() < 1e-9));
    assert_eq!(seen.texts("/ds/control/station"), ["blue 2"]);
    assert_eq!(seen.fact("epoch_ns"), START.to_string());
    assert_eq!(seen.fact("packets"), "100");
    assert_eq!(seen.fact("links"), "10.2.54.5 with 10.2.54.2");
    assert_eq!(seen.fact("link_types"), "Ethernet");
    assert_eq!(seen.fact("version"), "2.4, microseconds");
    assert_eq!(seen.fact("origin"), "pcap");
}

#[test]
fn every_link_type_in_every_format_says_the_same() {
    for (station, robot) in [(STATION, ROBOT), (v6(5), v6(2))] {
        let traffic = Traffic::link(station, robot);
        let expected = see(&traffic.capture()).by_name();
        assert!(expected.len() > 10, "{expected:?}");
        for (link, wrap) in LINK_TYPES {
            let frames = traffic.frames(wrap);
            for big in [false, true] {
                for nanos in [false, true] {
                    let seen = see(&pcap(&Classic { big, nanos, link, ..Classic::default() }, &frames));
                    assert_eq!(seen.by_name(), expected, "{link} {big} {nanos}");
                    assert!(seen.problems.is_empty());
                }
                let mut file = Pcapng::new(big);
                file.interface(link, 0, &[]).block(0x0bad, &[1, 2, 3]);
                for (time, frame) in &frames {
                    file.enhanced(0, (time / 1000) as u64, frame);
                }
                let seen = see(&file.bytes);
                assert_eq!(seen.by_name(), expected, "pcapng {link} {big}");
                assert!(seen.problems.is_empty());
                assert_eq!((seen.fact("version"), seen.fact("application")), ("pcapng 1.0", "testpcap 1.0"));
            }
        }
        let modified = Classic { modified: true, ..Classic::default() };
        assert_eq!(see(&pcap(&modified, &traffic.frames(ethernet))).by_name(), expected);
    }
}

#[test]
fn every_section_and_interface_has_its_own_order_link_type_and_clock() {
    let traffic = Traffic::link(STATION, ROBOT);
    let expected = see(&traffic.capture()).by_name();
    let ticks = |time: i64, scale: u128| (time as u128 * scale / 1_000_000_000) as u64;
    let mut file = Pcapng::new(true);
    for (part, packets) in traffic.0.chunks(20).enumerate() {
        file.section(part % 2 == 0);
        // An offset in seconds, big or little.
        let offset = (-3_600_i64).to_be_bytes();
        let offset = if file.big { offset } else { (-3_600_i64).to_le_bytes() };
        file.interface(101, 0, &[(9, &[9])]);
        file.interface(1, 0, &[(9, &[6]), (14, &offset)]);
        file.interface(101, 0, &[(9, &[0x80 | 30])]);
        file.interface(101, 0, &[(9, &[12]), (2, b"eth0")]);
        for (n, (time, packet)) in packets.iter().enumerate() {
            match n % 4 {
                0 => file.enhanced(0, *time as u64, &raw(packet)),
                1 => file.obsolete(1, ticks(*time, 1_000_000) + 3_600_000_000, &ethernet(packet)),
                // 2^-30 s is a bit less than a nanosecond: up to one is lost.
                2 => file.enhanced(2, ticks(*time + 1, 1 << 30), &raw(packet)),
                // Beyond 2^64 picoseconds there is no such clock: as near as can be.
                _ => file.enhanced(0, *time as u64, &raw(packet)),
            };
        }
    }
    let seen = see(&file.bytes);
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(seen.by_name(), expected);
    assert_eq!(seen.fact("link_types"), "raw IP, Ethernet");
}

#[test]
fn simple_packets_have_no_time_of_their_own() {
    let traffic = Traffic::link(STATION, ROBOT);
    let mut file = Pcapng::new(false);
    file.interface(1, 61, &[]);
    file.enhanced(0, (START / 1000) as u64, &ethernet(&traffic.0[0].1));
    for (_, packet) in &traffic.0[1..] {
        file.simple(&ethernet(packet), 61);
    }
    // One is cut to 61 bytes, which padding makes 64.
    let mut long = Traffic::default();
    long.control(0, &[7; 40]);
    file.simple(&ethernet(&long.0[0].1), 61);
    let seen = see(&file.bytes);
    assert_eq!(seen.doubles("/ds/battery").len(), 50);
    assert!(seen.samples("/ds/battery").iter().all(|(us, _)| *us == 0));
    assert_eq!(seen.problem_codes(), ["cut-packet", "no-time"]);
}

#[test]
fn packets_of_others_are_counted_and_skipped() {
    let mut traffic = Traffic::link(STATION, ROBOT);
    traffic.udp(5, (ROBOT, 1110), (ROBOT, 1135), b"0");
    traffic.udp(6, (STATION, 1), (STATION, 1121), b"field").udp(6, (STATION, 1), (STATION, 1160), b"field");
    traffic.udp(7, (ROBOT, 1181), (STATION, 5000), &[0; 1400]);
    traffic.0.push((START, ip(ROBOT, STATION, 1, &[8, 0, 0, 0])));
    traffic.0.push((START, ip(ROBOT, STATION, 1, &[])));
    let mut frames = traffic.frames(ethernet);
    frames.push((START, [&[0xff; 12][..], &[8, 6], &[0; 28]].concat()));
    frames.push((START, vec![1, 2, 3]));
    frames.push((START, Vec::new()));
    let seen = see(&pcap(&Classic::default(), &frames));
    assert_eq!(seen.doubles("/ds/battery").len(), 50);
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    let counts = "other UDP 1, other IP 2, not IP 1, simulator beacons (UDP 1135) 1, field (FMS) 2, too short 2";
    assert_eq!(seen.fact("unused_packets"), counts);
}

#[test]
fn a_capture_of_something_else_says_so() {
    let mut traffic = Traffic::default();
    traffic.udp(7, (ROBOT, 1181), (STATION, 5000), &[0; 1400]);
    let seen = see(&traffic.capture());
    assert_eq!(seen.problem_codes(), ["no-traffic"]);
    let radio = see(&pcap(&Classic { link: 127, ..Classic::default() }, &traffic.frames(raw)));
    assert_eq!(radio.problem_codes(), ["link-type", "no-traffic"]);
    let message = &radio.problems.list()[0].message;
    assert_eq!(message, "skipped 1 packets of unknown link type 127 (802.11)");
    let empty = see(&pcap(&Classic::default(), &[]));
    assert_eq!(empty.problem_codes(), ["no-traffic"]);
}

#[test]
fn fragments_are_reported_and_not_reassembled() {
    let mut traffic = Traffic::link(STATION, ROBOT);
    let whole = udp(50_000, 1110, &[0; 64]);
    let mut first = ip(STATION, ROBOT, 17, &whole[..32]);
    first[6] = 0x20;
    let mut second = ip(STATION, ROBOT, 17, &whole[32..]);
    second[7] = 4;
    let fragment = |offset: u16, payload: &[u8]| {
        let head = [&[17, 0][..], &offset.to_be_bytes(), &[0, 0, 0, 9]].concat();
        ip(v6(5), v6(2), 44, &[&head, payload].concat())
    };
    traffic.0.extend([first, second, fragment(1, &whole[..32]), fragment(4 << 3, &whole[32..])].map(|p| (START, p)));
    // Behind other extension headers everything is as usual.
    let control = udp(50_000, 1110, &[0, 9, 1, 0, 0, 0]);
    let hops = [&[17, 0, 1, 4, 0, 0, 0, 0][..], &control].concat();
    traffic.0.push((START + 1, ip(v6(5), v6(2), 0, &hops)));
    let seen = see(&traffic.capture());
    assert_eq!(seen.problem_codes(), ["fragment", "fragment", "one-sided", "time-step-back"]);
    assert_eq!(seen.fact("unused_packets"), "fragments 4");
    assert_eq!(seen.fact("links"), "10.2.54.5 with 10.2.54.2, fe80::5 with fe80::2");
}

#[test]
fn packets_cut_by_the_capture_are_reported() {
    let mut traffic = Traffic::link(STATION, ROBOT);
    traffic.control(1001, &[0, 99, 1, 0, 0x10, 4, 5, 7, 0x41, 0x20, 0, 0, 1, 0x0c, 1, 0x0c, 1, 0x0c, 1, 0x0c, 1, 0x0c]);
    let file = pcap(&Classic { snaplen: 60, ..Classic::default() }, &traffic.frames(ethernet));
    let seen = see(&file);
    assert_eq!(seen.problem_codes(), ["cut-packet"]);
    assert_eq!(seen.problems.list()[0].at, Some(file.len() as u64 - 60));
    assert_eq!(seen.doubles("/ds/battery").len(), 50);
    // Not even the headers are whole.
    let seen = see(&pcap(&Classic { snaplen: 38, ..Classic::default() }, &traffic.frames(ethernet)));
    assert_eq!(seen.problems.kinds()[0].2, 101);
}

#[test]
fn only_one_side_is_a_warning() {
    let both = Traffic::link(STATION, ROBOT);
    for (skip, sentence) in [(0, "no control packets from 10.2.54.5"), (1, "no status packets from 10.2.54.2")] {
        let kept = both.0.iter().enumerate().filter(|(n, _)| n % 2 != skip).map(|(_, packet)| packet.clone());
        let seen = see(&Traffic(kept.collect()).capture());
        assert_eq!(seen.problem_codes(), ["one-sided"]);
        assert!(seen.problems.list()[0].message.ends_with(sentence));
    }
}

#[test]
fn several_robots_have_their_address_in_front_of_names() {
    let both = Traffic::link(STATION, ROBOT).and(Traffic::link(STATION, OTHER_ROBOT));
    let seen = see(&both.capture());
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    let alone = see(&Traffic::link(STATION, ROBOT).capture());
    for robot in ["10.2.54.2", "10.3.16.2"] {
        for (name, _, samples) in alone.by_name() {
            assert_eq!(seen.samples(&format!("/{robot}{name}")), samples, "{robot} {name}");
        }
    }
    assert_eq!(seen.names().len(), 2 * alone.names().len());
    // A station that changed its address, and its robot.
    let twice = Traffic::link(STATION, ROBOT).and(Traffic::link(IpAddr::from([10, 2, 54, 6]), ROBOT));
    let seen = see(&twice.capture());
    assert_eq!(seen.doubles("/10.2.54.2/10.2.54.5/ds/battery").len(), 50);
    assert_eq!(seen.doubles("/10.2.54.2/10.2.54.6/ds/battery").len(), 50);
}

#[test]
fn a_port_scan_does_not_fill_the_memory() {
    let mut traffic = Traffic::link(STATION, ROBOT);
    for n in 0..200_u8 {
        traffic.udp(2000, (STATION, 9), (IpAddr::from([10, 9, 9, n]), 1110), &[0, 0, 1, 0, 0, 0]);
    }
    let seen = see(&traffic.capture());
    assert_eq!(seen.problems.kinds()[0].0, "too-many-links");
    assert_eq!(seen.problems.kinds()[0].2, 200 - 63);
}

#[test]
fn malformed_datagrams_are_reported_with_their_byte() {
    let mut traffic = Traffic::link(STATION, ROBOT);
    traffic.control(1001, &[0, 1, 1]).status(1002, &[0, 1, 1, 0, 0x31, 12, 0, 0, 9, 4, 1]);
    let file = traffic.capture();
    let seen = see(&file);
    let frame = file.len() as u64 - 60;
    let places: Vec<_> = seen.problems.list().iter().map(|problem| problem.at).collect();
    assert_eq!(places, [Some(frame - 16 - 60 + 42), Some(frame + 42 + 8)], "{:?}", seen.problems);
    assert_eq!(seen.doubles("/ds/battery").len(), 51);
}

#[test]
fn times_that_step_back_are_noted() {
    let mut traffic = Traffic::link(STATION, ROBOT);
    traffic.0[5].0 -= 60_000_000;
    let seen = see(&traffic.capture());
    assert_eq!(seen.problem_codes(), ["time-step-back"]);
    assert_eq!(
        seen.problems.list()[0].message,
        "1 packets have earlier timestamps than the one before, by up to 0.058 s"
    );
}

#[test]
fn every_prefix_gives_what_was_before_the_cut() {
    let traffic = Traffic(Traffic::link(STATION, ROBOT).0[..4].to_vec());
    let frames = traffic.frames(ethernet);
    let mut ng = Pcapng::new(false);
    ng.interface(1, 0, &[]);
    ng.all(&frames);
    for (file, head, size) in [(pcap(&Classic::default(), &frames), 24, 76), (ng.bytes, 44 + 20, 104)] {
        let whole = (file.len() - head) / size;
        assert_eq!((whole, (file.len() - head) % size), (4, 0));
        for cut in 0..file.len() {
            fuzzing::decode_pcap(&file[..cut]);
            if cut < head {
                continue;
            }
            let seen = see(&file[..cut]);
            let (packets, rest) = ((cut - head) / size, (cut - head) % size);
            assert_eq!(seen.fact("packets"), packets.to_string(), "{cut}");
            let cuts: Vec<_> = seen.problems.list().iter().filter(|problem| problem.code == "truncated").collect();
            assert_eq!(cuts.len(), usize::from(rest > 0), "{cut}");
            if let [problem] = cuts[..] {
                assert_eq!((problem.at, problem.length), (Some((cut - rest) as u64), rest as u64));
            }
        }
    }
}

#[test]
fn no_flipped_byte_does_harm() {
    let traffic = Traffic(Traffic::link(STATION, ROBOT).0[..2].to_vec());
    let frames = traffic.frames(ethernet);
    let mut ng = Pcapng::new(true);
    ng.interface(1, 0, &[(9, &[6])]);
    ng.all(&frames);
    for file in [pcap(&Classic::default(), &frames), ng.bytes] {
        for at in 0..file.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bytes = file.clone();
                bytes[at] ^= flip;
                fuzzing::decode_pcap(&bytes);
            }
        }
    }
}

#[test]
fn behind_damage_reading_goes_on_if_asked() {
    let frames = Traffic::link(STATION, ROBOT).frames(ethernet);
    let mut ng = Pcapng::new(false);
    ng.interface(1, 0, &[]);
    ng.all(&frames);
    for (mut file, head, size, field) in [(pcap(&Classic::default(), &frames), 24, 76, 8), (ng.bytes, 64, 104, 4)] {
        // The length of the 21st packet is nonsense.
        let at = head + 20 * size;
        file[at + field..at + field + 4].copy_from_slice(&[0xff; 4]);
        let plain = see(&file);
        assert_eq!(plain.fact("packets"), "20");
        let problem = &plain.problems.list()[0];
        assert_eq!((problem.at, problem.length), (Some(at as u64), (file.len() - at) as u64));
        let saved = see_with(&file, &ReadOptions { salvage: true, ..ReadOptions::default() });
        assert_eq!(saved.fact("packets"), "99");
        let problem = &saved.problems.list()[0];
        assert_eq!((problem.at, problem.length), (Some(at as u64), size as u64));
    }
}

#[test]
fn hostile_lengths_and_numbers_are_refused() {
    let traffic = Traffic::link(STATION, ROBOT);
    let frame = ethernet(&traffic.0[0].1);
    let mut file = Pcapng::new(false);
    // A packet before any interface, one of an interface that is not there, one longer than its block.
    file.enhanced(0, 0, &frame)
        .interface(1, 0, &[])
        .enhanced(7, 0, &frame)
        .simple(&[], 0)
        .block(6, &[0; 8])
        .block(6, &[0; 16]);
    let mut body = vec![0; 12];
    body.extend([0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0]);
    file.block(6, &body).block(1, &[]).enhanced(0, (START / 1000) as u64, &frame);
    let seen = see(&file.bytes);
    assert_eq!(seen.problems.kinds()[0], ("bad-block", logpose_core::Severity::Damage, 6));
    assert_eq!(seen.flags("/ds/control/enabled"), [(0, false)]);
    // Fewer channels than there are.
    let read = ReadOptions { limits: Limits { channels: 3, ..Limits::default() }, ..ReadOptions::default() };
    let seen = see_with(&traffic.capture(), &read);
    assert_eq!(seen.names().len(), 3);
    assert_eq!(seen.problems.kinds()[0].0, "too-many-channels");
}

#[test]
fn captures_are_known_by_their_first_bytes() {
    let frames = Traffic::link(STATION, ROBOT).frames(ethernet);
    for big in [false, true] {
        for nanos in [false, true] {
            let file = pcap(&Classic { big, nanos, ..Classic::default() }, &frames);
            assert_eq!(bridge("pcap").sniff(&file), Confidence::Yes);
        }
        assert_eq!(bridge("pcap").sniff(&Pcapng::new(big).bytes), Confidence::Yes);
    }
    for other in [&b""[..], b"WPILOG", b"PAR1", b"\x0a\x0d\x0d\x0a\0\0\0\0\0\0\0\0", b"time,channel,value\n"] {
        assert_eq!(bridge("pcap").sniff(other), Confidence::No);
        assert!(
            bridge("pcap").unpack(other, &ReadOptions::default(), &mut Vec::new(), &mut Default::default()).is_err()
        );
    }
}
