-- Upgrades a database of commit 2541f4e2 (last migration 0220_counter_windows.sql) to the schema of
-- 0251_rename_columns.sql.

-- Searches of texts have the workspace in their index (docs/decisions/lists-and-ids.md#searches).
create extension if not exists btree_gin;
create extension if not exists pg_trgm;

create index video_title_search on video using gin
  (workspace_id, title gin_trgm_ops, string_to_array(lower(title), null))
  with (gin_pending_list_limit = 64) where deleted_at is null;
drop index video_search;

create index subscriber_text_search on subscriber using gin
  (workspace_id, (email || ' ' || coalesce(name, '')) gin_trgm_ops,
    string_to_array(lower(email || ' ' || coalesce(name, '')), null))
  with (gin_pending_list_limit = 64);
drop index subscriber_search;

drop index booking_search;
drop index payout_search;

drop function sampled_spans(text, text);
drop function spans_between(text, text, text);
drop function id_spans(text, text);
drop function parts_sought(text);
drop function day_and_month(timestamptz);

-- Background jobs (0001_platform.sql).
create table job (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  state text not null default 'waiting'
    check (state in ('waiting', 'active', 'completed', 'failed', 'canceled')),
  payload jsonb not null,
  priority integer not null default 0,
  group_id text not null default '',
  singleton_key text,
  run_after timestamptz not null default clock_timestamp(),
  fence integer not null default 0,
  failed_count integer not null default 0,
  lost_count integer not null default 0,
  error text,
  created_at timestamptz not null default clock_timestamp(),
  heartbeat_at timestamptz,
  ended_at timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0);
create unique index job_singleton on job (name, singleton_key)
  where state in ('waiting', 'active') and singleton_key is not null;
create index job_waiting on job (name, group_id, priority desc, created_at) include (run_after)
  where state = 'waiting';
create index job_active on job (name) where state = 'active';
create index job_ended on job (ended_at) where ended_at is not null;

-- Jobs were in the schema of the library pg-boss.
do $$ begin
  if to_regclass('pgboss.job') is null then return; end if;
  insert into job (id, name, state, payload, priority, group_id, singleton_key, run_after, fence, failed_count,
    lost_count, error, created_at, heartbeat_at, ended_at)
  select id, name, case state::text when 'active' then 'active' when 'failed' then 'failed' else 'waiting' end,
    data, priority, coalesce(group_id, ''), singleton_key, start_after, retry_count,
    coalesce((output ->> 'failed')::integer, 0), coalesce((output ->> 'lost')::integer, 0), output ->> 'error',
    created_on, heartbeat_on, completed_on
  from pgboss.job
  where state::text in ('created', 'retry', 'active', 'failed') and policy = 'exclusive';
  drop schema pgboss cascade;
end $$;

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

-- Renames columns, with the constraints, indexes and sequences named after them, to the terms of the documentation.
alter table account_erasure rename column keep_hash to undo_token_hash;
alter table account_erasure rename column begun_at to started_at;
alter table analytics_breakdown rename column span to interval_min;
alter table analytics_breakdown rename column is_self to is_owner;
alter table analytics_retention rename column span to interval_min;
alter table analytics_retention rename column is_self to is_owner;
alter table analytics_retention rename column watched to watch_counts;
alter table analytics_total rename column span to interval_min;
alter table analytics_total rename column is_self to is_owner;
alter table analytics_unique_viewer rename column share to dimension_filter;
alter table analytics_unique_viewer rename column is_self to is_owner;
alter table api_key rename column expiry_announced_at to expiry_notified_at;
alter table api_key rename column made_by to created_by;
alter table api_key_retired_secret rename column made_by to created_by;
alter table booking rename column link_no to link_revision;
alter table booking rename column cohort_change_no to cohort_revision;
alter table booking rename column was_extended to hold_extended;
alter table booking rename column held_until to hold_expires_at;
alter table booking_feed rename column token_sealed to token_encrypted;
alter table bridge rename column source_url_shown to source_url_redacted;
alter table calendar_busy rename column calendar_no to calendar_number;
alter table calendar_busy rename column free_at to busy_until;
alter table checkout rename column claimed_until to reserved_until;
alter table class_occurrence rename column claimed_count to reserved_count;
alter table cohort rename column claimed_count to reserved_count;
alter table cohort rename column change_no to revision;
alter table cohort_session rename column set_at to scheduled_at;
alter table cohort_session_tombstone rename column change_no to revision;
alter table connect_account rename column payouts_seen_at to payouts_synced_at;
alter table customer rename column card_expiry_told to card_expiry_notified_for;
alter table deprecated_endpoint_usage rename column told_at to notified_at;
alter table discount_code rename column claimed_count to reserved_count;
alter table discount_code rename column expiry_told_at to expiry_notified_at;
alter table dvr_segment rename column disc to discontinuity;
alter table external_busy rename column free_at to busy_until;
alter table external_calendar rename column url_sealed to url_encrypted;
alter table external_calendar rename column read_at to fetched_at;
alter table external_calendar rename column next_read_at to next_fetch_at;
alter table external_calendar rename column content_read_at to content_fetched_at;
alter table ingest_session rename column kick_reason to disconnect_reason;
alter table ledger_revenue rename column quarter to quarter_hour;
alter table media_node rename column seen_at to last_seen_at;
alter table payment rename column asked_at to provider_requested_at;
alter table payment rename column next_look_at to next_poll_at;
alter table provider_poll_state rename column told_until to synced_until;
alter table quota_notification rename column told to notified_level;
alter table quota_notification rename column told_used to notified_used;
alter table quota_notification rename column told_limit to notified_limit;
alter table recording rename column ready_said_at to ready_notified_at;
alter table recording_part rename column seen_at to last_seen_at;
alter table recording_part rename column held_bytes to reserved_bytes;
alter table release_notice rename column told_at to notified_at;
alter table release_notice rename column seen_at to detected_at;
alter table restream rename column wish to manual_override;
alter table rollup_state rename column is_only to singleton;
alter table rollup_state rename column closed_until to compacted_until;
alter table rollup_state rename column mark_xid to pending_xid;
alter table rollup_state rename column mark_at to pending_fresh_until;
alter table room_node rename column seen_at to last_seen_at;
alter table room_participant rename column hand to hand_raised;
alter table room_participant rename column away_since to disconnected_since;
alter table room_participant rename column counted_until to metered_until;
alter table room_recording rename column held_bytes to reserved_bytes;
alter table room_recording rename column ready_said_at to ready_notified_at;
alter table room_recording rename column collected_at to uploaded_at;
alter table sign_in_challenge rename column tries to attempts;
alter table sign_in_location rename column place to location_hash;
alter table sign_in_location rename column seen_at to last_seen_at;
alter table signal_simulation rename column until to ends_at;
alter table signal_simulation rename column seen_at to last_seen_at;
alter table stream rename column broadcast_started_said_at to broadcast_started_notified_at;
alter table stream rename column broadcast_stopped_said_at to broadcast_stopped_notified_at;
alter table stream rename column broadcast_said_live to notified_is_live;
alter table stream rename column broadcast_due_at to broadcast_notify_at;
alter table stream rename column health_said_issues to notified_health_issues;
alter table stream rename column health_said_at to health_notified_at;
alter table stream rename column health_due_at to health_notify_at;
alter table stream rename column schedule_said_for to schedule_notified_for;
alter table stream_session rename column counted_until to metered_until;
alter table subscriber rename column round to confirmation_round;
alter table subscriber_address rename column address to email_hash;
alter table subscriber_address rename column asked_at to confirmation_sent_at;
alter table subscriber_address rename column left_at to unsubscribed_at;
alter table subscription rename column card_expiry_told to card_expiry_notified_for;
alter table subscription rename column price_told_at to price_change_notified_at;
alter table subscription rename column asks_before_charge to requires_charge_consent;
alter table subscription rename column reminded_period to renewal_reminder_period;
alter table tier rename column claimed_count to reserved_count;
alter table transcode_node rename column seen_at to last_seen_at;
alter table upload rename column writer_seen_at to writer_heartbeat_at;
alter table upload rename column opened_by to created_by;
alter table usage_event rename column is_self to is_owner;
alter table usage_event rename column number to sequence_number;
alter table usage_total rename column span to interval_min;
alter table video rename column retention_said_at to retention_notified_at;
alter table video rename column retention_said_for to retention_notified_for;
alter table video_processing rename column revivals to restart_count;
alter table video_processing rename column touched_at to last_activity_at;
alter table video_replacement rename column former_kept_until to previous_kept_until;
alter table video_replacement rename column former_revision to previous_revision;
alter table video_replacement rename column former_original_key to previous_original_key;
alter table video_replacement rename column former_image_folder to previous_image_folder;
alter table video_replacement rename column former_captions to previous_captions;
alter table video_replacement rename column former_storage_bytes to previous_storage_bytes;
alter table waitlist_entry rename column turn to queue_number;
alter table waitlist_entry rename column keeps_place to holds_spot;
alter table webhook rename column failing_said_at to failing_notified_at;
alter table whep_session rename column carried_at to heartbeat_at;
alter table whep_session rename column address_mark to ip_hash;
alter table whip_session rename column carried_at to heartbeat_at;
alter table workspace rename column calendar_no to calendar_number;

alter table account_erasure rename constraint account_erasure_keep_hash_key to account_erasure_undo_token_hash_key;
alter table analytics_retention rename constraint analytics_retention_span_check to analytics_retention_interval_min_check;
alter table analytics_total rename constraint analytics_total_span_check to analytics_total_interval_min_check;
alter table calendar_busy rename constraint calendar_busy_calendar_no_fkey to calendar_busy_calendar_number_fkey;
alter table class_occurrence rename constraint class_occurrence_claimed_count_check to class_occurrence_reserved_count_check;
alter table cohort rename constraint cohort_claimed_count_check to cohort_reserved_count_check;
alter table discount_code rename constraint discount_code_claimed_count_check to discount_code_reserved_count_check;
alter table restream rename constraint restream_wish_check to restream_manual_override_check;
alter table subscriber rename constraint subscriber_round_check to subscriber_confirmation_round_check;
alter table tier rename constraint tier_claimed_count_check to tier_reserved_count_check;
alter table usage_total rename constraint usage_total_span_check to usage_total_interval_min_check;
alter table workspace rename constraint workspace_calendar_no_key to workspace_calendar_number_key;
alter index analytics_retention_span rename to analytics_retention_interval_min;
alter index analytics_total_span rename to analytics_total_interval_min;
alter index api_key_made_by rename to api_key_created_by;
alter index usage_total_span rename to usage_total_interval_min;
alter index whep_session_address_mark rename to whep_session_ip_hash;
alter index checkout_claimed rename to checkout_reserved;
alter index stream_broadcast_due rename to stream_broadcast_notify;
alter index stream_health_due rename to stream_health_notify;
alter index subscriber_address_asked rename to subscriber_address_confirmation_sent;
alter index subscription_untold rename to subscription_price_change_unnotified;
alter index video_replacement_former rename to video_replacement_previous;

alter sequence waitlist_entry_turn_seq rename to waitlist_entry_queue_number_seq;
alter sequence workspace_calendar_no_seq rename to workspace_calendar_number_seq;
