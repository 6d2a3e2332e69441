//! Every number that a rule compares with; docs/refloat-explain.md says why each is what it is.

macro_rules! thresholds {
    ($($(#[doc = $doc:literal])+ $name:ident: $value:literal,)*) => {
        /// The numbers that the rules compare with.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Thresholds {
            $($(#[doc = $doc])+ pub $name: f64,)*
        }

        impl Default for Thresholds {
            fn default() -> Self {
                Self { $($name: $value,)* }
            }
        }

        impl Thresholds {
            /// All of them by name, in the order of the documentation.
            #[must_use]
            pub fn named(&self) -> Vec<(&'static str, f64)> {
                vec![$((stringify!($name), self.$name),)*]
            }

            /// One of them, to be changed; `None` if there is none of that name.
            pub fn named_mut(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

thresholds! {
    /// The duty that the motor controller goes up to, if nothing else is known.
    max_duty: 0.95,
    /// The duty from which the board pushes back, if neither the recording nor the user gives it.
    pushback_duty: 0.80,
    /// So close to its limit the duty is at it.
    duty_margin: 0.02,
    /// How long the duty must be at its limit, in seconds.
    duty_limit_s: 0.05,
    /// How long the duty must be above the pushback threshold to be worth a line, in seconds.
    duty_high_s: 0.2,
    /// Below this request the current cannot be short, in amperes.
    request_a: 30.0,
    /// So much less than requested is short, in amperes,
    short_a: 15.0,
    /// and as a share of the request.
    short_share: 0.3,
    /// How long the current must be short, in seconds.
    short_s: 0.06,
    /// At this share of a given maximum the current is at its limit.
    current_limit_share: 0.97,
    /// A request that rests within this share of its max is cut off there,
    plateau_share: 0.001,
    /// if for so long, in seconds,
    plateau_s: 0.08,
    /// and if it is at least so great, in amperes.
    plateau_a: 50.0,
    /// A drop from the resting level that is worth a line, as a share of it.
    sag_share: 0.05,
    /// A drop that counts as the battery giving in, as a share of the resting level.
    deep_sag_share: 0.13,
    /// Below this difference of battery current no resistance is computed, in amperes.
    resistance_a: 10.0,
    /// A pitch error from which on a growing one is reported, in degrees.
    error_onset_deg: 3.0,
    /// A pitch error that a rider does not ride with: the board has lost the balance, in degrees.
    error_lost_deg: 8.0,
    /// How long the balance must be lost, in seconds.
    error_lost_s: 0.04,
    /// Up to this speed people step off, in kilometres an hour.
    walking_kmh: 8.0,
    /// From this speed on nobody steps off on purpose, in kilometres an hour.
    riding_kmh: 12.0,
    /// Kilometres an hour of one electrical revolution a minute: 15 pole pairs, a tyre of 28 cm.
    kmh_per_erpm: 0.003_52,
    /// Breaks up to this do not end what is going on, in seconds.
    break_s: 0.1,
    /// What happened so long before the stop is no cause of it, in seconds.
    matters_s: 3.0,
    /// What ran out so long before the balance was lost is a cause of it, in seconds.
    cause_s: 1.0,
    /// Two things that ran out within so long ran out together, in seconds.
    together_s: 0.1,
    /// Open footpads stop a board within 0.25 s; one that goes on for so long does not care, in seconds.
    ghost_s: 0.6,
    /// Footpads that are open for no longer flicker, in seconds.
    flicker_s: 0.25,
    /// A pushback must have lasted so long to be felt, in seconds.
    felt_s: 0.3,
    /// The pitch at which a standing board lies on its nose or tail, in degrees.
    tipped_deg: 12.0,
    /// Shorter stretches prove nothing, in seconds.
    short_recording_s: 0.3,
    /// From this rate on a log is taken for a recording of the control loop, in hertz.
    loop_hz: 60.0,
    /// So many times the usual step between two samples is a gap.
    gap_steps: 8.0,
    /// The resting level is looked for so far back, in seconds.
    rest_s: 60.0,
    /// A magnitude of at least this is not a number: the board had an overflow, an infinity or NaN.
    no_number: 131_008.0,
}
