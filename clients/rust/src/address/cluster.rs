//! A cluster, by some of its nodes.

use redis::Client;
use redis::cluster::ClusterClient;

/// How to connect to a cluster.
#[derive(Clone)]
pub struct Cluster {
    #[cfg_attr(not(feature = "sync"), expect(dead_code, reason = "only the limiter of threads uses it"))]
    pub client: ClusterClient,
    /// The nodes of the URL, each by itself.
    pub nodes: Vec<Client>,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").finish_non_exhaustive()
    }
}

impl Cluster {
    pub const fn new(client: ClusterClient, nodes: Vec<Client>) -> Self {
        Self { client, nodes }
    }

    /// Opens a connection, within this time for each node.
    #[cfg(feature = "sync")]
    pub fn connect(&self, timeout: std::time::Duration) -> redis::RedisResult<redis::cluster::ClusterConnection> {
        crate::sync::Connector::connect(&self.client, timeout).map_err(|error| {
            let reason = crate::error::is_connection_error(&error).then(|| self.login_error(timeout)).flatten();
            reason.unwrap_or(error)
        })
    }

    /// What the first node that can be reached says against the user or the password. The crate's own error may only say
    /// that the node did not reply to PING.
    #[cfg(feature = "sync")]
    fn login_error(&self, timeout: std::time::Duration) -> Option<redis::RedisError> {
        let ping = |node: &Client| {
            let mut connection = node.get_connection_with_timeout(timeout)?;
            connection.set_read_timeout(Some(timeout))?;
            redis::cmd("PING").exec(&mut connection)
        };
        let reached = |reply: &redis::RedisResult<()>| !reply.as_ref().is_err_and(crate::error::is_connection_error);
        let error = self.nodes.iter().map(ping).find(reached)?.err()?;
        Some(error).filter(|error| !crate::error::Error::Redis(error.clone()).is_unavailable())
    }
}
