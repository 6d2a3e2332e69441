//! Block by block, also past damage.

use super::block::{Block, FRAME, HEAD, Head, Kind};
use super::error::{Error, ErrorKind};

/// The blocks of a file, with where they begin. Past a damaged block it goes on at the next one that is certainly a block:
/// where the damaged one says that it ends, or else where the checksum of a known kind fits.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    file: &'a [u8],
    head: Head,
    at: usize,
    /// Bytes that searching may still go over, so that no file can make it long.
    search: usize,
}

/// Bytes that hold no whole block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Damage {
    /// The first of them.
    pub at: u64,
    /// How many there are.
    pub length: u64,
    /// What is wrong with the first block of them.
    pub error: Error,
    /// Whether the search for a next block was given up.
    pub given_up: bool,
}

/// What a search may cost for each byte of the file, and at least.
const SEARCH: usize = 16;
const LEAST_SEARCH: usize = 1 << 20;

impl<'a> Reader<'a> {
    /// Reads the head of a file.
    pub fn new(file: &'a [u8]) -> Result<Self, Error> {
        let search = file.len().saturating_mul(SEARCH).max(LEAST_SEARCH);
        Ok(Self { file, head: Head::parse(file)?, at: HEAD, search })
    }

    /// The head.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// Where the next block begins.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Where the next block begins that is certainly one, behind a damaged one at `from`.
    fn next_good(&mut self, from: usize) -> Option<usize> {
        let rest = self.file.get(from..)?;
        let claimed = rest.get(4..8)?.first_chunk().map(|length| u32::from_be_bytes(*length))?;
        let end = usize::try_from(claimed).ok().and_then(|length| from.checked_add(length)?.checked_add(FRAME));
        if let Some(end) = end.filter(|end| *end <= self.file.len())
            && (end == self.file.len() || self.is_block(end))
        {
            return Some(end);
        }
        (from + 1..self.file.len().saturating_sub(FRAME - 1)).find(|at| self.is_block(*at))
    }

    /// Whether a block of a known kind begins here and is whole.
    fn is_block(&mut self, at: usize) -> bool {
        let Some([kind, 0, 0, 0, a, b, c, d]) = self.file.get(at..).and_then(<[u8]>::first_chunk).copied() else {
            return false;
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let fits = match Kind::of(kind) {
            Kind::Unknown(_) => false,
            Kind::Status => length == 7,
            Kind::TimeRef => length == 16,
            Kind::End => length == 36,
            Kind::Meta | Kind::Info | Kind::Header => length > 0,
            Kind::Samples => length >= 4,
        };
        let whole =
            at.checked_add(length).and_then(|end| end.checked_add(FRAME)).is_some_and(|end| end <= self.file.len());
        if !(fits && whole) || self.search == 0 {
            return false;
        }
        self.search = self.search.saturating_sub(length + FRAME);
        Block::parse(self.file, at).is_ok()
    }
}

impl<'a> Iterator for Reader<'a> {
    /// Where a block begins, and the block.
    type Item = Result<(u64, Block<'a>), Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        if at >= self.file.len() {
            return None;
        }
        match Block::parse(self.file, at) {
            Ok(block) => {
                self.at = at + block.payload.len() + FRAME;
                Some(Ok((at as u64, block)))
            }
            Err(error) => {
                let next = self.next_good(at);
                self.at = next.unwrap_or(self.file.len());
                let given_up = next.is_none() && self.search == 0;
                let length = (self.at - at) as u64;
                Some(Err(Damage { at: at as u64, length, error: tail(error, at, self.file), given_up }))
            }
        }
    }
}

/// A truncated block is reported as such, whichever of its fields is cut.
fn tail(error: Error, at: usize, file: &[u8]) -> Error {
    let ErrorKind::Truncated { .. } = error.kind else { return error };
    let rest = file.get(at..).unwrap_or_default();
    let claimed = rest.get(4..8).and_then(<[u8]>::first_chunk).map_or(0, |length| u32::from_be_bytes(*length));
    let needed = u64::from(claimed) + FRAME as u64;
    Error { at: at as u64, kind: ErrorKind::Truncated { what: "block", needed, left: rest.len() as u64 } }
}

#[cfg(test)]
mod tests {
    use super::{Block, Head, Kind, Reader};

    #[test]
    fn a_search_checks_few_blocks_whatever_repeats() {
        const LENGTH: usize = 1 << 17;
        let patterns: [(&str, &[u8], usize); 6] = [
            ("zeros", &[0], 0),
            ("ones", &[1], 0),
            ("0xff", &[0xff], 0),
            ("text", b"the quick brown fox jumps over the lazy dog\r\n", 0),
            ("heads of short blocks", &[4, 0, 0, 0, 0, 0, 0, 7], 4 * LENGTH),
            // The bound that a search has however often it is misled.
            ("heads of long blocks", &[5, 0, 0, 0, 0, 1, 0, 0], 17 * LENGTH),
        ];
        for (name, pattern, most) in patterns {
            let mut file = Vec::new();
            Head::emit(&mut file);
            let damage = file.len();
            file.push(0xff);
            file.extend(pattern.iter().cycle().take(LENGTH));
            Block { kind: Kind::Meta, payload: b"{}" }.emit(&mut file);
            let mut reader = Reader::new(&file).unwrap();
            let before = reader.search;
            let found: Vec<_> = reader.by_ref().collect();
            let checked = before - reader.search;
            assert!(checked <= most + 100, "{name}: {checked} bytes of blocks checked in {LENGTH}");
            assert!(matches!(&found[0], Err(found) if found.at == damage as u64), "{name}: {found:?}");
        }
    }
}
