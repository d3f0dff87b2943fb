//! The steps, in order.

use nb_api::ErrorKind;
use nb_api::host::{InboxItem, KeyView};
use nb_api::runs::RunView;
use nb_api::wake::{DeliveryAnswer, ScheduleView, SignedRequest};
use nb_package::SecretKey;
use serde_json::Value;

use super::post::post;
use super::report::Report;
use super::samples::{PUSH, mischief, postbox, samples, tamper_with};
use super::stage::Stage;
use super::wrong;
use crate::error::Error;
use crate::time;

const HOOK: &str = "/hook/repo-watch";

/// Takes every step; ends with the first that does not do what it says.
pub(super) async fn tell(stage: &mut Stage, report: &mut Report<'_>) -> Result<(), Error> {
    let mut made = None;
    let make_key = async {
        let key = made.insert(stage.make_key()?);
        Ok(vec![format!("made the key {}", key.id())])
    };
    report
        .step("a signing key", "Packages are signed with minisign keys; nothing else installs.", make_key)
        .await?;
    let key = made.ok_or_else(|| wrong("there is no key"))?;

    let mut packages = Vec::new();
    let build = async {
        let mut lines = Vec::new();
        for (name, files) in samples() {
            let bytes = stage.package(&files, Some(&key))?;
            lines.push(format!("{name}.nap, {} files, {} bytes", files.len(), bytes.len()));
            packages.push((name, bytes));
        }
        lines.insert(0, format!("built and signed {} packages", packages.len()));
        Ok(lines)
    };
    report
        .step(
            "the sample agents",
            "Each is a folder: a manifest, tools in Lua or Fennel, chains of steps.",
            build,
        )
        .await?;

    for name in ["GITHUB_WEBHOOK", "POSTBOX"] {
        stage.put_secret(name, &format!("demo-secret-of-{}", key.id()))?;
    }
    let start = async {
        let status = stage.start().await?;
        stage.trust(&key).await?;
        Ok(vec![
            format!("process {}, ready after {}", status.pid, time::duration(status.start_ms)),
            format!("notifications go to the {}", status.notifications),
        ])
    };
    report
        .step(
            "the daemon",
            "It compiles its sandbox once per home, and serves its owner on a Unix socket.",
            start,
        )
        .await?;

    report
        .step(
            "install",
            "A person decides what each agent may do; here: all that it asks for.",
            install(stage, &packages),
        )
        .await?;
    report
        .step(
            "two tools",
            "Each call gets a fresh WebAssembly sandbox, with fuel and memory to the manifest's limit.",
            tools(stage),
        )
        .await?;
    report
        .step(
            "a schedule and its event",
            "heartbeat wakes every 5 s and publishes an event; heartbeat-log wakes on it.",
            beat(stage),
        )
        .await?;

    let signed = stage.sign("repo-watch", HOOK, PUSH).await?;
    let mut first_run = String::new();
    report
        .step(
            "a webhook",
            "A push event as GitHub sends it: verified, recorded on disk, then answered, then run.",
            async {
                let (run, lines) = deliver(stage, &signed).await?;
                first_run = run;
                Ok(lines)
            },
        )
        .await?;
    report
        .step(
            "the same delivery again",
            "Senders repeat themselves; a delivery is processed once.",
            repeat(stage, &signed, &first_run),
        )
        .await?;
    report
        .step("a forged delivery", "The body is not the one that was signed.", forge(stage, &signed))
        .await?;
    report
        .step("a tampered package", "One byte of a signed package differs.", tamper(stage, &packages))
        .await?;

    let prank = stage.package(&mischief(), Some(&key))?;
    stage.install(prank, "none").await?;
    report.step("a tool that loops for ever", "`while true do end`", loop_forever(stage)).await?;
    report
        .step(
            "a power that was not granted",
            "The tool asks for http.fetch; the person said no.",
            phone_home(stage),
        )
        .await?;
    report
        .step(
            "kill -9",
            "A delivery is accepted, and the daemon is killed at that moment.",
            survive(stage, &key),
        )
        .await
}

async fn install(stage: &Stage, packages: &[(&str, Vec<u8>)]) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    for (_, bytes) in packages {
        let agent = stage.install(bytes.clone(), "all").await?;
        let granted = if agent.granted.is_empty() { "nothing".to_owned() } else { agent.granted.join(", ") };
        lines.push(format!("{} {} may use {granted}", agent.name, agent.version));
    }
    lines.insert(0, format!("installed {} agents", packages.len()));
    Ok(lines)
}

