use std::io::{self, Stdout, Write};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::style::Print;
use crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, size};
use crossterm::{execute, queue};

use super::face::Face;

/// The alternate screen of the terminal, restored on drop.
pub(super) struct Canvas {
    out: Stdout,
    color: bool,
    /// The lines on the screen.
    drawn: Vec<String>,
    size: (u16, u16),
}

impl Canvas {
    pub(super) fn new(color: bool) -> io::Result<Self> {
        let mut out = io::stdout();
        execute!(out, EnterAlternateScreen, Hide)?;
        Ok(Self { out, color, drawn: Vec::new(), size: (0, 0) })
    }

    /// Draws changed lines.
    pub(super) fn draw(&mut self, face: &Face) -> io::Result<()> {
        // Assume the classic size if the terminal does not report one.
        let now = size().ok().filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or((80, 24));
        if now != self.size {
            self.size = now;
            self.drawn.clear();
            queue!(self.out, Clear(ClearType::All))?;
        }
        let lines = face.lines(now.0.into(), now.1.into(), self.color);
        let rows = lines.len().max(self.drawn.len());
        for row in 0..rows {
            let (new, old) = (lines.get(row), self.drawn.get(row));
            if new != old {
                let text = new.map_or("", String::as_str);
                let place = MoveTo(0, u16::try_from(row).unwrap_or(u16::MAX));
                queue!(self.out, place, Print(text), Clear(ClearType::UntilNewLine))?;
            }
        }
        self.drawn = lines;
        self.out.flush()
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        // Nothing to restore if the terminal is gone.
        let _ = execute!(self.out, Show, LeaveAlternateScreen);
    }
}
