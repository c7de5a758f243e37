//! Nothing that a client sends, and nothing that a key holds, ends the server, damages what is not ours or brings an
//! answer that is not documented.

use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::resp::{Call, Client, Reply, call};
use crate::support::{self, Algorithm, FIGURES, Grammar, Random, Server, for_each_server, randoms, servers};
use crate::{ALGORITHMS, assert_sound, each, report};

#[test]
fn nothing_a_client_sends_ends_the_server() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let calls: u64 = randoms().map(|random| pound(&server, each() / 3, random.seed())).sum();
        assert_sound(&mut server);
        report(&format!("{calls} hostile calls"));
    });
}

/// The same under valgrind's memcheck: nothing is read or written that is not the module's to read or write, nothing is
/// left over. `make memcheck` runs it.
#[test]
#[ignore = "some ten times slower, and wants valgrind"]
fn memcheck_finds_no_error_and_no_leak() {
    // Valgrind takes the place of an allocator that is a library; the wheels' servers have theirs built in.
    let bin = servers().iter().find(|bin| !bin.is_valkey()).expect("a Redis, whose allocator valgrind can replace");
    let findings = TempDir::new().expect("a temporary directory");
    let findings = findings.path().join("findings.xml");
    let output = format!("--xml-file={}", findings.display());
    let mut server = Server::options(bin)
        .under(&[
            "valgrind",
            "--soname-synonyms=somalloc=*jemalloc*",
            "--leak-check=full",
            "--show-leak-kinds=definite",
            "--error-limit=no",
            "--num-callers=40",
            "--xml=yes",
            &output,
        ])
        .start();
    let calls = pound(&server, each(), 7);
    assert_sound(&mut server);
    server.shutdown("NOSAVE");
    let all = fs::read_to_string(&findings).expect("what valgrind found");
    assert!(all.contains("</valgrindoutput>"), "valgrind did not come to its end");
    let errors = || all.split("<error>").skip(1);
    let ours: Vec<&str> = errors().filter(|error| error.contains("libredis_rl")).collect();
    assert!(ours.is_empty(), "{} of the module's:\n{}", ours.len(), ours.join("\n"));
    println!("{bin}: {calls} hostile calls under valgrind, {} errors of the server's own", errors().count());
}

/// Sends hostile calls for so long, and looks at every reply; how many there were.
pub fn pound(server: &Server, time: Duration, seed: u64) -> u64 {
    let mut generator = Generator { random: Random::new(seed), grammar: Grammar::of(&mut server.con()) };
    let mut clients = [Client::connect(server, false), Client::connect(server, true)];
    clients[0].call(&call(&["FLUSHALL"]));
    let foreign = plant(&mut clients[0]);
    let end = Instant::now() + time;
    let mut calls = 0;
    let mut allowed = 0;
    let mut refused = 0;
    let mut round = 0;
    while Instant::now() < end || round < 2 {
        let client = &mut clients[round % 2];
        let (batch, forms): (Vec<Call>, Vec<Form>) = (0..100).map(|_| generator.next()).unzip();
        let replies = client.pipeline(&batch);
        for ((reply, form), call) in replies.iter().zip(forms).zip(&batch) {
            if let Err(why) = check(reply, form) {
                panic!("{why}: {reply:?} to {}", text(call));
            }
            refused += u64::from(matches!(reply, Reply::Error(_)));
            allowed += u64::from(!matches!(reply, Reply::Error(_)) && form != Form::Any);
            calls += 1;
        }
        round += 1;
        if round % 20 == 0 {
            clear(client);
        }
    }
    for (key, before) in &foreign {
        let after = clients[0].call(&vec![b"DUMP".to_vec(), key.clone()]);
        assert!(after == *before, "{} is not what it was", key.escape_ascii());
    }
    assert!(allowed > calls / 10 && refused > calls / 10, "{allowed} answered and {refused} refused of {calls}");
    calls
}

fn text(call: &Call) -> String {
    let words: Vec<String> =
        call.iter().take(60).map(|word| word.iter().take(80).copied().collect()).map(quoted).collect();
    words.join(" ")
}

fn quoted(bytes: Vec<u8>) -> String {
    format!("\"{}\"", bytes.escape_ascii())
}

/// A word in all that is garbage. No error may repeat it.
const SENT: &[u8] = b"zqx7";

/// The bucket of the longest windows used here for keys that must stay.
const BUCKETS: [&str; 2] = ["1", "0"];

