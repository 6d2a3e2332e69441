//! Records that are JSON in the model: how actors appear, and the physics of vehicles.
//!
//! Where the text cannot represent a record bit for bit (texts that are not UTF-8, unusual NaNs, bytes between fields),
//! the record's own bytes stand in `raw`, and they count.

use logpose_core::{Cursor, Truncated};
use serde_json::Value as Json;

use crate::model::{Coarse, centimetres, fine, metres};
use crate::wire::{
    ActorType, Attribute, Attributes, EventAdd, Record, Rotation, Ue5Wheel, Vector, Vectors, WheelField, WireFormat,
};

/// Appends how an actor appears, as JSON.
pub(crate) fn put_add(record: &[u8], form: WireFormat, out: &mut Vec<u8>) {
    let Ok(add) = EventAdd::parse(&mut Cursor::new(record, 0), form) else { return };
    let start = out.len();
    out.extend_from_slice(format!("{{\"actor\":{},\"type\":{},\"class\":", add.actor, add.actor_type).as_bytes());
    put_text(add.class().name().as_bytes(), out);
    out.extend_from_slice(b",\"blueprint\":");
    put_text(add.blueprint, out);
    out.extend_from_slice(format!(",\"uid\":{}", add.uid).as_bytes());
    let Vector { x, y, z } = add.location;
    let Rotation { roll, pitch, yaw } = add.rotation;
    let numbers =
        [("x", metres(x)), ("y", metres(y)), ("z", metres(z)), ("roll", roll), ("pitch", pitch), ("yaw", yaw)];
    for (name, number) in numbers {
        put_name(name, out);
        put_double(number, out);
    }
    let fine = fine(add.location.array());
    if form.vectors == Vectors::F64 && fine != 0 {
        put_name("fine", out);
        out.extend_from_slice(fine.to_string().as_bytes());
    }
    out.extend_from_slice(b",\"attributes\":[");
    for (place, attribute) in add.attributes.0.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        out.extend_from_slice(format!("{comma}{{\"type\":{},\"id\":", attribute.attribute_type).as_bytes());
        put_text(attribute.id, out);
        put_name("value", out);
        put_text(attribute.value, out);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
    add_raw(record, form, start, out, get_add);
}

/// Appends the record that [`put_add`] wrote; returns the actor.
pub(crate) fn get_add(text: &[u8], form: WireFormat, out: &mut Vec<u8>) -> Result<u32, String> {
    let json: Json = serde_json::from_slice(text).map_err(|error| format!("not JSON: {error}"))?;
    let actor = integer(&json, "actor")?;
    if let Some(raw) = raw(&json)? {
        out.extend_from_slice(&raw);
        return Ok(actor);
    }
    let place = [number(&json, "x")?, number(&json, "y")?, number(&json, "z")?];
    let fine: u8 = if json.get("fine").is_some() { integer(&json, "fine")? } else { 0 };
    let [x, y, z] = centimetres(place, Coarse::of(form, fine));
    let attributes = json.get("attributes").and_then(Json::as_array).map_or(&[][..], |list| list);
    let attributes: Result<Vec<_>, String> = attributes
        .iter()
        .map(|one| {
            Ok(Attribute {
                attribute_type: integer(one, "type")?,
                id: string(one, "id")?,
                value: string(one, "value")?,
            })
        })
        .collect();
    let attributes = attributes?;
    let blueprint = string(&json, "blueprint")?;
    let long = |text: &[u8]| u16::try_from(text.len()).is_err();
    if long(blueprint)
        || attributes.len() > usize::from(u16::MAX)
        || attributes.iter().any(|a| long(a.id) || long(a.value))
    {
        return Err("a text or a list has more than 65535 entries".to_owned());
    }
    let actor_type = match json.get("type") {
        Some(_) => integer(&json, "type")?,
        None => ActorType::of_blueprint(blueprint).unwrap_or(ActorType::Other).number(),
    };
    let add = EventAdd {
        actor,
        actor_type,
        location: Vector { x, y, z },
        rotation: Rotation { roll: number(&json, "roll")?, pitch: number(&json, "pitch")?, yaw: number(&json, "yaw")? },
        uid: integer(&json, "uid")?,
        blueprint,
        attributes: Attributes(attributes),
    };
    add.emit(form, out);
    Ok(actor)
}

