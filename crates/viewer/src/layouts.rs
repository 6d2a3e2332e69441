use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::Viewer;
use crate::api;
use crate::error::{RequestError, RequestErrorKind};

/// Layouts of the page: the one that it begins with, and those that are kept in a file that all viewers of the user share.
///
/// What a layout means is the page's business. Here it is a JSON object of a limited size.
#[derive(Debug, Default)]
pub struct Layouts {
    given: Option<(String, Json)>,
    file: Option<PathBuf>,
    /// Two requests of this viewer do not change the file at once.
    changing: Mutex<()>,
}

/// The content of the file.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Kept {
    /// By kind of log: what the page showed last.
    kinds: BTreeMap<String, Json>,
    /// By the name that the user gave.
    named: BTreeMap<String, Json>,
}

impl Layouts {
    /// Layouts kept in a file, or nowhere.
    #[must_use]
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { file, ..Self::default() }
    }

    /// The page begins with this layout, whose name is for people.
    ///
    /// # Errors
    ///
    /// If it is not a JSON object, or too large; the text says which.
    pub fn give(&mut self, name: impl Into<String>, text: &[u8]) -> Result<(), String> {
        if text.len() > LARGEST {
            return Err(format!("a layout has at most {LARGEST} bytes, this file has {}", text.len()));
        }
        let layout: Json = serde_json::from_slice(text).map_err(|error| format!("the file is not JSON: {error}"))?;
        if !layout.is_object() {
            return Err("expected a JSON object".to_owned());
        }
        self.given = Some((name.into(), layout));
        Ok(())
    }

    fn read(&self) -> Kept {
        let short = |file: &&PathBuf| fs::metadata(file).is_ok_and(|about| about.len() <= LARGEST_FILE);
        let bytes = self.file.as_ref().filter(short).and_then(|file| fs::read(file).ok());
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn change(&self, query: &api::KeepLayout) -> Result<Kept, RequestError> {
        let Some(file) = &self.file else {
            return Err(RequestError::invalid("not-kept", "this viewer keeps no layouts"));
        };
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = self.read();
        let (list, key) = match (&query.kind, &query.name) {
            (Some(kind), None) => (&mut kept.kinds, kind),
            (None, Some(name)) => (&mut kept.named, name),
            _ => return Err(RequestError::invalid("bad-request", "expected either a kind or a name")),
        };
        if key.trim().is_empty() || key.chars().count() > LONGEST {
            return Err(RequestError::invalid("invalid-name", format!("a name has 1 to {LONGEST} characters")));
        }
        match &query.layout {
            None => drop(list.remove(key)),
            Some(layout) if !layout.is_object() => {
                return Err(RequestError::invalid("bad-request", "a layout is a JSON object"));
            }
            Some(layout) => {
                list.insert(key.clone(), layout.clone());
                if list.len() > MOST {
                    let message = format!("there are already {MOST} layouts");
                    return Err(RequestError::invalid("too-many-layouts", message).with_help("delete some of them"));
                }
            }
        }
        let failed = |error: io::Error| {
            let message = format!("cannot write {}: {error}", file.display());
            RequestError::new(RequestErrorKind::Storage, "io", message)
        };
        keep(file, &kept).map_err(failed)?;
        Ok(kept)
    }
}

/// Replaces the file as a whole: whoever reads it sees the old one or the new one.
fn keep(file: &Path, kept: &Kept) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut out = tempfile::Builder::new().prefix(".layouts").tempfile_in(folder)?;
    out.write_all(&serde_json::to_vec(kept).map_err(io::Error::other)?)?;
    out.persist(file)?;
    Ok(())
}

impl Viewer {
    /// The layouts that the page can begin with.
    #[must_use]
    pub fn layouts(&self) -> api::Layouts {
        let layouts = self.session().layouts();
        let given = layouts.given.clone().map(|(name, layout)| api::NamedLayout { name, layout });
        api::Layouts { given, ..answer(&layouts, layouts.read()) }
    }