/// Values that no algorithm may take for its own, in the commands that make them, without the key.
const OTHER_TYPES: &[&[&str]] = &[
    &["RPUSH", "a", "b"],
    &["HSET", "a", "b"],
    &["SADD", "a", "b"],
    &["XADD", "1-1", "a", "b"],
    &["GEOADD", "1", "1", "a"],
    &["PFADD", "a"],
    &["SETBIT", "100", "1"],
    &["SET", "text"],
    &["SET", ""],
    &["SET", " 1"],
    &["SET", "+1"],
    &["SET", "1.5"],
    &["SET", "01"],
    &["SET", "99999999999999999999999999999999"],
    &["SET", "T:"],
    &["SET", "T:3:500:60000"],
    &["SET", "T:3:500:60000:1700000000000000:"],
    &["SET", "T:-3:500:60000:1700000000000000"],
    &["SET", "L:3:500:0:1700000000000000"],
    &["SET", "L:3:60000:60:1700000000000000"],
    &["SET", "C:60000:9223372036854775807:20:70"],
    &["SET", "C:60000:28333333:20:9223372036854775808"],
    &["SET", "C:60000:28333333:20"],
    &["SET", "\u{0}\u{ff}"],
];

/// Foreign keys, where FIXED looks for its counter as well; with what DUMP says of them.
fn plant(client: &mut Client) -> Vec<(Vec<u8>, Reply)> {
    let mut foreign = Vec::new();
    for (n, words) in OTHER_TYPES.iter().enumerate() {
        // A sorted set is a log.
        if words[0] == "GEOADD" {
            continue;
        }
        for key in [format!("f:{n}"), format!("f:{n}:{}", BUCKETS[0]), format!("f:{n}:{}", BUCKETS[1])] {
            let mut make = call(words);
            make.insert(1, key.clone().into_bytes());
            assert!(!matches!(client.call(&make), Reply::Error(_)), "{words:?}");
            let dump = client.call(&call(&["DUMP", &key]));
            foreign.push((key.into_bytes(), dump));
        }
    }
    foreign
}

/// Forgets what the calls have left, so that it does not grow for ever.
fn clear(client: &mut Client) {
    let Reply::Array(keys) = client.call(&call(&["KEYS", "*"])) else { panic!("KEYS") };
    let keys = keys.into_iter().filter_map(|key| if let Reply::Bulk(key) = key { Some(key) } else { None });
    let ours: Vec<_> = keys.filter(|key| !key.starts_with(b"f:")).collect();
    if !ours.is_empty() {
        let mut unlink = call(&["UNLINK"]);
        unlink.extend(ours);
        client.call(&unlink);
    }
}

/// What a call may answer, besides an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Triple,
    Full,
    Line,
    Headers,
    /// The same with PARTIAL: the first integer is an amount.
    Partial(FormOfOne),
    /// So many limits, each in that form.
    Multi(usize, FormOfOne),
    Integer,
    /// How many leases.
    Count,
    Five,
    /// A call that is not the module's, or one of which nobody knows what it has become.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormOfOne {
    Triple,
    Full,
    Line,
    Headers,
}

impl FormOfOne {
    /// The form of a call with one limit.
    fn alone(self) -> Form {
        match self {
            Self::Triple => Form::Triple,
            Self::Full => Form::Full,
            Self::Line => Form::Line,
            Self::Headers => Form::Headers,
        }
    }
}

struct Generator {
    random: Random,
    grammar: Grammar,
}

const WINDOWS: &[&str] = &["1", "60", "1ms", "500ms", "7s", "5m", "1h", "1d", "1000000000", "1000000000000", "3"];
/// Windows that FIXED alone takes.
const CALENDAR: &[&str] = &["day", "week", "month", "year", "MONTH", "Day"];
const ANCHORS: &[&str] = &["0", "1767225600", "1769860800", "951782400", "4102444800", "253402300799"];
const NAMES: &[&str] = &["x", "x", "x-2", "a.b_C-9", "COST", "FULL", "TOKEN", "64"];
/// Holders of leases. The longest id has 512 bytes.
const IDS: &[&str] = &["a", "a", "b", "c", "COST", "FULL", "ID", "\u{0}", "worker-1"];
/// Unix milliseconds.
const TIMES: &[&str] = &["0", "1795000000000", "1700000000000", "99999999999999", "9223372036854775807"];
const LIMITS: &[&str] =
    &["0", "1", "2", "5", "100", "1000", "4294967296", "9223372036854775806", "9223372036854775807"];
