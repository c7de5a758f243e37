// Included by the examples of the documentation, which run against a server with the module.

/// A server for one example. It ends with it.
struct DocServer {
    process: std::process::Child,
    dir: tempfile::TempDir,
}

impl DocServer {
    fn start() -> Self {
        // As make builds and fetches them, unless the variables name others. Redis 6 loads no module of ours.
        let target = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
        let module = std::env::var("RL_MODULE");
        let module = module.unwrap_or_else(|_| target.join("release/libredis_rl.so").display().to_string());
        let servers = std::env::var("SERVERS").ok().filter(|paths| !paths.trim().is_empty()).unwrap_or_else(|| {
            let dirs = std::fs::read_dir(target.join("servers")).expect("target/servers: run make servers");
            let paths = dirs.flatten().filter(|dir| !dir.file_name().to_string_lossy().starts_with("redis-6"));
            let programs = paths.flat_map(|dir| ["redis-server", "valkey-server"].map(|name| dir.path().join(name)));
            programs.filter(|path| path.exists()).map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        });
        let dir = tempfile::tempdir().expect("a temporary directory");
        let program = servers.split([' ', ':']).find(|path| !path.is_empty()).expect("a server");
        // A socket in the directory cannot be taken by another program, as a port can.
        let process = std::process::Command::new(program)
            .current_dir(dir.path())
            .args(["--port", "0", "--save", "", "--unixsocket", "server", "--loadmodule", &module])
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("the server starts");
        Self { process, dir }
    }

    fn url(&self) -> String {
        let url = format!("unix://{}/server", self.dir.path().display());
        let client = redis::Client::open(&*url).expect("a client");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while client.get_connection().and_then(|mut con| redis::cmd("PING").exec(&mut con)).is_err() {
            assert!(std::time::Instant::now() < deadline, "the server does not reply");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        url
    }
}

impl Drop for DocServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub fn with_server(example: impl AsyncFnOnce(&str) -> Result<(), Box<dyn std::error::Error>>) {
    let server = DocServer::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(example(&server.url())).expect("the example works");
}
