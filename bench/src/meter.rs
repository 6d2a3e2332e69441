//! What a job costs besides time: memory and allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;

/// The system's allocator, with a counter.
#[derive(Debug)]
pub struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

#[expect(unsafe_code, reason = "an allocator can only be watched by being one")]
// SAFETY: every call goes on to the system's allocator as it came; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from `System`, because all blocks here do.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as in `alloc`. Not left to the default, which would write the zeros itself: the system has zeroed
        // pages for nothing.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as in `dealloc`.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// Allocations so far, those that made a block larger among them. Always 0 in a program without [`Counting`].
#[must_use]
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// Memory of this process, in bytes; all 0 where the system does not report it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// The most that was resident at any time, mapped files among it.
    pub peak: u64,
    /// What is resident now and is no file.
    pub anonymous: u64,
}

impl Memory {
    /// Asks the system.
    #[must_use]
    pub fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let bytes = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()).map_or(0, |kb| kb * 1024)
        };
        Self { peak: bytes("VmHWM:"), anonymous: bytes("RssAnon:") }
    }
}

/// Maps a file, as `crates/files` does.
#[expect(unsafe_code, reason = "a mapped file is what is measured")]
pub fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: the map is only read, and nobody writes the inputs of a benchmark while it runs.
    unsafe { Mmap::map(&file) }
}