const COUNTS: &[&str] =
    &["0", "1", "1", "2", "3", "1000", "1000001", "2147483648", "9223372036854775806", "9223372036854775807"];
/// The costs of a log. Members by the thousand fill the memory and show nothing new.
const COSTS_OF_A_LOG: &[&str] = &["0", "1", "2", "3", "20", "10001", "9223372036854775807"];
/// Where an integer is wanted.
const GARBAGE: &[&[u8]] = &[
    b"",
    b"0",
    b"-1",
    b"-0",
    b"01",
    b"+1",
    b"1.0",
    b" 1",
    b"1e3",
    b"0x10",
    b"nan",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"340282366920938463463374607431768211456",
    b"1000000000001",
    b"1000000000000001ms",
    b"106751991168d",
    b"18446744073709551615d",
    b"1\0",
    b"\0\xff\xfe",
    b"\xef\xbc\x91",
    b"%s%n%d",
    b"COST",
    b"FULL",
    b"FIXED",
    b"PARTIAL",
    b"AS",
    b"ANCHOR",
    b"AT",
    b"RESERVED",
    b"ACTUAL",
    b"BURST",
    b"SHADOW",
    b"ALWAYS",
    b"LINE",
    b"WINDOW",
    b"month",
    b"months",
    b"253402300800",
    b"1767225600000",
];

impl Generator {
    fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    fn word(&mut self, from: &[&str]) -> Vec<u8> {
        self.random.pick(from).as_bytes().to_vec()
    }

    /// A call, and what it may answer.
    fn next(&mut self) -> (Call, Form) {
        if self.one_in(12) {
            return (self.damage(), Form::Any);
        }
        let (mut call, mut form) = self.well_formed();
        if self.one_in(3) {
            for _ in 0..1 + self.random.below(3) {
                self.mutate(&mut call);
            }
            form = Form::Any;
        }
        match self.random.below(40) {
            // A script's replies are those of the call, as far as Lua has types for them.
            0 if call.len() < 200 => {
                let mut script: Call =
                    [&b"EVAL"[..], b"return redis.pcall(unpack(ARGV))", b"0"].map(<[u8]>::to_vec).into();
                script.append(&mut call);
                (script, Form::Any)
            }
            1 => {
                let mut keys: Call = [&b"COMMAND"[..], b"GETKEYS"].map(<[u8]>::to_vec).into();
                keys.append(&mut call);
                (keys, Form::Any)
            }
            _ => (call, form),
        }
    }

    fn key(&mut self) -> Vec<u8> {
        match self.random.below(8) {
            0 | 1 => format!("f:{}", self.random.below(OTHER_TYPES.len() as u64)).into_bytes(),
            2 => b"".to_vec(),
            3 => {
                let mut key: Vec<u8> = (0..self.random.below(12)).map(|_| self.random.below(256) as u8).collect();
                key.extend_from_slice(b"}{");
                key
            }
            4 if self.one_in(20) => vec![b'k'; 100_000],
            4 | 5 => format!("d:{}", self.random.below(6)).into_bytes(),
            _ => format!("k:{}", self.random.below(20)).into_bytes(),
        }
    }

    /// FIXED's counters of foreign keys are looked after in some windows only.
    fn window(&mut self, algorithm: &Algorithm, key: &[u8]) -> Vec<u8> {
        match key {
            [b'f', b':', ..] => self.word(&["1000000000", "1000000000000"]),
            _ if algorithm.key_per_window && self.one_in(3) => self.word(CALENDAR),
            _ => self.word(WINDOWS),
        }
    }

    /// ANCHOR or nothing, for a window of that key.
    fn anchor(&mut self, algorithm: &Algorithm, key: &[u8]) -> Call {
        if !algorithm.key_per_window || key.starts_with(b"f:") || !self.one_in(3) {
            return Vec::new();
        }
        vec![self.word(&["ANCHOR", "anchor"]), self.word(ANCHORS)]
    }

    /// Adds `key window limit`, and returns what belongs to the window: ANCHOR or nothing.
    fn limited(&mut self, call: &mut Call, algorithm: &Algorithm) -> Call {
        let key = self.key();
        let window = self.window(algorithm, &key);
        let anchor = self.anchor(algorithm, &key);
        call.extend([key, window]);
        call.push(self.word(LIMITS));
        anchor
    }

