use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::catalog::{CatalogProvider, MemoryCatalogProvider};
use datafusion::common::DataFusionError;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{
    FunctionRegistry as _, SendableRecordBatchStream, SessionStateBuilder, SessionStateDefaults,
};
use datafusion::logical_expr::{LogicalPlan, ScalarUDF};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{SQLOptions, SessionConfig, SessionContext};
use datafusion::sql::parser::{DFParser, Statement as Parsed};
use futures::StreamExt;
use logpose::Log;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{mpsc, oneshot};

use crate::aligned::{Asof, Origin, Wide};
use crate::answer::{Answer, Patience, Task};
use crate::bucket::TimeBucket;
use crate::catalog::{CATALOG, Catalog, SCHEMA, Tables};
use crate::functions::{self, Bounds};
use crate::group::{ByChannel, YieldingJoins};
use crate::logs::{Clock, Logs};
use crate::{Error, aggregates, bounds, memory};

/// How questions are answered.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How many threads to use; 0 for one per processor.
    pub threads: usize,
    /// How many bytes of memory sorting, grouping and joining may take before they use the disk; by default three
    /// quarters of the machine's.
    pub memory: Option<u64>,
    /// How long a question may take before it is given up; by default as long as it wants.
    pub time: Option<Duration>,
    /// Whether `time` is wall-clock time, as the logs tell it, instead of log seconds.
    pub wall: bool,
    /// Whether tables have the column `log` even for one log.
    pub name_logs: bool,
}

impl Options {
    pub(crate) fn threads(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        if self.threads == 0 { processors() } else { self.threads }
    }

    fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(memory::by_default)
    }
}

/// SQL over logs.
pub struct Engine {
    /// Always there, until the engine is dropped.
    runtime: Option<Runtime>,
    handle: Handle,
    time: Option<Duration>,
    /// Bytes that a function may make of the rows of a batch.
    most: u64,
    context: SessionContext,
    catalog: Arc<Catalog>,
}

/// One statement that was understood.
pub struct Statement {
    parsed: Box<Parsed>,
    sql: String,
}

/// What questions are about.
#[derive(Clone, Debug)]
pub enum Source {
    /// Opened logs.
    Logs(Vec<Arc<Log>>),
    /// A lake, of which only what a question needs is read.
    #[cfg(feature = "lake")]
    Lake(Arc<logpose_lake::Lake>),
}

impl Engine {
    /// An engine over opened logs.
    pub fn new(logs: Vec<Arc<Log>>, options: &Options) -> Result<Self, Error> {
        Self::over(Source::Logs(logs), options)
    }

    /// An engine over logs or a lake.
    pub fn over(source: Source, options: &Options) -> Result<Self, Error> {
        match source {
            Source::Logs(logs) => {
                let clock = Clock::of(&logs, options.wall)?;
                Self::of_logs(logs, clock, options)
            }
            #[cfg(feature = "lake")]
            Source::Lake(lake) => {
                let (kept, files) = crate::lake::Kept::new(lake, options)?;
                let names = kept.names()?;
                let kept = Arc::new(kept);
                let logs = Arc::new(Logs::new(Vec::new(), true, Clock::Seconds, 1, WINDOW));
                let engine = Self::build(Catalog::of_lake(logs, kept.clone(), names), options)?;
                engine.context.register_object_store(&files.0, files.1);
                engine.register(Origin::Lake(kept));
                Ok(engine)
            }
        }
    }

    pub(crate) fn of_logs(logs: Vec<Arc<Log>>, clock: Clock, options: &Options) -> Result<Self, Error> {
        let threads = options.threads();
        let window = (options.memory() / (SHARE * threads as u64)).clamp(SMALLEST_WINDOW, WINDOW);
        let logs = Arc::new(Logs::new(logs, options.name_logs, clock, threads, window));
        let engine = Self::build(Catalog::new(&logs), options)?;
        engine.register(Origin::Logs(logs));
        Ok(engine)
    }

    /// Adds the functions that are tables.
    fn register(&self, origin: Origin) {
        self.context.register_udtf("wide", Arc::new(Wide(origin.clone())));
        self.context.register_udtf("asof", Arc::new(Asof(origin)));
    }

