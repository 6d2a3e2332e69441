//! Which MCAP channel takes the values of which channel, and how they look there.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use logpose_core::{Channel, EncodeError, Time, Type};
use logpose_schema::Registry;
use logpose_schema::wpistruct::Layout;
use mcap::Schema;
use mcap::records::{Channel as Topic, Metadata};

use super::cdr::{Run, runs};
use super::describe::{self, Language};
use super::foxglove::{Message, Pose};
use super::scene::{Drawn, Scene, SceneRole};
use crate::Header;

/// Everything that pieces need to know: made once for a whole log, or grown with a stream.
#[derive(Debug)]
pub(crate) struct Plan {
    /// One for each channel.
    pub(crate) routes: Vec<Route>,
    pub(crate) catalog: Catalog,
    /// How many MCAP channels are declared at the front; the others when they are first used.
    pub(crate) at_front: usize,
    /// The MCAP channel of starts, metadata and ends.
    pub(crate) events: u16,
    /// What is added to times, which MCAP has no sign for.
    pub(crate) offset: u64,
    pub(crate) channels: Vec<Channel>,
    pub(crate) stage: Option<Stage>,
    /// Whether poses are written once more for viewers.
    pub(crate) poses: bool,
    /// The channel that says where the robot is.
    robot: Option<usize>,
    /// The names that MCAP channels have, while the plan grows.
    taken: HashSet<String>,
}

/// Where a scene goes.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) drawn: Drawn,
    /// The MCAP channels of transforms and of the scene.
    pub(crate) transforms: u16,
    pub(crate) scene: u16,
}

/// The MCAP channels that the values of one channel go to, and how they are encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The MCAP channel of its values; 0 while none was chosen.
    pub(crate) topic: u16,
    pub(crate) ty: Type,
    pub(crate) framing: Framing,
    pub(crate) cdr: Option<Cdr>,
    /// Where payloads go that do not fit the schema.
    pub(crate) rest: u16,
    pub(crate) derived: Option<Derived>,
    /// What its values mean for the scene, if there is one.
    pub(crate) scene_role: Option<SceneRole>,
}

/// What a message contains besides the payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Framing {
    /// Nothing.
    Plain,
    /// Nothing, and every payload has this size.
    Exact(usize),
    /// In front the number of elements of this size.
    Counted(usize),
}

/// How a message of ROS 2 is made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cdr {
    /// From the value as it is.
    Value,
    /// From structs, of one size in bytes; their place among the runs of the catalog.
    Structs(usize, usize),
}

impl Framing {
    /// Whether a payload of so many bytes is one.
    #[inline]
    pub(crate) fn fits(self, size: usize) -> bool {
        match self {
            Self::Plain => true,
            Self::Exact(exactly) => size == exactly,
            Self::Counted(element) => size.is_multiple_of(element),
        }
    }

    /// How it is named in a file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain | Self::Exact(_) => "plain",
            Self::Counted(_) => "counted",
        }
    }
}

/// The same values once more, for viewers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Derived {
    pub(crate) pose: Pose,
    pub(crate) message: Message,
    pub(crate) topic: u16,
    /// The MCAP channel of the robot's frame, if this is where the robot is.
    pub(crate) robot: Option<u16>,
}

/// Keys of the metadata of an MCAP channel.
pub(crate) mod key {
    pub(crate) const ROLE: &str = "logpose.role";
    pub(crate) const ID: &str = "logpose.id";
    pub(crate) const NAME: &str = "logpose.name";
    pub(crate) const TYPE: &str = "logpose.type";
    pub(crate) const FORM: &str = "logpose.form";
    pub(crate) const UNIT: &str = "logpose.unit";
    pub(crate) const METADATA: &str = "logpose.metadata";
    pub(crate) const TABLE: &str = "logpose.family.table";
    pub(crate) const KEY: &str = "logpose.family.key";
}

/// What an MCAP channel of ours is there for.
pub(crate) mod role {
    pub(crate) const VALUES: &str = "values";
    pub(crate) const REST: &str = "rest";
    pub(crate) const EVENTS: &str = "events";
    pub(crate) const DERIVED: &str = "derived";
}

/// The first id of channels and of schemas: 0 means «none» for schemas, and for channels in many programs.
pub(crate) const FIRST: u16 = 1;

/// The name of the metadata record that holds the header, and of our things in general.
pub(crate) const NAME: &str = "logpose";
/// The version of the way logs lie in our files.
pub(crate) const VERSION: &str = "1";

