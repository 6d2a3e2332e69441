//! Byte layout: header, packets and the records in them. Pure functions of bytes.
//!
//! Numbers keep every bit on the way through: what is read and written again is the same byte for byte.

use std::fmt;
use std::marker::PhantomData;

use logpose_core::{Cursor, Truncated};

use crate::error::{Error, ErrorKind};

/// What every header holds.
pub const MAGIC: &[u8; 14] = b"CARLA_RECORDER";
/// Bytes of a packet's id and size.
pub const PACKET_HEADER: usize = 5;
/// The duration of a recording's last frame, and of every frame until the next one begins.
pub const OPEN_DURATION: f64 = -1.0;
/// How many records one packet can hold.
pub const MAX_RECORDS: usize = 65535;

/// The header of a recording.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header<'a> {
    /// 1 or 2.
    pub version: u16,
    /// Seconds since 1970-01-01 UTC.
    pub date: i64,
    /// The map's name.
    pub map: &'a [u8],
}

impl<'a> Header<'a> {
    /// Reads a header. The magic must be right; the version is not judged here.
    pub fn parse(cur: &mut Cursor<'a>) -> Result<Self, Error> {
        let version = u16::from_le_bytes(*cur.array("version")?);
        let at = cur.offset();
        let wrong = Error { at, kind: ErrorKind::Magic };
        let known = cur.rest().get(..16).unwrap_or(cur.rest());
        if known.iter().zip([14, 0].iter().chain(MAGIC)).any(|(a, b)| a != b) {
            return Err(wrong);
        }
        text(cur, "magic")?;
        let date = i64::from_le_bytes(*cur.array("date")?);
        Ok(Self { version, date, map: text(cur, "map")? })
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.version.to_le_bytes());
        put_text(MAGIC, out);
        out.extend_from_slice(&self.date.to_le_bytes());
        put_text(self.map, out);
    }

    /// Its length in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        28 + self.map.len()
    }
}

/// What the packet ids 21 to 23 mean.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Ids {
    /// Wheels, bikers, doors: UE4 releases, and UE5 from 2026 on.
    #[default]
    A,
    /// Doors, wheels, bikers: 0.10.0 and development builds before it.
    B,
}

/// How wide the numbers of vectors are.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Vectors {
    /// Binary32: UE4.
    #[default]
    F32,
    /// Binary64: UE5.
    F64,
}

/// Which body the physics packet has.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Physics {
    /// Wheels of 48 bytes: UE4 from 0.9.12 on.
    #[default]
    W48,
    /// Wheels of 36 bytes: 0.9.10 and 0.9.11.
    W36,
    /// UE5.
    Ue5,
}

/// What the bytes do not say of themselves: how this recording writes what differs between builds.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct WireFormat {
    /// What ids 21 to 23 mean.
    pub ids: Ids,
    /// How wide vectors are.
    pub vectors: Vectors,
    /// Which body physics packets have.
    pub physics: Physics,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $a:literal / $b:literal,)*) => {
        /// What a packet is about.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Kind { $($(#[$doc])* $name,)* }

        impl Kind {
            /// All of them, in the order of their ids in numbering A.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The kind that an id means.
            #[inline]
            #[must_use]
            pub fn of(id: u8, ids: Ids) -> Option<Self> {
                match ids {
                    Ids::A => match id { $($a => Some(Self::$name),)* _ => None },
                    Ids::B => match id { $($b => Some(Self::$name),)* _ => None },
                }
            }

            /// The id that means it.
            #[inline]
            #[must_use]
            pub fn id(self, ids: Ids) -> u8 {
                match ids {
                    Ids::A => match self { $(Self::$name => $a,)* },
                    Ids::B => match self { $(Self::$name => $b,)* },
                }
            }

            /// Its name in the specification.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }
        }
    };
}

kinds! {
    /// A frame begins.
    FrameStart = 0 / 0,
    /// A frame ends.
    FrameEnd = 1 / 1,
    /// Actors appear.
    EventAdd = 2 / 2,
    /// Actors disappear.
    EventDel = 3 / 3,
    /// Actors are attached to others.
    EventParent = 4 / 4,
    /// Actors hit something.
    Collision = 5 / 5,
    /// Where actors are.
    Position = 6 / 6,
    /// What traffic lights show.
    TrafficLightState = 7 / 7,
    /// Controls of vehicles.
    VehicleAnim = 8 / 8,
    /// Speeds of walkers.
    WalkerAnim = 9 / 9,
    /// Lamps of vehicles.
    VehicleLight = 10 / 10,
    /// Street and building lights that change.
    SceneLight = 11 / 11,
    /// Velocities.
    Kinematics = 12 / 12,
    /// Sizes of actors.
    BoundingBox = 13 / 13,
    /// Wall-clock time since the recording began.
    PlatformTime = 14 / 14,
    /// Physics of vehicles.
    PhysicsControl = 15 / 15,
    /// How long traffic lights show each colour.
    TrafficLightTime = 16 / 16,
    /// Where traffic lights and signs look for vehicles.
    TriggerVolume = 17 / 17,
    /// A counter of frames, on the link between servers only.
    FrameCounter = 18 / 18,
    /// Poses of walkers' bones.
    WalkerBones = 19 / 19,
    /// The clock of visual effects.
    VisualTime = 20 / 20,
    /// Wheels of vehicles.
    VehicleWheels = 21 / 22,
    /// Riders of two-wheelers.
    BikerAnim = 22 / 23,
    /// Doors that open or close.
    VehicleDoor = 23 / 21,
    /// Weather that changes.
    Weather = 24 / 24,
}

impl Kind {
    /// The size of the whole body, for kinds that hold no records.
    #[inline]
    #[must_use]
    pub fn fixed_size(self) -> Option<usize> {
        match self {
            Self::FrameStart => Some(24),
            Self::FrameEnd => Some(0),
            Self::PlatformTime | Self::FrameCounter | Self::VisualTime => Some(8),
            _ => None,
        }
    }

