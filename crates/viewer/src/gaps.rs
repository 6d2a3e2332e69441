//! Where nobody knows a value: its source was gone.

use std::ops::ControlFlow;

use logpose::Bucket;
use logpose_core::{Time, Type, Value};

use crate::reference::Series;

/// A stretch in which what a series said before does not hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Gap {
    /// When the source was lost.
    pub start: Time,
    /// When it was back and what it said before held again. Without it only the next sample ends the gap.
    pub end: Option<Time>,
}

impl Gap {
    /// All gaps of a series, in order: the source of the log was lost, the channel ended, or the station lost the robot.
    pub(crate) fn all(one: &Series) -> Result<Vec<Self>, logpose::Error> {
        let lost = one.store.losses(one.channel);
        let mut gaps: Vec<Self> = lost.into_iter().map(|start| Self { start, end: None }).collect();
        gaps.extend(station(one)?);
        gaps.sort_by_key(|gap| gap.start);
        Ok(gaps)
    }

    /// Whether what was said at one time is not known any more at another, by all gaps of a series.
    pub(crate) fn hide(gaps: &[Self], said: Time, at: Time) -> bool {
        let first = gaps.partition_point(|gap| gap.start <= said);
        let since = gaps.iter().skip(first).take_while(|gap| gap.start <= at);
        since.into_iter().any(|gap| gap.end.is_none_or(|end| at < end))
    }
}

/// When a driver station had no robot, for values that only the robot can send.
fn station(one: &Series) -> Result<Vec<Gap>, logpose::Error> {
    let Some(channel) = one.channel() else { return Ok(Vec::new()) };
    let Some(prefix) = OF_ROBOT.iter().find_map(|part| channel.name.find(part)) else { return Ok(Vec::new()) };
    let name = format!("{}/ds/connected", channel.name.get(..prefix).unwrap_or_default());
    let connected = (0..).zip(&one.catalog.channels).find(|(_, entry)| entry.channel.name == name);
    let Some((connected, _)) = connected else { return Ok(Vec::new()) };
    // Measurements come with every packet, so the first packet brings a new one. The others are said when they change.
    let measured = matches!(channel.ty(), Type::Double | Type::Float | Type::Int64);
    let (mut gaps, mut there) = (Vec::<Gap>::new(), true);
    one.store.read(connected, Time::MIN, Time::MAX, &mut |time, value| {
        match value {
            Value::Boolean(false) if there => gaps.push(Gap { start: time, end: None }),
            Value::Boolean(true) if !there && !measured => {
                gaps.last_mut().into_iter().for_each(|gap| gap.end = Some(time));
            }
            _ => {}
        }
        there = matches!(value, Value::Boolean(true));
        ControlFlow::Continue(())
    })?;
    Ok(gaps)
}

/// Breaks a line where it passes a gap: a bucket that is not a number, and where the old value holds again before the
/// next sample, one of that. Gaps shorter than `pixel` nanoseconds that end by themselves are left out.
pub(crate) fn broken(buckets: &[Bucket], gaps: &[Gap], end: Time, pixel: i64) -> Vec<Bucket> {
    let mut out = Vec::with_capacity(buckets.len() + 2);
    for (place, bucket) in buckets.iter().enumerate() {
        out.push(*bucket);
        let next = buckets.get(place + 1).map(|next| next.start);
        let from = gaps.partition_point(|gap| gap.start <= bucket.end);
        let within = |gap: &&Gap| next.map_or(gap.start <= end, |next| gap.start < next);
        for gap in gaps.iter().skip(from).take_while(within) {
            let back = gap.end.filter(|back| next.is_none_or(|next| *back < next));
            if back.is_some_and(|back| back.since(gap.start) < pixel) {
                continue;
            }
            out.push(Bucket::of(gap.start, f64::NAN));
            match back {
                Some(back) => out.push(Bucket::of(back, bucket.last)),
                None => break,
            }
        }
    }
    out
}

/// Leaves out what a driver station kept of a battery that the robot had not measured yet: on the axis of 37 V the battery
/// would be a flat line.
pub(crate) fn without_unmeasured(one: &Series, buckets: &mut [Bucket]) {
    if one.channel().is_some_and(|channel| channel.name.ends_with("/ds/battery")) {
        measured_only(buckets);
    }
}

fn measured_only(buckets: &mut [Bucket]) {
    let measured = |volts: f64| (volts.to_bits() != UNMEASURED.to_bits()).then_some(volts);
    for bucket in buckets.iter_mut().filter(|bucket| measured(bucket.max).is_none()) {
        let Bucket { first, min, last, .. } = *bucket;
        let known = [last, first, min].into_iter().find_map(measured).unwrap_or(f64::NAN);
        bucket.first = measured(first).unwrap_or(known);
        bucket.min = measured(min).unwrap_or(known);
        bucket.max = bucket.first.max(known);
        bucket.last = measured(last).unwrap_or(known);
    }
}