impl Plan {
    /// A plan for a log whose channels and schemas are all known.
    pub(crate) fn new(
        header: &Header,
        registry: &Registry,
        earliest: Time,
        poses: bool,
        scene: Option<Scene>,
    ) -> Result<Self, EncodeError> {
        let mut plan = Self::empty(offset(earliest), poses);
        let names = logpose_model::names(&header.channels);
        for (place, (channel, name)) in header.channels.iter().zip(&names).enumerate() {
            plan.channels.push(channel.clone());
            plan.routes.push(Route::open(channel));
            plan.values(place, name, registry)?;
        }
        plan.add_events()?;
        plan.at_front = plan.catalog.topics.len();
        plan.robot = if poses { robot(&header.channels) } else { None };
        for (place, name) in names.iter().enumerate() {
            plan.extras(place, name, registry);
        }
        plan.stage = scene.filter(|_| poses).and_then(|scene| plan.catalog.stage(scene));
        if plan.stage.is_some() {
            for (route, channel) in plan.routes.iter_mut().zip(&header.channels) {
                route.scene_role = SceneRole::of(channel);
            }
        }
        Ok(plan)
    }

    /// A plan without channels, to be grown by [`Plan::declare`] and [`Plan::lay`].
    pub(crate) fn growing(offset: u64, poses: bool, language: Language) -> Result<Self, EncodeError> {
        let mut plan = Self::empty(offset, poses);
        plan.catalog.language = language;
        plan.add_events()?;
        Ok(plan)
    }

    fn empty(offset: u64, poses: bool) -> Self {
        let (routes, channels, taken, catalog) = (Vec::new(), Vec::new(), HashSet::new(), Catalog::default());
        Self { routes, catalog, at_front: 0, events: 0, offset, channels, stage: None, poses, robot: None, taken }
    }

    fn add_events(&mut self) -> Result<(), EncodeError> {
        let roles = pairs([(key::ROLE, role::EVENTS)]);
        let events = self.catalog.topic("logpose/events", 0, "json", roles);
        self.events = events.ok_or_else(|| too_many(self.channels.last().unwrap_or(&Channel::default())))?;
        Ok(())
    }

    /// Takes a channel into a growing plan. Where its values go is left open.
    pub(crate) fn declare(&mut self, place: usize, channel: &Channel) -> Result<(), EncodeError> {
        if place >= usize::from(u16::MAX) {
            return Err(too_many(channel));
        }
        while self.channels.len() <= place {
            self.channels.push(Channel::default());
            self.routes.push(Route::open(&Channel::default()));
        }
        if let (Some(known), Some(route)) = (self.channels.get_mut(place), self.routes.get_mut(place)) {
            (*known, *route) = (channel.clone(), Route::open(channel));
        }
        Ok(())
    }

    /// Chooses where the values of a declared channel go, by the schemas that are known now; it stays so.
    pub(crate) fn lay(&mut self, place: usize, registry: &Registry) -> Result<(), EncodeError> {
        let Some(channel) = self.channels.get(place) else { return Ok(()) };
        let free = if self.taken.insert(channel.name.clone()) {
            channel.name.clone()
        } else {
            logpose_model::free_name(&mut self.taken, format!("{} ({})", channel.name, channel.type_name))
        };
        self.values(place, &free, registry)?;
        if self.poses && self.robot.is_none() {
            self.robot = robot(&self.channels).filter(|robot| *robot == place);
        }
        self.extras(place, &free, registry);
        self.act(place);
        Ok(())
    }

    /// Lets the values of a channel take part in the scene, for which there is a stage from the first such channel on.
    fn act(&mut self, place: usize) {
        let (Some(channel), Some(route)) = (self.channels.get(place), self.routes.get_mut(place)) else { return };
        let scene_role = SceneRole::of(channel).filter(|_| self.poses);
        if scene_role.is_some() && self.stage.is_none() {
            self.stage = self.catalog.stage(Scene::default());
        }
        route.scene_role = scene_role.filter(|_| self.stage.is_some());
    }

    /// Whether only a schema describes the values of a type.
    pub(crate) fn needs_schema(type_name: &str) -> bool {
        type_name.starts_with("struct:") || type_name.starts_with("proto:")
    }

