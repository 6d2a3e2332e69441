use std::io::IoSlice;

use logpose_core::Link;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::queue::{Outgoing, Pending};
use super::{Event, READ};

/// Reads and writes a stream of bytes.
pub(super) fn start(
    link: Link,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    events: mpsc::Sender<Event>,
    pending: Pending,
) -> [JoinHandle<()>; 2] {
    let reading = tokio::spawn(read(link, reader, events.clone()));
    let writing = tokio::spawn(async move {
        if let Err(error) = write(writer, pending).await {
            let _ = events.send(Event::Closed(link, error.to_string())).await;
        }
    });
    [reading, writing]
}

async fn read(link: Link, mut reader: impl AsyncRead + Unpin, events: mpsc::Sender<Event>) {
    let mut buffer = vec![0; READ];
    let reason = loop {
        match reader.read(&mut buffer).await {
            Ok(0) => break "closed by the other side".to_owned(),
            Ok(n) => {
                let bytes = buffer.get(..n).unwrap_or_default().to_vec();
                if events.send(Event::Input(link, bytes)).await.is_err() {
                    return;
                }
            }
            Err(error) => break error.to_string(),
        }
    };
    let _ = events.send(Event::Closed(link, reason)).await;
}

async fn write(mut writer: impl AsyncWrite + Unpin, mut pending: Pending) -> std::io::Result<()> {
    let mut pieces: Vec<Outgoing> = Vec::new();
    while pending.next(&mut pieces).await {
        if let [piece] = &*pieces {
            writer.write_all(&piece.bytes).await?;
        } else {
            let mut slices: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(&piece.bytes)).collect();
            let mut rest = &mut *slices;
            while !rest.is_empty() {
                let n = writer.write_vectored(rest).await?;
                if n == 0 {
                    return Err(std::io::ErrorKind::WriteZero.into());
                }
                IoSlice::advance_slices(&mut rest, n);
            }
        }
        writer.flush().await?;
        pending.sent(pieces.iter().map(|piece| piece.bytes.len()).sum());
        pieces.clear();
    }
    writer.shutdown().await
}
