//! Work on the windows of a log, side by side, with the results in the order of the file.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Runs `work` on the numbers up to `count`, on several threads, and hands the results to `take` in order. Only a few
/// results wait at any time. After the first error of either no new work is begun, and that error is returned.
pub fn in_order<T: Send, E: Send>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(count);
    if threads < 2 {
        return (0..count).try_for_each(|number| take(work(number)?));
    }
    let desk = Desk { state: Mutex::new(State::default()), changed: Condvar::new() };
    thread::scope(|scope| {
        // Whatever happens here, also a panic in `take`: nobody waits for a turn that never comes.
        let _closing = Closing(&desk);
        let started = (0..threads).filter(|_| {
            let worker = || desk.work(count, threads, &work);
            thread::Builder::new().spawn_scoped(scope, worker).is_ok()
        });
        if started.count() == 0 {
            return (0..count).try_for_each(|number| take(work(number)?));
        }
        for number in 0..count {
            match desk.wait_for(number) {
                Some(result) => take(result?)?,
                // The thread that had it is gone: its panic goes on when the scope ends.
                None => break,
            }
        }
        Ok(())
    })
}

/// Where workers fetch numbers and leave results.
struct Desk<T, E> {
    state: Mutex<State<T, E>>,
    changed: Condvar,
}

struct State<T, E> {
    /// The next number to work on, and the next to be taken.
    next: usize,
    taken: usize,
    done: BTreeMap<usize, Option<Result<T, E>>>,
    closed: bool,
}

impl<T, E> Default for State<T, E> {
    fn default() -> Self {
        Self { next: 0, taken: 0, done: BTreeMap::new(), closed: false }
    }
}

impl<T, E> Desk<T, E> {
    fn lock(&self) -> MutexGuard<'_, State<T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, count: usize, threads: usize, work: &(impl Fn(usize) -> Result<T, E> + Sync)) {
        while let Some(number) = self.fetch(count, threads) {
            // If the work panics, its place says so.
            let mut place = Place { desk: self, number, result: None };
            place.result = Some(work(number));
        }
    }

    fn fetch(&self, count: usize, threads: usize) -> Option<usize> {
        let mut state = self.lock();
        while !state.closed && state.next < count && state.next > state.taken + threads {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed || state.next >= count {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn wait_for(&self, number: usize) -> Option<Result<T, E>> {
        let mut state = self.lock();
        loop {
            if let Some(result) = state.done.remove(&number) {
                state.taken = number + 1;
                self.changed.notify_all();
                return result;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Leaves a result at the desk, also if there is none because the work panicked.
struct Place<'a, T, E> {
    desk: &'a Desk<T, E>,
    number: usize,
    result: Option<Result<T, E>>,
}

impl<T, E> Drop for Place<'_, T, E> {
    fn drop(&mut self) {
        let mut state = self.desk.lock();
        if matches!(self.result, None | Some(Err(_))) {
            state.next = usize::MAX;
        }
        state.done.insert(self.number, self.result.take());
        self.desk.changed.notify_all();
    }
}

/// Ends the work.
struct Closing<'a, T, E>(&'a Desk<T, E>);

impl<T, E> Drop for Closing<'_, T, E> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn results_come_in_order_from_any_number_of_threads() {
        for threads in 1..5 {
            for count in [0, 1, 2, 3, 100] {
                let mut taken = Vec::new();
                let work = |number: usize| Ok::<_, ()>(number * 2);
                in_order(threads, count, work, |result| {
                    taken.push(result);
                    Ok(())
                })
                .unwrap();
                assert!(taken.iter().copied().eq((0..count).map(|number| number * 2)), "{threads} {count}");
            }
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        let failing = |number: usize| if number == 7 { Err(number) } else { Ok(number) };
        let mut taken = 0;
        let end = in_order(3, 100, failing, |_| {
            taken += 1;
            Ok(())
        });
        assert_eq!((end, taken), (Err(7), 7));
        let end = in_order(3, 100, Ok, |number| if number == 5 { Err("enough") } else { Ok(()) });
        assert_eq!(end, Err("enough"));
    }

    #[test]
    #[should_panic(expected = "scoped thread panicked")]
    fn a_panic_is_not_waited_for() {
        let _ = in_order(2, 10, |number| if number == 3 { panic!("broken") } else { Ok::<_, ()>(number) }, |_| Ok(()));
    }
}