    /// Makes the MCAP channel for the values of a channel.
    fn values(&mut self, place: usize, name: &str, registry: &Registry) -> Result<(), EncodeError> {
        let (Some(channel), Some(route)) = (self.channels.get(place), self.routes.get_mut(place)) else {
            return Ok(());
        };
        let shape = self.catalog.shape(channel, registry);
        let metadata = about(place, channel, name, shape.framing);
        let topic = self.catalog.topic(name, shape.schema, shape.encoding, metadata);
        (route.topic, route.framing, route.cdr) = (topic.ok_or_else(|| too_many(channel))?, shape.framing, shape.cdr);
        Ok(())
    }

    /// Makes the MCAP channels for payloads that do not fit, and for viewers.
    fn extras(&mut self, place: usize, name: &str, registry: &Registry) {
        let (Some(channel), Some(route)) = (self.channels.get(place), self.routes.get_mut(place)) else { return };
        if channel.type_name.starts_with("struct:") && route.framing != Framing::Counted(1) {
            // Without room for the rest, payloads that do not fit have no place: nothing is promised then.
            match self.catalog.rest(place, name) {
                Some(rest) => route.rest = rest,
                None => self.catalog.opaque(route),
            }
        }
        if self.poses {
            route.derived = self.catalog.derived(channel, name, registry, self.robot == Some(place));
        }
    }

    /// A time as MCAP has it, if it has it.
    pub(crate) fn log_time(&self, time: Time) -> Option<u64> {
        self.offset.checked_add_signed(time.nanos())
    }

    /// The header as a record.
    pub(crate) fn metadata(&self, header: &Header) -> Metadata {
        let facts: serde_json::Value =
            header.facts.iter().map(|(key, value)| serde_json::json!([key, value])).collect();
        let mut metadata = pairs([
            ("version", VERSION),
            ("origin", &header.origin),
            ("facts", &facts.to_string()),
            ("offset_ns", &self.offset.to_string()),
        ]);
        metadata.extend(header.epoch_ns.map(|ns| ("epoch_ns".to_owned(), ns.to_string())));
        Metadata { name: NAME.to_owned(), metadata }
    }
}

/// How the messages of a channel look.
struct Shape {
    schema: u16,
    encoding: &'static str,
    framing: Framing,
    cdr: Option<Cdr>,
}

impl Shape {
    /// Payloads as they are.
    fn plain(schema: u16, encoding: &'static str) -> Self {
        Self { schema, encoding, framing: Framing::Plain, cdr: None }
    }
}

impl Route {
    /// A route that leads nowhere yet.
    fn open(channel: &Channel) -> Self {
        Self {
            topic: 0,
            ty: channel.ty(),
            framing: Framing::Plain,
            cdr: None,
            rest: 0,
            derived: None,
            scene_role: None,
        }
    }
}

/// The MCAP channels and schemas that there are.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// In the order of their ids, which start at [`FIRST`].
    pub(crate) topics: Vec<Topic>,
    /// In the order of their ids, which start at [`FIRST`].
    pub(crate) schemas: Vec<Schema<'static>>,
    known: HashMap<(String, Vec<u8>), u16>,
    language: Language,
    /// What structs are made of, for ROS 2.
    pub(crate) runs: Vec<Vec<Run>>,
}

