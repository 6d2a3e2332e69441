use std::fs::File;
use std::io::{self, Read};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use logpose_viewer::Export;

/// An exported file as a download.
pub(crate) fn download(export: Export) -> Response {
    let Export { file, length, name, content_type } = export;
    let mut response = body(file).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// The file piece by piece. Reading it blocks for a moment only: it was just written.
fn body(file: File) -> Body {
    Body::from_stream(stream::unfold(Some(file), |file| async move {
        let mut file = file?;
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; PIECE];
            let count = file.read(&mut piece);
            count.map(|count| {
                piece.truncate(count);
                (piece, file)
            })
        });
        match read.await.map_err(io::Error::other).flatten() {
            Ok((piece, _)) if piece.is_empty() => None,
            Ok((piece, file)) => Some((Ok(Bytes::from(piece)), Some(file))),
            Err(error) => Some((Err(error), None)),
        }
    }))
}

/// Bytes that are sent at a time.
const PIECE: usize = 256 << 10;
