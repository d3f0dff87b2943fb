//! What the whole test binary logs.

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::Level;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

static LOG: LazyLock<Log> = LazyLock::new(|| {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(Level::DEBUG).with_writer(move || writer.clone());
    tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
    log
});

/// Begins to keep the log, of all threads. The answer gives what was logged since.
pub fn capture() -> impl Fn() -> String {
    let log = LOG.clone();
    move || String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned()
}
