//! Finds the files of rules.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Deeper directories are not read: a link may lead back up.
const MAX_DEPTH: usize = 16;

/// A file of rules: its name, as the errors show it, and its text.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
}

/// Reads files, and every file in directories.
///
/// # Errors
/// A file cannot be read: its path, and why.
pub fn read(paths: &[PathBuf], ignore_dot_files: bool) -> Result<Vec<Source>, (PathBuf, io::Error)> {
    files(paths, ignore_dot_files)?
        .into_iter()
        .map(|path| match fs::read_to_string(&path) {
            Ok(text) => Ok(Source { name: path.display().to_string(), text }),
            Err(error) => Err((path, error)),
        })
        .collect()
}

/// Files, and the files in directories, in the order of their paths. Names that begin with `..` are left out: Kubernetes
/// keeps the versions of a ConfigMap there, and links to the current one.
///
/// # Errors
/// A directory cannot be read: its path, and why.
pub fn files(paths: &[PathBuf], ignore_dot_files: bool) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut files = Vec::new();
    for path in paths {
        let mut found = Vec::new();
        collect(path, ignore_dot_files, 0, &mut found)?;
        found.sort();
        files.extend(found);
    }
    Ok(files)
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
