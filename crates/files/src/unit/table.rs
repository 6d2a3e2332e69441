//! The table of units. The viewer's page converts with the same one: a test of `crates/viewer` writes it there.

use std::f64::consts::TAU;

/// Units that measure the same quantity and convert into each other.
#[derive(Debug)]
pub struct UnitFamily {
    /// The quantity, such as `length`.
    pub name: &'static str,
    /// The first one is the unit that the others are converted to.
    pub units: &'static [Unit],
}

/// A unit, how it converts, and how logs spell it.
#[derive(Debug)]
pub struct Unit {
    /// How logpose writes it: `°/s`. Empty for plain ratios.
    pub symbol: &'static str,
    /// `value × factor + offset` is in the first unit of the family.
    pub factor: f64,
    /// See `factor`; zero for everything but temperatures.
    pub offset: f64,
    /// Other spellings, in lower case. What logs state is compared with them regardless of case.
    pub spellings: &'static [&'static str],
    /// Words at the end of channel names, as in `DriveVelocityMetersPerSec` or `battery_volts`; spellings as well.
    pub endings: &'static [&'static str],
}

const fn unit(
    symbol: &'static str,
    factor: f64,
    offset: f64,
    spellings: &'static [&'static str],
    endings: &'static [&'static str],
) -> Unit {
    Unit { symbol, factor, offset, spellings, endings }
}

