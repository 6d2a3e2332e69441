use anstyle::Style;

use crate::screen::HEAD;

/// Width of the label before a number.
pub(super) const LABEL: usize = 10;

/// Styled pieces of text.
pub(super) struct Line(Vec<(Option<Style>, String)>);

impl Line {
    pub(super) fn of(style: Option<Style>, text: String) -> Self {
        Self(vec![(style, text)])
    }

    pub(super) fn label(text: &str) -> Self {
        Self::of(Some(HEAD), format!("{text:<LABEL$}"))
    }

    pub(super) fn add(&mut self, style: Option<Style>, text: &str) {
        if !text.is_empty() {
            self.0.push((style, text.to_owned()));
        }
    }

    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// The line cut to a width, with or without color.
    pub(super) fn painted(&self, columns: usize, color: bool) -> String {
        let mut line = String::new();
        let mut left = columns;
        for (style, text) in &self.0 {
            let part: String = text.chars().take(left).collect();
            left -= part.chars().count();
            match style.filter(|_| color && !part.is_empty()) {
                Some(style) => line.push_str(&format!("{style}{part}{style:#}")),
                None => line.push_str(&part),
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}
