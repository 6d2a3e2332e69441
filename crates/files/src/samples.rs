use logpose_core::{ChannelId, ChannelIndex, Columns, Lookup, Time, Value};

use crate::suggest::closest;
use crate::{Error, ErrorKind, FieldReader, Log, ScalarValue, Step, parse_path};

/// The samples of one channel, in the order of time. See [`Log::samples`].
#[derive(Debug)]
pub struct Samples {
    /// One column, or none where the channel has no samples.
    columns: Columns,
}

impl Samples {
    /// Times and values. Samples with equal times stay in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (Time, Value<'_>)> {
        let all = || self.columns.columns.iter().flat_map(|column| self.columns.samples(column));
        let sorted = self.columns.columns.iter().all(|column| column.sorted);
        let mut ordered = Vec::new();
        if !sorted {
            ordered.extend(all());
            ordered.sort_by_key(|(time, _)| *time);
        }
        sorted.then(all).into_iter().flatten().chain(ordered)
    }

    /// Times and values of the samples that are numbers: integers, `float` and `double`.
    pub fn numbers(&self) -> impl Iterator<Item = (Time, f64)> {
        self.iter().filter_map(|(time, value)| Some((time, value.as_f64()?)))
    }

    /// The number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.columns.iter().map(logpose_core::Column::samples).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> IntoIterator for &'a Samples {
    type Item = (Time, Value<'a>);
    type IntoIter = Box<dyn Iterator<Item = Self::Item> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

/// One field of a channel's values, in the order of time. See [`Log::field`].
#[derive(Debug)]
pub struct FieldSamples {
    samples: Samples,
    reader: FieldReader,
    steps: Vec<Step>,
}

impl FieldSamples {
    /// Times and scalars. A sample whose value lacks the field is left out.
    pub fn iter(&self) -> impl Iterator<Item = (Time, ScalarValue<'_>)> {
        self.samples.iter().filter_map(|(time, value)| Some((time, self.reader.at(&value, &self.steps)?)))
    }

    /// Times and values of the samples that are numbers.
    pub fn numbers(&self) -> impl Iterator<Item = (Time, f64)> {
        self.iter().filter_map(|(time, scalar)| Some((time, scalar.number()?)))
    }
}

impl<'a> IntoIterator for &'a FieldSamples {
    type Item = (Time, ScalarValue<'a>);
    type IntoIter = Box<dyn Iterator<Item = Self::Item> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl Log {
    /// The channels with their sample counts and time ranges, in the order of the file.
    #[must_use]
    pub fn channels(&self) -> &[ChannelIndex] {
        &self.index.channels
    }

    /// Reads a channel by its name, in the order of time. If several channels share the name, it reads the first.
    /// The error for a missing channel suggests similar names.
    ///
    /// ```
    /// use logpose_files::{Log, OpenOptions};
    ///
    /// let csv = b"time,channel,value\n0.5,/Drive/Speed,1.5\n0.52,/Drive/Speed,2.0\n".to_vec();
    /// let log = Log::from_bytes("drive.csv", csv, &OpenOptions::default())?;
    /// let speeds: Vec<f64> = log.samples("/Drive/Speed")?.numbers().map(|(_, speed)| speed).collect();
    /// assert_eq!(speeds, [1.5, 2.0]);
    /// # Ok::<(), logpose_files::Error>(())
    /// ```
    pub fn samples(&self, name: &str) -> Result<Samples, Error> {
        Ok(Samples { columns: self.columns(&[self.named(name)?])? })
    }

    /// Reads the samples of a channel that lie within the times of a lookup, such as [`Log::within`] gives.
    pub fn samples_within(&self, name: &str, lookup: &Lookup) -> Result<Samples, Error> {
        Ok(Samples { columns: self.columns_within(&[self.named(name)?], lookup)? })
    }

    /// Reads one field of a channel's values: `.translation.x` of a pose, `[0]` or `.length` of an array,
    /// `[2].angle.value` of an array of structs. The error for a field that the schema lacks lists what it has.
    pub fn field(&self, name: &str, path: &str) -> Result<FieldSamples, Error> {
        let id = self.named(name)?;
        let steps = parse_path(path)?;
        let columns = self.columns(&[id])?;
        let Some(found) = self.index.channels.get(id as usize) else { return Err(self.missing(name)) };
        let reader = FieldReader::of(&found.channel, self.schemas().registry());
        if let Err((known, next)) = reader.kind(found.channel.ty(), &steps) {
            let start: String = steps.iter().take(known).map(ToString::to_string).collect();
            let error = Error::usage(format!("{name}{start} has no {}", path.get(start.len()..).unwrap_or(path)));
            let help = match next.as_slice() {
                [] => format!("{name}{start} is a single value"),
                next => format!("expected one of {}", next.join(", ")),
            };
            return Err(error.in_file(&self.path).with_help(help));
        }
        Ok(FieldSamples { samples: Samples { columns }, reader, steps })
    }

    fn named(&self, name: &str) -> Result<ChannelId, Error> {
        self.channel(name).ok_or_else(|| self.missing(name))
    }

    fn missing(&self, name: &str) -> Error {
        let error = Error::new(ErrorKind::MissingChannels { channels: vec![name.to_owned()] }).in_file(&self.path);
        match closest(name, self.index.channels.iter().map(|found| &*found.channel.name)).as_slice() {
            [] => error.with_help("run `logpose list FILE` to see the names"),
            close => error.with_help(format!("did you mean {}?", close.join(" or "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{ErrorKind, Log, OpenOptions};

    #[test]
    fn samples_are_in_the_order_of_time_whatever_the_file_says() {
        let csv = "time,channel,value\n2,/x,20.5\n1,/x,10.5\n1,/x,11.5\n1.5,/other,0.5\n";
        let log = Log::from_bytes("x.csv", csv.into(), &OpenOptions::default()).unwrap();
        let samples = log.samples("/x").unwrap();
        let found: Vec<_> = samples.iter().map(|(time, value)| (time.seconds(), value.as_f64().unwrap())).collect();
        assert_eq!(found, [(1.0, 10.5), (1.0, 11.5), (2.0, 20.5)]);
        assert_eq!((samples.len(), samples.is_empty()), (3, false));
    }

    #[test]
    fn a_misspelt_channel_brings_the_name_that_was_meant() {
        let csv = "time,channel,value\n1,/Drive/Speed,1\n2,/Drive/Speed,3\n";
        let log = Log::from_bytes("x.csv", csv.into(), &OpenOptions::default()).unwrap();
        let error = log.samples("/Drive/Sped").unwrap_err();
        assert_eq!(error.help.as_deref(), Some("did you mean /Drive/Speed?"));
        let within = log.samples_within("/Drive/Speed", &log.within("1.5..").unwrap()).unwrap();
        assert_eq!((&within).into_iter().count(), 1);
        let error = log.field("/Drive/Speed", ".x").unwrap_err();
        assert_eq!(error.to_string(), "x.csv: /Drive/Speed has no .x");
        assert_eq!(log.field("/Drive/Speed", "").unwrap().numbers().map(|(_, x)| x).sum::<f64>(), 4.0);
    }

    #[test]
    fn a_channel_that_is_missing_is_named() {
        let log = Log::from_bytes("x.csv", "time,channel,value\n1,/x,1\n".into(), &OpenOptions::default()).unwrap();
        let error = log.samples("/y").unwrap_err();
        assert!(matches!(&error.kind, ErrorKind::MissingChannels { channels } if channels == &["/y"]), "{error}");
    }
}
