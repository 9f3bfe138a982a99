//! One session with the server, and the runtime that it runs on.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout_at;
use tokio_postgres::{AsyncMessage, Client};

use super::failure::{Attempt, Failure};
use super::transaction::{COMMIT, Transaction};
use super::url::Target;
use crate::Outcome;

/// A session. What arrives is read while somebody waits for an answer, in the thread that waits.
pub(crate) struct Connection {
    runtime: Runtime,
    client: Client,
    /// The server warned of something since this was last looked at.
    warned: Arc<AtomicBool>,
}

impl Connection {
    /// Opens a session with the first host that allows writes.
    pub(crate) fn open(target: &Target, deadline: Instant) -> Attempt<Self> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime without threads needs only memory and descriptors");
        let warned = Arc::new(AtomicBool::new(false));
        let client = {
            let warned = Arc::clone(&warned);
            runtime.block_on(async {
                let connect = target.config.connect(target.tls.connect.clone());
                let opened = timeout_at(deadline.into(), connect).await;
                let opened = opened.map_err(|_| Failure::Silent(Outcome::Aborted))?;
                let (client, mut connection) = opened.map_err(|error| Failure::NoSession(Arc::new(error)))?;
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

    /// Whether the server is known to be gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Does something in a transaction that begins with these statements, and commits.
    pub(crate) fn transact<T>(
        &self,
        begin: &str,
        deadline: Instant,
        work: &impl AsyncFn(&Transaction<'_>) -> Attempt<T>,
    ) -> Attempt<T> {
        let value = self.within(deadline, Outcome::Aborted, async {
            let transaction = Transaction::begin(&self.client, begin).await?;
            let result = work(&transaction).await;
            if result.is_err() && !self.client.is_closed() {
                // When it cannot be undone here, the session ends, and the server undoes it.
                drop(self.client.batch_execute("ROLLBACK").await);
            }
            result
        })?;
        self.warned.store(false, Ordering::Relaxed);
        self.within(deadline, Outcome::Unknown, async {
            self.client.batch_execute(COMMIT).await.map_err(Failure::of_commit)
        })?;
        self.unless_warned(value)
    }

    /// Does something in one statement that is a transaction of its own.
    pub(crate) fn state<T>(
        &self,
        deadline: Instant,
        work: impl AsyncFnOnce(&Transaction<'_>) -> Attempt<T>,
    ) -> Attempt<T> {
        self.warned.store(false, Ordering::Relaxed);
        let value = self.within(deadline, Outcome::Unknown, async {
            work(&Transaction::of_one_statement(&self.client)).await.map_err(Failure::in_commit)
        })?;
        self.unless_warned(value)
    }

    /// `canceling wait for synchronous replication`: it is committed here and perhaps nowhere else.
    fn unless_warned<T>(&self, value: T) -> Attempt<T> {
        if self.warned.load(Ordering::Relaxed) { Err(Failure::Silent(Outcome::Unknown)) } else { Ok(value) }
    }

    fn within<T>(
        &self,
        deadline: Instant,
        outcome: Outcome,
        work: impl Future<Output = Attempt<T>>,
    ) -> Attempt<T> {
        let answer = self.runtime.block_on(async { timeout_at(deadline.into(), work).await });
        answer.unwrap_or(Err(Failure::Silent(outcome)))
    }
}
