//! Who is answered: Host, Origin, token, methods, paths, and what every answer says.

use std::io::Read;
use std::net::SocketAddr;

use flate2::read::GzDecoder;
use logpose::ClockMap;
use logpose_server::{Error, Options, Server};

use crate::support::{Answer, Client, FRC, named, open, serve, session};

fn with(options: &Options) -> Client {
    Client::new(Server::start(session(&[(open(&named(FRC)), ClockMap::default())]), options).unwrap())
}

#[test]
fn only_the_server_s_own_names_are_answered() {
    let client =
        with(&Options { hosts: vec!["Logs.Example".into(), "proxy.example:443".into()], ..Options::default() });
    let port = client.address().port();
    let status = |lines: &[&str]| client.request("GET", "/api/session", lines, b"").status;
    let host = |name: &str| status(&[&format!("Host: {name}")]);
    for good in ["127.0.0.1:{}", "localhost:{}", "LOCALHOST:{}", "[::1]:{}", "logs.example:{}"] {
        assert_eq!(host(&good.replace("{}", &port.to_string())), 200, "{good}");
    }
    assert_eq!((host("proxy.example"), host("proxy.example:443")), (200, 200));
    let wrong = port ^ 1;
    for bad in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        "localhost",
        &format!("localhost:{wrong}"),
        &format!("127.0.0.2:{port}"),
        &format!("localhost.evil.example:{port}"),
        &format!("evil@localhost:{port}"),
        &format!("localhost:{port}@evil"),
        &format!("localhost:{port}:80"),
        &format!("0.0.0.0:{port}"),
        &format!("[::ffff:127.0.0.1]:{port}"),
        "proxy.example:1",
        "",
        "localhost:99999",
    ] {
        let found = host(bad);
        assert!(found == 403 || found == 400, "{bad:?} {found}");
    }
    // Two of them, or none.
    assert!(status(&["Host: {host}", "Host: evil.example"]) >= 400);
    assert!(status(&[]) >= 400);
    // An address in the request line does not make up for it.
    let answer = client.raw(
        format!("GET http://127.0.0.1:{port}/api/session HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n")
            .as_bytes(),
    );
    assert_eq!(answer.status, 403);
    let named = format!(
        "GET http://evil.example:{port}/api/session HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(client.raw(named.as_bytes()).status, 403);
}

