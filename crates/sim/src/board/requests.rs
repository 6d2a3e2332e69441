use logpose_core::Time;

use super::machine::Board;
use super::recorder::DATA_HEAD;
use super::version::BoardVersion;
use logpose_refloat::vesc::{FirmwareVersion, HardwareType, app_data, command, forwarded};
use logpose_refloat::wire::{Data, Info, InfoV1, PACKAGE, PackageError, id};

/// Where the flags of a request are echoed in the long form of INFO.
const INFO_FLAGS: usize = 3;

impl Board {
    /// A payload arrived: what it is answered with is added to `replies`, each the payload of one frame.
    pub fn handle(&mut self, now: Time, payload: &[u8], replies: &mut Vec<Vec<u8>>) {
        self.advance(now);
        let before = replies.len();
        self.answer(payload, replies);
        if replies.len() > before {
            self.answered += 1;
        } else {
            self.refused += 1;
        }
    }

    /// What a payload is answered with at this moment.
    pub(super) fn answer(&mut self, payload: &[u8], replies: &mut Vec<Vec<u8>>) {
        match (self.can, payload) {
            (_, [command::FW_VERSION, ..]) => replies.push(self.firmware()),
            (can, [command::PING_CAN, ..]) => replies.push([command::PING_CAN].into_iter().chain(can).collect()),
            (Some(can), payload) => {
                if let Some((to, inner)) = forwarded(payload)
                    && to == can
                {
                    self.controller(inner, replies);
                }
            }
            (None, payload) => self.controller(payload, replies),
        }
    }

    /// What the controller, on which Refloat runs, answers.
    pub(super) fn controller(&mut self, payload: &[u8], replies: &mut Vec<Vec<u8>>) {
        if payload.first() == Some(&command::FW_VERSION) {
            replies.push(self.controller_firmware());
            return;
        }
        let Some(message) = app_data(payload) else { return };
        let mut reply = vec![command::APP_DATA];
        match self.message(message, &mut reply) {
            Ok(()) if reply.len() > 1 => replies.push(reply),
            Ok(()) => {}
            Err(error) => {
                let mut text = vec![command::PRINT];
                error.emit(u64::from(self.tick()) * 100, &mut text);
                replies.push(text);
            }
        }
    }

    /// The radio answers for itself.
    fn firmware(&self) -> Vec<u8> {
        if self.can.is_none() {
            return self.controller_firmware();
        }
        let mut out = Vec::new();
        FirmwareVersion { firmware: Some(String::new()), ..self.node("VESC Express T", HardwareType::Other) }
            .emit(&mut out);
        out
    }

    fn controller_firmware(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let firmware = if self.enabled { "rflt-xtras-6.05" } else { "" };
        let node = self.node("LITTLE_FOCER_V3_1", HardwareType::Controller);
        FirmwareVersion { firmware: Some(firmware.into()), ..node }.emit(&mut out);
        out
    }

    fn node(&self, hardware: &str, kind: HardwareType) -> FirmwareVersion {
        let [a, b] = if self.can.is_some() { *b"CN" } else { *b"DC" };
        FirmwareVersion {
            major: 6,
            minor: 5,
            hardware: hardware.into(),
            unique_id: Some([a, b, b'l', b'o', b'g', b'p', b'o', b's', b'e', b' ', b' ', b'1']),
            paired: Some(false),
            test_version: Some(0),
            custom_configs: Some(u8::from(kind == HardwareType::Controller)),
            hardware_type: Some(kind),
            phase_filters: Some(true),
            qml_hardware: Some(0),
            qml_app: Some(1),
            nrf_flags: Some(0),
            checksum: Some(0),
            ..FirmwareVersion::default()
        }
    }