    fn cost(&mut self, algorithm: &Algorithm) -> Vec<u8> {
        self.word(if algorithm.max_cost < i64::MAX { COSTS_OF_A_LOG } else { COUNTS })
    }

    /// The options of a limit, in any order.
    fn options(&mut self, algorithm: &Algorithm) -> Vec<Call> {
        let mut options: Vec<Call> = Vec::new();
        if self.one_in(2) {
            options.push(vec![self.word(&["COST", "cost", "CoSt"]), self.cost(algorithm)]);
        }
        if algorithm.takes_burst && self.one_in(3) {
            options.push(vec![b"BURST".to_vec(), self.word(COUNTS)]);
        }
        if self.one_in(2) {
            options.reverse();
        }
        options
    }

    /// The same with AS and SHADOW, which belong to a request.
    fn options_and_name(&mut self, algorithm: &Algorithm) -> Vec<Call> {
        let mut options = self.options(algorithm);
        if self.one_in(3) {
            options.push(vec![self.word(&["AS", "as"]), self.word(NAMES)]);
        }
        if self.one_in(4) {
            options.push(vec![self.word(&["SHADOW", "shadow"])]);
        }
        options
    }

    fn form(&mut self) -> (Option<Call>, FormOfOne) {
        match self.random.below(5) {
            0 => (Some(vec![b"FULL".to_vec()]), FormOfOne::Full),
            1 => (Some(vec![self.word(&["LINE", "line"])]), FormOfOne::Line),
            2 => (Some(vec![b"headers".to_vec()]), FormOfOne::Headers),
            _ => (None, FormOfOne::Triple),
        }
    }

    fn well_formed(&mut self) -> (Call, Form) {
        let algorithm = &self.random.pick(support::ALGORITHMS);
        let word: Vec<u8> = algorithm.word().into();
        let mut call = Vec::new();
        match self.random.below(16) {
            0 => {
                let key = self.key();
                let (window, anchor) = (self.window(algorithm, &key), self.anchor(algorithm, &key));
                call.extend([b"RL.RESET".to_vec(), word, key, window]);
                call.extend(anchor);
                return (call, Form::Integer);
            }
            1 => {
                call.push(self.word(&["RL.THROTTLE", "CL.THROTTLE", "cl.throttle"]));
                let key = self.key();
                call.push(key);
                for _ in 0..3 {
                    let number = self.word(COUNTS);
                    call.push(number);
                }
                if self.one_in(2) {
                    call.push(self.word(COUNTS));
                }
                return (call, Form::Five);
            }
            2 => call.extend([b"RL.REFUND".to_vec(), word]),
            3 => call.extend([b"RL.SETTLE".to_vec(), word]),
            4 | 5 => call.extend([b"RL.PEEK".to_vec(), word]),
            6 | 7 => return self.multi(),
            8..=10 => return self.lease(),
            _ => call.push(format!("RL.{}", algorithm.word()).into_bytes()),
        }
        let corrects = [&b"RL.REFUND"[..], b"RL.SETTLE"].contains(&call[0].as_slice());
        let settles = call[0] == b"RL.SETTLE";
        let anchor = self.limited(&mut call, algorithm);
        let mut options = if corrects { self.options(algorithm) } else { self.options_and_name(algorithm) };
        options.push(anchor);
        if settles {
            options.retain(|option| option.first().is_none_or(|word| !word.eq_ignore_ascii_case(b"COST")));
            options.extend([&b"RESERVED"[..], b"ACTUAL"].map(|word| vec![word.to_vec(), self.cost(algorithm)]));
        }
        if corrects && self.one_in(3) {
            options.push(vec![b"AT".to_vec(), self.word(TIMES)]);
        }
        let partial = !corrects && self.one_in(4);
        if partial {
            options.push(vec![self.word(&["PARTIAL", "partial"])]);
        }
        if !corrects && !partial && self.grammar.takes("RL.PEEK", algorithm.word(), "ALWAYS") && self.one_in(4) {
            options.push(vec![self.word(&["ALWAYS", "always"])]);
        }
        let of_one = self.finish(&mut call, options);
        (call, if partial { Form::Partial(of_one) } else { of_one.alone() })
    }

