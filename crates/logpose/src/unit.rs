use logpose_core::Channel;

/// What the values are measured in, if the log tells: in AdvantageKit's JSON, or in a line `Units: rotations` as CTRE's
/// converter writes it.
#[must_use]
pub fn unit(channel: &Channel) -> Option<String> {
    if channel.unit.is_some() || channel.metadata.is_empty() {
        return channel.unit.clone();
    }
    if let Ok(metadata) = serde_json::from_str::<serde_json::Value>(&channel.metadata) {
        let named = ["unit", "units"].iter().find_map(|key| metadata.get(key)?.as_str());
        return named.filter(|unit| !unit.is_empty()).map(str::to_owned);
    }
    channel
        .metadata
        .lines()
        .find_map(|line| line.trim().strip_prefix("Units:"))
        .map(|unit| unit.trim().to_owned())
        .filter(|unit| !unit.is_empty())
}

/// What a part of a channel's values is measured in, if the log tells or the name is one that is known.
#[must_use]
pub fn unit_of(channel: &Channel, path: &str) -> Option<String> {
    if path.is_empty() { unit(channel) } else { None }
}

#[cfg(test)]
mod tests {
    use logpose_core::Channel;

    use super::unit;

    #[test]
    fn units_come_from_the_metadata() {
        let of = |metadata: &str| unit(&Channel { metadata: metadata.to_owned(), ..Channel::new("x", "double") });
        assert_eq!(of(r#"{"source":"AdvantageKit","unit":"meters"}"#), Some("meters".into()));
        assert_eq!(of("Position of the mechanism.\nUnits: rotations"), Some("rotations".into()));
        assert_eq!((of(r#"{"source":"NT"}"#), of(""), of("Units:")), (None, None, None));
    }
}
