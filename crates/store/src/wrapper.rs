//! Wrappers of a store that forward every call.

/// Implements `Store` for a type with the methods `read` and `write`, each of which calls a closure
/// with the inner store: `fn read<T>(&self, call: impl FnOnce(&dyn Store) -> Result<T>) ->
/// Result<T>`.
#[macro_export]
macro_rules! wrap_store {
    ($wrapper:ty) => {
        $crate::wrap_store! { @PlanStore $wrapper;
            write create_plan(plan: &store::NewPlan) -> store::Plan;
            read plan(id: store::PlanId) -> store::Plan;
            read find_plan(selector: &store::PlanSelector) -> store::Plan;
            read plans(query: &store::PlanQuery) -> Vec<store::Plan>;
            write step_plan(step: &store::PlanStep) -> store::Version;
            write remove_plan(removal: &store::PlanRemoval) -> ();
        }
        $crate::wrap_store! { @NodeStore $wrapper;
            write create_nodes(plan: store::PlanId, nodes: &[store::NewNode], who: &store::Actor) -> ();
            read node(id: store::NodeId) -> store::Node;
            read nodes(plan: store::PlanId) -> Vec<store::Node>;
            write step_node(step: &store::NodeStep) -> store::Version;
        }
        $crate::wrap_store! { @ChangesetStore $wrapper;
            write start_changeset(changeset: &store::NewChangeset) -> store::Lease;
            read changeset(id: store::ChangesetId) -> store::Changeset;
            read find_changeset(text: &str) -> store::Changeset;
            read changesets(plan: store::PlanId) -> Vec<store::Changeset>;
            write seal(changeset: store::ChangesetId, epoch: store::Epoch) -> store::Changeset;
            write abandon(changeset: store::ChangesetId, epoch: store::Epoch, reason: &str) -> store::Changeset;
        }
        $crate::wrap_store! { @EntryStore $wrapper;
            write record(changeset: store::ChangesetId, epoch: store::Epoch, recording: &store::Recording) -> store::Recorded;
            read entries(changeset: store::ChangesetId, after: u64, limit: usize) -> Vec<store::ChangeEntry>;
            read last_entries(changeset: store::ChangesetId, paths: &[(store::PathBytes, store::PathBytes)]) -> Vec<Option<store::ChangeEntry>>;
        }
        $crate::wrap_store! { @LeaseStore $wrapper;
            write acquire(resource: store::Resource, holding: &store::LeaseRequest) -> store::Lease;
            write renew(lease: &store::Lease, duration: std::time::Duration) -> store::Lease;
            write release(lease: &store::Lease) -> ();
            read leases(plan: store::PlanId) -> Vec<store::Lease>;
        }
        $crate::wrap_store! { @BlobStore $wrapper;
            write put_blob(blob: &store::PackedBlob) -> ();
            write append_upload(upload: store::UploadId, first: u64, chunks: &[store::Chunk]) -> ();
            write finish_upload(upload: store::UploadId, blob: &store::Blob) -> ();
            write drop_upload(upload: store::UploadId) -> ();
            read blob(hash: store::BlobHash) -> Option<store::Blob>;
            read blob_chunk(hash: store::BlobHash, number: u64) -> Option<store::Chunk>;
            read small_blobs(hashes: &[store::BlobHash]) -> Vec<(store::BlobHash, store::Chunk)>;
            read blob_hashes(after: Option<store::BlobHash>) -> Vec<store::BlobHash>;
            write collect_garbage(options: &store::GcOptions) -> store::GcStats;
        }
        $crate::wrap_store! { @AuditStore $wrapper;
            read audit(query: &store::AuditQuery) -> Vec<store::AuditRecord>;
            read audit_heads(after: Option<store::PlanId>) -> Vec<store::Head>;
            read orphan_records() -> Vec<(store::PlanId, u64)>;
            read plan_snapshot(plan: store::PlanId) -> store::PlanSnapshot;
        }
        $crate::wrap_store! { @Store $wrapper;
            read check() -> Vec<store::Corruption>;
        }
    };
    (@$trait:ident $wrapper:ty; $($how:ident $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl store::$trait for $wrapper {
            $(fn $name(&self, $($argument: $type),*) -> store::Result<$answer> {
                self.$how(|inner| inner.$name($($argument),*))
            })*
        }
    };
}
