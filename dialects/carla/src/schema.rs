//! The texts that explain the structs of the model.

use crate::wire::Vectors;

/// A struct of the model: its name, and its schema in the words of WPILib.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Struct {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

impl Struct {
    /// The name of the channel that holds the schema.
    pub(crate) fn channel(self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    /// The struct whose schema a channel holds.
    pub(crate) fn of_channel(name: &str) -> Option<Self> {
        let name = name.strip_prefix(PREFIX)?;
        ALL.iter().copied().find(|known| known.name == name)
    }
}

/// What stands before the name of a struct in the name of its schema's channel.
pub(crate) const PREFIX: &str = "/.schema/struct:";

pub(crate) const FRAME: Struct = Struct { name: "CarlaFrame", text: "uint64 frame;double duration;double elapsed" };
pub(crate) const PARENT: Struct = Struct { name: "CarlaParent", text: "uint32 actor;uint32 parent" };
pub(crate) const COLLISION: Struct =
    Struct { name: "CarlaCollision", text: "uint32 id;uint32 actor1;uint32 actor2;bool hero1;bool hero2" };
pub(crate) const VELOCITY: Struct =
    Struct { name: "CarlaVelocity", text: "double vx;double vy;double vz;double wx;double wy;double wz" };
pub(crate) const VEHICLE: Struct =
    Struct { name: "CarlaVehicle", text: "float steering;float throttle;float brake;bool handbrake;int32 gear" };
pub(crate) const VEHICLE_LIGHT: Struct = Struct {
    name: "CarlaVehicleLight",
    text: "uint32 position:1;uint32 low_beam:1;uint32 high_beam:1;uint32 brake:1;uint32 right_blinker:1;\
           uint32 left_blinker:1;uint32 reverse:1;uint32 fog:1;uint32 interior:1;uint32 special1:1;uint32 special2:1;\
           uint32 rest:21",
};
pub(crate) const WHEEL: Struct = Struct { name: "CarlaWheel", text: "uint8 wheel;float steering_angle;float rotation" };
pub(crate) const BIKER: Struct = Struct { name: "CarlaBiker", text: "double forward_speed;float engine_rotation" };
pub(crate) const DOOR: Struct = Struct {
    name: "CarlaDoor",
    text: "enum{front_left=0,front_right=1,rear_left=2,rear_right=3,hood=4,trunk=5,all=6} uint8 door;bool open",
};
pub(crate) const LIGHT: Struct =
    Struct { name: "CarlaLight", text: "enum{red=0,yellow=1,green=2,off=3} uint8 state;bool frozen;float elapsed" };
pub(crate) const TIMING: Struct = Struct { name: "CarlaLightTiming", text: "float green;float yellow;float red" };
pub(crate) const SCENE_LIGHT: Struct = Struct {
    name: "CarlaSceneLight",
    text: "float intensity;float r;float g;float b;float a;bool on;\
           enum{none=0,vehicle=1,street=2,building=3,other=4} uint8 group",
};
pub(crate) const WEATHER: Struct = Struct {
    name: "CarlaWeather",
    text: "float cloudiness;float precipitation;float precipitation_deposits;float wind_intensity;\
           float sun_azimuth_angle;float sun_altitude_angle;float fog_density;float fog_distance;float fog_falloff;\
           float wetness;float scattering_intensity;float mie_scattering_scale;float rayleigh_scattering_scale;\
           float dust_storm",
};
const TRANSFORM_32: Struct =
    Struct { name: "CarlaTransform", text: "double x;double y;double z;double roll;double pitch;double yaw" };
const TRANSFORM_64: Struct = Struct {
    name: "CarlaTransform64",
    text: "double x;double y;double z;double roll;double pitch;double yaw;uint8 fine",
};
const BOX_32: Struct =
    Struct { name: "CarlaBox", text: "double x;double y;double z;double extent_x;double extent_y;double extent_z" };
const BOX_64: Struct = Struct {
    name: "CarlaBox64",
    text: "double x;double y;double z;double extent_x;double extent_y;double extent_z;uint8 fine;uint8 fine_extent",
};

const ALL: &[Struct] = &[
    FRAME,
    PARENT,
    COLLISION,
    VELOCITY,
    VEHICLE,
    VEHICLE_LIGHT,
    WHEEL,
    BIKER,
    DOOR,
    LIGHT,
    TIMING,
    SCENE_LIGHT,
    WEATHER,
    TRANSFORM_32,
    TRANSFORM_64,
    BOX_32,
    BOX_64,
];

/// A pose.
pub(crate) fn transform(vectors: Vectors) -> Struct {
    match vectors {
        Vectors::F32 => TRANSFORM_32,
        Vectors::F64 => TRANSFORM_64,
    }
}

/// A box.
pub(crate) fn bounds(vectors: Vectors) -> Struct {
    match vectors {
        Vectors::F32 => BOX_32,
        Vectors::F64 => BOX_64,
    }
}