/// One field of a physics record, by its name in the specification.
enum PhysicsField {
    Number(&'static str),
    Vector(&'static str),
    Flag(&'static str),
    Byte(&'static str),
    /// A list of objects, and of plain numbers.
    List(&'static str, &'static [Self]),
    Numbers(&'static str),
    /// The wheels of UE5, which are images of memory.
    Images(&'static str),
}

use PhysicsField::{Byte, Flag, Images, List, Number, Numbers, Vector as Triple};

macro_rules! ue4 {
    ($wheel:ident) => {
        &[
            Number("max_rpm"),
            Number("moi"),
            Number("damping_rate_full_throttle"),
            Number("damping_rate_zero_throttle_clutch_engaged"),
            Number("damping_rate_zero_throttle_clutch_disengaged"),
            Flag("use_gear_autobox"),
            Number("clutch_strength"),
            Number("final_ratio"),
            Number("mass"),
            Number("drag_coefficient"),
            Triple("center_of_mass"),
            List("torque_curve", &[Number("rpm"), Number("torque")]),
            List("forward_gears", &[Number("ratio"), Number("down_ratio"), Number("up_ratio")]),
            List("steering_curve", &[Number("speed"), Number("factor")]),
            List("wheels", $wheel),
        ]
    };
}

static W48: &[PhysicsField] = ue4!(WHEEL_48);
static W36: &[PhysicsField] = ue4!(WHEEL_36);

static WHEEL_48: &[PhysicsField] = &[
    Number("tire_friction"),
    Number("damping_rate"),
    Number("max_steer_angle"),
    Number("radius"),
    Number("max_brake_torque"),
    Number("max_handbrake_torque"),
    Number("lat_stiff_max_load"),
    Number("lat_stiff_value"),
    Number("long_stiff_value"),
    Triple("position"),
];

static WHEEL_36: &[PhysicsField] = &[
    Number("tire_friction"),
    Number("damping_rate"),
    Number("max_steer_angle"),
    Number("radius"),
    Number("max_brake_torque"),
    Number("max_handbrake_torque"),
    Triple("position"),
];

static UE5: &[PhysicsField] = &[
    Number("max_torque"),
    Number("max_rpm"),
    Number("idle_rpm"),
    Number("brake_effect"),
    Number("rev_up_moi"),
    Number("rev_down_rate"),
    Byte("differential_type"),
    Number("front_rear_split"),
    Flag("use_automatic_gears"),
    Number("gear_change_time"),
    Number("final_ratio"),
    Number("change_up_rpm"),
    Number("change_down_rpm"),
    Number("transmission_efficiency"),
    Number("mass"),
    Number("drag_coefficient"),
    Triple("center_of_mass"),
    Number("chassis_width"),
    Number("chassis_height"),
    Number("downforce_coefficient"),
    Number("drag_area"),
    Triple("inertia_tensor_scale"),
    Number("sleep_threshold"),
    Number("sleep_slope_limit"),
    Flag("use_sweep_wheel_collision"),
    List("torque_curve", &[Number("rpm"), Number("torque")]),
    Numbers("forward_gear_ratios"),
    Numbers("reverse_gear_ratios"),
    List("steering_curve", &[Number("speed"), Number("factor")]),
    Images("wheels"),
];

/// Appends the physics of a vehicle, as JSON. The length of the body determines its layout.
pub(crate) fn put_physics(record: &[u8], form: WireFormat, out: &mut Vec<u8>) {
    let start = out.len();
    let bodies = if form.vectors == Vectors::F64 { [UE5, UE5] } else { [W48, W36] };
    for fields in bodies {
        let mut cur = Cursor::new(record, 0);
        if try_physics(&mut cur, fields, out).is_ok() && cur.is_empty() {
            break;
        }
        out.truncate(start);
    }
    if out.len() > start {
        add_raw(record, form, start, out, get_physics);
    }
}

fn try_physics(cur: &mut Cursor<'_>, fields: &[PhysicsField], out: &mut Vec<u8>) -> Result<(), Truncated> {
    out.extend_from_slice(format!("{{\"actor\":{}", cur.u32_le("actor")?).as_bytes());
    put_fields(cur, fields, out)?;
    out.push(b'}');
    Ok(())
}

/// Appends the fields, each with a comma in front.
fn put_fields(cur: &mut Cursor<'_>, fields: &[PhysicsField], out: &mut Vec<u8>) -> Result<(), Truncated> {
    for field in fields {
        match field {
            Number(name) => {
                put_name(name, out);
                put_float(cur, out)?;
            }
            Triple(name) => {
                put_name(name, out);
                put_list(3, out, |out| put_float(cur, out))?;
            }
            Flag(name) => {
                put_name(name, out);
                out.extend_from_slice(if cur.u8(name)? == 0 { b"false" } else { b"true" });
            }
            Byte(name) => {
                put_name(name, out);
                out.extend_from_slice(cur.u8(name)?.to_string().as_bytes());
            }
            List(name, fields) => {
                put_name(name, out);
                let count = cur.u32_le(name)?;
                put_list(count, out, |out| put_object(out, |out| put_fields(cur, fields, out)))?;
            }
            Numbers(name) => {
                put_name(name, out);
                let count = cur.u32_le(name)?;
                put_list(count, out, |out| put_float(cur, out))?;
            }
            Images(name) => {
                put_name(name, out);
                let count = cur.u32_le(name)?;
                put_list(count, out, |out| {
                    let image: &[u8; 208] = cur.array(name)?;
                    put_object(out, |out| put_image(image, out))
                })?;
            }
        }
    }
    Ok(())
}

fn put_image(image: &[u8; 208], out: &mut Vec<u8>) -> Result<(), Truncated> {
    for (name, offset, field) in Ue5Wheel::FIELDS {
        let mut cur = Cursor::new(image.get(*offset..).unwrap_or_default(), 0);
        match field {
            WheelField::Integer => {
                put_name(name, out);
                out.extend_from_slice(cur.u32_le(name)?.cast_signed().to_string().as_bytes());
            }
            WheelField::Byte => put_fields(&mut cur, &[Byte(name)], out)?,
            WheelField::Flag => put_fields(&mut cur, &[Flag(name)], out)?,
            WheelField::Number => put_fields(&mut cur, &[Number(name)], out)?,
            WheelField::Vector => put_fields(&mut cur, &[Triple(name)], out)?,
        }
    }
    Ok(())
}

/// Appends an object whose fields have commas in front.
fn put_object(out: &mut Vec<u8>, fields: impl FnOnce(&mut Vec<u8>) -> Result<(), Truncated>) -> Result<(), Truncated> {
    let start = out.len();
    fields(out)?;
    match out.get_mut(start) {
        Some(comma) => *comma = b'{',
        None => out.push(b'{'),
    }
    out.push(b'}');
    Ok(())
}

fn put_list(
    count: u32,
    out: &mut Vec<u8>,
    mut item: impl FnMut(&mut Vec<u8>) -> Result<(), Truncated>,
) -> Result<(), Truncated> {
    out.push(b'[');
    for place in 0..count {
        if place > 0 {
            out.push(b',');
        }
        item(out)?;
    }
    out.push(b']');
    Ok(())
}

/// Appends the record that [`put_physics`] wrote; returns the actor.
pub(crate) fn get_physics(text: &[u8], form: WireFormat, out: &mut Vec<u8>) -> Result<u32, String> {
    let json: Json = serde_json::from_slice(text).map_err(|error| format!("not JSON: {error}"))?;
    let actor: u32 = integer(&json, "actor")?;
    if let Some(raw) = raw(&json)? {
        out.extend_from_slice(&raw);
        return Ok(actor);
    }
    let older = || {
        let wheel = json.get("wheels").and_then(|wheels| wheels.get(0));
        wheel.is_some_and(|wheel| wheel.get("lat_stiff_max_load").is_none())
    };
    let fields = match form.vectors {
        Vectors::F64 => UE5,
        Vectors::F32 if older() => W36,
        Vectors::F32 => W48,
    };
    out.extend_from_slice(&actor.to_le_bytes());
    get_fields(&json, fields, out)?;
    Ok(actor)
}

fn get_fields(json: &Json, fields: &[PhysicsField], out: &mut Vec<u8>) -> Result<(), String> {
    for field in fields {
        match field {
            Number(name) => put_bits(number(json, name)?, out),
            Triple(name) => {
                let numbers = list(json, name)?;
                if numbers.len() != 3 {
                    return Err(format!("{name:?} must have three numbers"));
                }
                for number in numbers {
                    put_bits(number_of(number, name)?, out);
                }
            }
            Flag(name) => out.push(json.get(*name).and_then(Json::as_bool).ok_or_else(|| missing(name))?.into()),
            Byte(name) => out.push(integer(json, name)?),
            List(name, fields) => get_list(json, name, out, |item, out| get_fields(item, fields, out))?,
            Numbers(name) => get_list(json, name, out, |item, out| {
                put_bits(number_of(item, name)?, out);
                Ok(())
            })?,
            Images(name) => get_list(json, name, out, |item, out| {
                let start = out.len();
                out.resize(start + 208, 0);
                get_image(item, out.get_mut(start..).unwrap_or_default())
            })?,
        }
    }
    Ok(())
}

fn get_image(json: &Json, image: &mut [u8]) -> Result<(), String> {
    let mut bytes = Vec::new();
    for (name, offset, field) in Ue5Wheel::FIELDS {
        bytes.clear();
        match field {
            WheelField::Integer => bytes.extend_from_slice(&integer::<i32>(json, name)?.to_le_bytes()),
            WheelField::Byte => get_fields(json, &[Byte(name)], &mut bytes)?,
            WheelField::Flag => get_fields(json, &[Flag(name)], &mut bytes)?,
            WheelField::Number => get_fields(json, &[Number(name)], &mut bytes)?,
            WheelField::Vector => get_fields(json, &[Triple(name)], &mut bytes)?,
        }
        if let Some(place) = image.get_mut(*offset..offset + bytes.len()) {
            place.copy_from_slice(&bytes);
        }
    }
    Ok(())
}

fn get_list(
    json: &Json,
    name: &str,
    out: &mut Vec<u8>,
    mut item: impl FnMut(&Json, &mut Vec<u8>) -> Result<(), String>,
) -> Result<(), String> {
    let items = list(json, name)?;
    let count = u32::try_from(items.len()).map_err(|_| format!("{name:?} is too long"))?;
    out.extend_from_slice(&count.to_le_bytes());
    items.iter().try_for_each(|one| item(one, out))
}

/// Adds the record's bytes to the object that begins at `start`, unless reading the object gives them back.
fn add_raw(
    record: &[u8],
    form: WireFormat,
    start: usize,
    out: &mut Vec<u8>,
    get: impl FnOnce(&[u8], WireFormat, &mut Vec<u8>) -> Result<u32, String>,
) {
    let mut again = Vec::with_capacity(record.len());
    if get(out.get(start..).unwrap_or_default(), form, &mut again).is_err() || again != record {
        out.pop();
        put_name("raw", out);
        put_text(base64(record).as_bytes(), out);
        out.push(b'}');
    }
}

fn raw(json: &Json) -> Result<Option<Vec<u8>>, String> {
    let Some(raw) = json.get("raw") else { return Ok(None) };
    let raw = raw.as_str().and_then(unbase64).ok_or("\"raw\" is not base64")?;
    Ok(Some(raw))
}

fn missing(name: &str) -> String {
    format!("{name:?} is missing or has the wrong type")
}

fn list<'j>(json: &'j Json, name: &str) -> Result<&'j [Json], String> {
    json.get(name).and_then(Json::as_array).map(|list| &list[..]).ok_or_else(|| missing(name))
}

fn string<'j>(json: &'j Json, name: &str) -> Result<&'j [u8], String> {
    json.get(name).and_then(Json::as_str).map(str::as_bytes).ok_or_else(|| missing(name))
}

fn integer<T: TryFrom<i64>>(json: &Json, name: &str) -> Result<T, String> {
    json.get(name).and_then(Json::as_i64).and_then(|n| T::try_from(n).ok()).ok_or_else(|| missing(name))
}

fn number(json: &Json, name: &str) -> Result<f64, String> {
    number_of(json.get(name).ok_or_else(|| missing(name))?, name)
}

fn number_of(json: &Json, name: &str) -> Result<f64, String> {
    let word = || match json.as_str()? {
        "NaN" => Some(f64::NAN),
        "-NaN" => Some(-f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    };
    json.as_f64().or_else(word).ok_or_else(|| missing(name))
}

fn put_bits(number: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(&crate::wire::narrow(number).to_le_bytes());
}

fn put_name(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Appends a text; bytes that are not UTF-8 are shown as U+FFFD.
pub(crate) fn put_text(text: &[u8], out: &mut Vec<u8>) {
    let text = Json::from(&*String::from_utf8_lossy(text)).to_string();
    out.extend_from_slice(text.as_bytes());
}

fn put_float(cur: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Truncated> {
    let x = f32::from_le_bytes(*cur.array("number")?);
    // The shortest text that reads back as the same number of this width.
    if x.is_finite() {
        out.extend_from_slice(format!("{x:?}").as_bytes())
    } else {
        put_double(x.into(), out)
    }
    Ok(())
}

fn put_double(x: f64, out: &mut Vec<u8>) {
    let text = match x {
        _ if x.is_finite() => format!("{x:?}"),
        _ if x.is_nan() && x.is_sign_negative() => "\"-NaN\"".to_owned(),
        _ if x.is_nan() => "\"NaN\"".to_owned(),
        _ if x > 0.0 => "\"Infinity\"".to_owned(),
        _ => "\"-Infinity\"".to_owned(),
    };
    out.extend_from_slice(text.as_bytes());
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().chain([&0; 3]).take(3).fold(0_usize, |word, byte| word << 8 | usize::from(*byte));
        for place in 0..4 {
            let letter = LETTERS.get(word >> (18 - 6 * place) & 63).copied().unwrap_or_default();
            out.push(if place <= group.len() { letter.into() } else { '=' });
        }
    }
    out
}

/// The bytes that base64 with padding says.
pub(crate) fn unbase64(text: &str) -> Option<Vec<u8>> {
    let (groups, rest) = text.as_bytes().as_chunks::<4>();
    let mut out = Vec::with_capacity(groups.len() * 3);
    for (place, group) in groups.iter().enumerate() {
        let padding = group.iter().rev().take_while(|letter| **letter == b'=').count();
        if padding > 2 || padding > 0 && place + 1 < groups.len() {
            return None;
        }
        let mut word = 0_u32;
        for (place, letter) in group.iter().enumerate() {
            let padded = place + padding >= group.len();
            let value = if padded { 0 } else { LETTERS.iter().position(|known| known == letter)? };
            word = word << 6 | u32::try_from(value).ok()?;
        }
        out.extend_from_slice(word.to_be_bytes().get(1..4 - padding)?);
    }
    rest.is_empty().then_some(out)
}

#[cfg(test)]
mod tests {
    use super::{base64, unbase64};

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
            assert_eq!(unbase64(text).unwrap(), bytes.as_bytes());
        }
        for bad in ["A", "Zg=", "Z===", "Zg==Zg==", "Z g=", "=g=="] {
            assert_eq!(unbase64(bad), None, "{bad}");
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unbase64(&base64(&all)), Some(all));
    }
}
