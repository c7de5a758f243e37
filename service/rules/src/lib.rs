#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod authorize;
mod defaults;
mod fields;
mod files;
mod hash;
mod key;
mod load;
mod matching;
mod model;
mod overrides;
mod pools;
mod problem;
mod rate;
mod wildcard;
mod yaml;

pub use fields::{Findings, Outcome, Pair};
pub use files::{Files, Source, files, read, why_left_out};
pub use key::{command, key, key_start};
pub use load::{SCRIPT_DOMAIN, SCRIPT_ENTRY, Settings, file, load, load_files};
pub use matching::{Entry, Found};
pub use model::{Authorize, Charge, Domain, Level, Limit, Metadata, Options, Origin, Part, Rate, Rule, Rules, Unit};
pub use overrides::Overrides;
pub use pools::MAX_POOLS;
pub use problem::{Mark, Place, Printable, Problem};
pub use rate::algorithms;
pub use yaml::{Node, Scalar, Value};
