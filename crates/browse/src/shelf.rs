use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Things that are made when first asked for and kept as long as there is room: the one that was longest not asked for
/// goes first. Whoever asks for a thing that is being made waits for it.
pub(crate) struct Shelf<K, V> {
    state: Mutex<State<K, V>>,
    /// Bytes that may be kept, and things.
    room: usize,
    most: usize,
}

struct State<K, V> {
    things: HashMap<K, Thing<V>>,
    /// Counts questions.
    now: u64,
    bytes: usize,
}

struct Thing<V> {
    made: Slot<V>,
    asked: u64,
    bytes: usize,
}

type Slot<V> = Arc<Mutex<Option<Arc<V>>>>;

impl<K: Clone + Eq + Hash, V> Shelf<K, V> {
    pub(crate) fn new(room: usize, most: usize) -> Self {
        Self { state: Mutex::new(State { things: HashMap::new(), now: 0, bytes: 0 }), room, most }
    }

    /// The thing of a key; `make` returns its size, too. Failures are not kept.
    pub(crate) fn get<E>(&self, key: &K, make: impl FnOnce() -> Result<(V, usize), E>) -> Result<Arc<V>, E> {
        let slot = self.slot(key);
        let mut made = lock(&slot);
        if let Some(made) = &*made {
            return Ok(Arc::clone(made));
        }
        match make() {
            Ok((value, bytes)) => {
                let value = Arc::new(value);
                *made = Some(Arc::clone(&value));
                self.keep(key, &slot, bytes);
                Ok(value)
            }
            Err(error) => {
                let mut state = lock(&self.state);
                if state.things.get(key).is_some_and(|thing| Arc::ptr_eq(&thing.made, &slot)) {
                    state.things.remove(key);
                }
                Err(error)
            }
        }
    }

    fn slot(&self, key: &K) -> Slot<V> {
        let mut state = lock(&self.state);
        state.now += 1;
        let now = state.now;
        let thing = state.things.entry(key.clone());
        let thing = thing.or_insert_with(|| Thing { made: Slot::default(), asked: now, bytes: 0 });
        thing.asked = now;
        Arc::clone(&thing.made)
    }

    /// Notes what a thing takes, and makes room.
    fn keep(&self, key: &K, slot: &Slot<V>, bytes: usize) {
        let mut state = lock(&self.state);
        let state = &mut *state;
        if let Some(thing) = state.things.get_mut(key).filter(|thing| Arc::ptr_eq(&thing.made, slot)) {
            thing.bytes = bytes;
            state.bytes += bytes;
        }
        while state.bytes > self.room || state.things.len() > self.most {
            let others = state.things.iter().filter(|(other, _)| *other != key);
            let Some(oldest) = others.min_by_key(|(_, thing)| thing.asked).map(|(key, _)| key.clone()) else { break };
            state.bytes -= state.things.remove(&oldest).map_or(0, |thing| thing.bytes);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::Shelf;

    fn ask(shelf: &Shelf<u32, u32>, key: u32) -> bool {
        let mut made = false;
        let make = || {
            made = true;
            Ok::<_, Infallible>((key, 10))
        };
        assert_eq!(*shelf.get(&key, make).unwrap(), key);
        made
    }

    #[test]
    fn what_was_longest_not_asked_for_goes_first() {
        let shelf = Shelf::new(30, 100);
        assert!([1, 2, 3].map(|key| ask(&shelf, key)).into_iter().all(|made| made));
        assert!(!ask(&shelf, 1));
        assert!(ask(&shelf, 4));
        assert!(!ask(&shelf, 1) && !ask(&shelf, 3) && !ask(&shelf, 4));
        assert!(ask(&shelf, 2));
    }

    #[test]
    fn one_that_is_too_large_is_kept_alone_and_numbers_are_limited() {
        let shelf = Shelf::new(5, 100);
        assert!(ask(&shelf, 1) && !ask(&shelf, 1) && ask(&shelf, 2) && ask(&shelf, 1));
        let shelf = Shelf::new(1000, 2);
        assert!(ask(&shelf, 1) && ask(&shelf, 2) && ask(&shelf, 3) && !ask(&shelf, 2) && ask(&shelf, 1));
    }

    #[test]
    fn what_could_not_be_made_is_tried_again() {
        let shelf: Shelf<u32, u32> = Shelf::new(5, 5);
        assert_eq!(shelf.get(&1, || Err("no")), Err("no"));
        assert!(ask(&shelf, 1));
    }
}
