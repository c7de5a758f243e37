//! Reads the rules and the overrides, and reads them again when a file changes.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rlaas_rules::{self as rules, Files, Outcome, Overrides, Printable, Source};
use tracing::warn;

/// How often the files are looked at.
pub const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A changed file takes effect when it has stayed the same for so long: another program may still write it. It is two
/// looks, and more than a writer that writes a part at each look.
const SETTLES: Duration = Duration::from_millis(950);

/// What tells one state of the files from another, also if a directory was exchanged by a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint(Vec<File>);

#[derive(Clone, Debug)]
struct File {
    path: PathBuf,
    /// Without links.
    real: PathBuf,
    inode: (u64, u64),
    len: u64,
    modified: (i64, i64),
    /// When it was written, or got its name or its mode.
    changed: (i64, i64),
}

/// The files of rules, and that of the overrides. Of a control plane's rules, only that one.
#[derive(Debug)]
pub struct Watch {
    paths: Vec<PathBuf>,
    ignore_dot_files: bool,
    overrides: Option<PathBuf>,
    settings: rules::Settings,
    /// What took effect last, or was wrong; `None` before that.
    last: Option<Seen>,
    /// What has changed since then.
    changed: Option<Change>,
    /// The files that were left out at the last look.
    left_out: Vec<PathBuf>,
}

/// The files of rules; `None` if a file or a directory cannot be found. A directory may have none.
type Seen = Option<Fingerprint>;

/// What was seen first at a time, and the hash of the texts.
#[derive(Debug)]
struct Change {
    seen: Seen,
    texts: u64,
    since: Instant,
}

/// The texts of the files, or why they cannot be read.
type Texts = Result<Read, String>;

#[derive(Debug)]
struct Read {
    rules: Vec<Source>,
    overrides: Option<Source>,
}

impl Read {
    fn overrides(&self) -> Result<Overrides, String> {
        self.overrides.as_ref().map_or_else(|| Ok(Overrides::default()), Overrides::load)
    }
}

impl Watch {
    pub const fn new(
        paths: Vec<PathBuf>,
        ignore_dot_files: bool,
        overrides: Option<PathBuf>,
        settings: rules::Settings,
    ) -> Self {
        Self { paths, ignore_dot_files, overrides, settings, last: None, changed: None, left_out: Vec::new() }
    }

    /// The rules, if the files have changed and no process still writes them.
    pub fn look(&mut self, now: Instant, time: SystemTime) -> Option<Outcome> {
        self.changed(now, time).map(|texts| self.load(texts))
    }

    /// The rules, also if the files have not changed. For SIGHUP, which says that they are complete.
    pub fn read_now(&mut self) -> Outcome {
        let texts = self.read_at_once();
        self.load(texts)
    }

    /// [`look`](Self::look) for the overrides alone.
    pub fn look_at_overrides(&mut self, now: Instant, time: SystemTime) -> Option<Result<Overrides, String>> {
        self.changed(now, time).map(|texts| texts?.overrides())
    }

    /// [`read_now`](Self::read_now) for the overrides alone.
    pub fn read_overrides_now(&mut self) -> Result<Overrides, String> {
        self.read_at_once()?.overrides()
    }

    fn changed(&mut self, now: Instant, time: SystemTime) -> Option<Texts> {
        let seen = self.seen();
        // Files that cannot be found are an error once, not each time.
        if Some(&seen) == self.last.as_ref() {
            self.changed = None;
            return None;
        }
        let texts = self.read();
        let hash = hash(&texts);
        // Files that change while they are read may not belong together.
        if seen != self.seen() {
            self.changed = None;
            return None;
        }
        let same = self.changed.as_ref().filter(|change| change.seen == seen && change.texts == hash);
        let since = same.map_or(now, |change| change.since);
        let lasts = now.saturating_duration_since(since);
        let takes_effect = match &self.last {
            None => lasts >= LOOK_EVERY || seen.as_ref().is_none_or(|seen| seen.is_older_than(LOOK_EVERY, time)),
            Some(last) => {
                let both = seen.as_ref().zip(last.as_ref());
                lasts >= SETTLES || both.is_some_and(|(seen, last)| seen.was_exchanged(last))
            }
        };
        if !takes_effect {
            self.changed = Some(Change { seen, texts: hash, since });
            return None;
        }
        self.changed = None;
        self.last = Some(seen);
        Some(texts)
    }

