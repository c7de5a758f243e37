//! `rlaas why` and `rlaas reset`, which ask a running rlaas.

use std::io::{self, Read as _, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::explain::RequestArgs;
use crate::http::json;

const TIMEOUT: Duration = Duration::from_secs(5);

/// The arguments of both.
#[derive(Debug, Args)]
pub struct Why {
    #[command(flatten)]
    request: RequestArgs,
    /// The address of the running rlaas that its own --debug names.
    #[arg(long, value_name = "ADDR", env = "RLAAS_DEBUG", default_value = "127.0.0.1:6070")]
    debug: String,
}

impl Why {
    /// Prints what `path` of the debug address replies.
    pub fn run(&self, path: &str, out: &mut impl Write) -> io::Result<ExitCode> {
        let Some(request) = self.request.read(out)? else { return Ok(ExitCode::FAILURE) };
        let body = json::write(&request, json::REQUEST).map_err(io::Error::other)?;
        let (ok, text) = match self.ask(path, &body) {
            Ok(reply) => reply,
            Err(error) => {
                let is_off = error.kind() == io::ErrorKind::ConnectionRefused;
                let advice = if is_off { "; rlaas serve listens there only with --debug" } else { "" };
                (false, format!("--debug {}: {error}{advice}\n", self.debug))
            }
        };
        out.write_all(text.as_bytes())?;
        Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Whether the status is 200, and the text of the reply.
    fn ask(&self, path: &str, body: &str) -> io::Result<(bool, String)> {
        let address = self.debug.to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
        let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let (host, length) = (&self.debug, body.len());
        let head = format!("POST {path} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes())?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        let (head, text) = reply.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
        Ok((head.split(' ').nth(1) == Some("200"), text.to_owned()))
    }
}
