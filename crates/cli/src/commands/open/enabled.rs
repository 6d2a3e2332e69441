//! Opens logs and live sources, serves the viewer and waits for the end.

#[path = "answers/mod.rs"]
mod answers;
#[path = "browser.rs"]
mod browser;
#[path = "demos.rs"]
mod demos;
#[path = "growing.rs"]
mod growing;
#[path = "lake/mod.rs"]
mod lake;
#[path = "listening.rs"]
mod listening;

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use logpose::{
    Align, Alignment as EdgeAlignment, Browse, Cache, ClockMap, Log, OpenOptions, default_cache_folder, parse_bytes,
    parse_duration,
};
use logpose_live::Address;
use logpose_server::{
    AlignedBy, Alignment, Error, Layouts, Library, LibraryOptions, LiveFiles, Options, Server, Session,
};
use serde::Serialize;

use self::growing::Growing;
use self::lake::Shelf;
use self::listening::Listening;
use super::{AlignBy, Open};
use crate::args::{one_of, time_limit};
use crate::commands::convert::report_alignment;
use crate::commands::live::named;
use crate::commands::report_problems;
use crate::failure::{Complaint, Outcome};
use crate::interrupt;
use crate::progress::Bar;
use crate::screen::Screen;

pub(super) fn run(open: &Open, screen: &mut Screen) -> Result<Outcome> {
    let bind = SocketAddr::new(open.bind.unwrap_or(Ipv4Addr::LOCALHOST.into()), open.port);
    let limit = open.duration.as_deref().map(parse_duration).transpose()?;
    let limit = limit.map(|ns| Duration::from_nanos(ns.unsigned_abs()));
    let shelf = open.lake.as_deref().map(|place| Shelf::open(place, options(open))).transpose()?;
    let inputs = inputs(open, shelf.as_ref());
    if inputs.is_empty() && open.follow {
        return Err(Complaint::usage("--follow needs a file").into());
    }
    if inputs.is_empty() && !bind.ip().to_canonical().is_loopback() && !open.allow_upload {
        let complaint = Complaint::usage("nothing to show to others on the network");
        return Err(complaint.help("name a file, or use --allow-upload to let them add logs").into());
    }
    if open.record.is_some() && !inputs.iter().any(Input::is_live) {
        return Err(Complaint::usage("--record needs a live source").into());
    }
    // Report a port in use before reading logs, which may take a while.
    if let Err(reason) = TcpListener::bind(bind) {
        return Err(refused(&Error::Bind { address: bind, reason }).into());
    }
    let growing = open.follow.then(|| Growing::new(open, &inputs, &screen.notes)).transpose()?;
    let listening = Listening::new(open, &inputs)?;
    let files = inputs.iter().filter_map(Input::file).filter(|_| !open.follow);
    let files: Vec<&PathBuf> = files.collect();
    let (logs, mut worst) = read(open, shelf.as_ref(), &files, screen)?;
    if !inputs.is_empty() && logs.is_empty() && listening.is_none() && growing.is_none() {
        return Ok(worst);
    }
    worst = worst.max(report_problems(&logs, screen));
    let (clocks, alignments) = clocks(open, &logs, screen)?;
    let live_clock = listening.as_ref().map_or(Ok(ClockMap::default()), |live| live.clock(open.align, &logs))?;
    let (mut session, bar) = (Session::new(), Bar::new(screen.notes.quiet));
    let mut sources = listening.as_ref().map(Listening::logs).unwrap_or_default().into_iter();
    let logs: Vec<Arc<Log>> = logs.into_iter().map(Arc::new).collect();
    let mut whole = logs.iter().zip(clocks.into_iter().zip(alignments)).peekable();
    for input in &inputs {
        match input {
            Input::Live(_) => {
                if let Some(live) = sources.next() {
                    session.add_live(live.log(), live_clock);
                }
            }
            Input::File(path) => {
                if let Some(growing) = &growing {
                    session.add_live(growing.log().log(), ClockMap::default());
                }
                // Logs that could not be read are missing, and so are companions of other logs.
                if let Some((log, (clock, alignment))) = whole.next_if(|(log, _)| log.path == *path) {
                    let number = session.add(Browse::new(Arc::clone(log), &bar)?, clock);
                    alignment.into_iter().for_each(|found| session.set_alignment(number, found));
                }
            }
        }
    }
    if let Some(engine) = answers::engine(&open.reading, time_limit(&open.limit_time)?) {
        session.set_sql(engine);
    }
    session.set_layouts(layouts(open, bind.ip())?);
    session.set_library(library(open, bind.ip(), &logs, shelf)?);
    let token = (!bind.ip().to_canonical().is_loopback()).then(token).transpose()?;
    let options = Options { bind, token, hosts: open.hosts.clone(), live: live_files(open)?, ..Options::default() };
    let server = Server::start(session, &options).map_err(|error| refused(&error))?;
    interrupt::await_it();
    announce(open, &server, screen)?;
    if !open.no_browser
        && let Err(error) = browser::show(&server.url())
    {
        screen.notes.note("note", format_args!("could not open a browser ({error}); open the address yourself"));
    }
    match (growing, listening) {
        (Some(growing), _) => worst = worst.max(growing.follow(limit, screen)?),
        (None, Some(listening)) => worst = worst.max(listening.listen(limit, screen)?),
        (None, None) => wait(limit),
    }
    server.stop();
    Ok(worst)
}