    fn read_at_once(&mut self) -> Texts {
        self.changed = None;
        // What changes from here on is seen by the next look.
        self.last = Some(self.seen());
        self.read()
    }

    fn read(&self) -> Texts {
        let read = rules::read(&self.paths, self.ignore_dot_files);
        let (rules, _) = read.map_err(|(path, error)| format!("{}: {error}", path.display()))?;
        let overrides = self.overrides.as_deref().map(Source::read).transpose()?;
        Ok(Read { rules, overrides })
    }

    fn load(&self, texts: Texts) -> Outcome {
        let texts = texts.map_err(|error| vec![error])?;
        let overrides = texts.overrides().map_err(|error| vec![error])?.into();
        let (rules, findings) = rules::load(&texts.rules, &rules::Settings { overrides, ..self.settings.clone() });
        findings.outcome(rules)
    }

    /// Says which files are left out, each once while it is there.
    fn seen(&mut self) -> Seen {
        let Files { rules, left_out } = rules::files(&self.paths, self.ignore_dot_files).ok()?;
        for path in left_out.iter().filter(|path| !self.left_out.contains(path)) {
            warn!("{}", Printable(&rules::why_left_out(path)));
        }
        self.left_out = left_out;
        Fingerprint::of(rules.into_iter().chain(self.overrides.clone()))
    }
}

fn hash(texts: &Texts) -> u64 {
    let mut hasher = DefaultHasher::new();
    match texts {
        Ok(read) => read.rules.iter().chain(&read.overrides).for_each(|source| source.text.hash(&mut hasher)),
        Err(error) => error.hash(&mut hasher),
    }
    hasher.finish()
}

impl File {
    /// Whether another file got this name after the last byte was written to it. One that was made anew under its name
    /// may not be complete.
    fn was_renamed(&self, before: &Self) -> bool {
        self.inode != before.inode && self.changed > self.modified
    }
}

impl PartialEq for File {
    /// A name or a mode is no change.
    fn eq(&self, other: &Self) -> bool {
        let of = |file: &Self| (file.inode, file.len, file.modified);
        of(self) == of(other) && self.path == other.path && self.real == other.real
    }
}

impl Eq for File {}

impl Fingerprint {
    /// `None` if a file cannot be found.
    pub fn of(files: impl IntoIterator<Item = PathBuf>) -> Option<Self> {
        let of = |path: PathBuf| {
            let (meta, real) = (fs::metadata(&path).ok()?, fs::canonicalize(&path).ok()?);
            Some(File {
                path,
                real,
                inode: (meta.dev(), meta.ino()),
                len: meta.len(),
                modified: (meta.mtime(), meta.mtime_nsec()),
                changed: (meta.ctime(), meta.ctime_nsec()),
            })
        };
        files.into_iter().map(of).collect::<Option<_>>().map(Self)
    }

    /// Whether no file was written for this time.
    fn is_older_than(&self, age: Duration, time: SystemTime) -> bool {
        let limit = time.checked_sub(age).and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let limit =
            limit.and_then(|limit| Some((i64::try_from(limit.as_secs()).ok()?, i64::from(limit.subsec_nanos()))));
        limit.is_some_and(|limit| self.0.iter().all(|file| file.modified <= limit))
    }

    /// Whether all that has changed was put in its place as a whole, by a rename or by a link.
    fn was_exchanged(&self, before: &Self) -> bool {
        let before: HashMap<&Path, &File> = before.0.iter().map(|file| (file.path.as_path(), file)).collect();
        let whole = |file: &File| match before.get(file.path.as_path()) {
            Some(before) => *before == file || before.real != file.real || file.was_renamed(before),
            None => false,
        };
        self.0.len() == before.len() && self.0.iter().all(whole)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;
    use std::thread::sleep;

    use tempfile::TempDir;

    use super::*;
    use rlaas_rules::Rules;

    const RULES: &str =
        "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 1}}]\ninstances: 1\n";
    /// Longer than the clock of the file system stands still.
    const TICK: Duration = Duration::from_millis(20);

    /// A directory, and looks at it with a clock of its own. All files are old at the first look.
    struct Looks {
        dir: TempDir,
        watch: Watch,
        now: Instant,
    }

    impl Looks {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("a directory");
            let watch = Watch::new(vec![dir.path().join("rules")], false, None, rules::Settings::default());
            let looks = Self { dir, watch, now: Instant::now() };
            fs::create_dir(looks.at("")).expect("a directory");
            looks
        }

        fn at(&self, name: &str) -> PathBuf {
            self.dir.path().join("rules").join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.at(name), text).expect("written");
        }

