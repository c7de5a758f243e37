//! The options of the grammar. [`Keyword`] has one row for each; errors, usage texts and COMMAND DOCS are derived from
//! it.

use redis_rl_algorithm::integer::{parse_count, parse_unsigned};
use redis_rl_algorithm::period::Anchor;
use redis_rl_algorithm::{Cost, Micros, Traits, Window};

use super::doc;
use super::form::Form;
use super::name::Name;
use crate::error::{Error, Message};
use crate::ffi::{Args, Argument, ArgumentKind};

/// A command, or a part of one, that takes options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taker {
    /// `RL.<ALGO>`.
    Check,
    Peek,
    /// A limit of RL.MULTI.
    Multi,
    /// A limit of RL.SHARE.
    Share,
    Refund,
    Settle,
    Reset,
}

impl Taker {
    const fn name(self) -> &'static str {
        match self {
            Self::Check => "RL.<ALGO>",
            Self::Peek => "RL.PEEK",
            Self::Multi => "RL.MULTI",
            Self::Share => "RL.SHARE",
            Self::Refund => "RL.REFUND",
            Self::Settle => "RL.SETTLE",
            Self::Reset => "RL.RESET",
        }
    }

    /// What comes before the options.
    const fn last_before_options(self) -> &'static str {
        match self {
            Self::Check | Self::Peek | Self::Multi | Self::Share | Self::Refund | Self::Settle => "limit",
            Self::Reset => "window",
        }
    }

    /// Whether the form of the reply comes among the options. In RL.MULTI and RL.SHARE it comes after the last limit.
    const fn takes_form(self) -> bool {
        match self {
            Self::Check | Self::Peek | Self::Refund | Self::Settle => true,
            Self::Multi | Self::Share | Self::Reset => false,
        }
    }

    /// The options that the command requires.
    const fn requires(self, algorithm: Option<Name>) -> Keywords {
        match (self, algorithm) {
            (Self::Check, Some(name)) if name.traits().id => Keywords::NONE.with(Keyword::Id),
            (Self::Settle, _) => Keywords::NONE.with(Keyword::Actual),
            _ => Keywords::NONE,
        }
    }
}

/// Reads the rows.
macro_rules! keywords {
    ($(
        #[doc = $text:literal]
        $keyword:ident = $word:literal $(, value $placeholder:literal, $kind:ident $(($inner:expr))?, expected $expected:literal)?;
        argument $name:literal;
        commands $($command:ident)+;
        algorithms $column:ident;
    )+) => {
        /// The word of an option.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Keyword { $(#[doc = $text] $keyword,)+ }

        impl Keyword {
            /// In the order of usage texts and COMMAND DOCS.
            const ALL: &'static [Self] = &[$(Self::$keyword),+];

            /// The keyword that a word of a call is, in any case.
            pub fn from_word(word: &[u8]) -> Option<Self> {
                $(if word.eq_ignore_ascii_case($word.as_bytes()) {
                    return Some(Self::$keyword);
                })+
                None
            }

            const fn word(self) -> &'static str {
                match self { $(Self::$keyword => $word,)+ }
            }

            /// The word with its value: `COST n`.
            const fn syntax(self) -> &'static str {
                match self { $(Self::$keyword => concat!($word $(, " ", $placeholder)?),)+ }
            }

            /// What the option does, and what its value is.
            const fn help(self) -> (&'static str, Option<&'static str>) {
                match self { $(Self::$keyword => ($text, keywords!(@expected $($expected)?)),)+ }
            }

            /// The option in COMMAND DOCS.
            const fn argument(self) -> Argument {
                match self {
                    $(Self::$keyword => keywords!(@argument $name, $word $(, $kind $(($inner))?)?),)+
                }
            }

            const fn is_taken_in(self, taker: Taker) -> bool {
                match self { $(Self::$keyword => matches!(taker, $(Taker::$command)|+),)+ }
            }

            const fn commands_in_words(self) -> &'static [&'static str] {
                match self { $(Self::$keyword => const { &[$(Taker::$command.name()),+] },)+ }
            }

            /// Whether an algorithm takes it, in any command that does.
            const fn is_taken_by(self, traits: &Traits) -> bool {
                match self { $(Self::$keyword => keywords!(@taken traits $column),)+ }
            }

            /// The error for a value that is missing.
            const fn missing(self) -> Error {
                match self {
                    $(Self::$keyword => Error::new(Message::Text(c_str!(
                        "ERR invalid ", $word, ": its value is missing" $(, "; expected ", $expected)?
                    ))),)+
                }
            }

            /// The error for a value that is none.
            const fn wrong(self) -> Error {
                match self {
                    $(Self::$keyword => Error::new(Message::Text(c_str!("ERR invalid ", $word $(, ": expected ", $expected)?))),)+
                }
            }

            /// The error for an option that comes twice.
            const fn twice(self) -> Error {
                match self {
                    $(Self::$keyword => Error::new(Message::Text(c_str!(
                        "ERR syntax error: ", $word $(, " ", $placeholder)?, " comes at most once"
                    ))),)+
                }
            }
        }
    };
    (@argument $name:literal, $word:literal) => {
        Argument::new(c_str!($name), ArgumentKind::Token).after(c_str!($word))
    };
    (@argument $name:literal, $word:literal, $kind:ident $(($inner:expr))?) => {
        Argument::new(c_str!($name), ArgumentKind::$kind $(($inner))?).after(c_str!($word))
    };
    (@expected) => { None };
    (@expected $expected:literal) => { Some($expected) };
    (@taken $traits:ident every) => { true };
    (@taken $traits:ident $column:ident) => { $traits.$column };
}

