//! A session with the server, and its runtime.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout_at;
use tokio_postgres::{AsyncMessage, Client};

use super::failure::{EngineResult, Failure};
use super::hosts;
use super::transaction::{COMMIT, Transaction};
use super::url::ServerUrl;
use crate::Outcome;

/// A session. The thread that waits for an answer also reads from the socket.
pub(crate) struct Connection {
    runtime: Runtime,
    client: Client,
    /// Set when the server sends a warning.
    warned: Arc<AtomicBool>,
}

impl Connection {
    /// Opens a session with the first host that allows writes.
    pub(crate) fn open(server: &ServerUrl, deadline: Instant) -> EngineResult<Self> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime without threads needs only memory and descriptors");
        let warned = Arc::new(AtomicBool::new(false));
        let client = {
            let warned = Arc::clone(&warned);
            runtime.block_on(async {
                let opened = hosts::connect(server, deadline).await;
                let (client, mut connection) =
                    opened.map_err(|errors| Failure::ConnectFailed(Arc::new(errors)))?;
                tokio::spawn(poll_fn(move |context| {
                    loop {
                        match connection.poll_message(context) {
                            Poll::Pending => return Poll::Pending,
                            Poll::Ready(Some(Ok(AsyncMessage::Notice(notice)))) => {
                                warned.fetch_or(notice.severity() == "WARNING", Ordering::Relaxed);
                            }
                            Poll::Ready(Some(Ok(_))) => {}
                            Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(()),
                        }
                    }
                }));
                Ok::<_, Failure>(client)
            })?
        };
        Ok(Self { runtime, client, warned })
    }

    /// Tells whether the session is known to have ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs something in a transaction that starts with the statements `begin`, and commits.
    pub(crate) fn transact<T>(
        &self,
        begin: &str,
        deadline: Instant,
        work: &impl AsyncFn(&Transaction<'_>) -> EngineResult<T>,
    ) -> EngineResult<T> {
        let value = self.within(deadline, Outcome::Aborted, async {
            let transaction = Transaction::begin(&self.client, begin).await?;
            let result = work(&transaction).await;
            if result.is_err() && !self.client.is_closed() {
                // If the rollback fails, the session ends and the server rolls back.
                drop(self.client.batch_execute("ROLLBACK").await);
            }
            result
        })?;
        self.warned.store(false, Ordering::Relaxed);
        self.within(deadline, Outcome::Unknown, async {
            self.client.batch_execute(COMMIT).await.map_err(Failure::of_commit)
        })?;
        self.reject_warned(value)
    }

    /// Runs one statement as its own transaction.
    pub(crate) fn run_statement<T>(
        &self,
        deadline: Instant,
        work: impl AsyncFnOnce(&Transaction<'_>) -> EngineResult<T>,
    ) -> EngineResult<T> {
        self.warned.store(false, Ordering::Relaxed);
        let value = self.within(deadline, Outcome::Unknown, async {
            work(&Transaction::single_statement(&self.client)).await.map_err(Failure::in_commit)
        })?;
        self.reject_warned(value)
    }

    /// Rejects a commit with the warning `canceling wait for synchronous replication`: it may exist
    /// on this server only.
    fn reject_warned<T>(&self, value: T) -> EngineResult<T> {
        if self.warned.load(Ordering::Relaxed) { Err(Failure::TimedOut(Outcome::Unknown)) } else { Ok(value) }
    }

    fn within<T>(
        &self,
        deadline: Instant,
        outcome: Outcome,
        work: impl Future<Output = EngineResult<T>>,
    ) -> EngineResult<T> {
        let answer = self.runtime.block_on(async { timeout_at(deadline.into(), work).await });
        answer.unwrap_or(Err(Failure::TimedOut(outcome)))
    }
}