impl Catalog {
    /// The schema of an MCAP channel, if it has one.
    pub(crate) fn schema_of(&self, topic: &Topic) -> Option<&Schema<'static>> {
        self.schemas.get(usize::from(topic.schema_id.checked_sub(FIRST)?))
    }

    fn topic(&mut self, name: &str, schema_id: u16, encoding: &str, metadata: Pairs) -> Option<u16> {
        let id = next(self.topics.len())?;
        let (topic, message_encoding) = (name.to_owned(), encoding.to_owned());
        self.topics.push(Topic { id, schema_id, topic, message_encoding, metadata });
        Some(id)
    }

    fn schema(&mut self, name: &str, encoding: &str, data: Vec<u8>) -> Option<u16> {
        let key = (name.to_owned(), data);
        if let Some(id) = self.known.get(&key) {
            return Some(*id);
        }
        let id = next(self.schemas.len())?;
        let data = Cow::Owned(key.1.clone());
        self.schemas.push(Schema { id, name: name.to_owned(), encoding: encoding.to_owned(), data });
        self.known.insert(key, id);
        Some(id)
    }

    /// A message with this text in the language of ROS.
    fn ros(&mut self, name: &str, text: &str, framing: Framing) -> Option<Shape> {
        let text = text.as_bytes().to_vec();
        Some(match self.language {
            Language::Ros1 => {
                Shape { schema: self.schema(name, "ros1msg", text)?, encoding: "ros1", framing, cdr: None }
            }
            Language::Ros2 => {
                let schema = self.schema(&name.replacen('/', "/msg/", 1), "ros2msg", text)?;
                Shape { schema, encoding: "cdr", framing, cdr: Some(Cdr::Value) }
            }
        })
    }

    /// A message that is made of structs.
    fn structs(&mut self, name: &str, text: &str, framing: Framing, layout: &Layout) -> Option<Shape> {
        let mut shape = self.ros(name, text, framing)?;
        if self.language == Language::Ros2 {
            shape.cdr = Some(Cdr::Structs(self.runs.len(), layout.size));
            self.runs.push(runs(layout));
        }
        Some(shape)
    }

    fn shape(&mut self, channel: &Channel, registry: &Registry) -> Shape {
        let plain = match channel.ty() {
            Type::Boolean => self.ros("std_msgs/Bool", "bool data\n", Framing::Exact(1)),
            Type::Int64 => self.ros("std_msgs/Int64", "int64 data\n", Framing::Exact(8)),
            Type::Float => self.ros("std_msgs/Float32", "float32 data\n", Framing::Exact(4)),
            Type::Double => self.ros("std_msgs/Float64", "float64 data\n", Framing::Exact(8)),
            Type::String if channel.type_name == "json" => Some(Shape::plain(0, "json")),
            Type::String => self.ros("std_msgs/String", "string data\n", Framing::Counted(1)),
            Type::BooleanArray => self.ros("logpose/BoolArray", "bool[] data\n", Framing::Counted(1)),
            Type::Int64Array => self.ros("logpose/Int64Array", "int64[] data\n", Framing::Counted(8)),
            Type::FloatArray => self.ros("logpose/Float32Array", "float32[] data\n", Framing::Counted(4)),
            Type::DoubleArray => self.ros("logpose/Float64Array", "float64[] data\n", Framing::Counted(8)),
            Type::StringArray => self.ros("logpose/StringArray", "string[] data\n", Framing::Plain),
            Type::Bytes => self.explained(&channel.type_name, registry),
        };
        plain.unwrap_or_else(|| self.bytes(&channel.type_name))
    }

    /// What a schema explains, if there is one.
    fn explained(&mut self, type_name: &str, registry: &Registry) -> Option<Shape> {
        if type_name == "msgpack" {
            return Some(Shape::plain(0, "msgpack"));
        }
        if let Some(message) = type_name.strip_prefix("proto:") {
            let descriptors = registry.descriptor_set(message).ok()?;
            let schema = self.schema(message, "protobuf", descriptors)?;
            return Some(Shape::plain(schema, "protobuf"));
        }
        let inner = type_name.strip_prefix("struct:")?;
        let decoder = registry.decoder(type_name).ok()?;
        let layout = decoder.layout().filter(|layout| layout.size > 0)?;
        let (name, language) = (describe::name(&layout.name), self.language);
        match inner.strip_prefix(layout.name.as_str())? {
            "" => self.structs(&name, &describe::one(layout, language), Framing::Exact(layout.size), layout),
            "[]" => {
                let text = describe::many(layout, None, language);
                self.structs(&format!("{name}Array"), &text, Framing::Counted(layout.size), layout)
            }
            exactly => {
                let count: usize = exactly.strip_prefix('[')?.strip_suffix(']')?.parse().ok().filter(|n| *n > 0)?;
                let framing = Framing::Exact(layout.size.checked_mul(count)?);
                let text = describe::many(layout, Some(count), language);
                self.structs(&format!("{name}Array{count}"), &text, framing, layout)
            }
        }
    }

    /// Bytes that nothing explains.
    fn bytes(&mut self, type_name: &str) -> Shape {
        let photon = type_name.strip_prefix("photonstruct:").map(|name| name.split(':').next().unwrap_or(name));
        let name = photon.map(|name| format!("photonstruct/{}", describe::identifier(name)));
        let name = name.as_deref().unwrap_or("logpose/Bytes");
        let shape = self.ros(name, "uint8[] data\n", Framing::Counted(1));
        shape.unwrap_or(Shape { schema: 0, encoding: "", framing: Framing::Counted(1), cdr: None })
    }

    fn opaque(&mut self, route: &mut Route) {
        let shape = self.bytes("");
        (route.framing, route.cdr) = (shape.framing, shape.cdr);
        if let Some(topic) = self.topics.get_mut(usize::from(route.topic - FIRST)) {
            (topic.schema_id, topic.message_encoding) = (shape.schema, shape.encoding.to_owned());
            topic.metadata.insert(key::FORM.to_owned(), shape.framing.name().to_owned());
        }
    }

    fn rest(&mut self, place: usize, name: &str) -> Option<u16> {
        let shape = self.bytes("");
        let metadata =
            pairs([(key::ROLE, role::REST), (key::ID, &place.to_string()), (key::FORM, shape.framing.name())]);
        self.topic(&format!("{name} (bytes)"), shape.schema, shape.encoding, metadata)
    }

    fn stage(&mut self, scene: Scene) -> Option<Stage> {
        let mut topic = |name: &str, message: Message, about: &str| {
            let schema = self.schema(message.name(), "protobuf", message.descriptors())?;
            self.topic(name, schema, "protobuf", pairs([(key::ROLE, role::DERIVED), ("about", about)]))
        };
        let transforms = topic("/tf", Message::Frames, "map to actors; right-handed, y and yaw and pitch negated")?;
        let about =
            "boxes of vehicles and walkers, as recorded or of a usual size (see their metadata); traffic lights";
        let scene_topic = topic("/carla/scene", Message::Scene, about)?;
        Some(Stage { drawn: scene.drawn(), transforms, scene: scene_topic })
    }

    fn derived(&mut self, channel: &Channel, name: &str, registry: &Registry, robot: bool) -> Option<Derived> {
        let decoder = registry.decoder(&channel.type_name).ok()?;
        let layout = decoder.layout()?;
        let pose = Pose::of(layout)?;
        let message = match channel.type_name.strip_prefix("struct:")?.strip_prefix(layout.name.as_str())? {
            "" => Message::Pose,
            _ => Message::Poses,
        };
        let mut topic = |name: &str, message: Message| {
            let schema = self.schema(message.name(), "protobuf", message.descriptors())?;
            self.topic(name, schema, "protobuf", pairs([(key::ROLE, role::DERIVED)]))
        };
        let derived = topic(&format!("{name}/foxglove"), message)?;
        let robot = if robot { topic("/tf", Message::Robot) } else { None };
        Some(Derived { pose, message, topic: derived, robot })
    }
}

