//! Which state a request is about: what two requests must share to count together.

use std::hash::{Hash, Hasher};

use quick_cache::Equivalent;

use crate::bounded::Bounded;
use crate::policy::{Algorithm, Policy, Window};

/// Which state of the server a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    algorithm: Algorithm,
    window: Window,
    anchor: Option<u64>,
    key: Box<[u8]>,
}

/// The same, borrowed.
pub struct StateRef<'a> {
    algorithm: Algorithm,
    window: Window,
    anchor: Option<u64>,
    key: &'a [u8],
}

impl<'a> StateRef<'a> {
    pub fn new(policy: &Policy, key: &'a Bounded<'_>) -> Self {
        let (algorithm, window, anchor) = (policy.algorithm(), policy.window(), policy.anchor_seconds());
        Self { algorithm, window, anchor, key }
    }
}

impl State {
    pub fn new(policy: &Policy, key: &Bounded<'_>) -> Self {
        let StateRef { algorithm, window, anchor, key } = StateRef::new(policy, key);
        Self { algorithm, window, anchor, key: key.into() }
    }

    pub fn into_key(self) -> Vec<u8> {
        self.key.into()
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        StateRef { algorithm: self.algorithm, window: self.window, anchor: self.anchor, key: &self.key }.hash(state);
    }
}

impl Hash for StateRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.algorithm.hash(state);
        self.window.hash(state);
        self.anchor.hash(state);
        self.key.hash(state);
    }
}

impl Equivalent<State> for StateRef<'_> {
    fn equivalent(&self, state: &State) -> bool {
        self.key == &*state.key
            && (self.algorithm, self.window, self.anchor) == (state.algorithm, state.window, state.anchor)
    }
}
