//! What the project's tests share. Never published.
