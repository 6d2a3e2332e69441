//! A junction to look at: four lights, cars that mind them, people who cross, and one driver who does not look.

use std::f64::consts::FRAC_PI_2;

use logpose_carla::*;

/// Seconds of a tick: 20 Hz.
const TICK: f32 = 0.05;
/// The longest recording that is made, in seconds.
const LONGEST: f64 = 3600.0;
/// Metres from the middle to the end of each road.
const ROAD: f64 = 110.0;
/// Metres from the middle of the road to the middle of a lane.
const LANE: f64 = 1.75;
/// Metres from the middle to the stop lines and to the crosswalks.
const STOP_LINE: f64 = 11.0;
const CROSSWALK: f64 = 8.0;
/// Half the length of a crosswalk, from kerb to kerb.
const KERB: f64 = 5.5;
/// The radius of a turn to the right.
const TURN: f64 = 6.0;
/// How many vehicles there are at most.
const VEHICLES: usize = 11;
/// Seconds of green and yellow, and of red for all.
const GREEN: f64 = 12.0;
const YELLOW: f64 = 3.0;
const CLEAR: f64 = 2.0;
const CYCLE: f64 = 2.0 * (GREEN + YELLOW + CLEAR);
/// How far the lights' cycle is at the beginning.
const CYCLE_START: f64 = 7.0;
/// When the driver behind the hero looks away.
const DISTRACTION: f64 = 4.0;
/// Metres a second by which that driver is too fast in the end.
const IMPACT: f64 = 4.5;
/// Seconds that both stand after the collision.
const SHOCK: f64 = 14.0;

/// Lamps, by their bits.
const POSITION_LAMP: u32 = 1;
const BRAKE_LAMP: u32 = 1 << 3;
const RIGHT_BLINKER: u32 = 1 << 4;
const LEFT_BLINKER: u32 = 1 << 5;

/// Blueprint, uid, half sizes in metres, kilograms, colour.
type Model = (&'static str, u32, [f64; 3], f64, &'static str);

const MODELS: [Model; 8] = [
    ("vehicle.tesla.model3", 28, [2.40, 1.08, 0.74], 1845.0, "180,44,44"),
    ("vehicle.audi.a2", 2, [1.85, 0.89, 0.77], 1200.0, "44,88,160"),
    ("vehicle.mini.cooper_s", 13, [1.90, 0.99, 0.74], 1250.0, "30,120,60"),
    ("vehicle.lincoln.mkz_2020", 11, [2.45, 0.92, 0.74], 1750.0, "210,210,210"),
    ("vehicle.nissan.patrol", 17, [2.30, 0.97, 0.93], 2100.0, "90,80,60"),
    ("vehicle.seat.leon", 25, [2.10, 0.91, 0.74], 1350.0, "240,200,40"),
    ("vehicle.volkswagen.t2", 31, [2.24, 1.04, 1.02], 1300.0, "120,180,190"),
    ("vehicle.toyota.prius", 29, [2.26, 1.00, 0.76], 1400.0, "60,60,70"),
];
const BICYCLE: Model = ("vehicle.diamondback.century", 6, [0.82, 0.19, 0.85], 90.0, "10,10,10");

/// A recording of a junction in CARLA 0.9.16's form, with additional data. The same numbers give the same bytes.
///
/// The hero waits at a red light when a driver behind it looks up too late; that is after about ten seconds.
pub fn junction(seed: u64, seconds: f64) -> Result<Vec<u8>, WriteError> {
    let options =
        RecordingOptions { target: Target::V0_9_16, map: "Junction", date: 1_774_102_953, additional_data: true };
    let mut log = Recording::new(&options)?;
    log.tick(TICK)?;
    let mut world = World::new(&mut log, seed)?;
    let end = if seconds.is_nan() { 0.0 } else { seconds.min(LONGEST) };
    let mut time = 0.0;
    loop {
        world.show(&mut log, time)?;
        time += f64::from(TICK);
        if time > end {
            return log.finish();
        }
        log.tick(TICK)?;
        world.step(&mut log, time)?;
    }
}

