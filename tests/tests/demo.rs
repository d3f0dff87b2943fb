//! `nbctl demo`: every step checks what it claims, so what is left to check is that all of them are taken.

use nb_tests::Home;

#[test]
fn the_demo_takes_all_of_its_steps() {
    // The home is that of the test alone: the demo makes one of its own.
    let report = Home::new().nbctl(&["--json", "demo"]).success().json();
    let steps: Vec<&str> =
        report["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(
        steps,
        [
            "a signing key",
            "the sample agents",
            "the daemon",
            "install",
            "two tools",
            "a schedule and its event",
            "a webhook",
            "the same delivery again",
            "a forged delivery",
            "a tampered package",
            "a tool that loops for ever",
            "a power that was not granted",
            "kill -9",
        ]
    );
    for step in report["steps"].as_array().unwrap() {
        assert!(!step["result"].as_str().unwrap().is_empty(), "{step}");
    }
}
