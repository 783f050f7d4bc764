//! Determines the outcome of a change whose acknowledgement was lost.

use std::time::{Duration, Instant};

use memdir_store::StoreError;

use super::error::PostgresError;
use super::session::{BEGIN, Outcome, Session};
use super::statements;

/// How long the store tries to determine the outcome of a change while the server is down.
const SEARCH: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

impl Session {
    /// Determines whether the change is among the newest of the namespace. Waits for a server that restarts. The lock makes it
    /// wait for the end of a transaction in progress.
    pub(super) async fn search(
        &self,
        number: &String,
        before: Option<&String>,
    ) -> Result<Outcome, PostgresError> {
        let until = Instant::now() + SEARCH;
        let newest = loop {
            match self.recall().await {
                Err(error) if error.may_pass() && Instant::now() < until => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) if self.server.stops_preparing(&error) && Instant::now() < until => {}
                result => break result,
            }
        };
        let unknown = |why: String| {
            StoreError::failed(
                "committing a change",
                format!(
                    "the connection broke, and it is not known whether the change was made: {why}"
                ),
            )
        };
        let newest = match newest {
            Ok(Some(newest)) => newest,
            // The namespace was erased meanwhile. Either the change came before that, or it was not made. In both cases
            // nothing of it is left.
            Ok(None) if before.is_some() => return Ok(Outcome::Undone),
            Ok(None) => Vec::new(),
            Err(error) => {
                return Err(unknown(error.during("asking for it").to_string()).into());
            }
        };
        let none_was_forgotten = match before {
            Some(before) => newest.contains(before),
            None => newest.len() < statements::REMEMBERED,
        };
        match (newest.contains(number), none_was_forgotten) {
            (true, _) => Ok(Outcome::Done),
            (false, true) => Ok(Outcome::Undone),
            (false, false) => Err(unknown("there were too many others since".to_owned()).into()),
        }
    }

    /// The newest changes; `None` if the namespace has no root.
    async fn recall(&self) -> Result<Option<Vec<String>>, PostgresError> {
        let rows = self.ask_in(BEGIN, &statements::RECALL, &[]).await?;
        Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
    }
}
