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
        pairs.has_all(&self.pairs) && self.rest_of(text).is_some()
    }

    /// What follows the last part but one; `None` if the text does not fit.
    fn rest_of<'t>(&self, text: &'t str) -> Option<&'t str> {
        let [first, middle @ .., last] = &*self.parts else { return None };
        let between = text.strip_prefix(&**first)?.strip_suffix(&**last)?;
        // The first place of each part leaves the most for the next.
        middle.iter().try_fold(between, |rest, part| rest.get(rest.find(&**part)? + part.len()..))
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
        self.0.iter().zip(others.0).fold(0, |missing, (own, other)| missing | other & !own) == 0
    }
}
