//! The database of items and reports.

use super::item::{FORMAT, Item, ItemError, Outcome, Report};
use crate::measure::{Spread, spread};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, params};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the tables.
const SCHEMA: i32 = 1;
/// Marks the file as ours: `ltun`.
const APPLICATION: i32 = 0x6c74_756e;
/// How long another process may keep the file locked.
const PATIENCE: Duration = Duration::from_secs(10);

const TABLES: &str = "
    CREATE TABLE item (
        id TEXT PRIMARY KEY,
        kernel TEXT NOT NULL,
        params TEXT NOT NULL,
        recipe TEXT NOT NULL,
        work TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX item_of_kernel ON item (kernel);
    CREATE TABLE run (
        id TEXT PRIMARY KEY,
        item TEXT NOT NULL REFERENCES item (id),
        processor TEXT NOT NULL,
        target TEXT NOT NULL,
        outcome TEXT NOT NULL CHECK (outcome IN ('measured', 'wrong', 'failed')),
        message TEXT,
        calls INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX run_of_item ON run (item);
    CREATE TABLE sample (
        run TEXT NOT NULL REFERENCES run (id),
        number INTEGER NOT NULL,
        original INTEGER NOT NULL,
        variant INTEGER NOT NULL,
        PRIMARY KEY (run, number)
    ) WITHOUT ROWID;
";

/// A database that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is not there.
    #[error("there is no database {}", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// It is something else.
    #[error("{} is no database of `looptree tune`", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// Another version of this program wrote it.
    #[error("{} has version {found} of the tables, this looptree has version {SCHEMA}", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: i32,
    },
    /// It may not be written.
    #[error("{} cannot be written", file.display())]
    ReadOnly {
        /// The file.
        file: PathBuf,
    },
    /// Another process keeps it.
    #[error("{} is locked by another process", file.display())]
    Locked {
        /// The file.
        file: PathBuf,
    },
    /// An item or report in it, or for it, cannot be used.
    #[error(transparent)]
    Item(#[from] ItemError),
    /// SQLite cannot go on.
    #[error("{}: {source}", file.display())]
    Sqlite {
        /// The file.
        file: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
}

/// How many of those that came were new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Items.
    pub items: usize,
    /// Reports.
    pub reports: usize,
    /// Reports that were there already.
    pub known: usize,
}

/// All that is known of one item on one processor, as the same code.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What was measured.
    pub item: Item,
    /// Original over variant, in samples taken next to each other, over all runs; `None`: nothing was measured.
    pub ratio: Option<Spread>,
    /// Seconds of a call of the original.
    pub original: Option<f64>,
    /// Seconds of a call of the variant.
    pub variant: Option<f64>,
    /// Samples of all runs.
    pub samples: usize,
    /// Why it was called wrong, on whatever machine.
    pub wrong: Option<String>,
    /// Why there is no measurement, where there is none.
    pub failed: Option<String>,
}

/// What measured best.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The recipe; `None`: nothing is faster than the original.
    pub recipe: Option<String>,
    /// What it calls the arrays of the kernel, by number.
    pub arrays: Vec<String>,
    /// Its ratios.
    pub ratio: Spread,
    /// The sizes it was measured at.
    pub params: Vec<i64>,
    /// How many variants were measured there.
    pub variants: usize,
}

/// A database. Every change is whole or not made at all.
pub struct Store {
    connection: Connection,
    file: PathBuf,
}

