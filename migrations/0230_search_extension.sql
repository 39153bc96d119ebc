-- Searches of texts have the workspace in their index (docs/decisions/lists-and-ids.md#searches).
create extension if not exists btree_gin;
create extension if not exists pg_trgm;
