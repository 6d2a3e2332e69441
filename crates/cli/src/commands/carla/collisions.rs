use anyhow::Result;
use clap::{Args, ValueEnum};
use logpose::carla::{Contact, Filter, Party, Reading, collisions};

use super::{Query, each};
use crate::commands::shown;
use crate::failure::Outcome;
use crate::rows::{Cell, Rows};
use crate::screen::Screen;

/// List collisions, like CARLA's show_recorder_collisions
///
/// The text output matches CARLA's, including its errors: only the first frame of a long contact, times without decimals,
/// and wrong names once an actor was destroyed. The other formats list every contact once, from its first to its last
/// frame, with correct names. Exits with 0 even if there are no collisions: CARLA prints its table then too.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla collisions demo/demo_junction.log
  logpose carla collisions demo/demo_junction.log --types h v --format table
  logpose carla collisions 'demo/*.log' --format csv > contacts.csv
  logpose carla collisions demo/demo_junction.log --json | jq '.[].blueprint2'")]
pub(super) struct Collisions {
    #[command(flatten)]
    pub(super) query: Query,
    /// Kinds of the two actors: a any, h hero, v vehicle, w walker, t traffic light, o other
    #[arg(long, num_args = 2, value_enum, value_names = ["ONE", "OTHER"], hide_possible_values = true)]
    types: Vec<Type>,
}

/// One side of a contact, by CARLA's letter.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Type {
    #[value(name = "a", alias = "any")]
    Any,
    #[value(name = "h", alias = "hero")]
    Hero,
    #[value(name = "v", alias = "vehicle")]
    Vehicle,
    #[value(name = "w", alias = "walker")]
    Walker,
    #[value(name = "t", alias = "traffic_light")]
    TrafficLight,
    #[value(name = "o", alias = "other")]
    Other,
}

impl From<Type> for Filter {
    fn from(kind: Type) -> Self {
        match kind {
            Type::Any => Self::Any,
            Type::Hero => Self::Hero,
            Type::Vehicle => Self::Vehicle,
            Type::Walker => Self::Walker,
            Type::TrafficLight => Self::TrafficLight,
            Type::Other => Self::Other,
        }
    }
}

impl Collisions {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let filter = |place| self.types.get(place).map_or(Filter::Any, |kind: &Type| (*kind).into());
        let (one, other) = (filter(0), filter(1));
        let Some(format) = self.query.rows() else {
            return self.query.text(screen, |queries, out| queries.collisions(one, other, out));
        };
        let files = &self.query.files;
        let named = files.len() > 1;
        let columns = named.then_some("file").into_iter().chain(COLUMNS).collect();
        let mut rows = Rows::begin(format, columns, &mut screen.out)?;
        let worst = each(files, screen, |file, screen| {
            let frames = file.frames()?;
            let found = collisions(&frames);
            for contact in found.iter().filter(|c| one.admits(&c.actor1) && other.admits(&c.actor2)) {
                let name = named.then(|| Cell::Text(shown(file.path())));
                rows.row(name.into_iter().chain(cells(contact)).collect(), &mut screen.out)?;
            }
            Ok(Reading::of(&frames).problems())
        })?;
        rows.finish(&mut screen.out)?;
        Ok(worst)
    }
}

/// The cells below [`COLUMNS`].
fn cells(contact: &Contact<'_>) -> impl Iterator<Item = Cell> + use<> {
    let when = [
        Cell::Number(contact.time),
        Cell::nanos(contact.time),
        Cell::Number(contact.until),
        Cell::nanos(contact.until),
        Cell::integer(Some(contact.frame)),
        Cell::integer(Some(u64::from(contact.last - contact.first) + 1)),
        Cell::integer(Some(contact.id)),
    ];
    when.into_iter().chain(party(&contact.actor1)).chain(party(&contact.actor2))
}

fn party(party: &Party<'_>) -> [Cell; 4] {
    let class = if party.actor.is_some() { Cell::Text(party.class.name().to_owned()) } else { Cell::Nothing };
    [Cell::integer(party.actor), class, Cell::text(party.blueprint), Cell::Truth(party.hero)]
}

const COLUMNS: [&str; 15] = [
    "time",
    "time_ns",
    "until",
    "until_ns",
    "frame",
    "frames",
    "id",
    "actor1",
    "class1",
    "blueprint1",
    "hero1",
    "actor2",
    "class2",
    "blueprint2",
    "hero2",
];
