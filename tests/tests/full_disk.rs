//! A full disk: nothing that was acknowledged is lost, and all goes on when there is space again.

use std::fs;
use std::time::Instant;

use nb_tests::disk::{SmallDisk, fill, noise};
use nb_tests::http::Request;
use nb_tests::{Agent, Home, skip, until};
use serde_json::json;

fn hello(version: &str) -> Agent {
    Agent::lua("hello", &format!("return '{version}'")).version(version)
}

#[test]
fn a_full_disk_stops_an_install_and_nothing_else() {
    let disk = match SmallDisk::mount(48) {
        Ok(disk) => disk,
        Err(reason) => return skip(&reason),
    };
    let daemon = Home::below(disk.path()).start();
    daemon.install(&hello("1.0.0"));
    let next = daemon.package(&hello("2.0.0").file("large.bin", noise(512 << 10)));
    let filler = daemon.path().join("filler");
    fill(&filler);
    let refused = daemon.install_with(&next, &["--grant", "all"]).fails(1);
    assert!(
        refused.error().contains("is full") && refused.stderr.contains("nothing was changed"),
        "{refused}"
    );
    assert_eq!(daemon.get("/v1/agents")[0]["version"], "1.0.0");
    assert_eq!(daemon.unpacked().len(), 1, "{:?}", daemon.unpacked());
    fs::remove_file(&filler).unwrap();
    assert_eq!(daemon.result("hello", "tool", &json!({})), "1.0.0", "the old version still works");
    daemon.install_with(&next, &["--grant", "all"]).success();
    assert_eq!(daemon.result("hello", "tool", &json!({})), "2.0.0");
}

#[test]
fn what_was_acknowledged_before_the_disk_was_full_is_there_when_it_is_not() {
    let disk = match SmallDisk::mount(36) {
        Ok(disk) => disk,
        Err(reason) => return skip(&reason),
    };
    let mut daemon = Home::below(disk.path()).start();
    daemon.install(
        &Agent::lua("hooked", "return 1")
            .chain("take", "  - {id: a, tool: tool}")
            .yaml("triggers: {webhooks: [{path: /hook, chain: take}]}"),
    );
    let mut acknowledged = Vec::new();
    let mut number = 0;
    let mut send = |address: &str| {
        number += 1;
        let answer = Request::post("/hook", format!("{number}")).try_send(address).ok()?;
        match answer.status {
            202 => acknowledged.push(answer.json()["run"].as_str().unwrap().to_owned()),
            status => assert_eq!(status, 503, "{}", answer.text()),
        }
        Some(answer.status)
    };
    for _ in 0..20 {
        assert_eq!(send(daemon.webhooks()), Some(202));
    }
    let filler = daemon.path().join("filler");
    fill(&filler);
    let begun = Instant::now();
    let status = until("the daemon gives up", || {
        send(daemon.webhooks());
        daemon.has_ended()
    });
    assert_eq!(status.code(), Some(1), "after {:?}", begun.elapsed());
    daemon.nanobotd(&[]).fails(1).stderr_contains("free some disk space");
    fs::remove_file(&filler).unwrap();
    daemon.start_again();
    for run in &acknowledged {
        assert_eq!(daemon.ended(run)["run"]["status"], "completed");
    }
    assert_eq!(daemon.send(&Request::post("/hook", "after")).status, 202);
}
