//! The names of fields: one for each thing, whatever a log calls it.

/// A field of requests, by its number in the order in which the fields were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field(pub(super) usize);

/// What a column of a log is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// For the field of its name alone.
    Other,
    /// When the request was logged, at its end.
    Time,
    /// When the request began.
    Start,
    /// How long it took, and the µs of a unit; without a unit, seconds if there is a point, else ms.
    Duration(Option<i64>),
    /// Method and path, perhaps with a protocol.
    RequestLine { method: Option<Field>, path: Option<Field> },
    /// The client's address, perhaps with a port.
    Address,
    /// The addresses in X-Forwarded-For. The last one is the client's, unless a column has that.
    Forwarded { address: Option<Field> },
}

/// Where the value of a column goes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub role: Role,
    pub field: Option<Field>,
}

/// The names that a field has in logs, besides its own.
const ALIASES: [(&str, &[&str]); 13] = [
    ("time", &["timestamp", "@timestamp", "ts", "time_local", "time_iso8601", "msec", "datetime", "date"]),
    ("start_time", &["startutc", "request_start"]),
    ("duration", &["request_time", "duration_ms", "duration_us"]),
    ("request", &["request_line"]),
    ("method", &["request_method", "requestmethod"]),
    ("path", &["request_uri", "uri", "url", "request_path", "requestpath"]),
    ("host", &["authority", "requesthost", "vhost"]),
    (
        "address",
        &["remote_addr", "remote_ip", "client_ip", "clienthost", "remote_address", "downstream_remote_address", "ip"],
    ),
    ("user", &["remote_user", "username"]),
    ("status", &["response_code", "status_code", "downstreamstatus"]),
    ("bytes", &["body_bytes_sent", "bytes_sent", "size", "downstreamcontentsize"]),
    ("user_agent", &[]),
    ("referer", &["referrer"]),
];

/// The fields that were asked for.
#[derive(Debug, Default)]
pub struct Names(Vec<String>);

impl Names {
    /// The field of a name, as a log or as [`ALIASES`] has it. Capitals do not matter, and `-` is `_`.
    pub fn find(&mut self, name: &str) -> Field {
        let name = usual(name);
        self.field(&name).unwrap_or_else(|| {
            self.0.push(name);
            Field(self.0.len() - 1)
        })
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn field(&self, name: &str) -> Option<Field> {
        self.0.iter().position(|wanted| wanted == name).map(Field)
    }

    /// Where the values of a column go.
    pub fn target(&self, column: &str) -> Target {
        let name = usual(column);
        let role = match name.as_str() {
            "time" => Role::Time,
            "start_time" => Role::Start,
            "duration" => Role::Duration(match column.rsplit('_').next() {
                Some("time") => Some(1_000_000),
                Some("ms") => Some(1_000),
                Some("us") => Some(1),
                _ => None,
            }),
            "request" => Role::RequestLine { method: self.field("method"), path: self.field("path") },
            "address" => Role::Address,
            "x_forwarded_for" => Role::Forwarded { address: self.field("address") },
            _ => Role::Other,
        };
        Target { role, field: self.field(&name) }
    }
}

/// The name that a field has here, whatever a log calls it.
pub fn usual(name: &str) -> String {
    let name = name.trim().to_lowercase().replace('-', "_");
    let name = name.strip_prefix("http_").unwrap_or(&name);
    let known = |name: &str| {
        ALIASES.iter().find(|(usual, others)| *usual == name || others.contains(&name)).map(|(usual, _)| *usual)
    };
    // As Caddy and Node's loggers write them.
    let inner = ["request.headers.", "req.headers.", "request.", "req."].iter().find_map(|at| name.strip_prefix(at));
    known(name).or_else(|| inner.and_then(known)).unwrap_or(name).to_owned()
}