    /// Refuses a size that no packet of this kind can have, one with this id at this byte. What follows such a packet is
    /// not what it seems.
    pub(crate) fn check_size(self, id: u8, size: u64, at: u64) -> Result<(), Error> {
        let kind = match self.fixed_size() {
            Some(expected) if expected as u64 != size => ErrorKind::FixedSize { id, size, expected: expected as u64 },
            // The recorder fills in the size when it has written the records.
            None if size < 2 => ErrorKind::Unpatched { id, size },
            _ => return Ok(()),
        };
        Err(Error { at, kind })
    }

    /// The size of one record, where all have the same.
    #[inline]
    #[must_use]
    pub fn record_size(self, form: WireFormat) -> Option<usize> {
        match self {
            Self::EventDel => EventDel::size(form),
            Self::EventParent => EventParent::size(form),
            Self::Collision => Collision::size(form),
            Self::Position => Position::size(form),
            Self::TrafficLightState => TrafficLightState::size(form),
            Self::VehicleAnim => VehicleAnim::size(form),
            Self::WalkerAnim => WalkerAnim::size(form),
            Self::VehicleLight => VehicleLight::size(form),
            Self::SceneLight => SceneLight::size(form),
            Self::Kinematics => Kinematics::size(form),
            Self::BoundingBox => BoundingBox::size(form),
            Self::TriggerVolume => TriggerVolume::size(form),
            Self::TrafficLightTime => TrafficLightTime::size(form),
            Self::BikerAnim => BikerAnim::size(form),
            Self::VehicleDoor => VehicleDoor::size(form),
            Self::Weather => Weather::size(form),
            _ => None,
        }
    }
}

/// One packet as it stands in the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Packet<'a> {
    /// Where its id stands.
    pub at: u64,
    /// Its id.
    pub id: u8,
    /// What it holds.
    pub body: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Reads one packet: id, size, and as many bytes.
    pub fn parse(cur: &mut Cursor<'a>) -> Result<Self, Error> {
        let at = cur.offset();
        let id = cur.u8("packet id")?;
        let size = cur.u32_le("packet size")?;
        Ok(Self { at, id, body: cur.take(size.into(), "packet body")? })
    }

    /// Appends the packet.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.push(self.id);
        out.extend_from_slice(&u32::try_from(self.body.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(self.body);
    }

    /// Where the byte behind it stands.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.at + (PACKET_HEADER + self.body.len()) as u64
    }

    /// What it is about, if that is known.
    #[must_use]
    pub fn kind(&self, form: WireFormat) -> Option<Kind> {
        Kind::of(self.id, form.ids)
    }

    /// What it is about, if that is known and its size is one that such a packet can have.
    pub(crate) fn checked_kind(&self, form: WireFormat) -> Result<Option<Kind>, Error> {
        let kind = self.kind(form);
        kind.map_or(Ok(()), |kind| kind.check_size(self.id, self.body.len() as u64, self.at)).map(|()| kind)
    }

    /// How many records a packet of records claims.
    #[must_use]
    pub fn total(&self) -> u16 {
        self.body.first_chunk().map_or(0, |total| u16::from_le_bytes(*total))
    }

    /// What it holds, checked to the last byte. Packets of ids that are not known are [`Body::Unknown`].
    pub fn decode(&self, form: WireFormat) -> Result<Body<'a>, Error> {
        Body::parse(self, form)
    }
}

/// A kind of record.
pub trait Record<'a>: Sized {
    /// The packet it stands in.
    const KIND: Kind;
    /// Reads one.
    fn parse(cur: &mut Cursor<'a>, form: WireFormat) -> Result<Self, Truncated>;
    /// Appends it.
    fn emit(&self, form: WireFormat, out: &mut Vec<u8>);
    /// Its size, where all have the same.
    fn size(form: WireFormat) -> Option<usize>;
}

/// The records of one packet, checked: they fill the body exactly.
#[derive(Debug)]
pub struct Records<'a, R> {
    body: &'a [u8],
    at: u64,
    total: u16,
    form: WireFormat,
    record: PhantomData<fn() -> R>,
}

impl<R> Clone for Records<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Records<'_, R> {}

impl<'a, R: Record<'a>> Records<'a, R> {
    /// The records of a packet's body.
    pub fn new(packet: &Packet<'a>, form: WireFormat) -> Result<Self, Error> {
        let body_at = packet.at + PACKET_HEADER as u64;
        let (size, id) = (packet.body.len() as u64, packet.id);
        let Some((total, body)) = packet.body.split_first_chunk() else {
            return Err(Error { at: packet.at, kind: ErrorKind::Unpatched { id, size } });
        };
        let total = u16::from_le_bytes(*total);
        let records = Self { body, at: body_at + 2, total, form, record: PhantomData };
        let used = match R::size(form) {
            Some(each) => 2 + each as u64 * u64::from(total),
            None => {
                let mut cur = Cursor::new(body, records.at);
                for _ in 0..total {
                    R::parse(&mut cur, form)?;
                }
                cur.offset() - body_at
            }
        };
        if used == size {
            Ok(records)
        } else {
            Err(Error { at: packet.at, kind: ErrorKind::Size { id, size, total, used } })
        }
    }

    /// How they are written; of physics, the body that fitted.
    #[must_use]
    pub fn wire_format(&self) -> WireFormat {
        self.form
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.total.into()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The records, in their order.
    pub fn iter(&self) -> impl Iterator<Item = R> + use<'a, R> {
        self.places().map(|(_, record)| record)
    }

    /// The records, in their order, each with the offset of its first byte.
    pub fn places(&self) -> impl Iterator<Item = (u64, R)> + use<'a, R> {
        let (mut cur, form) = (Cursor::new(self.body, self.at), self.form);
        (0..self.total).map_while(move |_| {
            let at = cur.offset();
            R::parse(&mut cur, form).ok().map(|record| (at, record))
        })
    }
}