/// An input of the viewer.
enum Input {
    File(PathBuf),
    /// An address, with its name in front if it has one.
    Live(String),
}

impl Input {
    fn file(&self) -> Option<&PathBuf> {
        match self {
            Self::File(path) => Some(path),
            Self::Live(_) => None,
        }
    }

    fn is_live(&self) -> bool {
        matches!(self, Self::Live(_))
    }
}

/// Parses one argument.
fn inputs(open: &Open, shelf: Option<&Shelf>) -> Vec<Input> {
    let one = |path: &PathBuf| match path.to_str() {
        _ if shelf.is_some() => Input::File(shelf.map_or_else(|| path.clone(), |shelf| shelf.path(path))),
        Some(text) if Address::is_live(named(text).1) => Input::Live(text.to_owned()),
        _ => Input::File(path.clone()),
    };
    open.inputs.iter().map(one).collect()
}

/// How logs are opened: the viewer needs random access to every sample.
fn options(open: &Open) -> OpenOptions {
    OpenOptions { light_from: u64::MAX, ..open.reading.options() }
}

/// Opens the files. One that cannot be read is reported and skipped.
fn read(open: &Open, shelf: Option<&Shelf>, files: &[&PathBuf], screen: &mut Screen) -> Result<(Vec<Log>, Outcome)> {
    let options = options(open);
    let (mut logs, mut worst): (Vec<Log>, _) = (Vec::new(), Outcome::Done);
    for path in files {
        if logs.iter().any(|log| log.companion() == Some(path)) {
            continue;
        }
        let opened = match shelf {
            Some(shelf) => shelf.take(path),
            None => Log::open_recovered(path, &options, &Bar::new(screen.notes.quiet)).map_err(Into::into),
        };
        logs.extend(one_of(opened, open.inputs.len(), screen, &mut worst)?);
    }
    Ok((logs, worst))
}

/// Maps the timestamps of each log to the session clock, and says how that was found for all but the first.
fn clocks(open: &Open, logs: &[Log], screen: &Screen) -> Result<(Vec<ClockMap>, Vec<Option<Alignment>>)> {
    let align = match open.align {
        AlignBy::Auto => Align::Auto,
        AlignBy::Start => Align::Start,
        AlignBy::Wall => Align::Epoch,
        AlignBy::None => Align::None,
        AlignBy::Enabled => {
            let Some(first) = logs.first() else { return Ok((Vec::new(), Vec::new())) };
            let found = EdgeAlignment::by_enabled(logs)?;
            let aligned: Vec<_> = found.others.iter().zip(logs.iter().skip(1)).collect();
            report_alignment(&first.path, &aligned, screen);
            let told = std::iter::once(None).chain(found.others.iter().map(|one| Some(Alignment::from(one))));
            return Ok((found.clocks(), told.collect()));
        }
    };
    let shifts = align.shifts(logs)?;
    let by = match open.align {
        AlignBy::None => AlignedBy::None,
        AlignBy::Wall => AlignedBy::Wall,
        AlignBy::Auto if Align::Epoch.shifts(logs).is_ok_and(|wall| wall == shifts) => AlignedBy::Wall,
        _ => AlignedBy::Start,
    };
    let told = (0..shifts.len()).map(|place| (place > 0).then(|| Alignment::by(by)));
    let told = told.collect();
    Ok((shifts.into_iter().map(ClockMap::shifted).collect(), told))
}

/// The layout that the page begins with, and where layouts are kept. What others on the network arrange is not kept.
fn layouts(open: &Open, ip: IpAddr) -> Result<Layouts> {
    let mut layouts = Layouts::new(layouts_file().filter(|_| ip.to_canonical().is_loopback()));
    if let Some(path) = &open.layout {
        let failed = |reason: String| {
            Complaint::failed("layout", format!("{}: {reason}", path.display()))
                .help("--layout takes a layout saved in the viewer (Ctrl+S) or exported by AdvantageScope")
        };
        let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        layouts.give(name, &text).map_err(failed)?;
    }
    Ok(layouts)
}

