use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::Result;
use logpose::carla::is_recording;
use logpose_core::{Channel, ChannelId};

#[cfg(feature = "lake")]
use crate::aligned::{Origin, channel_table};
use crate::carla::View;
use crate::logs::Logs;
use crate::structs::Structs;
use crate::table::{Provider, Table};
use crate::{tables, views};

/// The tables, made when they are asked for.
pub(crate) struct Catalog {
    logs: Arc<Logs>,
    #[cfg(feature = "lake")]
    kept: Option<Arc<crate::lake::Kept>>,
    /// In the order in which they are listed.
    names: Vec<String>,
    kinds: HashMap<String, Kind>,
    structs: Vec<Structs>,
    /// Names in small letters, as SQL has them where they stand outside of quotes; nothing where two would be meant.
    folded: HashMap<String, Option<String>>,
    made: Mutex<HashMap<String, Arc<dyn TableProvider>>>,
    /// The names of functions, for who mistypes one.
    pub functions: OnceLock<Vec<String>>,
}

enum Kind {
    Logs,
    Samples,
    Channels,
    Problems,
    Modes,
    Matches,
    Console,
    Errors,
    Carla(View),
    Channel(Vec<(usize, ChannelId)>),
    Family(Vec<(usize, ChannelId, String)>),
    /// The first table of so many structs.
    Structs(usize),
    /// Of a lake.
    #[cfg(feature = "lake")]
    Stored,
}

impl Catalog {
    pub(crate) fn new(logs: &Arc<Logs>) -> Self {
        let fixed = [
            (tables::LOGS, Kind::Logs),
            (tables::CHANNELS, Kind::Channels),
            (tables::SAMPLES, Kind::Samples),
            ("problems", Kind::Problems),
            ("modes", Kind::Modes),
            ("matches", Kind::Matches),
            ("console", Kind::Console),
            ("errors", Kind::Errors),
        ];
        let mut names = Vec::new();
        let mut kinds = HashMap::new();
        let mut add = |name: &str, kind: Kind| {
            // What is always there is not hidden by a channel of that name.
            if !kinds.contains_key(name) {
                names.push(name.to_owned());
                kinds.insert(name.to_owned(), kind);
            }
        };
        fixed.into_iter().for_each(|(name, kind)| add(name, kind));
        if logs.logs.iter().any(|log| is_recording(log)) {
            View::ALL.into_iter().for_each(|(name, view)| add(name, Kind::Carla(view)));
        }
        let (channels, families) = merged(logs);
        families.into_iter().for_each(|(name, members)| add(&name, Kind::Family(members)));
        let structs = Structs::of(logs);
        structs.iter().enumerate().for_each(|(place, one)| add(&one.name, Kind::Structs(place)));
        let described: Vec<Channel> = channels.iter().map(|(channel, _)| channel.clone()).collect();
        for (name, (_, members)) in logpose_model::names(&described).into_iter().zip(channels) {
            add(&name, Kind::Channel(members));
        }
        Self::with(logs.clone(), names, kinds, structs)
    }

    /// The tables of a lake.
    #[cfg(feature = "lake")]
    pub(crate) fn of_lake(logs: Arc<Logs>, kept: Arc<crate::lake::Kept>, names: Vec<String>) -> Self {
        let kinds = names.iter().map(|name| (name.clone(), Kind::Stored)).collect();
        Self { kept: Some(kept), ..Self::with(logs, names, kinds, Vec::new()) }
    }

    fn with(logs: Arc<Logs>, names: Vec<String>, kinds: HashMap<String, Kind>, structs: Vec<Structs>) -> Self {
        let mut folded: HashMap<String, Option<String>> = HashMap::new();
        for name in &names {
            folded.entry(name.to_lowercase()).and_modify(|one| *one = None).or_insert_with(|| Some(name.clone()));
        }
        #[cfg(feature = "lake")]
        let kept = None;
        Self {
            logs,
            #[cfg(feature = "lake")]
            kept,
            names,
            kinds,
            structs,
            folded,
            made: Mutex::default(),
            functions: OnceLock::new(),
        }
    }

    /// The tables that are the same for every log, and those that only its kind of log has, without those that only show
    /// samples in another way.
    #[cfg(feature = "lake")]
    pub(crate) fn derived(&self) -> Vec<String> {
        let derived = |name: &String| !matches!(self.kinds.get(name), Some(Kind::Samples | Kind::Channel(_)));
        self.all_names().into_iter().filter(derived).collect()
    }

    /// The names of all tables. Where several logs have structs of one name, their schemas are read to tell how many tables
    /// those are.
    fn all_names(&self) -> Vec<String> {
        let further = |one: &Structs| {
            let tables = one.tables(&self.logs).len();
            (1..tables).map(|place| one.table_name(place)).collect::<Vec<_>>()
        };
        self.names.iter().cloned().chain(self.structs.iter().flat_map(further)).collect()
    }

