use crate::Error;

/// Bytes from a size such as `512MB`, `2GiB`, `1.5G` or `65536`. Without the `i`, units are powers of 1000.
pub fn parse_bytes(text: &str) -> Result<u64, Error> {
    let help = "expected a number and an optional unit, such as 512MB, 2GiB or 65536";
    bytes(text.trim()).ok_or_else(|| Error::usage(format!("invalid size {text:?}")).with_help(help))
}

fn bytes(text: &str) -> Option<u64> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(unit_at)?;
    let unit = unit.trim_start().to_ascii_lowercase();
    let prefix = unit.strip_suffix('b').unwrap_or(&unit);
    let (prefix, base) = prefix.strip_suffix('i').map_or((prefix, 1000), |prefix| (prefix, 1024));
    let power = match prefix {
        "" if base == 1000 => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    let unit = u64::pow(base, power);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if part.len() > 9 || (whole.is_empty() && part.is_empty()) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: u128 = if part.is_empty() { 0 } else { format!("{part:0<9}").parse().ok()? };
    let part = u64::try_from(part * u128::from(unit) / 1_000_000_000).ok()?;
    whole.checked_mul(unit)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::parse_bytes;

    #[test]
    fn sizes_read_with_and_without_units() {
        let cases = [
            ("0", 0),
            ("65536", 65_536),
            ("12B", 12),
            ("512MB", 512_000_000),
            ("2GiB", 2 << 30),
            (" 2 gib ", 2 << 30),
            ("1.5k", 1500),
            ("0.5MiB", 1 << 19),
            (".5K", 500),
            ("1T", 1_000_000_000_000),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_bytes(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_help() {
        for text in ["", "MB", "-1", "1.2.3MB", "1e9", "5 apples", "3iB", "99999999999TB", "1.0000000001k", ".", "½"] {
            assert!(parse_bytes(text).unwrap_err().help.is_some(), "{text}");
        }
    }
}