/// Appends a packet of records.
pub fn emit_records<'a, R: Record<'a>>(records: &[R], form: WireFormat, out: &mut Vec<u8>) {
    let start = begin_packet(R::KIND.id(form.ids), out);
    out.extend_from_slice(&u16::try_from(records.len()).unwrap_or(u16::MAX).to_le_bytes());
    records.iter().take(MAX_RECORDS).for_each(|record| record.emit(form, out));
    end_packet(start, out);
}

/// Appends a packet's id and room for its size.
pub(crate) fn begin_packet(id: u8, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[id, 0, 0, 0, 0]);
    out.len()
}

/// Fills in the size of a packet whose body began at `start`.
pub(crate) fn end_packet(start: usize, out: &mut [u8]) {
    let size = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
    if let Some(place) = start.checked_sub(4).and_then(|at| out.get_mut(at..start)) {
        place.copy_from_slice(&size.to_le_bytes());
    }
}

macro_rules! bodies {
    ($($kind:ident),* $(,)?) => {
        /// What a packet holds.
        #[derive(Clone, Copy, Debug)]
        #[expect(missing_docs, reason = "the names are those of the kinds")]
        pub enum Body<'a> {
            FrameStart(FrameStart),
            FrameEnd,
            PlatformTime(f64),
            FrameCounter(u64),
            VisualTime(f64),
            EventAdd(Records<'a, EventAdd<'a>>),
            PhysicsControl(Records<'a, PhysicsControl>),
            WalkerBones(Records<'a, WalkerBones<'a>>),
            VehicleWheels(Records<'a, VehicleWheels>),
            $($kind(Records<'a, $kind>),)*
            /// The id is not known; the bytes are kept.
            Unknown(&'a [u8]),
        }

        impl<'a> Body<'a> {
            fn parse(packet: &Packet<'a>, form: WireFormat) -> Result<Self, Error> {
                let Some(kind) = packet.kind(form) else { return Ok(Self::Unknown(packet.body)) };
                let size = packet.body.len();
                if let Some(expected) = kind.fixed_size()
                    && size != expected
                {
                    let kind = ErrorKind::FixedSize { id: packet.id, size: size as u64, expected: expected as u64 };
                    return Err(Error { at: packet.at, kind });
                }
                let mut cur = Cursor::new(packet.body, packet.at + PACKET_HEADER as u64);
                Ok(match kind {
                    Kind::FrameStart => Self::FrameStart(FrameStart::parse(&mut cur)?),
                    Kind::FrameEnd => Self::FrameEnd,
                    Kind::PlatformTime => Self::PlatformTime(f64::get(&mut cur, form, "platform time")?),
                    Kind::FrameCounter => Self::FrameCounter(u64::get(&mut cur, form, "frame counter")?),
                    Kind::VisualTime => Self::VisualTime(f64::get(&mut cur, form, "visual time")?),
                    Kind::EventAdd => Self::EventAdd(Records::new(packet, form)?),
                    Kind::PhysicsControl => Self::PhysicsControl(physics(packet, form)?),
                    Kind::WalkerBones => Self::WalkerBones(Records::new(packet, form)?),
                    Kind::VehicleWheels => Self::VehicleWheels(Records::new(packet, form)?),
                    $(Kind::$kind => Self::$kind(Records::new(packet, form)?),)*
                })
            }
        }
    };
}

bodies! {
    EventDel, EventParent, Collision, Position, TrafficLightState, VehicleAnim, WalkerAnim, VehicleLight, SceneLight,
    Kinematics, BoundingBox, TrafficLightTime, TriggerVolume, BikerAnim, VehicleDoor, Weather,
}

/// Physics records: those of UE5 in its recordings, else those with wheels of 48 or of 36 bytes, whichever fit.
fn physics<'a>(packet: &Packet<'a>, form: WireFormat) -> Result<Records<'a, PhysicsControl>, Error> {
    if form.vectors == Vectors::F64 {
        return Records::new(packet, WireFormat { physics: Physics::Ue5, ..form });
    }
    let newer = Records::new(packet, WireFormat { physics: Physics::W48, ..form });
    newer.or_else(|error| Records::new(packet, WireFormat { physics: Physics::W36, ..form }).map_err(|_| error))
}

/// The first packet of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameStart {
    /// Counts from 1.
    pub frame: u64,
    /// Seconds until the next frame; [`OPEN_DURATION`] in the last.
    pub duration: f64,
    /// Seconds since the recording began.
    pub elapsed: f64,
}

impl FrameStart {
    /// Reads the body of a packet.
    #[inline]
    pub fn parse(cur: &mut Cursor<'_>) -> Result<Self, Truncated> {
        let frame = u64::from_le_bytes(*cur.array("frame id")?);
        let duration = f64::from_le_bytes(*cur.array("frame duration")?);
        let elapsed = f64::from_le_bytes(*cur.array("frame elapsed")?);
        Ok(Self { frame, duration, elapsed })
    }

    /// Appends the packet.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = begin_packet(0, out);
        out.extend_from_slice(&self.frame.to_le_bytes());
        out.extend_from_slice(&self.duration.to_le_bytes());
        out.extend_from_slice(&self.elapsed.to_le_bytes());
        end_packet(start, out);
    }
}

/// A boolean as its byte: whatever is not zero is true, and the byte is kept.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Flag(pub u8);

