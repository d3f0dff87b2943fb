//! What goes wrong between the server and us: asked again before the first byte, told after it, and what came is kept.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use nb_provider::{ErrorKind, ProviderError};
use serde_json::{Value, json};

use crate::aimock::Aimock;
use crate::services::{self, Imitated};
use crate::support::{ask, user};

/// One service's error, and the text that arrived before it.
struct Failed {
    name: &'static str,
    error: ProviderError,
    text: String,
}

/// Asks every service the same, all at once, and expects errors.
async fn all_fail(server: &Aimock, said: &str, options: Value, stream: bool) -> Vec<Failed> {
    let services = services::all().await;
    let asked = services.iter().map(|imitated: &Imitated| async {
        let bot = imitated.provider(&server.address, &options);
        let (answer, pieces) = ask(&bot, &talk(said), stream).await;
        let name = imitated.service.name;
        let error = answer.err().unwrap_or_else(|| panic!("{name}: no error"));
        Failed { name, error, text: pieces.concat() }
    });
    join_all(asked).await
}

/// With a tool: Maritaca's own interface is not served.
fn talk(said: &str) -> nb_provider::Chat {
    nb_provider::Chat { tools: crate::talk::bot().tools, ..user(said) }
}

const SERVICES: usize = 7;

#[tokio::test]
async fn an_error_that_passes_is_asked_again_and_answered() {
    let Some(server) = Aimock::start("faults.json") else { return };
    for (round, imitated) in services::all().await.iter().enumerate() {
        let name = imitated.service.name;
        let status = [429, 500, 503][round % 3];
        server.fail_once(status, "in a moment").await;
        let bot = imitated.provider(&server.address, &json!({"retries": 1}));
        let answer = ask(&bot, &talk("well?"), round % 2 == 0).await.0;
        assert_eq!(answer.unwrap_or_else(|error| panic!("{name}: {error}")).text, "All is well.");
        assert_eq!(server.journal().await.len(), 2 * (round + 1), "{name}");
    }
}

#[tokio::test]
async fn a_busy_provider_is_given_up_after_the_waits_that_it_wants() {
    let Some(server) = Aimock::start("faults.json") else { return };
    let begun = Instant::now();
    for Failed { name, error, text } in all_fail(&server, "busy", json!({"retries": 1}), true).await {
        assert_eq!((error.kind, error.status), (ErrorKind::Refused, Some(429)), "{name}: {error}");
        assert_eq!(error.retry_after, Some(Duration::from_secs(1)), "{name}");
        assert_eq!((text.as_str(), error.received), ("", None), "{name}");
    }
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.asked("busy").await, 2 * SERVICES);
}

#[tokio::test]
async fn a_provider_that_fails_or_hangs_up_is_asked_again() {
    let Some(server) = Aimock::start("faults.json") else { return };
    for Failed { name, error, .. } in all_fail(&server, "fails", json!({"retries": 1}), false).await {
        assert_eq!((error.kind, error.status), (ErrorKind::Refused, Some(500)), "{name}: {error}");
    }
    assert_eq!(server.asked("fails").await, 2 * SERVICES);
    for Failed { name, error, .. } in all_fail(&server, "hangs up", json!({"retries": 1}), true).await {
        assert!(matches!(error.kind, ErrorKind::Unreachable | ErrorKind::Ended), "{name}: {error:?}");
        assert_eq!(error.received, None, "{name}");
    }
    assert_eq!(server.asked("hangs up").await, 2 * SERVICES);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_told_and_keeps_what_came() {
    const WHOLE: &str = "This answer has more words than those that come before it breaks off.";
    let Some(server) = Aimock::start("faults.json") else { return };
    for Failed { name, error, text } in all_fail(&server, "breaks off", json!({"retries": 2}), true).await {
        assert_eq!(error.kind, ErrorKind::Ended, "{name}: {error:?}");
        let received = error.received.clone().unwrap_or_else(|| panic!("{name}: nothing kept")).text;
        assert!(
            !received.is_empty() && received != WHOLE && WHOLE.starts_with(&received),
            "{name}: {received}"
        );
        assert_eq!(text, received, "{name}");
        let words = format!("{} characters of the answer had come", received.chars().count());
        assert!(error.to_string().contains(&words), "{name}: {error}");
    }
    assert_eq!(server.asked("breaks off").await, SERVICES, "it is not asked again");
}

#[tokio::test]
async fn a_stream_that_stands_still_is_given_up_and_keeps_what_came() {
    let Some(server) = Aimock::start("faults.json") else { return };
    let options = json!({"retries": 2, "idle_timeout": 1});
    for Failed { name, error, text } in all_fail(&server, "stops in the middle", options, true).await {
        assert_eq!(error.kind, ErrorKind::TimedOut, "{name}: {error:?}");
        assert!(!text.is_empty() && "This answer stands still".starts_with(&text), "{name}: {text}");
        assert_eq!(error.received.unwrap().text, text, "{name}");
        assert!(error.message.contains("idle_timeout"), "{name}: {}", error.message);
    }
    assert_eq!(server.asked("stops in the middle").await, SERVICES, "it is not asked again");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_told_and_not_asked_again() {
    let Some(server) = Aimock::start("faults.json") else { return };
    for stream in [true, false] {
        for Failed { name, error, .. } in all_fail(&server, "garbles", json!({"retries": 2}), stream).await {
            assert_eq!(error.kind, ErrorKind::Malformed, "{name}: {error:?}");
            assert!(error.message.contains("{malformed json"), "{name}: {}", error.message);
        }
    }
    assert_eq!(server.asked("garbles").await, 2 * SERVICES);
}

#[tokio::test]
async fn a_provider_that_says_nothing_is_waited_for_as_long_as_said() {
    let Some(server) = Aimock::start("faults.json") else { return };
    let options = json!({"retries": 0, "timeout": 0.3});
    for Failed { name, error, .. } in all_fail(&server, "says nothing", options, true).await {
        assert_eq!(error.kind, ErrorKind::TimedOut, "{name}: {error:?}");
    }
}

/// `timeout` is for the beginning: an answer may take longer as long as something comes.
#[tokio::test]
async fn a_slow_stream_is_read_to_its_end() {
    let Some(server) = Aimock::start("faults.json") else { return };
    let services = services::all().await;
    let asked = services.iter().map(|imitated| async {
        let bot = imitated.provider(&server.address, &json!({"timeout": 0.4, "idle_timeout": 5}));
        let begun = Instant::now();
        let (answer, pieces) = ask(&bot, &talk("is slow"), true).await;
        let name = imitated.service.name;
        let answer = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(answer.text, "A slow answer is an answer as well.", "{name}");
        assert!(pieces.len() > 5, "{name}: {pieces:?}");
        assert!(begun.elapsed() > Duration::from_millis(400), "{name}: the answer was not slow");
    });
    join_all(asked).await;
}
