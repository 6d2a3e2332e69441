use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray, TimestampNanosecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, TimeUnit};
use datafusion::common::ScalarValue;
use logpose::Log;
use logpose_core::Time;

use crate::Error;

/// The logs that questions are about, and what all their tables have in common.
#[derive(Debug)]
pub(crate) struct Logs {
    pub logs: Vec<Arc<Log>>,
    /// What the column `log` calls them: each another name.
    pub names: Vec<String>,
    /// Whether tables have the column `log`.
    pub named: bool,
    clock: Clock,
    /// Reading is split among so many.
    pub threads: usize,
    /// About so many bytes of a log are read at a time.
    pub window: u64,
}

/// What columns of moments hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Clock {
    /// Seconds of the log.
    Seconds,
    /// Wall-clock time, with what to add to the times of each log.
    Wall(Vec<i64>),
    /// Nanoseconds of the log, as a lake keeps them.
    #[cfg(feature = "lake")]
    Nanos,
}

impl Clock {
    pub(crate) fn of(logs: &[Arc<Log>], wall: bool) -> Result<Self, Error> {
        if !wall {
            return Ok(Self::Seconds);
        }
        let epochs = logs.iter().map(|log| log.epoch_ns().ok_or_else(|| Error::no_epoch(log)));
        Ok(Self::Wall(epochs.collect::<Result<_, _>>()?))
    }
}

impl Logs {
    pub(crate) fn new(logs: Vec<Arc<Log>>, named: bool, clock: Clock, threads: usize, window: u64) -> Self {
        Self { names: names(&logs), named: named || logs.len() > 1, clock, threads, window, logs }
    }

    /// Logs of which only the names are known.
    #[cfg(feature = "lake")]
    pub(crate) fn of_names(names: Vec<String>, clock: Clock, threads: usize) -> Self {
        Self { names, named: true, clock, threads, window: 0, logs: Vec::new() }
    }

    pub(crate) fn log(&self, place: usize) -> Option<&Arc<Log>> {
        self.logs.get(place)
    }

    /// The type of the columns that tell a moment.
    pub(crate) fn time_type(&self) -> DataType {
        match self.clock {
            Clock::Seconds => DataType::Float64,
            Clock::Wall(_) => DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into())),
            #[cfg(feature = "lake")]
            Clock::Nanos => DataType::Timestamp(TimeUnit::Nanosecond, None),
        }
    }

    /// The columns that every table with times begins with.
    pub(crate) fn first_fields(&self) -> Vec<Field> {
        let log = self.named.then(|| Field::new("log", name_type(), false));
        log.into_iter().chain([Field::new("time", self.time_type(), false)]).collect()
    }

    /// The name of a log in so many rows, as the column `log` has it.
    pub(crate) fn label(&self, log: usize, rows: usize) -> Result<ArrayRef, ArrowError> {
        let keys = Int32Array::from(vec![i32::try_from(log).unwrap_or(i32::MAX); rows]);
        Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(StringArray::from_iter_values(&self.names)))?))
    }

    /// Moments of a log as the column `time` has them.
    pub(crate) fn times(&self, log: usize, ns: &Int64Array) -> ArrayRef {
        match &self.clock {
            Clock::Seconds => Arc::new(ns.unary::<_, arrow_array::types::Float64Type>(seconds) as Float64Array),
            Clock::Wall(epochs) => {
                let epoch = epochs.get(log).copied().unwrap_or(0);
                let unix: TimestampNanosecondArray = ns.unary(|ns| ns.saturating_add(epoch));
                Arc::new(unix.with_timezone(UTC))
            }
            #[cfg(feature = "lake")]
            Clock::Nanos => Arc::new(ns.reinterpret_cast::<arrow_array::types::TimestampNanosecondType>()),
        }
    }

    /// One moment of a log as the column `time` has it.
    pub(crate) fn time(&self, log: usize, ns: i64) -> ScalarValue {
        match &self.clock {
            Clock::Seconds => ScalarValue::Float64(Some(seconds(ns))),
            Clock::Wall(epochs) => {
                let epoch = epochs.get(log).copied().unwrap_or(0);
                ScalarValue::TimestampNanosecond(Some(ns.saturating_add(epoch)), Some(UTC.into()))
            }
            #[cfg(feature = "lake")]
            Clock::Nanos => ScalarValue::TimestampNanosecond(Some(ns), None),
        }
    }
}

/// The type of columns that name a log, a channel or a key.
pub(crate) fn name_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

pub(crate) fn seconds(ns: i64) -> f64 {
    Time::from_nanos(ns).seconds()
}

/// The names of the files; whole paths where two files have one name, and a number where even those are the same.
fn names(logs: &[Arc<Log>]) -> Vec<String> {
    let file = |log: &Log| log.path.file_name().unwrap_or(log.path.as_os_str()).to_string_lossy().into_owned();
    let mut counts: HashMap<String, usize> = HashMap::new();
    logs.iter().for_each(|log| *counts.entry(file(log)).or_default() += 1);
    let mut taken = HashSet::new();
    let mut names = Vec::with_capacity(logs.len());
    for log in logs {
        let name = file(log);
        let alone = counts.get(&name) == Some(&1);
        let name = if alone { name } else { log.path.display().to_string() };
        let mut unique = name.clone();
        for number in 2.. {
            if taken.insert(unique.clone()) {
                break;
            }
            unique = format!("{name} ({number})");
        }
        names.push(unique);
    }
    names
}

pub(crate) const UTC: &str = "+00:00";
