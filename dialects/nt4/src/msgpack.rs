//! The part of MessagePack that NetworkTables needs: everything can be read past, and what values are made of can be
//! written.

use logpose_core::{Cursor, Truncated};

use crate::error::{Error, ErrorKind};

/// One MessagePack element, borrowed from the bytes it was read from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    /// Nothing.
    Nil,
    /// True or false.
    Boolean(bool),
    /// An integer of any width and sign that an `i64` holds.
    Int(i64),
    /// An unsigned integer beyond that.
    Uint(u64),
    /// A binary32 number.
    Float(f32),
    /// A binary64 number.
    Double(f64),
    /// Text; it should be UTF-8 and is not checked.
    Str(&'a [u8]),
    /// Bytes.
    Bin(&'a [u8]),
    /// Elements in a row.
    Array(Items<'a>),
    /// Keys and values in turn.
    Map(Items<'a>),
    /// An application's own type.
    Ext(i8, &'a [u8]),
}

/// The elements of an array or map, packed. They were all walked over once, so every one of them is whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Items<'a> {
    count: usize,
    bytes: &'a [u8],
}

impl<'a> Item<'a> {
    /// Reads one element, with all that is in it.
    pub fn parse(cur: &mut Cursor<'a>) -> Result<Self, Error> {
        match Head::parse(cur)? {
            Head::Whole(item) => Ok(item),
            Head::Array(count) => Ok(Self::Array(Items::parse(cur, count.into())?)),
            Head::Map(count) => Ok(Self::Map(Items::parse(cur, u64::from(count) * 2)?)),
        }
    }

    /// What it is, for people.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Boolean(_) => "a bool",
            Self::Int(_) => "an int",
            Self::Uint(_) => "an int beyond 63 bits",
            Self::Float(_) => "a float 32",
            Self::Double(_) => "a float 64",
            Self::Str(_) => "a str",
            Self::Bin(_) => "a bin",
            Self::Array(_) => "an array",
            Self::Map(_) => "a map",
            Self::Ext(..) => "an ext",
        }
    }
}

impl<'a> Items<'a> {
    /// Walks over `count` elements and what is inside them, without recursion.
    fn parse(cur: &mut Cursor<'a>, count: u64) -> Result<Self, Error> {
        let begin = *cur;
        let mut left = count;
        while left > 0 {
            // Counts are claims: every element has at least one byte.
            if left > cur.rest().len() as u64 {
                let (at, needed) = (cur.offset(), left);
                return Err(Truncated { at, what: "elements", needed, left: cur.rest().len() as u64 }.into());
            }
            left -= 1;
            match Head::parse(cur)? {
                Head::Whole(_) => {}
                Head::Array(n) => left += u64::from(n),
                Head::Map(n) => left += u64::from(n) * 2,
            }
        }
        let bytes = begin.rest().get(..begin.rest().len() - cur.rest().len()).unwrap_or_default();
        Ok(Self { count: usize::try_from(count).unwrap_or(usize::MAX), bytes })
    }

    /// How many there are; of a map, keys and values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The elements, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Item<'a>> + use<'a> {
        let mut cur = Cursor::new(self.bytes, 0);
        (0..self.count).map_while(move |_| Item::parse(&mut cur).ok())
    }
}

/// The beginning of an element: all of it, unless it holds others.
enum Head<'a> {
    Whole(Item<'a>),
    Array(u32),
    Map(u32),
}