    fn build(catalog: Catalog, options: &Options) -> Result<Self, Error> {
        let catalog = Arc::new(catalog);
        let threads = options.threads();
        let most = (options.memory() / 4).min(LARGEST_RESULT);
        let context =
            context(&catalog, threads, options.memory(), most).map_err(|error| Error::of(&error, "", &catalog))?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_stack_size(STACK)
            .enable_all()
            .build()
            .map_err(|error| Error::new("io", format!("cannot start threads: {error}")))?;
        let handle = runtime.handle().clone();
        Ok(Self { runtime: Some(runtime), handle, time: options.time, most, context, catalog })
    }

    /// The statements of a script.
    pub fn parse(&self, sql: &str) -> Result<Vec<Statement>, Error> {
        bounds::check_text(sql)?;
        let (text, catalog) = (sql.to_owned(), Arc::clone(&self.catalog));
        let parsing = async move {
            let parsed = DFParser::parse_sql(&text).map_err(|error| Error::of(&error, &text, &catalog))?;
            parsed.iter().try_for_each(check)?;
            Ok(parsed.into_iter().map(|one| Statement { parsed: Box::new(one), sql: text.clone() }).collect())
        };
        self.handle.block_on(self.handle.spawn(parsing)).map_err(|_| Error::internal())?
    }

    /// Begins to answer one statement. Rows come as they are asked for.
    pub fn ask(&self, statement: Statement) -> Result<Answer<'_>, Error> {
        self.ask_unless(statement, &|| false)
    }

    /// Begins to answer one statement, and gives up as soon as `stop` says so: it is asked several times a second.
    pub fn ask_unless<'e>(&'e self, statement: Statement, stop: &'e dyn Fn() -> bool) -> Result<Answer<'e>, Error> {
        let Statement { parsed, sql } = statement;
        if names_a_file(&parsed) {
            return Err(Error::refused());
        }
        let (context, catalog, most) = (self.context.clone(), Arc::clone(&self.catalog), self.most);
        #[cfg(feature = "lake")]
        let touched = matches!(*parsed, Parsed::Explain(_)).then(Arc::<crate::lake::Touched>::default);
        #[cfg(feature = "lake")]
        let context = match &touched {
            Some(touched) => {
                let mut state = context.state();
                state.config_mut().set_extension(touched.clone());
                SessionContext::new_with_state(state)
            }
            None => context,
        };
        let (begin, mut begun) = oneshot::channel();
        let (send, rows) = mpsc::channel(1);
        // All of it runs on the engine's own threads, for their stack and so that it can be given up at any time.
        let task = Task(self.handle.spawn(async move {
            let failed = |error| Error::of(&error, &sql, &catalog);
            let mut begin = Some(begin);
            // Joins by hash are quick, and have to fit into memory; sorted ones use the disk.
            for context in [context.clone(), by_sorting(&context)] {
                let mut plan = match plan(&context, (*parsed).clone(), most).await {
                    Ok(plan) => plan,
                    Err(error) => {
                        if let Some(begin) = begin.take() {
                            let _ = begin.send(Err(error.into_error(&failed)));
                        }
                        return;
                    }
                };
                if let Some(begin) = begin.take() {
                    // Who does not wait any more drops the task too.
                    let _ = begin.send(Ok((plan.stream.schema(), plan.names)));
                }
                let mut may_try_again = plan.joins_by_hash;
                loop {
                    let batch = match plan.stream.next().await {
                        None => {
                            #[cfg(feature = "lake")]
                            if let Some(rows) = touched.and_then(|touched| touched.rows(&plan.stream.schema())) {
                                let _ = send.send(Ok(rows)).await;
                            }
                            return;
                        }
                        Some(Err(error)) if may_try_again && is_out_of_memory(&error) => break,
                        Some(batch) => batch,
                    };
                    may_try_again = false;
                    if send.send(batch.map_err(failed)).await.is_err() {
                        return;
                    }
                }
            }
        }));
        let deadline = self.time.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        let patience = Patience { handle: &self.handle, deadline, stop };
        let (schema, names) = patience.wait(&mut begun)?.map_err(|_| Error::internal())??;
        Ok(Answer::new(patience, task, rows, &schema, names))
    }

    /// Begins to answer a question of one statement.
    pub fn run(&self, sql: &str) -> Result<Answer<'_>, Error> {
        let mut statements = self.parse(sql)?;
        match (statements.pop(), statements.is_empty()) {
            (Some(one), true) => self.ask(one),
            (None, _) => Err(Error::new("syntax", "the query is empty")),
            _ => Err(Error::new("syntax", "expected a single statement, found several")),
        }
    }

    /// How a question would be answered: the plan, as text.
    pub fn explain(&self, sql: &str) -> Result<String, Error> {
        let mut text = String::new();
        let mut answer = self.run(&format!("EXPLAIN {sql}"))?;
        while let Some(rows) = answer.next_rows()? {
            for row in 0..rows.len() {
                rows.text(row, 1, &mut text);
                text.push('\n');
            }
        }
        Ok(text)
    }

    /// The names of all tables.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.catalog.names()
    }

    /// The tables that are the same for every log, and those that only its kind of log has.
    #[cfg(feature = "lake")]
    pub(crate) fn derived(&self) -> Vec<String> {
        self.catalog.derived()
    }

    /// A table's columns and their types, if there is such a table.
    #[must_use]
    pub fn columns(&self, table: &str) -> Option<Vec<(String, String)>> {
        let table = self.catalog.find(table).ok()??;
        Some(table.schema().fields().iter().map(|f| (f.name().clone(), f.data_type().to_string())).collect())
    }

    /// Says that there is no such table, and which ones are nearly called so.
    #[must_use]
    pub fn no_table(&self, name: &str) -> Error {
        crate::error::no_table(name, &self.catalog)
    }

    /// A name as it is to be written in a query: in double quotes where it needs them.
    #[must_use]
    pub fn quoted(name: &str) -> String {
        crate::error::quoted(name)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Nobody waits for what was given up and has not noticed yet.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("catalog", &self.catalog).finish_non_exhaustive()
    }
}

