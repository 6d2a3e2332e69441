use logpose_schema::wpistruct::{Bits, Kind, Layout, Scalar};

/// A number or truth value at a fixed place of a struct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// Bytes from the start of the outermost struct.
    pub(crate) offset: usize,
    pub(crate) scalar: Scalar,
    pub(crate) bits: Option<Bits>,
}

/// The first `most` numbers and truth values of a struct, with their paths.
pub(crate) fn fields(layout: &Layout, most: usize) -> Vec<(String, Field)> {
    let mut all = All { most, left: VISITS, found: Vec::new() };
    all.of_struct(layout, "", 0);
    all.found
}

struct All {
    most: usize,
    /// How many more elements are looked at: a few nested arrays of texts can stand for millions.
    left: usize,
    found: Vec<(String, Field)>,
}

impl All {
    fn of_struct(&mut self, layout: &Layout, path: &str, start: usize) {
        for (place, field) in layout.fields.iter().enumerate() {
            // Of two fields of one name a path leads to the first.
            let is_second = layout.fields.iter().take(place).any(|other| other.name == field.name);
            let Some(offset) = start.checked_add(field.offset).filter(|_| !is_second) else { continue };
            let path = format!("{path}.{}", field.name);
            let size = match &field.kind {
                Kind::Scalar(Scalar::Char) => continue,
                Kind::Scalar(scalar) => scalar.size(),
                Kind::Struct(inner) => inner.size,
            };
            let most = self.most;
            let mut one = |path: String, offset: usize| {
                if self.found.len() >= most || self.left == 0 {
                    return;
                }
                self.left -= 1;
                match &field.kind {
                    Kind::Scalar(scalar) => {
                        self.found.push((path, Field { offset, scalar: *scalar, bits: field.bits }));
                    }
                    Kind::Struct(inner) => self.of_struct(inner, &path, offset),
                }
            };
            match field.count {
                None => one(path, offset),
                Some(count) => {
                    for element in 0..count.min(most) {
                        one(format!("{path}[{element}]"), offset + element * size);
                    }
                }
            }
        }
    }
}

const VISITS: usize = 10_000;
