//! Variables of the environment, as envoyproxy/ratelimit reads them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use crate::go;

/// The variables of the environment.
pub struct Env<'e>(pub &'e BTreeMap<String, String>);

impl Env<'_> {
    /// A variable that is set and not empty.
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// A variable in the form that `parse` reads.
    pub fn value<T>(&self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
        self.text(name).map(|text| parse(&text)).transpose().map_err(|error| format!("{name}: {error}"))
    }

    /// False if it is not set.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        Ok(self.value(name, go::boolean)?.unwrap_or(false))
    }

    pub fn duration(&self, name: &str) -> Result<Option<Duration>, String> {
        self.value(name, go::duration)
    }

    pub fn number<T: FromStr + PartialOrd>(
        &self,
        name: &str,
        range: RangeInclusive<T>,
        expected: &str,
    ) -> Result<Option<T>, String> {
        let parse = |text: &str| text.parse().ok().filter(|number| range.contains(number));
        self.value(name, |text| parse(text).ok_or_else(|| format!("expected {expected}")))
    }

    /// Fails if a variable has a value other than this one.
    pub fn must_be(&self, name: &str, only: &str, why: &str) -> Result<(), String> {
        match self.text(name) {
            Some(value) if !value.eq_ignore_ascii_case(only) => Err(format!("{name}: expected {only}: {why}")),
            _ => Ok(()),
        }
    }
}