#[test]
fn addresses_of_the_new_kind_are_names_too() {
    let bind = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, 0));
    let log = session(&[(open(&named(FRC)), ClockMap::default())]);
    let client = match Server::start(log, &Options { bind, ..Options::default() }) {
        Ok(server) => Client::new(server),
        // A machine without IPv6.
        Err(Error::Bind { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    assert!(client.server.url().starts_with("http://[::1]:"));
    assert_eq!(client.get("/api/session").status, 200);
    assert_eq!(client.request("GET", "/api/session", &["Host: [::2]:80"], b"").status, 403);
}

#[test]
fn no_other_page_may_ask() {
    let client = serve(&open(&named(FRC)));
    let port = client.address().port();
    let origin = |method: &str, path: &str, origin: &str| {
        client.request(method, path, &["Host: {host}", &format!("Origin: {origin}")], b"").status
    };
    for path in ["/api/session", "/", "/api/live", "/api/nothing"] {
        for bad in [
            "null",
            "https://evil.example",
            "http://127.0.0.1",
            &format!("http://localhost.evil:{port}"),
            "file://",
            "",
        ] {
            assert_eq!(origin("GET", path, bad), 403, "{path} {bad}");
            assert_eq!(origin("POST", path, bad), 403, "{path} {bad}");
        }
    }
    assert_eq!(origin("GET", "/api/session", &format!("http://localhost:{port}")), 200);
    assert_eq!(origin("GET", "/api/session", &format!("http://127.0.0.1:{port}")), 200);
    // A WebSocket of another page is refused before anything is upgraded.
    let upgrade = [
        "Host: {host}",
        "Origin: http://evil.example",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ];
    assert_eq!(client.request("GET", "/api/live", &upgrade, b"").status, 403);
    for (site, status) in [("same-origin", 200), ("none", 200), ("cross-site", 403), ("same-site", 403)] {
        let line = format!("Sec-Fetch-Site: {site}");
        assert_eq!(client.request("GET", "/api/session", &["Host: {host}", &line], b"").status, status, "{site}");
        assert_eq!(client.request("GET", "/", &["Host: {host}", &line], b"").status, 200, "a link to the page");
    }
    // No answer allows other pages to read it.
    let preflight =
        client.request("OPTIONS", "/api/pixels", &["Host: {host}", &format!("Origin: http://localhost:{port}")], b"");
    assert_eq!(preflight.status, 405);
    assert!(preflight.headers.iter().all(|(name, _)| !name.starts_with("access-control")));
}

#[test]
fn a_token_is_wanted_everywhere_and_accepted_three_ways() {
    let token = "abc-DEF_123456";
    let client = with(&Options { token: Some(token.into()), ..Options::default() });
    let cookie = format!("Cookie: a=b; logpose-{}={token}", client.address().port());
    let status = |path: &str, line: &str| client.request("GET", path, &["Host: {host}", line], b"").status;
    for path in ["/", "/api/session", "/api/live", "/favicon.ico"] {
        assert_eq!(status(path, "X: y"), 401, "{path}");
        assert_eq!(status(path, "Authorization: Bearer abc-DEF_12345"), 401);
        assert_eq!(status(path, "Authorization: Bearer abc-DEF_1234567"), 401);
        assert_eq!(status(path, "Authorization: Basic abc-DEF_123456"), 401);
        assert_eq!(status(path, "Cookie: logpose-1=abc-DEF_123456"), 401);
        assert_eq!(status(&format!("{path}?token=wrong"), "X: y"), 401);
        assert_eq!(status(&format!("{path}?token="), "X: y"), 401);
    }
    assert_eq!(status("/api/session", &format!("Authorization: Bearer {token}")), 200);
    assert_eq!(status("/api/session", &cookie), 200);
    assert_eq!(status(&format!("/api/session?token={token}"), "X: y"), 200);
    // In the address of the page it is exchanged for a cookie.
    let page = client.get(&format!("/?a=1&token={token}"));
    assert_eq!((page.status, page.header("location")), (303, Some("/?a=1")));
    let set = page.header("set-cookie").unwrap();
    assert_eq!(set, format!("logpose-{}={token}; Path=/; HttpOnly; SameSite=Strict", client.address().port()));
    // Also for who has the cookie already.
    let again = client.request("GET", &format!("/?token={token}"), &["Host: {host}", &cookie], b"");
    assert_eq!(again.status, 303);
    assert_eq!(client.get(&format!("//evil.example/?token={token}")).header("location"), Some("/evil.example/"));
    assert_eq!(client.server.url(), format!("http://{}/?token={token}", client.address()));
    // The token does not make up for a wrong origin.
    let lines = ["Host: {host}", "Origin: http://evil.example", &cookie];
    assert_eq!(client.request("GET", "/api/session", &lines, b"").status, 403);
}

#[test]
fn other_machines_need_a_token() {
    let any = SocketAddr::from(([0, 0, 0, 0], 0));
    let start = |token: Option<&str>| {
        Server::start(session(&[]), &Options { bind: any, token: token.map(str::to_owned), ..Options::default() })
    };
    assert!(matches!(start(None), Err(Error::NoToken(_))));
    assert!(matches!(start(Some("")), Err(Error::NoToken(_))));
    assert!(matches!(start(Some("a; b=cccccc")), Err(Error::BadToken)));
    assert!(matches!(start(Some("short")), Err(Error::BadToken)));
    let client = Client::new(start(Some("long-enough")).unwrap());
    let port = client.address().port();
    assert!(client.server.url().starts_with("http://127.0.0.1:"));
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    use std::io::{Read as _, Write as _};
    write!(stream, "GET /api/session HTTP/1.1\r\nHost: 192.168.1.7:{port}\r\nAuthorization: Bearer long-enough\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"));
}

#[test]
fn every_answer_has_security_headers() {
    let client = serve(&open(&named(FRC)));
    let answers = [
        client.get("/"),
        client.get("/api/session"),
        client.get("/nothing"),
        client.get("/api/nothing"),
        client.request("GET", "/", &["Host: evil"], b""),
        client.post_text("/api/values", "{"),
        client.request("DELETE", "/api/session", &["Host: {host}"], b""),
    ];
    for answer in &answers {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';") && policy.contains("frame-ancestors 'none'")
        );
        assert!(!policy.contains("unsafe"));
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value));
        }
        assert!(answer.header("server").is_none());
    }
    assert_eq!(answers[1].header("cache-control"), Some("no-store"));
    assert_eq!(answers[0].header("content-type"), Some("text/html; charset=utf-8"));
}