impl Flag {
    /// Whether it is true.
    #[must_use]
    pub fn is_set(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Flag {
    fn from(set: bool) -> Self {
        Self(set.into())
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.is_set().fmt(f)
    }
}

/// Three numbers; those of binary32 files are widened, which changes none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the axes")]
pub struct Vector {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

impl Vector {
    /// A vector of its three numbers.
    #[must_use]
    pub fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    /// The three numbers.
    #[must_use]
    pub fn array(self) -> [f64; 3] {
        [self.x, self.y, self.z]
    }
}

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

/// Euler angles in degrees, in the order of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the angles")]
pub struct Rotation {
    pub roll: f64,
    pub pitch: f64,
    pub yaw: f64,
}

impl Rotation {
    /// A rotation of its three angles.
    #[must_use]
    pub fn new(roll: f64, pitch: f64, yaw: f64) -> Self {
        Self { roll, pitch, yaw }
    }

    /// Roll, pitch and yaw.
    #[must_use]
    pub fn array(self) -> [f64; 3] {
        [self.roll, self.pitch, self.yaw]
    }
}

impl fmt::Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(roll {}, pitch {}, yaw {})", self.roll, self.pitch, self.yaw)
    }
}

/// Widens a number; every bit of a NaN is kept.
#[inline]
#[must_use]
pub fn widen(x: f32) -> f64 {
    if x.is_nan() {
        let bits = u64::from(x.to_bits());
        return f64::from_bits((bits & 0x8000_0000) << 32 | 0x7ff0_0000_0000_0000 | (bits & 0x007f_ffff) << 29);
    }
    x.into()
}

/// Narrows a number; the bits of a NaN that was widened are kept.
#[inline]
#[must_use]
pub fn narrow(x: f64) -> f32 {
    if x.is_nan() {
        let bits = x.to_bits();
        let payload = (bits >> 29) & 0x007f_ffff;
        // A payload that binary32 has no room for: some NaN, not an infinity.
        let payload = if payload == 0 { 0x0040_0000 } else { payload };
        let bits = (bits >> 32) & 0x8000_0000 | 0x7f80_0000 | payload;
        return f32::from_bits(u32::try_from(bits).unwrap_or(u32::MAX));
    }
    #[expect(clippy::cast_possible_truncation, reason = "to the nearest number of the file's width")]
    {
        x as f32
    }
}

/// A field of a record.
pub(crate) trait Field<'a>: Sized {
    /// Its size, where it is always the same.
    fn width(form: WireFormat) -> Option<usize>;
    fn get(cur: &mut Cursor<'a>, form: WireFormat, what: &'static str) -> Result<Self, Truncated>;
    fn put(&self, form: WireFormat, out: &mut Vec<u8>);
}

