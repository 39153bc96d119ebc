-- The indexes of states have the id in an order of their own name (it is the same one). Whoever orders by that is
-- given this index alone, and not the primary key, which lies in the order of the rows and looks cheaper to the planner
-- than it is for a state that few have (docs/decisions/lists-and-ids.md#filters).

create index video_state_ids on video (workspace_id, status, visibility, id collate "C" desc) where deleted_at is null;
drop index video_state;
alter index video_state_ids rename to video_state;
create index stream_state_ids on stream (workspace_id, visibility, enabled, id collate "C" desc) where deleted_at is null;
drop index stream_state;
alter index stream_state_ids rename to stream_state;
