//! Machines that can lose each other: network namespaces where they can be made, else processes that are stopped.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::{self, Command, Output};
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Options, Server};

/// Some machines in one network. The namespaces end with this value and the processes in them.
pub struct Network {
    /// Nothing if namespaces cannot be made. Then all machines are this one.
    namespaces: Option<Namespaces>,
}

/// A namespace for each machine, and one with two bridges. Machines on different bridges do not reach each other.
struct Namespaces {
    machines: Vec<File>,
    switch: File,
}

/// Machines that are cut off, until [`Network::heal`].
pub enum Cut {
    Link(usize),
    Stopped(u32),
}

impl Network {
    /// This many machines. `NAMESPACES=no` makes none.
    pub fn of(machines: usize) -> Self {
        let wanted = std::env::var("NAMESPACES").as_deref() != Ok("no");
        let namespaces = if wanted { Namespaces::make(machines) } else { Err("NAMESPACES=no".to_owned()) };
        if let Err(why) = &namespaces {
            println!("no network namespaces ({why}): partitions are processes that SIGSTOP stops");
        }
        Self { namespaces: namespaces.ok() }
    }

    /// What a partition is here.
    pub fn how(&self) -> &'static str {
        if self.namespaces.is_some() { "network namespaces" } else { "SIGSTOP" }
    }

    /// The address that the other machines have of this one.
    pub fn address(&self, machine: usize) -> String {
        match &self.namespaces {
            Some(_) => format!("10.77.0.{}", machine + 1),
            None => "127.0.0.1".to_owned(),
        }
    }

    /// Runs something on a machine: its connections, listeners and processes are in the machine's network.
    pub fn at<T: Send>(&self, machine: usize, run: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let on_the_machine = || {
                self.enter(machine);
                run()
            };
            scope.spawn(on_the_machine).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Moves this thread to a machine.
    pub fn enter(&self, machine: usize) {
        if let Some(namespaces) = &self.namespaces {
            setns(namespaces.machines[machine].as_raw_fd(), CloneFlags::CLONE_NEWNET).expect("a namespace");
        }
    }

    /// A server on a machine, which the others reach.
    pub fn start(&self, machine: usize, options: Options) -> Server {
        let options = match self.namespaces {
            Some(_) => options.set("bind", "*").set("protected-mode", "no"),
            None => options,
        };
        self.at(machine, || options.start())
    }

    /// Takes a machine from the network, or stops its server. What is on the machine goes on to reach each other in
    /// the first case.
    pub fn cut(&self, machine: usize, server: &Server) -> Cut {
        if let Some(namespaces) = &self.namespaces {
            namespaces.plug(machine, "apart");
            Cut::Link(machine)
        } else {
            signal(Signal::SIGSTOP, server.pid());
            Cut::Stopped(server.pid())
        }
    }

    pub fn heal(&self, cut: Cut) {
        match (cut, &self.namespaces) {
            (Cut::Link(machine), Some(namespaces)) => namespaces.plug(machine, "lan"),
            (Cut::Stopped(pid), _) => signal(Signal::SIGCONT, pid),
            (Cut::Link(_), None) => unreachable!("there are no links"),
        }
    }
}

fn signal(signal: Signal, pid: u32) {
    kill(Pid::from_raw(pid.cast_signed()), signal).expect("a process");
}

impl Namespaces {
    fn make(machines: usize) -> Result<Self, String> {
        let namespaces =
            Self { switch: namespace()?, machines: (0..machines).map(|_| namespace()).collect::<Result<_, _>>()? };
        for bridge in ["lan", "apart"] {
            ip(&namespaces.switch, &format!("link add {bridge} type bridge"))?;
            ip(&namespaces.switch, &format!("link set {bridge} up"))?;
        }
        for (at, machine) in namespaces.machines.iter().enumerate() {
            // `ip` takes a path for the name of a namespace.
            let there = format!("/proc/{}/fd/{}", process::id(), machine.as_raw_fd());
            ip(&namespaces.switch, &format!("link add port{at} type veth peer name eth0 netns {there}"))?;
            ip(&namespaces.switch, &format!("link set port{at} master lan up"))?;
            ip(machine, "link set lo up")?;
            ip(machine, &format!("addr add 10.77.0.{}/24 dev eth0", at + 1))?;
            ip(machine, "link set eth0 up")?;
        }
        Ok(namespaces)
    }

    fn plug(&self, machine: usize, bridge: &str) {
        ip(&self.switch, &format!("link set port{machine} master {bridge}")).expect("a bridge");
    }
}

/// A new namespace. It ends when nothing refers to it.
fn namespace() -> Result<File, String> {
    let new = || {
        unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("unshare: {error}"))?;
        File::open("/proc/thread-self/ns/net").map_err(|error| error.to_string())
    };
    thread::spawn(new).join().expect("a thread")
}

/// Runs `ip` in a namespace.
fn ip(namespace: &File, arguments: &str) -> Result<(), String> {
    let run = || -> Result<Output, String> {
        setns(namespace.as_raw_fd(), CloneFlags::CLONE_NEWNET).map_err(|error| format!("setns: {error}"))?;
        Command::new("ip").args(arguments.split(' ')).output().map_err(|error| format!("ip: {error}"))
    };
    let output = thread::scope(|scope| scope.spawn(run).join().expect("a thread"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}
