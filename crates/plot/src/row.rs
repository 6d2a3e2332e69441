use crate::trace::column;

/// Truth values, texts or names of states over time: stretches of colour.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is called.
    pub name: String,
    start: f64,
    end: f64,
    columns: usize,
    spans: Vec<Span>,
    now: Option<(f64, String)>,
    /// The column of the last span that was kept, and how many began in it.
    crowd: (usize, u8),
}

/// A stretch of one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) label: String,
}

impl Row {
    /// A row for a range of seconds and a picture that many pixels wide.
    #[must_use]
    pub fn new(name: impl Into<String>, range: (f64, f64), columns: u32) -> Self {
        let (start, end) = range;
        let columns = columns.max(1) as usize;
        Self { name: name.into(), start, end, columns, spans: Vec::new(), now: None, crowd: (usize::MAX, 0) }
    }

    /// Says what the value is from `time` on. Times must not go back.
    pub fn push(&mut self, time: f64, label: &str) {
        let known =
            self.now.as_ref().is_some_and(|(_, now)| now == label || now.len() >= LONGEST && label.starts_with(&**now));
        if known || time > self.end {
            return;
        }
        self.close(time);
        let cut = label.floor_char_boundary(LONGEST);
        self.now = Some((time, label.get(..cut).unwrap_or_default().to_owned()));
    }

    /// Says that nothing more comes; the last value holds until `time`.
    pub fn finish(&mut self, time: f64) {
        self.close(time.min(self.end));
        self.now = None;
    }

    /// Whether nothing of it lies in the range.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    fn close(&mut self, end: f64) {
        let Some((start, label)) = self.now.take() else { return };
        if end < self.start {
            return;
        }
        let start = start.max(self.start);
        let place = column(start, (self.start, self.end), self.columns);
        let begun = if self.crowd.0 == place { self.crowd.1 } else { 0 };
        // More than three changes in one column of pixels cannot be distinguished.
        if begun < 3 || column(end, (self.start, self.end), self.columns) > place {
            self.crowd = (place, begun.saturating_add(1));
            self.spans.push(Span { start, end, label });
        }
    }
}

/// Bytes of a text that are kept: more does not fit into any row.
const LONGEST: usize = 160;

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn equal_values_are_one_span_and_flicker_is_bounded() {
        let mut row = Row::new("x", (0.0, 10.0), 100);
        row.push(-5.0, "a");
        row.push(1.0, "a");
        row.push(2.0, "b");
        row.finish(20.0);
        let spans: Vec<_> = row.spans().iter().map(|span| (span.start, span.end, &*span.label)).collect();
        assert_eq!(spans, [(0.0, 2.0, "a"), (2.0, 10.0, "b")]);

        let mut row = Row::new("x", (0.0, 10.0), 100);
        (0..1_000_000).for_each(|i| row.push(f64::from(i) * 1e-5, if i % 2 == 0 { "true" } else { "false" }));
        row.finish(10.0);
        assert!(row.spans().len() <= 400);
    }

    #[test]
    fn a_short_pulse_stays() {
        let mut row = Row::new("x", (0.0, 10.0), 100);
        [(0.0, "false"), (5.0, "true"), (5.000_001, "false")]
            .into_iter()
            .for_each(|(time, label)| row.push(time, label));
        row.finish(10.0);
        assert!(row.spans().iter().any(|span| span.label == "true"));
    }
}
