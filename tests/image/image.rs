//! Uses the image as its users do: without arguments, with options, with a volume.
//!
//! Needs a Docker engine and the image that `RL_IMAGE` names; without either, every test fails. Those of rlaas need the
//! image that `RLAAS_IMAGE` names too. `make test-image` provides all of them.

mod rlaas;

use std::env;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use redis::Connection;
use redis_rl_algorithm::Name;
use testcontainers::bollard::models::{HostConfig, PortBinding};
use testcontainers::core::wait::HealthWaitStrategy;
use testcontainers::core::{ExecCommand, IntoContainerPort, Mount, WaitFor};
use testcontainers::runners::SyncRunner;
use testcontainers::{Container, ContainerRequest, GenericImage, ImageExt};

const PATIENCE: Duration = Duration::from_secs(60);
const DAY: u32 = 86_400; // a window that does not end within a test

/// The commands of the algorithms that take a COST.
fn algorithms() -> impl Iterator<Item = &'static str> {
    Name::ALL.into_iter().filter(|name| name.traits().cost).map(Name::command)
}

/// The image's name and tag.
fn image() -> (String, String) {
    named_by("RL_IMAGE")
}

/// The name and tag of the image that a variable names.
fn named_by(variable: &str) -> (String, String) {
    let image = env::var(variable).unwrap_or_else(|_| panic!("{variable} names an image: run make test-image"));
    let (name, tag) = image.rsplit_once(':').unwrap_or_else(|| panic!("{variable} is a name and a tag"));
    (name.to_owned(), tag.to_owned())
}

/// A container of the image, its port open to this machine alone.
fn server<const N: usize>(args: [&str; N]) -> ContainerRequest<GenericImage> {
    let (name, tag) = image();
    GenericImage::new(name, tag)
        .with_wait_for(WaitFor::message_on_stdout("Ready to accept connections"))
        .with_cmd(args)
        .with_mapped_port(0, 6379.tcp())
        .with_host_config_modifier(to_this_machine_alone)
        .with_startup_timeout(PATIENCE)
}

/// Opens the ports of a container on 127.0.0.1, and on no other address.
fn to_this_machine_alone(config: &mut HostConfig) {
    for binding in config.port_bindings.iter_mut().flat_map(|ports| ports.values_mut()).flatten().flatten() {
        *binding = PortBinding { host_ip: Some("127.0.0.1".into()), host_port: Some(String::new()) };
    }
}

fn connect(container: &Container<GenericImage>) -> Connection {
    let port = container.get_host_port_ipv4(6379).expect("a published port");
    let client = redis::Client::open(format!("redis://127.0.0.1:{port}/")).expect("a URL");
    eventually("a connection", || client.get_connection().ok())
}

/// Whether the server replies to PING, if only that it asks for a password.
fn replies(container: &Container<GenericImage>) -> bool {
    let (reply, _) = run(container, ["sh", "-c", "valkey-cli ping 2>&1 || redis-cli ping 2>&1"]);
    reply.contains("PONG") || reply.contains("NOAUTH")
}

