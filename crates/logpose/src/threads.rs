//! Threads and memory for dialects, which start and ask for none themselves.

use std::thread;

/// How many threads `0` means.
pub(crate) fn count(asked: usize) -> usize {
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
