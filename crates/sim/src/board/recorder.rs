use super::version::BoardVersion;
use logpose_refloat::wire::MAX_APP;

/// Bytes in front of the samples of a reply.
pub(super) const DATA_HEAD: usize = 6;

/// The ring of samples and what controls it.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    version: BoardVersion,
    /// The slots, one behind the other. They survive a start: 1.1 lets them be read.
    slots: Vec<u8>,
    pub(super) sample_len: usize,
    capacity: usize,
    /// The slot that is written next, and the oldest one.
    head: usize,
    tail: usize,
    empty: bool,
    pub(super) recording: bool,
    pub(super) autostart: bool,
    pub(super) autostop: bool,
    pub(super) decimation: u8,
    /// Passes since the last sample.
    passes: u8,
    /// The time of the last sample.
    last: u32,
}

impl Recorder {
    /// An empty ring of `capacity` samples, as it is after power-up.
    pub(super) fn new(version: BoardVersion, capacity: usize, sample_len: usize, imu_rate: u32) -> Self {
        let capacity = capacity.max(1);
        let default = (10 * u64::from(imu_rate) / capacity as u64).max(1);
        Self {
            version,
            slots: vec![0; capacity * sample_len],
            sample_len,
            capacity,
            head: 0,
            tail: 0,
            empty: true,
            recording: false,
            autostart: true,
            autostop: true,
            // Stored in eight bits: it wraps for absurdly small buffers.
            decimation: if version == BoardVersion::V1_3 { default.to_le_bytes()[0] } else { 1 },
            passes: 0,
            last: 0,
        }
    }

    /// Empties the ring and records from here on.
    pub(super) fn start(&mut self) {
        (self.head, self.tail, self.empty) = (0, 0, true);
        (self.passes, self.last) = (0, 0);
        self.recording = true;
    }

    pub(super) fn stop(&mut self) {
        self.recording = false;
    }

    /// The board was engaged, or it disengaged.
    pub(super) fn trigger(&mut self, engaged: bool) {
        if engaged && self.autostart {
            self.start();
        } else if !engaged && self.autostop {
            self.stop();
        }
    }

    /// One pass of the loop: the time a sample of it has, if one is to be taken.
    pub(super) fn pass(&mut self, tick: u32) -> Option<u32> {
        if !self.recording {
            return None;
        }
        if self.version != BoardVersion::V1_3 {
            return Some(tick);
        }
        self.passes = self.passes.wrapping_add(1);
        if self.passes < self.decimation {
            return None;
        }
        self.passes = 0;
        // 1.3.0-beta2: no two samples have the same time. The comparison is a plain one, also where the ticks wrap.
        self.last = if tick <= self.last { self.last.wrapping_add(1) } else { tick };
        Some(self.last)
    }

    /// Appends a sample, over the oldest one if there is no room.
    pub(super) fn push(&mut self, sample: &[u8]) {
        let at = self.head * self.sample_len;
        let Some(slot) = self.slots.get_mut(at..at + self.sample_len) else { return };
        if sample.len() != slot.len() {
            return;
        }
        slot.copy_from_slice(sample);
        if !self.empty && self.head == self.tail {
            self.tail = self.next(self.tail);
        }
        self.head = self.next(self.head);
        self.empty = false;
    }

    /// Samples stored now.
    pub(super) fn size(&self) -> usize {
        match self.head.checked_sub(self.tail) {
            Some(0) if self.empty => 0,
            Some(0) => self.capacity,
            Some(size) => size,
            None => self.head + self.capacity - self.tail,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Appends the samples that a reply for `offset` has.
    pub(super) fn read(&self, offset: u32, out: &mut Vec<u8>) {
        let most = (MAX_APP - DATA_HEAD) / self.sample_len;
        if self.version == BoardVersion::V1_1 {
            // No look at the size: on from the slot that the offset leads to, up to the newest one.
            let slot = u32::try_from(self.tail).unwrap_or(0).wrapping_add(offset);
            let mut slot = usize::try_from(slot).unwrap_or(0) % self.capacity;
            for i in 0..most {
                if i > 0 && slot == self.head {
                    break;
                }
                out.extend_from_slice(self.slot(slot));
                slot = self.next(slot);
            }
            return;
        }
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.size());
        for i in from..self.size().min(from + most) {
            out.extend_from_slice(self.slot((self.tail + i) % self.capacity));
        }
    }

    /// All samples, oldest first.
    pub(super) fn samples(&self) -> Vec<u8> {
        (0..self.size()).flat_map(|i| self.slot((self.tail + i) % self.capacity)).copied().collect()
    }

    fn slot(&self, slot: usize) -> &[u8] {
        let at = slot * self.sample_len;
        self.slots.get(at..at + self.sample_len).unwrap_or_default()
    }

    fn next(&self, slot: usize) -> usize {
        if slot + 1 < self.capacity { slot + 1 } else { 0 }
    }
}
