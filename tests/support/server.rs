//! A server for one test. It ends with the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use redis::{Connection, ProtocolVersion};
use tempfile::TempDir;

use super::client::connect;
use super::process::{LOG, Process, free_port, log};
use super::{PATIENCE, ServerBin, eventually, info, module_path};

/// How a server is started. The defaults: with the module, nothing written to disk, DEBUG and MODULE allowed.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) bin: ServerBin,
    module: Option<Vec<String>>,
    /// Another build of the module than [`module_path`].
    module_at: Option<PathBuf>,
    cluster: bool,
    args: Vec<String>,
    env: Vec<(String, String)>,
    /// The program that runs the server, and its arguments.
    under: Vec<String>,
}

impl Options {
    pub fn new(bin: &ServerBin) -> Self {
        Self {
            bin: bin.clone(),
            module: Some(Vec::new()),
            module_at: None,
            cluster: false,
            args: Vec::new(),
            env: Vec::new(),
            under: Vec::new(),
        }
    }

    pub fn without_module(mut self) -> Self {
        self.module = None;
        self
    }

    /// With the module, and these load arguments.
    pub fn module_args(mut self, args: &[&str]) -> Self {
        self.module = Some(args.iter().map(ToString::to_string).collect());
        self
    }

    /// With the build of the module at that path.
    pub fn module_at(mut self, path: &Path) -> Self {
        self.module_at = Some(path.to_owned());
        self
    }

    /// With a variable in its environment.
    pub fn env(mut self, name: &str, value: impl ToString) -> Self {
        self.env.push((name.to_owned(), value.to_string()));
        self
    }

    /// Run by another program that becomes the server's process: `.under(&["valgrind", "--quiet"])`.
    pub fn under(mut self, program: &[&str]) -> Self {
        self.under = program.iter().map(ToString::to_string).collect();
        self
    }

    /// A setting of redis.conf: `.set("appendonly", "yes")`.
    pub fn set(mut self, name: &str, value: impl ToString) -> Self {
        self.args.extend([format!("--{name}"), value.to_string()]);
        self
    }

    /// With an AOF that has every write on disk before its reply.
    pub fn durable(self) -> Self {
        self.set("appendonly", "yes").set("appendfsync", "always")
    }

    pub fn cluster(mut self) -> Self {
        self.cluster = true;
        self
    }

    pub fn replica_of(self, master: &Server) -> Self {
        self.set("replicaof", format!("127.0.0.1 {}", master.port))
    }

    pub fn start(self) -> Server {
        self.try_start().unwrap_or_else(|log| panic!("the server does not start:\n{log}"))
    }

    /// Starts the server.
    ///
    /// # Errors
    /// The log, if the server ends before it is ready.
    pub fn try_start(self) -> Result<Server, String> {
        let dir = TempDir::new().expect("a temporary directory");
        // Another program may take the port before the server does.
        for _ in 0..20 {
            match Process::start(&self, dir.path(), free_port(), free_port()) {
                Ok(process) => {
                    return Ok(Server {
                        port: process.port,
                        bus_port: process.bus_port,
                        process: Some(process),
                        options: self,
                        dir,
                    });
                }
                Err(log) if log.contains("Address already in use") => {
                    fs::remove_file(dir.path().join(LOG)).expect("the log goes");
                }
                Err(log) => return Err(log),
            }
        }
        panic!("no port of 127.0.0.1 is free");
    }

    pub(super) fn command(&self, dir: &Path, port: u16, bus_port: u16) -> Command {
        let mut command = match self.under.split_first() {
            None => Command::new(&self.bin.path),
            Some((program, args)) => {
                let mut command = Command::new(program);
                command.args(args).arg(&self.bin.path);
                command
            }
        };
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(dir).args(["--port", &port.to_string()]);
        command.args(["--bind", "127.0.0.1", "--save", "", "--repl-diskless-sync-delay", "0"]);
        if self.bin.is_supported() {
            // Before 7.0 both were always allowed.
            command.args(["--enable-debug-command", "local", "--enable-module-command", "local"]);
        }
        if self.cluster {
            command.args(["--cluster-enabled", "yes", "--cluster-port", &bus_port.to_string()]);
        }
        command.args(&self.args);
        if let Some(args) = &self.module {
            command.arg("--loadmodule").arg(self.module_at.clone().unwrap_or_else(module_path)).args(args);
        }
        command
    }
}