impl Store {
    /// Opens a database to write; makes one where there is none.
    ///
    /// # Errors
    /// Where the file is something else, or cannot be written.
    pub fn open(file: &Path) -> Result<Store, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut store = Store::connect(file, flags)?;
        if store.connection.is_readonly("main").map_err(|e| store.failed(e))? {
            return Err(StoreError::ReadOnly { file: file.to_owned() });
        }
        let failed = |e| failed(file, e);
        // Two processes may both want to make it.
        let change = store.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate);
        let change = change.map_err(failed)?;
        let tables: i64 =
            change.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)).map_err(failed)?;
        if tables == 0 {
            change.execute_batch(TABLES).map_err(failed)?;
            change.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
            change.pragma_update(None, "user_version", SCHEMA).map_err(failed)?;
        }
        change.commit().map_err(failed)?;
        store.require_ours()?;
        Ok(store)
    }

    /// Opens a database to read.
    ///
    /// # Errors
    /// Where there is none.
    pub fn read(file: &Path) -> Result<Store, StoreError> {
        if !file.exists() {
            return Err(StoreError::Missing { file: file.to_owned() });
        }
        let store = Store::connect(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        store.require_ours()?;
        Ok(store)
    }

    fn connect(file: &Path, flags: OpenFlags) -> Result<Store, StoreError> {
        let connection = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let connection = connection.map_err(|e| failed(file, e))?;
        connection.busy_timeout(PATIENCE).map_err(|e| failed(file, e))?;
        Ok(Store { connection, file: file.to_owned() })
    }

    fn require_ours(&self) -> Result<(), StoreError> {
        let number = |name| self.connection.pragma_query_value(None, name, |r| r.get::<_, i32>(0));
        let application = number("application_id").map_err(|e| self.failed(e))?;
        if application != APPLICATION {
            return Err(StoreError::Foreign { file: self.file.clone() });
        }
        match number("user_version").map_err(|e| self.failed(e))? {
            SCHEMA => Ok(()),
            found => Err(StoreError::Version { file: self.file.clone(), found }),
        }
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        failed(&self.file, error)
    }

    /// Takes items in.
    ///
    /// # Errors
    /// Where the database cannot be written.
    pub fn add_items(&mut self, items: &[Item]) -> Result<Taken, StoreError> {
        self.change(|change| {
            let mut taken = Taken::default();
            for item in items {
                taken.items += add_item(change, item)?;
            }
            Ok(taken)
        })
    }

    /// Takes a report in, and its item.
    ///
    /// # Errors
    /// Where it contradicts itself, or the database cannot be written.
    pub fn add_report(&mut self, report: &Report) -> Result<Taken, StoreError> {
        report.check()?;
        self.change(|change| add_report(change, report))
    }

    /// Takes all of another database in.
    ///
    /// # Errors
    /// Where one of them cannot be used; nothing is taken in then.
    pub fn merge(&mut self, other: &Store) -> Result<Taken, StoreError> {
        let (items, reports) = (other.items()?, other.reports()?);
        self.change(|change| {
            let mut taken = Taken::default();
            for item in &items {
                taken.items += add_item(change, item)?;
            }
            for report in &reports {
                let one = add_report(change, report)?;
                taken.reports += one.reports;
                taken.known += one.known;
            }
            Ok(taken)
        })
    }

    fn change<R>(
        &mut self,
        what: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<R>,
    ) -> Result<R, StoreError> {
        let file = &self.file;
        let immediate = rusqlite::TransactionBehavior::Immediate;
        let change = self.connection.transaction_with_behavior(immediate).map_err(|e| failed(file, e))?;
        let result = what(&change).and_then(|r| change.commit().map(|()| r));
        result.map_err(|e| failed(file, e))
    }

    /// All items, in the order of their names.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn items(&self) -> Result<Vec<Item>, StoreError> {
        self.lines("SELECT work FROM item ORDER BY id", "")
    }

    /// The items of a kernel, in the order of their names.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn items_of(&self, kernel: &str) -> Result<Vec<Item>, StoreError> {
        self.lines("SELECT work FROM item WHERE kernel = ?1 ORDER BY id", kernel)
    }

    fn lines(&self, question: &str, value: &str) -> Result<Vec<Item>, StoreError> {
        let lines: rusqlite::Result<Vec<String>> = self.connection.prepare(question).and_then(|mut q| {
            let values: &[&dyn rusqlite::ToSql] = if value.is_empty() { &[] } else { &[&value] };
            q.query_map(values, |r| r.get(0))?.collect()
        });
        let lines = lines.map_err(|e| self.failed(e))?;
        Ok(lines.iter().map(|line| Item::from_line(line)).collect::<Result<_, _>>()?)
    }

    /// All reports, in the order of their items.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn reports(&self) -> Result<Vec<Report>, StoreError> {
        let mut reports = Vec::new();
        for item in self.items()? {
            reports.extend(self.reports_of(&item)?);
        }
        Ok(reports)
    }

    /// The reports of an item, in the order of their names.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn reports_of(&self, item: &Item) -> Result<Vec<Report>, StoreError> {
        self.read_reports(item).map_err(|e| self.failed(e))
    }

    fn read_reports(&self, item: &Item) -> rusqlite::Result<Vec<Report>> {
        let runs =
            "SELECT id, processor, target, outcome, message, calls FROM run WHERE item = ?1 ORDER BY id";
        let samples = "SELECT original, variant FROM sample WHERE run = ?1 ORDER BY number";
        let mut runs = self.connection.prepare_cached(runs)?;
        let mut samples = self.connection.prepare_cached(samples)?;
        let mut rows = runs.query([&item.id])?;
        let mut reports = Vec::new();
        while let Some(row) = rows.next()? {
            let message = || Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(4)?.unwrap_or_default());
            let outcome = match row.get_ref(3)?.as_str()? {
                "wrong" => Outcome::Wrong { message: message()? },
                "failed" => Outcome::Failed { message: message()? },
                _ => {
                    let id: String = row.get(0)?;
                    let pairs = samples.query_map([id], |r| Ok((r.get(0)?, r.get(1)?)))?;
                    let (original, variant) =
                        pairs.collect::<rusqlite::Result<Vec<(u64, u64)>>>()?.into_iter().unzip();
                    Outcome::Measured { calls: row.get(5)?, original, variant }
                }
            };
            reports.push(Report {
                format: FORMAT,
                item: item.clone(),
                processor: row.get(1)?,
                target: row.get(2)?,
                outcome,
            });
        }
        Ok(reports)
    }

    /// Of an item, what is known on a processor of code for a target.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn measured(&self, item: &Item, processor: &str, target: &str) -> Result<Measured, StoreError> {
        let mut known = Measured {
            item: item.clone(),
            ratio: None,
            original: None,
            variant: None,
            samples: 0,
            wrong: None,
            failed: None,
        };
        let (mut ratios, mut originals, mut variants) = (Vec::new(), Vec::new(), Vec::new());
        for report in self.reports_of(item)? {
            let here = report.processor == processor && report.target == target;
            match report.outcome {
                Outcome::Wrong { message } => known.wrong = Some(message),
                Outcome::Failed { message } if here => known.failed = Some(message),
                Outcome::Measured { calls, original, variant } if here => {
                    let seconds = |ns: &u64| *ns as f64 / f64::from(calls) / 1e9;
                    ratios.extend(original.iter().zip(&variant).map(|(a, b)| *a as f64 / *b as f64));
                    originals.extend(original.iter().map(seconds));
                    variants.extend(variant.iter().map(seconds));
                }
                _ => {}
            }
        }
        known.samples = ratios.len();
        if !ratios.is_empty() {
            known.failed = None;
            known.ratio = Some(spread(ratios));
            known.original = Some(spread(originals).median);
            known.variant = Some(spread(variants).median);
        }
        Ok(known)
    }

    /// Whether an item was measured: on a processor of code for a target, or, where none is given, anywhere. A failure counts.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn has_report(&self, item: &Item, place: Option<(&str, &str)>) -> Result<bool, StoreError> {
        let any = "SELECT 1 FROM run WHERE item = ?1 LIMIT 1";
        let here = "SELECT 1 FROM run WHERE item = ?1 AND processor = ?2 AND target = ?3 LIMIT 1";
        let mut question = self
            .connection
            .prepare_cached(if place.is_some() { here } else { any })
            .map_err(|e| self.failed(e))?;
        let found = match place {
            Some((processor, target)) => question.exists([&item.id, processor, target]),
            None => question.exists([&item.id]),
        };
        found.map_err(|e| self.failed(e))
    }

    /// What measured best of a kernel on a processor, of code for a target: at these values of its parameters, else at the
    /// closest that were measured. `None` where nothing was.
    ///
    /// A variant that was called wrong anywhere does not count, and one only where three quarters of its samples are faster than
    /// the original; of several, that whose slower samples are fastest.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn best(
        &self,
        kernel: &str,
        params: &[i64],
        processor: &str,
        target: &str,
    ) -> Result<Option<Best>, StoreError> {
        let mut by_size: BTreeMap<Vec<i64>, Vec<Measured>> = BTreeMap::new();
        for item in self.items_of(kernel)? {
            let known = self.measured(&item, processor, target)?;
            if known.ratio.is_some() && known.wrong.is_none() {
                by_size.entry(item.params.iter().map(|(_, v)| *v).collect()).or_default().push(known);
            }
        }
        let closest = by_size.into_iter().min_by(|(a, _), (b, _)| {
            let far = |size: &[i64]| distance(size, params);
            far(a).total_cmp(&far(b))
        });
        let Some((params, list)) = closest else { return Ok(None) };
        let variants = list.len();
        let ratios = list.iter().filter_map(|m| Some((m, m.ratio?)));
        let slowest = |(_, ratio): &(&Measured, Spread)| ratio.low;
        let best =
            ratios.max_by(|a, b| slowest(a).total_cmp(&slowest(b)).then(b.0.item.id.cmp(&a.0.item.id)));
        Ok(best.map(|(measured, ratio)| {
            let recipe = (ratio.low > 1.0).then(|| measured.item.recipe.clone());
            Best { recipe, arrays: measured.item.arrays.clone(), ratio, params, variants }
        }))
    }
}

