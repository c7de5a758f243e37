//! Finds the files of rules.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Deeper directories are not read: a link may lead back up.
const MAX_DEPTH: usize = 16;

/// How many bytes all files may have. A million rules take less.
const MAX_BYTES: u64 = 64 << 20;

/// What was found in directories.
#[derive(Debug, Default)]
pub struct Files {
    pub rules: Vec<PathBuf>,
    /// Files whose names do not end as those of rules do.
    pub left_out: Vec<PathBuf>,
}

/// A file of rules: its name, as the errors show it, and its text.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read: its name, and why.
    pub fn read(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        match read_file(path, &mut { MAX_BYTES }) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => Err(format!("{name}: {error}")),
        }
    }
}

/// Reads files, and the files of rules in directories. The second are the lines about those that are left out.
///
/// # Errors
/// A file cannot be read: its path, and why.
pub fn read(paths: &[PathBuf], ignore_dot_files: bool) -> Result<(Vec<Source>, Vec<String>), (PathBuf, io::Error)> {
    let Files { rules, left_out } = files(paths, ignore_dot_files)?;
    let mut left = MAX_BYTES;
    let read = |path: PathBuf| match read_file(&path, &mut left) {
        Ok(text) => Ok(Source { name: path.display().to_string(), text }),
        Err(error) => Err((path, error)),
    };
    let sources = rules.into_iter().map(read).collect::<Result<_, _>>()?;
    Ok((sources, left_out.iter().map(|path| why_left_out(path)).collect()))
}

/// The line about a file that is left out.
pub fn why_left_out(left_out: &Path) -> String {
    format!("{}: left out, since it does not end in .yaml or .yml", left_out.display())
}

/// The text of a regular file that has no more than what is left of the bytes. Any other file may wait for a writer, or
/// have no end.
fn read_file(path: &Path, left: &mut u64) -> io::Result<String> {
    let check = |metadata: fs::Metadata, left| match (metadata.is_file(), metadata.len() <= left) {
        (false, _) => Err(io::Error::other("it is no regular file")),
        (true, false) => Err(io::Error::other(format!("the rules have more than {} MiB", MAX_BYTES >> 20))),
        (true, true) => Ok(()),
    };
    // Opening a device may do something, and what the name means may change before the file is open.
    check(fs::metadata(path)?, *left)?;
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblocking).open(path)?;
    check(file.metadata()?, *left)?;
    let mut text = String::new();
    file.take(*left).read_to_string(&mut text)?;
    *left -= text.len() as u64;
    Ok(text)
}

/// Files, and the files of rules in directories, in the order of their paths. Names that begin with `..` do not count:
/// Kubernetes keeps the versions of a ConfigMap there, and links to the current one.
///
/// # Errors
/// A directory cannot be read: its path, and why.
pub fn files(paths: &[PathBuf], ignore_dot_files: bool) -> Result<Files, (PathBuf, io::Error)> {
    let mut files = Files::default();
    for path in paths {
        let mut found = Vec::new();
        collect(path, ignore_dot_files, 0, &mut found)?;
        found.sort();
        let (rules, left_out) = found.into_iter().partition(|found| found == path || has_the_name_of_rules(found));
        files.rules.extend::<Vec<_>>(rules);
        files.left_out.extend::<Vec<_>>(left_out);
    }
    Ok(files)
}

fn has_the_name_of_rules(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "yaml" || end == "yml")
}

fn collect(
    path: &Path,
    ignore_dot_files: bool,
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> Result<(), (PathBuf, io::Error)> {
    let failed = |error| (path.to_owned(), error);
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    if depth >= MAX_DEPTH {
        return Err(failed(io::Error::other(format!("more than {MAX_DEPTH} directories in each other"))));
    }
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let hidden = if ignore_dot_files { "." } else { ".." };
        if !name.as_encoded_bytes().starts_with(hidden.as_bytes()) {
            collect(&entry.path(), ignore_dot_files, depth + 1, found)?;
        }
    }
    Ok(())
}