keywords! {
    /// The cost of the request.
    Cost = "COST", value "n", Integer, expected "an integer from 0 to 9223372036854775807";
        argument "cost";
        commands Check Peek Multi Share Refund;
        algorithms cost;
    /// Charges as much of the cost as fits.
    Partial = "PARTIAL";
        argument "partial";
        commands Check Peek;
        algorithms partial;
    /// Charges the cost whatever the limit says.
    Always = "ALWAYS";
        argument "always";
        commands Check Peek;
        algorithms always;
    /// What the request was charged.
    Reserved = "RESERVED", value "n", Integer, expected "an integer from 0 to 9223372036854775807";
        argument "reserved";
        commands Settle;
        algorithms settle;
    /// What the request turned out to cost.
    Actual = "ACTUAL", value "m", Integer, expected "an integer from 0 to 9223372036854775807";
        argument "actual";
        commands Settle;
        algorithms settle;
    /// When the request was charged.
    At = "AT", value "ms", Integer, expected "an integer of Unix milliseconds from 0 to 9223372036854775807";
        argument "unix_time_milliseconds";
        commands Refund Settle;
        algorithms refund;
    /// How much may pass at once.
    Burst = "BURST", value "n", Integer, expected "an integer from 1 to 9223372036854775807";
        argument "burst";
        commands Check Peek Multi Share Refund Settle;
        algorithms burst;
    /// The length of the first lock; the window if not given.
    Block = "BLOCK", value "d", String, expected "a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds";
        argument "block";
        commands Check Peek Multi Refund;
        algorithms lock;
    /// The length of the longest lock, at least that of the first.
    Max = "MAX", value "d", String, expected "a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds";
        argument "max";
        commands Check Peek Multi Refund;
        algorithms lock;
    /// When the windows start.
    Anchor = "ANCHOR", value "t", Integer, expected "an integer of Unix seconds from 0 to 253402300799";
        argument "anchor";
        commands Check Peek Multi Share Refund Settle Reset;
        algorithms anchor;
    /// The holder of a lease.
    Id = "ID", value "id", String, expected "1 to 512 bytes";
        argument "id";
        commands Check Peek Multi;
        algorithms id;
    /// The name of the policy in the headers.
    As = "AS", value "name", String, expected "a name of 1 to 64 characters of A-Z a-z 0-9 . _ -";
        argument "name";
        commands Check Peek Multi Share;
        algorithms every;
    /// Decides and counts as usual, but does not deny.
    Shadow = "SHADOW";
        argument "shadow";
        commands Check Peek Multi Share;
        algorithms every;
    /// The charge is a reservation under this id. It is given back after the ttl unless it is settled.
    Reserve = "RESERVE", value "id ttl", Block(doc::RESERVATION), expected "an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds";
        argument "reservation";
        commands Check Multi;
        algorithms reserve;
    /// The reservation to settle.
    Reservation = "RESERVATION", value "id", String, expected "an id of 1 to 128 bytes";
        argument "reservation_id";
        commands Settle;
        algorithms reserve;
}

