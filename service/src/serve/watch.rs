//! Reads the rules, and reads them again when a file changes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use crate::rules::{self, Rules};

/// What tells one state of the files from another, also if a directory was exchanged by a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint(Vec<(PathBuf, u64, u64, u64, i64, i64)>);

/// The rules and the warnings about them; or what is wrong. One line each.
pub type Outcome = Result<(Rules, Vec<String>), Vec<String>>;

/// The files of rules.
#[derive(Debug)]
pub struct Watch {
    paths: Vec<PathBuf>,
    ignore_dot_files: bool,
    settings: rules::Settings,
    /// What was read last; `None` before that.
    last: Option<Seen>,
}

/// What is where the rules should be.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// A file or a directory cannot be found.
    Missing,
    /// The files. A directory may have none.
    Files(Fingerprint),
}

impl Watch {
    pub const fn new(paths: Vec<PathBuf>, ignore_dot_files: bool, settings: rules::Settings) -> Self {
        Self { paths, ignore_dot_files, settings, last: None }
    }

    /// The rules, if the files have changed since the last call.
    pub fn changed(&mut self) -> Option<Outcome> {
        // Files that cannot be found are an error once, not each time.
        let before = Some(self.seen());
        if before == self.last {
            return None;
        }
        let result = self.read();
        // Files that change while they are read may not belong together: they are read again.
        if before != Some(self.seen()) {
            return None;
        }
        self.last = before;
        Some(result)
    }

    fn read(&self) -> Outcome {
        let sources = rules::read(&self.paths, self.ignore_dot_files)
            .map_err(|(path, error)| vec![format!("{}: {error}", path.display())])?;
        let (rules, findings) = rules::load(&sources, self.settings);
        let lines = |problems: &[rules::Problem]| problems.iter().map(ToString::to_string).collect();
        rules.map(|rules| (rules, lines(&findings.warnings))).ok_or_else(|| lines(&findings.errors))
    }

    fn seen(&self) -> Seen {
        let files = rules::files(&self.paths, self.ignore_dot_files).ok();
        files.and_then(Fingerprint::of).map_or(Seen::Missing, Seen::Files)
    }
}

impl Fingerprint {
    /// `None` if a file cannot be found.
    pub fn of(files: impl IntoIterator<Item = PathBuf>) -> Option<Self> {
        let of = |path: PathBuf| {
            let meta = fs::metadata(&path).ok()?;
            Some((path, meta.dev(), meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()))
        };
        files.into_iter().map(of).collect::<Option<_>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const RULES: &str = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 1}}]\n";

    #[test]
    fn a_change_is_seen_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("a.yaml");
        let mut watch = Watch::new(vec![dir.path().into()], false, rules::Settings::default());
        assert!(watch.changed().is_some_and(|result| result.is_ok_and(|(rules, _)| rules.domains.is_empty())));
        assert!(watch.changed().is_none());
        fs::write(&file, RULES).expect("written");
        assert!(watch.changed().is_some_and(|result| result.is_ok_and(|(rules, _)| rules.domains.len() == 1)));
        assert!(watch.changed().is_none());
        fs::write(&file, "wrong").expect("written");
        assert!(watch.changed().is_some_and(|result| result.is_err()));
        assert!(watch.changed().is_none());
    }

    #[test]
    fn a_directory_that_a_link_exchanges_is_seen() {
        // As Kubernetes does: the files are links into ..data, which is a link to a version.
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        for (version, text) in [("..1", RULES), ("..2", "domain: e\n")] {
            fs::create_dir(at(version)).expect("a directory");
            fs::write(at(version).join("a.yaml"), text).expect("written");
        }
        symlink("..1", at("..data")).expect("a link");
        symlink("..data/a.yaml", at("a.yaml")).expect("a link");
        let mut watch = Watch::new(vec![dir.path().into()], false, rules::Settings::default());
        let domains = |watch: &mut Watch| {
            watch
                .changed()
                .map(|result| result.expect("valid").0.domains.keys().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(domains(&mut watch), Some(vec!["d".to_owned()]));
        symlink("..2", at("..new")).expect("a link");
        fs::rename(at("..new"), at("..data")).expect("renamed");
        assert_eq!(domains(&mut watch), Some(vec!["e".to_owned()]));
        assert_eq!(domains(&mut watch), None);
    }

    #[test]
    fn a_directory_that_is_missing_is_an_error_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let missing = dir.path().join("rules");
        let mut watch = Watch::new(vec![missing.clone()], false, rules::Settings::default());
        assert!(watch.changed().is_some_and(|result| result.is_err()));
        assert!(watch.changed().is_none());
        fs::create_dir(&missing).expect("a directory");
        // Empty is not missing.
        assert!(watch.changed().is_some_and(|result| result.is_ok_and(|(rules, _)| rules.domains.is_empty())));
        assert!(watch.changed().is_none());
        fs::remove_dir(&missing).expect("removed");
        assert!(watch.changed().is_some_and(|result| result.is_err()));
        assert!(watch.changed().is_none());
        fs::create_dir(&missing).expect("a directory");
        fs::write(missing.join("a.yaml"), RULES).expect("written");
        assert!(watch.changed().is_some_and(|result| result.is_ok()));
    }
}