macro_rules! number {
    ($($t:ty = $n:literal),*) => {$(
        impl<'a> Field<'a> for $t {
            #[inline(always)]
            fn width(_: WireFormat) -> Option<usize> {
                Some($n)
            }
            #[inline(always)]
            fn get(cur: &mut Cursor<'a>, _: WireFormat, what: &'static str) -> Result<Self, Truncated> {
                cur.array::<$n>(what).map(|bytes| Self::from_le_bytes(*bytes))
            }
            fn put(&self, _: WireFormat, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
number!(u8 = 1, u16 = 2, u32 = 4, i32 = 4, u64 = 8, f32 = 4, f64 = 8);

impl<'a> Field<'a> for Flag {
    #[inline(always)]
    fn width(_: WireFormat) -> Option<usize> {
        Some(1)
    }
    #[inline(always)]
    fn get(cur: &mut Cursor<'a>, _: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        cur.u8(what).map(Self)
    }
    fn put(&self, _: WireFormat, out: &mut Vec<u8>) {
        out.push(self.0);
    }
}

impl<'a> Field<'a> for Vector {
    #[inline(always)]
    fn width(form: WireFormat) -> Option<usize> {
        Some(match form.vectors {
            Vectors::F32 => 12,
            Vectors::F64 => 24,
        })
    }
    #[inline(always)]
    fn get(cur: &mut Cursor<'a>, form: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        Ok(match form.vectors {
            Vectors::F32 => {
                let [x, y, z] = <[f32; 3]>::get(cur, form, what)?;
                Self { x: widen(x), y: widen(y), z: widen(z) }
            }
            Vectors::F64 => {
                let (x, y) = (f64::get(cur, form, what)?, f64::get(cur, form, what)?);
                Self { x, y, z: f64::get(cur, form, what)? }
            }
        })
    }
    fn put(&self, form: WireFormat, out: &mut Vec<u8>) {
        for x in self.array() {
            match form.vectors {
                Vectors::F32 => narrow(x).put(form, out),
                Vectors::F64 => x.put(form, out),
            }
        }
    }
}

impl<'a> Field<'a> for Rotation {
    #[inline(always)]
    fn width(form: WireFormat) -> Option<usize> {
        Vector::width(form)
    }
    #[inline(always)]
    fn get(cur: &mut Cursor<'a>, form: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        Vector::get(cur, form, what).map(|v| Self { roll: v.x, pitch: v.y, yaw: v.z })
    }
    fn put(&self, form: WireFormat, out: &mut Vec<u8>) {
        Vector::new(self.roll, self.pitch, self.yaw).put(form, out);
    }
}

impl<'a, const N: usize> Field<'a> for [f32; N] {
    #[inline(always)]
    fn width(_: WireFormat) -> Option<usize> {
        Some(4 * N)
    }
    #[inline(always)]
    fn get(cur: &mut Cursor<'a>, _: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        let bytes = cur.take(4 * N as u64, what)?;
        let (words, _) = bytes.as_chunks();
        Ok(std::array::from_fn(|i| words.get(i).map_or(0.0, |word| f32::from_le_bytes(*word))))
    }
    fn put(&self, form: WireFormat, out: &mut Vec<u8>) {
        self.iter().for_each(|x| x.put(form, out));
    }
}

impl<'a> Field<'a> for &'a [u8] {
    fn width(_: WireFormat) -> Option<usize> {
        None
    }
    fn get(cur: &mut Cursor<'a>, _: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        text(cur, what)
    }
    fn put(&self, _: WireFormat, out: &mut Vec<u8>) {
        put_text(self, out);
    }
}

/// A list whose count has 32 bits.
impl<'a, T: Field<'a>> Field<'a> for Vec<T> {
    fn width(_: WireFormat) -> Option<usize> {
        None
    }
    fn get(cur: &mut Cursor<'a>, form: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        let count = cur.u32_le(what)?;
        list(count as usize, cur, form, what)
    }
    fn put(&self, form: WireFormat, out: &mut Vec<u8>) {
        out.extend_from_slice(&u32::try_from(self.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.iter().for_each(|item| item.put(form, out));
    }
}

/// Reads `count` items. The count is a claim: no more room is made than the bytes at hand can fill.
fn list<'a, T: Field<'a>>(
    count: usize,
    cur: &mut Cursor<'a>,
    form: WireFormat,
    what: &'static str,
) -> Result<Vec<T>, Truncated> {
    let min_width = T::width(form).unwrap_or(1).max(1);
    let mut items = Vec::with_capacity(count.min(cur.rest().len() / min_width));
    for _ in 0..count {
        items.push(T::get(cur, form, what)?);
    }
    Ok(items)
}

fn text<'a>(cur: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], Truncated> {
    let len = u16::from_le_bytes(*cur.array(what)?);
    cur.take(len.into(), what)
}

/// Appends a text; what is beyond 65535 bytes is cut, so callers check first.
fn put_text(text: &[u8], out: &mut Vec<u8>) {
    let len = u16::try_from(text.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(text.get(..len.into()).unwrap_or(text));
}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? : $kind:ident { $($(#[$field_doc:meta])* $field:ident: $t:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name $(<$life>)? { $($(#[$field_doc])* pub $field: $t,)* }

        impl<'a> Record<'a> for $name $(<$life>)? {
            const KIND: Kind = Kind::$kind;

            #[inline(always)]
            fn parse(cur: &mut Cursor<'a>, form: WireFormat) -> Result<Self, Truncated> {
                $(let $field = <$t as Field<'a>>::get(cur, form, stringify!($field))?;)*
                Ok(Self { $($field,)* })
            }

            fn emit(&self, form: WireFormat, out: &mut Vec<u8>) {
                $(self.$field.put(form, out);)*
            }

            #[inline(always)]
            fn size(form: WireFormat) -> Option<usize> {
                Some(0 $(+ <$t as Field<'a>>::width(form)?)*)
            }
        }
    };
}

record! {
    /// An actor appears.
    EventAdd<'a>: EventAdd {
        /// Its id.
        actor: u32,
        /// Its type, see [`ActorType`].
        actor_type: u8,
        /// Where, in centimetres; relative to its parent if it was spawned attached to one.
        location: Vector,
        /// How it is turned.
        rotation: Rotation,
        /// The index of the blueprint in the server that recorded, from 1 on; 0 for what is no blueprint.
        uid: u32,
        /// What it is, such as `vehicle.tesla.model3`.
        blueprint: &'a [u8],
        /// Its attributes.
        attributes: Attributes<'a>,
    }
}

/// The attributes of an actor, in the order of the file; their count has 16 bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes<'a>(pub Vec<Attribute<'a>>);

/// One attribute of an actor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Attribute<'a> {
    /// Its type, by a numbering that differs between builds.
    pub attribute_type: u8,
    /// Its name.
    pub id: &'a [u8],
    /// Its value, as text.
    pub value: &'a [u8],
}

impl<'a> Field<'a> for Attribute<'a> {
    fn width(_: WireFormat) -> Option<usize> {
        None
    }
    fn get(cur: &mut Cursor<'a>, _: WireFormat, _: &'static str) -> Result<Self, Truncated> {
        let attribute_type = cur.u8("attribute type")?;
        Ok(Self { attribute_type, id: text(cur, "attribute id")?, value: text(cur, "attribute value")? })
    }
    fn put(&self, _: WireFormat, out: &mut Vec<u8>) {
        out.push(self.attribute_type);
        put_text(self.id, out);
        put_text(self.value, out);
    }
}

impl<'a> Field<'a> for Attributes<'a> {
    fn width(_: WireFormat) -> Option<usize> {
        None
    }
    fn get(cur: &mut Cursor<'a>, form: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        let count = u16::from_le_bytes(*cur.array(what)?);
        list(count.into(), cur, form, what).map(Self)
    }
    fn put(&self, form: WireFormat, out: &mut Vec<u8>) {
        let count = u16::try_from(self.0.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&count.to_le_bytes());
        self.0.iter().take(count.into()).for_each(|attribute| attribute.put(form, out));
    }
}

impl<'a> EventAdd<'a> {
    /// The value of an attribute.
    #[must_use]
    pub fn attribute(&self, id: &str) -> Option<&'a [u8]> {
        self.attributes.0.iter().find(|attribute| attribute.id == id.as_bytes()).map(|attribute| attribute.value)
    }

    /// Whether it is the ego vehicle.
    #[must_use]
    pub fn is_hero(&self) -> bool {
        self.attribute("role_name") == Some(b"hero")
    }

    /// What it is, by its blueprint if that is known, otherwise by its type.
    #[must_use]
    pub fn class(&self) -> ActorType {
        ActorType::of_blueprint(self.blueprint).unwrap_or_else(|| ActorType::of(self.actor_type))
    }
}

/// What an actor is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum ActorType {
    Other,
    Vehicle,
    Walker,
    TrafficLight,
    TrafficSign,
    Sensor,
}

impl ActorType {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Other, Self::Vehicle, Self::Walker, Self::TrafficLight, Self::TrafficSign, Self::Sensor];

    /// The type that a number means; those that are not known are [`ActorType::Other`].
    #[must_use]
    pub fn of(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Other)
    }

    /// The number of the type, in the numbering of 0.9.12 and later.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Other => 0,
            Self::Vehicle => 1,
            Self::Walker => 2,
            Self::TrafficLight => 3,
            Self::TrafficSign => 4,
            Self::Sensor => 5,
        }
    }

    /// The type that a blueprint implies.
    #[must_use]
    pub fn of_blueprint(blueprint: &[u8]) -> Option<Self> {
        let starts = |prefix: &str| blueprint.starts_with(prefix.as_bytes());
        match () {
            () if starts("vehicle.") => Some(Self::Vehicle),
            () if starts("walker.") => Some(Self::Walker),
            () if starts("sensor.") => Some(Self::Sensor),
            () if starts("traffic.traffic_light") => Some(Self::TrafficLight),
            () if starts("traffic.") => Some(Self::TrafficSign),
            () => None,
        }
    }

    /// Its name in one word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Vehicle => "vehicle",
            Self::Walker => "walker",
            Self::TrafficLight => "traffic_light",
            Self::TrafficSign => "traffic_sign",
            Self::Sensor => "sensor",
        }
    }
}

