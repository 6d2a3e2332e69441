use std::io::{self, Read};

use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use flate2::read::GzDecoder;

use crate::error::Refusal;

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The page and its parts: what was embedded, by exactly its name. No path of a request reaches the file system.
pub(crate) async fn page(request: Request) -> Response {
    let path = request.uri().path();
    let name = if path == "/" { INDEX } else { path };
    let missing = || {
        Refusal::missing("not-found", format!("no page at {path}"))
            .with_help("the viewer is at /, the API at /api")
            .into_response()
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "pages are read-only")
            .into_response();
    }
    match FILES.iter().find(|(known, _)| *known == name) {
        Some((_, packed)) => {
            let kept = if name.starts_with("/assets/") { "max-age=31536000, immutable" } else { "no-cache" };
            let headers =
                [(header::CONTENT_TYPE, kind(name)), (header::CACHE_CONTROL, kept), (header::VARY, "Accept-Encoding")];
            if accepts_gzip(request.headers()) {
                return (headers, [(header::CONTENT_ENCODING, "gzip")], *packed).into_response();
            }
            match unpack(packed) {
                Ok(bytes) => (headers, bytes).into_response(),
                Err(error) => {
                    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "page", error.to_string()).into_response()
                }
            }
        }
        None if name == INDEX => {
            ([(header::CONTENT_TYPE, kind(INDEX)), (header::CACHE_CONTROL, "no-cache")], NO_PAGE).into_response()
        }
        None => missing(),
    }
}

/// Whether a client takes gzip, which all browsers do. RFC 9110, section 12.5.3: a quality of 0 means no, `*` stands for
/// what is not named.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut others) = (None, None);
    for line in headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok()) {
        for coding in line.split(',') {
            let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
            let quality = parameters.split_once('=').map_or(1.0, |(_, quality)| quality.trim().parse().unwrap_or(0.0));
            match name.trim() {
                "*" => others = Some(quality),
                name if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => {
                    gzip = Some(quality)
                }
                _ => {}
            }
        }
    }
    gzip.or(others).is_some_and(|quality| quality > 0.0)
}

fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

const INDEX: &str = "/index.html";
/// What stands in for the page where it was not built.
const NO_PAGE: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>logpose</title>
<h1>logpose</h1>
<p>This binary was built without its front end: run <code>make web</code> and build it again.
<p>The API works: <a href=\"/api/session\">/api/session</a>.
";