async fn tools(stage: &Stage) -> Result<Vec<String>, Error> {
    let lua = completed(stage.call("hello", "greet", &[("name", "Ada")]).await?)?;
    let fennel = completed(stage.call("hello", "dice", &[("rolls", "3")]).await?)?;
    if lua.output != Some(Value::from("Hello, Ada!")) {
        return Err(wrong(format!("greet gave {:?}", lua.output)));
    }
    Ok(vec![
        format!("Lua: {}; Fennel: {}", shown(&lua), shown(&fennel)),
        format!("greet took {} and dice {}, with their records", took(&lua), took(&fennel)),
    ])
}

async fn beat(stage: &Stage) -> Result<Vec<String>, Error> {
    let log = stage.next_run("heartbeat-log", 0).await?;
    if !log.actor.starts_with("event heartbeat.beat") {
        return Err(wrong(format!("heartbeat-log was woken by {}", log.actor)));
    }
    let schedules: Vec<ScheduleView> = stage.client.get("/v1/schedules", &()).await?;
    let slot = schedules
        .first()
        .and_then(|schedule| schedule.last.last())
        .ok_or_else(|| wrong("no slot was decided"))?;
    Ok(vec![
        format!("heartbeat woke by its schedule, heartbeat-log by the event, {} later", lag(slot.at, &log)),
        format!("{}: {}", log.agent, log.actor),
    ])
}

fn lag(slot: chrono::DateTime<chrono::Utc>, run: &RunView) -> String {
    time::duration((run.created_at - slot).num_microseconds().unwrap_or_default() as f64 / 1e3)
}

async fn deliver(stage: &Stage, signed: &SignedRequest) -> Result<(String, Vec<String>), Error> {
    let began = std::time::Instant::now();
    let answer = send(signed, PUSH, 202).await?;
    let answered = began.elapsed().as_secs_f64() * 1e3;
    let record = stage.ended(&answer.run).await?;
    let tell = record
        .events
        .iter()
        .find(|event| event.event == "step.finished" && event.fields.get("step") == Some(&"tell".into()));
    let shown = tell
        .and_then(|event| event.fields.get("output"))
        .and_then(|output| output.get("shown"))
        .and_then(Value::as_str);
    let mut lines = vec![
        format!(
            "answered 202 after {}; the notification went to the {}",
            time::duration(answered),
            shown.unwrap_or("nowhere")
        ),
        format!("{} recorded {} events:", answer.run, record.events.len()),
    ];
    let steps = record.events.iter().filter(|event| event.event == "step.finished");
    lines.extend(steps.map(|event| {
        let field = |name: &str| event.fields.get(name).map(Value::to_string).unwrap_or_default();
        format!(
            "  step {} {}: {}",
            field("step").trim_matches('"'),
            field("status").trim_matches('"'),
            field("output")
        )
    }));
    match shown {
        Some("desktop") => lines.push("the notification is on your screen".to_owned()),
        Some("inbox") => {
            let inbox: Vec<InboxItem> = stage.client.get("/v1/inbox", &()).await?;
            let item = inbox.first().ok_or_else(|| wrong("the inbox is empty"))?;
            lines.push(format!(
                "the notification reads: {}\n  {}",
                item.title,
                item.body.replace('\n', "\n  ")
            ));
        }
        _ => return Err(wrong("the notification was shown nowhere")),
    }
    Ok((answer.run, lines))
}

async fn send(signed: &SignedRequest, body: &str, expected: u16) -> Result<DeliveryAnswer, Error> {
    let (status, answer) = post(&signed.url, &signed.headers, body).await?;
    let parsed = serde_json::from_str(&answer);
    match parsed {
        Ok(parsed) if status == expected => Ok(parsed),
        _ => Err(wrong(format!("the delivery was answered {status} {answer}, not {expected}"))),
    }
}

async fn repeat(stage: &Stage, signed: &SignedRequest, first: &str) -> Result<Vec<String>, Error> {
    let before = stage.runs(Some("repo-watch")).await?.len();
    let answer = send(signed, PUSH, 200).await?;
    let after = stage.runs(Some("repo-watch")).await?.len();
    if answer.run != first || !answer.duplicate || before != after {
        return Err(wrong("the repeated delivery was not recognised"));
    }
    Ok(vec!["answered 200 with the first run; nothing was started".to_owned()])
}

