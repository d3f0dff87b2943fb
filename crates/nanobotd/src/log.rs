//! The daemon's log on stderr: one line an event.

use std::fmt::{self, Debug, Write};
use std::io::IsTerminal;

use nb_api::visible::OneLine;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

/// Begins to log what the directives let through.
///
/// # Errors
/// When they are none.
pub fn begin(directives: &str) -> Result<(), ParseError> {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_new(directives)?)
        .with_writer(std::io::stderr)
        .with_ansi(is_terminal())
        .fmt_fields(fields())
        // A line that cannot be written (the log lies on a full disk) is lost; to report that on stderr would panic.
        .log_internal_errors(false)
        .init();
    Ok(())
}

fn is_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// How the fields of an event are written. Agents put text into them: an event stays one line, whatever it says.
fn fields() -> impl for<'w> FormatFields<'w> + 'static {
    debug_fn(write_field).delimited(" ")
}

fn write_field(out: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    match field.name() {
        "message" => write!(OneLine(out), "{value:?}"),
        name => write!(OneLine(out), "{name}={value:?}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_event_is_one_line_whatever_an_agent_says() {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .without_time()
            .fmt_fields(fields())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let (run, agent) = ("run_1", "sly\n");
            tracing::error!(target: "agent", %run, %agent, "{}", "no\r\n INFO nanobotd: all is well\x1b[2J\u{9b}");
            tracing::info!(count = 2, name = "a\nb", "forgot");
        });
        let log = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let expected = [
            r"ERROR agent: no\r\n INFO nanobotd: all is well\x1b[2J\u{9b} run=run_1 agent=sly\n",
            r#" INFO nanobotd::log::tests: forgot count=2 name="a\nb""#,
        ];
        assert_eq!(log.lines().collect::<Vec<_>>(), expected);
    }
}
