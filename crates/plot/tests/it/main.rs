//! Pictures, from outside.
#![cfg(test)]

use logpose_plot::{Band, Chart, Color, Error, Path, Row, Series, Timeline, Trace, Track};

const RANGE: (f64, f64) = (0.0, 60.0);

fn trace(of: impl Fn(f64) -> f64, samples: u32) -> Trace {
    let mut trace = Trace::new(RANGE, 1200);
    for i in 0..samples {
        let time = f64::from(i) / f64::from(samples) * RANGE.1;
        trace.push(time, of(time));
    }
    trace
}

fn timeline() -> Timeline {
    let mut timeline = Timeline::new(RANGE);
    timeline.title = Some("A <match> & \"more\"".to_owned());
    timeline.subtitle = Some("2026-03-21 14:22:33 UTC at 0.000 s".to_owned());
    timeline.series.push(Series::new("/Power/Battery", Some("V"), trace(|t| 12.0 - (t / 9.0).sin(), 3000)));
    timeline.series.push(Series::new("/Arm/Angle", Some("°"), trace(|t| t * 3.0, 3000)));
    let mut row = Row::new("/Arm/State", RANGE, 1200);
    [(0.0, "idle"), (20.0, "moving"), (40.0, "idle")].into_iter().for_each(|(time, value)| row.push(time, value));
    row.finish(60.0);
    timeline.rows.push(row);
    timeline.bands.push(Band { start: 10.0, end: 25.0, name: "auto".to_owned(), color: Color(86, 180, 233) });
    timeline
}

fn track() -> Track {
    let mut path = Path::new("robot");
    (0..1000).map(|i| f64::from(i) / 100.0).for_each(|t| path.push(t.cos() * 4.0, t.sin() * 2.0));
    Track { x_label: "x, m".to_owned(), y_label: "y, m".to_owned(), paths: vec![path], ..Track::default() }
}

/// All texts of an SVG, which must be well-formed.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().trim().to_owned()).collect()
}

#[test]
fn an_svg_is_well_formed_and_says_everything() {
    let svg = logpose_plot::svg(&Chart::Timeline(timeline()), (1200, 600)).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(document.root_element().attribute("width"), Some("1200"));
    let texts = texts(&svg);
    for text in ["A <match> & \"more\"", "V", "°", "auto", "/Arm/State", "idle", "moving", "time, s", "10"] {
        assert!(texts.iter().any(|found| found == text), "{text} is not in {texts:?}");
    }
    assert!(texts.iter().any(|text| text.starts_with("/Power/Battery: last ") && text.ends_with(" V")), "{texts:?}");
    let fonts: Vec<_> = document.descendants().filter_map(|node| node.attribute("font-family")).collect();
    assert!(fonts.iter().all(|font| *font == "sans-serif") && !fonts.is_empty());
}

#[test]
fn a_png_decodes_and_has_lines_and_letters_in_it() {
    for chart in [Chart::Timeline(timeline()), Chart::Track(track())] {
        let bytes = logpose_plot::png(&chart, (640, 480)).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (640, 480));
        let count = |near: [u8; 3]| {
            let same = |pixel: &&[u8]| pixel.iter().zip(near).all(|(a, b)| a.abs_diff(b) < 24);
            pixels.chunks_exact(3).filter(same).count()
        };
        assert!(count([0, 114, 178]) > 300, "the first line is blue");
        assert!(count([34, 34, 34]) > 100, "labels are dark");
        assert!(count([255, 255, 255]) > 100_000);
    }
}

#[test]
fn a_million_samples_make_a_small_picture_with_every_spike() {
    let mut timeline = Timeline::new(RANGE);
    let spike = |t: f64| if (t - 30.0).abs() < 3e-5 { 50.0 } else { (t * 1000.0).sin() };
    timeline.series.push(Series::new("/Noise", None, trace(spike, 1_000_000)));
    let svg = logpose_plot::svg(&Chart::Timeline(timeline), (1200, 600)).unwrap();
    assert!(svg.len() < 150_000, "{} bytes", svg.len());
    let document = roxmltree::Document::parse(&svg).unwrap();
    let lines = document.descendants().filter(|node| node.has_tag_name("polyline"));
    let longest = lines.filter_map(|node| node.attribute("points")).max_by_key(|points| points.len()).unwrap();
    let heights = longest.split_whitespace().map(|point| point.split_once(',').unwrap().1.parse::<i32>().unwrap());
    let (highest, others): (Vec<i32>, Vec<i32>) = heights.partition(|y| *y < 1500);
    assert!(highest.len() == 1 && others.len() > 2000, "one spike, and noise below it");
}

