use std::path::Path;

use logpose::core::{Dialect, EncodeOptions, Limits};
use logpose::{FORMATS, Format};
use logpose_testkit::workspace;

fn has_files(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// What is read by a dialect, and not by what unpacks a format of another field.
fn dialects() -> impl Iterator<Item = &'static dyn Dialect> {
    FORMATS.iter().filter(|format| format.unpacker().is_none()).map(Format::dialect)
}

#[test]
fn every_dialect_has_what_a_dialect_needs() {
    let mut missing = Vec::new();
    for dialect in dialects() {
        let info = dialect.info();
        let mut need = |there: bool, what: String| {
            if !there {
                missing.push(format!("{}: {what}", info.name));
            }
        };
        need(!info.extensions.is_empty() || !info.reached.is_empty(), "an extension or a scheme".into());
        need(info.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "a name in lower case".into());
        let readme = format!("dialects/{}/README.md", info.name);
        need(workspace().join(&readme).is_file(), readme);
        // What is only spoken live has no files to keep.
        for kind in ["valid", "corrupt"].into_iter().filter(|_| info.files.read) {
            let fixtures = format!("fixtures/{}/{kind}", info.name);
            need(has_files(&workspace().join(&fixtures)), format!("files in {fixtures}"));
        }
        for (kind, _) in [("decode", info.files.read), ("session", info.live.read)].iter().filter(|(_, has)| *has) {
            let target = format!("fuzz/fuzz_targets/{kind}_{}.rs", info.name);
            need(workspace().join(&target).is_file(), target);
        }
        need(info.live.read || info.live.write || info.reached.is_empty(), "something behind its scheme".into());
        let live = dialect.live();
        let client = live.and_then(|live| live.client(Limits::default()));
        need(client.is_some() == info.live.read, "a client if it is read live".into());
        let server = live.and_then(|live| live.server(&EncodeOptions::default()));
        need(server.is_some() == info.live.write, "a server if it is written live".into());
        let files = info.files.read || info.files.write;
        need(dialect.files().is_some() == files, "a file side if it has files".into());
        let encoder = dialect.files().and_then(|files| files.encoder(&EncodeOptions::default()));
        need(encoder.is_some() == info.files.write, "an encoder if it is written".into());
    }
    assert!(missing.is_empty(), "missing: {missing:#?}");
}

#[test]
fn dialects_are_distinguished() {
    let mut names: Vec<_> = dialects().map(|dialect| dialect.info().name).collect();
    let mut extensions: Vec<_> = dialects().flat_map(|dialect| dialect.info().extensions).collect();
    let counts = (names.len(), extensions.len());
    names.sort_unstable();
    names.dedup();
    extensions.sort_unstable();
    extensions.dedup();
    assert_eq!((names.len(), extensions.len()), counts);
}

/// The page about dialects shows pieces of one that is built and tested.
#[test]
fn the_page_about_dialects_quotes_the_toy() {
    let lines = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let toy = workspace().join("tests/toy-dialect");
    let files = std::fs::read_dir(toy.join("src")).unwrap().map(|entry| entry.unwrap().path());
    let sources: Vec<String> =
        files.chain([toy.join("Cargo.toml")]).map(|path| lines(&std::fs::read_to_string(path).unwrap())).collect();
    let page = lines(&std::fs::read_to_string(workspace().join("docs/adding-a-dialect.md")).unwrap());
    let quotes: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    assert!(quotes.len() > 8, "{quotes:#?}");
    for quote in quotes {
        let (language, code) = quote.split_once('\n').unwrap();
        assert!(["rust", "toml"].contains(&language), "{language}");
        assert!(sources.iter().any(|source| source.contains(code.trim_end())), "not in tests/toy-dialect:\n{code}");
    }
}
