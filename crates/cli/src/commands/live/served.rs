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

/// Server addresses and options.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Serving")]
pub(in crate::commands) struct To {
    /// Serve over rlog://, nt4:// or foxglove://, optionally with a port as in rlog://:5801; listens on localhost only unless --bind is given; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub to: Vec<String>,
    /// Address to listen on, to let others on the network connect; 0.0.0.0 for all interfaces
    #[arg(long, value_name = "IP", requires = "to")]
    pub bind: Option<IpAddr>,
    /// RLOG: revision to write and serve
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub rlog_revision: Option<u8>,
    /// Foxglove: send ROS 2 messages instead of ROS 1; PlotJuggler needs this
    #[arg(long, requires = "to")]
    pub ros2: bool,
    /// Maximum number of clients per server
    #[arg(long, value_name = "N", default_value_t = 512, hide_default_value = true)]
    pub max_clients: usize,
}

/// A running server on its own thread.
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

    /// Starts all requested servers.
    pub(in crate::commands) fn start(
        &self,
        live: &Live,
        epoch_ns: Option<i64>,
        ticker: &Ticker,
    ) -> Result<Vec<Served>> {
        let mut served = Vec::new();
        for text in &self.to {
            let mut address = Address::parse(text).map_err(|error| {
                Complaint::usage(error.to_string())
                    .help("to write a file, use `logpose convert` or `logpose record -o`")
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
                let options = FoxgloveOptions { clients: options.clients.min(self.max_clients), ..options };
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
            let help = "another program uses this port; choose another one, as in rlog://127.0.0.1:5801";
            Complaint::failed("bind", error.to_string()).help(help)
        }
        ServerError::Bind { .. } => Complaint::failed("bind", error.to_string()),
        _ => Complaint::usage(error.to_string()),
    }
}

/// Prints the address, and a warning if others on the network can connect.
fn expose(scheme: &str, bound: SocketAddr, ticker: &Ticker) {
    ticker.event("serving", &format!("{scheme}://{bound}"));
    if !bound.ip().is_loopback() {
        let who = if bound.ip().is_unspecified() {
            "everyone on all networks of this computer".to_owned()
        } else {
            format!("everyone who can reach {}", bound.ip())
        };
        ticker.event("exposed", &format!("{who} can read all served channels without a password"));
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
                    cut_off: figures.cut_off,
                    turned_away: 0,
                    dropped: (dropped + figures.dropped).into(),
                    refused: figures.early.into(),
                }
            }
        }
    }

    /// Whether its clients need to know the channels before they listen.
    pub(in crate::commands) fn declares_first(&self) -> bool {
        matches!(self.watch, Watch::Foxglove(_))
    }

    /// Whether anyone gets what is sent. A client of Foxglove gets nothing before it subscribes to something.
    pub(in crate::commands) fn has_listener(&self) -> bool {
        match &self.watch {
            Watch::Links(stats) => stats.figures().open > 0,
            Watch::Foxglove(stats) => stats.figures().subscriptions > 0,
        }
    }

    /// A short status.
    pub(in crate::commands) fn line(&self) -> String {
        let figures = self.figures();
        format!("{} {}", self.address, counted(figures.clients, "client"))
    }
}

/// Stops the servers and reports undelivered data.
pub(in crate::commands) fn finish(served: Vec<Served>, notes: &Notes) -> Vec<Figures> {
    let end = |one: Served| {
        let figures = one.figures();
        let warn = |text: String| notes.note("warning", format_args!("{}: {text}", figures.address));
        if figures.cut_off > 0 {
            warn(format!("disconnected {} that read too slowly", counted(figures.cut_off, "client")));
        }
        if one.thread.dropped() > 0 {
            warn(format!("the server was too slow and dropped {}", counted(one.thread.dropped(), "sample")));
        }
        if let Watch::Foxglove(stats) = &one.watch
            && stats.figures().dropped > 0
        {
            let missed = counted(stats.figures().dropped, "message");
            warn(format!("clients that read too slowly missed {missed}"));
        }
        if let Watch::Links(stats) = &one.watch {
            let links = stats.figures();
            if let Some(refusal) = links.refusal {
                warn(format!("some values cannot be represented, for example: {refusal}"));
            }
            if let Some(problem) = links.problem {
                warn(format!("{} with clients, for example: {problem}", counted(links.problems, "problem")));
            }
        }
        if let Err(error) = one.thread.finish() {
            warn(error.to_string());
        }
        figures
    };
    served.into_iter().map(end).collect()
}
