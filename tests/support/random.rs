//! Random numbers that are the same for the same seed.

use std::{env, thread};

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub struct Random {
    state: u64,
    seed: u64,
}

/// What a random test runs with: three seeds, or the one that SEED names.
pub fn randoms() -> impl Iterator<Item = Random> {
    let named = env::var("SEED").ok().map(|seed| seed.parse().expect("SEED is a number"));
    named.map_or(0..3, |seed| seed..seed + 1).map(Random::new)
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { state: seed, seed }
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// A number from 0 to `end` − 1.
    pub fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A test that fails names the seed.
impl Drop for Random {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}: seed {}", thread::current().name().unwrap_or("test"), self.seed);
        }
    }
}