/// The file of kept layouts: `LOGPOSE_LAYOUTS` if set (none if empty), otherwise a file in the configuration folder.
fn layouts_file() -> Option<PathBuf> {
    if let Some(file) = std::env::var_os("LOGPOSE_LAYOUTS") {
        return (!file.is_empty()).then(|| file.into());
    }
    let told = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = if cfg!(windows) {
        told("APPDATA")
    } else if cfg!(target_os = "macos") {
        told("HOME").map(|home| home.join("Library").join("Application Support"))
    } else {
        told("XDG_CONFIG_HOME").or_else(|| told("HOME").map(|home| home.join(".config")))
    };
    folder.map(|folder| folder.join("logpose").join("layouts.json"))
}

/// Prints the address, and a warning if others on the network can connect.
fn announce(open: &Open, server: &Server, screen: &mut Screen) -> Result<()> {
    let url = server.url();
    if open.format.json() {
        screen.out.json_line(&Ready { url: &url, pid: std::process::id() })?;
        return Ok(screen.out.flush()?);
    }
    writeln!(screen.out, "{url}")?;
    screen.out.flush()?;
    let ip = server.address().ip();
    if !ip.to_canonical().is_loopback() {
        let who = "anyone with the full address, including its token, can read everything open here";
        match own_address().filter(|_| ip.is_unspecified()) {
            Some(own) => {
                let there = url.replacen("127.0.0.1", &own.to_string(), 1).replacen("[::1]", &own.to_string(), 1);
                screen.notes.note("exposed", format_args!("{who}; from other computers use {there}"));
            }
            None => screen.notes.note("exposed", who),
        }
    }
    screen.notes.line("Press Ctrl-C to stop");
    Ok(())
}

/// The JSON line for programs.
#[derive(Serialize)]
struct Ready<'a> {
    url: &'a str,
    pid: u32,
}

/// The address at which others on the network reach this computer. Nothing is sent: the system is only asked for its
/// route.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(10, 255, 255, 255), 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
}

/// 192 random bits from the system.
fn token() -> Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)
        .map_err(|error| Complaint::failed("random", format!("cannot get random numbers from the system: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn refused(error: &Error) -> Complaint {
    let complaint = Complaint::failed("bind", error.to_string());
    match error {
        Error::Bind { reason, .. } => match reason.kind() {
            io::ErrorKind::AddrInUse => complaint.help("another program uses this port; omit --port to get a free one"),
            io::ErrorKind::PermissionDenied => {
                complaint.help("ports below 1024 are reserved for the system; choose a higher one")
            }
            io::ErrorKind::AddrNotAvailable => complaint.help("--bind needs an address of this computer, or 0.0.0.0"),
            _ => complaint,
        },
        _ => complaint,
    }
}

/// What can be added in the page: nothing by others on the network, unless that is wanted.
fn library(open: &Open, ip: IpAddr, logs: &[Arc<Log>], shelf: Option<Shelf>) -> Result<Library> {
    let local = ip.to_canonical().is_loopback();
    let LiveFiles { folder, keep_free, .. } = live_files(open)?;
    let options = open.reading.options();
    let recent = match &options.cache {
        Cache::Folder(folder) => Some(folder.join("recent.json")),
        _ => None,
    };
    let library = Library::new(LibraryOptions {
        open: options,
        recent,
        local,
        upload: local || open.allow_upload,
        upload_limit: parse_bytes(&open.limit_upload)?,
        keep_free,
        folder,
        demos: Some(Box::new(demos::DemoLogs)),
        lake: shelf.clone().map(|shelf| Box::new(shelf) as _),
    });
    let files = logs.iter().filter(|log| log.path.as_os_str() != "-" && shelf.is_none());
    files.for_each(|log| library.remember(&log.path));
    Ok(library)
}

fn live_files(open: &Open) -> Result<LiveFiles> {
    let (limit, keep_free) = (parse_bytes(&open.limit_disk)?, parse_bytes(&open.keep_free)?);
    Ok(LiveFiles { folder: temporary_folder(), limit, keep_free })
}

/// Waits for Ctrl-C or the end of --duration.
fn wait(limit: Option<Duration>) {
    let begun = Instant::now();
    while !interrupt::is_raised() && limit.is_none_or(|limit| begun.elapsed() < limit) {
        thread::sleep(Duration::from_millis(20));
    }
}

/// Where the temporary files of live data are.
fn temporary_folder() -> PathBuf {
    default_cache_folder().filter(|folder| folder.is_dir()).unwrap_or_else(std::env::temp_dir)
}
