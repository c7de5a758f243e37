//! Sequences of requests, RESERVE and SETTLE with RESERVATION, against the oracle of the algorithms' tests; and under a
//! clock that steps and windows that change: a call that is sent again changes nothing.
//! guarantee: reservations

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use redis_rl_algorithm::in_memory::{InMemory, Limit};
use redis_rl_algorithm::integer::parse_unsigned;
use redis_rl_algorithm::reservation::{EARLIEST, Reservation};
use redis_rl_algorithm::{
    Cost, FixedWindow, Micros, Policy, RollingLog, SlidingCounter, Window, WindowCounter,
};

#[path = "../../algorithm/src/tests/reservation/oracle.rs"]
mod oracle;

use oracle::{Call, Kind, agrees, repeats_change_nothing};

/// 2023-11-14 22:13:20 UTC.
const T0: u64 = 1_700_000_000_000_000;

fn millis(millis: u64) -> Window {
    Window::from_millis(millis).expect("at least one millisecond")
}

fn cost(units: u64) -> Cost {
    Cost::new(units).expect("a small number")
}

fn policy(window: u64, limit: u64) -> Policy {
    Policy::new(millis(window), limit)
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Action {
    Request(u8),
    /// The id, the milliseconds of the ttl, and the units.
    Reserve(u8, u16, u8),
    Settle(u8, u8),
    Reset,
}

impl Action {
    fn call(self) -> Call {
        // Few ids, so that they are met again.
        match self {
            Self::Request(units) => Call::Request { units: units.into() },
            Self::Reserve(id, ttl, units) => Call::Reserve { id: id % 4, ttl: u64::from(ttl) + 1, units: units.into() },
            Self::Settle(id, units) => Call::Settle { id: id % 4, units: units.into() },
            Self::Reset => Call::Reset,
        }
    }
}

/// The time between two calls.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Pause {
    None,
    Micros(u32),
    /// So many windows, and milliseconds more or less: where what was charged stops to count. Or until the reservation
    /// that was made last ends, or its mark, and up to a millisecond more or less.
    Until(u8, i8),
}

/// The times of the calls, in microseconds.
#[derive(Default)]
struct Times {
    now: u64,
    /// When the reservation that was made last began, and its ttl, in milliseconds.
    reserved: (u64, u64),
}

impl Times {
    /// The pause before a call, in microseconds.
    fn next(&mut self, pause: Pause, action: Action) -> u64 {
        let micros = match pause {
            Pause::None => 0,
            Pause::Micros(micros) => u64::from(micros) % 4_000_000,
            Pause::Until(what, millis) => match what % 5 {
                windows @ 0..3 => {
                    ((i64::from(windows) + 1) * 1_000_000 + i64::from(millis) * 1_000).unsigned_abs()
                }
                ttls => {
                    let (began, ttl) = self.reserved;
                    let ends_at = began + ttl * u64::from(ttls - 2);
                    (ends_at * 1_000).saturating_add_signed(i64::from(millis / 64) * 1_000).saturating_sub(self.now)
                }
            },
        };
        self.now += micros;
        if let Action::Reserve(_, ttl, _) = action {
            self.reserved = (self.now / 1_000, u64::from(ttl) + 1);
        }
        micros
    }
}

#[derive(Arbitrary, Debug)]
struct Input {
    algorithm: u8,
    limit: u8,
    calls: Vec<(Pause, Action)>,
    /// How far the clock steps, and the milliseconds of the window.
    steps: Vec<(i32, u16, Action)>,
}

fn run<A: InMemory>(kind: Kind, input: &Input) {
    let mut times = Times::default();
    let call = |&(pause, action): &(Pause, Action)| (times.next(pause, action), action.call());
    let calls: Vec<_> = input.calls.iter().take(64).map(call).collect();
    agrees::<A>(kind, u64::from(input.limit) + 1, &calls);
    let step = |&(step, window, action): &(i32, u16, Action)| (step.into(), u64::from(window) + 1, action.call());
    let steps: Vec<_> = input.steps.iter().take(64).map(step).collect();
    repeats_change_nothing::<A>(&steps);
}

fuzz_target!(|input: Input| match input.algorithm % 4 {
    0 => run::<FixedWindow>(Kind::Fixed, &input),
    1 => run::<WindowCounter>(Kind::Window, &input),
    2 => run::<SlidingCounter>(Kind::Counter, &input),
    _ => run::<RollingLog>(Kind::Rolling, &input),
});
