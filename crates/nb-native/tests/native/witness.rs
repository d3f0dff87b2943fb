//! Whether any process of a call is still there, wherever it went and whatever it became.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};

/// Longer than any end takes, also on a machine that is busy.
const DEADLINE: Duration = Duration::from_secs(30);

/// A pipe with a name, which a tool opens. Each program that it starts holds it open, and hands it on in turn: the end
/// of the pipe is the end of all of them.
pub struct Witness {
    folder: tempfile::TempDir,
    pipe: File,
}

impl Witness {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let pipe = open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).unwrap();
        Self { folder, pipe: pipe.into() }
    }

    /// A Lua script, and before it what makes the tool hold the pipe.
    pub fn watches(&self, script: &str) -> String {
        self.filled(&format!("local pipe = io.open('FOLDER/pipe', 'w') {script}"))
    }

    /// Puts a file into the folder.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), self.filled(text)).unwrap();
    }

    /// A text with the folder of this witness for `FOLDER`.
    pub fn filled(&self, text: &str) -> String {
        text.replace("FOLDER", self.folder.path().to_str().unwrap())
    }

    /// Waits until something was written to the pipe.
    pub fn hears(&mut self) {
        assert_eq!(self.wait(DEADLINE), PollFlags::IN, "nothing was written");
    }

    /// Whether all have ended by now.
    pub fn sees_nobody(&mut self) -> bool {
        self.see(Duration::ZERO)
    }

    /// Waits until all have ended. Tells whether they did.
    pub fn sees_the_end(&mut self) -> bool {
        self.see(DEADLINE)
    }

    fn see(&mut self, patience: Duration) -> bool {
        loop {
            let seen = self.wait(patience);
            if !seen.contains(PollFlags::IN) {
                return seen.contains(PollFlags::HUP);
            }
            assert!(self.pipe.read(&mut [0; 4096]).unwrap() > 0);
        }
    }

    fn wait(&self, patience: Duration) -> PollFlags {
        let mut pipe = [PollFd::new(&self.pipe, PollFlags::IN)];
        let patience = Timespec { tv_sec: i64::try_from(patience.as_secs()).unwrap(), tv_nsec: 0 };
        poll(&mut pipe, Some(&patience)).unwrap();
        pipe[0].revents()
    }
}