fn context(
    catalog: &Arc<Catalog>,
    threads: usize,
    limit: u64,
    most: u64,
) -> datafusion::common::Result<SessionContext> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut config = SessionConfig::new()
        .with_target_partitions(threads)
        .with_information_schema(true)
        .with_default_catalog_and_schema(CATALOG, SCHEMA)
        .with_create_default_catalog_and_schema(false);
    // A sort keeps some memory back to merge what it wrote to the disk; more than it may have helps nobody.
    config.options_mut().execution.sort_spill_reservation_bytes = (limit / (8 * threads)).clamp(64 << 10, 10 << 20);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(limit)))
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(DiskManagerMode::OsTmpDirectory))
        .build_arc()?;
    // All functions, but none of DataFusion's own file formats: tables are logs, and the formats are megabytes of code.
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_expr_planners(SessionStateDefaults::default_expr_planners())
        .with_scalar_functions(functions::all(most))
        .with_higher_order_functions(SessionStateDefaults::default_higher_order_functions())
        .with_aggregate_functions(aggregates::all(4 * most))
        .with_window_functions(SessionStateDefaults::default_window_functions())
        .with_table_function_list(SessionStateDefaults::default_table_functions())
        .with_physical_optimizer_rule(Arc::new(ByChannel))
        .with_physical_optimizer_rule(Arc::new(YieldingJoins));
    #[cfg(feature = "lake")]
    let state = match catalog.kept() {
        Some(kept) => state.with_optimizer_rule(Arc::new(crate::whole::WholeChannels(kept.clone()))),
        None => state,
    };
    let mut state = state.build();
    // What the planner calls by itself.
    state.register_function_rewrite(Arc::new(Bounds { most }))?;
    let context = SessionContext::new_with_state(state);
    let schemas = MemoryCatalogProvider::new();
    schemas.register_schema(SCHEMA, Arc::new(Tables(catalog.clone())))?;
    context.register_catalog(CATALOG, Arc::new(schemas));
    context.register_udf(ScalarUDF::from(TimeBucket::new()));
    let state = context.state();
    let functions = state.scalar_functions().keys().chain(state.aggregate_functions().keys());
    let functions = functions.chain(state.window_functions().keys()).chain(state.table_functions().keys());
    let of_ours = ["wide", "asof"].map(str::to_owned);
    catalog.functions.get_or_init(|| functions.cloned().chain(of_ours).collect());
    Ok(context)
}

