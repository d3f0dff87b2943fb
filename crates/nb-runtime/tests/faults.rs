//! A fault of ours ends the run that it meets, and nothing else.

use nb_runtime::Target;
use nb_store::RunStatus;
use serde_json::json;

use crate::common::{Home, agent, task};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_panics_has_failed_and_holds_nothing_up() {
    const SECRET: &str = "s3cret-of-a-panic";
    let daemon = crate::logs::capture();
    let home = Home::new();
    home.desktop.on_show(|_| panic!("{SECRET}"));
    agent("a")
        .asks(&["notify.user"])
        .chain("c", "steps: [{id: s, ability: notify.user, args: {message: m}, on_failure: continue}]")
        .tool("notify", "return nb.call('notify.user', {message = 'm'})")
        .tool("fine", "return 1")
        .install(&home);
    // One more than there are places for tools.
    let places = home.engine.services().sandbox.max_concurrent();
    let targets = (0..=places).map(|_| Target::Tool("notify".to_owned()));
    for target in [task("c")].into_iter().chain(targets) {
        let row = home.run("a", target, json!({})).await;
        let told = "the daemon has a fault: a part of it gave up during this run, and its log says where; please report it";
        assert_eq!((row.status, row.error.as_deref()), (RunStatus::Failed, Some(told)));
        assert!(!home.engine.cancel(&row.id, "it is over"));
        assert!(!format!("{:?}", home.record(&row.id)).contains(SECRET));
    }
    assert!(daemon().contains(SECRET), "the daemon's log has what it said");
    home.engine.cancel_agent("a", "the agent is stopped").await;
    assert_eq!(home.run("a", Target::Tool("fine".to_owned()), json!({})).await.output, Some(json!(1)));
}
