//! The steps of the protocols, as `docs/design/file-transaction.md` numbers them.
//!
//! Every disk call names its step. Error messages show it, readers find it in the document, and
//! tests skip one step at a time and check that the simulator detects it (feature `mutants`).

use std::fmt;

macro_rules! steps {
    ($($name:ident $number:literal $text:literal,)*) => {
        /// Purpose of a disk call.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Step {
            $(#[doc = concat!($number, ": ", $text, ".")] $name,)*
        }

        impl Step {
            /// All steps, in the order of the document.
            pub const ALL: &'static [Step] = &[$(Step::$name,)*];

            /// Number in the document.
            pub fn number(self) -> &'static str {
                match self { $(Step::$name => $number,)* }
            }

            fn text(self) -> &'static str {
                match self { $(Step::$name => $text,)* }
            }
        }
    };
}

steps! {
    Inspect "0.1" "inspect",
    MakeTxnDir "0.2" "prepare the transaction folder",
    SyncTxnDir "0.3" "sync the transaction folder",
    OpenLock "1.1" "open the lock file",
    Lock "1.2" "lock",
    Stage "3.1" "stage content for",
    SyncStaged "3.2" "sync staged content of",
    SyncStage "3.3" "sync the staging folder",
    SyncFsStaged "3.4" "sync the staged content in",
    WritePointer "4.1" "write the pointer",
    SyncPointer "4.2" "sync the pointer",
    SyncPointerFolder "4.3" "sync the folder of the pointer",
    WriteJournal "4.4" "write the journal",
    SyncJournal "4.5" "sync the journal",
    PlaceJournal "4.6" "move the journal into place",
    SyncJournalFolder "4.7" "sync the folder of the journal",
    Publish "5.1" "publish",
    CheckDisplaced "5.2" "compare the displaced content of",
    SyncPublished "5.3" "sync the published file",
    SyncParent "5.4" "sync the folder of a published file",
    SyncFsPublished "5.5" "sync the published content in",
    MarkDone "6.1" "mark the transaction as done in",
    SyncDone "6.2" "sync the done mark",
    ClearPointer "6.3" "clear the pointer",
    SyncCleared "6.4" "sync the folder of the cleared pointer",
    RemoveDone "6.5" "remove the done mark",
    CleanUp "6.6" "remove leftovers",
    CreateJournal "7.1" "create the journal",
    SyncNewJournal "7.2" "sync the new journal",
    SyncNewJournalFolder "7.3" "sync the folder of the new journal",
    AppendRecord "8.1" "append to the journal",
    SyncRecord "8.2" "sync the journal",
    PublishInPlace "8.3" "publish",
    SyncCheckpointFile "9.1" "sync the published file",
    SyncCheckpointFolder "9.2" "sync the folder of a published file",
    WriteEpoch "9.3" "start a new epoch",
    SyncEpoch "9.4" "sync the new epoch",
    Stabilise "10.1" "rewrite the journal before recovery",
    SyncStabilised "10.2" "sync the rewritten journal",
    PlaceStabilised "10.3" "move the rewritten journal into place",
    SyncStabilisedFolder "10.4" "sync the folder of the rewritten journal",
    Preserve "10.5" "preserve content of",
    SyncPreserved "10.6" "sync the preserved content in",
    Classify "10.7" "classify",
    CheckChecksum "11.1" "check the checksum of",
    CheckChain "11.2" "check the chain of",
    CheckBoot "11.3" "check the boot id in",
    SweepReplacements "12.1" "remove leftovers of earlier writes of",
    StageReplacement "12.2" "stage the new content of",
    SyncReplacement "12.3" "sync the new content of",
    PlaceReplacement "12.4" "move the new content into place as",
    SyncReplacedFolder "12.5" "sync the folder of",
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(feature = "mutants")]
mod mutant {
    use super::Step;
    use std::cell::Cell;

    thread_local! {
        static SKIPPED: Cell<Option<Step>> = const { Cell::new(None) };
    }

    impl Step {
        /// Runs `work` and skips this step on this thread.
        pub fn skipped<T>(self, work: impl FnOnce() -> T) -> T {
            struct Restore;
            impl Drop for Restore {
                fn drop(&mut self) {
                    SKIPPED.set(None);
                }
            }
            let _restore = Restore;
            SKIPPED.set(Some(self));
            work()
        }

        pub(crate) fn is_skipped(self) -> bool {
            SKIPPED.get() == Some(self)
        }
    }
}

#[cfg(not(feature = "mutants"))]
impl Step {
    #[inline]
    pub(crate) const fn is_skipped(self) -> bool {
        false
    }
}