/// What the metadata of an MCAP channel say about a channel.
fn about(place: usize, channel: &Channel, topic: &str, framing: Framing) -> Pairs {
    let mut about = pairs([
        (key::ROLE, role::VALUES),
        (key::ID, &place.to_string()),
        (key::TYPE, &channel.type_name),
        (key::FORM, framing.name()),
    ]);
    let mut add = |key: &str, value: &str| about.insert(key.to_owned(), value.to_owned());
    if topic != channel.name {
        add(key::NAME, &channel.name);
    }
    if let Some(unit) = &channel.unit {
        add(key::UNIT, unit);
    }
    if !channel.metadata.is_empty() {
        add(key::METADATA, &channel.metadata);
    }
    if let Some((table, within)) = channel.family.as_deref() {
        add(key::TABLE, table);
        add(key::KEY, within);
    }
    about
}

/// The channel that says where the robot is on the field, by the names that AdvantageKit's and CTRE's templates use.
fn robot(channels: &[Channel]) -> Option<usize> {
    let is_pose = |channel: &Channel| matches!(&*channel.type_name, "struct:Pose2d" | "struct:Pose3d");
    ["/Odometry/Robot", "/DriveState/Pose", "/RobotPose", "/robotPose"]
        .into_iter()
        .find_map(|end| channels.iter().position(|channel| is_pose(channel) && channel.name.ends_with(end)))
}

/// Metadata of a record.
type Pairs = BTreeMap<String, String>;

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Pairs {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// The id of a channel or schema that comes behind `count` others.
fn next(count: usize) -> Option<u16> {
    u16::try_from(count).ok()?.checked_add(FIRST)
}

/// What to add to times so that none of them is below zero.
pub(crate) fn offset(earliest: Time) -> u64 {
    if earliest < Time::ZERO { earliest.nanos().unsigned_abs() } else { 0 }
}

fn too_many(channel: &Channel) -> EncodeError {
    EncodeError::new("mcap", &channel.name, format!("MCAP is limited to {} channels; select fewer", u16::MAX))
}
