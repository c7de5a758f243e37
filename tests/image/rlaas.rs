//! The image of rlaas, beside a server with the module.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use testcontainers::core::{IntoContainerPort, WaitFor};
use testcontainers::runners::SyncRunner;
use testcontainers::{Container, GenericImage, ImageExt};

use super::{PATIENCE, Volume, docker, eventually, named_by, prepare, server, stop, to_this_machine_alone, unique};

const RULES: &str = "domain: web
authorize: {descriptors: [[{key: remote_address, client_address: true}]]}
descriptors: [{key: remote_address, rate_limit: {unit: year, requests_per_unit: 2}}]
";

/// The status of a GET.
fn get(container: &Container<GenericImage>, port: u16, path: &str) -> Option<u16> {
    let port = container.get_host_port_ipv4(port).expect("a published port");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    response.split(' ').nth(1)?.parse().ok()
}

/// As `deploy/kubernetes/rlaas.yaml` starts it: another user, nothing to write to, and no capabilities.
#[test]
fn it_limits_by_the_rules_that_are_mounted() {
    let (network, server_name, rules) = (unique("net"), unique("server"), Volume::new());
    prepare(&rules, &format!("rm /data/used && echo '{RULES}' >/data/web.yaml && chmod -R a+rX /data"));
    let _server = server([]).with_network(&network).with_container_name(&server_name).start().expect("a server");
    let (name, tag) = named_by("RLAAS_IMAGE");
    let service = GenericImage::new(name, tag)
        .with_wait_for(WaitFor::message_on_stderr("HTTP listens"))
        .with_mapped_port(0, 8080.tcp())
        .with_mapped_port(0, 9090.tcp())
        .with_host_config_modifier(to_this_machine_alone)
        .with_network(&network)
        .with_mount(rules.mount_at("/etc/rlaas/rules"))
        .with_env_var("RLAAS_REDIS", format!("redis://{server_name}:6379"))
        .with_env_var("RLAAS_TIMEOUT", "10s")
        .with_env_var("RLAAS_MAX_LAG", "10s")
        .with_user("65534:65534")
        .with_readonly_rootfs(true)
        .with_cap_drop("ALL")
        .with_startup_timeout(PATIENCE)
        .start()
        .expect("it starts");
    eventually("valid rules", || get(&service, 8080, "/ready").filter(|status| *status == 200));
    let authorize = || get(&service, 8080, "/authorize/web");
    // 503 until it has a connection to the server.
    eventually("first decision", || authorize().filter(|status| *status == 200));
    assert_eq!([authorize(), authorize()], [Some(200), Some(429)]);
    assert_eq!(get(&service, 9090, "/metrics"), Some(200));
    stop(&service);
}

#[test]
fn it_says_what_it_is() {
    let (name, tag) = named_by("RLAAS_IMAGE");
    let image = format!("{name}:{tag}");
    let ask = |field: &str| docker(&["image", "inspect", "--format", field, &image]);
    assert_eq!(ask(r#"{{index .Config.Labels "org.opencontainers.image.title"}}"#), "rlaas");
    assert_eq!(ask(r#"{{index .Config.Labels "org.opencontainers.image.licenses"}}"#), "MIT");
    assert!(!ask(r#"{{index .Config.Labels "org.opencontainers.image.version"}}"#).is_empty());
    assert_eq!(ask("{{.Config.User}}"), "65532:65532");
    assert_eq!(ask("{{json .Config.ExposedPorts}}"), r#"{"8080/tcp":{},"8081/tcp":{},"9090/tcp":{}}"#);
    // Flags follow the image's name.
    assert!(docker(&["run", "--rm", &image, "--help"]).contains("--redis"));
}