record! {
    /// An actor disappears.
    #[derive(Copy, Eq)]
    EventDel: EventDel {
        /// Which.
        actor: u32,
    }
}

record! {
    /// An actor is attached to another.
    #[derive(Copy, Eq)]
    EventParent: EventParent {
        /// The child.
        actor: u32,
        /// The parent.
        parent: u32,
    }
}

record! {
    /// An actor hits something.
    #[derive(Copy, Eq)]
    Collision: Collision {
        /// A counter with gaps.
        id: u32,
        /// The owner of the collision sensor.
        actor1: u32,
        /// What it hit; 0 or 0xFFFFFFFF if that is no actor.
        actor2: u32,
        /// Whether the first is the ego vehicle.
        hero1: Flag,
        /// Whether the second is.
        hero2: Flag,
    }
}

record! {
    /// Where an actor is.
    #[derive(Copy)]
    Position: Position {
        /// Which.
        actor: u32,
        /// Where, in centimetres.
        location: Vector,
        /// How it is turned.
        rotation: Rotation,
    }
}

record! {
    /// What a traffic light shows.
    #[derive(Copy)]
    TrafficLightState: TrafficLightState {
        /// Which.
        actor: u32,
        /// Whether it stays as it is.
        frozen: Flag,
        /// Seconds in this state.
        elapsed: f32,
        /// 0 red, 1 yellow, 2 green, 3 off.
        state: u8,
    }
}

record! {
    /// The controls of a vehicle.
    #[derive(Copy)]
    VehicleAnim: VehicleAnim {
        /// Which.
        actor: u32,
        /// -1 to 1.
        steering: f32,
        /// 0 to 1.
        throttle: f32,
        /// 0 to 1.
        brake: f32,
        /// Whether the hand brake is on.
        handbrake: Flag,
        /// -1 reverse, 0 neutral.
        gear: i32,
    }
}

record! {
    /// The speed of a walker.
    #[derive(Copy)]
    WalkerAnim: WalkerAnim {
        /// Which.
        actor: u32,
        /// In centimetres a second.
        speed: f32,
    }
}

record! {
    /// The lamps of a vehicle.
    #[derive(Copy, Eq)]
    VehicleLight: VehicleLight {
        /// Which.
        actor: u32,
        /// A bit for each lamp that is on.
        lights: u32,
    }
}

record! {
    /// A street or building light that changed.
    #[derive(Copy)]
    SceneLight: SceneLight {
        /// Which; -1 occurs.
        light: i32,
        /// How bright.
        intensity: f32,
        /// Red, green, blue, alpha, from 0 to 1.
        color: [f32; 4],
        /// Whether it is on.
        on: Flag,
        /// 0 none, 1 vehicle, 2 street, 3 building, 4 other.
        group: u8,
    }
}

record! {
    /// The velocity of an actor.
    #[derive(Copy)]
    Kinematics: Kinematics {
        /// Which.
        actor: u32,
        /// In metres a second.
        linear: Vector,
        /// In degrees a second.
        angular: Vector,
    }
}

record! {
    /// The size of an actor.
    #[derive(Copy)]
    BoundingBox: BoundingBox {
        /// Which.
        actor: u32,
        /// The centre in the actor's frame, in centimetres; sensors have NaN.
        origin: Vector,
        /// Half sizes in centimetres; sensors have infinities.
        extent: Vector,
    }
}

record! {
    /// Where a traffic light or sign looks for vehicles.
    #[derive(Copy)]
    TriggerVolume: TriggerVolume {
        /// Which.
        actor: u32,
        /// The centre in the world, in centimetres.
        origin: Vector,
        /// Half sizes in centimetres.
        extent: Vector,
    }
}

record! {
    /// How long a traffic light shows each colour.
    #[derive(Copy)]
    TrafficLightTime: TrafficLightTime {
        /// Which.
        actor: u32,
        /// Seconds.
        green: f32,
        /// Seconds.
        yellow: f32,
        /// Seconds.
        red: f32,
    }
}

record! {
    /// The rider of a two-wheeler.
    #[derive(Copy)]
    BikerAnim: BikerAnim {
        /// Which vehicle.
        actor: u32,
        /// In centimetres a second.
        forward_speed: f32,
        /// Engine speed by its maximum.
        engine_rotation: f32,
    }
}

record! {
    /// A door opens or closes.
    #[derive(Copy, Eq)]
    VehicleDoor: VehicleDoor {
        /// Which vehicle.
        actor: u32,
        /// 0 front left, 1 front right, 2 rear left, 3 rear right, 4 hood, 5 trunk, 6 all.
        door: u8,
        /// Whether it is open now.
        open: Flag,
    }
}

record! {
    /// The weather from here on.
    #[derive(Copy)]
    Weather: Weather {
        /// The values, in the order of [`Weather::NAMES`].
        values: [f32; 14],
    }
}

impl Weather {
    /// What the values are.
    pub const NAMES: [&'static str; 14] = [
        "cloudiness",
        "precipitation",
        "precipitation_deposits",
        "wind_intensity",
        "sun_azimuth_angle",
        "sun_altitude_angle",
        "fog_density",
        "fog_distance",
        "fog_falloff",
        "wetness",
        "scattering_intensity",
        "mie_scattering_scale",
        "rayleigh_scattering_scale",
        "dust_storm",
    ];
}