    /// Adds the options and a form, in any order.
    fn finish(&mut self, call: &mut Call, mut options: Vec<Call>) -> FormOfOne {
        let (form, of_one) = self.form();
        options.extend(form);
        if self.one_in(2) {
            options.reverse();
        }
        call.extend(options.into_iter().flatten());
        of_one
    }

    /// RL.LEASE, RL.RENEW, RL.RELEASE, and what other commands do with leases.
    fn lease(&mut self) -> (Call, Form) {
        let key = self.key();
        let name = self.random.pick(&["RL.LEASE", "RL.LEASE", "RL.PEEK", "RL.RESET", "RL.RENEW", "RL.RELEASE"]);
        let mut call = call(&[name]);
        if ["RL.PEEK", "RL.RESET"].contains(&name) {
            call.push(b"LEASE".to_vec());
        }
        call.push(key);
        if name != "RL.RELEASE" {
            call.push(self.word(WINDOWS));
        }
        match name {
            "RL.RESET" => (call, Form::Integer),
            "RL.RENEW" | "RL.RELEASE" => {
                let ids = if self.one_in(50) { 1_001 } else { 1 + self.random.below(4) };
                call.extend((0..ids).map(|_| self.id()));
                (call, Form::Count)
            }
            _ => {
                call.push(self.word(LIMITS));
                let options = self.options_of_lease();
                let of_one = self.finish(&mut call, options);
                (call, of_one.alone())
            }
        }
    }

    fn id(&mut self) -> Vec<u8> {
        if self.one_in(40) { vec![b'i'; 512] } else { self.word(IDS) }
    }

    fn options_of_lease(&mut self) -> Vec<Call> {
        let mut options = vec![vec![self.word(&["ID", "id"]), self.id()]];
        if self.one_in(3) {
            options.push(vec![b"AS".to_vec(), self.word(NAMES)]);
        }
        if self.one_in(4) {
            options.push(vec![b"SHADOW".to_vec()]);
        }
        options
    }

    /// RL.MULTI: options after each limit, the form last.
    fn multi(&mut self) -> (Call, Form) {
        let count = if self.one_in(10) { 64 } else { 1 + self.random.below(5) as usize };
        let mut call = vec![b"RL.MULTI".to_vec(), count.to_string().into_bytes()];
        for _ in 0..count {
            if self.one_in(9) {
                let limit = [b"LEASE".to_vec(), self.key(), self.word(WINDOWS), self.word(LIMITS)];
                call.extend(limit.into_iter().chain(self.options_of_lease().into_iter().flatten()));
                continue;
            }
            let algorithm = &self.random.pick(support::ALGORITHMS);
            call.push(algorithm.word().into());
            let anchor = self.limited(&mut call, algorithm);
            let options = self.options_and_name(algorithm).into_iter().chain([anchor]);
            call.extend(options.flatten());
        }
        let (form, of_one) = self.form();
        call.extend(form.into_iter().flatten());
        (call, Form::Multi(count, of_one))
    }

    fn garbage(&mut self) -> Vec<u8> {
        match self.random.below(6) {
            0 => {
                let mut bytes = SENT.to_vec();
                bytes.extend((0..self.random.below(40)).map(|_| self.random.below(256) as u8));
                bytes
            }
            1 if self.one_in(30) => SENT.repeat(50_000),
            2 => [SENT, self.random.pick(GARBAGE)].concat(),
            _ => self.random.pick(GARBAGE).to_vec(),
        }
    }

    /// Makes something else of a call, the command's name aside.
    fn mutate(&mut self, call: &mut Call) {
        if call.len() < 2 {
            return;
        }
        let at = 1 + self.random.below(call.len() as u64 - 1) as usize;
        let bad = self.garbage();
        match self.random.below(8) {
            0 => {
                call.remove(at);
            }
            1 => call.insert(at, bad),
            2 => call.truncate(at),
            3 => {
                let again = call[at].clone();
                call.insert(at, again);
            }
            4 => {
                let other = 1 + self.random.below(call.len() as u64 - 1) as usize;
                call.swap(at, other);
            }
            5 if bad.len() < 100 && self.one_in(50) => call.extend((0..5_000).map(|_| bad.clone())),
            _ => call[at] = bad,
        }
    }