/// The stretches of a range in which a series has no value, none of them shorter than `pixel` nanoseconds.
pub(crate) fn holes(one: &Series, range: (Time, Time), pixel: i64) -> Result<Vec<(Time, Time)>, logpose::Error> {
    let mut holes: Vec<(Time, Time)> = Vec::new();
    for gap in Gap::all(one)?.iter().filter(|gap| gap.start <= range.1) {
        if holes.last().is_some_and(|(_, end)| gap.start < *end) {
            continue;
        }
        let mut end = gap.end.unwrap_or(Time::MAX);
        one.store.read(one.channel, gap.start, end, &mut |time, _| {
            end = time;
            ControlFlow::Break(())
        })?;
        if end >= range.0 && end.since(gap.start) >= pixel {
            holes.push((gap.start, end));
        }
    }
    Ok(holes)
}

/// A run without the holes in it, which are in order.
pub(crate) fn outside(run: (Time, Time), holes: &[(Time, Time)]) -> impl Iterator<Item = (Time, Time)> {
    let first = holes.partition_point(|(_, end)| *end <= run.0);
    let within = holes.get(first..).unwrap_or_default().iter().take_while(move |(start, _)| *start < run.1);
    let starts = std::iter::once(run.0).chain(within.clone().map(|(_, end)| *end));
    let ends = within.map(|(start, _)| *start).chain([run.1]);
    starts.zip(ends).filter(|(from, to)| from < to)
}

/// Volts: bytes `25 60`, which a robot sends for its battery as long as it asks for the date.
const UNMEASURED: f64 = 37.375;

/// What comes from the robot, behind the name that several logs in one put before it.
const OF_ROBOT: [&str; 9] = [
    "/ds/battery",
    "/ds/trip_time",
    "/ds/cpu",
    "/ds/can/",
    "/ds/pd/",
    "/ds/status/",
    "/ds/disk_free",
    "/ds/ram_free",
    "/ds/faults/",
];

#[cfg(test)]
mod tests {
    use logpose::Bucket;
    use logpose_core::Time;

    use super::{Gap, broken, measured_only, outside};

    fn ms(t: i64) -> Time {
        Time::from_millis(t)
    }

    fn line(gaps: &[Gap], end: i64, pixel: i64) -> Vec<(i64, Option<f64>)> {
        let samples = [(0, 1.0), (10, 2.0), (40, 3.0)].map(|(t, value)| Bucket::of(ms(t), value));
        let line = broken(&samples, gaps, ms(end), pixel);
        line.iter().map(|one| (one.start.nanos() / 1_000_000, Some(one.last).filter(|last| !last.is_nan()))).collect()
    }

    #[test]
    fn lines_break_where_the_source_was_lost() {
        let lost = |t| Gap { start: ms(t), end: None };
        let plain = [(0, Some(1.0)), (10, Some(2.0)), (40, Some(3.0))];
        assert_eq!(line(&[], 99, 1), plain);
        assert_eq!(line(&[lost(20), lost(30)], 99, 1), [(0, Some(1.0)), (10, Some(2.0)), (20, None), (40, Some(3.0))]);
        // A sample of that very moment was said afterwards.
        assert_eq!(line(&[lost(10)], 99, 1), plain);
        assert_eq!(line(&[lost(60)], 50, 1), plain);
        assert_eq!(line(&[lost(60)], 99, 1).last(), Some(&(60, None)));
        let short = Gap { start: ms(20), end: Some(ms(30)) };
        assert_eq!(line(&[short], 99, 1)[2..], [(20, None), (30, Some(2.0)), (40, Some(3.0))]);
        assert_eq!(line(&[short], 99, 20_000_000), plain);
        let long = Gap { start: ms(20), end: Some(ms(50)) };
        assert_eq!(line(&[long], 99, 1)[2..], [(20, None), (40, Some(3.0))]);
    }

    #[test]
    fn a_battery_that_is_not_measured_yet_has_no_voltage() {
        let mut joined = Bucket::of(ms(20), 37.375);
        joined.append(&Bucket::of(ms(40), 12.25));
        let mut line = [Bucket::of(ms(0), 37.375), joined, Bucket::of(ms(60), 12.5)];
        measured_only(&mut line);
        assert!(line[0].last.is_nan() && line[0].max.is_nan());
        let Bucket { first, min, max, last, .. } = line[1];
        assert_eq!([first, min, max, last], [12.25; 4]);
        assert_eq!(line[2], Bucket::of(ms(60), 12.5));
    }

    #[test]
    fn a_value_is_unknown_while_its_source_is_gone() {
        let gaps = [Gap { start: ms(20), end: Some(ms(30)) }, Gap { start: ms(40), end: None }];
        let hide = |said, at| Gap::hide(&gaps, ms(said), ms(at));
        assert!(hide(10, 20) && hide(10, 29));
        assert!(!hide(10, 19) && !hide(10, 30) && !hide(20, 25));
        assert!(hide(10, 99) && hide(39, 40) && !hide(40, 99));
    }

    #[test]
    fn runs_end_at_holes_and_go_on_behind_them() {
        let holes = [(ms(10), ms(20)), (ms(30), ms(40))];
        let parts = |from, to| outside((ms(from), ms(to)), &holes).collect::<Vec<_>>();
        assert_eq!(parts(0, 50), [(ms(0), ms(10)), (ms(20), ms(30)), (ms(40), ms(50))]);
        assert_eq!(parts(12, 18), []);
        assert_eq!(parts(15, 35), [(ms(20), ms(30))]);
        assert_eq!(parts(20, 30), [(ms(20), ms(30))]);
        assert_eq!(parts(50, 60), [(ms(50), ms(60))]);
    }
}
