//! Breadth-first search: every state that a model can be in.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::fmt::{Debug, Write};
use std::hash::{Hash, Hasher};
use std::time::Instant;

/// Something that goes from state to state.
pub trait Model {
    type State: Clone + Eq + Hash;
    type Action: Copy + Debug;

    /// The state in which it begins.
    fn begin(&self) -> Self::State;

    /// Adds what can happen next.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// The state after an action. `None` if nothing happened.
    fn after(&self, state: &Self::State, action: Self::Action) -> Option<Self::State>;

    /// What it promises.
    fn promises(&self) -> Vec<Promise<Self>>;
}

/// What is said of the states of a model.
pub struct Promise<M: Model + ?Sized> {
    text: &'static str,
    always: bool,
    holds: fn(&M, &M::State) -> bool,
}

impl<M: Model> Promise<M> {
    /// It holds in every state.
    pub fn always(text: &'static str, holds: fn(&M, &M::State) -> bool) -> Self {
        Self { text, always: true, holds }
    }

    /// It holds in some state: a bound is reached, or a model is not empty.
    pub fn reached(text: &'static str, holds: fn(&M, &M::State) -> bool) -> Self {
        Self { text, always: false, holds }
    }
}

/// A state that was seen: by which action it was reached first, and from which state.
type Step<A> = Option<(u32, A)>;

/// Visits every state. Returns what was found, to be printed: the number of states and, for each promise that is reached
/// or broken, the shortest sequence of actions that leads there.
///
/// # Errors
/// The same, if a promise is broken or is not reached.
pub fn check<M: Model>(title: &str, model: &M) -> Result<String, String> {
    let (begun, promises) = (Instant::now(), model.promises());
    let mut found: Vec<Option<u32>> = vec![None; promises.len()];
    let (mut seen, mut steps): (HashSet<u128>, Vec<Step<M::Action>>) = (HashSet::new(), Vec::new());
    let (mut level, mut next, mut actions) = (Vec::new(), Vec::new(), Vec::new());

    let begin = model.begin();
    seen.insert(fingerprint(&begin));
    steps.push(None);
    level.push((begin, 0));
    while !level.is_empty() {
        for (state, at) in level.drain(..) {
            for (promise, found) in promises.iter().zip(&mut found) {
                if found.is_none() && (promise.holds)(model, &state) != promise.always {
                    *found = Some(at);
                }
            }
            model.actions(&state, &mut actions);
            for action in actions.drain(..) {
                let Some(after) = model.after(&state, action) else { continue };
                if seen.insert(fingerprint(&after)) {
                    next.push((after, u32::try_from(steps.len()).expect("fewer than 2³² states")));
                    steps.push(Some((at, action)));
                }
            }
        }
        std::mem::swap(&mut level, &mut next);
    }

    let (mut kept, seconds) = (true, begun.elapsed().as_secs_f32());
    let mut text = format!("{title}: {} states in {seconds:.1} s\n", steps.len());
    for (promise, found) in promises.iter().zip(found) {
        let verdict = match (promise.always, found) {
            (true, None) => "always",
            (true, Some(_)) => "BROKEN",
            (false, Some(_)) => "reached",
            (false, None) => "NEVER",
        };
        kept &= promise.always == found.is_none();
        let _ = writeln!(text, "  {verdict}: {}", promise.text);
        if let Some(at) = found {
            let _ = writeln!(text, "    {}", path(&steps, at).join(", "));
        }
    }
    if kept { Ok(text) } else { Err(text) }
}

/// The actions that lead to a state.
fn path<A: Copy + Debug>(steps: &[Step<A>], mut at: u32) -> Vec<String> {
    let mut actions = Vec::new();
    while let Some((from, action)) = steps[at as usize] {
        actions.push(format!("{action:?}"));
        at = from;
    }
    actions.reverse();
    actions
}

/// What stands for a state that was seen: 128 bits, so that no two states of a run have the same.
fn fingerprint(state: &impl Hash) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, state).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter that goes up by 1 or 3, to at most 5.
    struct Counter;

    impl Model for Counter {
        type State = u8;
        type Action = u8;

        fn begin(&self) -> u8 {
            0
        }

        fn actions(&self, _: &u8, actions: &mut Vec<u8>) {
            actions.extend([1, 3]);
        }

        fn after(&self, state: &u8, action: u8) -> Option<u8> {
            Some(state + action).filter(|&sum| sum <= 5)
        }

        fn promises(&self) -> Vec<Promise<Self>> {
            vec![
                Promise::always("below 5", |_, &state| state < 5),
                Promise::reached("4", |_, &state| state == 4),
                Promise::reached("6", |_, &state| state == 6),
            ]
        }
    }

    #[test]
    fn finds_the_shortest_way_and_names_what_fails() {
        let text = check("counter", &Counter).unwrap_err();
        let (title, rest) = text.split_once('\n').unwrap();
        assert!(title.starts_with("counter: 6 states"), "{title}");
        assert_eq!(rest, "  BROKEN: below 5\n    1, 1, 3\n  reached: 4\n    1, 3\n  NEVER: 6\n");
    }
}