    /// A write to a key that the calls will find: another type, or a record that may be none.
    fn damage(&mut self) -> Call {
        let mut key = format!("d:{}", self.random.below(6));
        if self.one_in(3) {
            key.push_str(self.random.pick(&[":0", ":1", ":1000000000000000ms:0"]));
        }
        let number = |generator: &mut Self| match generator.random.below(5) {
            0 => generator.random.below(100).to_string(),
            1 => ["60000", "1000", "29916666"][generator.random.below(3) as usize].to_owned(),
            2 => (u64::MAX >> generator.random.below(64)).to_string(),
            3 => (i64::MAX as u64 - generator.random.below(2)).to_string(),
            _ => (1_700_000_000_000_000 + generator.random.below(200_000_000_000_000)).to_string(),
        };
        let mut words = vec![key.clone()];
        let name = match self.random.below(6) {
            0 | 1 => {
                let tag = self.random.pick(&["T:", "L:", "C:", "", "X:"]);
                let count = self.random.pick(&[4, 4, 4, 1, 3, 5]);
                let numbers: Vec<String> = (0..count).map(|_| number(self)).collect();
                words.push(format!("{tag}{}", numbers.join(":")));
                "SET"
            }
            2 => {
                words.push(number(self));
                if self.one_in(2) {
                    words.extend(["PX".into(), (1 + self.random.below(100_000)).to_string()]);
                }
                "SET"
            }
            3 => {
                for member in 0..1 + self.random.below(4) {
                    let score =
                        self.random.pick(&["-inf", "inf", "-1", "0.5", "1e300", "1795000000000", "99999999999999"]);
                    words.extend([score.to_owned(), format!("{member}")]);
                }
                "ZADD"
            }
            4 => "PERSIST",
            _ => {
                let make = self.random.pick(OTHER_TYPES);
                let mut all = call(make);
                all.insert(1, key.into_bytes());
                return all;
            }
        };
        let mut all = vec![name.as_bytes().to_vec()];
        all.extend(words.into_iter().map(String::into_bytes));
        all
    }
}

/// Every error that the module has, word for word: those of src/error.rs, and those that name algorithms.
fn errors() -> &'static [String] {
    static ERRORS: OnceLock<Vec<String>> = OnceLock::new();
    ERRORS.get_or_init(|| {
        let source = include_str!("../../src/error.rs");
        let fixed = source.split("= c\"").skip(1).filter_map(|rest| rest.split('"').next().map(str::to_owned));
        let words = || ALGORITHMS.into_iter().chain(["LEASE"]);
        let mut all: Vec<String> = fixed.collect();
        for option in options() {
            let Row { word, syntax, expected, takers } = &option;
            all.extend(words().map(|algorithm| format!("ERR invalid {word}: {algorithm} takes none")));
            all.push(format!("ERR syntax error: {syntax} comes at most once"));
            all.push(format!("ERR invalid {word}: only {takers} it"));
            all.extend(expected.iter().map(|expected| format!("ERR invalid {word}: expected {expected}")));
        }
        all.push(format!("ERR invalid algorithm: expected one of {}", words().collect::<Vec<_>>().join(", ")));
        all.extend(words().map(|word| format!("ERR invalid window: {word} takes no windows of the calendar")));
        all.push("ERR syntax error: after window comes ANCHOR t or nothing".to_owned());
        all
    })
}

/// A row of the options in src/command/options.rs.
struct Row {
    word: String,
    syntax: String,
    expected: Option<String>,
    /// `RL.PEEK and RL.MULTI take`
    takers: String,
}

/// The options of the grammar, read from their rows.
fn options() -> Vec<Row> {
    let source = include_str!("../../src/command/options.rs");
    let rows = source.split("\nkeywords! {").nth(1).and_then(|rest| rest.split("\n}").next()).expect("the rows");
    let parts: Vec<&str> = rows.split(';').map(str::trim).collect();
    let heads = parts.iter().enumerate().filter(|(_, part)| part.contains(" = \""));
    let options: Vec<Row> = heads
        .map(|(index, head)| {
            let texts: Vec<&str> = head.rsplit("///").next().expect("a row").split('"').skip(1).step_by(2).collect();
            let commands = parts[index + 2].trim_start_matches("commands ").split(' ');
            let names: Vec<String> = commands
                .map(
                    |command| {
                        if command == "Check" { "RL.<ALGO>".into() } else { format!("RL.{}", command.to_uppercase()) }
                    },
                )
                .collect();
            let takers = match names.as_slice() {
                [one] => format!("{one} takes"),
                [first @ .., last] => format!("{} and {last} take", first.join(", ")),
                [] => panic!("{head}"),
            };
            Row {
                word: texts[0].to_owned(),
                syntax: texts[..texts.len().min(2)].join(" "),
                expected: texts.get(2).map(|&text| text.to_owned()),
                takers,
            }
        })
        .collect();
    assert!(options.len() >= 10, "the rows have another form");
    options
}

