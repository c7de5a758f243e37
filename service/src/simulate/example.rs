//! A day of a shop that does not exist: what `rlaas simulate --example` replays.

use std::fs;
use std::io;
use std::path::Path;

use fastrand::Rng;
use jiff::Timestamp;

const RULES: &str = include_str!("example.yaml");
/// 2026-03-02T00:00:00Z, a Monday.
const MIDNIGHT: i64 = 1_772_409_600;
const DAY: i64 = 86_400;
const USERS: u64 = 400;

/// Writes the rules and the log into a directory. Returns where they are, and where the page is to be.
///
/// # Errors
/// A file cannot be written.
pub fn write(dir: &Path) -> io::Result<[String; 3]> {
    let dir = dir.join("rlaas-example");
    let paths = ["rules.yaml", "access.log", "page.html"].map(|name| dir.join(name));
    fs::create_dir_all(&dir)?;
    fs::write(&paths[0], RULES)?;
    fs::write(&paths[1], day())?;
    Ok(paths.map(|path| path.display().to_string()))
}

/// A log in the combined format, the same each time.
fn day() -> String {
    let mut day = Day { random: Rng::with_seed(38), lines: Vec::new() };
    day.visitors();
    day.job();
    day.crawler();
    day.guesses();
    day.outage();
    day.lines.sort();
    day.lines.into_iter().map(|(_, _, line)| line).collect()
}

struct Day {
    random: Rng,
    /// With the second, and the number of the line.
    lines: Vec<(i64, usize, String)>,
}

/// A client, as the log shows it.
#[derive(Clone)]
struct Client {
    address: String,
    user: String,
    agent: &'static str,
}

impl Client {
    fn visitor(number: u64) -> Self {
        let address = format!("198.51.{}.{}", 100 + number / 250, number % 250 + 1);
        let user = if number.is_multiple_of(3) { "-".to_owned() } else { format!("user{number}") };
        Self { address, user, agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" }
    }
}

impl Day {
    fn add(&mut self, client: &Client, second: i64, path: &str, status: u16) {
        let time = Timestamp::from_second(MIDNIGHT + second).unwrap_or_default().strftime("%d/%b/%Y:%H:%M:%S +0000");
        let Client { address, user, agent } = client;
        let bytes = self.random.u32(200..20_000);
        let line = format!("{address} - {user} [{time}] \"GET {path} HTTP/1.1\" {status} {bytes} \"-\" \"{agent}\"\n");
        self.lines.push((second, self.lines.len(), line));
    }

    /// Visits of some pages each, most of them in the evening. Each page loads some files at once.
    fn visitors(&mut self) {
        for _ in 0..9_000 {
            let client = Client::visitor(self.random.u64(0..USERS));
            // Two times of the day, of which the later is more probable in the evening.
            let mut second = self.random.i64(0..DAY).max(self.random.i64(0..DAY * 9 / 10));
            if self.random.u8(0..5) == 0 {
                self.add(&client, second, "/login", 200);
            }
            for _ in 0..self.random.u8(2..9) {
                let page = format!("/items/{}", self.random.u16(1..500));
                for path in [page.as_str(), "/static/app.js", "/static/app.css"] {
                    self.add(&client, second.min(DAY - 1), path, 200);
                }
                second += self.random.i64(5..90);
            }
        }
    }

    /// A job that exports the orders each hour, as fast as it can.
    fn job(&mut self) {
        let client =
            Client { address: "203.0.113.20".to_owned(), user: "export-job".to_owned(), agent: "python-requests/2.32" };
        for hour in 0..24 {
            for request in 0..90 {
                self.add(&client, hour * 3_600 + 60 + request / 6, &format!("/api/orders?page={request}"), 200);
            }
        }
    }

    /// A crawler that reads all items at night.
    fn crawler(&mut self) {
        let client = Client { address: "192.0.2.66".to_owned(), user: "-".to_owned(), agent: "greedy-bot/1.0" };
        for request in 0..14_000 {
            let second = 3 * 3_600 + request / 4 + self.random.i64(0..2);
            self.add(&client, second, &format!("/items/{request}"), 200);
        }
    }

    /// Somebody guesses passwords.
    fn guesses(&mut self) {
        let client = Client { address: "203.0.113.99".to_owned(), user: "-".to_owned(), agent: "curl/8.14.1" };
        for request in 0..900 {
            self.add(&client, 9 * 3_600 + 1_200 + request * 3, "/login", 401);
        }
    }

    /// From 14:20 on, the shop is away for half an hour. The app tries again, faster than it should.
    fn outage(&mut self) {
        for number in 0..20 {
            let client = Client { agent: "shop-app/4.2 (iOS)", ..Client::visitor(number * 7 + 1) };
            let mut second = 14 * 3_600 + 1_200 + self.random.i64(0..60);
            while second < 14 * 3_600 + 3_000 {
                for _ in 0..self.random.u8(1..6) {
                    self.add(&client, second, "/api/cart", 502);
                }
                second += self.random.i64(1..3);
            }
        }
    }
}