/// Every unit that logpose knows.
pub static UNITS: &[UnitFamily] = &[
    UnitFamily {
        name: "length",
        units: &[
            unit("m", 1.0, 0.0, &["metre"], &["Meters", "Meter", "Metres"]),
            unit("cm", 0.01, 0.0, &["centimeter", "centimetres"], &["Centimeters"]),
            unit("mm", 0.001, 0.0, &["millimeter", "millimetres"], &["Millimeters"]),
            unit("km", 1000.0, 0.0, &["kilometer", "kilometers", "kilometres"], &[]),
            unit("in", 0.0254, 0.0, &["\""], &["Inches", "Inch"]),
            unit("ft", 0.3048, 0.0, &["foot"], &["Feet"]),
            unit("mi", 1609.344, 0.0, &["mile", "miles"], &[]),
        ],
    },
    UnitFamily {
        name: "angle",
        units: &[
            unit("rad", 1.0, 0.0, &[], &["Radians", "Radian", "Rads", "Rad", "TurnPosition"]),
            unit("°", TAU / 360.0, 0.0, &["degs"], &["Degrees", "Degree", "Deg"]),
            unit(
                "rot",
                TAU,
                0.0,
                &["rotation", "rev", "revs", "revolution", "turns"],
                &["Rotations", "Rots", "Rot", "Revolutions"],
            ),
        ],
    },
    UnitFamily {
        name: "speed",
        units: &[
            unit(
                "m/s",
                1.0,
                0.0,
                &["meters per second", "metres per second", "meters/second", "meters/s"],
                &["MetersPerSecond", "MetersPerSec", "MetresPerSecond", "MPS", "Mps", "DriveVelocity"],
            ),
            unit("km/h", 1.0 / 3.6, 0.0, &["kph", "kmh", "kmph", "kilometers per hour"], &[]),
            unit("ft/s", 0.3048, 0.0, &["fps", "feet per second", "feet/second"], &[]),
            unit("in/s", 0.0254, 0.0, &["ips", "inches per second", "inches/second"], &[]),
            unit("mph", 0.44704, 0.0, &["mi/h", "miles per hour"], &[]),
        ],
    },
    UnitFamily {
        name: "angular speed",
        units: &[
            unit(
                "rad/s",
                1.0,
                0.0,
                &["radians per second", "radians/second", "rads/s", "rad/sec"],
                &["RadiansPerSecond", "RadiansPerSec", "RadPerSec", "RadsPerSec", "RadPerSecond", "TurnVelocity"],
            ),
            unit(
                "°/s",
                TAU / 360.0,
                0.0,
                &["deg/s", "dps", "degrees per second", "degrees/second", "deg/sec"],
                &["DegreesPerSecond", "DegreesPerSec", "DegPerSec"],
            ),
            unit(
                "rot/s",
                TAU,
                0.0,
                &["rotations per second", "rotations/second", "rev/s"],
                &["RotationsPerSecond", "RotationsPerSec", "RotPerSec", "RotsPerSec", "RPS"],
            ),
            unit(
                "rpm",
                TAU / 60.0,
                0.0,
                &["rev/min", "rot/min", "rotations per minute", "revolutions per minute"],
                &["RotationsPerMinute", "RevolutionsPerMinute", "RevPerMin", "RPM", "Rpm"],
            ),
        ],
    },
    UnitFamily {
        name: "acceleration",
        units: &[
            unit(
                "m/s²",
                1.0,
                0.0,
                &["m/s^2", "m/s2", "m/s/s", "meters per second squared"],
                &["MetersPerSecondSquared", "MetersPerSecPerSec", "MetersPerSecSquared"],
            ),
            unit("g", 9.80665, 0.0, &["gs", "standard gravity"], &[]),
            unit("ft/s²", 0.3048, 0.0, &["ft/s^2", "feet per second squared"], &[]),
        ],
    },
    UnitFamily {
        name: "angular acceleration",
        units: &[
            unit(
                "rad/s²",
                1.0,
                0.0,
                &["rad/s^2", "rad/s/s", "radians per second squared"],
                &["RadiansPerSecondSquared", "RadPerSecSquared", "RadPerSecPerSec", "RadiansPerSecPerSec"],
            ),
            unit("°/s²", TAU / 360.0, 0.0, &["deg/s^2", "degrees per second squared"], &[]),
            unit("rot/s²", TAU, 0.0, &["rot/s^2", "rotations per second squared"], &[]),
        ],
    },
    UnitFamily {
        name: "voltage",
        units: &[unit("V", 1.0, 0.0, &[], &["Volts", "Volt", "Voltage"]), unit("mV", 0.001, 0.0, &["millivolts"], &[])],
    },
    UnitFamily {
        name: "current",
        units: &[
            unit("A", 1.0, 0.0, &["amp", "ampere"], &["Amps", "Amperes", "Current"]),
            unit("mA", 0.001, 0.0, &["milliamps"], &[]),
        ],
    },
    UnitFamily {
        name: "temperature",
        units: &[
            unit("°C", 1.0, 0.0, &["c", "deg c", "degrees celsius"], &["Celsius", "DegC", "TempC", "Temperature"]),
            unit("°F", 5.0 / 9.0, -160.0 / 9.0, &["f", "degf", "degrees fahrenheit"], &["Fahrenheit"]),
            unit("K", 1.0, -273.15, &["kelvin"], &[]),
        ],
    },
    UnitFamily {
        name: "time",
        units: &[
            unit("s", 1.0, 0.0, &[], &["Seconds", "Second", "Secs", "Sec"]),
            unit("ms", 1e-3, 0.0, &["millisecond"], &["Milliseconds", "Millis", "Msec", "MS", "Ms"]),
            unit("µs", 1e-6, 0.0, &["us", "μs", "microsecond"], &["Microseconds", "Micros", "Usec"]),
            unit("ns", 1e-9, 0.0, &["nanos", "nanoseconds"], &[]),
            unit("min", 60.0, 0.0, &["minute", "minutes"], &[]),
            unit("h", 3600.0, 0.0, &["hour", "hours"], &[]),
        ],
    },
    UnitFamily {
        name: "part",
        units: &[
            unit("", 1.0, 0.0, &["ratio", "fraction"], &[]),
            unit("%", 0.01, 0.0, &["percentage"], &["Percent", "Pct"]),
        ],
    },
    UnitFamily {
        name: "frequency",
        units: &[
            unit("Hz", 1.0, 0.0, &[], &["Hertz", "Hz"]),
            unit("kHz", 1e3, 0.0, &["kilohertz"], &[]),
            unit("MHz", 1e6, 0.0, &["megahertz"], &[]),
        ],
    },
    UnitFamily {
        name: "mass",
        units: &[
            unit("kg", 1.0, 0.0, &["kilogram"], &["Kilograms", "Kg"]),
            unit("lb", 0.45359237, 0.0, &["lbs", "pound", "pounds"], &[]),
        ],
    },
    UnitFamily {
        name: "force",
        units: &[unit("N", 1.0, 0.0, &["newton"], &["Newtons"]), unit("lbf", 4.4482216152605, 0.0, &[], &[])],
    },
    UnitFamily {
        name: "torque",
        units: &[
            unit("N·m", 1.0, 0.0, &["newton meters", "newton-meters"], &["NewtonMeters", "Nm"]),
            unit("lb·ft", 1.3558179483314, 0.0, &["lbft", "ft-lb"], &[]),
            unit("lb·in", 0.1129848290276, 0.0, &["lbin", "in-lb"], &[]),
        ],
    },
    UnitFamily {
        name: "pressure",
        units: &[
            unit("Pa", 1.0, 0.0, &["pascal"], &["Pascals"]),
            unit("kPa", 1e3, 0.0, &["kilopascals"], &[]),
            unit("bar", 1e5, 0.0, &[], &[]),
            unit("psi", 6894.757293168, 0.0, &[], &["PSI", "Psi"]),
        ],
    },
    UnitFamily {
        name: "power",
        units: &[unit("W", 1.0, 0.0, &["watt"], &["Watts"]), unit("kW", 1e3, 0.0, &["kilowatts"], &[])],
    },
    UnitFamily {
        name: "energy",
        units: &[
            unit("J", 1.0, 0.0, &["joule"], &["Joules"]),
            unit("Wh", 3600.0, 0.0, &["watt hours", "watt-hours"], &[]),
            unit("kJ", 1e3, 0.0, &["kilojoules"], &[]),
        ],
    },
    UnitFamily {
        name: "charge",
        units: &[
            unit("A·s", 1.0, 0.0, &["coulomb", "coulombs"], &[]),
            unit("Ah", 3600.0, 0.0, &["amp hours", "amp-hours"], &[]),
        ],
    },
    UnitFamily {
        name: "data",
        units: &[
            unit("B", 1.0, 0.0, &["byte"], &["Bytes"]),
            unit("kB", 1e3, 0.0, &["kilobytes"], &[]),
            unit("MB", 1e6, 0.0, &["megabytes"], &[]),
            unit("GB", 1e9, 0.0, &["gigabytes"], &[]),
        ],
    },
];
