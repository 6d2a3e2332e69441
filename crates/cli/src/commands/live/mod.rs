//! Shared by `record`, `play` and `open`: live sources, servers and status.

mod keys;
mod recorded;
mod served;
mod ticker;

use anyhow::Result;
use logpose::core::Time;
use logpose_live::{Address, Join, Place, Source};

use crate::failure::Complaint;

pub(super) use keys::{HELP as KEYS, Key, Keys};
pub(super) use recorded::Recorded;
pub(super) use served::{Served, To, finish};
pub(super) use ticker::{SourcesTicker, Ticker};

/// Live sources with their names.
pub(super) struct Sources {
    pub(super) list: Vec<Source>,
    /// Channel name prefixes if there are several sources.
    pub(super) names: Vec<String>,
    pub(super) addresses: Vec<Address>,
}

impl Sources {
    /// Parses addresses such as `rlog://254` or `drive=rlog://254`.
    pub(super) fn parse(texts: &[String], once: bool) -> Result<Self> {
        let mut sources = Self { list: Vec::new(), names: Vec::new(), addresses: Vec::new() };
        let mut given = Vec::new();
        for text in texts {
            let (name, address) = named(text);
            if let Some(name) = name {
                check_name(name)?;
            }
            let address = Address::parse(address).map_err(|error| Complaint::usage(error.to_string()))?;
            let source = Source::new(&address, "logpose").map_err(|error| Complaint::usage(error.to_string()))?;
            sources.list.push(if once { source.once() } else { source });
            sources.addresses.push(address);
            given.push(name);
        }
        sources.names = names(&given, &sources.addresses);
        let mut sorted = sources.names.clone();
        sorted.sort();
        sorted.dedup();
        if sorted.len() < sources.names.len() {
            return Err(Complaint::usage("two sources have the same name; choose names with NAME=ADDRESS").into());
        }
        Ok(sources)
    }

    /// Warns about sources that replace the Driver Station.
    pub(super) fn warn(&self, ticker: &Ticker) {
        for address in self.addresses.iter().filter(|address| address.is_commanding()) {
            let text = format!("{address}: logpose replaces the Driver Station; the robot stays disabled");
            ticker.event("note", &text);
        }
    }

    /// Joins the sources: several are put on one clock that is zero at `start`.
    pub(super) fn join(&self, start: Time) -> Join {
        if self.names.len() > 1 { Join::several(&self.names, start) } else { Join::single() }
    }
}

/// Splits `name=address`; the name is optional.
pub(super) fn named(text: &str) -> (Option<&str>, &str) {
    match text.split_once('=') {
        Some((name, address)) if !name.contains("://") => (Some(name), address),
        _ => (None, text),
    }
}

fn check_name(name: &str) -> Result<()> {
    let fits = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    if fits {
        return Ok(());
    }
    let complaint = Complaint::usage(format!("invalid source name {name:?}"));
    Err(complaint.help("use letters, digits, dots and dashes, as in drive=rlog://254").into())
}

/// Names as given, otherwise the schemes if they are distinct, otherwise the hosts, otherwise both with a number.
fn names(given: &[Option<&str>], addresses: &[Address]) -> Vec<String> {
    let unique = |key: &dyn Fn(&Address) -> String| {
        let mut keys: Vec<String> = addresses.iter().map(key).collect();
        let all = keys.clone();
        keys.sort();
        keys.dedup();
        (keys.len() == addresses.len()).then_some(all)
    };
    let scheme = |address: &Address| address.speech.scheme().to_owned();
    let host = |address: &Address| match &address.place {
        Place::Network { host, .. } => host.to_string(),
        Place::Serial(port) => port.path.clone(),
        Place::Bluetooth(name) => name.clone(),
    };
    let usual = unique(&scheme)
        .or_else(|| unique(&host))
        .unwrap_or_else(|| addresses.iter().zip(1..).map(|(address, n)| format!("{}{n}", scheme(address))).collect());
    given.iter().zip(usual).map(|(name, usual)| name.map_or(usual, str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::Sources;

    #[test]
    fn sources_are_named_by_what_tells_them_apart() {
        let cases: [(&[&str], &[&str]); 5] = [
            (&["rlog://254"], &["rlog"]),
            (&["rlog://254", "rlog://1678"], &["254", "1678"]),
            (&["rlog://254:1", "rlog://254:2"], &["rlog1", "rlog2"]),
            (&["a=rlog://254", "rlog://254:2"], &["a", "rlog2"]),
            (&["a=rlog://254", "b=rlog://254"], &["a", "b"]),
        ];
        for (texts, names) in cases {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(Sources::parse(&texts, false).unwrap().names, names);
        }
    }

    #[test]
    fn what_cannot_be_listened_to_is_refused() {
        let cases = [
            ("foxglove://", "Foxglove clients connect to logpose"),
            ("match.wpilog", "is not a live address"),
            ("a/b=rlog://254", "invalid source name"),
        ];
        for (text, reason) in cases {
            let error = Sources::parse(&[text.to_owned()], false).err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
        }
        let twice = ["a=rlog://1", "a=rlog://2"].map(str::to_owned);
        assert!(Sources::parse(&twice, false).err().unwrap().to_string().contains("same name"));
    }
}
