//! A proxy between a client and a PostgreSQL server that counts round trips, delays messages, and loses selected
//! ones.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The fate of a request that commits a change.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Loss {
    Nothing,
    /// It reaches the server, and the connection is closed before the answer arrives.
    Answer,
    /// The same, and no other connection is possible until [`Proxy::open`].
    AnswerAndAllOthers,
    /// It does not reach the server.
    Request,
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: u16,
    round_trips: AtomicUsize,
    /// How often the SQL of a statement on the table was sent.
    statements: AtomicUsize,
    /// How long a message takes in each direction, in milliseconds.
    delay: AtomicU64,
    /// For the next commit only.
    loss: Mutex<Loss>,
    /// For one request of any kind, after N others.
    loss_after: Mutex<Option<(usize, Loss)>>,
    lost: AtomicUsize,
    closed: AtomicBool,
}

impl Proxy {
    pub(crate) fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            server,
            round_trips: AtomicUsize::new(0),
            statements: AtomicUsize::new(0),
            delay: AtomicU64::new(0),
            loss: Mutex::new(Loss::Nothing),
            loss_after: Mutex::new(None),
            lost: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        });
        let accepting = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if !accepting.closed.load(SeqCst) {
                    accepting.clone().connect(client);
                }
            }
        });
        Self { port, shared }
    }

    /// How many times the client waited for the server while `work` was done.
    pub(crate) fn round_trips(&self, work: impl FnOnce()) -> usize {
        let before = self.shared.round_trips.load(SeqCst);
        work();
        self.shared.round_trips.load(SeqCst) - before
    }

    /// How many requests contained the SQL of a statement while `work` was done: the statement was not prepared.
    pub(crate) fn statements(&self, work: impl FnOnce()) -> usize {
        let before = self.shared.statements.load(SeqCst);
        work();
        self.shared.statements.load(SeqCst) - before
    }

    /// From now on each message takes this time, in each direction.
    pub(crate) fn delay(&self, time: Duration) {
        self.shared.delay.store(u64::try_from(time.as_millis()).unwrap(), SeqCst);
    }

    /// The next commit of a change is lost in this way.
    pub(crate) fn lose(&self, loss: Loss) {
        *self.shared.loss.lock().unwrap() = loss;
    }

    /// After `requests` other requests one is lost in this way, whatever it is.
    pub(crate) fn lose_after(&self, requests: usize, loss: Loss) {
        *self.shared.loss_after.lock().unwrap() = Some((requests, loss));
    }

    pub(crate) fn losses(&self) -> usize {
        self.shared.lost.load(SeqCst)
    }

    /// Allows connections again after [`Loss::AnswerAndAllOthers`].
    pub(crate) fn open(&self) {
        self.shared.closed.store(false, SeqCst);
    }
}

impl Shared {
    fn connect(self: Arc<Self>, client: TcpStream) {
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.server)) else { return };
        let answered = Arc::new(AtomicBool::new(true));
        let (mut to_client, mut from_server) =
            (client.try_clone().unwrap(), server.try_clone().unwrap());
        let (on_answer, shared) = (answered.clone(), self.clone());
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = from_server.read(&mut buffer) {
                shared.wait();
                on_answer.store(true, SeqCst);
                if to_client.write_all(&buffer[..read]).is_err() {
                    break;
                }
            }
            let _ = to_client.shutdown(Shutdown::Both);
        });
        std::thread::spawn(move || self.forward(client, server, &answered));
    }

    fn wait(&self) {
        let delay = Duration::from_millis(self.delay.load(SeqCst));
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
    }

    /// The loss for this request, if any.
    fn due(&self) -> Option<Loss> {
        let mut after = self.loss_after.lock().unwrap();
        let (requests, loss) = (*after)?;
        *after = requests.checked_sub(1).map(|requests| (requests, loss));
        (requests == 0).then_some(loss)
    }

    fn forward(&self, mut client: TcpStream, mut server: TcpStream, answered: &AtomicBool) {
        while let Some(requests) = burst(&mut client) {
            if answered.swap(false, SeqCst) {
                self.round_trips.fetch_add(1, SeqCst);
            }
            self.wait();
            let has = |word: &[u8]| requests.windows(word.len()).any(|window| window == word);
            if has(b"memdir.node") {
                self.statements.fetch_add(1, SeqCst);
            }
            let mut loss = Loss::Nothing;
            if has(b"COMMIT\0") && !has(b"BEGIN") {
                loss = std::mem::replace(&mut *self.loss.lock().unwrap(), Loss::Nothing);
            }
            if let Some(due) = self.due() {
                loss = due;
            }
            match loss {
                Loss::Nothing => {
                    if server.write_all(&requests).is_err() {
                        break;
                    }
                }
                Loss::Answer | Loss::AnswerAndAllOthers => {
                    self.closed.store(loss == Loss::AnswerAndAllOthers, SeqCst);
                    client.shutdown(Shutdown::Both).unwrap();
                    server.write_all(&requests).unwrap();
                    // The server closes the connection after it has executed the request.
                    server.shutdown(Shutdown::Write).unwrap();
                    self.lost.fetch_add(1, SeqCst);
                    return;
                }
                Loss::Request => {
                    self.lost.fetch_add(1, SeqCst);
                    break;
                }
            }
        }
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    }
}

/// Everything that a client sends until it pauses, as if the server were far away. This includes
/// requests that the client sends without waiting for an answer.
fn burst(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut requests = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let patience = (!requests.is_empty()).then_some(Duration::from_millis(10));
        client.set_read_timeout(patience).unwrap();
        match client.read(&mut buffer) {
            Ok(0) => return (!requests.is_empty()).then_some(requests),
            Ok(read) => requests.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Some(requests);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
