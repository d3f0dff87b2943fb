//! Requests and calls of tools, until the model has answered.

use std::sync::Arc;

use futures_util::future::join_all;
use nb_provider::{Arguments, Call, Chat, Message, Stop, Tool, ToolResult, Turn, Usage};
use nb_spec::ProviderSection;
use nb_spec::condition::as_text;
use serde_json::{Value, json};

use super::Model;
use super::request::ask;
use crate::engine::RunContext;
use crate::error::RunError;
use crate::record::{RunEvent, kept_text, short_name};
use crate::tool_run::call_tool;

/// The most calls of one answer that are carried out. No model of today asks for so many; a broken one may.
const MAX_CALLS: usize = 64;

/// What a model said in the end, and what all of it took.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub text: String,
    pub stop: Option<Stop>,
    /// The provider's own word for that.
    pub stop_reason: Option<String>,
    /// The model that said it, in its own words.
    pub model: String,
    pub usage: Usage,
    /// Whether some provider's tokens are estimated.
    pub estimated: bool,
    pub usd: Option<f64>,
    /// How often tools were called.
    pub rounds: u32,
}

/// Asks, calls what the model wants called, and asks again with what that gave: at most `rounds` times, and then once more
/// without tools. The first request is counted already; each further one counts as a call that leaves the machine.
///
/// # Errors
/// A sentence.
pub(crate) async fn talk(
    run: &Arc<RunContext>,
    model: &Model,
    mut chat: Chat,
    rounds: u32,
) -> Result<Said, String> {
    let mut said = Said { usd: model.prices.map(|_| 0.0), ..Said::default() };
    loop {
        if said.rounds > 0 {
            run.count_outside_call()?;
        }
        let answered = ask(run, model, &chat).await?;
        let answer = answered.answer;
        said.usage.input = said.usage.input.saturating_add(answered.usage.input);
        said.usage.output = said.usage.output.saturating_add(answered.usage.output);
        said.usage.cached = said.usage.cached.saturating_add(answered.usage.cached);
        said.estimated |= answered.estimated;
        said.usd = said.usd.zip(answered.usd).map(|(before, now)| before + now);
        if answer.calls.is_empty() || chat.tools.is_empty() {
            said.model = answer.model.as_deref().map_or_else(|| model.name(), |name| model.told(name));
            said.text = answer.text;
            said.stop = answer.stop;
            said.stop_reason = answer.stop_reason;
            return Ok(said);
        }
        said.rounds += 1;
        let results = call_all(run, &chat.tools, &answer.calls).await?;
        chat.turns.push(Turn::Model(answer.message()));
        chat.turns.push(Turn::Results(results));
        if said.rounds >= rounds {
            chat = without_tools(chat);
        }
    }
}

/// Asks once, and gives the text. One that was cut off is given as well, and the record says so.
///
/// # Errors
/// A sentence; also when the provider withheld the answer, or a part of it.
pub(crate) async fn answer_to(run: &Arc<RunContext>, model: &Model, chat: Chat) -> Result<String, String> {
    let said = talk(run, model, chat, 0).await?;
    match said.stop {
        Some(Stop::Filtered) => {
            let word = said.stop_reason.map(|word| format!(" ({})", short_name(&word))).unwrap_or_default();
            let provider = model.provider().id();
            return Err(format!("{provider} withheld the answer, or a part of it{word}; ask in other words"));
        }
        Some(Stop::Length) => {
            let setting =
                run.agent.spec.provider().map(ProviderSection::most_tokens_setting).unwrap_or_default();
            let message = format!(
                "the answer is cut off: it has all the tokens that it may have; {setting} raises that"
            );
            let event = RunEvent::Log { level: "info".to_owned(), message };
            run.record(&event).map_err(|error| error.to_string())?;
        }
        _ => {}
    }
    Ok(said.text)
}

/// Carries out the calls of one answer side by side; the results stand in the order of the calls.
async fn call_all(run: &Arc<RunContext>, tools: &[Tool], calls: &[Call]) -> Result<Vec<ToolResult>, String> {
    let each = calls.iter().enumerate().map(|(index, call)| async move {
        let too_many = || format!("at most {MAX_CALLS} tools are called at once");
        let result = match index {
            ..MAX_CALLS => call_one(run, tools, call).await,
            MAX_CALLS => refuse(run, &call.name, too_many()),
            // One line of them is enough.
            _ => Ok(Err(too_many())),
        };
        let (content, is_error) = match result? {
            Ok(content) => (content, false),
            Err(content) => (content, true),
        };
        Ok(ToolResult { id: call.id.clone(), name: call.name.clone(), content, is_error })
    });
    join_all(each).await.into_iter().collect()
}

