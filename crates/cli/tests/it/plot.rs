//! Plots of every log there is.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::fixtures::fixtures;
use crate::run::{SHARED, code, folder, logpose, stderr, stdout, typed};

#[test]
fn every_fixture_is_drawn_or_refused_with_a_sentence() {
    let dir = folder();
    let own =
        ["match", "pit", "evil", "unsorted", "truncated", "many"].map(|name| dir.path().join(format!("{name}.wpilog")));
    for file in fixtures("valid").into_iter().chain(fixtures("corrupt")) {
        let output = logpose(dir.path()).args(["plot", "-y", "*", "--terminal"]).arg(&file).output().unwrap();
        sound(&output, &file);
    }
    for file in own {
        for args in [&["--terminal"][..], &["-o", "plot.png", "--force"], &["-o", "plot.svg", "--separate", "--force"]]
        {
            let output = logpose(dir.path()).args(["plot", "-y", "*"]).args(args).arg(&file).output().unwrap();
            sound(&output, &file);
        }
    }
}

fn sound(output: &Output, file: &Path) {
    let said = stderr(output);
    assert!((0..=3).contains(&code(output)) && !said.contains("panicked"), "{}: {said}", file.display());
    assert!(code(output) != 1 || said.contains("error: "), "{}: {said}", file.display());
}

#[test]
fn a_picture_goes_to_standard_output_too() {
    let output = typed(&SHARED, "logpose plot match.wpilog -y '*Voltage' -o - --to svg");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let svg = stdout(&output);
    assert!(
        svg.starts_with("<svg ") && svg.contains("/Power/BatteryVoltage: last ") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    let output = typed(&SHARED, "logpose plot match.wpilog -y '*Voltage' -o - --to png");
    assert!(output.stdout.starts_with(b"\x89PNG"));
}

#[test]
fn several_logs_have_their_names_in_the_legend() {
    let dir = folder();
    fs::copy(dir.path().join("match.wpilog"), dir.path().join("again.wpilog")).unwrap();
    let line = "logpose plot match.wpilog again.wpilog -y '*Voltage' --align auto -o both.svg";
    let output = typed(dir.path(), line);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let svg = fs::read_to_string(dir.path().join("both.svg")).unwrap();
    for text in
        ["match.wpilog: /Power/BatteryVoltage", "again.wpilog: /Power/BatteryVoltage", "since start of autonomous"]
    {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn a_refused_plot_leaves_nothing_behind() {
    let dir = folder();
    let before = fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(code(&typed(dir.path(), "logpose plot match.wpilog -y '*Voltage' -o plot.svg --size 10x10")), 2);
    fs::write(dir.path().join("plot.svg"), "precious").unwrap();
    assert_eq!(code(&typed(dir.path(), "logpose plot match.wpilog -y '*Voltage' -o plot.svg")), 1);
    assert_eq!(fs::read(dir.path().join("plot.svg")).unwrap(), b"precious");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before + 1);
}
