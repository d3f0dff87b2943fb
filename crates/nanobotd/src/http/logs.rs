//! The log: the records of runs, line by line, as they grow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::Response;
use nb_api::ApiError;
use nb_api::runs::LogQuery;
use nb_store::{RunFilter, RunRow, Store};

use super::App;
use super::error::Refusal;
use super::follow::{self, Gone, Lines};
use super::runs::no_run;
use crate::refusal::{failed, no_agent};
use crate::views;

/// So many events of a record, or rows of runs, are read at once.
const PAGE: usize = 500;
/// So many of the newest runs are looked at for ones that were not seen yet; more only when all of them are new.
const NEWEST: usize = 100;
/// How many runs are shown without `limit`.
const SHOWN: usize = 20;
/// A burst of records is looked at once, this much later.
const BURST: Duration = Duration::from_millis(20);

pub(super) async fn logs(
    State(app): State<Arc<App>>,
    Query(query): Query<LogQuery>,
) -> Result<Response, Refusal> {
    if let Some(id) = &query.run
        && app.engine.services().store.run(id).ok().flatten().is_none()
    {
        return Err(no_run(id).into());
    }
    if let Some(name) = &query.agent
        && app.engine.agents().get(name).is_none()
    {
        return Err(no_agent(name).into());
    }
    Ok(follow::answer(move |lines| async move { write_log(&app, query, &lines).await }))
}

async fn write_log(app: &App, query: LogQuery, lines: &Lines) -> Result<(), ApiError> {
    let store = &app.engine.services().store;
    let mut changes = store.watch();
    let mut leaving = app.leaving.clone();
    let mut reader = Reader::new(store, query.agent, NEWEST);
    changes.mark_unchanged();
    match &query.run {
        Some(id) => reader.begin_with(id),
        None => reader.begin(query.limit.unwrap_or(SHOWN), query.follow)?,
    }
    loop {
        let gone = reader.write(lines).await?.is_err();
        if gone || !query.follow || query.run.is_some() && reader.has_ended() {
            return Ok(());
        }
        tokio::select! {
            _ = changes.changed() => tokio::time::sleep(BURST).await,
            () = follow::left(&mut leaving) => return Ok(()),
            () = lines.gone() => return Ok(()),
        }
        changes.mark_unchanged();
        if query.run.is_none() {
            reader.find()?;
        }
    }
}

/// A reader of the records. It writes each event of a run once, whatever order the ids of runs have: those of one
/// millisecond are in no order, and a clock may be set back.
struct Reader<'a> {
    store: &'a Store,
    agent: Option<String>,
    page: usize,
    /// Runs that are to be written on, with the last event that was written.
    growing: BTreeMap<String, u64>,
    /// The newest runs that were found before, ended or not. Bounded: what leaves it lies below `floor`.
    seen: BTreeSet<String>,
    /// Runs up to this one were all found before, but for those that have not ended.
    floor: String,
}

impl<'a> Reader<'a> {
    fn new(store: &'a Store, agent: Option<String>, page: usize) -> Self {
        let (growing, seen) = Default::default();
        Self { store, agent, page, growing, seen, floor: String::new() }
    }

    /// Begins with one run.
    fn begin_with(&mut self, id: &str) {
        self.growing.insert(id.to_owned(), 0);
    }

    /// Begins with the newest `limit` runs. When they are followed, then so are all that have not ended: of an older one
    /// only what comes.
    fn begin(&mut self, limit: usize, follow: bool) -> Result<(), ApiError> {
        let open = if follow { self.open()? } else { Vec::new() };
        let (mut newest, mut before) = (Vec::new(), None);
        let wanted = limit.max(self.page);
        while newest.len() < wanted {
            let page = self.runs(PAGE.min(wanted - newest.len()), before)?;
            let Some(last) = page.last() else { break };
            before = Some(last.clone());
            newest.extend(page);
        }
        self.growing = newest.iter().take(limit).map(|id| (id.clone(), 0)).collect();
        for id in open {
            if !self.growing.contains_key(&id) {
                let last = self.last_event(&id)?;
                self.growing.insert(id, last);
            }
        }
        if newest.len() >= wanted {
            self.floor = newest.last().cloned().unwrap_or_default();
        }
        self.seen = newest.into_iter().collect();
        self.bound();
        Ok(())
    }