/// What a call gave, or the error for the model. The outer error ends the run.
async fn call_one(
    run: &Arc<RunContext>,
    tools: &[Tool],
    call: &Call,
) -> Result<Result<String, String>, String> {
    if !tools.iter().any(|tool| tool.name == call.name) {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        return refuse(run, &call.name, format!("there is no such tool; there are: {}", names.join(", ")));
    }
    let arguments = match &call.arguments {
        Arguments::Object(arguments) => Value::Object(arguments.clone()),
        Arguments::Unreadable(_) => {
            return refuse(run, &call.name, "its arguments are no JSON object".to_owned());
        }
    };
    match call_tool(run, &call.name, arguments).await {
        Ok(value) => Ok(Ok(as_text(&value))),
        Err(
            error
            @ (RunError::Cancelled(_) | RunError::Shutdown | RunError::Store(_) | RunError::Internal(_)),
        ) => Err(error.to_string()),
        // What fails in the tool is on record by itself; these fail before it begins.
        Err(RunError::Arguments { reason, .. }) => refuse(run, &call.name, reason),
        Err(RunError::Permission(reason)) => Ok(Err(reason)),
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// A call that is not carried out: on record, and told to the model.
fn refuse(run: &RunContext, tool: &str, reason: String) -> Result<Result<String, String>, String> {
    let message = format!("the model's call of `{}` is not carried out: {reason}", short_name(tool));
    let event = RunEvent::Log { level: "info".to_owned(), message: kept_text(message) };
    run.record(&event).map_err(|error| error.to_string())?;
    Ok(Err(reason))
}

/// The conversation for a last answer. Some providers refuse calls and results in a conversation without tools, so what
/// the model said and the tools gave stands as text behind what was asked.
fn without_tools(chat: Chat) -> Chat {
    let mut turns: Vec<Turn> = Vec::new();
    let mut found: Vec<Value> = Vec::new();
    let mut calls: Vec<Call> = Vec::new();
    for turn in chat.turns {
        match turn {
            Turn::Model(Message { text, calls: called, .. }) if !called.is_empty() => {
                calls = called;
                found.extend((!text.is_empty()).then(|| json!({"said": text})));
            }
            Turn::Results(results) => found.extend(results.into_iter().map(|result| {
                let call = calls.iter().find(|call| call.id == result.id);
                let arguments = call.map(|call| call.arguments.to_value()).unwrap_or_default();
                let kind = if result.is_error { "error" } else { "result" };
                json!({"tool": result.name, "arguments": arguments, kind: result.content})
            })),
            other => turns.push(other),
        }
    }
    let mut text = "What you said and the tools gave, as JSON, a line each:".to_owned();
    found.iter().for_each(|line| text += &format!("\n{line}"));
    text += "\nNo more tools can be called. Answer with what there is.";
    match turns.last_mut() {
        Some(Turn::User(asked)) => *asked += &format!("\n\n{text}"),
        _ => turns.push(Turn::User(text)),
    }
    Chat { turns, tools: Vec::new(), ..chat }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_a_last_answer_what_was_said_and_what_the_tools_gave_stand_as_text() {
        let call = |id: &str, city: &str| Call {
            id: id.to_owned(),
            name: "weather".to_owned(),
            arguments: Arguments::parse(&json!({"city": city}).to_string()),
        };
        let result = |id: &str, content: &str, is_error| ToolResult {
            id: id.to_owned(),
            name: "weather".to_owned(),
            content: content.to_owned(),
            is_error,
        };
        let calls = vec![call("1", "Rome"), call("2", "Oslo")];
        let message = Message { text: "I look.".to_owned(), calls, ..Message::default() };
        let chat = Chat {
            turns: vec![
                Turn::User("Weather?".to_owned()),
                Turn::Model(message),
                Turn::Results(vec![result("1", "21", false), result("2", "no such city", true)]),
            ],
            tools: vec![Tool { name: "weather".to_owned(), description: String::new(), parameters: None }],
            ..Chat::default()
        };
        let expected = "Weather?\n\nWhat you said and the tools gave, as JSON, a line each:\n\
            {\"said\":\"I look.\"}\n\
            {\"tool\":\"weather\",\"arguments\":{\"city\":\"Rome\"},\"result\":\"21\"}\n\
            {\"tool\":\"weather\",\"arguments\":{\"city\":\"Oslo\"},\"error\":\"no such city\"}\n\
            No more tools can be called. Answer with what there is.";
        let last = without_tools(chat);
        assert_eq!((last.turns, last.tools), (vec![Turn::User(expected.to_owned())], Vec::new()));
    }
}
