//! Patterns with `*`, which stands for any characters, also none.

/// A pattern that was split at its stars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wildcard {
    parts: Box<[Box<str>]>,
    pairs: Pairs,
}

impl Wildcard {
    /// A pattern; `None` if it has no star.
    pub fn new(pattern: &str) -> Option<Self> {
        if !pattern.contains('*') {
            return None;
        }
        let parts: Box<[Box<str>]> = pattern.split('*').map(Into::into).collect();
        let mut pairs = Pairs::default();
        parts.iter().for_each(|part| pairs.add(part));
        Some(Self { parts, pairs })
    }

    /// Whether the text fits. `pairs` are those of the text.
    pub fn matches(&self, text: &str, pairs: &Pairs) -> bool {
        if !pairs.has_all(&self.pairs) {
            return false;
        }
        let [first, middle @ .., last] = &*self.parts else { return false };
        let Some(rest) = text.strip_prefix(&**first) else { return false };
        let Some(mut rest) = rest.strip_suffix(&**last) else { return false };
        // The first place of each part leaves the most for the next.
        for part in middle {
            match rest.find(&**part) {
                Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
                None => return false,
            }
        }
        true
    }
}

/// Which bytes follow each other in a text, by a hash of both. A text that lacks a pair of a pattern does not fit. To
/// compare that costs a hundredth of what a search for a part of the pattern costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs([u64; 4]);

impl Pairs {
    /// The pairs of a text.
    pub fn of(text: &str) -> Self {
        let mut pairs = Self::default();
        pairs.add(text);
        pairs
    }

    fn add(&mut self, text: &str) {
        for (one, next) in text.bytes().zip(text.bytes().skip(1)) {
            let hash = one.wrapping_mul(31) ^ next;
            if let Some(word) = self.0.get_mut(usize::from(hash >> 6)) {
                *word |= 1 << (hash & 63);
            }
        }
    }

    fn has_all(&self, others: &Self) -> bool {
        self.0.iter().zip(others.0).all(|(own, other)| other & !own == 0)
    }
}