/// The roads by which vehicles come, each by the direction in which it leads to the middle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Road(u8);

impl Road {
    fn all() -> impl Iterator<Item = Self> {
        (0..4).map(Self)
    }

    fn yaw(self) -> f64 {
        f64::from(self.0) * FRAC_PI_2
    }

    /// A place `ahead` metres along the road from the middle and `right` of it.
    fn place(self, ahead: f64, right: f64) -> (f64, f64) {
        let (sin, cos) = match self.0 {
            0 => (0.0, 1.0),
            1 => (1.0, 0.0),
            2 => (0.0, -1.0),
            _ => (-1.0, 0.0),
        };
        (ahead * cos - right * sin, ahead * sin + right * cos)
    }

    /// What its light shows, and since when.
    fn signal(self, time: f64) -> (Signal, f64) {
        let half = CYCLE / 2.0;
        let at = (time + CYCLE_START + f64::from(self.0 % 2) * half).rem_euclid(CYCLE);
        if at < GREEN {
            (Signal::Green, at)
        } else if at < GREEN + YELLOW {
            (Signal::Yellow, at - GREEN)
        } else {
            (Signal::Red, at - GREEN - YELLOW)
        }
    }
}

/// The way of a vehicle: along a road, and straight on or to the right.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Way {
    road: Road,
    right: bool,
}

impl Way {
    /// Where the turn begins, and how long it is.
    fn turn(self) -> (f64, f64) {
        (ROAD - LANE - TURN, TURN * FRAC_PI_2)
    }

    fn length(self) -> f64 {
        let (begin, length) = self.turn();
        if self.right { begin + length + ROAD - LANE - TURN } else { 2.0 * ROAD }
    }

    fn curvature(self, along: f64) -> f64 {
        let (begin, length) = self.turn();
        if self.right && (begin..begin + length).contains(&along) { 1.0 / TURN } else { 0.0 }
    }

    /// Where one is after so many metres, and in which direction, in radians.
    fn place(self, along: f64) -> (f64, f64, f64) {
        let (begin, length) = self.turn();
        let turned = if self.right { ((along - begin) / TURN).clamp(0.0, FRAC_PI_2) } else { 0.0 };
        let (ahead, right) = if !self.right || along < begin {
            (along - ROAD, LANE)
        } else if along < begin + length {
            (-LANE - TURN + TURN * turned.sin(), LANE + TURN * (1.0 - turned.cos()))
        } else {
            (-LANE, LANE + TURN + along - begin - length)
        };
        let (x, y) = self.road.place(ahead, right);
        (x, y, self.road.yaw() + turned)
    }
}

#[derive(Debug)]
struct Vehicle {
    id: u32,
    model: Model,
    way: Way,
    /// Metres along the way, metres a second, and so on.
    along: f64,
    speed: f64,
    acceleration: f64,
    cruise: f64,
    /// Degrees that the wheels have turned.
    rolled: f64,
    /// Degrees of steering, which follow the curve with some delay.
    steering: f64,
    distracted: bool,
    /// When it was in a collision.
    hit: Option<f64>,
}

#[derive(Debug)]
struct Walker {
    id: u32,
    road: Road,
    /// Metres across the road, from -1 to 1 times [`KERB`]; where to; metres a second; how fast it likes to walk.
    across: f64,
    goal: f64,
    speed: f64,
    pace: f64,
    /// Degrees: across the road, whether it walks or waits.
    yaw: f64,
    /// Metres from the middle of the crosswalk.
    aside: f64,
    /// Seconds after the light turned red at which it starts.
    delay: f64,
}

impl Walker {
    fn place(&self) -> (f64, f64) {
        self.road.place(-CROSSWALK + self.aside, self.across)
    }
}

