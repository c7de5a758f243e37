//! `rlaas serve`

mod certificates;
mod connections;
mod flags;
mod health;
mod listener;
mod redis;
mod reload;
mod server;
mod settings;
mod streams;
mod tls;
mod traces;
mod url;
mod variables;
mod watch;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use tracing::{Level, error, warn};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

pub use flags::Flags;

use crate::decide::SHADOW_MODE;
use server::Server;
use settings::Settings;

/// Runs until a signal ends it.
pub fn run(flags: Flags) -> ExitCode {
    let settings = match flags.settings(&std::env::vars().collect()) {
        Ok(settings) => settings,
        Err(error) => {
            eprintln!("rlaas: {error}");
            return ExitCode::FAILURE;
        }
    };
    log_to_stderr(&settings);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(serve(settings))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!(%error, "rlaas ends");
            ExitCode::FAILURE
        }
    }
}

fn log_to_stderr(settings: &Settings) {
    // The libraries of gRPC would log each frame.
    let others = settings.log_level.min(Level::INFO);
    let ours = ["rlaas", "redis_rl_client"].map(|name| (name, settings.log_level));
    let filter = Targets::new().with_default(others).with_targets(ours);
    let layer = fmt::layer().with_writer(io::stderr).with_target(false).with_ansi(io::stderr().is_terminal());
    let registry = tracing_subscriber::registry();
    if settings.log_json {
        registry.with(layer.json().flatten_event(true).with_filter(filter)).init();
    } else {
        registry.with(layer.with_filter(filter)).init();
    }
}

async fn serve(settings: Settings) -> io::Result<()> {
    // Before all else: without it, the signal would end the process.
    let hangup = signal(SignalKind::hangup())?;
    for name in &settings.without_effect {
        warn!("{name} has no effect here");
    }
    if settings.service.reply.shadow {
        warn!("{SHADOW_MODE}");
    }
    let mut server = Server::build(settings).await?;
    server.load(hangup).await?;
    server.listen().await?;
    server.serve().await?;
    server.end().await
}
