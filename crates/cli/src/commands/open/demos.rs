use std::path::{Path, PathBuf};

use logpose::Error;
use logpose_demo::demo_log;
use logpose_server::Demos;

/// The logs of `logpose demo`, for the start page.
pub(super) struct DemoLogs;

/// Their names and a few words on each. The first name of a pair is the one that is opened.
const LOGS: [(&[&str], &str); 7] = [
    (&["FRC_20260321_142233_DEMO_Q12.wpilog"], "FRC match, WPILOG"),
    (&["demo_q12.rlog"], "FRC match, AdvantageKit RLOG"),
    (&["demo_q12.dslog", "demo_q12.dsevents"], "Driver Station log"),
    (&["demo_q12.pcap"], "Network capture of a match"),
    (&["demo_junction.log"], "CARLA traffic with a collision"),
    (&["demo_nosedive.rfrec"], "Refloat ride with a nose-dive"),
    (&["damaged.wpilog"], "A damaged log"),
];

impl Demos for DemoLogs {
    fn list(&self) -> Vec<(String, String)> {
        let names = LOGS.iter().filter_map(|(files, about)| Some(((*files.first()?).to_owned(), (*about).to_owned())));
        names.collect()
    }

    fn write(&self, name: &str, folder: &Path) -> Result<PathBuf, Error> {
        let pair = LOGS.iter().find(|(files, _)| files.first() == Some(&name)).map_or(&[][..], |(files, _)| files);
        for companion in pair.iter().skip(1) {
            demo_log(folder, companion)?;
        }
        demo_log(folder, name)
    }
}
