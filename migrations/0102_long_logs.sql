-- The logs of events, deliveries and requests read few rows that a page does not show, whatever it is filtered by
-- (docs/decisions/lists-and-ids.md#logs).

create index event_type on event (workspace_id, type, created_at desc, id desc);

create index delivery_log_status on delivery_log (webhook_id, status, id desc);
create index delivery_log_type on delivery_log (webhook_id, event_type, status, id desc);
create index delivery_log_event on delivery_log (event_id);
-- By hand, which is seldom.
create index delivery_log_trigger on delivery_log (webhook_id, id desc) where trigger <> 'EVENT';

create index request_log_status on request_log (workspace_id, status, id);
create index request_log_failures on request_log (workspace_id, id) where status >= 500;
create index request_log_key on request_log (workspace_id, key_id, id);
create index request_log_path on request_log (workspace_id, path text_pattern_ops, id);