    /// Finds the runs that are new.
    fn find(&mut self) -> Result<(), ApiError> {
        let mut before = None;
        let mut found: Vec<String> = self.open()?.into_iter().filter(|id| !self.seen.contains(id)).collect();
        loop {
            let page = self.runs(self.page, before)?;
            let fresh = |id: &&String| **id > self.floor && !self.seen.contains(*id);
            let count = found.len();
            found.extend(page.iter().filter(fresh).cloned());
            // Each page lies below the one before, so that this ends at the latest with the oldest run.
            match page.last() {
                Some(last) if found.len() > count && page.len() == self.page => before = Some(last.clone()),
                _ => break,
            }
        }
        for id in found {
            self.growing.entry(id.clone()).or_insert(0);
            self.seen.insert(id);
        }
        self.bound();
        Ok(())
    }

    /// Writes what is new of the runs that grow.
    async fn write(&mut self, lines: &Lines) -> Result<Result<(), Gone>, ApiError> {
        for (id, after) in std::mem::take(&mut self.growing) {
            // The row first: one that says that the run has ended is followed by no event.
            let Some(row) = self.store.run(&id).map_err(failed)? else { continue };
            let Ok(last) = self.write_run(&row, after, lines).await? else { return Ok(Err(Gone)) };
            if !row.status.is_final() {
                self.growing.insert(id, last);
            }
        }
        Ok(Ok(()))
    }

    async fn write_run(
        &self,
        row: &RunRow,
        mut after: u64,
        lines: &Lines,
    ) -> Result<Result<u64, Gone>, ApiError> {
        loop {
            let page = self.store.run_events(&row.id, after, PAGE).map_err(failed)?;
            if page.is_empty() {
                return Ok(Ok(after));
            }
            // Nobody is shown what a crash could take back.
            self.store.commit().await.map_err(failed)?;
            for (seq, stored) in page {
                after = seq;
                if lines.write(&views::log_line(row, seq, stored)).await.is_err() {
                    return Ok(Err(Gone));
                }
            }
        }
    }

    /// Whether no run is written on any more.
    fn has_ended(&self) -> bool {
        self.growing.is_empty()
    }

    /// Forgets the oldest of what was seen.
    fn bound(&mut self) {
        // Room for what comes between two looks, so that the pages of the next one are still known.
        while self.seen.len() > 4 * self.page {
            let Some(oldest) = self.seen.pop_first() else { break };
            self.floor = std::mem::take(&mut self.floor).max(oldest);
        }
    }

    fn runs(&self, limit: usize, before: Option<String>) -> Result<Vec<String>, ApiError> {
        let filter = RunFilter { agent: self.agent.clone(), limit, before };
        Ok(self.store.runs(&filter).map_err(failed)?.into_iter().map(|row| row.id).collect())
    }

    fn open(&self) -> Result<Vec<String>, ApiError> {
        let rows = self.store.unfinished().map_err(failed)?.into_iter();
        let mine = |row: &RunRow| self.agent.as_ref().is_none_or(|agent| *agent == row.agent);
        Ok(rows.filter(mine).map(|row| row.id).collect())
    }

    fn last_event(&self, id: &str) -> Result<u64, ApiError> {
        let mut last = 0;
        while let Some((seq, _)) = self.store.run_events(id, last, PAGE).map_err(failed)?.last() {
            last = *seq;
        }
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use nb_store::{EventRow, LedgerKey, RunKind, RunStatus};
    use serde_json::{Value, json};

    use super::*;

    struct Runs {
        store: Store,
        _dir: tempfile::TempDir,
    }

    impl Runs {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let store = Store::open(&dir.path().join("store"), DateTime::UNIX_EPOCH).unwrap();
            Self { store, _dir: dir }
        }

        fn begin(&self, id: &str) -> RunRow {
            let run = RunRow {
                id: id.to_owned(),
                kind: RunKind::Tool,
                agent: "hello".to_owned(),
                digest: String::new(),
                task: None,
                tool: None,
                unsandboxed: false,
                parent: None,
                actor: Value::Null,
                input: Value::Null,
                status: RunStatus::Running,
                outcome: None,
                error: None,
                output: None,
                depth: 0,
                created_at: DateTime::UNIX_EPOCH,
                started_at: None,
                finished_at: None,
            };
            self.store.begin_run(&LedgerKey::None, &run, &[said("begun")]).unwrap();
            run
        }

        fn end(&self, mut run: RunRow) {
            run.status = RunStatus::Completed;
            let (at, id) = (DateTime::<Utc>::UNIX_EPOCH, String::new());
            let (name, source) = ("run.completed".to_owned(), String::new());
            let event = EventRow { seq: 0, id, name, data: Value::Null, source, at, depth: 0 };
            self.store.finish_run(&run, &said("ended"), &event).unwrap();
        }

        /// Runs that have ended.
        fn add(&self, numbers: impl Iterator<Item = u32>) {
            numbers.for_each(|number| self.end(self.begin(&id(number))));
        }
    }

