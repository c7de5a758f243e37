//! Words that no command takes for an integer or a window.

const NO_INTEGERS: &[&[u8]] = &[
    b"", b"-1", b"-0", b"+1", b"01", b"00", b"1.5", b"1.", b" 1", b"1 ", b"\t1", b"1\n", b"x", b"1e3", b"nan", b"inf",
    b"0x10", b"1_000", b"1s", b"FULL", b"1\0", b"\0", b"\x001", b"\xff", b"1\xff",
];
const NO_WINDOWS: &[&[u8]] =
    &[b"0", b"1 s", b"0ms", b"0d", b"-5s", b"01s", b"ms", b"s", b"1S", b"1MS", b"1w", b"1sm", b"1us", b"11574075d"];
const TOO_LARGE: &[&[u8]] = &[
    b"\xd9\xa1",
    b"1000000000001",
    b"1000000000000001ms",
    b"9223372036854775807",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"18446744073709551617",
    b"99999999999999999999999999",
];

pub const BAD_WORDS: [&[&[u8]]; 3] = [NO_INTEGERS, NO_WINDOWS, TOO_LARGE];
