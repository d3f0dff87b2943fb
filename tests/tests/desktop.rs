//! Notifications on a desktop: a session bus, a screen and a notification server of the test's own, all of them real.

mod session;

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use nb_tests::{Agent, Daemon, Home, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use session::{Bus, CRITICAL, Dunst, LOW, NORMAL, Screen};

/// The daemon gives a server three seconds.
const PATIENCE: Duration = Duration::from_secs(4);

fn start(home: Home, bus: &str) -> Daemon {
    let daemon = home.variable("DBUS_SESSION_BUS_ADDRESS", bus).start();
    let agent = Agent::lua("note", "return nb.call('notify.user', parameters)").permissions(&["notify.user"]);
    daemon.install(&agent);
    daemon
}

fn notify(daemon: &Daemon, title: &str) -> Value {
    daemon.result("note", "tool", &json!({"title": title, "body": "text"}))
}

/// Hands over a daemon on a session bus with a notification server, when the programs for that are installed.
fn on_a_desktop(test: impl FnOnce(&Daemon, Dunst<'_>)) {
    if session::is_missing(&["dbus-daemon", "Xvfb", "dunst"]) {
        return;
    }
    let home = Home::new();
    let (bus, screen) = (Bus::start(home.path()), Screen::start());
    let daemon = start(home, bus.address());
    test(&daemon, Dunst::start(&bus, &screen, "full"));
}

#[track_caller]
fn assert_in_inbox(daemon: &Daemon, title: &str, answer: &Value, reason: &str) {
    assert_eq!(answer["shown"], "inbox", "{answer}");
    let told = answer["reason"].as_str().unwrap();
    assert!(told.starts_with(reason), "the reason is {told:?}, not {reason:?}");
    daemon.nbctl(&["inbox"]).success().stdout_contains(title);
}

#[test]
fn a_server_shows_what_an_agent_says_and_nothing_is_taken_for_markup() {
    if session::is_missing(&["dbus-daemon", "Xvfb", "dunst"]) {
        return;
    }
    let home = Home::new();
    let (bus, screen) = (Bus::start(home.path()), Screen::start());
    let daemon = start(home, bus.address());
    // A server that understands markup, one that shows it as it is, and one that removes it.
    for markup in ["full", "no", "strip"] {
        let dunst = Dunst::start(&bus, &screen, markup);
        daemon.nbctl(&["status"]).success().stdout_contains("desktop (dunst)");
        for (priority, seconds) in [("low", LOW), ("normal", NORMAL), ("high", NORMAL), ("urgent", CRITICAL)]
        {
            let said = json!({"title": "<i>Tea</i> & \"more\"", "body": "<b>x</b> & y\n1 < 2", "priority": priority});
            assert_eq!(daemon.result("note", "tool", &said), json!({"shown": "desktop"}));
            let shown = dunst.shown();
            assert_eq!(shown.from, "note");
            assert_eq!(shown.title, "<i>Tea</i> & \"more\"");
            assert_eq!(shown.seconds, seconds, "{priority}");
            // What dunst gives to its renderer: every sign is a sign of the text.
            let text = "&lt;b&gt;x&lt;/b&gt; &amp; y\n1 &lt; 2";
            assert_eq!(
                shown.rendered,
                format!("&lt;i&gt;Tea&lt;/i&gt; &amp; &quot;more&quot;|{text}"),
                "markup = {markup}"
            );
        }
    }
    daemon.nbctl(&["inbox"]).success().stdout_contains("the inbox is empty");
}

#[test]
fn a_text_that_no_bus_would_carry_is_shown_without_what_has_no_shape() {
    on_a_desktop(|daemon, dunst| {
        let said = json!({"title": "a\u{0}b", "body": format!("\u{1b}[1m{}", "long ".repeat(20_000))});
        assert_eq!(daemon.result("note", "tool", &said), json!({"shown": "desktop"}));
        let shown = dunst.shown();
        assert_eq!(shown.title, "ab");
        assert!(shown.rendered.starts_with("ab|[1mlong long"), "{}", shown.rendered);
    });
}

#[test]
fn without_a_desktop_the_inbox_keeps_it_and_the_answer_says_why() {
    let home = Home::new();
    let nowhere = format!("unix:path={}/nothing", home.path().display());
    let reason = format!("there is no session bus: nothing answers at {nowhere}");
    let daemon = start(home, &nowhere);
    assert_in_inbox(&daemon, "Nobody home", &notify(&daemon, "Nobody home"), &reason);
    daemon.nbctl(&["status"]).success().stdout_contains(&format!("inbox ({reason})"));

    let daemon = start(Home::new(), "carrier pigeon");
    let reason = "there is no session bus: DBUS_SESSION_BUS_ADDRESS is wrong";
    assert_in_inbox(&daemon, "Coo", &notify(&daemon, "Coo"), reason);
}

#[test]
fn without_a_server_the_inbox_keeps_it_and_the_answer_says_why() {
    if session::is_missing(&["dbus-daemon"]) {
        return;
    }
    let home = Home::new();
    let bus = Bus::start(home.path());
    let daemon = start(home, bus.address());
    let reason = "no notification server runs on the session bus";
    assert_in_inbox(&daemon, "First", &notify(&daemon, "First"), reason);
    daemon.nbctl(&["status"]).success().stdout_contains(&format!("inbox ({reason})"));

    // One that is installed, and that the bus starts when it is needed, but that does not come up.
    let home = Home::new();
    let bus = Bus::start(home.path());
    bus.installs("org.freedesktop.Notifications", "/bin/false");
    let daemon = start(home, bus.address());
    assert_in_inbox(
        &daemon,
        "Second",
        &notify(&daemon, "Second"),
        "the notification server does not start: ",
    );
}

#[test]
fn a_server_and_a_bus_may_go_and_come_back() {
    if session::is_missing(&["dbus-daemon", "Xvfb", "dunst"]) {
        return;
    }
    let home = Home::new();
    let (mut bus, screen) = (Bus::start(home.path()), Screen::start());
    let daemon = start(home, bus.address());
    let on_desktop = json!({"shown": "desktop"});

    let dunst = Dunst::start(&bus, &screen, "full");
    assert_eq!(notify(&daemon, "one"), on_desktop);
    drop(dunst);
    until("the bus knows that the server has gone", || (!bus.has_server()).then_some(()));
    assert_in_inbox(
        &daemon,
        "two",
        &notify(&daemon, "two"),
        "no notification server runs on the session bus",
    );
    let dunst = Dunst::start(&bus, &screen, "full");
    assert_eq!(notify(&daemon, "three"), on_desktop);
    assert_eq!(dunst.shown().title, "three");

    drop(dunst);
    bus.kill();
    let answer = notify(&daemon, "four");
    let noticed = answer["reason"].as_str().is_some_and(|reason| reason.contains("was lost"));
    let reason =
        if noticed { "the connection to the session bus was lost" } else { "there is no session bus: " };
    assert_in_inbox(&daemon, "four", &answer, reason);
    assert_in_inbox(&daemon, "five", &notify(&daemon, "five"), "there is no session bus: ");
    bus.start_again();
    let dunst = Dunst::start(&bus, &screen, "full");
    assert_eq!(notify(&daemon, "six"), on_desktop);
    assert_eq!(dunst.shown().title, "six");
}

#[test]
fn a_server_that_does_not_answer_holds_no_run_up() {
    on_a_desktop(|daemon, dunst| {
        dunst.signal(Signal::STOP);
        let begun = Instant::now();
        let answer = notify(daemon, "Hello?");
        assert_in_inbox(daemon, "Hello?", &answer, "the desktop did not answer within 3 s");
        assert!(begun.elapsed() < PATIENCE, "it took {:?}", begun.elapsed());
        dunst.signal(Signal::CONT);
        assert_eq!(notify(daemon, "There you are"), json!({"shown": "desktop"}));

        // It ends while it is asked.
        dunst.signal(Signal::STOP);
        let begun = Instant::now();
        let run = std::thread::scope(|scope| {
            let call = scope.spawn(|| notify(daemon, "Bye"));
            until("the run has begun", || (daemon.runs("note").len() == 3).then_some(()));
            dunst.signal(Signal::KILL);
            call.join().unwrap()
        });
        assert_eq!(run["shown"], "inbox", "{run}");
        assert!(begun.elapsed() < PATIENCE, "it took {:?}", begun.elapsed());
    });
}

#[test]
fn a_bus_that_does_not_answer_holds_no_run_up() {
    let home = Home::new();
    let path = home.path().join("bus");
    // Connections are taken in by the kernel, and nobody ever reads from them.
    let _mute = UnixListener::bind(&path).unwrap();
    let daemon = start(home, &format!("unix:path={}", path.display()));
    let begun = Instant::now();
    assert_in_inbox(&daemon, "Hello?", &notify(&daemon, "Hello?"), "the desktop did not answer within 3 s");
    assert!(begun.elapsed() < PATIENCE, "it took {:?}", begun.elapsed());
}