    fn id(number: u32) -> String {
        format!("run_{number:06}")
    }

    fn said(event: &str) -> Value {
        json!({"event": event, "at": DateTime::<Utc>::UNIX_EPOCH})
    }

    /// What a reader writes now: the run and the event of each line.
    async fn written(reader: &mut Reader<'_>) -> Vec<(String, String)> {
        let (lines, mut receiver) = follow::lines();
        let writing = async {
            reader.write(&lines).await.unwrap().unwrap();
            drop(lines);
        };
        let reading = async {
            let mut found = Vec::new();
            while let Some(line) = receiver.recv().await {
                let line: Value = serde_json::from_slice(&line).unwrap();
                let text = |field: &str| line[field].as_str().unwrap().to_owned();
                found.push((text("run"), text("event")));
            }
            found
        };
        tokio::join!(writing, reading).1
    }

    fn whole(numbers: impl Iterator<Item = u32>) -> Vec<(String, String)> {
        numbers.flat_map(|n| ["begun", "ended"].map(|event| (id(n), event.to_owned()))).collect()
    }

    #[tokio::test]
    async fn new_runs_are_written_once_however_many_pages_there_are() {
        let runs = Runs::new();
        runs.add(0..60);
        let mut reader = Reader::new(&runs.store, None, 10);
        reader.begin(20, true).unwrap();
        assert_eq!(written(&mut reader).await, whole(40..60));
        // One, a page, some pages, more than is remembered.
        for new in [60..61, 61..71, 71..104, 104..204] {
            runs.add(new.clone());
            reader.find().unwrap();
            assert_eq!(written(&mut reader).await, whole(new));
            reader.find().unwrap();
            assert_eq!(written(&mut reader).await, []);
            assert!(reader.seen.len() <= 40, "it is bounded");
        }
    }

    #[tokio::test]
    async fn a_run_whose_id_is_older_than_the_newest_is_written_as_well() {
        let runs = Runs::new();
        runs.add((0..30).map(|number| number * 10));
        let mut reader = Reader::new(&runs.store, None, 10);
        reader.begin(0, true).unwrap();
        // Within one millisecond, or after the clock was set back by a little.
        runs.add([295, 285].into_iter());
        reader.find().unwrap();
        assert_eq!(written(&mut reader).await, whole([285, 295].into_iter()));
        // Set back by much: while it runs, it is found by that.
        let old = runs.begin(&id(1));
        reader.find().unwrap();
        assert_eq!(written(&mut reader).await, [(id(1), "begun".to_owned())]);
        runs.end(old);
        reader.find().unwrap();
        assert_eq!(written(&mut reader).await, [(id(1), "ended".to_owned())]);
        reader.find().unwrap();
        assert_eq!(written(&mut reader).await, []);
    }

    #[tokio::test]
    async fn a_run_that_goes_on_is_followed_however_old_it_is() {
        let runs = Runs::new();
        let old = runs.begin(&id(0));
        runs.add(1..200);
        for limit in [0, 20] {
            let mut reader = Reader::new(&runs.store, None, 10);
            reader.begin(limit, true).unwrap();
            let shown = u32::try_from(limit).unwrap();
            assert_eq!(written(&mut reader).await, whole(200 - shown..200), "with -n {limit}");
            runs.store.append(&old.id, &said("log")).unwrap();
            reader.find().unwrap();
            assert_eq!(written(&mut reader).await, [(old.id.clone(), "log".to_owned())]);
        }
    }

    #[tokio::test]
    async fn what_is_shown_is_on_disk() {
        let runs = Runs::new();
        runs.begin(&id(0));
        let flushes = runs.store.flushes();
        let mut reader = Reader::new(&runs.store, None, 10);
        reader.begin(1, false).unwrap();
        assert_eq!(written(&mut reader).await.len(), 1);
        assert!(runs.store.flushes() > flushes);
    }
}