#[derive(Debug)]
struct World {
    noise: Noise,
    lights: Vec<(Road, u32)>,
    vehicles: Vec<Vehicle>,
    walkers: Vec<Walker>,
    hero: u32,
    /// What hangs on the hero.
    sensors: Vec<u32>,
    next_arrival: f64,
    /// Frames for which the collision still lasts.
    contact: u8,
}

impl World {
    fn new(log: &mut Recording, seed: u64) -> Result<Self, WriteError> {
        let eye = Spawn { blueprint: "spectator", location: Vector::new(0.0, 0.0, 70.0), ..Spawn::default() };
        log.spawn(&Spawn { rotation: Rotation::new(0.0, -90.0, 0.0), ..eye })?;
        let mut world = Self {
            noise: Noise(seed),
            lights: Vec::new(),
            vehicles: Vec::new(),
            walkers: Vec::new(),
            hero: 0,
            sensors: Vec::new(),
            next_arrival: 3.0,
            contact: 0,
        };
        world.build(log)?;
        // The hero comes to the light when it is about to turn red.
        let [hero, second, ..] = MODELS;
        let ahead = Way { road: Road(0), right: false };
        world.hero = world.arrive(log, hero, ahead, ROAD - STOP_LINE - 92.0, 11.5, "hero")?;
        world.arrive(log, second, ahead, ROAD - STOP_LINE - 123.0, 11.5, "autopilot")?;
        // What these two do depends on no chance.
        world.vehicles.iter_mut().for_each(|vehicle| vehicle.cruise = 11.8);
        world.vehicles.iter_mut().skip(1).for_each(|vehicle| vehicle.distracted = true);
        for (blueprint, uid) in [("sensor.camera.rgb", 40), ("sensor.other.collision", 47)] {
            let location = if uid == 40 { Vector::new(-5.5, 0.0, 2.8) } else { Vector::default() };
            let parent = Some(world.hero);
            world.sensors.push(log.spawn(&Spawn { blueprint, uid, location, parent, ..Spawn::default() })?);
        }
        for (road, right, along) in
            [(2, false, 60.0), (2, true, 35.0), (1, false, 70.0), (1, true, 48.0), (3, false, 74.0)]
        {
            let model = world.any_model();
            let speed = 9.0 + 2.0 * world.noise.unit();
            world.arrive(log, model, Way { road: Road(road), right }, along, speed, "autopilot")?;
        }
        world.arrive(log, BICYCLE, Way { road: Road(3), right: true }, 40.0, 4.5, "autopilot")?;
        for n in 0_u8..6 {
            world.walker(log, n)?;
        }
        Ok(world)
    }

    /// What stands there.
    fn build(&mut self, log: &mut Recording) -> Result<(), WriteError> {
        for road in Road::all() {
            let yaw = degrees(road.yaw());
            let at = |ahead, right, z| {
                let (x, y) = road.place(ahead, right);
                Vector::new(x, y, z)
            };
            let rotation = Rotation::new(0.0, 0.0, angle(yaw + 180.0));
            let light = Spawn {
                blueprint: "traffic.traffic_light",
                location: at(-STOP_LINE + 1.0, 5.0, 0.0),
                ..Spawn::default()
            };
            let light = log.spawn(&Spawn { rotation, ..light })?;
            let (along, across) = (4.0, 1.5);
            let extent = if road.0 % 2 == 0 { [along, across] } else { [across, along] };
            let [x, y] = extent;
            log.trigger(light, at(-STOP_LINE - 2.0, LANE, 1.0), Vector::new(x, y, 1.0))?;
            log.timing(light, narrow(GREEN), narrow(YELLOW), narrow(CYCLE - GREEN - YELLOW))?;
            self.lights.push((road, light));
            let sign = Spawn { blueprint: "traffic.speed_limit.50", location: at(-60.0, 4.6, 0.0), ..Spawn::default() };
            let sign = log.spawn(&Spawn { rotation, ..sign })?;
            log.trigger(sign, at(-60.0, LANE, 1.0), Vector::new(x / 2.0, y / 2.0, 1.0))?;
            let color = [1.0, 0.9, 0.7, 1.0];
            log.scene_light(SceneLight { light: road.0.into(), intensity: 2500.0, color, on: true.into(), group: 2 })?;
        }
        Ok(())
    }