async fn forge(stage: &Stage, signed: &SignedRequest) -> Result<Vec<String>, Error> {
    let before = stage.runs(None).await?.iter().filter(|run| run.agent == "repo-watch").count();
    let (status, answer) = post(&signed.url, &signed.headers, &PUSH.replacen("ada", "eve", 1)).await?;
    let after = stage.runs(Some("repo-watch")).await?.len();
    if status != 401 || before != after {
        return Err(wrong(format!("the forged delivery was answered {status}")));
    }
    Ok(vec![format!("answered 401 {answer}; nothing was started")])
}

async fn tamper(stage: &Stage, packages: &[(&str, Vec<u8>)]) -> Result<Vec<String>, Error> {
    let (_, bytes) = packages.first().ok_or_else(|| wrong("there is no package"))?;
    let tampered = tamper_with(bytes, b"Hello, ", b"Hollo, ")?;
    match stage.install(tampered, "all").await {
        Ok(_) => Err(wrong("the tampered package was installed")),
        Err(error) if error.kind == ErrorKind::Refused => Ok(vec![format!("refused: {error}")]),
        Err(error) => Err(error.into()),
    }
}

async fn loop_forever(stage: &Stage) -> Result<Vec<String>, Error> {
    let run = stage.call("mischief", "loop-forever", &[]).await?;
    let error = failure(&run)?;
    if !error.contains("fuel") {
        return Err(wrong(format!("the loop ended with: {error}")));
    }
    Ok(vec![format!("stopped after {}: {error}", took(&run))])
}

async fn phone_home(stage: &Stage) -> Result<Vec<String>, Error> {
    let run = stage.call("mischief", "phone-home", &[]).await?;
    let error = failure(&run)?;
    if !error.contains("was not granted") {
        return Err(wrong(format!("the request ended with: {error}")));
    }
    Ok(vec![format!("refused: {error}")])
}

async fn survive(stage: &mut Stage, key: &SecretKey) -> Result<Vec<String>, Error> {
    stage.install(stage.package(&postbox(), Some(key))?, "all").await?;
    let before = stage.runs(None).await?;
    let body = "{\"text\": \"a letter\"}";
    let signed = stage.sign("postbox", "/hook/postbox", body).await?;
    let answer = send(&signed, body, 202).await?;
    let killed = stage.kill()?;
    let status = stage.start().await?;
    let record = stage.ended(&answer.run).await?;
    let url = format!("{}/hook/postbox", stage.webhooks_at().await?);
    let again = send(&SignedRequest { url, ..signed }, body, 200).await?;
    let after = stage.runs(None).await?;
    for old in &before {
        if !after.iter().any(|run| run.id == old.id) {
            return Err(wrong(format!("run {} is lost", old.id)));
        }
    }
    if again.run != answer.run || !again.duplicate {
        return Err(wrong("the delivery was not recognised after the restart"));
    }
    let keys: Vec<KeyView> = stage.client.get("/v1/keys", &()).await?;
    if !keys.iter().any(|known| known.id == key.id().to_string()) {
        return Err(wrong("the trusted key is lost"));
    }
    let ready = time::duration(status.start_ms);
    Ok(vec![
        format!("killed process {killed}; ready again after {ready}: all {} runs are there", after.len()),
        format!(
            "the accepted delivery ran, as {} ({}); sent again it is known",
            answer.run, record.run.status
        ),
    ])
}

fn completed(run: RunView) -> Result<RunView, Error> {
    if run.status == "completed" { Ok(run) } else { Err(Error::Run(Box::new(run))) }
}

fn failure(run: &RunView) -> Result<String, Error> {
    match (&run.error, run.status.as_str()) {
        (Some(error), "failed") => Ok(error.clone()),
        _ => Err(wrong(format!("run {} of {} did not fail: {}", run.id, run.agent, run.status))),
    }
}

fn shown(run: &RunView) -> String {
    run.output.as_ref().map(Value::to_string).unwrap_or_default()
}

fn took(run: &RunView) -> String {
    run.duration_ms.map(time::duration).unwrap_or_default()
}
