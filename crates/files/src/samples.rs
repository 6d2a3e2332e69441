use logpose_core::{Columns, Time, Value};

use crate::{Error, ErrorKind, Log};

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

impl Log {
    /// Reads a channel by its name, in the order of time. Where several channels share the name, it is the first.
    ///
    /// ```
    /// use logpose_files::{Log, OpenOptions};
    ///
    /// let csv = b"time,channel,value\n0.5,/Drive/Speed,1.5\n0.52,/Drive/Speed,2.0\n".to_vec();
    /// let log = Log::from_bytes("drive.csv", csv, &OpenOptions::default())?;
    /// let samples = log.samples("/Drive/Speed")?;
    /// let speeds: Vec<f64> = samples.iter().filter_map(|(_, value)| value.as_f64()).collect();
    /// assert_eq!(speeds, [1.5, 2.0]);
    /// # Ok::<(), logpose_files::Error>(())
    /// ```
    pub fn samples(&self, name: &str) -> Result<Samples, Error> {
        let missing = || Error::new(ErrorKind::MissingChannels { channels: vec![name.to_owned()] }).in_file(&self.path);
        let id = self.channel(name).ok_or_else(missing)?;
        Ok(Samples { columns: self.columns(&[id])? })
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
    fn a_channel_that_is_missing_is_named() {
        let log = Log::from_bytes("x.csv", "time,channel,value\n1,/x,1\n".into(), &OpenOptions::default()).unwrap();
        let error = log.samples("/y").unwrap_err();
        assert!(matches!(&error.kind, ErrorKind::MissingChannels { channels } if channels == &["/y"]), "{error}");
    }
}
