use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::Options;
use crate::error::Refusal;

/// Whom the server answers: who calls it by its name, comes from no other page, and knows the token if there is one.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Names and addresses of the server with their ports; IPv6 in brackets.
    hosts: Vec<(String, u16)>,
    /// The port at which any address is one of the server's, if it listens on all of this machine.
    any_address: Option<u16>,
    token: Option<String>,
    cookie: String,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, options: &Options) -> Self {
        let port = address.port();
        let mut hosts = vec![("localhost".to_owned(), port), (host_of(address.ip()), port)];
        if address.ip().is_loopback() {
            hosts.push(("127.0.0.1".to_owned(), port));
            hosts.push((host_of(IpAddr::V6(Ipv6Addr::LOCALHOST)), port));
        }
        // A name may come with a port of its own, that of a proxy before the server.
        let named = options.hosts.iter().filter_map(|name| name.trim().parse::<Authority>().ok());
        hosts.extend(named.map(|name| (name.host().to_ascii_lowercase(), name.port_u16().unwrap_or(port))));
        Self {
            hosts,
            any_address: address.ip().is_unspecified().then_some(port),
            token: options.token.clone().filter(|token| !token.is_empty()),
            // Cookies know no ports, and two servers may run on one machine.
            cookie: format!("logpose-{port}"),
        }
    }

    /// Whether that is a name of the server, such as `localhost:8080`.
    fn is_own(&self, authority: &str) -> bool {
        let Ok(authority) = authority.parse::<Authority>() else { return false };
        // Somebody else's name before an @ is not part of a host.
        if authority.as_str().contains('@') {
            return false;
        }
        let given = authority.port_u16();
        if authority.port().is_some() && given.is_none() {
            return false;
        }
        // Without a port it is that of HTTP, or of a proxy that speaks HTTPS.
        let at = |port: u16| given.map_or(port == 80 || port == 443, |given| given == port);
        let host = authority.host().to_ascii_lowercase();
        if self.hosts.iter().any(|(known, port)| *known == host && at(*port)) {
            return true;
        }
        // Bound to all addresses: a page of a stranger has a name, and a bare address is none.
        let bare = || host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        self.any_address.is_some_and(at) && bare()
    }

    /// Checks what a request says about where it comes from.
    fn check(&self, request: &Request) -> Result<(), Refusal> {
        let headers = request.headers();
        let forbidden = |code, message: String| Refusal::new(StatusCode::FORBIDDEN, code, message);
        let host = match single(headers, header::HOST) {
            Some(host) => host,
            None => request.uri().authority().map_or("", Authority::as_str),
        };
        let named = request.uri().authority().is_none_or(|named| self.is_own(named.as_str()));
        if !self.is_own(host) || !named {
            return Err(forbidden("host-not-allowed", format!("unknown host name {host:?}"))
                .with_help("open the address that logpose printed, or add host names with --host"));
        }
        if headers.contains_key(header::ORIGIN) {
            let origin = single(headers, header::ORIGIN).unwrap_or_default();
            let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !own.is_some_and(|own| self.is_own(own)) {
                return Err(forbidden("origin-not-allowed", format!("requests from {origin:?} are not allowed")));
            }
        }
        // Browsers say so too where they send no origin: for pictures, scripts and links.
        let site = single(headers, header::HeaderName::from_static("sec-fetch-site")).unwrap_or("none");
        if is_api(request) && !matches!(site, "none" | "same-origin") {
            return Err(forbidden("origin-not-allowed", format!("{site} requests are not allowed")));
        }
        Ok(())
    }

    /// Whether the request has the token, and whether that came in the address.
    fn token(&self, request: &Request) -> Option<Known> {
        let Some(token) = &self.token else { return Some(Known::Already) };
        let query = request.uri().query().unwrap_or_default();
        if query.split('&').filter_map(|pair| pair.strip_prefix("token=")).any(|given| same(given, token)) {
            return Some(Known::Now);
        }
        let headers = request.headers();
        let bearer = single(headers, header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let cookie = pairs.find(|(name, _)| *name == self.cookie).map(|(_, value)| value);
        [bearer, cookie].into_iter().flatten().any(|given| same(given, token)).then_some(Known::Already)
    }

    fn set_cookie(&self) -> Option<HeaderValue> {
        let token = self.token.as_deref()?;
        let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", self.cookie);
        HeaderValue::from_str(&cookie).ok()
    }
}

/// Since when a client is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Known {
    /// By a cookie or a header, or because there is no token.
    Already,
    /// By the address, so that the cookie is to be set.
    Now,
}

/// Lets through who may ask, and says on every answer what a browser may do with it.
pub(crate) async fn guard(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let is_api = is_api(&request);
    let known = guard.token(&request);
    let mut response = match (guard.check(&request), known) {
        (Err(refusal), _) => refusal.into_response(),
        (Ok(()), None) => Refusal::new(StatusCode::UNAUTHORIZED, "token-required", "missing token")
            .with_help("open the full address that logpose printed, with ?token=…")
            .into_response(),
        (Ok(()), _) if !matches!(*request.method(), Method::GET | Method::POST | Method::HEAD) => {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "only GET and POST are allowed")
                .into_response()
        }
        // A token that stays in the address is read from screens and histories.
        (Ok(()), Some(Known::Now)) if !is_api && request.method() == Method::GET => without_token(request.uri()),
        (Ok(()), Some(_)) => next.run(request).await,
    };
    let headers = response.headers_mut();
    if known == Some(Known::Now)
        && let Some(cookie) = guard.set_cookie()
    {
        headers.append(header::SET_COOKIE, cookie);
    }
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_api || !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

fn is_api(request: &Request) -> bool {
    request.uri().path().starts_with("/api/")
}

/// Sends the browser to the same page without the token.
fn without_token(uri: &Uri) -> Response {
    let query = uri.query().unwrap_or_default();
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    // Only a path: two slashes in front would name another host.
    let location = format!("/{}{query}", uri.path().trim_start_matches('/'));
    match HeaderValue::from_str(&location) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(_) => Refusal::bad("invalid-address", "invalid address").into_response(),
    }
}

/// The one value of a header; `None` if there are several or it is not text.
fn single(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

/// Whether two texts are the same, in a time that does not depend on where they differ.
fn same(given: &str, token: &str) -> bool {
    let (given, token) = (given.as_bytes(), token.as_bytes());
    let differ = given.iter().zip(token).fold(0, |differ, (a, b)| differ | (a ^ b));
    given.len() == token.len() && std::hint::black_box(differ) == 0
}

fn host_of(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

const ALWAYS: [(&str, &str); 5] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];
/// What the page may do: its own scripts and styles, its own server, pictures that it made itself. A WebSocket to the
/// same host and port is 'self' too.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; worker-src 'self' blob:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";
