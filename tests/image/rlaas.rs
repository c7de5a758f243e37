//! The image of rlaas, beside a server with the module.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use testcontainers::core::{IntoContainerPort, WaitFor};
use testcontainers::runners::SyncRunner;
use testcontainers::{Container, ContainerRequest, GenericImage, ImageExt};

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

/// With another user, nothing to write to, and no capabilities, beside the server of this network.
fn restricted(image: GenericImage, metrics: u16, network: &str) -> ContainerRequest<GenericImage> {
    image
        .with_wait_for(WaitFor::message_on_stderr("HTTP listens"))
        .with_mapped_port(0, 8080.tcp())
        .with_mapped_port(0, metrics.tcp())
        .with_host_config_modifier(to_this_machine_alone)
        .with_network(network)
        .with_user("65534:65534")
        .with_readonly_rootfs(true)
        .with_cap_drop("ALL")
        .with_startup_timeout(PATIENCE)
}

/// As `deploy/kubernetes/rlaas.yaml` starts it.
#[test]
fn it_limits_by_the_rules_that_are_mounted() {
    let (network, server_name, rules) = (unique("net"), unique("server"), Volume::new());
    prepare(&rules, &format!("rm /data/used && echo '{RULES}' >/data/web.yaml && chmod -R a+rX /data"));
    let _server = server([]).with_network(&network).with_container_name(&server_name).start().expect("a server");
    let (name, tag) = named_by("RLAAS_IMAGE");
    let service = restricted(GenericImage::new(name, tag), 9090, &network)
        .with_mount(rules.mount_at("/etc/rlaas/rules"))
        .with_env_var("RLAAS_REDIS", format!("redis://{server_name}:6379"))
        .with_env_var("RLAAS_TIMEOUT", "10s")
        .with_env_var("RLAAS_MAX_LAG", "10s")
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

/// What Envoy Gateway sets, in `internal/infrastructure/kubernetes/ratelimit/testdata/deployments/default.yaml`.
const OF_ENVOY_GATEWAY: &str = "RUNTIME_ROOT=/data RUNTIME_SUBDIRECTORY=ratelimit RUNTIME_IGNOREDOTFILES=true \
    RUNTIME_WATCH_ROOT=false LOG_LEVEL=info USE_STATSD=false CONFIG_TYPE=GRPC_XDS_SOTW \
    CONFIG_GRPC_XDS_SERVER_URL=envoy-gateway:18001 CONFIG_GRPC_XDS_NODE_ID=envoy-ratelimit GRPC_SERVER_USE_TLS=true \
    GRPC_SERVER_TLS_CERT=/certs/tls.crt GRPC_SERVER_TLS_KEY=/certs/tls.key GRPC_SERVER_TLS_CA_CERT=/certs/ca.crt \
    CONFIG_GRPC_XDS_SERVER_USE_TLS=true CONFIG_GRPC_XDS_CLIENT_TLS_CERT=/certs/tls.crt \
    CONFIG_GRPC_XDS_CLIENT_TLS_KEY=/certs/tls.key CONFIG_GRPC_XDS_SERVER_TLS_CACERT=/certs/ca.crt \
    FORCE_START_WITHOUT_INITIAL_CONFIG=true REDIS_SOCKET_TYPE=tcp REDIS_URL=redis.redis.svc:6379 \
    USE_PROMETHEUS=true PROMETHEUS_ADDR=:19001 PROMETHEUS_MAPPER_YAML=/etc/statsd-exporter/conf.yaml";

#[test]
fn it_starts_as_envoy_gateway_starts_its_image() {
    let (network, certs) = (unique("net"), Volume::new());
    let pair = rcgen::generate_simple_self_signed(["envoy-ratelimit".to_owned()]).expect("a certificate");
    let (cert, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
    let write = format!("echo '{cert}' | tee /data/tls.crt >/data/ca.crt; echo '{key}' >/data/tls.key");
    prepare(&certs, &format!("{write}; chmod -R a+rX /data"));
    let (name, tag) = named_by("RLAAS_IMAGE");
    let image = GenericImage::new(name, tag).with_entrypoint("/bin/ratelimit");
    let mut service = restricted(image, 19001, &network).with_mount(certs.mount_at("/certs"));
    for (name, value) in OF_ENVOY_GATEWAY.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        service = service.with_env_var(name, value);
    }
    let service = service.start().expect("it starts");
    // Its probes, without a control plane or a server.
    assert_eq!(get(&service, 8080, "/healthcheck"), Some(200));
    assert_eq!(get(&service, 8080, "/ready"), Some(503));
    assert_eq!(get(&service, 19001, "/metrics"), Some(200));
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
