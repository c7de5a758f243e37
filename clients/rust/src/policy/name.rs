//! The name of a policy, held in place so that a policy stays a plain value.

use std::fmt;
use std::hash::{Hash, Hasher};

const MAX: usize = 64;

/// 1 to 64 characters of `A-Z a-z 0-9 . _ -`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name {
    len: u8,
    /// 0 after the name.
    bytes: [u8; MAX],
}

impl Name {
    pub const fn new(name: &str) -> Option<Self> {
        let (text, mut bytes, mut at) = (name.as_bytes(), [0; MAX], 0);
        if text.is_empty() || text.len() > MAX {
            return None;
        }
        while at < text.len() {
            if !(text[at].is_ascii_alphanumeric() || matches!(text[at], b'.' | b'_' | b'-')) {
                return None;
            }
            bytes[at] = text[at];
            at += 1;
        }
        Some(Self { len: text.len() as u8, bytes })
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}