/// A running or stopped server with its own directory. Dropping it ends the server and deletes the directory.
pub struct Server {
    // Before `dir`: the process ends before its directory is deleted.
    process: Option<Process>,
    options: Options,
    port: u16,
    bus_port: u16,
    dir: TempDir,
}

impl Server {
    /// With the module and the default options.
    pub fn start(bin: &ServerBin) -> Self {
        Options::new(bin).start()
    }

    pub fn options(bin: &ServerBin) -> Options {
        Options::new(bin)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The port of the cluster bus.
    pub fn bus_port(&self) -> u16 {
        self.bus_port
    }

    pub fn pid(&self) -> u32 {
        self.process.as_ref().expect("a running server").server.id()
    }

    /// The directory of the server's files.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Everything that the server has logged, in earlier runs too.
    pub fn log(&self) -> String {
        log(self.dir())
    }

    /// A new connection, RESP2.
    pub fn con(&self) -> Connection {
        connect(self.port, ProtocolVersion::RESP2).expect("a connection")
    }

    /// A new connection, RESP3.
    pub fn con3(&self) -> Connection {
        connect(self.port, ProtocolVersion::RESP3).expect("a connection")
    }

    /// Whether the process exists. It does not after a crash.
    pub fn is_running(&mut self) -> bool {
        self.process.as_mut().is_some_and(Process::is_running)
    }

    /// Ends the server with SIGKILL.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Sends SHUTDOWN and waits for the end. `how` is SAVE or NOSAVE.
    pub fn shutdown(&mut self, how: &str) {
        // The server does not reply; it closes the connection.
        let _ = redis::cmd("SHUTDOWN").arg(how).exec(&mut self.con());
        assert!(eventually(PATIENCE, || !self.is_running()), "SHUTDOWN did not end the server");
        self.process = None;
    }

    /// Starts a server that has ended, with the same port, files and options.
    pub fn start_again(&mut self) {
        self.start_again_with(|options| options);
    }

    /// Starts it again with other options: `server.start_again_with(Options::without_module)`.
    pub fn start_again_with(&mut self, change: impl FnOnce(Options) -> Options) {
        assert!(self.process.is_none(), "end it first");
        self.options = change(self.options.clone());
        let cuts = self.cuts();
        let process = Process::start(&self.options, self.dir(), self.port, self.bus_port);
        self.process = Some(process.unwrap_or_else(|log| panic!("the server does not start again:\n{log}")));
        if self.cuts() > cuts {
            // The server has left the transaction that the command was in. What it writes next would become a part of it
            // (docs/operations.md, "Persistence").
            self.rewrite_aof();
        }
    }

    /// How often a server has cut an append only file that ended within a command.
    fn cuts(&self) -> usize {
        self.log().matches("Truncating the AOF").count()
    }

    /// Rewrites the append only file, and waits for the end.
    fn rewrite_aof(&self) {
        let mut con = self.con();
        // One may be under way.
        let mut ended = |figures: &[&str]| {
            let ended = eventually(PATIENCE, || figures.iter().all(|figure| info(&mut con, figure) == "0"));
            assert!(ended, "the append only file is not rewritten:\n{}", self.log());
        };
        ended(&["aof_rewrite_in_progress"]);
        redis::cmd("BGREWRITEAOF").exec(&mut self.con()).expect("BGREWRITEAOF");
        ended(&["aof_rewrite_in_progress", "aof_rewrite_scheduled"]);
        assert_eq!(info(&mut con, "aof_last_bgrewrite_status"), "ok");
    }
}
