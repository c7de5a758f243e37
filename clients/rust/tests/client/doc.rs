// Included by the examples of the documentation, which run against a server with the module.

/// A server for one example. It ends with it.
struct DocServer {
    process: std::process::Child,
    dir: tempfile::TempDir,
}

impl DocServer {
    fn start() -> Self {
        let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/release/libredis_rl.so");
        let module = std::env::var("RL_MODULE").unwrap_or_else(|_| built.to_owned());
        let servers = std::env::var("SERVERS").unwrap_or_default();
        let named = servers.split([' ', ':']).find(|path| !path.is_empty()).map(str::to_owned);
        let program = named.unwrap_or_else(|| {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/servers");
            let output = std::process::Command::new(script).arg("system").output().expect("scripts/servers");
            String::from_utf8(output.stdout).expect("a path").trim_end().to_owned()
        });
        let dir = tempfile::tempdir().expect("a temporary directory");
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