/// The page is kept compressed, and unpacked for those who do not take it so.
#[test]
fn the_page_comes_in_the_encoding_that_the_client_takes() {
    let client = serve(&open(&named(FRC)));
    let get = |method: &str, lines: &[&str]| client.request(method, "/", &[&["Host: {host}"], lines].concat(), b"");
    let plain = get("GET", &[]);
    // Without a page there is only a text that says so, which is not worth compressing.
    if plain.header("vary").is_none() {
        assert!(String::from_utf8_lossy(&plain.body).contains("make web"));
        return;
    }
    assert!(plain.body.starts_with(b"<!doctype html>"));
    assert_eq!(plain.header("content-encoding"), None);
    let length = |answer: &Answer| answer.header("content-length").unwrap().parse::<usize>().unwrap();
    assert_eq!(length(&plain), plain.body.len());
    for line in ["gzip, deflate, br", "br;q=1.0, GZIP;q=0.8", "x-gzip", "*", "br, *;q=0.1", "identity;q=0,gzip; q=1"] {
        let packed = get("GET", &[&format!("Accept-Encoding: {line}")]);
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{line}");
        assert_eq!((packed.header("vary"), plain.header("vary")), (Some("Accept-Encoding"), Some("Accept-Encoding")));
        assert_eq!(packed.header("content-type"), plain.header("content-type"));
        assert_eq!(packed.header("cache-control"), plain.header("cache-control"));
        assert!(length(&packed) == packed.body.len() && packed.body.len() < plain.body.len(), "{line}");
        let mut bytes = Vec::new();
        GzDecoder::new(&*packed.body).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, plain.body, "{line}");
        let head = get("HEAD", &[&format!("Accept-Encoding: {line}")]);
        assert_eq!((head.status, head.header("content-encoding"), &*head.body), (200, Some("gzip"), &b""[..]));
        assert_eq!(length(&head), packed.body.len());
    }
    for line in ["identity", "br, deflate", "gzip;q=0", "gzip;q=0.0, *", "", "*;q=0", "gzippy"] {
        let answer = get("GET", &[&format!("Accept-Encoding: {line}")]);
        assert_eq!((answer.header("content-encoding"), answer.body == plain.body), (None, true), "{line}");
    }
    let head = get("HEAD", &[]);
    assert_eq!((head.status, head.header("content-encoding"), &*head.body), (200, None, &b""[..]));
    assert_eq!(length(&head), plain.body.len());
}

#[test]
fn there_is_nothing_but_what_is_documented() {
    let client = serve(&open(&named(FRC)));
    for path in [
        "/etc/passwd",
        "/../../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/../../Cargo.toml",
        "/api",
        "/api/",
        "/api/logs",
        "/api/logs/0",
        "/api/logs/0/files",
        "/api/logs/%2e%2e/channels",
        "/api/session/",
        "/index.html/",
    ] {
        let answer = client.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.json()["error"]["message"].is_string());
    }
    for (method, path) in [
        ("POST", "/api/session"),
        ("GET", "/api/pixels"),
        ("PUT", "/api/pixels"),
        ("DELETE", "/"),
        ("TRACE", "/"),
        ("POST", "/"),
    ] {
        let answer = client.request(method, path, &["Host: {host}"], b"");
        assert_eq!(answer.refusal(), (405, "method-not-allowed".to_owned()), "{method} {path}");
    }
}
