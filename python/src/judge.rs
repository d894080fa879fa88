//! Judging, on one thread or many.

use crate::error::Failure;
use crate::module::RegionData;
use looptree::analyses::{Oracle, Verdict};
use looptree::tree::Green;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

/// Oracles that a thread keeps.
const KEPT: usize = 4;
/// So few trees are judged where one is.
const FEW: usize = 4;

thread_local! {
    /// With the regions that they belong to, the one used last in front.
    static ORACLES: RefCell<Vec<(u64, Oracle)>> = const { RefCell::new(Vec::new()) };
}

/// Threads of this process: a child that was forked has none of its parent's.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

pub fn judge(region: &RegionData, root: &Green) -> Result<Verdict, Failure> {
    let taken = ORACLES
        .with_borrow_mut(|kept| kept.iter().position(|(id, _)| *id == region.id).map(|at| kept.remove(at)));
    // Taken out meanwhile: one that panics is not asked again.
    let (id, oracle) = match taken {
        Some(taken) => taken,
        None => (region.id, region.oracle()?),
    };
    let verdict = oracle.judge(root);
    ORACLES.with_borrow_mut(|kept| {
        kept.insert(0, (id, oracle));
        kept.truncate(KEPT);
    });
    Ok(verdict)
}

/// The same of many, in their order.
pub fn for_each<T: Sync, R: Send>(
    list: &[T],
    what: impl Fn(&T) -> Result<R, Failure> + Sync + Send,
) -> Result<Vec<R>, Failure> {
    if list.len() <= FEW {
        return list.iter().map(what).collect();
    }
    pool()?.install(|| list.par_iter().map(what).collect())
}

fn pool() -> Result<Arc<ThreadPool>, Failure> {
    let own = std::process::id();
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((process, threads)) = &*pool
        && *process == own
    {
        return Ok(threads.clone());
    }
    let threads = ThreadPoolBuilder::new().build();
    let threads = Arc::new(threads.map_err(|e| Failure::Input(format!("threads cannot be started: {e}")))?);
    // Threads of the parent cannot be waited for.
    std::mem::forget(pool.replace((own, threads.clone())));
    Ok(threads)
}
