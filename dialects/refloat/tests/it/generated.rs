//! Generated messages and streams: what is emitted is parsed as the same, and what is parsed is emitted as it came.

use logpose_core::Time;
use logpose_refloat::wire::{
    AlertRecord, Alerts, Control, Data, FieldValue, Flags, Header, Info, InfoV2, LiveIds, LiveMask, Reply, Request,
    Sample, StateFlags, Status,
};
use logpose_refloat::{LiveMapper, float16, fuzzing, items, vesc};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::kit::{Lines, emitted, messages};

fn word() -> impl Strategy<Value = String> {
    "[ -~]{0,20}"
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        (any::<Option<u8>>(), any::<Option<u8>>())
            .prop_map(|(version, flags)| Request::Info { version, flags: flags.filter(|_| version.is_some()) }),
        any::<u8>().prop_map(|mode| Request::Compact { mode }),
        Just(Request::Live),
        Just(Request::LiveIds),
        (any::<u8>(), any::<u32>(), any::<Option<u32>>()).prop_map(|(control, mask1, mask2)| Request::LiveMask {
            control,
            mask1,
            mask2
        }),
        any::<Option<u32>>().prop_map(|since| Request::Alerts { since }),
        Just(Request::ClearFatal),
        (any::<u8>(), any::<u8>()).prop_map(|(sub, value)| Request::Control(Control::new(sub, value))),
        Just(Request::Header),
        any::<u32>().prop_map(|offset| Request::Data { offset }),
    ]
}

