//! Nested calls: joined when they succeed, taken back when they fail.

use filetx::{Error, Result, Transaction};

use super::place::check;

/// A call that fails after `work`.
fn fails(tx: &mut Transaction<'_>, work: impl FnOnce(&mut Transaction<'_>) -> Result<()>) {
    let result = tx.nested(|tx| {
        work(tx).unwrap();
        Err::<(), _>("no")
    });
    assert_eq!(result, Err("no"));
}

#[test]
fn an_inner_success_joins_the_outer_transaction() {
    let work = |tx: &mut Transaction<'_>| {
        tx.put("f", b"outer")?;
        let found = tx.nested(|tx| {
            let found = tx.read("f")?;
            tx.append("f", b" inner")?;
            tx.put("g", b"inner")?;
            Ok::<_, Error>(found)
        })?;
        assert_eq!(found.unwrap(), b"outer");
        tx.append("g", b" outer")
    };
    check(&["f=old"], work, &["f=outer inner", "g=inner outer"]);
}

#[test]
fn an_inner_error_takes_back_what_it_staged_and_nothing_else() {
    let work = |tx: &mut Transaction<'_>| {
        tx.put("f", b"outer")?;
        tx.put("k", b"outer")?;
        fails(tx, |tx| {
            tx.put("f", b"inner")?;
            tx.put("d/e/g", b"inner")?;
            tx.remove("h")?;
            tx.rename("k", "m")?;
            tx.symlink("l", "inner".as_ref())
        });
        tx.append("f", b" goes on")
    };
    check(&["f=old", "h=stays", "l->here"], work, &["f=outer goes on", "k=outer", "h=stays", "l->here"]);
}

#[test]
fn a_mode_set_inside_is_taken_back() {
    let work = |tx: &mut Transaction<'_>| {
        tx.put("f", b"new")?;
        tx.put("g", b"new")?;
        tx.set_mode("g", 0o640)?;
        fails(tx, |tx| {
            tx.set_mode("f", 0o400)?;
            tx.set_mode("g", 0o400)?;
            tx.set_mode("h", 0o400)
        });
        Ok(())
    };
    check(&["f:604=old", "h=stays"], work, &["f:604=new", "g:640=new", "h=stays"]);
}

#[test]
fn folders_made_inside_and_taken_back_are_made_again() {
    let same = |tx: &mut Transaction<'_>| {
        fails(tx, |tx| tx.put("d/e/f", b"inner"));
        tx.put("d/e/f", b"outer")
    };
    check(&[], same, &["d/", "d/e/", "d/e/f=outer"]);
    let sibling = |tx: &mut Transaction<'_>| {
        fails(tx, |tx| tx.put("d/e/f", b"inner"));
        tx.put("d/e/g", b"outer")
    };
    check(&[], sibling, &["d/", "d/e/", "d/e/g=outer"]);
}

#[test]
fn an_outer_error_takes_back_inner_successes() {
    let work = |tx: &mut Transaction<'_>| {
        fails(tx, |tx| {
            tx.put("f", b"middle")?;
            tx.nested(|tx| tx.put("g", b"inner"))
        });
        tx.put("h", b"outer")
    };
    check(&["f=old"], work, &["f=old", "h=outer"]);
}

#[test]
fn an_inner_error_inside_a_nested_call_leaves_the_middle_alone() {
    let work = |tx: &mut Transaction<'_>| {
        tx.nested(|tx| {
            tx.put("f", b"middle")?;
            fails(tx, |tx| tx.put("f", b"inner"));
            tx.append("f", b", still")
        })
    };
    check(&[], work, &["f=middle, still"]);
}
