//! How series look from afar, kept beside the index.
//!
//! Read in place are the buckets of each series, level by level from the cells up, 56 bytes each. The description has how
//! many samples fill a cell, and of each series its channel, its path, how many buckets its levels have, and the hash
//! of their bytes, which is looked at when the series is first asked for.

use std::collections::HashMap;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use logpose_core::ChannelId;
use memmap2::Mmap;
use twox_hash::XxHash3_64;

use super::level::Level;
use super::pass::SeriesPlan;
use super::{Bucket, Pyramid};
use logpose_files::internal::sidecar::frame::{self, HEAD, list, number, put, put_bytes, put_text, text};
use logpose_files::internal::sidecar::{Kind, Sidecar, used};

/// The pyramids of a log, in a mapped file.
pub(crate) struct Kept {
    map: Arc<Mmap>,
    path: PathBuf,
    fill: u64,
    series: HashMap<(ChannelId, String), Section>,
}

/// Where the levels of a series are.
struct Section {
    range: Range<usize>,
    /// How many buckets each has.
    levels: Vec<usize>,
    hash: u64,
    pyramid: OnceLock<Option<Arc<Pyramid>>>,
}

impl Kept {
    /// What was kept, if it is there, whole, and about this very log.
    pub(crate) fn read(sidecar: &Sidecar) -> Option<Self> {
        let (file, map) = sidecar.open(Kind::Pyramids)?;
        let kept = decode(map, sidecar.file(Kind::Pyramids), sidecar.key())?;
        used(&file);
        Some(kept)
    }

    /// Keeps pyramids.
    pub(crate) fn write(sidecar: &Sidecar, lanes: &[SeriesPlan], pyramids: &[Pyramid], fill: u64) {
        let buckets = pyramids.iter().flat_map(Pyramid::levels).map(|level| level.len() as u64).sum::<u64>();
        let bytes = buckets.saturating_mul(Bucket::BYTES as u64);
        sidecar.keep(Kind::Pyramids, bytes, |file| encode(sidecar.key(), lanes, pyramids, fill, file));
    }

    /// A series, if it was kept and is what was written.
    pub(crate) fn pyramid(&self, channel: ChannelId, path: &str) -> Option<Arc<Pyramid>> {
        let section = self.series.get(&(channel, path.to_owned()))?;
        let pyramid = section.pyramid.get_or_init(|| {
            let whole = self.map.get(section.range.clone()).filter(|bytes| XxHash3_64::oneshot(bytes) == section.hash);
            if whole.is_none() {
                let _ = fs::remove_file(&self.path);
            }
            let mut start = section.range.start;
            let level = |count: &usize| {
                let range = start..start + count * Bucket::BYTES;
                start = range.end;
                Level::kept(Arc::clone(&self.map), range)
            };
            let levels = section.levels.iter().map(level).collect();
            whole.and_then(|_| Pyramid::of_levels(levels, self.fill)).map(Arc::new)
        });
        pyramid.clone()
    }
}

fn encode(key: &[u8], lanes: &[SeriesPlan], pyramids: &[Pyramid], fill: u64, file: &mut File) -> io::Result<()> {
    frame::write(file, MAGIC, |out| {
        let mut description = Vec::new();
        put_bytes(&mut description, key);
        put(&mut description, fill);
        put(&mut description, lanes.len() as u64);
        let mut written = 0;
        for (lane, pyramid) in lanes.iter().zip(pyramids) {
            let mut hash = XxHash3_64::new();
            for bucket in pyramid.levels().iter().flat_map(Level::iter) {
                let bytes = bucket.to_bytes();
                hash.write(&bytes);
                out.write_all(&bytes)?;
                written += bytes.len() as u64;
            }
            put(&mut description, lane.channel.into());
            put_text(&mut description, &lane.path);
            put(&mut description, hash.finish());
            put(&mut description, pyramid.levels().len() as u64);
            pyramid.levels().iter().for_each(|level| put(&mut description, level.len() as u64));
        }
        Ok((written, description))
    })
}

/// What a file says, if it is whole and has this key.
fn decode(map: Arc<Mmap>, path: PathBuf, key: &[u8]) -> Option<Kept> {
    let (mut cur, end) = frame::description(&map, MAGIC, key)?;
    let fill = number(&mut cur).filter(|fill| *fill > 0)?;
    let mut at = HEAD;
    let series = list(&mut cur, 32, |cur| {
        let (channel, path, hash) = (ChannelId::try_from(number(cur)?).ok()?, text(cur)?, number(cur)?);
        let start = at;
        let levels = list(cur, 8, |cur| {
            let count = usize::try_from(number(cur)?).ok()?;
            at = at.checked_add(count.checked_mul(Bucket::BYTES)?).filter(|at| *at <= end)?;
            Some(count)
        })?;
        Some(((channel, path), Section { range: start..at, levels, hash, pyramid: OnceLock::new() }))
    })?;
    let whole = cur.rest().is_empty() && at == end;
    whole.then(|| Kept { series: series.into_iter().collect(), map: Arc::clone(&map), path, fill })
}

/// The last byte is the number of the format. It must grow with every change of it, and whenever the same bytes give other
/// buckets.
const MAGIC: [u8; 8] = *b"LPP\0\0\0\0\x01";
