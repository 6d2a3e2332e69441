use std::path::Path;

use logpose_core::Lookup;

use crate::{ConvertOptions, Error, Filter, Log, Moment, Output, Quiet, Report, convert};

impl Log {
    /// Writes the log to a new file whose extension names the format: `.parquet`, `.csv`, `.wpilog.gz`.
    /// [`save_with`](Self::save_with) writes a part of it, or replaces a file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Report, Error> {
        self.save_with(path, &Lookup::default(), &ConvertOptions::default())
    }

    /// Writes the part of the log that a lookup selects to a file whose extension names the format.
    /// [`convert()`] writes other outputs, merges several logs and reports progress.
    ///
    /// ```
    /// use logpose_files::{ConvertOptions, Log, OpenOptions};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("drive.mcap");
    ///
    /// let csv = b"time,channel,value\n0.5,/Drive/Speed,1.5\n0.7,/Drive/Speed,2.0\n".to_vec();
    /// let log = Log::from_bytes("drive.csv", csv, &OpenOptions::default())?;
    /// let report = log.save_with(&path, &log.within("0.6..")?, &ConvertOptions::default())?;
    /// assert_eq!(report.samples, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        lookup: &Lookup,
        options: &ConvertOptions,
    ) -> Result<Report, Error> {
        let path = path.as_ref();
        let Some((format, wrapper)) = self.formats().for_path(path) else {
            let error = Error::usage("the extension names no format that logpose writes").in_file(path);
            return Err(error.with_help("use .wpilog, .rlog, .parquet, .arrow, .mcap, .csv or .ndjson"));
        };
        let to = Output::File { path, force: options.force, wrapper };
        convert(&[self], vec![lookup.clone()], &format, to, options, &Quiet)
    }

    /// Selects the channels that match any of the patterns, such as `/Drive/*` or `*Voltage`, at all times; see [`Filter`].
    pub fn select(&self, patterns: &[&str]) -> Result<Lookup, Error> {
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        self.lookup(&Filter::new(&patterns, &[])?, None, None)
    }

    /// Selects all channels within a time range such as `10..20`, `auto+3s..teleop` or `-10s..`; see [`Moment`].
    pub fn within(&self, range: &str) -> Result<Lookup, Error> {
        let (start, end) = Moment::parse_range(range)?;
        self.lookup(&Filter::default(), start.as_ref(), end.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Log, OpenOptions};

    #[test]
    fn an_extension_that_names_no_format_is_refused_before_anything_is_written() {
        let log = Log::from_bytes("x.csv", "time,channel,value\n1,/x,1\n".into(), &OpenOptions::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.docx");
        let error = log.save(&path).unwrap_err();
        assert!(error.help.as_ref().is_some_and(|help| help.contains(".parquet")), "{error}");
        assert!(!path.exists());
    }
}
