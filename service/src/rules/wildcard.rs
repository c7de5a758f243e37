//! Patterns with `*`, which stands for any characters, also none.

/// A pattern that was split at its stars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wildcard {
    parts: Box<[Box<str>]>,
}

impl Wildcard {
    /// A pattern; `None` if it has no star.
    pub fn new(pattern: &str) -> Option<Self> {
        pattern.contains('*').then(|| Self { parts: pattern.split('*').map(Into::into).collect() })
    }

    /// Whether the text fits.
    pub fn matches(&self, text: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tries every length for each star.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|taken| naive(rest, &text[taken..])),
            Some((c, rest)) => text.first() == Some(c) && naive(rest, &text[1..]),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn agrees_with_every_way_to_fill_the_stars(pattern in "[ab*é]{0,7}", text in "[abé]{0,8}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            match Wildcard::new(&pattern) {
                Some(wildcard) => prop_assert_eq!(wildcard.matches(&text), naive(&chars(&pattern), &chars(&text))),
                None => prop_assert!(!pattern.contains('*')),
            }
        }
    }
}
