//! [`Lines`]: messages on two streams, one per line.
//!
//! The transport of the official implementation drops a line that is not JSON, so its client waits forever. This one answers.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::message::{self, NoMessage};

/// The number of bytes read at a time from the rest of a line that is too long. They are dropped.
const DROPPED: usize = 64 << 10;

/// Messages of one client.
pub(super) struct Lines<R, W> {
    read: BufReader<R>,
    write: Arc<Mutex<Option<W>>>,
    /// The maximum length of a line in bytes.
    most: usize,
    /// The part of the line that was read so far. It is kept here because [`receive`](Transport::receive) may be dropped and called again.
    line: Vec<u8>,
    /// Whether `line` is the rest of a line that was too long.
    is_rest: bool,
    /// Whether the client has sent a request. Earlier messages have no meaning, and would end the session.
    has_begun: bool,
    /// The task that sends the answer to a line that is not a message.
    answering: Option<JoinHandle<io::Result<()>>>,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W, most: usize) -> Self {
        let (read, write) = (BufReader::new(read), Arc::new(Mutex::new(Some(write))));
        Self {
            read,
            write,
            most,
            line: Vec::new(),
            is_rest: false,
            has_begun: false,
            answering: None,
        }
    }

    /// The next line, without its end. `None` when the client sends no more.
    async fn next_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            // Two bytes above the limit: one to detect a line that is too long, and one for the end of the line.
            let most = if self.is_rest { DROPPED } else { self.most.saturating_add(2) };
            let room = most.saturating_sub(self.line.len()) as u64;
            if (&mut self.read).take(room).read_until(b'\n', &mut self.line).await? == 0 {
                // The last line may have no end.
                let last = std::mem::take(&mut self.line);
                let is_line = !last.is_empty() && !self.is_rest;
                return Ok(is_line.then_some(Line::Whole(last)));
            }
            let has_ended = self.line.last() == Some(&b'\n');
            let is_full = self.line.len() >= most;
            if !has_ended && !is_full {
                continue;
            }
            let mut line = std::mem::take(&mut self.line);
            let was_rest = std::mem::replace(&mut self.is_rest, !has_ended);
            if was_rest {
                continue;
            }
            if has_ended {
                line.pop();
                line.pop_if(|last| *last == b'\r');
            }
            return Ok(Some(if line.len() > self.most {
                Line::TooLong
            } else {
                Line::Whole(line)
            }));
        }
    }
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let write = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Read nothing from a client that does not read answers.
            if let Some(answering) = &mut self.answering {
                let sent = answering.await;
                self.answering = None;
                sent.ok()?.ok()?;
            }
            let answer = match self.next_line().await.ok()?? {
                Line::TooLong => Some(Box::new(message::too_long(self.most))),
                Line::Whole(line) if line.is_empty() => None,
                Line::Whole(line) => match message::read(&line) {
                    Ok(message) => {
                        self.has_begun |= matches!(message, ClientJsonRpcMessage::Request(_));
                        if self.has_begun {
                            return Some(message);
                        }
                        None
                    }
                    Err(NoMessage(answer)) => answer,
                },
            };
            // In a task, because dropping this future must not leave half an answer.
            self.answering = answer.map(|answer| tokio::spawn(self.send(*answer)));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.write.lock().await.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::AsyncReadExt;

    use super::*;

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

    /// The number of messages received from the sent bytes, and the answers to the rest.
    fn exchange(sent: &[u8], most: usize) -> (usize, Vec<Value>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (client, server) = tokio::io::duplex(1 << 20);
            let mut lines = Lines::new(sent, server, most);
            let mut messages = 0;
            while lines.receive().await.is_some() {
                messages += 1;
            }
            lines.close().await.unwrap();
            let mut answers = String::new();
            let mut client = client;
            client.read_to_string(&mut answers).await.unwrap();
            let answers = answers.lines().map(|line| serde_json::from_str(line).unwrap());
            (messages, answers.collect())
        })
    }

    #[test]
    fn a_line_that_is_no_message_is_answered_and_the_next_is_read() {
        let bad = r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":"\ud83d"}}"#;
        let sent = format!("{PING}\r\n\n{bad}\n{{\n{PING}\n{PING}");
        let (messages, answers) = exchange(sent.as_bytes(), 1_000);
        assert_eq!((messages, answers.len()), (3, 2));
        assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&json!(2), &json!(-32700)));
        assert_eq!((answers[1].get("id"), &answers[1]["error"]["code"]), (None, &json!(-32700)));
    }

    #[test]
    fn what_comes_before_the_first_request_is_passed_over() {
        let early = r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
        let answer = r#"{"jsonrpc":"2.0","id":3,"result":{}}"#;
        let sent = format!("{early}\n{answer}\n{PING}\n{early}\n");
        assert_eq!(exchange(sent.as_bytes(), 1_000), (2, Vec::new()));
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_and_dropped() {
        for end in ["\n", "\r\n"] {
            for more in [1, 2, 3, DROPPED - 1, DROPPED, DROPPED + 1, 10 * DROPPED] {
                let sent = format!("{PING}{}{end}{PING}{end}", " ".repeat(more));
                let (messages, answers) = exchange(sent.as_bytes(), PING.len());
                assert_eq!((messages, answers.len()), (1, 1), "{more} more");
                assert!(answers[0].to_string().contains("more than 40 bytes"), "{answers:?}");
            }
            let sent = format!("{PING}{end}{PING}{end}");
            assert_eq!(exchange(sent.as_bytes(), PING.len()), (2, Vec::new()));
        }
    }
}
