//! What is the same for all providers: waiting, asking again, giving up.

use std::time::Duration;

use nb_provider::ErrorKind;
use serde_json::json;

use crate::support::*;

const DONE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn section(address: &str, options: &str) -> String {
    format!(
        "id: openai\ncredentials: {{address: '{address}', access-token: {SECRET}}}\nsettings: {{model: m}}\noptions: {{{options}}}"
    )
}

fn busy(wait: &str) -> Reply {
    Reply::json(429, &json!({"error": {"message": "slow down"}})).header("retry-after", wait)
}

#[tokio::test]
async fn a_busy_provider_is_asked_again_when_it_says() {
    let server = Server::new([busy("0.01"), Reply::Close, Reply::events(DONE)]).await;
    let (answer, _) = ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), true).await;
    assert_eq!(answer.unwrap().text, "yes");
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn a_provider_that_stays_busy_is_given_up_with_its_words() {
    let server = Server::new([busy("0.01")]).await;
    let error = ask(&provider(&section(&server.address, "retries: 1")).unwrap(), &user("Hi"), true)
        .await
        .0
        .unwrap_err();
    assert_eq!((error.message.as_str(), error.status), ("slow down", Some(429)));
    assert_eq!(error.retry_after, Some(Duration::from_millis(10)));
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn a_long_wait_is_told_and_not_waited() {
    let server = Server::new([busy("3600")]).await;
    let error =
        ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert_eq!(error.retry_after, Some(Duration::from_secs(3600)));
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn nothing_is_asked_again_after_the_first_byte_or_when_it_would_not_help() {
    let half = Reply::events(&DONE[..DONE.len() - 20]).ending(Ends::Broken);
    for reply in [half, Reply::json(400, &json!({"error": {"message": "no"}}))] {
        let server = Server::new([reply]).await;
        ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), true).await.0.unwrap_err();
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn a_provider_that_is_silent_is_not_waited_for_longer_than_said() {
    let begun = Reply::events("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"y\"}}]}\n\n")
        .ending(Ends::Never);
    for (reply, options, words) in
        [(Reply::Silence, "timeout: 0.05", "50ms"), (begun, "idle_timeout: 0.05", "idle_timeout")]
    {
        let server = Server::new([reply]).await;
        let error = ask(&provider(&section(&server.address, options)).unwrap(), &user("Hi"), true)
            .await
            .0
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::TimedOut);
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(server.received().len(), 1, "it is not asked again");
    }
}

#[tokio::test]
async fn whoever_goes_away_closes_the_connection() {
    let server = Server::new([Reply::events(": hello\n\n").ending(Ends::Never)]).await;
    let bot = provider(&section(&server.address, "")).unwrap();
    let chat = user("Hi");
    let mut ignore = |_: nb_provider::Delta<'_>| {};
    let asked = bot.ask(&chat, true, &mut ignore);
    tokio::select! {
        _ = asked => panic!("there was no answer"),
        () = server.came(1) => {}
    }
    tokio::time::timeout(Duration::from_secs(5), server.closed()).await.expect("the connection is closed");
}

#[tokio::test]
async fn a_provider_that_moved_is_not_followed() {
    let server =
        Server::new([Reply::json(308, &json!({})).header("location", "https://elsewhere.example/")]).await;
    let error =
        ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert!(error.to_string().contains("moved to https://elsewhere.example/"), "{error}");
}

#[tokio::test]
async fn a_page_in_place_of_an_answer_is_told() {
    let page = "<html>\n<body>Sign in</body></html>";
    for (kind, stream) in [("text/html", false), ("text/html", true), ("text/event-stream", true)] {
        let server = Server::new([Reply::stream(kind, page)]).await;
        let error = ask(&provider(&section(&server.address, "retries: 0")).unwrap(), &user("Hi"), stream)
            .await
            .0
            .unwrap_err();
        assert!(error.to_string().contains("Sign in"), "{error}");
        assert!(error.hint.unwrap().contains("provider.credentials.address"), "{kind}");
    }
}

#[tokio::test]
async fn an_answer_that_its_provider_ended_is_whole_whatever_comes_behind_it() {
    let ended = DONE.split_inclusive("\n\n").next().unwrap();
    for ends in [Ends::Never, Ends::Broken] {
        let server = Server::new([Reply::events(ended).ending(ends)]).await;
        let (answer, _) = ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), true).await;
        assert_eq!(answer.unwrap().text, "yes");
    }
}

