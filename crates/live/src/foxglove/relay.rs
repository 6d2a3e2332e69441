use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// What happens on the way from Foxglove's library to the clients.
pub(super) trait Watch {
    /// Messages came from the library.
    fn taken(&self, messages: u64);
    /// A client lost messages, because it reads too slowly.
    fn dropped(&self, messages: u64);
    /// A client is disconnected, because so much waits for it that it cannot do without.
    fn cut_off(&self);
}

/// Passes WebSocket frames on to a client until the library closes the connection.
///
/// Frames are read as soon as they are there, also while the client reads nothing, so that they wait here and not in the
/// library, which does not say how many it drops. `begun` is what of them was read before.
///
/// # Errors
///
/// If the client is gone, or if more frames wait for it than `backlog` that it cannot do without, such as channels.
pub(super) async fn relay(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    begun: Vec<u8>,
    backlog: usize,
    watch: &impl Watch,
) -> io::Result<()> {
    let (mut inbox, mut waiting) = (begun, Waiting::new(backlog));
    // What is in here is as good as sent.
    let (mut outbox, mut written) = (Vec::new(), 0);
    let (mut read, mut is_open) = (vec![0; READ], true);
    loop {
        let frames = waiting.take_from(&mut inbox);
        watch.taken(frames.messages);
        if frames.dropped > 0 {
            watch.dropped(frames.dropped);
        }
        if waiting.other.len() > backlog {
            watch.cut_off();
            return Err(io::ErrorKind::TimedOut.into());
        }
        if written == outbox.len() {
            (outbox, written) = (waiting.next_bytes(outbox), 0);
        }
        let rest = outbox.get(written..).unwrap_or_default();
        if rest.is_empty() && !is_open {
            return to.shutdown().await;
        }
        tokio::select! {
            n = from.read(&mut read), if is_open => match n? {
                0 => is_open = false,
                n => inbox.extend_from_slice(read.get(..n).unwrap_or_default()),
            },
            n = to.write(rest), if !rest.is_empty() => match n? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                n => written += n,
            },
        }
    }
}

/// The frames that wait for a client.
struct Waiting {
    /// Messages, of which a client can lose the oldest, and everything else; each with its number in the order of sending.
    messages: VecDeque<(u64, Vec<u8>)>,
    other: VecDeque<(u64, Vec<u8>)>,
    next: u64,
    /// Bytes of the messages.
    bytes: usize,
    backlog: usize,
}

/// What came of frames that were taken over.
#[derive(Debug, Default, PartialEq)]
struct Taken {
    messages: u64,
    dropped: u64,
}

impl Waiting {
    fn new(backlog: usize) -> Self {
        Self { messages: VecDeque::new(), other: VecDeque::new(), next: 0, bytes: 0, backlog: backlog.max(1) }
    }

    /// Takes over the whole frames at the front of `inbox`.
    fn take_from(&mut self, inbox: &mut Vec<u8>) -> Taken {
        let (mut taken, mut at) = (Taken::default(), 0);
        while let Some(frame) = inbox.get(at..).and_then(first_frame) {
            at += frame.len();
            let numbered = (self.next, frame.to_vec());
            self.next += 1;
            if !is_message(frame) {
                self.other.push_back(numbered);
                continue;
            }
            taken.messages += 1;
            self.bytes += frame.len();
            self.messages.push_back(numbered);
            while self.messages.len() > self.backlog || (self.bytes > BYTES && self.messages.len() > 1) {
                self.pop_message();
                taken.dropped += 1;
            }
        }
        inbox.drain(..at);
        taken
    }

    fn pop_message(&mut self) -> Option<Vec<u8>> {
        let (_, frame) = self.messages.pop_front()?;
        self.bytes -= frame.len();
        Some(frame)
    }

    /// The oldest frames, put together to some bytes. `room` is used again.
    fn next_bytes(&mut self, mut room: Vec<u8>) -> Vec<u8> {
        room.clear();
        while room.len() < WRITE {
            let number = |frames: &VecDeque<(u64, Vec<u8>)>| frames.front().map_or(u64::MAX, |(number, _)| *number);
            let next = if number(&self.messages) < number(&self.other) {
                self.pop_message()
            } else {
                self.other.pop_front().map(|(_, frame)| frame)
            };
            let Some(frame) = next else { break };
            room.extend_from_slice(&frame);
        }
        room
    }
}

/// The frame at the front, if all of it is there.
fn first_frame(bytes: &[u8]) -> Option<&[u8]> {
    let (head, len) = head(bytes)?;
    bytes.get(..head.checked_add(len)?)
}

/// Bytes of a frame's head and of what follows it (RFC 6455, section 5.2).
fn head(bytes: &[u8]) -> Option<(usize, usize)> {
    let len = *bytes.get(1)?;
    let (head, len) = match len & 0x7f {
        126 => (4, u64::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (10, u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)),
        len => (2, u64::from(len)),
    };
    let mask = if bytes.get(1)? & 0x80 == 0 { 0 } else { 4 };
    Some((head + mask, usize::try_from(len).ok()?))
}