        /// Another look, half a second later: the domains, or that something is wrong, if this changes.
        fn look(&mut self) -> Option<Result<Vec<String>, ()>> {
            self.now += LOOK_EVERY;
            let outcome = self.watch.look(self.now, SystemTime::now() + Duration::from_secs(60))?;
            let domains = |(rules, _): (Rules, _)| rules.domains.keys().map(ToString::to_string).collect();
            Some(outcome.map(domains).map_err(|_| ()))
        }

        /// What takes effect at the third look, and not before.
        fn settled(&mut self) -> Option<Result<Vec<String>, ()>> {
            assert_eq!((self.look(), self.look()), (None, None));
            let settled = self.look();
            assert_eq!(self.look(), None, "once");
            settled
        }
    }

    fn domain(name: &str) -> Option<Result<Vec<String>, ()>> {
        Some(Ok(vec![name.to_owned()]))
    }

    #[test]
    fn a_change_takes_effect_once_and_when_it_has_settled_and_a_missing_directory_is_an_error() {
        let mut looks = Looks::new();
        assert_eq!((looks.look(), looks.look()), (Some(Ok(vec![])), None));
        looks.write("a.yaml", RULES);
        assert_eq!(looks.settled(), domain("d"));
        looks.write("a.yaml", "wrong");
        assert_eq!(looks.settled(), Some(Err(())));
        fs::remove_file(looks.at("a.yaml")).expect("removed");
        assert_eq!(looks.settled(), Some(Ok(vec![])));
        // At the start, and later. Empty is not missing.
        fs::remove_dir(looks.at("")).expect("removed");
        looks.watch = Watch::new(vec![looks.at("")], false, None, rules::Settings::default());
        assert_eq!((looks.look(), looks.look()), (Some(Err(())), None));
        fs::create_dir(looks.at("")).expect("a directory");
        assert_eq!(looks.settled(), Some(Ok(vec![])));
        fs::remove_dir(looks.at("")).expect("removed");
        assert_eq!(looks.settled(), Some(Err(())));
        fs::create_dir(looks.at("")).expect("a directory");
        looks.write("a.yaml", RULES);
        assert_eq!(looks.settled(), domain("d"));
    }

    #[test]
    fn half_of_a_file_never_takes_effect() {
        let mut looks = Looks::new();
        looks.write("a.yaml", RULES);
        assert_eq!(looks.look(), domain("d"));
        // Each part is a set of rules. A writer that makes the file anew has another inode each time.
        for anew in [false, true] {
            let mut text = "domain: e\ndescriptors:\n".to_owned();
            for part in 0..8 {
                if anew {
                    // A file that stays keeps the inode from the next one.
                    fs::rename(looks.at("a.yaml"), looks.at(&format!("..{part}"))).expect("renamed");
                }
                text += &format!("  - {{key: k{part}, rate_limit: {{unit: day, requests_per_unit: 1}}}}\n");
                looks.write("a.yaml", &text);
                assert_eq!((looks.look(), looks.look()), (None, None), "{part}");
                sleep(TICK);
            }
            assert_eq!(looks.look(), domain("e"));
            looks.write("a.yaml", RULES);
            assert_eq!(looks.settled(), domain("d"));
        }
        // The same size and time.
        let modified = fs::metadata(looks.at("a.yaml")).and_then(|meta| meta.modified()).expect("a time");
        for name in ["x", "y"] {
            looks.write("a.yaml", &RULES.replace("domain: d", &format!("domain: {name}")));
            let file = fs::File::options().append(true).open(looks.at("a.yaml")).expect("a file");
            file.set_modified(modified + Duration::from_secs(1)).expect("a time");
            assert_eq!((looks.look(), looks.look()), (None, None), "{name}");
        }
        assert_eq!(looks.look(), domain("y"));
    }

    #[test]
    fn at_the_start_a_file_that_is_being_written_is_waited_for() {
        let mut looks = Looks::new();
        looks.write("a.yaml", RULES);
        let (now, time) = (Instant::now(), SystemTime::now());
        assert!(looks.watch.look(now, time).is_none());
        assert!(looks.watch.look(now + LOOK_EVERY / 2, time).is_none());
        assert!(looks.watch.look(now + LOOK_EVERY, time).is_some_and(|rules| rules.is_ok()));
    }

    #[test]
    fn what_is_exchanged_as_a_whole_takes_effect_at_once() {
        let mut looks = Looks::new();
        // As Kubernetes does: the files are links into ..data, which is a link to a version.
        for (version, text) in [("..1", RULES), ("..2", "domain: e\n")] {
            fs::create_dir(looks.at(version)).expect("a directory");
            looks.write(&format!("{version}/a.yaml"), text);
        }
        symlink("..1", looks.at("..data")).expect("a link");
        symlink("..data/a.yaml", looks.at("a.yaml")).expect("a link");
        assert_eq!(looks.look(), domain("d"));
        symlink("..2", looks.at("..new")).expect("a link");
        fs::rename(looks.at("..new"), looks.at("..data")).expect("renamed");
        assert_eq!((looks.look(), looks.look()), (domain("e"), None));
        // A rename.
        looks.write("..new", RULES);
        sleep(TICK);
        fs::rename(looks.at("..new"), looks.at("a.yaml")).expect("renamed");
        assert_eq!((looks.look(), looks.look()), (domain("d"), None));
    }

    #[test]
    fn who_says_so_reads_at_once() {
        let mut looks = Looks::new();
        looks.look();
        looks.write("a.yaml", RULES);
        assert!(looks.watch.read_now().is_ok_and(|(rules, _)| rules.domains.len() == 1));
        assert!(looks.watch.read_now().is_ok(), "also if nothing has changed");
        assert_eq!((looks.look(), looks.look(), looks.look()), (None, None, None));
    }

    #[test]
    fn what_is_no_file_of_rules_is_named() {
        let mut looks = Looks::new();
        looks.write("a.yaml", RULES);
        assert_eq!(looks.look(), domain("d"));
        let path = |name: &str| looks.dir.path().join("rules").join(name);
        let texts = || -> Vec<String> {
            let mut watch = Watch::new(vec![path("")], false, None, rules::Settings::default());
            watch.read_now().map_or_else(|problems| problems, |(_, warnings)| warnings)
        };
        let fifo = |path| assert!(Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success()));
        let file = |path, bytes| fs::File::create(path).and_then(|file| file.set_len(bytes)).expect("a file");
        type Make<'m> = &'m dyn Fn(PathBuf);
        let rows: [(&str, Make<'_>, &str); 4] = [
            ("fifo.yaml", &fifo, "it is no regular file"),
            ("device.yml", &|path| symlink("/dev/zero", path).expect("a link"), "it is no regular file"),
            ("sparse.yaml", &|path| file(path, 3 << 30), "the rules have more than 64 MiB"),
            ("linked.yaml", &|path| symlink("a.yaml", path).expect("a link"), "domain"),
        ];
        for (name, make, expected) in rows {
            make(path(name));
            let texts = texts();
            assert!(
                matches!(&texts[..], [text] if text.contains(name) && text.contains(expected)),
                "{name}: {texts:?}"
            );
            fs::remove_file(path(name)).expect("removed");
        }
        // Together they have too much.
        (0..2).for_each(|n| fs::write(path(&format!("{n}.yaml")), "#".repeat(33 << 20)).expect("a file"));
        assert!(texts()[0].contains("1.yaml: the rules have more than 64 MiB"), "{:?}", texts());
        // One that is named itself is read whatever its name is.
        fs::write(path("r.yml.bak"), RULES).expect("a file");
        let mut named = Watch::new(vec![path("r.yml.bak")], false, None, rules::Settings::default());
        assert!(named.read_now().is_ok_and(|(rules, warnings)| rules.domains.len() == 1 && warnings.is_empty()));
    }
}
