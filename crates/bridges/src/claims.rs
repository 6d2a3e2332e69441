//! How much can come out of compressed bytes at most, so that no memory is taken for what a file only claims.

use logpose_core::Cursor;

/// What a byte of LZ4 becomes at most.
pub(crate) const LZ4: u64 = 255;

/// What can come out of a stream of zstd at most: its blocks are walked, not decompressed.
pub(crate) fn zstd(bytes: &[u8]) -> u64 {
    let mut cur = Cursor::new(bytes, 0);
    let mut most = 0;
    while frame(&mut cur, &mut most).is_some() {}
    most
}

/// Walks over one frame and adds what its blocks can hold.
fn frame(cur: &mut Cursor<'_>, most: &mut u64) -> Option<()> {
    cur.u32_le("magic").ok().filter(|magic| *magic == MAGIC)?;
    let about = cur.u8("frame header descriptor").ok()?;
    let single = u64::from(about >> 5 & 1);
    let window = 1 - single;
    let dictionary = [0, 1, 2, 4].get(usize::from(about & 3))?;
    let size = match about >> 6 {
        0 => single,
        width => 1 << width,
    };
    cur.take(window + dictionary + size, "frame header").ok()?;
    loop {
        let head = cur.uint_le(3, "block header").ok()?;
        let size = head >> 3;
        let (packed, unpacked) = match head >> 1 & 3 {
            0 => (size, size),
            1 => (1, size),
            2 => (size, BLOCK),
            _ => return None,
        };
        *most += unpacked.min(BLOCK);
        cur.take(packed, "block").ok()?;
        if head & 1 == 1 {
            break;
        }
    }
    if about & 4 != 0 {
        cur.take(4, "checksum").ok()?;
    }
    Some(())
}

const MAGIC: u32 = 0xfd2f_b528;
/// The most that a block of zstd becomes.
pub(crate) const BLOCK: u64 = 128 << 10;

#[cfg(test)]
mod tests {
    use super::{BLOCK, zstd};

    #[test]
    fn blocks_say_how_much_they_hold() {
        let frame = |about: &[u8], blocks: &[u8]| [&[0x28, 0xb5, 0x2f, 0xfd], about, blocks].concat();
        let raw = [0x19, 0, 0, b'a', b'b', b'c'];
        // A window and a checksum; one segment, whose size has one byte; a dictionary and a size of eight bytes.
        assert_eq!(zstd(&frame(&[0x04, 0x58], &[&raw[..], &[1, 2, 3, 4]].concat())), 3);
        assert_eq!(zstd(&frame(&[0x20, 3], &raw)), 3);
        assert_eq!(zstd(&frame(&[0xe1, 7, 3, 0, 0, 0, 0, 0, 0, 0], &raw)), 3);
        // A byte that repeats, and a compressed block behind it; then another frame.
        let run = [0x82, 0x3e, 0, 0];
        let compressed = [0x15, 0, 0, 9, 9];
        let two = frame(&[0, 0x58], &[&run[..], &compressed].concat());
        assert_eq!(zstd(&two), 2000 + BLOCK);
        assert_eq!(zstd(&[&two[..], &two].concat()), 2 * (2000 + BLOCK));
        // No block is larger, whatever it says, and what is cut or no frame holds nothing.
        assert_eq!(zstd(&frame(&[0, 0x58], &[0xfb, 0xff, 0xff, 0])), BLOCK);
        assert_eq!([zstd(b""), zstd(b"no frame"), zstd(&two[..5])], [0; 3]);
    }
}