impl Keyword {
    /// The line of RL.HELP about the option with this word.
    pub fn help_line(word: &str) -> Option<String> {
        let keyword = Self::from_word(word.as_bytes())?;
        let (text, expected) = keyword.help();
        let expected = expected.map_or(String::new(), |expected| format!(" It is {expected}."));
        Some(format!("{}:{text}{expected}", keyword.syntax()))
    }

    /// How many words its value has.
    pub fn values(self) -> usize {
        self.syntax().bytes().filter(|&byte| byte == b' ').count()
    }

    /// The error for an option that cannot be read from `values`, the words after it.
    #[cold]
    fn invalid(self, mut values: Args<'_>) -> Error {
        let is_complete = (0..self.values()).all(|_| values.next_word().is_some());
        if is_complete { self.wrong() } else { self.missing() }
    }

    /// The error for an option that the command does not take.
    const fn only_for_commands(self) -> Error {
        Error::new(Message::OnlyFor { option: self.word(), takers: self.commands_in_words() })
    }
}

/// A set of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keywords(u16);

// Each keyword has a bit.
const _: () = assert!(Keyword::ALL.len() <= u16::BITS as usize);

impl Keywords {
    const NONE: Self = Self(0);

    const fn with(self, keyword: Keyword) -> Self {
        Self(self.0 | 1 << keyword as u8)
    }

    pub const fn has(self, keyword: Keyword) -> bool {
        self.0 & 1 << keyword as u8 != 0
    }
}

/// A list that a constant expression makes.
pub struct List<T: 'static, const N: usize> {
    items: [T; N],
    len: usize,
}

impl<T: Copy, const N: usize> List<T, N> {
    pub const fn new(fill: T) -> Self {
        Self { items: [fill; N], len: 0 }
    }

    // An index beyond the end does not compile: lists are made in constants only.
    #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
    pub const fn push(mut self, item: T) -> Self {
        self.items[self.len] = item;
        self.len += 1;
        self
    }

    pub const fn as_slice(&self) -> &[T] {
        self.items.split_at(self.len).0
    }
}

/// At least the number of arguments of any command.
pub const MOST_ARGUMENTS: usize = 24;

/// The options of one command under one algorithm, or under any.
pub struct Grammar {
    taker: Taker,
    algorithm: Option<Name>,
    by_command: Keywords,
    by_algorithm: Keywords,
    syntaxes: List<&'static str, MOST_ARGUMENTS>,
}

