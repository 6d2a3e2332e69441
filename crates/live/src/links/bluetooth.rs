//! The UART service of Nordic Semiconductor over Bluetooth Low Energy: pieces of a stream, without any frame of their own.

use std::io;
use std::time::Duration;

use btleplug::api::{
    BDAddr, Central as _, CentralEvent, CharPropFlags, Characteristic, Manager as _, Peripheral as _,
    PeripheralProperties, ScanFilter, ValueNotification, WriteType,
};
use btleplug::platform::{Adapter, Manager, Peripheral};
use futures::StreamExt;
use futures::stream::BoxStream;

use logpose_core::Link;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::connect::Connection;
use super::queue::Pending;
use super::{Event, Wire};

/// A device that is connected.
pub(crate) struct Device {
    peripheral: Peripheral,
    to: Characteristic,
    from: BoxStream<'static, ValueNotification>,
    /// What happens to all devices.
    all: BoxStream<'static, CentralEvent>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("peripheral", &self.peripheral).finish_non_exhaustive()
    }
}

/// Connects to a device by its name or address; without either to the first that says it has the service.
pub(super) async fn connect(name: &str) -> io::Result<Connection> {
    let failed = |error: btleplug::Error| io::Error::other(format!("Bluetooth: {error}"));
    let manager = Manager::new().await.map_err(failed)?;
    let adapter = manager.adapters().await.map_err(failed)?.into_iter().next();
    let adapter = adapter.ok_or_else(|| io::Error::other("this computer has no Bluetooth, or Bluetooth is off"))?;
    adapter.start_scan(ScanFilter::default()).await.map_err(failed)?;
    let found = timeout(PATIENCE, find(&adapter, name)).await;
    // A scan that goes on costs battery, and nothing else.
    let _ = adapter.stop_scan().await;
    let (peripheral, peer) = found.map_err(|_| {
        let what = if name.is_empty() { "a board".to_owned() } else { format!("{name:?}") };
        let seconds = PATIENCE.as_secs();
        io::Error::new(io::ErrorKind::NotFound, format!("did not find {what} over Bluetooth within {seconds} s"))
    })?;
    let goodbye = Goodbye(Some(peripheral.clone()));
    peripheral.connect_with_timeout(PATIENCE).await.map_err(failed)?;
    peripheral.discover_services().await.map_err(failed)?;
    let all = peripheral.characteristics();
    let ours = || all.iter().filter(|one| one.service_uuid.as_u128() == SERVICE);
    let to = ours().find(|one| one.uuid.as_u128() == WRITE);
    let to = to.ok_or_else(|| io::Error::other(format!("{peer} has no UART service")))?.clone();
    let from = peripheral.notifications().await.map_err(failed)?;
    // Some boards answer on the one that is written to.
    for one in ours().filter(|one| one.properties.intersects(CharPropFlags::NOTIFY | CharPropFlags::INDICATE)) {
        peripheral.subscribe(one).await.map_err(failed)?;
    }
    let all = adapter.events().await.map_err(failed)?;
    goodbye.forget();
    Ok(Connection { wire: Wire::Bluetooth(Device { peripheral, to, from, all }), beside: None, peer })
}

/// Looks again and again at what was heard, until the one that is meant was.
async fn find(adapter: &Adapter, name: &str) -> (Peripheral, String) {
    loop {
        for peripheral in adapter.peripherals().await.unwrap_or_default() {
            let Ok(Some(heard)) = peripheral.properties().await else { continue };
            if is_meant(name, &heard) {
                let peer = heard.local_name.unwrap_or_else(|| heard.address.to_string());
                return (peripheral, peer);
            }
        }
        sleep(LOOK).await;
    }
}

fn is_meant(name: &str, heard: &PeripheralProperties) -> bool {
    if name.is_empty() {
        return heard.services.iter().any(|service| service.as_u128() == SERVICE);
    }
    let is_named = |heard: &Option<String>| heard.as_deref().is_some_and(|heard| heard.eq_ignore_ascii_case(name));
    is_named(&heard.local_name)
        || is_named(&heard.advertisement_name)
        || name.parse::<BDAddr>().is_ok_and(|address| address == heard.address)
}

/// Reads and writes.
pub(super) fn start(
    link: Link,
    Device { peripheral, to, mut from, mut all }: Device,
    events: mpsc::Sender<Event>,
    mut pending: Pending,
) -> [JoinHandle<()>; 2] {
    let (id, closed) = (peripheral.id(), events.clone());
    let reading = tokio::spawn(async move {
        let reason = loop {
            tokio::select! {
                heard = from.next() => {
                    let Some(heard) = heard else { break "the device disappeared" };
                    if events.send(Event::Input(link, heard.value)).await.is_err() {
                        return;
                    }
                }
                event = all.next() => match event {
                    Some(CentralEvent::DeviceDisconnected(who)) if who == id => break "the device disconnected",
                    Some(_) => {}
                    None => break "Bluetooth was turned off",
                },
            }
        };
        let _ = events.send(Event::Closed(link, reason.to_owned())).await;
    });
    let writing = tokio::spawn(async move {
        let mut goodbye = Goodbye(Some(peripheral.clone()));
        let quick = to.properties.contains(CharPropFlags::WRITE_WITHOUT_RESPONSE);
        let how = if quick { WriteType::WithoutResponse } else { WriteType::WithResponse };
        let mut pieces = Vec::new();
        while pending.next(&mut pieces).await {
            for piece in pieces.drain(..) {
                for bytes in piece.bytes.chunks(PIECE) {
                    if let Err(error) = peripheral.write(&to, bytes, how).await {
                        let _ = closed.send(Event::Closed(link, error.to_string())).await;
                        return;
                    }
                }
                pending.sent(piece.bytes.len());
            }
        }
        goodbye.0 = None;
        let _ = peripheral.disconnect().await;
    });
    [reading, writing]
}

/// Disconnects from a device, so that others can connect to it.
struct Goodbye(Option<Peripheral>);

impl Goodbye {
    fn forget(mut self) {
        self.0 = None;
    }
}

impl Drop for Goodbye {
    fn drop(&mut self) {
        if let (Some(peripheral), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { peripheral.disconnect().await });
        }
    }
}

const SERVICE: u128 = 0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e;
const WRITE: u128 = 0x6e40_0002_b5a3_f393_e0a9_e50e_24dc_ca9e;
/// What fits into a packet whatever the two sides have agreed upon.
const PIECE: usize = 20;
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use btleplug::api::PeripheralProperties;

    use super::is_meant;

    #[test]
    fn a_device_is_found_by_its_name_or_its_address() {
        let heard = PeripheralProperties {
            address: "AA:BB:CC:DD:EE:FF".parse().unwrap(),
            local_name: Some("VESC BLE UART".to_owned()),
            ..PeripheralProperties::default()
        };
        for name in ["VESC BLE UART", "vesc ble uart", "aa:bb:cc:dd:ee:ff"] {
            assert!(is_meant(name, &heard), "{name}");
        }
        for name in ["VESC", "AA:BB:CC:DD:EE:00", ""] {
            assert!(!is_meant(name, &heard), "{name}");
        }
    }
}
