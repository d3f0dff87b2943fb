//! What a package asks for, and a person's decision about it.

use std::io::{self, BufRead};

use nb_api::agents::PermissionView;

use crate::page::{Page, Span, Tint};

/// The permissions of a package beside those of the installed version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// Asked for the first time; these are to be decided.
    pub new: Vec<PermissionView>,
    /// Granted to the installed version, and stay so.
    pub kept: Vec<PermissionView>,
    /// Unknown here; they grant nothing.
    pub unknown: Vec<PermissionView>,
    /// Granted to the installed version, and no longer asked for.
    pub withdrawn: Vec<PermissionView>,
}

impl Request {
    /// Compares what a package asks for with what the installed version has.
    pub fn new(asked: &[PermissionView], installed: &[PermissionView]) -> Self {
        let mut request = Self::default();
        for view in asked.iter().cloned() {
            match (view.known, view.granted) {
                (false, _) => request.unknown.push(view),
                (true, true) => request.kept.push(view),
                (true, false) => request.new.push(view),
            }
        }
        let gone = |view: &&PermissionView| {
            view.granted && asked.iter().all(|asked| asked.permission != view.permission)
        };
        request.withdrawn = installed.iter().filter(gone).cloned().collect();
        request
    }

    /// What to tell the daemon when of the new permissions these are granted.
    pub fn grant(&self, chosen: &[usize]) -> String {
        let new =
            self.new.iter().enumerate().filter(|(index, _)| chosen.contains(index)).map(|(_, view)| view);
        let granted: Vec<&str> = self.kept.iter().chain(new).map(|view| view.permission.as_str()).collect();
        match granted.len() {
            0 => "none".to_owned(),
            all if all == self.kept.len() + self.new.len() => "all".to_owned(),
            _ => granted.join(","),
        }
    }

    /// One line a permission; the new ones have the number by which they are chosen.
    pub fn show(&self, page: &mut Page) {
        let groups = [
            ("new", Tint::Warning, &self.new),
            ("kept", Tint::Plain, &self.kept),
            ("unknown", Tint::Faint, &self.unknown),
            ("withdrawn", Tint::Faint, &self.withdrawn),
        ];
        let all = || groups.iter().flat_map(|(word, _, views)| views.iter().map(move |view| (*word, view)));
        if all().next().is_none() {
            return page.line("asks for nothing");
        }
        page.line(Span::new("asks for", Tint::Strong));
        let word_width = all().map(|(word, _)| word.len()).max().unwrap_or(0);
        let width = all().map(|(_, view)| view.permission.chars().count()).max().unwrap_or(0);
        for (word, tint, views) in groups {
            for (index, view) in views.iter().enumerate() {
                let number = if word == "new" { (index + 1).to_string() } else { String::new() };
                page.spans(&[
                    format!("  {number:>2}  ").into(),
                    Span::new(format!("{word:word_width$}"), tint),
                    format!("  {:width$}  {}", view.permission, view.words).into(),
                ]);
            }
        }
    }
}

/// Asks until the answer is one, and gives the numbers of the granted permissions, counted from 0. None when the
/// input ends before.
pub(crate) fn ask(
    count: usize,
    input: &mut impl BufRead,
    say: &mut impl FnMut(&str),
) -> io::Result<Option<Vec<usize>>> {
    loop {
        say("grant [all/none/numbers such as 1,3]? ");
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match choice(&line, count) {
            Ok(chosen) => return Ok(Some(chosen)),
            Err(problem) => say(&format!("{problem}\n")),
        }
    }
}

fn choice(answer: &str, count: usize) -> Result<Vec<usize>, String> {
    match answer.trim().to_lowercase().as_str() {
        "" => Err("please answer: nothing is granted by default".to_owned()),
        "a" | "all" => Ok((0..count).collect()),
        "n" | "none" => Ok(Vec::new()),
        numbers => numbers
            .split([',', ' '])
            .filter(|part| !part.is_empty())
            .map(|part| match part.parse::<usize>() {
                Ok(number) if (1..=count).contains(&number) => Ok(number - 1),
                _ => Err(format!("`{part}` is not a number from 1 to {count}")),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;

    fn view(permission: &str, words: &str, known: bool, granted: bool) -> PermissionView {
        PermissionView { permission: permission.to_owned(), words: words.to_owned(), known, granted }
    }

    fn upgrade() -> Request {
        let asked = [
            view("log.info", "write to its log", true, true),
            view("kv.write", "change its own stored values", true, false),
            view("notify.user", "show you notifications", true, false),
            view("search.web", "unknown here: grants nothing", false, false),
        ];
        let installed =
            [asked[0].clone(), view("http.fetch", "send requests to servers on the internet", true, true)];
        Request::new(&asked, &installed)
    }

    #[test]
    fn an_upgrade_shows_what_changes() {
        insta::assert_snapshot!(render(None, |page| upgrade().show(page)), @"
        asks for
           1  new        kv.write     change its own stored values
           2  new        notify.user  show you notifications
              kept       log.info     write to its log
              unknown    search.web   unknown here: grants nothing
              withdrawn  http.fetch   send requests to servers on the internet
        ");
        insta::assert_snapshot!(render(None, |page| Request::default().show(page)), @"asks for nothing");
    }

    #[test]
    fn what_was_granted_before_stays_granted() {
        assert_eq!(upgrade().grant(&[]), "log.info");
        assert_eq!(upgrade().grant(&[1]), "log.info,notify.user");
        assert_eq!(upgrade().grant(&[0, 1]), "all");
        assert_eq!(Request::default().grant(&[]), "none");
    }

    #[test]
    fn nothing_is_granted_by_mistake() {
        let mut said = String::new();
        let mut input = io::Cursor::new("\nyes\n3\n0\n 2 , 1\n");
        let chosen = ask(2, &mut input, &mut |text| said.push_str(text)).unwrap();
        assert_eq!(chosen, Some(vec![1, 0]));
        insta::assert_snapshot!(said, @"
        grant [all/none/numbers such as 1,3]? please answer: nothing is granted by default
        grant [all/none/numbers such as 1,3]? `yes` is not a number from 1 to 2
        grant [all/none/numbers such as 1,3]? `3` is not a number from 1 to 2
        grant [all/none/numbers such as 1,3]? `0` is not a number from 1 to 2
        grant [all/none/numbers such as 1,3]?
        ");
        assert_eq!(ask(2, &mut io::Cursor::new(""), &mut |_| {}).unwrap(), None);
        assert_eq!(choice("ALL\n", 3), Ok(vec![0, 1, 2]));
        assert_eq!(choice("none", 3), Ok(vec![]));
    }
}
