//! Lines of JSON.

use std::collections::HashMap;
use std::fmt::{self, Display, Write};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::names::Target;
use super::request::Draft;

/// So many different keys are kept with their targets.
const KEYS: usize = 4_096;

/// Reads objects of JSON. The key of a value within an object has those of the outer ones before it, with dots.
#[derive(Default)]
pub struct Json {
    targets: HashMap<String, Target>,
    key: String,
    text: String,
}

impl Json {
    /// Forgets where the values go.
    pub fn forget(&mut self) {
        self.targets.clear();
    }

    pub fn read(&mut self, line: &[u8], draft: &mut Draft<'_>) -> Result<(), &'static str> {
        self.key.clear();
        let mut deserializer = serde_json::Deserializer::from_slice(line);
        let read = Value { json: self, draft }.deserialize(&mut deserializer).and_then(|()| deserializer.end());
        read.map_err(|_| "invalid JSON")
    }
}

/// The value of the key.
struct Value<'a, 'd> {
    json: &'a mut Json,
    draft: &'a mut Draft<'d>,
}

impl Value<'_, '_> {
    fn put(self, value: &[u8]) {
        let target = match self.json.targets.get(&self.json.key) {
            Some(target) => *target,
            None => {
                let target = self.draft.target(&self.json.key);
                if self.json.targets.len() < KEYS {
                    self.json.targets.insert(self.json.key.clone(), target);
                }
                target
            }
        };
        self.draft.put(target, value);
    }

    fn put_display<E>(self, value: impl Display) -> Result<(), E> {
        let mut text = std::mem::take(&mut self.json.text);
        text.clear();
        _ = write!(text, "{value}");
        Value { json: self.json, draft: self.draft }.put(text.as_bytes());
        self.json.text = text;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_, '_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.put_display(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.put_display(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.put_display(value)
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.put_display(value)
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.put(value.as_bytes());
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    /// The first one counts, as everywhere.
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Value { json: self.json, draft: self.draft })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let outer = self.json.key.len();
        while entries.next_key_seed(Key(&mut self.json.key))?.is_some() {
            entries.next_value_seed(Value { json: self.json, draft: self.draft })?;
            self.json.key.truncate(outer);
        }
        Ok(())
    }
}

/// Adds a key to those of the outer objects.
struct Key<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<(), E> {
        if !self.0.is_empty() {
            self.0.push('.');
        }
        self.0.push_str(key);
        Ok(())
    }
}