record! {
    /// The wheels of a vehicle.
    VehicleWheels: VehicleWheels {
        /// Which.
        actor: u32,
        /// Its wheels.
        wheels: Vec<WheelPose>,
    }
}

/// How one wheel stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WheelPose {
    /// Which, from 0 on.
    pub wheel: u8,
    /// Degrees.
    pub steering_angle: f32,
    /// Degrees.
    pub tire_rotation: f32,
}

impl<'a> Field<'a> for WheelPose {
    fn width(_: WireFormat) -> Option<usize> {
        Some(9)
    }
    fn get(cur: &mut Cursor<'a>, form: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        let wheel = cur.u8(what)?;
        let [steering_angle, tire_rotation] = <[f32; 2]>::get(cur, form, what)?;
        Ok(Self { wheel, steering_angle, tire_rotation })
    }
    fn put(&self, form: WireFormat, out: &mut Vec<u8>) {
        out.push(self.wheel);
        [self.steering_angle, self.tire_rotation].put(form, out);
    }
}

/// The bones of a walker; their count has 16 bits.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkerBones<'a> {
    /// Which walker.
    pub actor: u32,
    /// Its bones.
    pub bones: Vec<Bone<'a>>,
}

impl<'a> Record<'a> for WalkerBones<'a> {
    const KIND: Kind = Kind::WalkerBones;

    fn parse(cur: &mut Cursor<'a>, form: WireFormat) -> Result<Self, Truncated> {
        let actor = cur.u32_le("actor")?;
        let count = u16::from_le_bytes(*cur.array("bones")?);
        Ok(Self { actor, bones: list(count.into(), cur, form, "bones")? })
    }

    fn emit(&self, form: WireFormat, out: &mut Vec<u8>) {
        self.actor.put(form, out);
        let count = u16::try_from(self.bones.len()).unwrap_or(u16::MAX);
        count.put(form, out);
        self.bones.iter().take(count.into()).for_each(|bone| bone.put(form, out));
    }

    fn size(_: WireFormat) -> Option<usize> {
        None
    }
}

/// One bone of a walker, relative to the bone it hangs on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone<'a> {
    /// Which.
    pub name: &'a [u8],
    /// In centimetres.
    pub location: Vector,
    /// How it is turned.
    pub rotation: Rotation,
}

impl<'a> Field<'a> for Bone<'a> {
    fn width(_: WireFormat) -> Option<usize> {
        None
    }
    fn get(cur: &mut Cursor<'a>, form: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        let name = text(cur, "bone name")?;
        Ok(Self { name, location: Vector::get(cur, form, what)?, rotation: Rotation::get(cur, form, what)? })
    }
    fn put(&self, form: WireFormat, out: &mut Vec<u8>) {
        put_text(self.name, out);
        self.location.put(form, out);
        self.rotation.put(form, out);
    }
}

/// The physics of a vehicle.
#[derive(Clone, Debug, PartialEq)]
pub struct PhysicsControl {
    /// Which.
    pub actor: u32,
    /// What is known of it.
    pub body: PhysicsBody,
}

/// The physics of a vehicle, as UE4 or UE5 know it.
#[derive(Clone, Debug, PartialEq)]
pub enum PhysicsBody {
    /// 0.9.10 and later, UE4.
    Ue4(Box<Ue4Physics>),
    /// UE5.
    Ue5(Box<Ue5Physics>),
}

impl<'a> Record<'a> for PhysicsControl {
    const KIND: Kind = Kind::PhysicsControl;

    fn parse(cur: &mut Cursor<'a>, form: WireFormat) -> Result<Self, Truncated> {
        let actor = cur.u32_le("actor")?;
        let body = match form.physics {
            Physics::W48 | Physics::W36 => PhysicsBody::Ue4(Box::new(Ue4Physics::get(cur, form, "physics")?)),
            Physics::Ue5 => PhysicsBody::Ue5(Box::new(Ue5Physics::get(cur, form, "physics")?)),
        };
        Ok(Self { actor, body })
    }

    fn emit(&self, form: WireFormat, out: &mut Vec<u8>) {
        self.actor.put(form, out);
        match &self.body {
            PhysicsBody::Ue4(body) => body.put(form, out),
            PhysicsBody::Ue5(body) => body.put(form, out),
        }
    }

    fn size(_: WireFormat) -> Option<usize> {
        None
    }
}

macro_rules! fields {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $t:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[expect(missing_docs, reason = "the names are the specification's")]
        pub struct $name { $(pub $field: $t,)* }

        impl<'a> Field<'a> for $name {
            fn width(_: WireFormat) -> Option<usize> {
                None
            }
            fn get(cur: &mut Cursor<'a>, form: WireFormat, _: &'static str) -> Result<Self, Truncated> {
                $(let $field = <$t as Field<'a>>::get(cur, form, stringify!($field))?;)*
                Ok(Self { $($field,)* })
            }
            fn put(&self, form: WireFormat, out: &mut Vec<u8>) {
                $(self.$field.put(form, out);)*
            }
        }
    };
}

fields! {
    /// The physics of a vehicle in UE4. The time to switch gears is not recorded.
    Ue4Physics {
        max_rpm: f32,
        moi: f32,
        damping_rate_full_throttle: f32,
        damping_rate_zero_throttle_clutch_engaged: f32,
        damping_rate_zero_throttle_clutch_disengaged: f32,
        use_gear_autobox: Flag,
        clutch_strength: f32,
        final_ratio: f32,
        mass: f32,
        drag_coefficient: f32,
        center_of_mass: [f32; 3],
        torque_curve: Vec<[f32; 2]>,
        forward_gears: Vec<[f32; 3]>,
        steering_curve: Vec<[f32; 2]>,
        wheels: Vec<Ue4Wheel>,
    }
}

