//! Cohere's chat, version 1: the one that the specification's settings belong to.
//!
//! Source: Cohere API reference, "Chat (V1 API)".

use async_trait::async_trait;
use nb_egress::Egress;
use serde_json::{Value, json};

use crate::address::Address;
use crate::answer::{Answer, Delta, Stop, Usage};
use crate::bearer::bearer;
use crate::chat::{Arguments, Call, Chat, ToolResult, Turn};
use crate::environment::Variable;
use crate::error::ProviderError;
use crate::frame::{Frame, Framing};
use crate::names::{NameRule, Names};
use crate::provider::Parts;
use crate::refusal::Refusal;
use crate::section::Section;
use crate::wire::{Authorization, Bad, Outgoing, Reader, Wire};
use crate::{schema, tools};

/// The credential that proves who asks.
pub(crate) const KEY: &str = "api-key";
/// Letters, digits and `_`, no digit first.
const NAMES: NameRule = NameRule { also: &['_'], any_first: false, longest: 64 };

struct Cohere {
    section: Section,
    address: Address,
    url: String,
    key: Variable,
}

pub(crate) fn new(section: Section) -> Result<Parts, ProviderError> {
    section.refuse_settings(&["message", "chat_history", "tool_results"])?;
    let address = Address::new(&section, "https://api.cohere.com")?;
    let url = address.join("v1/chat");
    let key = section.required(KEY, "COHERE_API_KEY")?.clone();
    let model = section.model("settings")?;
    Ok(Parts { wire: Box::new(Cohere { section, address: address.clone(), url, key }), address, model })
}

#[async_trait]
impl Wire for Cohere {
    fn request(&self, chat: &Chat, stream: bool) -> Result<Outgoing, ProviderError> {
        let names = Names::new(NAMES, &chat.tools);
        let mut body = self.section.settings.clone();
        let mut declared = tools::own(&self.section, &mut body)?;
        for tool in &chat.tools {
            declared.push(json!({
                "name": names.to_wire(&tool.name),
                "description": tool.description,
                "parameter_definitions": schema::definitions(tool)?,
            }));
        }
        if !declared.is_empty() {
            body.insert("tools".to_owned(), Value::Array(declared));
        }
        if let Some(directive) = &chat.directive {
            body.insert("preamble".to_owned(), json!(directive));
        }
        // The last turn is what is asked; all before it are history.
        let (asked, before) = match chat.turns.split_last() {
            Some((last @ (Turn::User(_) | Turn::Results(_)), before)) => (Some(last), before),
            _ => (None, chat.turns.as_slice()),
        };
        let mut history: Vec<Value> =
            chat.backdrop.iter().map(|backdrop| json!({"role": "USER", "message": backdrop})).collect();
        let mut called: &[Call] = &[];
        for turn in before {
            history.push(match turn {
                Turn::User(message) => json!({"role": "USER", "message": message}),
                Turn::Model(message) => {
                    called = &message.calls;
                    let mut turn = json!({"role": "CHATBOT", "message": message.text});
                    if !message.calls.is_empty() {
                        turn["tool_calls"] =
                            message.calls.iter().map(|call| call_value(call, &names)).collect();
                    }
                    turn
                }
                Turn::Results(results) => {
                    json!({"role": "TOOL", "tool_results": results_value(results, called, &names)})
                }
            });
        }
        if !history.is_empty() {
            body.insert("chat_history".to_owned(), Value::Array(history));
        }
        let message = match asked {
            Some(Turn::User(message)) => message.as_str(),
            Some(Turn::Results(results)) => {
                body.insert("tool_results".to_owned(), results_value(results, called, &names));
                ""
            }
            _ => "",
        };
        body.insert("message".to_owned(), json!(message));
        body.insert("stream".to_owned(), json!(stream));
        let framing = stream.then_some(Framing::Lines);
        Ok(Outgoing { url: self.url.clone(), headers: Vec::new(), body: Value::Object(body), framing, names })
    }

    async fn authorization(&self, _: &Egress, _: &Outgoing) -> Result<Authorization, ProviderError> {
        Ok(bearer(&self.address, &self.key))
    }

    fn reader(&self, outgoing: &Outgoing) -> Box<dyn Reader> {
        Box::new(Events { names: outgoing.names.clone(), answer: Answer::default(), whole: false })
    }

    fn whole(&self, body: &Value, outgoing: &Outgoing) -> Result<Answer, Bad> {
        failed(body)?;
        let text = body.get("text").and_then(Value::as_str).ok_or("its answer has no `text`")?;
        let mut events = Events { names: outgoing.names.clone(), answer: Answer::default(), whole: true };
        text.clone_into(&mut events.answer.text);
        events.calls(body);
        events.end(body, body);
        Ok(events.answer())
    }
}

