use std::io::{self, Write};
use std::path::Path;

use logpose_carla::{Edit, EditError, Edited, Frames, concatenate};
use logpose_core::{DecodeError, SinkError};

use super::File;
use logpose_files::internal::sink_error;
use logpose_files::internal::{Bytes, Spool};
use logpose_files::{Error, Output, Progress};

/// What was written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Written {
    /// How many frames.
    pub frames: u64,
    /// How many bytes, before compression.
    pub bytes: u64,
}

/// Writes what an edit makes of a recording, frame by frame.
pub fn edit(
    file: &File,
    frames: &Frames<'_>,
    edit: &Edit,
    to: Output<'_>,
    progress: &dyn Progress,
) -> Result<Written, Error> {
    let edited = edit.apply(frames).map_err(|error| refused(file, error))?;
    write(file, edited, to, progress)
}

/// Writes one recording after another as one. Of more than two, what the first ones make is kept apart until the last
/// is there.
pub fn concat(files: &[File], to: Output<'_>, progress: &dyn Progress) -> Result<Written, Error> {
    let missing = || Error::usage("expected at least two recordings");
    let (first, rest) = files.split_first().ok_or_else(missing)?;
    let (last, middle) = rest.split_last().ok_or_else(missing)?;
    let whole = first.frames()?;
    Edit::default().apply(&whole).map_err(|error| refused(first, error))?;
    let mut joined: Option<Bytes> = None;
    for file in middle {
        let mut spool = Spool::default();
        {
            let (before, after) = (before(first, joined.as_ref())?, file.frames()?);
            let mut edited = concatenate(&before, &after).map_err(|error| refused(file, error))?;
            fill(file, &mut edited, &mut spool, None, progress)?;
        }
        joined = Some(spool.finish().map_err(|error| Error::reading(file.path(), error))?);
    }
    let (before, after) = (before(first, joined.as_ref())?, last.frames()?);
    let edited = concatenate(&before, &after).map_err(|error| refused(last, error))?;
    write(last, edited, to, progress)
}

fn before<'a>(first: &'a File, joined: Option<&'a Bytes>) -> Result<Frames<'a>, Error> {
    match joined {
        Some(bytes) => Frames::scan(bytes).map_err(|error| first.refused(error)),
        None => first.frames(),
    }
}

/// Writes a recording; errors of the edit are errors of `file`.
fn write(file: &File, mut edited: Edited<'_>, to: Output<'_>, progress: &dyn Progress) -> Result<Written, Error> {
    let path = match &to {
        Output::File { path, .. } => Some(path.to_path_buf()),
        Output::Stream(_) => None,
    };
    to.fill(|out| fill(file, &mut edited, out, path.as_deref(), progress))
}

fn fill(
    file: &File,
    edited: &mut Edited<'_>,
    out: &mut dyn Write,
    path: Option<&Path>,
    progress: &dyn Progress,
) -> Result<Written, Error> {
    let failed = |error: io::Error| sink_error(SinkError::Io(error), path);
    let mut written = Written::default();
    let mut ready = Vec::new();
    edited.begin(&mut ready);
    progress.begin("writing", 0);
    let done = loop {
        if let Err(error) = out.write_all(&ready) {
            break Err(failed(error));
        }
        written.bytes += ready.len() as u64;
        progress.at(written.bytes);
        ready.clear();
        match edited.next_frame(&mut ready) {
            Ok(true) => written.frames += 1,
            Ok(false) => break Ok(written),
            Err(error) => break Err(refused(file, error)),
        }
    };
    progress.end();
    done
}

/// Why a recording cannot be edited, and what would help.
fn refused(file: &File, error: EditError) -> Error {
    match error {
        EditError::Damaged(error) | EditError::Odd(error) => file.refused(error),
        EditError::Unended { at, frame } => {
            let message = format!("the recording is truncated inside frame {frame}");
            let error =
                DecodeError { dialect: "carla", code: "frame-open", at, message, help: Some(RECOVER.to_owned()) };
            Error::decode(file.path(), error)
        }
        EditError::Times(_) => Error::from(error).in_file(file.path()).with_help(RECOVER),
        _ => Error::from(error).in_file(file.path()),
    }
}

const RECOVER: &str = "run `logpose recover` for a repaired copy";
