//! Text in lines and cells, each with its place in the file.

use csv::{ByteRecord, ReaderBuilder};
use logpose_core::{Problem, Problems, Severity, StreamError, Time};

/// The lines of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    body: &'a [u8],
    /// Bytes in front of the body.
    start: u64,
    delimiter: u8,
    /// Whether cells may stand in quotes.
    quoting: bool,
}

/// A line in cells.
pub(super) struct Row<'a> {
    cells: &'a ByteRecord,
    /// The number of its line, from 1.
    pub(super) line: u64,
    at: u64,
    length: u64,
}

/// Takes a cell that is not empty: its row, its column, the time of the row, the text.
pub(super) type TakeCell<'t> = dyn FnMut(&Row<'_>, usize, Time, &[u8]) -> Result<(), StreamError> + 't;

impl<'a> Table<'a> {
    pub(super) fn new(file: &'a [u8], delimiter: u8, quoting: bool) -> Self {
        let body = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        Self { body, start: (file.len() - body.len()) as u64, delimiter, quoting }
    }

    /// The cells of the first line; `None` if that is not text or too long for names of columns.
    pub(super) fn names(&self) -> Option<Vec<&'a str>> {
        let line = self.body.split(|byte| *byte == b'\n').next().filter(|line| line.len() <= LONGEST_HEADER)?;
        let line = str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)).ok()?;
        if line.is_empty() || line.chars().any(|c| c.is_control() && c != '\t') {
            return None;
        }
        let unquoted = |cell: &'a str| cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell);
        let cells = line.split(char::from(self.delimiter)).map(str::trim);
        Some(cells.map(|cell| if self.quoting { unquoted(cell) } else { cell }).collect())
    }

    /// Gives every line that is not empty to `take`.
    pub(super) fn rows(&self, mut take: impl FnMut(&Row<'_>) -> Result<(), StreamError>) -> Result<(), StreamError> {
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(self.delimiter).quoting(self.quoting);
        let mut reader = builder.from_reader(self.body);
        let mut cells = ByteRecord::new();
        // Reading from memory fails in no way.
        while let Ok(true) = reader.read_byte_record(&mut cells) {
            let (line, at) = cells.position().map_or((0, 0), |place| (place.line(), place.byte()));
            let length = reader.position().byte() - at;
            take(&Row { cells: &cells, line, at: self.start + at, length })?;
        }
        Ok(())
    }
}

impl Table<'_> {
    /// Gives the lines behind the first to `take`. Lines of another width than `width` are reported and left out.
    pub(super) fn body(
        &self,
        width: usize,
        problems: &mut Problems,
        mut take: impl FnMut(&Row<'_>, &mut Problems) -> Result<(), StreamError>,
    ) -> Result<(), StreamError> {
        let mut first = true;
        self.rows(|row| match (std::mem::take(&mut first), row.len()) {
            (true, _) => Ok(()),
            (false, found) if found != width => {
                row.skip(&format!("expected {width} cells as in the first line, found {found}"), problems);
                Ok(())
            }
            (false, _) => take(row, problems),
        })
    }
}

impl<'a> Row<'a> {
    /// How many cells it has.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// A cell without the blanks around it; empty if there is none.
    pub(super) fn cell(&self, place: usize) -> &'a [u8] {
        self.cells.get(place).unwrap_or_default().trim_ascii()
    }

    /// Its cells without the blanks around them.
    pub(super) fn cells(&self) -> impl Iterator<Item = &'a [u8]> {
        self.cells.iter().map(<[u8]>::trim_ascii)
    }

    /// Notes that it could not be read.
    pub(super) fn skip(&self, message: &str, problems: &mut Problems) {
        let message = format!("line {}: {message}; skipped the row", self.line);
        problems.push(Problem::new(Severity::Damage, "bad-row", self.at, self.length, message));
    }

    /// Notes something about it.
    pub(super) fn note(&self, severity: Severity, code: &'static str, message: &str, problems: &mut Problems) {
        problems.push(Problem::new(severity, code, self.at, 0, format!("line {}: {message}", self.line)));
    }
}

/// Times of day, which begin anew at midnight.
#[derive(Debug, Default)]
pub(super) struct DayClock {
    last: Option<Time>,
    days: i64,
}

impl DayClock {
    /// The time since the midnight before the first one.
    pub(super) fn at(&mut self, time: Time) -> Time {
        if self.last.is_some_and(|last| last.since(time) > DAY / 2) {
            self.days = self.days.saturating_add(1);
        }
        self.last = Some(time);
        time.plus(self.days.saturating_mul(DAY))
    }
}

/// Text in a message: what there is of it, cut where it gets long.
pub(super) fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell.get(..LONGEST_SHOWN).unwrap_or(cell));
    format!("{text:?}{}", if cell.len() > LONGEST_SHOWN { "…" } else { "" })
}

pub(super) const DAY: i64 = 86_400_000_000_000;
/// How long the first line may be.
const LONGEST_HEADER: usize = 1 << 20;
const LONGEST_SHOWN: usize = 40;

#[cfg(test)]
mod tests {
    use super::{DAY, DayClock, Table, shown};
    use logpose_core::Time;

    #[test]
    fn days_go_on_behind_midnight() {
        let mut clock = DayClock::default();
        let at = |clock: &mut DayClock, ms: i64| clock.at(Time::from_millis(ms)).nanos();
        assert_eq!(at(&mut clock, 86_399_900), DAY - 100_000_000);
        assert_eq!(at(&mut clock, 100), DAY + 100_000_000);
        // A small step back is one.
        assert_eq!(at(&mut clock, 90), DAY + 90_000_000);
        assert_eq!(at(&mut clock, 86_399_900), 2 * DAY - 100_000_000);
        assert_eq!(at(&mut clock, 0), 2 * DAY);
    }

    #[test]
    fn only_text_has_names() {
        assert_eq!(Table::new(b"\xef\xbb\xbfa; b;\r\n1;2;\n", b';', false).names(), Some(vec!["a", "b", ""]));
        assert_eq!(Table::new(b"\"a\",b\n", b',', true).names(), Some(vec!["a", "b"]));
        for garbage in [&b""[..], b"\n1", b"\xff\xfe", b"a\0b;c"] {
            assert_eq!(Table::new(garbage, b';', false).names(), None);
        }
    }

    #[test]
    fn long_cells_are_cut_in_messages() {
        assert_eq!(shown(b"x\"y"), "\"x\\\"y\"");
        assert_eq!(shown(&[b'x'; 100]).chars().count(), 43);
    }
}
