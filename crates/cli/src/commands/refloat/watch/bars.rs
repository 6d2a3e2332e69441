//! Bars made of block characters.

/// A bar that grows from the left; 1 is full.
pub(super) fn filled(share: f64, width: usize) -> String {
    let eighths = eighths(share, width);
    let mut bar = blocks(eighths);
    let used = bar.chars().count();
    bar.extend(std::iter::repeat_n('░', width.saturating_sub(used)));
    bar
}

/// A bar that grows from the middle, to the left for negative values; 1 fills half of it.
pub(super) fn centred(share: f64, width: usize) -> String {
    let half = width.saturating_sub(1) / 2;
    let eighths = eighths(share.abs(), half);
    let (left, right) = if share < 0.0 {
        // Partial blocks start at the left of their cell, so this side can only use full blocks.
        ("█".repeat((eighths + 4) / 8), String::new())
    } else {
        (String::new(), blocks(eighths))
    };
    format!("{left:>half$}│{right:<half$}")
}

/// The scale of a current bar, a round number of amperes.
pub(super) fn scale(largest: f64) -> f64 {
    let steps = [20.0, 50.0, 100.0, 200.0, 500.0];
    steps.into_iter().find(|step| largest <= *step).unwrap_or(1000.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a bar is short"
)]
fn eighths(share: f64, width: usize) -> usize {
    // NaN is an empty bar.
    (share.clamp(0.0, 1.0) * (width * 8) as f64).round() as usize
}

fn blocks(eighths: usize) -> String {
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"].get(eighths % 8).copied().unwrap_or_default();
    format!("{}{part}", "█".repeat(eighths / 8))
}

#[cfg(test)]
mod tests {
    use super::{centred, filled, scale};

    #[test]
    fn bars_have_their_width_whatever_they_show() {
        for share in [-9.0, -1.0, -0.5, -0.01, 0.0, 0.01, 0.33, 0.5, 0.99, 1.0, 9.0, f64::NAN, f64::INFINITY] {
            for width in [1, 2, 7, 8, 41] {
                assert_eq!(filled(share, width).chars().count(), width, "{share} in {width}");
                assert_eq!(centred(share, width).chars().count(), (width - 1) / 2 * 2 + 1, "{share} in {width}");
            }
        }
        assert_eq!((filled(0.5, 4), filled(0.3125, 4)), ("██░░".to_owned(), "█▎░░".to_owned()));
        assert_eq!((centred(1.0, 7), centred(-0.34, 7)), ("   │███".to_owned(), "  █│   ".to_owned()));
    }

    #[test]
    fn the_scale_grows_with_what_was_seen() {
        assert_eq!([0.0, 20.0, 21.0, 150.0, 9000.0].map(scale), [20.0, 20.0, 50.0, 200.0, 1000.0]);
    }
}
