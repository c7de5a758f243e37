//! Commands that are sent together.

use redis::aio::MultiplexedConnection;
use redis::{Cmd, Pipeline, RedisResult, Value};

/// Commands, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    all: Pipeline,
    /// The next one, as far as its words are known.
    next: Option<Cmd>,
    /// How many of the first have a reply that is for nobody.
    ahead: usize,
}

impl Commands {
    /// With room for what one command takes as a rule.
    fn next(&mut self) -> &mut Cmd {
        self.next.get_or_insert_with(|| Cmd::with_capacity(8, 96))
    }

    /// Adds a word to the next command.
    pub fn word(&mut self, word: impl AsRef<[u8]>) -> &mut Self {
        self.next().arg(word.as_ref());
        self
    }

    pub fn number(&mut self, n: u64) -> &mut Self {
        self.next().arg(n);
        self
    }

    /// Ends the next command.
    pub fn end(&mut self) {
        self.all.add_command(self.next.take().unwrap_or_default());
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// In the form in which they are sent.
    pub fn bytes(&self) -> Vec<u8> {
        self.all.get_packed_pipeline()
    }

    /// The same commands after ASKING, for a slot that is on its way to the node.
    pub fn asking(&self) -> Self {
        let mut all = Self { ahead: 1, ..Self::from(redis::cmd("ASKING")) };
        self.all.cmd_iter().for_each(|command| _ = all.all.add_command(command.clone()));
        all
    }

    /// Some of them, to be sent again.
    pub fn only(&self, chooses: impl Fn(usize) -> bool) -> Self {
        let mut some = Self::default();
        let chosen = self.all.cmd_iter().enumerate().filter(|(at, _)| chooses(*at));
        chosen.for_each(|(_, command)| _ = some.all.add_command(command.clone()));
        some
    }

    /// Sends them with one write. The replies may be errors of the server.
    pub async fn send(&self, connection: &mut MultiplexedConnection) -> RedisResult<Vec<Value>> {
        let mut commands = self.all.cmd_iter();
        match (commands.next(), commands.next()) {
            (Some(command), None) => Ok(vec![connection.send_packed_command(command).await?]),
            _ => connection.send_packed_commands(&self.all, self.ahead, self.len() - self.ahead).await,
        }
    }
}

impl From<Cmd> for Commands {
    fn from(command: Cmd) -> Self {
        let mut commands = Self::default();
        commands.all.add_command(command);
        commands
    }
}

/// The words of a command.
#[cfg(test)]
pub fn words(command: &[u8]) -> redis::RedisResult<Vec<String>> {
    Ok(redis::from_redis_value(redis::parse_redis_value(command)?)?)
}
