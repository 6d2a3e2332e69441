use plotters_backend::BackendColor;

/// A colour, red, green and blue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Color(pub u8, pub u8, pub u8);

/// The colours of Okabe and Ito, in the order in which series get them: neighbours differ in brightness too.
pub const PALETTE: [Color; 8] = [
    Color(0, 114, 178),
    Color(213, 94, 0),
    Color(0, 158, 115),
    Color(204, 121, 167),
    Color(230, 159, 0),
    Color(86, 180, 233),
    Color(0, 0, 0),
    Color(187, 174, 0),
];

impl Color {
    pub(crate) const BLACK: Self = Self(0, 0, 0);
    pub(crate) const WHITE: Self = Self(255, 255, 255);
    pub(crate) const TEXT: Self = Self(34, 34, 34);
    pub(crate) const FAINT: Self = Self(110, 110, 110);
    pub(crate) const FRAME: Self = Self(150, 150, 150);
    pub(crate) const GRID: Self = Self(228, 228, 228);

    /// The colour of the `n`-th series. From the ninth on they repeat, darker and then lighter.
    pub(crate) fn of(n: usize) -> Self {
        let color = PALETTE.get(n % PALETTE.len()).copied().unwrap_or(Self::BLACK);
        match n / PALETTE.len() % 3 {
            0 => color,
            1 => color.mix(Self::BLACK, 0.45),
            _ => color.mix(Self::WHITE, 0.45),
        }
    }

    /// This colour with a share of another one.
    #[must_use]
    pub fn mix(self, other: Self, share: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes lies a byte")]
        let mix = |a: u8, b: u8| (f64::from(a) * (1.0 - share) + f64::from(b) * share).round() as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// How bright it looks, from 0 to 1.
    pub(crate) fn brightness(self) -> f64 {
        (0.299 * f64::from(self.0) + 0.587 * f64::from(self.1) + 0.114 * f64::from(self.2)) / 255.0
    }

    pub(crate) fn with_alpha(self, alpha: f64) -> BackendColor {
        BackendColor { alpha, rgb: (self.0, self.1, self.2) }
    }
}

impl From<BackendColor> for Color {
    fn from(color: BackendColor) -> Self {
        let (r, g, b) = color.rgb;
        Self(r, g, b)
    }
}
