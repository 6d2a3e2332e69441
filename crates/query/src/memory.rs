use crate::Error;

/// Bytes from a size such as `512MB`, `2GiB` or `1000000`.
pub fn parse_size(text: &str) -> Result<u64, Error> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1.0),
        "k" | "kb" => Some(1e3),
        "m" | "mb" => Some(1e6),
        "g" | "gb" => Some(1e9),
        "t" | "tb" => Some(1e12),
        "kib" => Some(1024.0),
        "mib" => Some(1_048_576.0),
        "gib" => Some(1_073_741_824.0),
        "tib" => Some(1_099_511_627_776.0),
        _ => None,
    };
    let bytes = number.parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
    match bytes {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked beside it")]
        Some(bytes) if (1.0..1e18).contains(&bytes) => Ok(bytes as u64),
        _ => Err(Error::new("usage", format!("{text:?} is no size")).with_help("write 512MB, 2GiB or a number of bytes")),
    }
}

/// Three quarters of the machine's memory, or 4 GiB where that cannot be told.
pub(crate) fn by_default() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    told.map_or(4 << 30, |kib| kib * 1024 / 4 * 3)
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes_have_units() {
        let cases = [("512MB", 512_000_000), ("2GiB", 2 << 30), ("1.5 k", 1500), ("64", 64)];
        cases.iter().for_each(|(text, bytes)| assert_eq!(parse_size(text), Ok(*bytes), "{text}"));
        ["", "MB", "-1MB", "1XB", "1.2.3", "0"].iter().for_each(|text| assert!(parse_size(text).is_err(), "{text}"));
    }
}
