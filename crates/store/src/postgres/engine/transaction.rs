//! A transaction as the parts of the engine see it, and how one begins and ends.

use std::time::Duration;

use tokio_postgres::{Client, Row, SimpleQueryMessage};

use super::failure::{Attempt, Failure};
use crate::postgres::columns::Parameter;
use crate::{Error, Time};

/// How long the server waits for a client that was stopped in the middle of a transaction and keeps others from its rows.
const IDLE: Duration = Duration::from_secs(10);

/// What a transaction may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read, from one state.
    Read,
    /// Write; each statement sees what was committed before it.
    Write,
}

/// A transaction that is open.
pub(crate) struct Transaction<'a> {
    client: &'a Client,
    /// When it began, by the server's clock.
    pub(crate) now: Time,
    /// Whether a transaction without settings of its own would be durable when it is acknowledged.
    pub(crate) is_durable: bool,
}

/// The statements that begin a transaction. All settings are its own, since a pooler may give the next one another session.
pub(crate) fn begin_sql(access: Access, wait: Duration) -> String {
    let mode = match access {
        Access::Read => "ISOLATION LEVEL REPEATABLE READ READ ONLY",
        Access::Write => "ISOLATION LEVEL READ COMMITTED READ WRITE",
    };
    let (wait, idle) = (wait.as_millis().clamp(1, 1 << 30), IDLE.as_millis());
    // What counts as committed must be on the disk, and on the standby where one is waited for, whatever is set for others.
    format!(
        "BEGIN {mode};
         SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, current_setting('synchronous_commit'),
                set_config('search_path', 'agents', true),
                set_config('statement_timeout', '{wait}', true), set_config('lock_timeout', '{wait}', true),
                set_config('idle_in_transaction_session_timeout', '{idle}', true),
                set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                    WHEN 'off' THEN 'on' WHEN 'local' THEN 'on' ELSE current_setting('synchronous_commit') END, true)"
    )
}

/// A commit is not to be cut short: a server that gives up waiting for its standby would say that all is well.
pub(crate) const COMMIT: &str = "SET LOCAL statement_timeout = 0; COMMIT";

impl<'a> Transaction<'a> {
    /// Begins one with [`begin_sql`].
    pub(crate) async fn begin(client: &'a Client, sql: &str) -> Attempt<Self> {
        let messages = client.simple_query(sql).await?;
        let row = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some((row.get(0)?, row.get(1)?)),
            _ => None,
        });
        let (now, commit) = row.ok_or(Failure::Again)?;
        let now = now.parse().map(Time::from_micros).map_err(|_| Failure::Again)?;
        Ok(Self { client, now, is_durable: !["off", "local"].contains(&commit) })
    }

    /// For one statement that is a transaction of its own, and has no settings.
    pub(crate) fn of_one_statement(client: &'a Client) -> Self {
        Self { client, now: Time::from_micros(0), is_durable: true }
    }

    /// All rows of a query.
    pub(crate) async fn rows(&self, sql: &str, parameters: &[Parameter<'_>]) -> Attempt<Vec<Row>> {
        Ok(self.client.query_typed(sql, parameters).await?)
    }

    /// The first row of a query, if there is one.
    pub(crate) async fn row(&self, sql: &str, parameters: &[Parameter<'_>]) -> Attempt<Option<Row>> {
        Ok(self.rows(sql, parameters).await?.into_iter().next())
    }

    /// The only row of a query that always has one.
    pub(crate) async fn one(&self, sql: &str, parameters: &[Parameter<'_>]) -> Attempt<Row> {
        self.row(sql, parameters).await?.ok_or(Failure::Again)
    }

    /// How many rows a statement changed.
    pub(crate) async fn execute(&self, sql: &str, parameters: &[Parameter<'_>]) -> Attempt<u64> {
        Ok(self.client.execute_typed(sql, parameters).await?)
    }

    /// A statement that changes one row, unless somebody was faster.
    pub(crate) async fn execute_one(&self, sql: &str, parameters: &[Parameter<'_>]) -> Attempt<()> {
        match self.execute(sql, parameters).await? {
            1 => Ok(()),
            _ => Err(Failure::Again),
        }
    }

    /// Statements without values.
    pub(crate) async fn batch(&self, sql: &str) -> Attempt<()> {
        Ok(self.client.batch_execute(sql).await?)
    }
}

/// What is not there.
pub(crate) fn found<T>(row: Option<T>, missing: impl FnOnce() -> Error) -> Attempt<T> {
    row.ok_or_else(|| missing().into())
}
