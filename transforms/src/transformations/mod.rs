//! The transformations, one file each.

mod distribute;
mod fuse;
mod index_set_split;
mod interchange;
mod mark;
mod peel;
mod permute;
mod reorder;
mod reverse;
mod sink;
mod skew;
mod strip_mine;
mod tile;
mod unroll;
mod unroll_and_jam;
mod version;

pub use distribute::Distribute;
pub use fuse::{Fuse, Remainder};
pub use index_set_split::IndexSetSplit;
pub use interchange::Interchange;
pub use mark::Mark;
pub use peel::{End, Peel};
pub use permute::Permute;
pub use reorder::{Move, Reorder};
pub use reverse::Reverse;
pub use sink::Sink;
pub use skew::Skew;
pub use strip_mine::StripMine;
pub use tile::Tile;
pub use unroll::{Factor, Unroll};
pub use unroll_and_jam::UnrollAndJam;
pub use version::Version;