#[tokio::test]
async fn what_keeps_a_connection_open_neither_begins_an_answer_nor_holds_up_its_end() {
    let dripping = Reply::events(&": keep\n\n".repeat(200)).in_pieces(8).ending(Ends::Drips);
    let server = Server::new([dripping]).await;
    let bot = provider(&section(&server.address, "timeout: 0.3")).unwrap();
    let error = ask(&bot, &user("Hi"), true).await.0.unwrap_err();
    assert!(error.kind == ErrorKind::TimedOut && error.to_string().contains("options.timeout"), "{error}");
    let ended = DONE.split_inclusive("\n\n").next().unwrap();
    let server = Server::new([Reply::events(ended).ending(Ends::Drips)]).await;
    let (answer, _) = ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), true).await;
    assert_eq!(answer.unwrap().text, "yes");
}

#[tokio::test]
async fn an_error_that_does_not_end_is_told_as_far_as_it_came() {
    let drips = Reply::Http {
        status: 400,
        headers: vec![("content-type", "text/plain".to_owned())],
        pieces: vec![b"no such".to_vec()],
        ends: Ends::Never,
    };
    let server = Server::new([drips]).await;
    let error = ask(&provider(&section(&server.address, "timeout: 0.2")).unwrap(), &user("Hi"), true)
        .await
        .0
        .unwrap_err();
    assert_eq!((error.message.as_str(), error.status), ("no such", Some(400)));
}

#[tokio::test]
async fn an_error_under_a_status_of_success_is_told_in_its_words() {
    for (id, key) in [("openai", "access-token"), ("anthropic", "api-key"), ("cohere", "api-key")] {
        let body = json!({"error": {"message": "the model is overloaded", "code": "busy"}});
        let server = Server::new([Reply::json(200, &body)]).await;
        let yaml = format!(
            "id: {id}\ncredentials: {{address: '{}', {key}: {SECRET}}}\nsettings: {{model: m}}",
            server.address
        );
        let error = ask(&provider(&yaml).unwrap(), &user("Hi"), false).await.0.unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Refused, "the model is overloaded"),
            "{id}"
        );
    }
}

#[tokio::test]
async fn what_a_provider_says_in_an_error_is_cut_to_what_a_person_reads() {
    let body = json!({"error": {"message": "a".repeat(900_000), "code": "b".repeat(900_000)}});
    let server = Server::new([Reply::json(400, &body)]).await;
    let error =
        ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert!(error.to_string().len() < 2_500, "{}", error.to_string().len());
}

#[test]
fn a_wrong_address_or_option_says_what_is_right() {
    for (yaml, words) in [
        (section("localhost:80", ""), "neither http nor https"),
        (section("http://u:secret@localhost", ""), "user name"),
        (section("http://h?x=1", ""), "`?`"),
        (section("http://h", "retries: -1"), "0 to 10"),
        (section("http://h", "timeout: soon"), "seconds"),
        (section("http://h", "prices: {input: 1}"), "output"),
    ] {
        let error = provider(&yaml).err().unwrap().to_string();
        assert!(error.contains(words) && !error.contains("secret@"), "{error}");
    }
}

/// Nothing of it was handed on, so nothing is said twice.
#[tokio::test]
async fn an_answer_in_one_piece_that_breaks_off_is_asked_again() {
    let half = Reply::json(200, &json!({"choices": []})).ending(Ends::Broken);
    let whole =
        Reply::json(200, &json!({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}));
    let server = Server::new([half, whole]).await;
    let (answer, parts) = ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), false).await;
    assert_eq!((answer.unwrap().text.as_str(), parts.concat().as_str()), ("yes", "yes"));
    assert_eq!(server.received().len(), 2);
}