/// Whether an error lists the options of a command: every word of the list is one.
fn is_usage(error: &str) -> bool {
    let list = error.strip_prefix("ERR syntax error: after limit come ");
    let Some(list) = list.and_then(|list| list.strip_suffix(", each at most once")) else { return false };
    let forms = ["FULL", "LINE", "HEADERS"];
    list.split([','])
        .flat_map(|part| part.split(" or "))
        .all(|part| forms.contains(&part.trim()) || options().iter().any(|option| option.syntax == part.trim()))
}

/// The error without `limit <n>: `, the limit of RL.MULTI that it is about.
fn without_limit(error: &str) -> String {
    let stripped = error.split_once(" limit ").and_then(|(code, rest)| {
        let (number, message) = rest.split_once(": ")?;
        let number: u8 = number.parse().ok()?;
        (1..=64).contains(&number).then(|| format!("{code} {message}"))
    });
    stripped.unwrap_or_else(|| error.to_owned())
}

/// Errors of the server's own: before the module is asked, or of the calls that are not the module's.
const OF_THE_SERVER: &[&str] = &[
    "ERR wrong number of arguments for 'RL.",
    "ERR wrong number of arguments for 'CL.THROTTLE' command",
    "ERR wrong number of arguments for 'command|getkeys' command",
    "ERR Wrong number of args calling",
    "ERR Invalid arguments specified for command",
    "ERR Invalid number of arguments specified for command",
    "ERR The command has no key arguments",
    "ERR value is not an integer or out of range",
    "ERR The ID specified in XADD is equal or smaller",
    "WRONGTYPE ",
];

fn check(reply: &Reply, form: Form) -> Result<(), &'static str> {
    if let Reply::Error(error) = reply {
        let text = std::str::from_utf8(error).map_err(|_| "an error of other bytes than text")?;
        if text.as_bytes().windows(SENT.len()).any(|part| part == SENT) {
            return Err("an error that repeats what was sent");
        }
        let internal = text.contains("internal error");
        let known = errors().contains(&without_limit(text))
            || is_usage(&without_limit(text))
            || OF_THE_SERVER.iter().any(|known| text.starts_with(known));
        return if known && !internal { Ok(()) } else { Err("an error that nobody has documented") };
    }
    let sound = match form {
        Form::Any => true,
        Form::Triple => triple(reply),
        Form::Full => full(reply),
        Form::Line => line(reply),
        Form::Headers => matches!(reply, Reply::Array(parts)
            if parts.len() == 4 && triple(&Reply::Array(parts[..3].to_vec())) && headers(&parts[3])),
        Form::Partial(FormOfOne::Triple) => whole(reply).is_some_and(|reply| triple(&reply)),
        Form::Partial(FormOfOne::Full) => whole(reply).is_some_and(|reply| full(&reply)),
        Form::Partial(FormOfOne::Line) => named(reply).and_then(|full| whole(&full)).is_some_and(|reply| full(&reply)),
        Form::Partial(FormOfOne::Headers) => whole(reply).is_some_and(|reply| check(&reply, Form::Headers).is_ok()),
        Form::Integer => matches!(reply, Reply::Integer(0 | 1)),
        Form::Count => matches!(reply, Reply::Integer(0..=1_000)),
        Form::Five => matches!(reply, Reply::Array(parts) if five(parts)),
        Form::Multi(count, of_one) => multi(reply, count, of_one),
    };
    if sound { Ok(()) } else { Err("no reply of the documented form") }
}

/// The reply with a 1 in place of the amount that PARTIAL took. COST 0 takes nothing although it is allowed: then
/// `retry_after_ms` of FULL is 0.
fn whole(reply: &Reply) -> Option<Reply> {
    let mut reply = reply.clone();
    let (Reply::Array(parts) | Reply::Map(parts)) = &mut reply else { return None };
    let not_denied = parts.len() == 2 * FIGURES.len() && parts[11] == Reply::Integer(0);
    let first = parts.iter_mut().find_map(|part| if let Reply::Integer(n) = part { Some(n) } else { None })?;
    if *first < 0 {
        return None;
    }
    *first = i64::from(*first > 0 || not_denied);
    Some(reply)
}