impl<'a> Head<'a> {
    #[inline]
    fn parse(cur: &mut Cursor<'a>) -> Result<Self, Error> {
        let at = cur.offset();
        let byte = cur.u8("element")?;
        Ok(Self::Whole(match byte {
            0x00..=0x7f => Item::Int(byte.into()),
            0x80..=0x8f => return Ok(Self::Map((byte & 0xf).into())),
            0x90..=0x9f => return Ok(Self::Array((byte & 0xf).into())),
            0xa0..=0xbf => Item::Str(cur.take((byte & 0x1f).into(), "str")?),
            0xc0 => Item::Nil,
            0xc1 => return Err(Error::new(at, ErrorKind::Reserved)),
            0xc2 => Item::Boolean(false),
            0xc3 => Item::Boolean(true),
            0xc4..=0xc6 => {
                let length = length(cur, byte - 0xc4, "bin length")?;
                Item::Bin(cur.take(length.into(), "bin")?)
            }
            0xc7..=0xc9 => {
                let length = length(cur, byte - 0xc7, "ext length")?;
                ext(cur, length)?
            }
            0xca => Item::Float(f32::from_be_bytes(*cur.array("float 32")?)),
            0xcb => Item::Double(f64::from_be_bytes(*cur.array("float 64")?)),
            0xcc => Item::Int(cur.u8("uint 8")?.into()),
            0xcd => Item::Int(cur.u16_be("uint 16")?.into()),
            0xce => Item::Int(u32::from_be_bytes(*cur.array("uint 32")?).into()),
            0xcf => {
                let number = cur.u64_be("uint 64")?;
                i64::try_from(number).map_or(Item::Uint(number), Item::Int)
            }
            0xd0 => Item::Int(i8::from_be_bytes(*cur.array("int 8")?).into()),
            0xd1 => Item::Int(i16::from_be_bytes(*cur.array("int 16")?).into()),
            0xd2 => Item::Int(i32::from_be_bytes(*cur.array("int 32")?).into()),
            0xd3 => Item::Int(i64::from_be_bytes(*cur.array("int 64")?)),
            0xd4..=0xd8 => ext(cur, 1 << (byte - 0xd4))?,
            0xd9..=0xdb => {
                let length = length(cur, byte - 0xd9, "str length")?;
                Item::Str(cur.take(length.into(), "str")?)
            }
            0xdc | 0xdd => return Ok(Self::Array(length(cur, byte - 0xdb, "array length")?)),
            0xde | 0xdf => return Ok(Self::Map(length(cur, byte - 0xdd, "map length")?)),
            0xe0..=0xff => Item::Int(byte.cast_signed().into()),
        }))
    }
}

/// A length of one, two or four bytes.
fn length(cur: &mut Cursor<'_>, width: u8, what: &'static str) -> Result<u32, Truncated> {
    Ok(match width {
        0 => cur.u8(what)?.into(),
        1 => cur.u16_be(what)?.into(),
        _ => u32::from_be_bytes(*cur.array(what)?),
    })
}

fn ext<'a>(cur: &mut Cursor<'a>, length: u32) -> Result<Item<'a>, Truncated> {
    let kind = cur.u8("ext type")?.cast_signed();
    Ok(Item::Ext(kind, cur.take(length.into(), "ext")?))
}

/// Appends an integer in the fewest bytes, as unsigned where it is not negative.
pub(crate) fn put_int(number: i64, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let [.., d, c, b, a] = bytes;
    match number {
        -32..=127 => out.push(a),
        128..=0xff => out.extend_from_slice(&[0xcc, a]),
        0x100..=0xffff => out.extend_from_slice(&[0xcd, b, a]),
        0x1_0000..=0xffff_ffff => out.extend_from_slice(&[0xce, d, c, b, a]),
        0x1_0000_0000.. => {
            out.push(0xcf);
            out.extend_from_slice(&bytes);
        }
        -0x80..=-33 => out.extend_from_slice(&[0xd0, a]),
        -0x8000..=-0x81 => out.extend_from_slice(&[0xd1, b, a]),
        -0x8000_0000..=-0x8001 => out.extend_from_slice(&[0xd2, d, c, b, a]),
        ..=-0x8000_0001 => {
            out.push(0xd3);
            out.extend_from_slice(&bytes);
        }
    }
}

pub(crate) fn put_bool(value: bool, out: &mut Vec<u8>) {
    out.push(if value { 0xc3 } else { 0xc2 });
}

pub(crate) fn put_float(number: f32, out: &mut Vec<u8>) {
    out.push(0xca);
    out.extend_from_slice(&number.to_be_bytes());
}

