use std::fmt;

/// Bytes as specifications write them: the whole of a few, the beginning of many.
#[derive(Clone, Copy, Debug)]
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().take(SHOWN).enumerate() {
            write!(f, "{}{byte:02x}", if i > 0 { " " } else { "" })?;
        }
        f.write_str(if self.0.len() > SHOWN { " …" } else { "" })
    }
}

/// Bytes that are shown.
const SHOWN: usize = 32;
