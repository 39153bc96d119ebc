-- Renames tables, with their constraints, indexes and sequences, to the terms of the documentation.
alter table analytics_seen rename to analytics_unique_viewer;
alter table analytics_share rename to analytics_breakdown;
alter table cohort_session_removed rename to cohort_session_tombstone;
alter table deprecated_use rename to deprecated_endpoint_usage;
alter table fact rename to usage_event;
alter table fact_sum_state rename to rollup_state;
alter table kept_count rename to counter_delta;
alter table link_request rename to email_link_request;
-- The name is that of an index.
alter index notification_read rename to notification_is_read;
alter table notification_reading rename to notification_read;
alter table provider_look rename to provider_poll_state;
alter table quota_notice rename to quota_notification;
alter table sign_in_place rename to sign_in_location;

alter table analytics_unique_viewer rename constraint analytics_seen_pkey to analytics_unique_viewer_pkey;
alter table analytics_breakdown rename constraint analytics_share_dimension_check to analytics_breakdown_dimension_check;
alter table analytics_breakdown rename constraint analytics_share_pkey to analytics_breakdown_pkey;
alter table analytics_breakdown rename constraint analytics_share_span_check to analytics_breakdown_interval_min_check;
alter table analytics_breakdown rename constraint analytics_share_subject_kind_check to analytics_breakdown_subject_kind_check;
alter table cohort_session_tombstone rename constraint cohort_session_removed_cohort_id_fkey to cohort_session_tombstone_cohort_id_fkey;
alter table cohort_session_tombstone rename constraint cohort_session_removed_pkey to cohort_session_tombstone_pkey;
alter table deprecated_endpoint_usage rename constraint deprecated_use_pkey to deprecated_endpoint_usage_pkey;
alter table deprecated_endpoint_usage rename constraint deprecated_use_workspace_id_fkey to deprecated_endpoint_usage_workspace_id_fkey;
alter table usage_event rename constraint fact_kind_check to usage_event_kind_check;
alter table usage_event rename constraint fact_pkey to usage_event_pkey;
alter table rollup_state rename constraint fact_sum_state_is_only_check to rollup_state_singleton_check;
alter table rollup_state rename constraint fact_sum_state_pkey to rollup_state_pkey;
alter table counter_delta rename constraint kept_count_name_check to counter_delta_name_check;
alter table counter_delta rename constraint kept_count_workspace_id_fkey to counter_delta_workspace_id_fkey;
alter table email_link_request rename constraint link_request_pkey to email_link_request_pkey;
alter table email_link_request rename constraint link_request_purpose_check to email_link_request_purpose_check;
alter table notification_read rename constraint notification_reading_notification_id_fkey to notification_read_notification_id_fkey;
alter table notification_read rename constraint notification_reading_pkey to notification_read_pkey;
alter table notification_read rename constraint notification_reading_user_id_fkey to notification_read_user_id_fkey;
alter table provider_poll_state rename constraint provider_look_pkey to provider_poll_state_pkey;
alter table provider_poll_state rename constraint provider_look_provider_check to provider_poll_state_provider_check;
alter table quota_notification rename constraint quota_notice_pkey to quota_notification_pkey;
alter table quota_notification rename constraint quota_notice_told_check to quota_notification_notified_level_check;
alter table quota_notification rename constraint quota_notice_workspace_id_fkey to quota_notification_workspace_id_fkey;
alter table sign_in_location rename constraint sign_in_place_account_id_fkey to sign_in_location_account_id_fkey;
alter table sign_in_location rename constraint sign_in_place_pkey to sign_in_location_pkey;
alter index analytics_share_span rename to analytics_breakdown_interval_min;
alter index cohort_session_removed_change rename to cohort_session_tombstone_revision;
alter index deprecated_use_time rename to deprecated_endpoint_usage_time;
alter index fact_playback_session rename to usage_event_playback_session;
alter index fact_xid rename to usage_event_xid;
alter index kept_count_workspace rename to counter_delta_workspace;
alter index notification_reading_user rename to notification_read_user;
alter index sign_in_place_seen rename to sign_in_location_seen;

alter sequence link_request_id_seq rename to email_link_request_id_seq;

-- Day partitions of usage_event, with their constraints and indexes.
do $$
declare
  old record;
begin
  for old in
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'usage_event'::regclass
  loop
    execute format('alter table %I rename to %I', old.name, replace(old.name, 'fact_', 'usage_event_'));
  end loop;
  for old in
    select c.relname as name from pg_inherits i join pg_index x on x.indrelid = i.inhrelid
    join pg_class c on c.oid = x.indexrelid where i.inhparent = 'usage_event'::regclass
  loop
    execute format('alter index %I rename to %I', old.name,
      replace(replace(old.name, 'fact_', 'usage_event_'), '_number_idx', '_sequence_number_idx'));
  end loop;
end $$;

alter function keep_counts() rename to record_counter_deltas;

create or replace function record_counter_deltas() returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then
    insert into counter_delta (workspace_id, name, amount)
    select new.workspace_id, of.name, of.amount from counts_of(new) of;
  elsif tg_op = 'UPDATE' then
    insert into counter_delta (workspace_id, name, amount)
    select new.workspace_id, of.name, sum(of.amount) from (
      select name, amount from counts_of(new) union all select name, -amount from counts_of(old)) of
    group by of.name having sum(of.amount) <> 0;
  else
    -- The counters of a deleted workspace are deleted with it.
    insert into counter_delta (workspace_id, name, amount)
    select old.workspace_id, of.name, -of.amount from counts_of(old) of
    where exists (select from workspace where id = old.workspace_id);
  end if;
  return null;
end $$;
