//! The tables of section 8, and the channels made of them.

use logpose_refloat::items::{self, ITEMS, MASK1, MASK2};

use crate::kit::version;

#[test]
fn the_recorded_ids_of_each_version() {
    let old = "motor.erpm motor.dir_current motor.duty_cycle motor.batt_voltage imu.pitch imu.balance_pitch setpoint \
               atr.setpoint torque_tilt.setpoint balance_current";
    let new = "control.dt control.freq erpm dir_current duty_cycle batt_voltage pitch balance_pitch setpoint \
               atr.setpoint torque_tilt.setpoint balance_current atr.transition_boost";
    for (text, ids) in [("1.1.2", old), ("1.2.3", old), ("1.3.0-preview1", new), ("1.3.0-beta2", new)] {
        assert_eq!(items::recorded(&version(text)).join(" "), ids, "{text}");
    }
}

#[test]
fn the_live_ids_are_those_of_the_table_in_two_lists() {
    let (always, running) = items::live_ids(&version("1.2.3"));
    assert_eq!((always.len(), running.len()), (16, 10));
    assert_eq!(
        (always[0], always[15], running[0], running[9]),
        ("motor.speed", "remote.input", "setpoint", "booster.current")
    );
    let (always, running) = items::live_ids(&version("1.3.0"));
    assert_eq!((always.len(), running.len()), (18, 11));
    assert_eq!(
        (always[0], always[17], running[0], running[10]),
        ("control.dt", "remote.input", "setpoint", "booster.torque")
    );
}

#[test]
fn old_ids_have_new_ones_unless_they_are_something_else() {
    assert_eq!(items::newest("motor.erpm"), "erpm");
    assert_eq!(items::newest("footpad.adc1"), "adc_left");
    assert_eq!(items::newest("setpoint"), "setpoint");
    assert_eq!(items::newest("booster.current"), "booster.current", "1.3 counts in Nm");
    assert_eq!(items::newest("something.else"), "something.else");
}

#[test]
fn channels_have_the_units_of_the_table() {
    let unit = |id: &str| items::channel(id).unit.unwrap_or_default();
    let units =
        ["control.dt", "control.freq", "speed", "motor.erpm", "duty_cycle", "mosfet_temp", "booster.torque"].map(unit);
    assert_eq!(units, ["ms", "Hz", "km/h", "rpm", "", "degC", "Nm"]);
    let channel = items::channel("motor.erpm");
    assert_eq!((channel.name.as_str(), channel.type_name.as_str()), ("/refloat/motor.erpm", "float"));
    assert!(channel.metadata.contains("electrical"));
    assert_eq!(items::channel("what.ever").unit, None);
}

#[test]
fn every_id_comes_back_from_its_channel() {
    let ids = ITEMS.iter().flat_map(|item| [item.old, item.new]).flatten();
    for id in ids.chain(["", "what.ever", "running", "items/running", "file/meta", "items/x", "a/b"]) {
        assert_eq!(items::id_of(&items::channel(id).name), Some(id));
    }
    for name in ["/refloat/running", "/refloat/file/meta", "/refloat/odometer", "/other/erpm"] {
        assert_eq!(items::id_of(name), None, "{name}");
    }
    // No item of a version is in the way of another channel.
    assert!(
        ITEMS
            .iter()
            .flat_map(|item| [item.old, item.new])
            .flatten()
            .all(|id| items::channel(id).name == format!("/refloat/{id}"))
    );
}

#[test]
fn the_masks_of_each_version() {
    let masks = |text: &str| items::masks(&version(text));
    assert_eq!(masks("1.2.3"), None);
    assert_eq!(masks("1.3.0-preview1"), Some((0x3FFF_FFC3, 0x1FF)));
    assert_eq!(masks("1.3.0-preview3"), Some((0x7FFF_FFC3, 0x1FF)));
    assert_eq!(masks("1.3.0-beta1"), Some((0x7FFF_FFC3, 0x7FFF)));
    assert!(MASK1.is_sorted_by_key(|field| field.bit) && MASK2.is_sorted_by_key(|field| field.bit));
}

#[test]
fn a_field_of_a_mask_that_is_an_item_has_the_items_channel() {
    for field in MASK1.iter().chain(MASK2) {
        if items::item(field.id).is_some() {
            assert_eq!(field.channel(), items::channel(field.id), "{}", field.id);
        }
    }
    let odometer = items::mask_field("odometer").unwrap().channel();
    assert_eq!((odometer.name.as_str(), odometer.type_name.as_str()), ("/refloat/odometer", "int64"));
    assert_eq!(items::mask_field("gnss.latitude").unwrap().channel().type_name, "double");
}
