//! Threads that work on a batch.

use rayon::prelude::*;

/// Who works on a batch.
pub(crate) enum Team {
    /// The threads that all searches share, or in whose midst the batch is asked for.
    Shared,
    Own(rayon::ThreadPool),
    /// The thread that asks.
    Alone,
}

impl Team {
    /// As many threads; 0: those that are shared.
    pub fn of(threads: usize) -> Team {
        match threads {
            0 => Team::Shared,
            1 => Team::Alone,
            _ => rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_or(Team::Shared, Team::Own),
        }
    }

    /// As which number of threads it stands for those who work inside of a batch.
    pub fn inside(&self) -> usize {
        usize::from(matches!(self, Team::Alone))
    }

    /// What a function makes of each item, in their order.
    pub fn map<T: Sync, R: Send>(&self, items: &[T], f: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
        let spread = || match items {
            [] | [_] => items.iter().map(&f).collect(),
            _ => items.par_iter().with_max_len(1).map(&f).collect(),
        };
        match self {
            Team::Shared => spread(),
            Team::Own(pool) => pool.install(spread),
            Team::Alone => items.iter().map(f).collect(),
        }
    }
}