/// Whether a frame is a message of a channel: whole, binary, and with the operation 1 of Foxglove's protocol.
fn is_message(frame: &[u8]) -> bool {
    let operation = head(frame).and_then(|(head, _)| frame.get(head));
    frame.first() == Some(&0x82) && operation == Some(&1)
}

/// Bytes that are read at once.
const READ: usize = 64 << 10;
/// Bytes that are put together to be written at once.
const WRITE: usize = 32 << 10;
/// Bytes of messages that may wait for a client.
const BYTES: usize = 32 << 20;

#[cfg(test)]
mod tests {
    use super::{BYTES, Taken, Waiting, Watch, relay};
    use std::sync::atomic::{AtomicU64, Ordering};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    fn frame(payload: &[u8]) -> Vec<u8> {
        let (mut frame, len) = (vec![0x82], payload.len());
        match (u8::try_from(len), u16::try_from(len)) {
            (Ok(len @ ..126), _) => frame.push(len),
            (_, Ok(len)) => frame.extend([&[126], &len.to_be_bytes()[..]].concat()),
            _ => frame.extend([&[127], &(len as u64).to_be_bytes()[..]].concat()),
        }
        [&frame, payload].concat()
    }

    fn message(size: usize) -> Vec<u8> {
        frame(&[&[1][..], &vec![7; size - 1]].concat())
    }

    #[test]
    fn frames_of_every_size_come_out_as_they_went_in() {
        let text = [&[0x81, 2][..], b"{}"].concat();
        let frames = [message(1), text, message(125), message(126), message(65_535), message(65_536), frame(&[2; 9])];
        let all = frames.concat();
        for step in [1, 7, all.len()] {
            let (mut waiting, mut inbox, mut messages) = (Waiting::new(100), Vec::new(), 0);
            for bytes in all.chunks(step) {
                inbox.extend_from_slice(bytes);
                messages += waiting.take_from(&mut inbox).messages;
            }
            assert_eq!((messages, inbox.len(), waiting.other.len()), (5, 0, 2));
            let mut out = Vec::new();
            while out.len() < all.len() {
                out.extend(waiting.next_bytes(Vec::new()));
            }
            assert!(out == all, "{step}");
            assert_eq!(waiting.bytes, 0);
        }
    }

    #[test]
    fn the_oldest_messages_go_and_nothing_else() {
        let mut waiting = Waiting::new(2);
        let number = |n: u8| frame(&[1, n]);
        let time = frame(&[2, 0]);
        let mut inbox = [number(1), time.clone(), number(2), number(3), number(4)].concat();
        assert_eq!(waiting.take_from(&mut inbox), Taken { messages: 4, dropped: 2 });
        assert_eq!(waiting.next_bytes(Vec::new()), [time, number(3), number(4)].concat());
        // Large ones are dropped by their bytes; the newest stays.
        let mut waiting = Waiting::new(100);
        let mut inbox = [message(BYTES / 2), message(BYTES / 2), message(BYTES + 1)].concat();
        assert_eq!(waiting.take_from(&mut inbox), Taken { messages: 3, dropped: 2 });
    }

    #[derive(Default)]
    struct Seen {
        taken: AtomicU64,
        dropped: AtomicU64,
        cut_off: AtomicU64,
    }

    impl Watch for Seen {
        fn taken(&self, messages: u64) {
            self.taken.fetch_add(messages, Ordering::Relaxed);
        }

        fn dropped(&self, messages: u64) {
            self.dropped.fetch_add(messages, Ordering::Relaxed);
        }

        fn cut_off(&self) {
            self.cut_off.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn what_a_client_misses_is_counted_while_it_reads_nothing() {
        const SENT: u64 = 1000;
        let (mut library, from) = duplex(1 << 20);
        let (to, mut client) = duplex(1 << 10);
        let seen = Seen::default();
        for _ in 0..SENT {
            library.write_all(&message(100)).await.unwrap();
        }
        library.shutdown().await.unwrap();
        let mut read = Vec::new();
        let reading = async {
            // Not before everything has come from the library.
            while seen.taken.load(Ordering::Relaxed) < SENT {
                tokio::task::yield_now().await;
            }
            client.read_to_end(&mut read).await.unwrap();
        };
        let (relayed, ()) = tokio::join!(relay(from, to, Vec::new(), 10, &seen), reading);
        relayed.unwrap();
        let arrived = (read.len() / message(100).len()) as u64;
        assert_eq!(arrived + seen.dropped.load(Ordering::Relaxed), SENT);
        assert!((10..SENT).contains(&arrived), "{arrived}");
    }

    #[tokio::test]
    async fn a_client_that_misses_channels_is_cut_off() {
        let (mut library, from) = duplex(1 << 20);
        let (to, _client) = duplex(16);
        library.write_all(&[&[0x81, 2][..], b"{}"].concat().repeat(1000)).await.unwrap();
        let seen = Seen::default();
        assert!(relay(from, to, Vec::new(), 10, &seen).await.is_err());
        assert_eq!(seen.cut_off.load(Ordering::Relaxed), 1);
    }
}
