//! Threads and memory for dialects, which start and ask for none themselves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many threads `0` means.
pub fn count(asked: usize) -> usize {
    match asked {
        0 => thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

/// Runs both side by side. Without a second thread, one after the other.
pub(crate) fn join(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    let started = thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, &mut *a);
        b();
        thread.is_ok()
    });
    if !started {
        a();
    }
}

/// Does `count` pieces of work on `threads` threads, each piece by whoever is free; the results stand in the order
/// of the pieces.
pub fn map<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= count {
                return done;
            }
            done.push((piece, work(piece)));
        }
    };
    let mut all = thread::scope(|scope| {
        let helpers = (1..threads.min(count)).filter_map(|_| thread::Builder::new().spawn_scoped(scope, take).ok());
        let helpers: Vec<_> = helpers.collect();
        let mut all = take();
        for helper in helpers {
            match helper.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(piece, _)| *piece);
    all.into_iter().map(|(_, done)| done).collect()
}

/// Asks for huge pages: a block of columns is written once from end to end, and most of the cost of fresh
/// memory is one page fault for every 4 KiB of it.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "advice about memory is a system call, and std has no name for it")]
pub(crate) fn prepare(block: &mut [u8]) {
    if block.len() < 4 << 20 {
        return;
    }
    const PAGE: usize = 4096;
    let inset = block.as_ptr().align_offset(PAGE);
    let Some(pages) = block.get_mut(inset..) else { return };
    // SAFETY: the range lies within a slice that is ours alone for the length of the call, its start is on a
    // page boundary, and MADV_HUGEPAGE changes no byte of it. A refusal is no harm: it was only advice.
    unsafe {
        libc::madvise(pages.as_mut_ptr().cast(), pages.len(), libc::MADV_HUGEPAGE);
    }
}

/// Says that a stretch of a mapped file is not needed for now: the pages stay in the system's cache and leave the memory
/// that is counted as ours, so that reading a large log does not hold all of it.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "advice about memory is a system call, and std has no name for it")]
pub(crate) fn pass(mapped: &[u8]) {
    const PAGE: usize = 4096;
    let inset = mapped.as_ptr().align_offset(PAGE);
    let Some(pages) = mapped.get(inset..).map(|rest| rest.get(..rest.len() / PAGE * PAGE).unwrap_or_default()) else {
        return;
    };
    // SAFETY: callers give a part of a shared, read-only mapping of a file, for which MADV_DONTNEED drops no byte: the
    // next access finds the same page in the file again. The range consists of whole pages of that mapping.
    unsafe {
        libc::madvise(pages.as_ptr().cast_mut().cast(), pages.len(), libc::MADV_DONTNEED);
    }
}

/// No advice is known for this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pass(_: &[u8]) {}

/// No advice is known for this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn prepare(_: &mut [u8]) {}