#[test]
fn hostile_names_and_values_stay_harmless() {
    let mut timeline = Timeline::new((5.0, 5.0));
    timeline.title = Some("\x1b[2J\0\u{ffff}\u{202e}".to_owned());
    let mut trace = Trace::new((5.0, 5.0), 1200);
    for value in [f64::NAN, f64::INFINITY, 1e308, -1e308, 1e300, -1e300, f64::MIN_POSITIVE] {
        trace.push(5.0, value);
    }
    timeline.series.push(Series::new(&"long/".repeat(1000), Some("a very long unit, longer than any axis"), trace));
    timeline.series.push(Series::new("", None, Trace::new((5.0, 5.0), 0)));
    timeline.rows.push(Row::new("empty", RANGE, 0));
    timeline.bands.push(Band { start: f64::NEG_INFINITY, end: f64::NAN, name: "\n".into(), color: Color(0, 0, 0) });
    let chart = Chart::Timeline(timeline);
    texts(&logpose_plot::svg(&chart, (800, 600)).unwrap());
    logpose_plot::png(&chart, (800, 600)).unwrap();
    let text = logpose_plot::terminal(&chart, 80, 30, false).unwrap();
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    assert!(text.lines().all(|line| line.chars().count() <= 80));
    texts(&logpose_plot::svg(&Chart::Track(Track::default()), (800, 600)).unwrap());
}

#[test]
fn sizes_that_make_no_sense_are_refused_with_the_size_that_would() {
    let chart = Chart::Timeline(timeline());
    let Err(Error::TooSmall { least_height, .. }) = logpose_plot::svg(&chart, (600, 90)) else { panic!("too small") };
    logpose_plot::svg(&chart, (600, least_height)).unwrap();
    assert!(matches!(logpose_plot::svg(&chart, (60, 600)), Err(Error::TooSmall { .. })));
    assert!(matches!(logpose_plot::terminal(&chart, 10, 3, false), Err(Error::TooSmall { .. })));
    assert!(matches!(logpose_plot::png(&chart, (100_000, 10)), Err(Error::TooLarge { .. })));
    assert!(matches!(logpose_plot::png(&chart, (20_000, 20_000)), Err(Error::TooLarge { .. })));
    assert!(matches!(logpose_plot::svg(&Chart::Track(track()), (1, 1)), Err(Error::TooSmall { .. })));
}

#[test]
fn a_terminal_shows_dots_labels_and_blocks() {
    let text = logpose_plot::terminal(&Chart::Timeline(timeline()), 60, 24, false).unwrap();
    assert!(text.contains("a  /Power/Battery") && text.contains("moving") && text.contains("auto"), "{text}");
    assert!(text.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{text}");
    assert!(!text.contains('\x1b') && text.lines().all(|line| line.chars().count() <= 60));
    let colored = logpose_plot::terminal(&Chart::Timeline(timeline()), 60, 24, true).unwrap();
    assert!(colored.contains("\x1b[0;38;5;") && colored.contains(";48;5;"));
    let ends_plain = |line: &str| line.rsplit_once('\x1b').is_none_or(|(_, end)| end.starts_with("[0m"));
    assert!(colored.lines().all(ends_plain), "{colored:?}");
}

#[test]
fn wide_letters_take_two_cells() {
    let mut timeline = Timeline::new(RANGE);
    timeline.series.push(Series::new("電圧", Some("V"), trace(|t| t, 100)));
    let text = logpose_plot::terminal(&Chart::Timeline(timeline), 60, 20, false).unwrap();
    let line = text.lines().find(|line| line.contains("電圧")).unwrap();
    assert!(line.contains("電圧: last 59.4 V"), "{line}");
}
