-- The indexes of the delivery log have the id in an order of their own name, as those of states do: whoever orders by
-- that is given one of these alone, and not the primary key, which the planner took for states and types that few
-- deliveries have (docs/decisions/lists-and-ids.md#logs).

create index concurrently delivery_log_webhook_ids on delivery_log (webhook_id, id collate "C" desc);
drop index concurrently delivery_log_webhook;
alter index delivery_log_webhook_ids rename to delivery_log_webhook;
create index concurrently delivery_log_status_ids on delivery_log (webhook_id, status, id collate "C" desc);
drop index concurrently delivery_log_status;
alter index delivery_log_status_ids rename to delivery_log_status;
create index concurrently delivery_log_type_ids on delivery_log (webhook_id, event_type, status, id collate "C" desc);
drop index concurrently delivery_log_type;
alter index delivery_log_type_ids rename to delivery_log_type;
-- By hand, which is seldom.
create index concurrently delivery_log_trigger_ids on delivery_log (webhook_id, trigger, status, id collate "C" desc)
  where trigger <> 'EVENT';
drop index concurrently delivery_log_trigger;
alter index delivery_log_trigger_ids rename to delivery_log_trigger;
