//! `/json`: requests and replies as JSON, in the form that protobuf defines (proto3).

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::Rejected;
use crate::decide::{Call, DESCRIPTORS, Service};

/// The forms of the messages.
static FORMS: LazyLock<Option<DescriptorPool>> = LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS).ok());

/// The messages of `/json`.
pub const REQUEST: &str = "envoy.service.ratelimit.v3.RateLimitRequest";
const RESPONSE: &str = "envoy.service.ratelimit.v3.RateLimitResponse";

fn form(name: &str) -> Result<MessageDescriptor, String> {
    FORMS.as_ref().and_then(|pool| pool.get_message_by_name(name)).ok_or_else(|| format!("no descriptor of {name}"))
}

/// Decides on the request in the body.
pub async fn json(State(service): State<Arc<Service>>, mut call: Call, body: Bytes) -> Response {
    let response = decided(&service, &mut call, &body).await;
    call.responded(response)
}

async fn decided(service: &Service, call: &mut Call, body: &[u8]) -> Result<Response, Rejected> {
    let request = read(body)?;
    let reply = service.decide(&request, call).await?;
    let is_over = reply.overall_code() == Code::OverLimit;
    let status = if is_over { StatusCode::TOO_MANY_REQUESTS } else { StatusCode::OK };
    Ok(written(status, &reply, RESPONSE))
}

/// The request in a body.
pub fn read(body: &[u8]) -> Result<RateLimitRequest, String> {
    read_as(body, REQUEST)
}

/// The message of this name in a body.
pub fn read_as<M: Message + Default>(body: &[u8], name: &str) -> Result<M, String> {
    let mut json = serde_json::Deserializer::from_slice(body);
    // An unknown field is an error: a misspelt one would lift a limit.
    let message = DynamicMessage::deserialize(form(name)?, &mut json);
    let message = message.and_then(|message| json.end().map(|()| message));
    let message = message.and_then(|message| serde_json::from_slice(body).map(|Unique| message));
    let short = name.rsplit('.').next().unwrap_or(name);
    let message = message.map_err(|error| format!("the body is no {short} in JSON: {error}"))?;
    message.transcode_to().map_err(|error| error.to_string())
}

/// JSON in which no object has a field twice, in any spelling of its name: the last would win, and could lift a limit.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Self)
    }
}

macro_rules! scalars {
    ($($visit:ident: $of:ty),*) => {
        $(fn $visit<E>(self, _: $of) -> Result<Self, E> {
            Ok(self)
        })*
    };
}

impl<'de> Visitor<'de> for Unique {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            // `hitsAddend` and `hits_addend` are one field.
            if !names.insert(name.replace('_', "").to_ascii_lowercase()) {
                return Err(A::Error::custom(format!("the field '{name}' is there twice")));
            }
            fields.next_value::<Self>()?;
        }
        Ok(self)
    }
}

/// A response with a message of this name.
pub fn written(code: StatusCode, reply: &impl Message, name: &str) -> Response {
    match write(reply, name) {
        Ok(text) => (code, [(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(text) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{text}\n")).into_response(),
    }
}

/// A message of this name as JSON.
pub fn write(reply: &impl Message, name: &str) -> Result<String, String> {
    let mut message = DynamicMessage::new(form(name)?);
    message.transcode_from(reply).map_err(|error| error.to_string())?;
    serde_json::to_string(&message).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitResponse;

    use super::*;

    /// A field with another name, number or type than in envoy-types would be lost on the way.
    #[test]
    fn the_descriptors_are_those_of_envoy_types() {
        let [request, reply] = [REQUEST, RESPONSE].map(|name| form(name).expect("a descriptor"));
        let json = r#"{"domain":"d","descriptors":[{"entries":[{"key":"k","value":"v"}],"limit":{"requestsPerUnit":7,"unit":"YEAR"},"hitsAddend":"3","isNegativeHits":true}],"hitsAddend":2}"#;
        let mut message = DynamicMessage::new(request);
        message.transcode_from(&read(json.as_bytes()).expect("a request")).expect("a message");
        assert_eq!(serde_json::to_string(&message).expect("JSON"), json);
        let quota = r#"{"requests":5,"validUntil":"1970-01-01T00:01:00Z","id":"q"}"#;
        let header = |key: &str| format!(r#"[{{"key":"{key}","value":"1","rawValue":"AQ=="}}]"#);
        let json = format!(
            r#"{{"overallCode":"OVER_LIMIT","statuses":[{{"code":"OK","currentLimit":{{"requestsPerUnit":9,"unit":"WEEK","name":"n"}},"limitRemaining":4,"durationUntilReset":"30s","quota":{quota}}}],"responseHeadersToAdd":{},"requestHeadersToAdd":{},"rawBody":"Ag==","dynamicMetadata":{{"f":"x"}},"quota":{quota}}}"#,
            header("a"),
            header("b"),
        );
        let message = DynamicMessage::deserialize(reply, &mut serde_json::Deserializer::from_str(&json));
        let message: RateLimitResponse = message.expect("a reply").transcode_to().expect("a message");
        assert_eq!(write(&message, RESPONSE), Ok(json));
    }

    #[test]
    fn what_is_no_request_is_an_error() {
        for wrong in ["", "[]", "{", "{}x", r#"{"domains":"d"}"#, r#"{"domain":5}"#, r#"{"hitsAddend":-1}"#] {
            let error = read(wrong.as_bytes()).expect_err(wrong);
            assert!(error.starts_with("the body is no RateLimitRequest in JSON: "), "{error}");
        }
        for twice in [
            r#"{"descriptors":[{}],"descriptors":[]}"#,
            r#"{"hits_addend":1,"hitsAddend":0}"#,
            r#"{"descriptors":[{"entries":[{"key":"k","value":"a","value":"b"}]}]}"#,
        ] {
            let error = read(twice.as_bytes()).expect_err(twice);
            assert!(error.contains("is there twice"), "{error}");
        }
        // Both spellings of a name are proto3 JSON.
        assert_eq!(read(br#"{"hits_addend":4}"#).map(|request| request.hits_addend), Ok(4));
        assert_eq!(read(b"{}"), Ok(RateLimitRequest::default()));
    }
}
