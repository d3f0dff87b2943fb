//! `nbctl inbox`.

use nb_api::host::InboxItem;

use crate::context::Context;
use crate::error::Error;
use crate::page::{Page, Span, Tint};

#[derive(Debug, clap::Args)]
pub(crate) struct Inbox {}

impl Inbox {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let items: Vec<InboxItem> = context.client()?.get("/v1/inbox", &()).await?;
        context.output.show(&items, |items, page| list(items, page))
    }
}

fn list(items: &[InboxItem], page: &mut Page) {
    if items.is_empty() {
        return page.line("the inbox is empty");
    }
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            page.gap();
        }
        let tint = if matches!(item.priority.as_str(), "high" | "urgent") { Tint::Bad } else { Tint::Strong };
        page.spans(&[
            format!("{}  ", item.seq).into(),
            Span::new(&item.title, tint),
            Span::new(format!("  {}, {}, {}", item.agent, item.priority, page.ago(item.at)), Tint::Faint),
        ]);
        page.quote(4, &item.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;

    #[test]
    fn a_notification_is_told_with_its_sender() {
        let item = |seq, title: &str, body: &str, priority: &str| InboxItem {
            seq,
            at: "2026-03-01T11:55:00Z".parse().unwrap(),
            agent: "repo-watch".to_owned(),
            run: None,
            title: title.to_owned(),
            body: body.to_owned(),
            priority: priority.to_owned(),
        };
        let items = [item(1, "3 commits", "ada: 2\nbob: 1", "normal"), item(2, "No disk", "", "urgent")];
        insta::assert_snapshot!(render(None, |page| list(&items, page)), @"
        1  3 commits  repo-watch, normal, 5 min ago
            | ada: 2
            | bob: 1

        2  No disk  repo-watch, urgent, 5 min ago
        ");
        insta::assert_snapshot!(render(None, |page| list(&[], page)), @"the inbox is empty");
    }
}