fn integers<const N: usize>(parts: &[Reply]) -> Option<[i64; N]> {
    let integers = parts.iter().map(|part| if let Reply::Integer(n) = part { Some(*n) } else { None });
    integers.collect::<Option<Vec<_>>>()?.try_into().ok()
}

fn triple(reply: &Reply) -> bool {
    let Reply::Array(parts) = reply else { return false };
    integers(parts).is_some_and(|[allowed, _, ttl]| (0..=1).contains(&allowed) && ttl >= -2)
}

fn five(parts: &[Reply]) -> bool {
    integers(parts).is_some_and(|[limited, limit, remaining, retry, reset]| {
        (0..=1).contains(&limited) && limit >= 1 && (0..=limit).contains(&remaining) && retry >= -1 && reset >= 0
    })
}

fn full(reply: &Reply) -> bool {
    let (Reply::Map(pairs) | Reply::Array(pairs)) = reply else { return false };
    let named = pairs.iter().step_by(2).zip(FIGURES).all(|(key, name)| *key == Reply::Bulk(name.into()));
    let values: Vec<_> = pairs.iter().skip(1).step_by(2).cloned().collect();
    let sound = |[allowed, _, ttl, limit, remaining, retry, next, reset, delay, now, shadow, charged]: [i64; 12]| {
        (0..=1).contains(&allowed)
            && ttl >= -2
            && (0..=limit).contains(&remaining)
            && if allowed == 1 { retry == 0 } else { retry == -1 || retry > 0 }
            && next >= -1
            && (reset == -1 || reset >= next)
            && delay >= 0
            && now > 1_700_000_000_000
            && (shadow == 0 || (shadow == 1 && allowed == 1))
            && charged >= 0
    };
    named && pairs.len() == 2 * FIGURES.len() && integers(&values).is_some_and(sound)
}

fn line(reply: &Reply) -> bool {
    named(reply).is_some_and(|reply| full(&reply))
}

/// The figures of LINE with their names, as FULL replies them.
fn named(reply: &Reply) -> Option<Reply> {
    let Reply::Bulk(line) = reply else { return None };
    let figures: Vec<&str> = std::str::from_utf8(line).ok()?.split(' ').collect();
    if figures.len() != FIGURES.len() {
        return None;
    }
    let pairs = FIGURES.iter().zip(figures).map(|(name, figure)| {
        let integer: i64 = figure.parse().ok()?;
        // As Redis writes integers.
        (integer.to_string() == figure).then(|| [Reply::Bulk((*name).into()), Reply::Integer(integer)])
    });
    Some(Reply::Array(pairs.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect()))
}

fn headers(reply: &Reply) -> bool {
    let Reply::Array(parts) = reply else { return false };
    let text = |part: &Reply| matches!(part, Reply::Bulk(bytes) if !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic_or_blank));
    parts.len() >= 8 && parts.len() <= 12 && parts.len() % 2 == 0 && parts.iter().all(text)
}

trait Printable {
    fn is_ascii_graphic_or_blank(&self) -> bool;
}

impl Printable for u8 {
    fn is_ascii_graphic_or_blank(&self) -> bool {
        self.is_ascii_graphic() || *self == b' '
    }
}

fn multi(reply: &Reply, count: usize, of_one: FormOfOne) -> bool {
    let Reply::Array(parts) = reply else { return false };
    let with_headers = of_one == FormOfOne::Headers;
    let [Reply::Integer(allowed @ 0..=1), Reply::Array(each), rest @ ..] = parts.as_slice() else { return false };
    let one = |reply: &Reply| match of_one {
        FormOfOne::Full => full(reply),
        FormOfOne::Line => line(reply),
        FormOfOne::Triple | FormOfOne::Headers => triple(reply),
    };
    let denies = |reply: &Reply| match reply {
        Reply::Bulk(line) => line.starts_with(b"0 "),
        Reply::Array(parts) | Reply::Map(parts) => {
            parts.iter().find(|part| matches!(part, Reply::Integer(_))) == Some(&Reply::Integer(0))
        }
        _ => false,
    };
    each.len() == count
        && each.iter().all(one)
        && (*allowed == 0) == each.iter().any(denies)
        && match rest {
            [] => !with_headers,
            [list] => with_headers && headers(list),
            _ => false,
        }
}
