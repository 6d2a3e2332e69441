use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use logpose::bridges::mcap::Language;
use logpose::core::EncodeOptions;
use logpose_live::{
    Address, FoxgloveOptions, FoxgloveServer, FoxgloveStats, Host, LinkStats, Live, OutputThread, ServerError,
    ServerOptions, Speech,
};

use super::Ticker;
use crate::failure::Complaint;
use crate::human::counted;
use crate::render::live::Server as Figures;
use crate::screen::Notes;

/// Where things are served.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Serving")]
pub(in crate::commands) struct To {
    /// Serve it there: rlog://, nt4:// or foxglove://, with a port behind a colon if not the usual one; on this machine alone unless --bind says otherwise; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub to: Vec<String>,
    /// Let others on the network connect: an address of this machine, or 0.0.0.0 for all of them
    #[arg(long, value_name = "IP", requires = "to")]
    pub bind: Option<IpAddr>,
    /// RLOG: the revision to write and to serve
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub rlog_revision: Option<u8>,
    /// Foxglove: messages of ROS 2 instead of ROS 1, which is all that PlotJuggler takes
    #[arg(long, requires = "to")]
    pub ros2: bool,
    /// How many clients each server may have
    #[arg(long, value_name = "N", default_value_t = 1024, hide_default_value = true)]
    pub max_clients: usize,
}

/// Something that is served, on its own thread.
pub(in crate::commands) struct Served {
    pub(in crate::commands) address: String,
    pub(in crate::commands) thread: OutputThread,
    watch: Watch,
}

enum Watch {
    Links(Arc<LinkStats>),
    Foxglove(FoxgloveStats),
}

impl To {
    pub(in crate::commands) fn encode(&self) -> EncodeOptions {
        EncodeOptions { revision: self.rlog_revision, ..EncodeOptions::default() }
    }

    /// Starts everything that is asked for.
    pub(in crate::commands) fn start(
        &self,
        live: &Live,
        epoch_ns: Option<i64>,
        ticker: &Ticker,
    ) -> Result<Vec<Served>> {
        let mut served = Vec::new();
        for text in &self.to {
            let mut address = Address::parse(text).map_err(|error| {
                Complaint::usage(error.to_string()).help("to write a file use `logpose convert`, or `record -o`")
            })?;
            if let Some(bind) = self.bind {
                address = address.on(Host::Ip(bind));
            }
            served.push(self.one(live, &address, epoch_ns, ticker)?);
        }
        Ok(served)
    }

    fn one(&self, live: &Live, address: &Address, epoch_ns: Option<i64>, ticker: &Ticker) -> Result<Served> {
        let scheme = address.speech.scheme();
        let clock = live.clock();
        let (bound, thread, watch) = match address.speech {
            Speech::Dialect(..) => {
                let options =
                    ServerOptions { encode: self.encode(), clients: self.max_clients, ..ServerOptions::default() };
                let server = live.serve(address, &options).map_err(refused)?;
                let (bound, stats) = (server.address(), server.stats());
                (bound, OutputThread::start(scheme, Box::new(server), clock)?, Watch::Links(stats))
            }
            Speech::Foxglove => {
                let bind = address.bind().map_err(|error| Complaint::usage(error.to_string()))?;
                let language = if self.ros2 { Language::Ros2 } else { Language::Ros1 };
                let options = FoxgloveOptions { epoch_ns, language, ..FoxgloveOptions::default() };
                let server = FoxgloveServer::start(bind, &options).map_err(refused)?;
                let (bound, stats) = (server.address(), server.stats());
                (bound, OutputThread::start(scheme, Box::new(server), clock)?, Watch::Foxglove(stats))
            }
        };
        expose(scheme, bound, ticker);
        Ok(Served { address: format!("{scheme}://{bound}"), thread, watch })
    }
}

fn refused(error: ServerError) -> Complaint {
    match &error {
        ServerError::Bind { error: reason, .. } if reason.kind() == io::ErrorKind::AddrInUse => {
            let help = "another program has the port; choose another one behind a colon, as in rlog://127.0.0.1:5801";
            Complaint::failed("bind", error.to_string()).help(help)
        }
        ServerError::Bind { .. } => Complaint::failed("bind", error.to_string()),
        _ => Complaint::usage(error.to_string()),
    }
}

/// Says where something is to be found, and what it exposes if that is more than this machine.
fn expose(scheme: &str, bound: SocketAddr, ticker: &Ticker) {
    ticker.tell("serving", &format!("{scheme}://{bound}"));
    if !bound.ip().is_loopback() {
        let who = if bound.ip().is_unspecified() {
            "everyone on every network of this machine".to_owned()
        } else {
            format!("everyone who reaches {}", bound.ip())
        };
        ticker.tell("exposed", &format!("{who} can read all channels that are served; nobody is asked for a password"));
    }
}

impl Served {
    pub(in crate::commands) fn figures(&self) -> Figures {
        let address = self.address.clone();
        let dropped = self.thread.dropped();
        match &self.watch {
            Watch::Links(stats) => {
                let figures = stats.figures();
                Figures {
                    address,
                    clients: figures.open,
                    sent_bytes: Some(figures.sent.into()),
                    cut_off: figures.cut_off,
                    turned_away: figures.turned_away,
                    dropped: dropped.into(),
                    refused: figures.refused.into(),
                }
            }
            Watch::Foxglove(stats) => {
                let figures = stats.figures();
                Figures {
                    address,
                    clients: figures.clients,
                    sent_bytes: None,
                    cut_off: 0,
                    turned_away: 0,
                    dropped: dropped.into(),
                    refused: figures.early.into(),
                }
            }
        }
    }

    /// How it stands, in a few words.
    pub(in crate::commands) fn line(&self) -> String {
        let figures = self.figures();
        format!("{} {}", self.address, counted(figures.clients, "client"))
    }
}

/// Ends what is served, and tells what was not delivered.
pub(in crate::commands) fn finish(served: Vec<Served>, notes: &Notes) -> Vec<Figures> {
    let end = |one: Served| {
        let figures = one.figures();
        let warn = |text: String| notes.note("warning", format_args!("{}: {text}", figures.address));
        if figures.cut_off > 0 {
            warn(format!("{} cut off, because what was sent was not read", counted(figures.cut_off, "client")));
        }
        if one.thread.dropped() > 0 {
            warn(format!("it was too slow for {}", counted(one.thread.dropped(), "sample")));
        }
        if let Watch::Links(stats) = &one.watch
            && let Some(refusal) = stats.figures().refusal
        {
            warn(format!("some values cannot be said there, such as: {refusal}"));
        }
        if let Err(error) = one.thread.finish() {
            warn(error.to_string());
        }
        figures
    };
    served.into_iter().map(end).collect()
}
