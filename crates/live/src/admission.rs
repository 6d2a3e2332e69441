use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// Who may be connected to a server: so many at once, and no address can keep the others out.
///
/// When all places are taken, a newcomer gets the place of the client that has kept the server waiting longest, with half
/// a request or a handshake that does not come; of the address with most places first. If the server waits for nobody,
/// the address with most places loses its newest one to an address that has fewer.
#[derive(Clone, Debug)]
pub struct Admission(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    start: Instant,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    next: u64,
    /// In the order in which they came.
    taken: BTreeMap<u64, Arc<Client>>,
}

#[derive(Debug)]
struct Client {
    from: IpAddr,
    /// Since when the server waits for it, in microseconds since its start; [`BUSY`] while it works for it.
    waiting: AtomicU64,
    evicted: AtomicBool,
    notify: Notify,
}

/// A place that a client has until this is dropped, or until it is evicted.
#[derive(Debug)]
pub struct Admitted {
    number: u64,
    client: Arc<Client>,
    shared: Arc<Shared>,
}

impl Admission {
    /// Has so many places.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Shared { most, start: Instant::now(), places: Mutex::default() }))
    }

    /// Gives a place to a client, which the server waits for from now on. `None` if it has to be turned away.
    #[must_use]
    pub fn admit(&self, from: IpAddr) -> Option<Admitted> {
        let mut places = self.0.lock();
        if places.taken.len() >= self.0.most && !places.evict(Some(from)) {
            return None;
        }
        let number = places.next;
        places.next += 1;
        let waiting = AtomicU64::new(self.0.now());
        let client = Arc::new(Client { from, waiting, evicted: AtomicBool::new(false), notify: Notify::new() });
        places.taken.insert(number, Arc::clone(&client));
        Some(Admitted { number, client, shared: Arc::clone(&self.0) })
    }

    /// Evicts the client that has kept the server waiting longest: the system has no room for another.
    pub fn make_room(&self) {
        self.0.lock().evict(None);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX).min(BUSY - 1)
    }
}

impl Places {
    /// Takes a place from somebody, for a client of an address. Whether there was one to take.
    fn evict(&mut self, from: Option<IpAddr>) -> bool {
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        self.taken.values().for_each(|client| *counts.entry(client.from).or_default() += 1);
        let count = |from: IpAddr| counts.get(&from).copied().unwrap_or(0);
        let waiting = |client: &Client| client.waiting.load(Ordering::Relaxed);
        let idle = self.taken.iter().filter(|(_, client)| waiting(client) != BUSY);
        let idle = idle.max_by_key(|(_, client)| (count(client.from), u64::MAX - waiting(client)));
        let busiest = || {
            let from = from?;
            // The last of several is the newest.
            let newest = self.taken.iter().max_by_key(|(number, client)| (count(client.from), **number));
            newest.filter(|(_, client)| count(client.from) > count(from) + 1)
        };
        let Some(number) = idle.or_else(busiest).map(|(number, _)| *number) else { return false };
        if let Some(client) = self.taken.remove(&number) {
            client.evicted.store(true, Ordering::Release);
            client.notify.notify_one();
        }
        true
    }
}

impl Admitted {
    /// Where the client is.
    #[must_use]
    pub fn from(&self) -> IpAddr {
        self.client.from
    }

    /// From now on the server works for the client.
    pub fn works(&self) {
        self.client.waiting.store(BUSY, Ordering::Relaxed);
    }

    /// From now on the server waits for the client: it has to send or to read something.
    pub fn waits(&self) {
        self.client.waiting.store(self.shared.now(), Ordering::Relaxed);
    }

    /// The client, if the server waits for it, did something: it waits anew.
    pub fn moved(&self) {
        if self.client.waiting.load(Ordering::Relaxed) != BUSY {
            self.waits();
        }
    }

    /// Whether another client has the place now, and this one has to go.
    #[must_use]
    pub fn is_evicted(&self) -> bool {
        self.client.evicted.load(Ordering::Acquire)
    }

    /// Waits until [`is_evicted`](Self::is_evicted).
    pub async fn evicted(&self) {
        // One that came before is kept.
        self.client.notify.notified().await;
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.shared.lock().taken.remove(&self.number);
    }
}

const BUSY: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::{Admission, Admitted};
    use std::net::IpAddr;

    fn ip(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn busy(admission: &Admission, last: u8) -> Option<Admitted> {
        let place = admission.admit(ip(last))?;
        place.works();
        Some(place)
    }

    #[test]
    fn whoever_keeps_the_server_waiting_makes_room() {
        let admission = Admission::new(3);
        let working = busy(&admission, 1).unwrap();
        let [first, second] = [(); 2].map(|()| admission.admit(ip(1)).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(2));
        first.moved();
        let third = admission.admit(ip(1)).unwrap();
        assert_eq!([&working, &first, &second, &third].map(Admitted::is_evicted), [false, false, true, false]);
        drop(first);
        let _fourth = admission.admit(ip(2)).unwrap();
        assert!(!third.is_evicted(), "there was a place");
        admission.make_room();
        assert!(third.is_evicted() && !working.is_evicted(), "of the address with most places first");
    }

    #[test]
    fn no_address_has_all_places() {
        let admission = Admission::new(4);
        let mut one: Vec<Admitted> = (0..4).map(|_| busy(&admission, 1).unwrap()).collect();
        assert!(busy(&admission, 1).is_none(), "there is nobody to take a place from");
        let _two = [busy(&admission, 2).unwrap(), busy(&admission, 2).unwrap()];
        assert_eq!(one.iter().filter(|place| place.is_evicted()).count(), 2);
        assert!(one[2].is_evicted() && one[3].is_evicted(), "the newest");
        assert!(busy(&admission, 2).is_none(), "as many each");
        one.clear();
        assert!(busy(&admission, 2).is_some());
    }
}