impl Grammar {
    /// The options that a command takes for an algorithm; `None` is any algorithm.
    pub const fn new(taker: Taker, algorithm: Option<Name>) -> Self {
        let (mut by_command, mut by_algorithm, mut syntaxes) = (Keywords::NONE, Keywords::NONE, List::new(""));
        let mut all = Keyword::ALL;
        while let [keyword, rest @ ..] = all {
            let in_command = keyword.is_taken_in(taker);
            let in_algorithm = match algorithm {
                Some(name) => keyword.is_taken_by(name.traits()),
                None => true,
            };
            if in_command {
                by_command = by_command.with(*keyword);
            }
            if in_algorithm {
                by_algorithm = by_algorithm.with(*keyword);
            }
            if in_command && in_algorithm {
                syntaxes = syntaxes.push(keyword.syntax());
            }
            all = rest;
        }
        // In RL.MULTI and RL.SHARE the form follows the options of the last limit.
        if !matches!(taker, Taker::Reset) {
            let mut forms = Form::WORDS;
            while let [word, rest @ ..] = forms {
                syntaxes = syntaxes.push(word);
                forms = rest;
            }
        }
        Self { taker, algorithm, by_command, by_algorithm, syntaxes }
    }

    /// The error for a word that is no option here.
    #[cold]
    pub fn usage(&'static self) -> Error {
        Error::new(Message::Usage { after: self.taker.last_before_options(), options: self.syntaxes.as_slice() })
    }

    /// `head`, and then the options, in COMMAND DOCS.
    pub const fn arguments(&self, head: &[Argument]) -> List<Argument, MOST_ARGUMENTS> {
        let mut list = List::new(doc::KEY);
        let mut head = head;
        while let [argument, rest @ ..] = head {
            list = list.push(*argument);
            head = rest;
        }
        let required = self.taker.requires(self.algorithm);
        let mut all = Keyword::ALL;
        while let [keyword, rest @ ..] = all {
            if self.by_command.has(*keyword) && self.by_algorithm.has(*keyword) {
                let argument = keyword.argument();
                list = list.push(if required.has(*keyword) { argument } else { argument.optional() });
            }
            all = rest;
        }
        if self.taker.takes_form() { list.push(Form::ARGUMENT) } else { list }
    }

    /// Rejects an option that the command or the algorithm does not take.
    fn require(&self, keyword: Keyword) -> Result<(), Error> {
        if !self.by_command.has(keyword) {
            return Err(keyword.only_for_commands());
        }
        match self.algorithm {
            Some(name) if !self.by_algorithm.has(keyword) => {
                Err(Error::new(Message::NotTakenBy { algorithm: name.word(), option: keyword.word() }))
            }
            _ => Ok(()),
        }
    }
}

/// The options of one limit, in any order, each at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options<'c> {
    pub given: Keywords,
    pub cost: Option<Cost>,
    pub burst: Option<u64>,
    pub block: Option<Window>,
    pub max: Option<Window>,
    pub anchor: Option<Anchor>,
    pub id: Option<&'c [u8]>,
    pub name: Option<&'c str>,
    pub at: Option<Micros>,
    pub reserved: Option<Cost>,
    pub actual: Option<Cost>,
    pub reserve: Option<Reserve<'c>>,
    /// The id of the reservation to settle.
    pub reservation: Option<&'c [u8]>,
}

/// The option RESERVE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserve<'c> {
    pub id: &'c [u8],
    pub ttl: Window,
}

/// Options that exclude each other, and their words.
static EXCLUSIVE: [([Keyword; 2], [&str; 2]); 4] = [
    exclusive(Keyword::Partial, Keyword::Always),
    exclusive(Keyword::Reserve, Keyword::Always),
    exclusive(Keyword::Reserved, Keyword::Reservation),
    exclusive(Keyword::Reservation, Keyword::At),
];