    fn arrive(
        &mut self,
        log: &mut Recording,
        model: Model,
        way: Way,
        along: f64,
        speed: f64,
        role: &str,
    ) -> Result<u32, WriteError> {
        let (blueprint, uid, [length, width, height], mass, color) = model;
        let (x, y, yaw) = way.place(along);
        let bicycle = blueprint == BICYCLE.0;
        let attributes = [
            (AttributeType::Int, "number_of_wheels", if bicycle { "2" } else { "4" }),
            (AttributeType::Color, "color", color),
            (AttributeType::String, "role_name", role),
        ];
        let rotation = Rotation::new(0.0, 0.0, angle(degrees(yaw)));
        let spawn = Spawn {
            blueprint,
            uid,
            location: Vector::new(x, y, 0.0),
            rotation,
            attributes: &attributes,
            ..Spawn::default()
        };
        let id = log.spawn(&spawn)?;
        log.bounding_box(id, Vector::new(0.0, 0.0, height), Vector::new(length, width, height))?;
        log.physics(id, physics(length, width, mass, bicycle))?;
        self.vehicles.push(Vehicle {
            id,
            model,
            way,
            along,
            speed,
            acceleration: 0.0,
            cruise: if bicycle { 5.0 } else { 11.0 + 2.5 * self.noise.unit() },
            rolled: 0.0,
            steering: 0.0,
            distracted: false,
            hit: None,
        });
        Ok(id)
    }

    fn walker(&mut self, log: &mut Recording, n: u8) -> Result<(), WriteError> {
        let road = Road(n % 4);
        let side = if n < 4 { -1.0 } else { 1.0 };
        let blueprint = format!("walker.pedestrian.{:04}", 1 + 7 * u16::from(n));
        let walker = Walker {
            id: 0,
            road,
            across: side * KERB,
            goal: side * KERB,
            speed: 0.0,
            yaw: angle(degrees(road.yaw()) - 90.0 * side),
            pace: 1.2 + 0.4 * self.noise.unit(),
            aside: 2.0 * self.noise.unit() - 1.0,
            delay: 0.5 + 2.0 * self.noise.unit(),
        };
        let (x, y) = walker.place();
        let rotation = Rotation::new(0.0, 0.0, walker.yaw);
        let spawn = Spawn {
            blueprint: &blueprint,
            uid: 60 + u32::from(n),
            location: Vector::new(x, y, 0.93),
            rotation,
            ..Spawn::default()
        };
        let id = log.spawn(&spawn)?;
        log.bounding_box(id, Vector::default(), Vector::new(0.19, 0.19, 0.93))?;
        self.walkers.push(Walker { id, ..walker });
        Ok(())
    }

    fn any_model(&mut self) -> Model {
        let n = self.noise.below(MODELS.len() as u64);
        MODELS.iter().copied().zip(0..).find(|(_, i)| *i == n).map_or(BICYCLE, |(model, _)| model)
    }