pub(crate) fn put_double(number: f64, out: &mut Vec<u8>) {
    out.push(0xcb);
    out.extend_from_slice(&number.to_be_bytes());
}

pub(crate) fn put_str(text: &[u8], out: &mut Vec<u8>) {
    put_length(text.len(), Some((0xa0, 31)), [Some(0xd9), Some(0xda), Some(0xdb)], out);
    out.extend_from_slice(text);
}

pub(crate) fn put_bin(bytes: &[u8], out: &mut Vec<u8>) {
    put_length(bytes.len(), None, [Some(0xc4), Some(0xc5), Some(0xc6)], out);
    out.extend_from_slice(bytes);
}

/// Appends the beginning of an array; its elements follow.
pub(crate) fn put_array(count: usize, out: &mut Vec<u8>) {
    put_length(count, Some((0x90, 15)), [None, Some(0xdc), Some(0xdd)], out);
}

/// Appends the beginning of a map; its keys and values follow in turn.
pub(crate) fn put_map(count: usize, out: &mut Vec<u8>) {
    put_length(count, Some((0x80, 15)), [None, Some(0xde), Some(0xdf)], out);
}

/// A length inside the first byte, or behind it in one, two or four bytes.
#[expect(clippy::cast_possible_truncation, reason = "every width is checked before it is used")]
fn put_length(n: usize, inside: Option<(u8, usize)>, widths: [Option<u8>; 3], out: &mut Vec<u8>) {
    match (inside, widths) {
        (Some((first, most)), _) if n <= most => out.push(first | n as u8),
        (_, [Some(first), ..]) if n <= 0xff => out.extend_from_slice(&[first, n as u8]),
        (_, [_, Some(first), _]) if n <= 0xffff => {
            out.push(first);
            out.extend_from_slice(&(n as u16).to_be_bytes());
        }
        (_, [.., last]) => {
            // Values are bounded long before 4 GiB: a message of that size is refused by every peer.
            out.push(last.unwrap_or(0xc6));
            out.extend_from_slice(&(n as u32).to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use logpose_core::Cursor;

    use super::*;

    fn parsed(bytes: &[u8]) -> Item<'_> {
        let mut cur = Cursor::new(bytes, 0);
        let item = Item::parse(&mut cur).unwrap();
        assert!(cur.is_empty(), "{bytes:02x?}");
        item
    }

    #[test]
    fn every_width_of_an_integer_is_read() {
        let cases: [(&[u8], i64); 14] = [
            (&[0x00], 0),
            (&[0x7f], 127),
            (&[0xff], -1),
            (&[0xe0], -32),
            (&[0xcc, 0x05], 5),
            (&[0xcd, 0, 5], 5),
            (&[0xce, 0, 0, 0, 5], 5),
            (&[0xcf, 0, 0, 0, 0, 0, 0, 0, 5], 5),
            (&[0xd0, 0x80], -128),
            (&[0xd1, 0x80, 0], -32768),
            (&[0xd2, 0x07, 0x27, 0x0e, 0x00], 120_000_000),
            (&[0xd2, 0x80, 0, 0, 0], -2_147_483_648),
            (&[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0], i64::MIN),
            (&[0xcf, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], i64::MAX),
        ];
        for (bytes, number) in cases {
            assert_eq!(parsed(bytes), Item::Int(number), "{bytes:02x?}");
        }
        assert_eq!(parsed(&[0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0]), Item::Uint(1 << 63));
    }

    #[test]
    fn integers_are_written_in_the_fewest_bytes() {
        let cases: [(i64, &[u8]); 18] = [
            (0, &[0]),
            (127, &[0x7f]),
            (128, &[0xcc, 0x80]),
            (255, &[0xcc, 0xff]),
            (256, &[0xcd, 1, 0]),
            (65535, &[0xcd, 0xff, 0xff]),
            (65536, &[0xce, 0, 1, 0, 0]),
            (0xffff_ffff, &[0xce, 0xff, 0xff, 0xff, 0xff]),
            (0x1_0000_0000, &[0xcf, 0, 0, 0, 1, 0, 0, 0, 0]),
            (i64::MAX, &[0xcf, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            (-1, &[0xff]),
            (-32, &[0xe0]),
            (-33, &[0xd0, 0xdf]),
            (-128, &[0xd0, 0x80]),
            (-129, &[0xd1, 0xff, 0x7f]),
            (-32768, &[0xd1, 0x80, 0]),
            (-32769, &[0xd2, 0xff, 0xff, 0x7f, 0xff]),
            (-2_147_483_649, &[0xd3, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]),
        ];
        for (number, bytes) in cases {
            let mut out = Vec::new();
            put_int(number, &mut out);
            assert_eq!(out, bytes, "{number}");
            assert_eq!(parsed(&out), Item::Int(number));
        }
    }

    #[test]
    fn lengths_take_the_width_that_they_need() {
        for n in [0, 15, 16, 31, 32, 255, 256, 65535, 65536] {
            let bytes = vec![b'x'; n];
            let mut out = Vec::new();
            put_str(&bytes, &mut out);
            assert_eq!(parsed(&out), Item::Str(&bytes));
            out.clear();
            put_bin(&bytes, &mut out);
            assert_eq!(parsed(&out), Item::Bin(&bytes));
            out.clear();
            put_array(n, &mut out);
            out.extend(std::iter::repeat_n(0x01, n));
            let Item::Array(items) = parsed(&out) else { panic!("{n}") };
            assert_eq!((items.len(), items.iter().count()), (n, n));
            out.clear();
            put_map(n, &mut out);
            out.extend(std::iter::repeat_n(0x01, 2 * n));
            assert!(matches!(parsed(&out), Item::Map(items) if items.len() == 2 * n));
        }
        let first = |n: usize, put: fn(usize, &mut Vec<u8>)| {
            let mut out = Vec::new();
            put(n, &mut out);
            out
        };
        assert_eq!(first(15, put_array), [0x9f]);
        assert_eq!(first(16, put_array), [0xdc, 0, 16]);
        assert_eq!(first(65536, put_array), [0xdd, 0, 1, 0, 0]);
        assert_eq!(first(3, put_map), [0x83]);
    }

    #[test]
    fn what_no_value_is_made_of_can_still_be_walked_over() {
        let bytes =
            b"\xc0\x82\xa1a\x91\xc0\xa1b\x81\x01\xc3\xd4\x05x\xd8\x06xxxxxxxxxxxxxxxx\xc7\x02\xffxy\xca\x3f\x80\0\0";
        let mut cur = Cursor::new(bytes, 0);
        let mut names = Vec::new();
        while !cur.is_empty() {
            names.push(Item::parse(&mut cur).unwrap().name());
        }
        assert_eq!(names, ["nil", "a map", "an ext", "an ext", "an ext", "a float 32"]);
    }

    #[test]
    fn counts_and_lengths_are_claims() {
        let bad: [&[u8]; 8] = [
            &[0xdd, 0xff, 0xff, 0xff, 0xff, 1],
            &[0xdf, 0xff, 0xff, 0xff, 0xff],
            &[0xdb, 0xff, 0xff, 0xff, 0xff, b'x'],
            &[0xc6, 0x7f, 0xff, 0xff, 0xff],
            &[0xc9, 0xff, 0xff, 0xff, 0xff, 1],
            &[0x92, 1],
            &[0xc1],
            &[],
        ];
        for bytes in bad {
            assert!(Item::parse(&mut Cursor::new(bytes, 0)).is_err(), "{bytes:02x?}");
        }
        // A deep nest costs no stack.
        let deep = vec![0x91; 1 << 20];
        assert!(Item::parse(&mut Cursor::new(&deep, 0)).is_err());
        let whole = [deep, vec![0xc0]].concat();
        assert_eq!(parsed(&whole).name(), "an array");
    }
}
