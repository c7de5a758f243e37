//! A client that reads what the server sends byte by byte and takes nothing for granted.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::support::{PATIENCE, Server};

/// A command: its name and its arguments.
pub type Call = Vec<Vec<u8>>;

#[derive(Clone, PartialEq, Eq)]
pub enum Reply {
    Simple(Vec<u8>),
    Error(Vec<u8>),
    Integer(i64),
    Bulk(Vec<u8>),
    Nil,
    Array(Vec<Reply>),
    /// Keys and values in turn.
    Map(Vec<Reply>),
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Simple(text) => write!(f, "+{}", text.escape_ascii()),
            Self::Error(text) => write!(f, "-{}", text.escape_ascii()),
            Self::Integer(n) => write!(f, "{n}"),
            Self::Bulk(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Self::Nil => write!(f, "nil"),
            Self::Array(parts) | Self::Map(parts) => f.debug_list().entries(parts).finish(),
        }
    }
}

pub struct Client(BufReader<TcpStream>);

impl Client {
    pub fn connect(server: &Server, resp3: bool) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
        stream.set_read_timeout(Some(6 * PATIENCE)).expect("a timeout");
        stream.set_nodelay(true).expect("no delay");
        let mut client = Self(BufReader::with_capacity(1 << 16, stream));
        if resp3 {
            client.call(&call(&["HELLO", "3"]));
        }
        client
    }

    /// One command, one reply.
    pub fn call(&mut self, call: &Call) -> Reply {
        self.pipeline(std::slice::from_ref(call)).remove(0)
    }

    /// As many replies as commands.
    pub fn pipeline(&mut self, calls: &[Call]) -> Vec<Reply> {
        let mut bytes = Vec::new();
        for call in calls {
            write!(bytes, "*{}\r\n", call.len()).expect("memory");
            for argument in call {
                write!(bytes, "${}\r\n", argument.len()).expect("memory");
                bytes.extend_from_slice(argument);
                bytes.extend_from_slice(b"\r\n");
            }
        }
        self.0.get_mut().write_all(&bytes).expect("the server takes it");
        calls.iter().map(|_| self.read()).collect()
    }

    fn read(&mut self) -> Reply {
        let mut line = Vec::new();
        self.0.read_until(b'\n', &mut line).expect("a reply");
        assert!(line.ends_with(b"\r\n"), "no reply but {}", line.escape_ascii());
        let (mark, rest) = (line[0], &line[1..line.len() - 2]);
        let number = || std::str::from_utf8(rest).ok().and_then(|text| text.parse::<i64>().ok());
        let count = || number().unwrap_or_else(|| panic!("no number: {}", line.escape_ascii()));
        match mark {
            b'+' => Reply::Simple(rest.to_vec()),
            b'-' => Reply::Error(rest.to_vec()),
            b':' => Reply::Integer(count()),
            b'_' => Reply::Nil,
            b'$' | b'*' if count() == -1 => Reply::Nil,
            b'$' => {
                let mut bytes = vec![0; usize::try_from(count()).expect("a length") + 2];
                self.0.read_exact(&mut bytes).expect("a bulk string");
                assert!(bytes.ends_with(b"\r\n"), "a bulk string without its end");
                bytes.truncate(bytes.len() - 2);
                Reply::Bulk(bytes)
            }
            b'*' | b'~' => Reply::Array((0..count()).map(|_| self.read()).collect()),
            b'%' => Reply::Map((0..2 * count()).map(|_| self.read()).collect()),
            _ => panic!("nothing that a command here answers: {}", line.escape_ascii()),
        }
    }
}

/// A command of text.
pub fn call(words: &[&str]) -> Call {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}
