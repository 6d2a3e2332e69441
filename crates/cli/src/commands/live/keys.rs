//! Keyboard input during live commands.

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use logpose_live::player::Control;

/// Reads single key presses until dropped, if enabled.
pub(in crate::commands) struct Keys {
    raw: bool,
}

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::commands) enum Key {
    /// A command for the player.
    Control(Control),
    /// Multiply the speed by this.
    Faster(f64),
    /// Back to the start.
    Home,
}

impl Keys {
    pub(in crate::commands) fn new(wanted: bool) -> Self {
        Self { raw: wanted && enable_raw_mode().is_ok() }
    }

    /// The next key with a meaning for the player, if one is pressed within `wait`.
    pub(in crate::commands) fn next(&self, patience: Duration) -> Option<Key> {
        self.press(patience).and_then(|(code, modifiers)| meaning(code, modifiers))
    }

    /// The next key, if one is pressed within `wait`.
    pub(in crate::commands) fn press(&self, patience: Duration) -> Option<(KeyCode, KeyModifiers)> {
        if !self.raw {
            std::thread::sleep(patience);
            return None;
        }
        if !poll(patience).ok()? {
            return None;
        }
        let Event::Key(event) = read().ok()? else { return None };
        if event.kind == KeyEventKind::Release {
            return None;
        }
        Some((event.code, event.modifiers))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if self.raw {
            let _ = disable_raw_mode();
        }
    }
}

fn meaning(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    let second = 1_000_000_000;
    let jump = if modifiers.contains(KeyModifiers::SHIFT) { 30 * second } else { 5 * second };
    Some(match code {
        KeyCode::Char(' ') => Key::Control(Control::Toggle),
        KeyCode::Left => Key::Control(Control::SeekBy(-jump)),
        KeyCode::Right => Key::Control(Control::SeekBy(jump)),
        KeyCode::Char(',') => Key::Control(Control::Step(-1)),
        KeyCode::Char('.') => Key::Control(Control::Step(1)),
        KeyCode::Char('+' | '=') | KeyCode::Up => Key::Faster(2.0),
        KeyCode::Char('-') | KeyCode::Down => Key::Faster(0.5),
        KeyCode::Char('1') => Key::Control(Control::Rate(1.0)),
        KeyCode::Home => Key::Home,
        KeyCode::Char('q') | KeyCode::Esc => Key::Control(Control::Quit),
        KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => Key::Control(Control::Quit),
        _ => return None,
    })
}

/// Shown when key input is active.
pub(in crate::commands) const HELP: &str =
    "space pauses, left/right seek 5 s (shift: 30 s), comma/dot step, + - 1 set the speed, Home restarts, q quits";

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyModifiers};
    use logpose_live::player::Control;

    use super::{Key, meaning};

    #[test]
    fn keys_mean_what_the_help_says() {
        let plain = |code| meaning(code, KeyModifiers::NONE);
        assert_eq!(plain(KeyCode::Char(' ')), Some(Key::Control(Control::Toggle)));
        assert_eq!(plain(KeyCode::Left), Some(Key::Control(Control::SeekBy(-5_000_000_000))));
        assert_eq!(meaning(KeyCode::Right, KeyModifiers::SHIFT), Some(Key::Control(Control::SeekBy(30_000_000_000))));
        assert_eq!(plain(KeyCode::Char('.')), Some(Key::Control(Control::Step(1))));
        assert_eq!(plain(KeyCode::Char('+')), Some(Key::Faster(2.0)));
        assert_eq!(meaning(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Control(Control::Quit)));
        assert_eq!(plain(KeyCode::Char('c')), None);
    }
}