/// What `attempt` answers, as soon as it answers anything.
#[track_caller]
fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = attempt() {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "no {what} within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// One request of `algorithm`: is it allowed, and what is the count?
fn request(con: &mut Connection, algorithm: &str, key: &str, limit: u32) -> (bool, i64) {
    let (allowed, count, ttl): (i64, i64, i64) =
        redis::cmd(algorithm).arg(key).arg(DAY).arg(limit).query(con).expect("three integers");
    assert!(ttl > 0, "{algorithm} answers a ttl of {ttl}");
    (allowed == 1, count)
}

fn setting(con: &mut Connection, name: &str) -> String {
    let (_, value): (String, String) = redis::cmd("CONFIG").arg("GET").arg(name).query(con).expect("CONFIG GET");
    value
}

/// What a command in the container says, and its exit code.
fn run<const N: usize>(container: &Container<GenericImage>, command: [&str; N]) -> (String, i64) {
    let mut result = container.exec(ExecCommand::new(command)).expect("exec");
    let output = String::from_utf8(result.stdout_to_vec().expect("its output")).expect("text");
    let code = eventually("exit code", || result.exit_code().expect("its exit code"));
    (output.trim().to_owned(), code)
}

/// Stops a container as `docker stop` does. It must end by itself, well before Docker kills it after ten seconds.
#[track_caller]
fn stop(container: &Container<GenericImage>) {
    let start = Instant::now();
    container.stop().expect("it stops");
    assert!(start.elapsed() < Duration::from_secs(5), "it took {:?} to stop", start.elapsed());
    assert_eq!(container.exit_code().expect("its exit code"), Some(0), "it ends by itself");
}

/// Runs a shell command in a container of the image that has `volume`, and leaves a file there: Docker gives an empty
/// volume the mode and the owner of the image's directory again.
fn prepare(volume: &Volume, command: &str) {
    let command = format!("touch /data/used && {command}");
    let container = server(["sh", "-c", &command]).with_mount(volume.mount());
    container.with_ready_conditions(vec![WaitFor::exit(Default::default())]).start().expect("the command runs");
}

/// A name that no other test and no other run has.
fn unique(what: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("redis-rl-test-{what}-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A named volume, removed with its test. testcontainers leaves those behind.
struct Volume(String);

impl Volume {
    fn new() -> Self {
        Self(unique("data"))
    }

    fn mount(&self) -> Mount {
        self.mount_at("/data")
    }

    fn mount_at(&self, path: &str) -> Mount {
        Mount::volume_mount(self.0.as_str(), path)
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        docker(&["volume", "rm", "--force", &self.0]);
    }
}

/// The output of the command line client, which every machine with an engine has.
fn docker(args: &[&str]) -> String {
    let output = Command::new("docker").args(args).output().expect("docker in PATH");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

#[test]
fn it_starts_with_nothing_said_and_every_algorithm_answers_and_denies() {
    let container = server([]).start().expect("it starts");
    let mut con = connect(&container);
    for algorithm in algorithms() {
        for nth in 1..=2 {
            assert!(request(&mut con, algorithm, algorithm, 2).0, "{algorithm} denies request {nth} of 2");
        }
        assert!(!request(&mut con, algorithm, algorithm, 2).0, "{algorithm} allows a third request of 2");
    }
}

#[test]
fn it_becomes_healthy_by_its_own_check() {
    let (name, tag) = image();
    let container = GenericImage::new(name, tag)
        .with_wait_for(WaitFor::Healthcheck(HealthWaitStrategy::new()))
        .with_startup_timeout(PATIENCE)
        .start();
    container.expect("it becomes healthy");
}

#[test]
fn a_server_that_asks_for_a_password_is_healthy_and_one_that_is_not_there_is_not() {
    let guarded = server(["--requirepass", "secret"]).start().expect("it starts");
    assert_eq!(run(&guarded, ["redis-rl-healthcheck"]).1, 0);
    let elsewhere = server(["--port", "7000"]).start().expect("it starts");
    assert_eq!(run(&elsewhere, ["redis-rl-healthcheck"]).1, 1);
}

#[test]
fn a_variable_sets_maxmemory_and_an_option_wins() {
    let by_variable = server([]).with_env_var("MAXMEMORY", "64mb").start().expect("it starts");
    assert_eq!(setting(&mut connect(&by_variable), "maxmemory"), (64 << 20).to_string());
    assert_eq!(setting(&mut connect(&by_variable), "maxmemory-clients"), "10%");
    let by_option = server(["--maxmemory", "32mb"]).with_env_var("MAXMEMORY", "64mb").start().expect("it starts");
    assert_eq!(setting(&mut connect(&by_option), "maxmemory"), (32 << 20).to_string());
}

#[test]
fn it_runs_as_the_servers_own_user() {
    let own = |container: &Container<GenericImage>| {
        let (uid, _) = run(container, ["stat", "-c", "%u", "/proc/1"]);
        let (data, _) = run(container, ["stat", "-c", "%u", "/data"]);
        assert_ne!(uid, "0");
        assert_eq!(uid, data, "the user of the server and that of its data");
        let (name, _) = run(container, ["stat", "-c", "%U", "/proc/1"]);
        assert!(["redis", "valkey"].contains(&name.as_str()), "the server runs as {name}");
        let (status, _) = run(container, ["cat", "/proc/1/status"]);
        let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("capabilities");
        assert!(capabilities.trim().trim_start_matches('0').is_empty(), "left to the server: {capabilities}");
    };
    own(&server([]).start().expect("it starts"));
    own(&server([]).with_user("999:999").start().expect("it starts as that user from the beginning"));
    // Another's volume, as one mounts a directory of the machine: it is handed over.
    let volume = Volume::new();
    let (_, tag) = image();
    prepare(&volume, "chown -R 0:0 /data");
    own(&server([]).with_mount(volume.mount()).start().unwrap_or_else(|error| panic!("{tag}: {error}")));
}

#[test]
fn what_was_counted_outlives_the_container_in_its_volume() {
    let volume = Volume::new();
    let first = server([]).with_mount(volume.mount()).start().expect("it starts");
    let mut con = connect(&first);
    for algorithm in algorithms() {
        assert!(request(&mut con, algorithm, algorithm, 1).0, "{algorithm}");
    }
    stop(&first);
    first.rm().expect("it is removed");
    let second = server([]).with_mount(volume.mount()).start().expect("another starts");
    let mut con = connect(&second);
    for algorithm in algorithms() {
        assert!(!request(&mut con, algorithm, algorithm, 1).0, "{algorithm} forgot across containers");
    }
}

#[test]
fn any_user_can_keep_data_and_settings_in_a_new_volume() {
    for user in ["1000", "1000:1000", "0"] {
        let volume = Volume::new();
        let first = server([]).with_user(user).with_mount(volume.mount()).start().expect("it starts");
        let mut con = connect(&first);
        assert!(request(&mut con, "RL.SLIDING", "key", 1).0);
        redis::cmd("SAVE").exec(&mut con).unwrap_or_else(|error| panic!("user {user}: {error}"));
        assert_eq!(request(&mut con, "RL.FIXED", "key", 2), (true, 1));
        redis::cmd("CONFIG").arg("SET").arg("rl.on-oom").arg("allow").exec(&mut con).expect("CONFIG SET");
        redis::cmd("CONFIG").arg("REWRITE").exec(&mut con).unwrap_or_else(|error| panic!("user {user}: {error}"));
        stop(&first);
        first.rm().expect("it is removed");

        // A second rewrite meets what the first has written. Options still win over the file.
        let args = ["--maxmemory", "64mb"];
        let second = server(args).with_user(user).with_mount(volume.mount()).start().expect("another starts");
        let mut con = connect(&second);
        assert_eq!(setting(&mut con, "rl.on-oom"), "allow", "user {user}");
        assert_eq!(setting(&mut con, "maxmemory"), (64 << 20).to_string());
        assert!(!request(&mut con, "RL.SLIDING", "key", 1).0);
        assert_eq!(request(&mut con, "RL.FIXED", "key", 2), (true, 2), "the snapshot at shutdown has the last request");
        redis::cmd("CONFIG").arg("SET").arg("rl.on-oom").arg("deny").exec(&mut con).expect("CONFIG SET");
        redis::cmd("CONFIG").arg("REWRITE").exec(&mut con).expect("CONFIG REWRITE");
        stop(&second);
        second.start().expect("it starts again");
        let mut con = connect(&second);
        assert_eq!(setting(&mut con, "rl.on-oom"), "deny", "user {user}");
        assert_eq!(run(&second, ["redis-rl-healthcheck"]).1, 0);
    }
}

#[test]
fn the_password_of_an_option_wins_over_a_rewritten_configuration() {
    let volume = Volume::new();
    let ask = |container: &Container<GenericImage>, password: &str, command: &str| {
        let auth = if password.is_empty() { String::new() } else { format!("REDISCLI_AUTH={password} ") };
        let script = format!("cli=$(command -v valkey-cli || command -v redis-cli); {auth}$cli {command} 2>&1");
        run(container, ["sh", "-c", &script]).0
    };
    let first = server([]).with_mount(volume.mount()).start().expect("it starts");
    assert_eq!(ask(&first, "", "config rewrite"), "OK");
    stop(&first);
    first.rm().expect("it is removed");
    for password in ["secret", "another"] {
        let guarded = server(["--requirepass", password]).with_mount(volume.mount()).start().expect("it starts");
        assert!(ask(&guarded, "", "ping").contains("NOAUTH"), "with {password}");
        assert_eq!(ask(&guarded, password, "ping"), "PONG");
        assert_eq!(ask(&guarded, password, "config rewrite"), "OK");
        stop(&guarded);
        // Its log has the line of the first start already.
        guarded.start().expect("it starts again");
        eventually("a reply", || replies(&guarded).then_some(()));
        assert!(ask(&guarded, "", "ping").contains("NOAUTH"), "with {password}, after a restart");
        stop(&guarded);
        guarded.rm().expect("it is removed");
    }
}

#[test]
fn a_failing_snapshot_stops_neither_the_limiter_nor_docker_stop() {
    let volume = Volume::new();
    prepare(&volume, "chown 0:0 /data && chmod 755 /data");
    let container = server([]).with_user("1000").with_mount(volume.mount()).start().expect("it starts");
    let mut con = connect(&container);
    assert!(request(&mut con, "RL.FIXED", "key", 9).0);
    redis::cmd("BGSAVE").exec(&mut con).expect("it begins");
    eventually("failed snapshot", || {
        let info: String = redis::cmd("INFO").arg("persistence").query(&mut con).expect("INFO");
        info.contains("rdb_last_bgsave_status:err").then_some(())
    });
    for algorithm in algorithms() {
        assert!(request(&mut con, algorithm, algorithm, 1).0, "{algorithm}");
    }
    let log = String::from_utf8(container.stderr_to_vec().expect("its log")).expect("text");
    assert!(log.contains("user 1000 cannot write to /data"), "{log}");
    stop(&container);
}

#[test]
fn further_arguments_are_the_servers() {
    // As options alone, and behind the server's name, as one writes it with the official images.
    let alone = server(["--maxmemory", "64mb", "--maxmemory-policy", "volatile-ttl"]).start().expect("it starts");
    let named = server(["redis-server", "--maxmemory", "64mb", "--maxmemory-policy", "volatile-ttl"]).start();
    for container in [alone, named.expect("it starts by name")] {
        let mut con = connect(&container);
        assert_eq!(setting(&mut con, "maxmemory"), (64 << 20).to_string());
        assert_eq!(setting(&mut con, "maxmemory-policy"), "volatile-ttl");
        assert!(request(&mut con, "RL.FIXED", "key", 1).0);
    }
    // They win over the image's configuration.
    let unsaved = server(["--save", ""]).start().expect("it starts");
    assert_eq!(setting(&mut connect(&unsaved), "save"), "");
}

#[test]
fn a_configuration_of_ones_own_includes_the_images() {
    let config = b"include /usr/local/etc/redis-rl/image.conf\n\
        loadmodule /usr/lib/redis/modules/libredis_rl.so\n\
        maxmemory 64mb\n"
        .to_vec();
    let container = server(["/etc/my.conf"]).with_copy_to("/etc/my.conf", config).start().expect("it starts");
    let mut con = connect(&container);
    assert_eq!(setting(&mut con, "maxmemory"), (64 << 20).to_string());
    assert!(request(&mut con, "RL.GCRA", "key", 1).0);
}

#[test]
fn another_command_than_the_server_runs_as_it_is() {
    let (name, tag) = image();
    let output = docker(&["run", "--rm", &format!("{name}:{tag}"), "sh", "-c", "echo as it is"]);
    assert_eq!(output, "as it is");
}

#[test]
fn version_and_help_are_those_of_the_server() {
    let (name, tag) = image();
    let image = format!("{name}:{tag}");
    for (args, expected) in [
        (&["--version"][..], " server v="),
        (&["-v"], " server v="),
        (&["redis-server", "--version"], " server v="),
        (&["--help"], "Usage: "),
        (&["-h"], "Usage: "),
        (&["valkey-server", "--help"], "Usage: "),
    ] {
        let output = Command::new("docker").args(["run", "--rm", &image]).args(args).output().expect("docker in PATH");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(text.contains(expected), "{args:?}: {text}");
    }
}

#[test]
fn it_says_what_it_is() {
    let (name, tag) = image();
    let ask = |field: &str| docker(&["image", "inspect", "--format", field, &format!("{name}:{tag}")]);
    assert_eq!(ask(r#"{{index .Config.Labels "org.opencontainers.image.title"}}"#), "redis-rl");
    assert_eq!(ask(r#"{{index .Config.Labels "org.opencontainers.image.licenses"}}"#), "MIT");
    assert!(!ask(r#"{{index .Config.Labels "org.opencontainers.image.version"}}"#).is_empty());
    assert_eq!(ask("{{json .Config.Volumes}}"), r#"{"/data":{}}"#);
    assert_eq!(ask("{{json .Config.ExposedPorts}}"), r#"{"6379/tcp":{}}"#);
    assert_eq!(ask("{{json .Config.Healthcheck.Test}}"), r#"["CMD","redis-rl-healthcheck"]"#);
    // This image adds the module and a few short files to the server's image. The newest layers come first.
    let history = docker(&[
        "history",
        "--no-trunc",
        "--human=false",
        "--format",
        "{{.Size}} {{.CreatedBy}}",
        &format!("{name}:{tag}"),
    ]);
    let added = history.lines().take_while(|line| !line.contains("org.opencontainers.image.title"));
    let size: u64 =
        added.map(|line| line.split(' ').next().and_then(|size| size.parse::<u64>().ok()).expect("a size")).sum();
    assert!((100_000..4_000_000).contains(&size), "the image adds {size} bytes");
}