    /// Moves everything by one tick, up to `time`.
    fn step(&mut self, log: &mut Recording, time: f64) -> Result<(), WriteError> {
        let dt = f64::from(TICK);
        self.contact = self.contact.saturating_sub(1);
        self.walkers.iter_mut().for_each(|walker| walk(walker, time, dt));
        let wishes: Vec<f64> = self.vehicles.iter().map(|vehicle| self.wish(vehicle, time)).collect();
        for (vehicle, wish) in self.vehicles.iter_mut().zip(wishes) {
            // Nobody brakes from one moment to the next, but in need one is quick.
            let jerk = if wish < -4.0 { 60.0 } else { 9.0 };
            vehicle.acceleration += (wish - vehicle.acceleration).clamp(-jerk * dt, jerk * dt);
            let speed = (vehicle.speed + vehicle.acceleration * dt).max(0.0);
            let way = (vehicle.speed + speed) / 2.0 * dt;
            if speed == 0.0 {
                vehicle.acceleration = vehicle.acceleration.max(0.0);
            }
            vehicle.speed = speed;
            vehicle.along += way;
            vehicle.rolled += degrees(way / 0.33);
            let steering = degrees((2.8 * vehicle.way.curvature(vehicle.along + 1.2)).atan());
            vehicle.steering += (steering - vehicle.steering).clamp(-90.0 * dt, 90.0 * dt);
        }
        self.crash(time);
        let gone: Vec<u32> = self.vehicles.iter().filter(|v| v.along > v.way.length()).map(|v| v.id).collect();
        for id in gone {
            if id == self.hero {
                self.sensors.drain(..).try_for_each(|sensor| log.destroy(sensor))?;
            }
            log.destroy(id)?;
            self.vehicles.retain(|vehicle| vehicle.id != id);
        }
        if time >= self.next_arrival {
            self.next_arrival = time + 1.5 + 2.5 * self.noise.unit();
            let road = Road(u8::try_from(self.noise.below(4)).unwrap_or(0));
            let right = self.noise.below(3) == 0;
            let free = self.vehicles.iter().all(|vehicle| vehicle.way.road != road || vehicle.along > 25.0);
            if free && self.vehicles.len() < VEHICLES {
                let model = self.any_model();
                self.arrive(log, model, Way { road, right }, 0.0, 9.0, "autopilot")?;
            }
        }
        Ok(())
    }

    /// The acceleration that a driver wants, in m/s²: the intelligent driver model, with whatever is in the way as the
    /// vehicle ahead.
    fn wish(&self, vehicle: &Vehicle, time: f64) -> f64 {
        let speed = vehicle.speed;
        let shocked = vehicle.hit.is_some_and(|hit| time < hit + SHOCK);
        if shocked {
            return if speed > 0.0 { -5.0 } else { 0.0 };
        }
        let ahead = self.vehicle_ahead(vehicle);
        if vehicle.distracted && vehicle.hit.is_none() && time > DISTRACTION {
            // It looks up when it is too late by a few metres a second.
            let late = ahead.is_some_and(|(gap, other)| {
                let closing = speed - other;
                closing > IMPACT && gap <= (closing * closing - IMPACT * IMPACT) / (2.0 * 7.5) + 0.4
            });
            return if late || vehicle.acceleration < -3.0 { -7.5 } else { free(speed, vehicle.cruise) };
        }
        let line = self.stop_line(vehicle, time).map(|gap| (gap, 0.0));
        let person = self.walker_ahead(vehicle).map(|gap| (gap, 0.0));
        let curve = self.curve(vehicle);
        let wish = free(speed, vehicle.cruise.min(curve));
        let obstacles = [ahead, line, person];
        let follow = obstacles.into_iter().flatten().map(|(gap, other)| {
            let wanted = 2.0 + (1.2 * speed + speed * (speed - other) / (2.0 * 2.2)).max(0.0);
            free(speed, vehicle.cruise) - 1.8 * (wanted / gap.max(0.1)).powi(2)
        });
        follow.fold(wish, f64::min).clamp(-7.5, 1.8)
    }

    /// How fast it may be here so that it is slow enough in the turn.
    fn curve(&self, vehicle: &Vehicle) -> f64 {
        let (begin, length) = vehicle.way.turn();
        if !vehicle.way.right || vehicle.along > begin + length {
            return f64::INFINITY;
        }
        let slow = 4.0_f64;
        (slow * slow + 2.0 * 1.6 * (begin - vehicle.along).max(0.0)).sqrt()
    }