/// Refuses what cannot be planned within bounds.
fn check(statement: &Parsed) -> Result<(), Error> {
    let explained = match statement {
        Parsed::Explain(explain) => &*explain.statement,
        plain => plain,
    };
    match explained {
        Parsed::Explain(_) => Err(Error::new("syntax", "EXPLAIN cannot be nested: expected a query after it")),
        Parsed::Statement(statement) => bounds::check_statement(statement),
        _ => Ok(()),
    }
}

/// A question that is about to be answered.
struct Planned {
    stream: SendableRecordBatchStream,
    /// What the columns are called.
    names: Vec<String>,
    joins_by_hash: bool,
}

/// Why a question cannot be answered.
enum Unplanned {
    /// It is no question.
    Refused,
    /// DataFusion cannot answer it.
    Failed(DataFusionError),
}

impl From<DataFusionError> for Unplanned {
    fn from(error: DataFusionError) -> Self {
        Self::Failed(error)
    }
}

impl Unplanned {
    fn into_error(self, failed: &dyn Fn(DataFusionError) -> Error) -> Error {
        match self {
            Self::Refused => Error::refused(),
            Self::Failed(error) => failed(error),
        }
    }
}

async fn plan(context: &SessionContext, statement: Parsed, most: u64) -> Result<Planned, Unplanned> {
    let plan = context.state().statement_to_plan(statement).await?;
    let reading = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    reading.verify_plan(&plan).map_err(|_| Unplanned::Refused)?;
    let names = names(&plan);
    let frame = context.execute_logical_plan(plan).await?;
    let task = Arc::new(frame.task_ctx());
    let (state, plan) = frame.into_parts();
    let plan = state.optimize(&plan)?;
    functions::check_constants(&plan, most, state.config().batch_size())?;
    let plan = state.query_planner().create_physical_plan(&plan, &state).await?;
    let joins_by_hash = joins_by_hash(&*plan);
    Ok(Planned { stream: execute_stream(plan, task)?, names, joins_by_hash })
}

/// The same, except that joins sort.
fn by_sorting(context: &SessionContext) -> SessionContext {
    let mut state = context.state();
    state.config_mut().options_mut().optimizer.prefer_hash_join = false;
    SessionContext::new_with_state(state)
}

fn joins_by_hash(plan: &dyn ExecutionPlan) -> bool {
    plan.name() == "HashJoinExec" || plan.children().into_iter().any(|child| joins_by_hash(&**child))
}

fn is_out_of_memory(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

/// Whether a statement reads or writes a file of its own, for which planning would look for a file format.
fn names_a_file(statement: &Parsed) -> bool {
    match statement {
        Parsed::CopyTo(_) | Parsed::CreateExternalTable(_) => true,
        Parsed::Explain(explain) => names_a_file(&explain.statement),
        _ => false,
    }
}

/// What the columns of an answer are called: as DataFusion calls them, without the names of the tables, unless two would
/// have one name.
fn names(plan: &LogicalPlan) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    let visited = plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::TableScan(scan) => tables.push(format!("{}.", scan.table_name.table())),
            LogicalPlan::SubqueryAlias(alias) => tables.push(format!("{}.", alias.alias.table())),
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    });
    let long: Vec<String> = plan.schema().fields().iter().map(|field| field.name().clone()).collect();
    if visited.is_err() {
        return long;
    }
    // The longest first: one name may be the beginning of another.
    tables.sort_by_key(|table| std::cmp::Reverse(table.len()));
    let bare = |name: &String| tables.iter().fold(name.clone(), |name, table| name.replace(table.as_str(), ""));
    let short: Vec<String> = long.iter().map(bare).collect();
    let distinct: HashSet<&String> = short.iter().collect();
    if distinct.len() == short.len() { short } else { long }
}

/// Windows of all threads may take one part of so many of the memory; what is decoded is about as large as the bytes.
const SHARE: u64 = 8;
const WINDOW: u64 = 16 << 20;
const SMALLEST_WINDOW: u64 = 1 << 20;
/// Bytes that a function may make of the rows of a batch, and of a quarter of the memory.
const LARGEST_RESULT: u64 = 256 << 20;
/// DataFusion's plans are walked by recursion: this is for questions within [`bounds`]. Only what is used takes memory.
const STACK: usize = 64 << 20;
