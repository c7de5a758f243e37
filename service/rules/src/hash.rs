//! The hash of a set of rules: of what it means. Comments, the order of rules, and the names of files do not count.

use std::fmt::{self, Write};

use sha2::{Digest as _, Sha256};

use super::model::{Domain, Level, Limit, Rate, Rule, Rules};

/// So much of it is shown.
const BYTES: usize = 8;

impl Rules {
    /// 16 hex digits. Copies of the service with the same rules have the same.
    pub fn hash(&self) -> String {
        let mut text = Sink(Sha256::new());
        // Writing to a hash cannot fail.
        _ = self.write_to(&mut text);
        text.0.finalize().iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
    }

    fn write_to(&self, text: &mut Sink) -> fmt::Result {
        let mut domains: Vec<_> = self.domains.iter().collect();
        domains.sort_unstable_by_key(|(name, _)| *name);
        for (name, Domain { options, pools, root, script_keys }) in domains {
            write!(text, "domain {name:?} {options:?} {script_keys} ")?;
            pools.values().try_for_each(|pool| pool.write_to(text))?;
            root.write_to(text)?;
        }
        Ok(())
    }
}

impl Level {
    fn write_to(&self, text: &mut Sink) -> fmt::Result {
        let mut rules: Vec<_> = self.rules.iter().collect();
        rules.sort_unstable_by_key(|(name, _)| *name);
        for (name, Rule { limit, below, value_to_metric, share_threshold }) in rules {
            write!(text, "rule {name:?} {value_to_metric} {share_threshold} ")?;
            if let Some(limit) = limit {
                limit.write_to(text)?;
            }
            if let Some(below) = below {
                text.write_str("below ")?;
                below.write_to(text)?;
                text.write_str("end ")?;
            }
        }
        // The first that fits counts.
        self.wildcards.iter().try_for_each(|(name, _)| write!(text, "wildcard {name:?} "))
    }
}

impl Limit {
    fn write_to(&self, text: &mut Sink) -> fmt::Result {
        let Self {
            name,
            replaces,
            rate,
            otherwise,
            shares,
            shadow,
            quota,
            detailed_metric,
            metadata,
            // What the files do not say, or its rules say already. A new field must be named here.
            number: _,
            is_pool: _,
            place: _,
            path: _,
            names: _,
            key_start: _,
            values_in_metric: _,
        } = self;
        write!(text, "limit {name:?} {replaces:?} {shadow} {quota} {detailed_metric} {metadata:?} ")?;
        if let Some(pool) = otherwise {
            write!(text, "{} {:?} ", if *shares { "share" } else { "else" }, pool.name)?;
        }
        match rate {
            None => text.write_str("unlimited "),
            Some(Rate { policy, unit, charge, grants, unit_scale }) => {
                write!(text, "{policy} {unit:?} {charge:?} {grants:?} ")?;
                if *unit_scale == 1 { Ok(()) } else { write!(text, "scale {unit_scale} ") }
            }
        }
    }
}

struct Sink(Sha256);

impl Write for Sink {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.0.update(part);
        Ok(())
    }
}
