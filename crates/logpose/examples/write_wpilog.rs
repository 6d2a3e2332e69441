//! Writes a WPILOG with one channel.
//!
//! ```text
//! cargo run --example write_wpilog -- sine.wpilog
//! ```

use logpose::core::{Channel, EncodeOptions, Sample, Time, Value};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give the name of a file to write")?;
    let dialect = logpose::file_dialect("wpilog").ok_or("there is no such dialect")?;
    let mut encoder = dialect.encoder(&EncodeOptions::default()).ok_or("it cannot be written")?;
    let mut bytes = Vec::new();
    encoder.begin(&mut bytes);
    encoder.channel(0, &Channel::new("/Sine", "double"), &mut bytes)?;
    for i in 0..500 {
        let value = Value::Double((f64::from(i) / 50.0).sin());
        encoder.samples(&[Sample { channel: 0, time: Time::from_millis(i64::from(i) * 20), value }], &mut bytes)?;
    }
    encoder.finish(&mut bytes);
    std::fs::write(path, bytes)?;
    Ok(())
}