    /// Keeps a layout, or forgets one.
    pub fn keep_layout(&self, query: &api::KeepLayout) -> Result<api::Layouts, RequestError> {
        let layouts = self.session().layouts();
        Ok(answer(&layouts, layouts.change(query)?))
    }
}

fn answer(layouts: &Layouts, kept: Kept) -> api::Layouts {
    let named = kept.named.into_iter().map(|(name, layout)| api::NamedLayout { name, layout });
    api::Layouts { kept: layouts.file.is_some(), given: None, kinds: kept.kinds, named: named.collect() }
}

/// Bytes of a layout from a file.
const LARGEST: usize = 4 << 20;
/// Bytes of the file with all that are kept.
const LARGEST_FILE: u64 = 64 << 20;
/// Characters of a name.
const LONGEST: usize = 120;
/// Layouts that have a name, and kinds of logs.
const MOST: usize = 100;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Layouts;
    use crate::api::KeepLayout;

    fn named(name: &str, layout: Option<serde_json::Value>) -> KeepLayout {
        KeepLayout { name: Some(name.to_owned()), kind: None, layout }
    }

    #[test]
    fn layouts_are_kept_for_the_next_viewer() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("deep/layouts.json");
        let layouts = Layouts::new(Some(file.clone()));
        layouts.change(&named("Pit", Some(json!({"tabs": []})))).unwrap();
        let kind = KeepLayout { kind: Some("frc".to_owned()), name: None, layout: Some(json!({"tabs": [1]})) };
        layouts.change(&kind).unwrap();
        let again = Layouts::new(Some(file)).read();
        assert_eq!((&again.named["Pit"], &again.kinds["frc"]), (&json!({"tabs": []}), &json!({"tabs": [1]})));
        layouts.change(&named("Pit", None)).unwrap();
        assert!(layouts.read().named.is_empty() && !layouts.read().kinds.is_empty());
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("layouts.json");
        let layouts = Layouts::new(Some(file.clone()));
        let refused = |query: &KeepLayout| layouts.change(query).unwrap_err().code.into_owned();
        assert_eq!(refused(&named("", Some(json!({})))), "invalid-name");
        assert_eq!(refused(&named(&"x".repeat(121), Some(json!({})))), "invalid-name");
        assert_eq!(refused(&named("a", Some(json!([])))), "bad-request");
        assert_eq!(refused(&KeepLayout { name: None, kind: None, layout: None }), "bad-request");
        assert!(!file.exists());
        (0..100).for_each(|n| drop(layouts.change(&named(&n.to_string(), Some(json!({})))).unwrap()));
        assert_eq!(refused(&named("one more", Some(json!({})))), "too-many-layouts");
        assert_eq!(layouts.read().named.len(), 100);
        // A file that somebody broke is as good as none.
        std::fs::write(&file, b"{\"named\": 5").unwrap();
        assert!(layouts.read().named.is_empty());
        assert_eq!(Layouts::default().change(&named("a", Some(json!({})))).unwrap_err().code, "not-kept");
        // The place is a folder.
        let folder = Layouts::new(Some(dir.path().to_owned()));
        assert_eq!(folder.change(&named("a", Some(json!({})))).unwrap_err().code, "io");
    }

    #[test]
    fn a_layout_from_a_file_is_an_object() {
        let mut layouts = Layouts::default();
        assert_eq!(layouts.give("a", b"[1]"), Err("expected a JSON object".to_owned()));
        assert!(layouts.give("a", b"\xff").unwrap_err().starts_with("the file is not JSON"));
        assert!(layouts.give("a", &vec![b' '; 5 << 20]).unwrap_err().contains("at most"));
        layouts.give("a.json", b"{}").unwrap();
        assert_eq!(layouts.given, Some(("a.json".to_owned(), json!({}))));
    }
}