    /// The gap to a stop line at which it must stop.
    fn stop_line(&self, vehicle: &Vehicle, time: f64) -> Option<f64> {
        let [half, ..] = vehicle.model.2;
        let gap = ROAD - STOP_LINE - vehicle.along - half;
        let needed = vehicle.speed * vehicle.speed / (2.0 * gap.max(0.1));
        let stop = match vehicle.way.road.signal(time).0 {
            Signal::Red => needed < 7.0,
            Signal::Yellow => needed < 3.0,
            _ => false,
        };
        (gap > -0.5 && stop).then_some(gap + 1.0)
    }

    /// The gap to the next vehicle on the way, and its speed along the way.
    fn vehicle_ahead(&self, vehicle: &Vehicle) -> Option<(f64, f64)> {
        let [half, ..] = vehicle.model.2;
        let others = self.vehicles.iter().filter(|other| other.id != vehicle.id).filter_map(|other| {
            let [other_half, ..] = other.model.2;
            let (turn, _) = vehicle.way.turn();
            // One road: the same metres, up to where their ways part.
            if other.way.road == vehicle.way.road && (other.way == vehicle.way || other.along < turn + 3.0) {
                let gap = other.along - vehicle.along - half - other_half;
                return (other.along > vehicle.along).then_some((gap, other.speed));
            }
            let (x, y, yaw) = other.way.place(other.along);
            let (gap, direction) = self.on_the_way(vehicle, (x, y), 1.7)?;
            Some((gap - half - other_half, other.speed * (yaw - direction).cos().max(0.0)))
        });
        others.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn walker_ahead(&self, vehicle: &Vehicle) -> Option<f64> {
        let [half, ..] = vehicle.model.2;
        let gaps = self.walkers.iter().filter(|walker| walker.across.abs() < KERB - 0.3).filter_map(|walker| {
            // One does not drive close past people who are about to be in the way.
            let across = walker.across + walker.goal.signum() * walker.speed * 1.2;
            let soon = walker.road.place(-CROSSWALK + walker.aside, across);
            let places = [walker.place(), soon];
            places
                .into_iter()
                .filter_map(|place| self.on_the_way(vehicle, place, 2.0))
                .map(|(gap, _)| gap - half - 1.0)
                .min_by(f64::total_cmp)
        });
        gaps.min_by(f64::total_cmp)
    }

    /// How far ahead on a vehicle's way a place is, and the direction there, if it is less than `width` beside it.
    fn on_the_way(&self, vehicle: &Vehicle, (x, y): (f64, f64), width: f64) -> Option<(f64, f64)> {
        (1_u8..30).find_map(|n| {
            let ahead = 1.5 * f64::from(n);
            let (a, b, yaw) = vehicle.way.place(vehicle.along + ahead);
            ((a - x).hypot(b - y) < width).then_some((ahead, yaw))
        })
    }

    /// Lets the distracted one hit the hero: both share their momentum, and a little springs back.
    fn crash(&mut self, time: f64) {
        const RESTITUTION: f64 = 0.15;
        let hero = self.vehicles.iter().find(|vehicle| vehicle.id == self.hero);
        let Some((along, speed, half, mass)) = hero.map(|v| (v.along, v.speed, v.model.2, v.model.3)) else { return };
        let Some(other) = self.vehicles.iter_mut().find(|v| v.distracted && v.hit.is_none()) else { return };
        let ([half, ..], [other_half, ..]) = (half, other.model.2);
        let closing = other.speed - speed;
        if along - other.along > half + other_half || closing <= 0.0 {
            return;
        }
        let impulse = (1.0 + RESTITUTION) * closing * mass * other.model.3 / (mass + other.model.3);
        other.along = along - half - other_half;
        other.speed -= impulse / other.model.3;
        other.acceleration = -5.0;
        other.hit = Some(time);
        let pushed = speed + impulse / mass;
        if let Some(hero) = self.vehicles.iter_mut().find(|vehicle| vehicle.id == self.hero) {
            hero.speed = pushed;
            hero.acceleration = -5.0;
            hero.hit = Some(time);
        }
        self.contact = 4;
    }

    /// Tells the recording what there is to see.
    fn show(&self, log: &mut Recording, time: f64) -> Result<(), WriteError> {
        log.platform_time(time * 1.0625)?;
        for (road, light) in &self.lights {
            let (signal, elapsed) = road.signal(time);
            log.signal(*light, signal, narrow(elapsed), false)?;
        }
        for vehicle in &self.vehicles {
            show_vehicle(vehicle, log, time)?;
        }
        for walker in &self.walkers {
            let (x, y) = walker.place();
            log.place(walker.id, Vector::new(x, y, 0.93), Rotation::new(0.0, 0.0, walker.yaw))?;
            log.walk(walker.id, walker.speed)?;
            let (a, b) = walker.road.place(0.0, walker.speed * walker.goal.signum());
            log.velocity(walker.id, Vector::new(a, b, 0.0), Vector::default())?;
        }
        let other = self.vehicles.iter().find(|vehicle| vehicle.distracted && vehicle.hit.is_some());
        if let (Some(other), 1..) = (other, self.contact) {
            log.collide(self.hero, Some(other.id))?;
        }
        Ok(())
    }
}

fn show_vehicle(vehicle: &Vehicle, log: &mut Recording, time: f64) -> Result<(), WriteError> {
    let Vehicle { id, way, along, speed, acceleration, .. } = *vehicle;
    let (x, y, yaw) = way.place(along);
    let turning = speed * way.curvature(along);
    // A blow rocks the body for a moment.
    let rock = vehicle.hit.map_or(0.0, |hit| 2.2 * (-(time - hit) * 3.0).exp() * ((time - hit) * 14.0).sin());
    let rotation = Rotation::new(-0.25 * turning * speed, 0.3 * acceleration + rock, angle(degrees(yaw)));
    log.place(id, Vector::new(x, y, 0.0), rotation)?;
    let linear = Vector::new(speed * yaw.cos(), speed * yaw.sin(), 0.0);
    log.velocity(id, linear, Vector::new(0.0, 0.0, degrees(turning)))?;
    let standing = speed < 0.05;
    let gear = if standing { 1 } else { [2.5, 6.0, 10.0].iter().fold(1, |gear, at| gear + i32::from(speed > *at)) };
    let brake = if standing && acceleration <= 0.0 { 0.3 } else { (-acceleration / 7.5 - 0.05).clamp(0.0, 1.0) };
    log.control(
        id,
        Controls {
            steering: narrow(vehicle.steering / 70.0),
            throttle: narrow(if brake > 0.0 { 0.0 } else { (0.12 + acceleration / 3.0).clamp(0.0, 1.0) }),
            brake: narrow(brake),
            handbrake: false,
            gear,
        },
    )?;
    let (begin, length) = way.turn();
    let hazard = vehicle.hit.is_some_and(|hit| time < hit + SHOCK);
    let blink = (time * 1.5).fract() < 0.5;
    let mut lamps = POSITION_LAMP;
    if brake > 0.02 {
        lamps |= BRAKE_LAMP;
    }
    if blink && (hazard || way.right && (begin - 40.0..begin + length).contains(&along)) {
        lamps |= RIGHT_BLINKER;
    }
    if blink && hazard {
        lamps |= LEFT_BLINKER;
    }
    let wheel = |wheel, front| WheelPose {
        wheel,
        steering_angle: if front { narrow(vehicle.steering) } else { 0.0 },
        tire_rotation: narrow(-vehicle.rolled.rem_euclid(360.0)),
    };
    if vehicle.model.0 == BICYCLE.0 {
        log.biker(id, speed, narrow(speed / 10.0))?;
        log.wheels(id, &[wheel(0, true), wheel(1, false)])
    } else {
        log.lamps(id, lamps)?;
        log.wheels(id, &[wheel(0, true), wheel(1, true), wheel(2, false), wheel(3, false)])
    }
}

/// Crosses when the cars of the road have had red for a moment, and waits on the other side.
fn walk(walker: &mut Walker, time: f64, dt: f64) {
    let (signal, since) = walker.road.signal(time);
    let waiting = walker.across == walker.goal;
    if waiting && signal == Signal::Red && (walker.delay..walker.delay + 2.5).contains(&since) {
        walker.goal = -walker.across;
    }
    let left = (walker.goal - walker.across).abs();
    let wanted = if left > 0.0 { walker.pace.min(0.25 + left * 2.0) } else { 0.0 };
    walker.speed += (wanted - walker.speed).clamp(-2.0 * dt, 2.0 * dt);
    let way = walker.speed * dt;
    if way >= left {
        (walker.across, walker.speed) = (walker.goal, 0.0);
    } else {
        walker.across += way * (walker.goal - walker.across).signum();
    }
    // On the kerb it turns to the road again.
    let ahead = if walker.across == walker.goal { -walker.across } else { walker.goal };
    let wanted = degrees(walker.road.yaw()) + 90.0 * ahead.signum();
    walker.yaw = angle(walker.yaw + angle(wanted - walker.yaw).clamp(-150.0 * dt, 150.0 * dt));
}

/// The acceleration on a free road, in m/s².
fn free(speed: f64, cruise: f64) -> f64 {
    (1.8 * (1.0 - (speed / cruise).powi(4))).max(-3.0)
}

fn physics(length: f64, width: f64, mass: f64, bicycle: bool) -> PhysicsBody {
    let wheel = |ahead: f64, right: f64| Ue4Wheel {
        tire_friction: 3.5,
        damping_rate: 0.25,
        max_steer_angle: if ahead > 0.0 { 70.0 } else { 0.0 },
        radius: 33.0,
        max_brake_torque: 1500.0,
        max_handbrake_torque: if ahead > 0.0 { 0.0 } else { 3000.0 },
        stiffness: Some([2.0, 17.0, 1000.0]),
        position: [narrow(ahead * 100.0), narrow(right * 100.0), 33.0],
    };
    let (axle, side) = (0.6 * length, 0.8 * width);
    let wheels = if bicycle {
        vec![wheel(axle, 0.0), wheel(-axle, 0.0)]
    } else {
        vec![wheel(axle, -side), wheel(axle, side), wheel(-axle, -side), wheel(-axle, side)]
    };
    PhysicsBody::Ue4(Box::new(Ue4Physics {
        max_rpm: 5800.0,
        moi: 1.0,
        damping_rate_full_throttle: 0.15,
        damping_rate_zero_throttle_clutch_engaged: 2.0,
        damping_rate_zero_throttle_clutch_disengaged: 0.35,
        use_gear_autobox: true.into(),
        clutch_strength: 10.0,
        final_ratio: 4.0,
        mass: narrow(mass),
        drag_coefficient: 0.3,
        center_of_mass: [0.0, 0.0, -0.2],
        torque_curve: vec![[0.0, 300.0], [2000.0, 420.0], [5800.0, 250.0]],
        forward_gears: vec![[3.6, 0.5, 0.65], [2.1, 0.5, 0.65], [1.4, 0.5, 0.65], [1.0, 0.5, 0.65]],
        steering_curve: vec![[0.0, 1.0], [20.0, 0.9], [60.0, 0.8], [120.0, 0.7]],
        wheels,
    }))
}

fn degrees(radians: f64) -> f64 {
    radians.to_degrees()
}

/// An angle in degrees, as CARLA writes it: above -180 and up to 180.
fn angle(degrees: f64) -> f64 {
    let turned = degrees.rem_euclid(360.0);
    if turned > 180.0 { turned - 360.0 } else { turned }
}

/// Numbers that look random and are the same in every run (SplitMix64).
#[derive(Debug)]
struct Noise(u64);

impl Noise {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        let high = u32::try_from(self.bits() >> 32).unwrap_or(0);
        f64::from(high) / f64::from(u32::MAX)
    }
}
