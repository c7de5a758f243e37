//! Links between the pages. Links to other hosts are not followed: a test must not depend on them.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use comrak::Anchorizer;
use comrak::nodes::NodeValue;

use crate::{Page, pages, root, text_of};

#[test]
fn relative_links_lead_to_files_and_headings() {
    let pages = pages();
    let anchors: HashMap<&Path, Vec<String>> =
        pages.iter().map(|page| (page.path.as_path(), anchors_of(page))).collect();
    let mut broken = Vec::new();
    for page in &pages {
        for link in links_of(page).iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (file, anchor) = link.split_once('#').map_or((link.as_str(), None), |(file, id)| (file, Some(id)));
            let target = if file.is_empty() { page.path.clone() } else { beside(&page.path, file) };
            let exists = root().join(&target).exists();
            let known = anchors.get(target.as_path());
            let leads = anchor.is_none_or(|id| known.is_some_and(|ids| ids.iter().any(|known| known == id)));
            if !exists || !leads {
                broken.push(format!("{}: {link}", page.path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

/// A page below docs/ that no other page links to is not found by anybody.
#[test]
fn every_page_is_linked_to() {
    let pages = pages();
    let linked: Vec<PathBuf> = pages
        .iter()
        .flat_map(|page| links_of(page).into_iter().map(|link| (page.path.clone(), link)))
        .filter_map(|(from, link)| {
            let to = beside(&from, link.split('#').next()?);
            (to != from).then_some(to)
        })
        .collect();
    let lonely: Vec<_> =
        pages.iter().map(|page| &page.path).filter(|path| path.starts_with("docs") && !linked.contains(path)).collect();
    assert!(lonely.is_empty(), "no link leads to {lonely:?}");
}

fn links_of(page: &Page) -> Vec<String> {
    let mut links = Vec::new();
    page.visit(|node| match &node.data.borrow().value {
        NodeValue::Link(link) | NodeValue::Image(link) => links.push(link.url.clone()),
        _ => {}
    });
    links
}

/// The anchors that the headings of a page get.
pub(crate) fn anchors_of(page: &Page) -> Vec<String> {
    let mut anchorizer = Anchorizer::new();
    let mut anchors = Vec::new();
    page.visit(|node| {
        if matches!(node.data.borrow().value, NodeValue::Heading(_)) {
            anchors.push(anchorizer.anchorize(&text_of(node)));
        }
    });
    anchors
}

/// The path that a link on `page` names, below the root.
fn beside(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}