    /// A message for Refloat: its reply, nothing, or what it complains of.
    fn message(&mut self, message: &[u8], out: &mut Vec<u8>) -> Result<(), PackageError> {
        let (command, arguments) = match message {
            [PACKAGE, command, arguments @ ..] => (*command, arguments),
            [other, _, ..] => return Err(PackageError::PackageId((*other).into())),
            short => return Err(PackageError::TooShort(short.len() as u64)),
        };
        let version = self.version;
        match command {
            id::INFO => self.put_info(arguments, out),
            id::REALTIME => {
                if let &[mode] = arguments {
                    self.put_compact(mode, out);
                }
            }
            id::LIVE if version >= BoardVersion::V1_1 => self.put_live(out),
            id::LIVE_IDS if version >= BoardVersion::V1_1 => self.put_live_ids(out),
            id::LIVE_MASK if version >= BoardVersion::V1_3 => self.put_live_mask(arguments, out),
            id::ALERTS if version >= BoardVersion::V1_2 => self.put_alerts(arguments, out),
            id::CLEAR_FATAL if version >= BoardVersion::V1_2 => {
                if arguments.first() == Some(&1) {
                    self.fatal = false;
                }
            }
            id::DATA_RECORD if version >= BoardVersion::V1_1 => return self.data_record(arguments, out),
            // What changes settings or moves the wheel, and lights: nothing that this board would do.
            1..=8 | 11..=15 | 20 | 22 | 24..=29 => {}
            other => return Err(PackageError::UnknownCommand(other.into())),
        }
        Ok(())
    }

    /// The long form for every version but 1, if the board has it. Its bytes are those it was given, but for the flags.
    fn put_info(&self, arguments: &[u8], out: &mut Vec<u8>) {
        let asked = arguments.first().copied().unwrap_or(1);
        let Ok(Info::V2(info)) = Info::parse(&self.info) else {
            out.extend_from_slice(&self.info);
            return;
        };
        if asked == 1 {
            let version = info.major.wrapping_mul(10).wrapping_add(info.minor);
            Info::V1(InfoV1 { version, build: 1, led_type: 0 }).emit(out);
            return;
        }
        let at = out.len() + INFO_FLAGS;
        out.extend_from_slice(&self.info);
        if let Some(flags) = out.get_mut(at) {
            *flags = arguments.get(1).copied().filter(|_| asked == 2).unwrap_or(0);
        }
    }

    fn data_record(&mut self, arguments: &[u8], out: &mut Vec<u8>) -> Result<(), PackageError> {
        if !self.enabled {
            return Err(PackageError::NotSupported);
        }
        let length = arguments.len() as u64;
        let has_status = self.version == BoardVersion::V1_3;
        match arguments {
            [] | [_] => return Err(PackageError::MissingData),
            [1, 0, ..] if has_status => self.status().emit(out),
            [1, sub, value, ..] => {
                self.control(*sub, *value);
                if has_status {
                    self.status().emit(out);
                }
            }
            [1, _] => return Err(PackageError::MissingValue(length)),
            [2, 1, ..] => {
                self.recorder.stop();
                self.put_header(out);
                self.headers += 1;
                self.fetching = true;
            }
            [2, 2, a, b, c, d, ..] => {
                let (offset, before) = (u32::from_be_bytes([*a, *b, *c, *d]), out.len());
                self.put_data(offset, out);
                self.note_sent(offset, out.len() - before);
            }
            [2, 2, ..] => return Err(PackageError::MissingOffset(length)),
            _ => {}
        }
        Ok(())
    }

    fn control(&mut self, sub: u8, value: u8) {
        match sub {
            1 if value != 0 => self.recorder.start(),
            1 => self.recorder.stop(),
            2 => self.recorder.autostart = value != 0,
            3 => self.recorder.autostop = value != 0,
            4 if self.version == BoardVersion::V1_3 => self.recorder.decimation = value.max(1),
            _ => {}
        }
    }

    fn put_data(&self, offset: u32, out: &mut Vec<u8>) {
        if self.recorder.size() == 0 {
            return;
        }
        Data { offset, bytes: &[] }.emit(out);
        self.recorder.read(offset, out);
    }

    /// Counts what was sent in a reply of so many bytes, and sees when the last sample was.
    fn note_sent(&mut self, offset: u32, reply: usize) {
        let samples = reply.saturating_sub(DATA_HEAD).checked_div(self.recorder.sample_len).unwrap_or(0) as u64;
        self.sent += samples;
        if self.fetching && samples > 0 && u64::from(offset) + samples >= self.recorder.size() as u64 {
            self.fetched += 1;
            self.fetching = false;
        }
    }
}