proptest! {
    #[test]
    fn anything_comes_back(data in vec(any::<u8>(), 0..600)) {
        fuzzing::roundtrip(&data);
        fuzzing::deframe(&data);
    }

    /// Random bytes are seldom frames: here they are, with noise between them.
    #[test]
    fn frames_between_noise(
        parts in vec((vec(prop_oneof![Just(2_u8), Just(3), Just(4), any::<u8>()], 0..12), vec(any::<u8>(), 1..300)), 0..6),
    ) {
        let mut stream = Vec::new();
        for (noise, payload) in &parts {
            stream.extend_from_slice(noise);
            vesc::frame(payload, &mut stream);
        }
        fuzzing::deframe(&stream);
    }

    #[test]
    fn payloads_come_back_from_their_frames(payloads in vec(vec(any::<u8>(), 1..2000), 0..4)) {
        let mut deframer = vesc::Deframer::new(vesc::LARGEST);
        for payload in &payloads {
            deframer.push(&vesc::framed(payload));
        }
        for payload in &payloads {
            prop_assert_eq!(deframer.next_payload(), Some(&payload[..]));
        }
        prop_assert_eq!(deframer.next_payload(), None);
        prop_assert_eq!(deframer.skipped(), 0);
    }

    #[test]
    fn requests(request in request(), can: Option<u8>) {
        let payload = request.payload(can);
        let inner = if can.is_some() { vesc::forwarded(&payload).unwrap().1 } else { &payload[..] };
        prop_assert_eq!(Request::parse(vesc::app_data(inner).unwrap()), Ok(request));
    }

    #[test]
    fn headers_and_live_ids(size: u32, ids in vec(word(), 0..40), others in vec(word(), 0..20)) {
        let message = emitted(|out| Header::put(size, ids.iter().map(String::as_str), out));
        let header = Header::parse(&message).unwrap();
        prop_assert_eq!((header.size, header.ids.len()), (size, ids.len()));
        prop_assert!(header.ids.iter().eq(ids.iter()));
        let message = emitted(|out| LiveIds::put(ids.iter().map(String::as_str), others.iter().map(String::as_str), out));
        let parsed = LiveIds::parse(&message).unwrap();
        prop_assert!(parsed.always.iter().eq(ids.iter()) && parsed.running.iter().eq(others.iter()));
    }

    #[test]
    fn samples(offset: u32, values in 0_usize..40, heads in vec((any::<u32>(), any::<u8>()), 0..20), codes: [u16; 40]) {
        let bytes = emitted(|out| {
            heads.iter().for_each(|(tick, flags)| Sample::put(*tick, Flags(*flags), codes.into_iter().take(values), out));
        });
        let message = emitted(|out| Data { offset, bytes: &bytes }.emit(out));
        let data = Data::parse(&message).unwrap();
        prop_assert_eq!(data.offset, offset);
        let found: Vec<_> = data.samples(values).unwrap().map(|sample| (sample.tick, sample.flags.0)).collect();
        prop_assert_eq!(found, heads);
        for sample in data.samples(values).unwrap() {
            prop_assert!(sample.codes().eq(codes.into_iter().take(values)));
        }
    }

    #[test]
    fn infos_and_status(
        name in "[!-~]{0,20}", suffix in "[!-~]{0,20}", numbers: [u32; 3], small: [u8; 5], bits: u8, duration_cs: u16,
    ) {
        let [flags, major, minor, patch, extra] = small;
        let [commit, tick_rate, capabilities] = numbers;
        let info = Info::V2(InfoV2 { flags, name, major, minor, patch, suffix, commit, tick_rate, capabilities, extra });
        let message = emitted(|out| info.emit(out));
        prop_assert_eq!(message.len(), 60);
        prop_assert_eq!(Info::parse(&message), Ok(info));
        let [recording, autostart, autostop] = [1, 2, 4].map(|bit| bits & bit != 0);
        let status = Status { enabled: true, recording, autostart, autostop, decimation: patch, duration_cs };
        prop_assert_eq!(Status::parse(&emitted(|out| status.emit(out))), Ok(status));
    }

    #[test]
    fn alerts(active: u32, fault: u8, name in "[A-Z_]{1,50}", records in vec((any::<u32>(), any::<bool>(), any::<u8>()), 0..25)) {
        let named = |code: u8| (code != 0).then_some(name.as_str());
        let records: Vec<_> = records
            .into_iter()
            .map(|(tick, active, code)| AlertRecord { tick, id: 1, active, code, name: named(code) })
            .collect();
        let message = emitted(|out| Alerts::put(active, fault, named(fault), records.iter().copied(), out));
        let alerts = Alerts::parse(&message).unwrap();
        prop_assert_eq!((alerts.active, alerts.fault, alerts.fault_name), (active, fault, named(fault)));
        prop_assert!(alerts.records.iter().eq(records));
    }

    #[test]
    fn fields_of_any_masks(mask1: u32, mask2: u32, float32: bool, tick: u32) {
        let value = |kind: items::FieldKind, n: u8| match kind {
            items::FieldKind::Extra => FieldValue::Extra(n),
            items::FieldKind::State => FieldValue::State(StateFlags(n.into())),
            items::FieldKind::Number => FieldValue::Number(n.into()),
            items::FieldKind::Whole => FieldValue::Whole(n.into()),
            items::FieldKind::Double => FieldValue::Double(n.into()),
        };
        let expected: Vec<_> = items::fields(mask1, mask2).zip(0..).map(|(field, n)| (field, value(field.kind, n))).collect();
        let bytes = emitted(|out| expected.iter().for_each(|(_, value)| value.emit(float32, out)));
        let message = emitted(|out| LiveMask { control: float32.into(), mask1, mask2, tick, bytes: &bytes }.emit(out));
        let live = LiveMask::parse(&message).unwrap();
        prop_assert_eq!(live.fields().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_code(x in -131_039.0_f32..131_039.0) {
        let code = float16::encode(x);
        let error = |code: u16| (f64::from(float16::decode(code)) - f64::from(x)).abs();
        for other in [code.wrapping_sub(1), code.wrapping_add(1)] {
            if other & 0x8000 == code & 0x8000 {
                prop_assert!(error(code) <= error(other), "{x}");
            }
        }
    }

    /// Messages in any order and somewhat damaged keep the rules of sinks, which the sink asserts.
    #[test]
    fn any_messages_make_good_samples(
        steps in vec((any::<prop::sample::Index>(), any::<Option<(prop::sample::Index, u8)>>(), 0_i64..10_000), 0..25),
    ) {
        let all = messages();
        let (mut mapper, mut sink, mut now) = (LiveMapper::new(), Lines::default(), Time::ZERO);
        for (which, damage, wait) in steps {
            let mut payload = vec![vesc::command::APP_DATA];
            payload.extend_from_slice(which.get::<Vec<u8>>(&all));
            if let Some((at, byte)) = damage {
                *at.get_mut(&mut payload) = byte;
            }
            now = now.plus(wait * 1_000_000);
            mapper.payload(now, &payload, &mut sink).unwrap();
        }
    }
}

#[test]
fn every_message_survives_the_fuzzing_functions() {
    let mut stream = Vec::new();
    for message in messages() {
        fuzzing::roundtrip(&message);
        assert!(Reply::parse(&message).is_ok());
        vesc::frame(&message, &mut stream);
    }
    fuzzing::deframe(&stream);
}
