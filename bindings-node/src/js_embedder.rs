//! `JsEmbedder`: an embedder that is written in JavaScript, for the core.
//!
//! The core calls it from a thread of its own. The call becomes an [`EmbedRequest`] for a function on JavaScript's thread,
//! which may answer later: the embedder may return a promise.

use std::sync::Mutex;
use std::sync::mpsc::{self, Sender};

use memdir::{Embedder, EmbedderError};
use napi::Status;
use napi::bindgen_prelude::{Float32Array, Function, Unknown};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;

use crate::thread_pool::{Received, receive_until};

/// A function that receives requests. It is *weak*: an existing embedder does not keep Node alive, but the promise of a
/// running search does.
type Serve = ThreadsafeFunction<EmbedRequest, Unknown<'static>, EmbedRequest, Status, false, true>;

type Answer = Result<Vec<Vec<f32>>, String>;

/// One call of an embedder that is written in JavaScript.
#[napi]
pub struct EmbedRequest {
    texts: Mutex<Vec<String>>,
    is_query: bool,
    answer: Sender<Answer>,
}

#[napi]
impl EmbedRequest {
    /// The texts. They are moved out: a second call returns none.
    #[napi]
    pub fn take_texts(&self) -> Vec<String> {
        self.texts.lock().map(|mut texts| std::mem::take(&mut *texts)).unwrap_or_default()
    }

    /// True for the words of a question.
    #[napi(getter)]
    pub fn is_query(&self) -> bool {
        self.is_query
    }

    /// Answers with the vectors.
    #[napi]
    pub fn succeed(&self, vectors: Vec<Float32Array>) {
        // If the search no longer waits, or it was answered before, this is dropped.
        let _ = self.answer.send(Ok(vectors.iter().map(|vector| vector.to_vec()).collect()));
    }

    /// Answers with the message of an error.
    #[napi]
    pub fn fail(&self, message: String) {
        let _ = self.answer.send(Err(message));
    }
}

/// An embedder written in JavaScript.
pub(crate) struct JsEmbedder(Serve);

impl JsEmbedder {
    /// `serve` is called with every request, and must not throw.
    pub(crate) fn new(serve: &Function<'_, EmbedRequest, Unknown<'static>>) -> napi::Result<Self> {
        let serve = serve.build_threadsafe_function();
        Ok(Self(serve.weak::<true>().callee_handled::<false>().build()?))
    }
}

impl Embedder for JsEmbedder {
    fn embed(&self, texts: &[String], is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let (answer, receiver) = mpsc::channel();
        let request = EmbedRequest { texts: Mutex::new(texts.to_vec()), is_query, answer };
        self.0.call(request, ThreadsafeFunctionCallMode::NonBlocking);
        match receive_until(&receiver, None, || self.0.aborted()) {
            Received::Message(answer) => Ok(answer?),
            Received::TimedOut | Received::Gone => Err("it did not answer".into()),
        }
    }
}
