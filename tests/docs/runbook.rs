//! docs/runbook.md: each alert has its section there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use comrak::nodes::NodeValue;

use crate::{Page, root, text_of};

#[test]
fn each_alert_leads_to_its_section() {
    let rules = fs::read_to_string(root().join("deploy/monitoring/alerts.yml")).expect("the alerts");
    let after = |prefix: &'static str| rules.lines().filter_map(move |line| line.trim_start().strip_prefix(prefix));
    let alerts: BTreeSet<String> = after("- alert: ").map(str::to_owned).collect();
    let expected: Vec<_> = after("- alert: ").map(|name| format!("docs/runbook.md#{}", name.to_lowercase())).collect();
    assert_eq!(after("runbook_url: ").collect::<Vec<_>>(), expected);

    let (mut part, mut sections) = (String::new(), BTreeSet::new());
    Page::read(Path::new("docs/runbook.md")).visit(|node| match &node.data.borrow().value {
        NodeValue::Heading(heading) if heading.level == 2 => part = text_of(node),
        NodeValue::Heading(heading) if heading.level == 3 && part.starts_with("Alerts of ") => {
            sections.insert(text_of(node));
        }
        _ => {}
    });
    assert_eq!(sections, alerts, "(left: the sections, right: the alerts)");
}
