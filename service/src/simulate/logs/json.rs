//! Lines of JSON.

use std::collections::HashMap;

use serde_json::Value;

use super::names::Target;
use super::request::Draft;

/// How many different keys are kept with their targets.
const KEYS: usize = 4_096;

/// Reads objects of JSON. The key of a value within an object has those of the outer ones before it, with dots.
#[derive(Default)]
pub struct Json {
    pub targets: HashMap<String, Target>,
    key: String,
}

impl Json {
    pub fn read(&mut self, line: &[u8], draft: &mut Draft<'_>) -> Result<(), &'static str> {
        let value = serde_json::from_slice(line).map_err(|_| "invalid JSON")?;
        self.put(&value, draft);
        Ok(())
    }

    /// Puts what the value of the key holds.
    fn put(&mut self, value: &Value, draft: &mut Draft<'_>) {
        match value {
            Value::Object(entries) => {
                let outer = self.key.len();
                for (key, value) in entries {
                    if outer > 0 {
                        self.key.push('.');
                    }
                    self.key.push_str(key);
                    self.put(value, draft);
                    self.key.truncate(outer);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.put(item, draft)),
            Value::String(text) => draft.put(self.target(draft), text.as_bytes()),
            Value::Number(_) | Value::Bool(_) => draft.put(self.target(draft), value.to_string().as_bytes()),
            Value::Null => {}
        }
    }

    fn target(&mut self, draft: &Draft<'_>) -> Target {
        if let Some(target) = self.targets.get(&self.key) {
            return *target;
        }
        let target = draft.names.target(&self.key);
        if self.targets.len() < KEYS {
            self.targets.insert(self.key.clone(), target);
        }
        target
    }
}
