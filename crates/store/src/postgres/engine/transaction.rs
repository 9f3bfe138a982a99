//! Transactions: their statements, and how they begin and commit.

use std::time::Duration;

use tokio_postgres::{Client, Row, SimpleQueryMessage};

use super::failure::{EngineResult, Failure};
use crate::postgres::columns::Parameter;
use crate::{Error, Time};

/// Time after which the server ends a transaction whose client is idle, so that its locks do not
/// block others.
const IDLE: Duration = Duration::from_secs(10);

/// The access mode of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read from one snapshot.
    Read,
    /// Read and write; each statement sees what was committed before it.
    Write,
}

/// An open transaction.
pub(crate) struct Transaction<'a> {
    client: &'a Client,
    /// Its start, by the server's clock.
    pub(crate) now: Time,
    /// False if the session's own settings would not make a commit durable.
    pub(crate) is_durable: bool,
}

/// Returns the statements that begin a transaction. All settings are local to it, since a pooler
/// may use another session next.
pub(crate) fn begin_sql(access: Access, timeout: Duration) -> String {
    let mode = match access {
        Access::Read => "ISOLATION LEVEL REPEATABLE READ READ ONLY",
        Access::Write => "ISOLATION LEVEL READ COMMITTED READ WRITE",
    };
    let (timeout, idle) = (timeout.as_millis().clamp(1, 1 << 30), IDLE.as_millis());
    // A commit must be on disk, and on a synchronous standby if there is one, whatever the
    // defaults.
    format!(
        "BEGIN {mode};
         SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, current_setting('synchronous_commit'),
                set_config('search_path', 'agents', true),
                set_config('statement_timeout', '{timeout}', true), set_config('lock_timeout', '{timeout}', true),
                set_config('idle_in_transaction_session_timeout', '{idle}', true),
                set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                    WHEN 'off' THEN 'on' WHEN 'local' THEN 'on' ELSE current_setting('synchronous_commit') END, true)"
    )
}

/// No timeout on commit: a server that stops waiting for its standby reports success.
pub(crate) const COMMIT: &str = "SET LOCAL statement_timeout = 0; COMMIT";

impl<'a> Transaction<'a> {
    /// Begins a transaction with the statements of [`begin_sql`].
    pub(crate) async fn begin(client: &'a Client, sql: &str) -> EngineResult<Self> {
        let messages = client.simple_query(sql).await?;
        let row = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some((row.get(0)?, row.get(1)?)),
            _ => None,
        });
        let (now, commit) = row.ok_or(Failure::LostRace)?;
        let now = now.parse().map(Time::from_micros).map_err(|_| Failure::LostRace)?;
        Ok(Self { client, now, is_durable: !["off", "local"].contains(&commit) })
    }

    /// Wraps one statement that is its own transaction, without settings.
    pub(crate) fn single_statement(client: &'a Client) -> Self {
        Self { client, now: Time::from_micros(0), is_durable: true }
    }

    /// Returns all rows of a query.
    pub(crate) async fn rows(&self, sql: &str, parameters: &[Parameter<'_>]) -> EngineResult<Vec<Row>> {
        Ok(self.client.query_typed(sql, parameters).await?)
    }

    /// Returns the first row of a query.
    pub(crate) async fn row(&self, sql: &str, parameters: &[Parameter<'_>]) -> EngineResult<Option<Row>> {
        Ok(self.rows(sql, parameters).await?.into_iter().next())
    }

    /// Returns the row of a query that always has one.
    pub(crate) async fn one(&self, sql: &str, parameters: &[Parameter<'_>]) -> EngineResult<Row> {
        self.row(sql, parameters).await?.ok_or(Failure::LostRace)
    }

    /// Executes a statement, and returns the number of changed rows.
    pub(crate) async fn execute(&self, sql: &str, parameters: &[Parameter<'_>]) -> EngineResult<u64> {
        Ok(self.client.execute_typed(sql, parameters).await?)
    }

    /// Executes a statement that changes one row, unless a concurrent transaction was faster.
    pub(crate) async fn execute_one(&self, sql: &str, parameters: &[Parameter<'_>]) -> EngineResult<()> {
        match self.execute(sql, parameters).await? {
            1 => Ok(()),
            _ => Err(Failure::LostRace),
        }
    }

    /// Executes statements without parameters.
    pub(crate) async fn batch(&self, sql: &str) -> EngineResult<()> {
        Ok(self.client.batch_execute(sql).await?)
    }
}

/// Returns the value, or the error for a missing one.
pub(crate) fn found<T>(row: Option<T>, missing: impl FnOnce() -> Error) -> EngineResult<T> {
    row.ok_or_else(|| missing().into())
}
