//! The table inside a zip file.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;

/// Whether bytes begin like a zip file.
pub(super) fn is_zip(file: &[u8]) -> bool {
    file.starts_with(b"PK\x03\x04")
}

/// Whether the first file in it, of which the front is enough, is a table by its name.
pub(super) fn names_csv(head: &[u8]) -> bool {
    let length = head.get(26..28).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes);
    head.get(30..).and_then(|rest| rest.get(..length.into())).is_some_and(is_csv)
}

/// The name and the content of the first table in a zip file; the sentence says why there is none.
pub(super) fn csv(file: &[u8]) -> Result<(String, Vec<u8>), String> {
    let mut archive = ZipArchive::new(Cursor::new(file)).map_err(|error| format!("the zip file: {error}"))?;
    // A name that is not UTF-8 is not that of a table.
    let names: Vec<String> = archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
    let wanted = |name: &&String| is_csv(name.as_bytes()) && !name.starts_with("__MACOSX/");
    let Some(name) = names.iter().find(wanted) else {
        let found = names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
        return Err(format!("no .csv in the zip file, found {found}"));
    };
    let entry = archive.by_name(name).map_err(|error| format!("{name} in the zip file: {error}"))?;
    // What it claims to have may be wrong: it is counted while it comes.
    let mut content = Vec::new();
    let read = entry.take(MOST + 1).read_to_end(&mut content);
    read.map_err(|error| format!("{name} in the zip file: {error}"))?;
    if content.len() as u64 > MOST {
        return Err(format!("{name} in the zip file has more than {} MiB", MOST >> 20));
    }
    Ok((name.clone(), content))
}

fn is_csv(name: &[u8]) -> bool {
    name.len() > 4 && name.get(name.len() - 4..).is_some_and(|end| end.eq_ignore_ascii_case(b".csv"))
}

/// More than any ride has: a day at ten rows a second is 300 MB.
const MOST: u64 = 512 << 20;