/// One wheel in UE4.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub struct Ue4Wheel {
    pub tire_friction: f32,
    pub damping_rate: f32,
    pub max_steer_angle: f32,
    pub radius: f32,
    pub max_brake_torque: f32,
    pub max_handbrake_torque: f32,
    /// Lateral stiffness at maximum load, lateral and longitudinal stiffness; from 0.9.12 on.
    pub stiffness: Option<[f32; 3]>,
    /// In the world, in centimetres.
    pub position: [f32; 3],
}

impl<'a> Field<'a> for Ue4Wheel {
    fn width(form: WireFormat) -> Option<usize> {
        Some(if form.physics == Physics::W36 { 36 } else { 48 })
    }
    fn get(cur: &mut Cursor<'a>, form: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        let [tire_friction, damping_rate, max_steer_angle, radius, max_brake_torque, max_handbrake_torque] =
            <[f32; 6]>::get(cur, form, what)?;
        let stiffness = match form.physics {
            Physics::W36 => None,
            Physics::W48 | Physics::Ue5 => Some(<[f32; 3]>::get(cur, form, what)?),
        };
        Ok(Self {
            tire_friction,
            damping_rate,
            max_steer_angle,
            radius,
            max_brake_torque,
            max_handbrake_torque,
            stiffness,
            position: <[f32; 3]>::get(cur, form, what)?,
        })
    }
    fn put(&self, form: WireFormat, out: &mut Vec<u8>) {
        [
            self.tire_friction,
            self.damping_rate,
            self.max_steer_angle,
            self.radius,
            self.max_brake_torque,
            self.max_handbrake_torque,
        ]
        .put(form, out);
        if form.physics != Physics::W36 {
            self.stiffness.unwrap_or_default().put(form, out);
        }
        self.position.put(form, out);
    }
}

fields! {
    /// The physics of a vehicle in UE5.
    Ue5Physics {
        max_torque: f32,
        max_rpm: f32,
        idle_rpm: f32,
        brake_effect: f32,
        rev_up_moi: f32,
        rev_down_rate: f32,
        differential_type: u8,
        front_rear_split: f32,
        use_automatic_gears: Flag,
        gear_change_time: f32,
        final_ratio: f32,
        change_up_rpm: f32,
        change_down_rpm: f32,
        transmission_efficiency: f32,
        mass: f32,
        drag_coefficient: f32,
        center_of_mass: [f32; 3],
        chassis_width: f32,
        chassis_height: f32,
        downforce_coefficient: f32,
        drag_area: f32,
        inertia_tensor_scale: [f32; 3],
        sleep_threshold: f32,
        sleep_slope_limit: f32,
        use_sweep_wheel_collision: Flag,
        torque_curve: Vec<[f32; 2]>,
        forward_gear_ratios: Vec<f32>,
        reverse_gear_ratios: Vec<f32>,
        steering_curve: Vec<[f32; 2]>,
        wheels: Vec<Ue5Wheel>,
    }
}

/// One wheel in UE5: the image of an object in the server's memory, padding and pointers included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ue5Wheel(pub [u8; 208]);

impl Default for Ue5Wheel {
    fn default() -> Self {
        Self([0; 208])
    }
}

impl<'a> Field<'a> for Ue5Wheel {
    fn width(_: WireFormat) -> Option<usize> {
        Some(208)
    }
    fn get(cur: &mut Cursor<'a>, _: WireFormat, what: &'static str) -> Result<Self, Truncated> {
        cur.array(what).map(|image| Self(*image))
    }
    fn put(&self, _: WireFormat, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
}

/// How a field lies in the image of a UE5 wheel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WheelField {
    /// One byte.
    Byte,
    /// A boolean of one byte.
    Flag,
    /// A binary32 number.
    Number,
    /// A signed integer of 32 bits.
    Integer,
    /// Three binary32 numbers.
    Vector,
}

impl Ue5Wheel {
    /// The fields of the image: name, offset, and what lies there, in the order of their offsets.
    pub const FIELDS: &'static [(&'static str, usize, WheelField)] = &[
        ("axle_type", 0, WheelField::Byte),
        ("offset", 4, WheelField::Vector),
        ("wheel_radius", 16, WheelField::Number),
        ("wheel_width", 20, WheelField::Number),
        ("wheel_mass", 24, WheelField::Number),
        ("cornering_stiffness", 28, WheelField::Number),
        ("friction_force_multiplier", 32, WheelField::Number),
        ("side_slip_modifier", 36, WheelField::Number),
        ("slip_threshold", 40, WheelField::Number),
        ("skid_threshold", 44, WheelField::Number),
        ("max_steer_angle", 48, WheelField::Number),
        ("affected_by_steering", 52, WheelField::Flag),
        ("affected_by_brake", 53, WheelField::Flag),
        ("affected_by_handbrake", 54, WheelField::Flag),
        ("affected_by_engine", 55, WheelField::Flag),
        ("abs_enabled", 56, WheelField::Flag),
        ("traction_control_enabled", 57, WheelField::Flag),
        ("max_wheelspin_rotation", 60, WheelField::Number),
        ("external_torque_combine_method", 64, WheelField::Byte),
        ("suspension_axis", 96, WheelField::Vector),
        ("suspension_force_offset", 108, WheelField::Vector),
        ("suspension_max_raise", 120, WheelField::Number),
        ("suspension_max_drop", 124, WheelField::Number),
        ("suspension_damping_ratio", 128, WheelField::Number),
        ("wheel_load_ratio", 132, WheelField::Number),
        ("spring_rate", 136, WheelField::Number),
        ("spring_preload", 140, WheelField::Number),
        ("suspension_smoothing", 144, WheelField::Integer),
        ("rollbar_scaling", 148, WheelField::Number),
        ("sweep_shape", 152, WheelField::Byte),
        ("sweep_type", 153, WheelField::Byte),
        ("max_brake_torque", 156, WheelField::Number),
        ("max_hand_brake_torque", 160, WheelField::Number),
        ("wheel_index", 164, WheelField::Integer),
        ("location", 168, WheelField::Vector),
        ("old_location", 180, WheelField::Vector),
        ("velocity", 192, WheelField::Vector),
    ];
}