    /// The lake that the tables are of.
    #[cfg(feature = "lake")]
    pub(crate) fn kept(&self) -> Option<&Arc<crate::lake::Kept>> {
        self.kept.as_ref()
    }

    /// The names of the tables that are known without reading anything.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The name that is meant.
    fn meant<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        if self.kinds.contains_key(name) {
            return Some(name);
        }
        self.folded.get(name)?.as_deref()
    }

    /// The table of that name.
    pub(crate) fn find(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(name) = self.meant(name) else { return self.further(name) };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = made.get(name) {
            return Ok(Some(table.clone()));
        }
        let Some(kind) = self.kinds.get(name) else { return Ok(None) };
        let logs = &self.logs;
        let table: Arc<dyn TableProvider> = match kind {
            Kind::Samples => Arc::new(Provider(Arc::new(Table::samples(logs)))),
            Kind::Channel(members) => Arc::new(Provider(Arc::new(Table::channel(logs, name, members.clone())))),
            Kind::Family(members) => Arc::new(Provider(Arc::new(Table::family(logs, name, members.clone())))),
            Kind::Structs(place) => match self.structs.get(*place).and_then(|one| one.tables(logs).first()) {
                Some(members) => Arc::new(Provider(Arc::new(Table::structs(logs, name, members)))),
                None => return Ok(None),
            },
            Kind::Logs => Arc::new(views::logs(logs)?),
            Kind::Problems => Arc::new(views::problems(logs)?),
            Kind::Channels => Arc::new(views::channels(logs)?),
            Kind::Modes => Arc::new(views::modes(logs)?),
            Kind::Matches => Arc::new(views::matches(logs)?),
            Kind::Console => Arc::new(views::console(logs)?),
            Kind::Errors => Arc::new(views::errors(logs)?),
            Kind::Carla(view) => view.provider(logs)?,
            #[cfg(feature = "lake")]
            Kind::Stored => match self.kept.as_ref().map(|kept| kept.table(name)).transpose()?.flatten() {
                Some(table) => table,
                None => return Ok(None),
            },
        };
        made.insert(name.to_owned(), table.clone());
        Ok(Some(table))
    }

    /// A table that is not listed: the channel of a lake, or structs that are not the first of their name.
    fn further(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        #[cfg(feature = "lake")]
        if let Some(kept) = &self.kept {
            return channel_table(&Origin::Lake(kept.clone()), name);
        }
        Ok(self.further_structs(name))
    }

    /// A table of structs that is not the first of its name.
    fn further_structs(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        let (one, place) = self.structs.iter().find_map(|one| Some((one, one.find(name, &self.logs)?)))?;
        let members = one.tables(&self.logs).get(place)?;
        Some(Arc::new(Provider(Arc::new(Table::structs(&self.logs, &one.table_name(place), members)))))
    }
}

type Channels = Vec<(Channel, Vec<(usize, ChannelId)>)>;
type Families = Vec<(String, Vec<(usize, ChannelId, String)>)>;

/// Channels that have one name and type in several logs are one; and the families.
fn merged(logs: &Logs) -> (Channels, Families) {
    let mut channels = Channels::new();
    let mut families = Families::new();
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    let mut tables: HashMap<&str, usize> = HashMap::new();
    for (log, opened) in logs.logs.iter().enumerate() {
        for (id, found) in (0..).zip(&opened.index.channels) {
            let channel = &found.channel;
            let place = *places.entry((&channel.name, &channel.type_name)).or_insert_with(|| {
                channels.push((channel.clone(), Vec::new()));
                channels.len() - 1
            });
            if let Some((_, members)) = channels.get_mut(place) {
                members.push((log, id));
            }
            let Some((table, key)) = channel.family.as_deref() else { continue };
            let place = *tables.entry(table).or_insert_with(|| {
                families.push((table.clone(), Vec::new()));
                families.len() - 1
            });
            if let Some((_, members)) = families.get_mut(place) {
                members.push((log, id, key.clone()));
            }
        }
    }
    (channels, families)
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog").field("tables", &self.names.len()).finish_non_exhaustive()
    }
}

/// The catalog as DataFusion asks it.
#[derive(Debug)]
pub(crate) struct Tables(pub Arc<Catalog>);

#[async_trait]
impl SchemaProvider for Tables {
    fn table_names(&self) -> Vec<String> {
        self.0.all_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.0.find(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.0.meant(name).is_some() || self.0.further(name).map_or(true, |table| table.is_some())
    }
}

/// What DataFusion puts before the names of our tables.
pub(crate) const CATALOG: &str = "logpose";
pub(crate) const SCHEMA: &str = "public";
pub(crate) const PREFIX: &str = "logpose.public.";