const fn exclusive(one: Keyword, other: Keyword) -> ([Keyword; 2], [&'static str; 2]) {
    ([one, other], [one.word(), other.word()])
}

impl<'c> Options<'c> {
    pub const NONE: Self = Self {
        given: Keywords::NONE,
        cost: None,
        burst: None,
        block: None,
        max: None,
        anchor: None,
        id: None,
        name: None,
        at: None,
        reserved: None,
        actual: None,
        reserve: None,
        reservation: None,
    };

    /// Takes options from `words` up to the first word that is none, and the form of the reply where it is among them.
    pub fn parse(words: &mut Args<'c>, grammar: &Grammar) -> Result<(Self, Form), Error> {
        let mut options = Self::NONE;
        let mut form = Form::Verdict;
        loop {
            let mut ahead = words.clone();
            let Some(word) = ahead.next_word() else { return Ok((options, form)) };
            if let Some(keyword) = Keyword::from_word(word) {
                grammar.require(keyword)?;
                if options.given.has(keyword) {
                    return Err(keyword.twice());
                }
                options.given = options.given.with(keyword);
                let values = ahead.clone();
                options.read(keyword, &mut ahead).ok_or_else(|| keyword.invalid(values))?;
                options.require_compatible()?;
            } else if let Some(named) = Form::from_word(word).filter(|_| grammar.taker.takes_form()) {
                form = form.and(named)?;
            } else {
                return Ok((options, form));
            }
            *words = ahead;
        }
    }

    /// Reads the value of an option. `None` if it is missing or invalid.
    fn read(&mut self, keyword: Keyword, words: &mut Args<'c>) -> Option<()> {
        match keyword {
            Keyword::Cost => self.cost = Some(parse_cost(words)?),
            Keyword::Reserved => self.reserved = Some(parse_cost(words)?),
            Keyword::Actual => self.actual = Some(parse_cost(words)?),
            Keyword::Burst => self.burst = Some(words.next_word().and_then(parse_count).filter(|&burst| burst > 0)?),
            Keyword::Block => self.block = Some(words.next_word().and_then(Window::from_text)?),
            Keyword::Max => self.max = Some(words.next_word().and_then(Window::from_text)?),
            Keyword::Anchor => {
                let seconds = words.next_word().and_then(parse_unsigned)?;
                self.anchor = Some(Anchor::from_seconds(seconds)?);
            }
            Keyword::Id => self.id = Some(words.next_word().filter(|id| is_id(id))?),
            Keyword::As => self.name = Some(words.next_word().and_then(parse_name)?),
            Keyword::At => {
                self.at = Some(Micros::from_millis(words.next_word().and_then(parse_count)?));
            }
            Keyword::Reserve => {
                let id = words.next_word().filter(|id| is_reservation_id(id))?;
                self.reserve = Some(Reserve { id, ttl: words.next_word().and_then(Window::from_text)? });
            }
            Keyword::Reservation => self.reservation = Some(words.next_word().filter(|id| is_reservation_id(id))?),
            // They have no value.
            Keyword::Partial | Keyword::Always | Keyword::Shadow => {}
        }
        Some(())
    }

    /// Rejects options that exclude each other.
    fn require_compatible(&self) -> Result<(), Error> {
        let both = EXCLUSIVE.iter().find(|(pair, _)| pair.iter().all(|&keyword| self.given.has(keyword)));
        both.map_or(Ok(()), |(_, words)| {
            Err(Error::new(Message::OfWords { words, joined_by: "and", rule: "exclude each other" }))
        })
    }
}

fn parse_cost(words: &mut Args<'_>) -> Option<Cost> {
    words.next_word().and_then(parse_count).and_then(Cost::new)
}

/// Whether a holder of a lease may have this name: 1 to 512 bytes.
pub fn is_id(text: &[u8]) -> bool {
    (1..=512).contains(&text.len())
}

/// Whether a reservation may have this id: 1 to 128 bytes.
fn is_reservation_id(text: &[u8]) -> bool {
    (1..=128).contains(&text.len())
}

/// 1 to 64 characters that need no quoting in a header.
fn parse_name(text: &[u8]) -> Option<&str> {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let valid = (1..=64).contains(&text.len()) && text.iter().all(allowed);
    std::str::from_utf8(text).ok().filter(|_| valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_1_to_so_many_bytes() {
        assert_eq!([0, 1, 512, 513].map(|len| is_id(&vec![0xff; len])), [false, true, true, false]);
        assert_eq!([0, 1, 128, 129].map(|len| is_reservation_id(&vec![0; len])), [false, true, true, false]);
    }
}
