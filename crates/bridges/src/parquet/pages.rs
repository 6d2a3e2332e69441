//! The headers of pages, as far as they say how large pages are.

use logpose_core::Cursor;
use parquet::basic::Compression;

use crate::claims;

/// Looks at the sizes that the pages of a column claim, before memory is taken for them. What is no page header is left to
/// the reader.
pub(super) fn check(column: &[u8], codec: Compression) -> Result<(), String> {
    if codec == Compression::UNCOMPRESSED {
        return Ok(());
    }
    let mut cur = Cursor::new(column, 0);
    while let Some(page) = page(&mut cur) {
        let length = page.bytes.len() as u64;
        let most = match codec {
            // Values of a later version have levels in front, which are not compressed.
            Compression::ZSTD(_) if page.kind != DATA_PAGE_V2 => claims::zstd(page.bytes),
            Compression::SNAPPY => length.saturating_mul(SNAPPY),
            Compression::GZIP(_) => length.saturating_mul(DEFLATE),
            Compression::LZ4 | Compression::LZ4_RAW => length.saturating_mul(claims::LZ4),
            _ => length.saturating_mul(DENSEST),
        };
        if page.claim > most.max(SMALL) {
            return Err(format!("a page of {length} bytes is declared as {}", page.claim));
        }
    }
    Ok(())
}

/// A page: its type, how large it claims to be unpacked, and its bytes.
struct Page<'a> {
    kind: u64,
    claim: u64,
    bytes: &'a [u8],
}

/// The page that the cursor is at.
fn page<'a>(cur: &mut Cursor<'a>) -> Option<Page<'a>> {
    let (mut kind, mut claim, mut packed) = (0, 0, 0);
    fields(cur, DEPTH, &mut |cur, field, ty| {
        let number = match (field, ty) {
            (1, INT) => &mut kind,
            (2, INT) => &mut claim,
            (3, INT) => &mut packed,
            _ => return skip(cur, ty, DEPTH),
        };
        // Numbers have their sign in the lowest bit; none of these is negative.
        *number = varint(cur)? >> 1;
        Some(())
    })?;
    let bytes = cur.take(packed, "page").ok()?;
    Some(Page { kind, claim, bytes })
}

/// Gives the number and the type of every field of a struct to `take`, which reads it.
fn fields<'a>(
    cur: &mut Cursor<'a>,
    depth: u32,
    take: &mut dyn FnMut(&mut Cursor<'a>, u64, u8) -> Option<()>,
) -> Option<()> {
    depth.checked_sub(1)?;
    let mut field: u64 = 0;
    loop {
        let head = cur.u8("field").ok()?;
        if head == 0 {
            return Some(());
        }
        field = match head >> 4 {
            0 => varint(cur)? >> 1,
            step => field.checked_add(step.into())?,
        };
        take(cur, field, head & 15)?;
    }
}

/// Passes over a field of Thrift's compact protocol.
fn skip(cur: &mut Cursor<'_>, ty: u8, depth: u32) -> Option<()> {
    let inner = depth.checked_sub(1)?;
    let count = match ty {
        // The value of a boolean field is its type.
        1 | 2 => 0,
        3 => 1,
        4..=6 => {
            varint(cur)?;
            0
        }
        7 => 8,
        8 => varint(cur)?,
        9 | 10 => {
            let head = cur.u8("list").ok()?;
            let count = if head >> 4 == 15 { varint(cur)? } else { u64::from(head >> 4) };
            for _ in 0..count {
                // In a list a boolean is a byte.
                let ty = if matches!(head & 15, 1 | 2) { 3 } else { head & 15 };
                skip(cur, ty, inner)?;
            }
            0
        }
        12 => {
            fields(cur, depth, &mut |cur, _, ty| skip(cur, ty, inner))?;
            0
        }
        // No header of a page has a map.
        _ => return None,
    };
    cur.take(count, "value").ok()?;
    Some(())
}

/// A number in groups of seven bits.
fn varint(cur: &mut Cursor<'_>) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = cur.u8("number").ok()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Of an `i32`.
const INT: u8 = 5;
const DATA_PAGE_V2: u64 = 3;
/// Structs in structs that are followed.
const DEPTH: u32 = 8;
/// What a page may claim whatever its size.
const SMALL: u64 = 1 << 20;
/// What a byte becomes at most: three bytes of Snappy are 64, deflate has its bound from its format, and no codec does
/// better than a block of zstd with its header of three bytes.
const SNAPPY: u64 = 32;
const DEFLATE: u64 = 1032;
const DENSEST: u64 = claims::BLOCK / 3;

#[cfg(test)]
mod tests {
    use super::check;
    use parquet::basic::{Compression, GzipLevel, ZstdLevel};

    #[test]
    fn pages_are_as_large_as_their_bytes_can_be() {
        let varint = |mut number: u64| {
            let mut bytes = Vec::new();
            while number >= 0x80 {
                bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
                number >>= 7;
            }
            bytes.push(u8::try_from(number).unwrap());
            bytes
        };
        // Besides the sizes a checksum, and a header of its kind with statistics and a list.
        let page = |claim: u64, body: &[u8]| {
            let front =
                [vec![0x15, 0, 0x15], varint(claim << 1), vec![0x15], varint((body.len() as u64) << 1)].concat();
            let rest = [0x15, 2, 0x1c, 0x15, 8, 0x1c, 0x18, 1, b'x', 0, 0x19, 0x25, 2, 4, 0x11, 0, 0];
            [&front[..], &rest, body].concat()
        };
        let sound = page(9000, &[7; 100]);
        let gzip = Compression::GZIP(GzipLevel::default());
        for (claim, codec, fits) in [
            (1 << 20, gzip, true),
            (2 << 20, gzip, false),
            ((1 << 31) - 1, Compression::SNAPPY, false),
            ((1 << 31) - 1, Compression::ZSTD(ZstdLevel::default()), false),
            (4 << 20, Compression::LZ4_RAW, false),
            ((1 << 31) - 1, Compression::UNCOMPRESSED, true),
        ] {
            let column = [&sound[..], &page(claim, &[7; 1000]), &sound].concat();
            assert_eq!(check(&column, codec).is_ok(), fits, "{claim} {codec:?}");
            // What is cut says nothing more.
            assert!(check(&column[..sound.len() + 5], codec).is_ok());
        }
        assert!(check(&[0x15; 100], gzip).is_ok() && check(&[], gzip).is_ok() && check(&[0x1c; 5000], gzip).is_ok());
    }
}