/// An answer that ended by an error of theirs.
fn failed(ended: &Value) -> Result<(), Bad> {
    if ended.get("finish_reason").and_then(Value::as_str) != Some("ERROR") {
        return Ok(());
    }
    let told = ended.get("error").or_else(|| ended.pointer("/response/error"));
    let message = told.and_then(Value::as_str).unwrap_or("the answer failed on their side");
    let code = Some("ERROR".to_owned());
    Err(Bad::Refused(Refusal { message: message.to_owned(), code, ..Refusal::default() }))
}

fn call_value(call: &Call, names: &Names) -> Value {
    json!({"name": names.to_wire(&call.name), "parameters": call.arguments.to_value()})
}

/// Each result stands with its call; calls have no names of their own here.
fn results_value(results: &[ToolResult], called: &[Call], names: &Names) -> Value {
    let value = |result: &ToolResult| {
        let call = called.iter().find(|call| call.id == result.id).map_or_else(
            || json!({"name": names.to_wire(&result.name), "parameters": {}}),
            |call| call_value(call, names),
        );
        json!({"call": call, "outputs": [result.object()]})
    };
    results.iter().map(value).collect()
}

/// Reads the lines of a stream.
struct Events {
    names: Names,
    answer: Answer,
    whole: bool,
}

impl Events {
    fn say(&mut self, event: &Value, on: &mut (dyn FnMut(Delta<'_>) + Send)) {
        if let Some(text) = event.get("text").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            self.answer.text.push_str(text);
            on(Delta::Text(text));
        }
    }

    fn calls(&mut self, holder: &Value) {
        let calls = holder.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        for call in calls {
            let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
            self.answer.calls.push(Call {
                id: format!("call_{}", self.answer.calls.len()),
                name: self.names.to_real(name),
                arguments: Arguments::from_value(call.get("parameters").cloned().unwrap_or_default()),
            });
        }
    }

    /// `event` has the reason, `response` the rest.
    fn end(&mut self, event: &Value, response: &Value) {
        if let Some(reason) = event.get("finish_reason").and_then(Value::as_str) {
            self.answer.stop = Some(match reason {
                "COMPLETE" | "STOP_SEQUENCE" => Stop::Done,
                "TOOL_CALL" => Stop::Calls,
                "MAX_TOKENS" | "ERROR_LIMIT" => Stop::Length,
                "ERROR_TOXIC" => Stop::Filtered,
                _ => Stop::Other,
            });
            self.answer.stop_reason = Some(reason.to_owned());
        }
        if self.answer.stop.is_none_or(|stop| stop == Stop::Done) && !self.answer.calls.is_empty() {
            self.answer.stop = Some(Stop::Calls);
        }
        let id = ["response_id", "generation_id"].iter().find_map(|key| response.get(*key)?.as_str());
        self.answer.request_id = id.map(str::to_owned);
        let count = |key: &str| {
            let found = response.pointer(&format!("/meta/tokens/{key}"));
            found.or_else(|| response.pointer(&format!("/meta/billed_units/{key}")))?.as_f64()
        };
        // They are written as 7.0.
        if let Some(input) = count("input_tokens") {
            let output = count("output_tokens").unwrap_or(0.0);
            let cached = response.pointer("/meta/cached_tokens").and_then(Value::as_f64).unwrap_or(0.0);
            self.answer.usage =
                Some(Usage { input: input as u64, output: output as u64, cached: cached as u64 });
        }
    }
}

impl Reader for Events {
    fn read(&mut self, frame: &Frame, on: &mut (dyn FnMut(Delta<'_>) + Send)) -> Result<(), Bad> {
        let event: Value = serde_json::from_slice(&frame.data)
            .map_err(|error| Bad::Malformed(format!("a line of its stream is no JSON: {error}")))?;
        match event.get("event_type").and_then(Value::as_str) {
            // The second one is what the model says it will do with its tools.
            Some("text-generation" | "tool-calls-chunk") => self.say(&event, on),
            Some("tool-calls-generation") => {
                if self.answer.text.is_empty() {
                    self.say(&event, on);
                }
                self.calls(&event);
            }
            Some("stream-end") => {
                failed(&event)?;
                self.whole = true;
                let response = event.get("response").cloned().unwrap_or_default();
                if self.answer.calls.is_empty() {
                    self.calls(&response);
                }
                self.end(&event, &response);
            }
            Some(_) => {}
            None if event.get("message").is_some() || event.get("error").is_some() => {
                return Err(Bad::Refused(Refusal::read(&event)));
            }
            None => {}
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.whole
    }

    fn is_over(&self) -> bool {
        self.whole
    }

    fn answer(&mut self) -> Answer {
        std::mem::take(&mut self.answer)
    }
}
