//! Writes a WPILOG with one channel.
//!
//! ```text
//! cargo run --example write_wpilog -- sine.wpilog
//! ```

use std::fs::File;

use logpose::wpilog::{Writer, double};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("expected the name of a file to write")?;
    let mut log = Writer::new(File::create(path)?, "")?;
    let sine = log.start("/Sine", double, "", 0)?;
    for i in 0..500_u32 {
        log.append(sine, i64::from(i) * 20_000, (f64::from(i) / 50.0).sin())?; // microseconds
    }
    log.into_inner()?;
    Ok(())
}
