//! Group commit: one flush answers everybody who asked before it began.
//!
//! Two threads. The *flusher* does one flush after the other. The *supervisor* collects callers, sends the
//! flusher off for all of them and watches it, because a flush can wait for ever: when a write to the disk fails
//! in the background, sled 0.34 records the error without waking those who wait for that write
//! (`Log::exit_reservation`). Any further write wakes them, so the supervisor makes one.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::StoreError;
use crate::db::Db;

/// How long a flush may take before it is looked after. Ordinary ones take milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a flush of a failed database is nudged before its callers are answered without it.
const NUDGES: u32 = 3;

type Answer = Result<(), StoreError>;

enum Waiter {
    Task(oneshot::Sender<Answer>),
    Thread(SyncSender<Answer>),
}

impl Waiter {
    fn answer(self, answer: Answer) {
        // Whoever does not wait any more needs no answer.
        match self {
            Self::Task(sender) => drop(sender.send(answer)),
            Self::Thread(sender) => drop(sender.send(answer)),
        }
    }
}

pub(crate) struct Committer {
    /// None once it has been stopped.
    queue: Option<Sender<Waiter>>,
    supervisor: Option<JoinHandle<()>>,
    flushes: Arc<AtomicU64>,
}

impl Committer {
    pub(crate) fn start(db: Arc<Db>, dir: &Path) -> Result<Self, StoreError> {
        let flushes = Arc::new(AtomicU64::new(0));
        let disk = Disk::open(db.clone(), dir, flushes.clone())?;
        let (queue, waiters) = channel();
        let (go, orders) = sync_channel::<()>(1);
        let (report, done) = channel();
        let cannot = |error| StoreError::io("start a thread of the store", &error);
        let flusher = Builder::new()
            .name("store-flush".to_owned())
            .spawn(move || orders.iter().map(|()| disk.sync()).all(|answer| report.send(answer).is_ok()))
            .map_err(cannot)?;
        let supervisor = Builder::new()
            .name("store-commit".to_owned())
            .spawn(move || {
                if supervise(&db, &waiters, &go, &done) {
                    drop(go);
                    drop(flusher.join());
                }
            })
            .map_err(cannot)?;
        Ok(Self { queue: Some(queue), supervisor: Some(supervisor), flushes })
    }

    pub(crate) async fn commit(&self) -> Answer {
        let (sender, answer) = oneshot::channel();
        self.enqueue(Waiter::Task(sender))?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }

    pub(crate) fn commit_blocking(&self) -> Answer {
        let (sender, answer) = sync_channel(1);
        self.enqueue(Waiter::Thread(sender))?;
        answer.recv().unwrap_or_else(|_| Err(closed()))
    }

    pub(crate) fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Relaxed)
    }

    /// Flushes once more and ends both threads.
    pub(crate) fn stop(&mut self) -> Answer {
        let last = self.commit_blocking();
        drop(self.queue.take());
        if let Some(supervisor) = self.supervisor.take() {
            drop(supervisor.join());
        }
        last
    }

    fn enqueue(&self, waiter: Waiter) -> Answer {
        self.queue.as_ref().and_then(|queue| queue.send(waiter).ok()).ok_or_else(closed)
    }
}

/// Answers callers until the store is closed. False when the flusher is stuck and must not be waited for.
fn supervise(db: &Db, waiters: &Receiver<Waiter>, go: &SyncSender<()>, done: &Receiver<Answer>) -> bool {
    while let Ok(first) = waiters.recv() {
        // Everybody in the queue has written what they want committed; who comes later takes the next flush.
        let group: Vec<Waiter> = std::iter::once(first).chain(waiters.try_iter()).collect();
        let answer = if go.send(()).is_ok() { wait(db, done, PATIENCE) } else { None };
        let stuck = answer.is_none();
        let answer = answer.unwrap_or_else(|| Err(db.failure().unwrap_or_else(closed)));
        for waiter in group {
            waiter.answer(answer.clone());
        }
        if stuck {
            return false;
        }
    }
    true
}

/// The flusher's answer; none when it hangs although the database has failed.
fn wait(db: &Db, done: &Receiver<Answer>, patience: Duration) -> Option<Answer> {
    let mut nudges = 0;
    loop {
        match done.recv_timeout(patience) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if db.failure().is_none() => {
                tracing::warn!("the disk is slow: a flush takes longer than {patience:?}");
            }
            Err(RecvTimeoutError::Timeout) if nudges < NUDGES => {
                nudges += 1;
                // It fails, as everything does by now. What counts is that it wakes the flush.
                drop(db.nudge());
            }
            Err(RecvTimeoutError::Timeout) => return None,
        }
    }
}

fn closed() -> StoreError {
    StoreError::Io {
        doing: "commit".to_owned(),
        kind: std::io::ErrorKind::BrokenPipe,
        reason: "the store has stopped writing".to_owned(),
    }
}

/// The database and its file.
struct Disk {
    db: Arc<Db>,
    /// sled 0.34 ends a flush on Linux with `sync_file_range` (`IoBufs::write_to_log`), which writes neither the
    /// file's size and block map nor the cache of the drive: after a power cut the data may be gone. An
    /// `fdatasync` of the same file does both. It is opened once so that an error of writing in the background is
    /// reported to this descriptor and not lost between two opens.
    file: File,
    flushes: Arc<AtomicU64>,
    /// The count of writes that the last flush covered.
    flushed: AtomicU64,
}

impl Disk {
    fn open(db: Arc<Db>, dir: &Path, flushes: Arc<AtomicU64>) -> Result<Self, StoreError> {
        let path = dir.join("db");
        let file =
            File::open(&path).map_err(|error| StoreError::io(format!("open {}", path.display()), &error))?;
        Ok(Self { db, file, flushes, flushed: AtomicU64::new(u64::MAX) })
    }

    fn sync(&self) -> Answer {
        if let Some(failure) = self.db.failure() {
            return Err(failure);
        }
        let writes = self.db.write_count();
        if self.flushed.load(Ordering::Relaxed) == writes {
            return Ok(());
        }
        self.db.flush()?;
        // After a failed sync the kernel may have dropped the pages: trying again would succeed and mean nothing.
        self.file
            .sync_data()
            .map_err(|error| self.db.fail(StoreError::io("sync the store to the disk", &error)))?;
        self.flushed.store(writes, Ordering::Relaxed);
        self.flushes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    #[test]
    fn a_flush_that_hangs_in_a_failed_store_is_answered_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let db = Db::open(dir.path()).unwrap();
        db.fail(closed());
        let (_never, done) = channel();
        assert_eq!(wait(&db, &done, SOON), None);
    }

    #[test]
    fn a_slow_flush_of_a_healthy_store_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let db = Db::open(dir.path()).unwrap();
        let (db, (answer, done)) = (&db, channel());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(move || wait(db, &done, SOON));
            // Far more patience than there is, in waits that end by themselves.
            let (_never, pause) = channel::<()>();
            for _ in 0..3 * NUDGES {
                assert!(pause.recv_timeout(2 * SOON).is_err());
            }
            assert!(!waiting.is_finished());
            answer.send(Ok(())).unwrap();
            assert_eq!(waiting.join().unwrap(), Some(Ok(())));
        });
    }
}