/// How far sizes are from others: factors, not differences.
fn distance(a: &[i64], b: &[i64]) -> f64 {
    let log = |v: i64| (v.unsigned_abs() as f64).max(0.5).ln().copysign(if v < 0 { -1.0 } else { 1.0 });
    a.iter().zip(b).map(|(a, b)| (log(*a) - log(*b)).abs()).sum()
}

fn add_item(change: &Transaction<'_>, item: &Item) -> rusqlite::Result<usize> {
    let values: Vec<String> = item.params.iter().map(|(_, v)| v.to_string()).collect();
    change
        .prepare_cached(
            "INSERT OR IGNORE INTO item (id, kernel, params, recipe, work) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![item.id, item.kernel, values.join(","), item.recipe, item.to_line()])
}

fn add_report(change: &Transaction<'_>, report: &Report) -> rusqlite::Result<Taken> {
    let items = add_item(change, &report.item)?;
    let id = report.id();
    let (outcome, message, calls) = match &report.outcome {
        Outcome::Measured { calls, .. } => ("measured", None, Some(calls)),
        Outcome::Wrong { message } => ("wrong", Some(message), None),
        Outcome::Failed { message } => ("failed", Some(message), None),
    };
    let new = change
        .prepare_cached(
            "INSERT OR IGNORE INTO run (id, item, processor, target, outcome, message, calls)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![id, report.item.id, report.processor, report.target, outcome, message, calls])?;
    if new == 0 {
        return Ok(Taken { items, reports: 0, known: 1 });
    }
    if let Outcome::Measured { original, variant, .. } = &report.outcome {
        let mut insert = change
            .prepare_cached("INSERT INTO sample (run, number, original, variant) VALUES (?1, ?2, ?3, ?4)")?;
        for (number, (original, variant)) in original.iter().zip(variant).enumerate() {
            insert.execute(params![id, number, original, variant])?;
        }
    }
    Ok(Taken { items, reports: 1, known: 0 })
}

fn failed(file: &Path, source: rusqlite::Error) -> StoreError {
    let file = file.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { file },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { file },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked { file },
        _ => StoreError::Sqlite { file, source },
    }
}

#[cfg(test)]
mod tests;
