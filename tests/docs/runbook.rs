//! docs/runbook.md: each alert leads to a section there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use comrak::nodes::NodeValue;

use crate::links::anchors_of;
use crate::{Page, root, text_of};

/// An alert leads to its own section, or to that of what callers see.
#[test]
fn each_alert_leads_to_its_section() {
    let rules = fs::read_to_string(root().join("deploy/monitoring/alerts.yml")).expect("the alerts");
    let after = |prefix: &'static str| rules.lines().filter_map(move |line| line.trim_start().strip_prefix(prefix));
    let page = Page::read(Path::new("docs/runbook.md"));
    let anchors = anchors_of(&page);
    let led_to: Vec<&str> =
        after("runbook_url: ").map(|url| url.strip_prefix("docs/runbook.md#").unwrap_or(url)).collect();
    let lost: Vec<_> = led_to.iter().filter(|to| !anchors.iter().any(|anchor| anchor == *to)).collect();
    assert!(lost.is_empty(), "no section of the runbook: {lost:?}");
    assert_eq!(led_to.len(), after("- alert: ").count(), "an alert has no runbook_url, or two");

    let (mut part, mut sections) = (String::new(), BTreeSet::new());
    page.visit(|node| match &node.data.borrow().value {
        NodeValue::Heading(heading) if heading.level == 2 => part = text_of(node),
        NodeValue::Heading(heading) if heading.level == 3 && part.starts_with("Alerts of ") => {
            sections.insert(text_of(node));
        }
        _ => {}
    });
    let own: BTreeSet<String> = after("- alert: ")
        .zip(&led_to)
        .filter(|(alert, to)| alert.to_lowercase() == **to)
        .map(|(alert, _)| alert.to_owned())
        .collect();
    assert_eq!(sections, own, "(left: the sections, right: the alerts that lead to their own)");
}
