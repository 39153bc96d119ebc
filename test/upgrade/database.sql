-- Database of commit 2541f4e2 (last migration 0220_counter_windows.sql), with rows in every table. Most were written by
-- that version through its API, the others by hand. Schema first, then rows, then constraints, indexes and triggers.
-- Encrypted with the secret key of the tests. Without functions of the schema pgboss, and transaction IDs.

create extension pg_trgm;
create schema pgboss;
create type pgboss.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
create sequence event_seq;
create sequence report_number;
create function id_spans(scope text, id text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY[(scope || substr(id, 5, 2)), (scope || substr(id, 5, 3)), (scope || substr(id, 5, 4)), (scope || substr(id, 5, 5)), (scope || substr(id, 5, 6)), (scope || substr(id, 5, 7))];
create function day_and_month(instant timestamp with time zone) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY[('d'::text || (((EXTRACT(epoch FROM date_trunc('day'::text, (instant AT TIME ZONE 'UTC'::text))) / (86400)::numeric))::integer)::text), ('m'::text || ((((EXTRACT(year FROM (instant AT TIME ZONE 'UTC'::text)) * (12)::numeric) + EXTRACT(month FROM (instant AT TIME ZONE 'UTC'::text))))::integer)::text)];
create function sampled_spans(scope text, id text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
declare
  hash constant integer := hashtext(id);
  fours constant text := translate(substr(id, 8, 3), '0123456789abcdefghjkmnpqrstvwxyz', 'AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHH');
  name text := scope;
  spans text[];
begin
  spans := array[scope || substr(id, 5, 2), scope || substr(id, 5, 3),
    scope || substr(id, 5, 4), scope || substr(id, 5, 3) || left(fours, 1),
    scope || substr(id, 5, 5), scope || substr(id, 5, 4) || substr(fours, 2, 1),
    scope || substr(id, 5, 6), scope || substr(id, 5, 5) || substr(fours, 3, 1), scope || substr(id, 5, 7)];
  if hash % 32 <> 0 then return spans; end if;
  for sample in 1..3 loop
    exit when hash % (1 << 5 * sample) <> 0;
    name := sample || scope;
    spans := spans || (array[name || substr(id, 5, 2), name || substr(id, 5, 3),
      name || substr(id, 5, 4), name || substr(id, 5, 3) || left(fours, 1),
      name || substr(id, 5, 5), name || substr(id, 5, 4) || substr(fours, 2, 1),
      name || substr(id, 5, 6), name || substr(id, 5, 5) || substr(fours, 3, 1)])[:10 - 2 * sample];
  end loop;
  return spans;
end $$;
create function spans_between(scope text, low text, high text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
declare
  digits constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  spans text[] := '{}';
  parent text;
  digit integer;
  latest integer;
begin
  for width in 2..greatest(length(low), length(high)) loop
    -- Behind the low one, before the high one; where both are in one span, between them.
    for side in 1..2 loop
      if side = 1 then
        continue when width > length(low);
        parent := left(low, width - 1);
        digit := strpos(digits, substr(low, width, 1)) - (width = length(low))::integer;
      else
        continue when width > length(high) or width <= length(low) and left(low, width - 1) = left(high, width - 1);
        parent := left(high, width - 1);
        digit := 0;
      end if;
      latest := case when width <= length(high) and parent = left(high, width - 1)
        then strpos(digits, substr(high, width, 1)) - 2 + (width = length(high))::integer else 31 end;
      while digit <= latest loop
        if width between 4 and 6 and digit % 4 = 0 and digit + 3 <= latest then
          spans := spans || (scope || parent || chr(65 + digit / 4));
          digit := digit + 4;
        else
          spans := spans || (scope || parent || substr(digits, digit + 1, 1));
          digit := digit + 1;
        end if;
      end loop;
    end loop;
  end loop;
  return spans;
end $$;
create function parts_sought(part text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
declare
  -- But for those of the words at both ends, which may go on in the text. What is not ASCII has a number instead of blanks.
  sure constant text[] := array(
    select unnest(show_trgm(part))
    except select first from unnest(show_trgm(left(part, 2))) first where first like ' %' or first not like '% '
    except select last from unnest(show_trgm(right(part, 2))) last where last like '% ' or last not like ' %');
  -- Each third one, and those where a word begins or ends, say nearly as much as all, and take half the time or less.
  few constant text[] := array(
    select one from unnest(sure) one
    where one like '% %' or one = lower(right(part, 3))
      or one in (select lower(substr(part, at, 3)) from generate_series(1, length(part), 3) at));
begin
  if exists (select from unnest(few) one where one not like '  %') then return few; end if;
  if exists (select from unnest(sure) one where one not like '  %') then return sure; end if;
  return sure || string_to_array(lower(part), null);
end $$;
create table migration (
  name text not null, applied_at timestamptz not null default now()
);
create table account (
  id text not null, email text not null, password_hash text not null, name text, username text not null,
  role text not null default 'USER', plan text not null default 'VIP', email_verified_at timestamptz,
  suspended_at timestamptz, created_at timestamptz not null default now(), token_epoch integer not null default 0,
  bio text, locale text not null default 'en', timezone text not null default 'UTC',
  embed_mode text not null default 'OPEN', embed_domains text[] not null default '{}'::text[],
  embed_updated_at timestamptz, terms_url text, terms_accepted_at timestamptz
);
create table workspace (
  id text not null, account_id text not null, mode text not null, created_at timestamptz not null default now(),
  storage_bytes bigint not null default 0, calendar_no bigint generated always as identity
);
create table api_key (
  id text not null, workspace_id text not null, account_id text not null, name text not null, hash bytea not null,
  prefix text not null, last4 text not null, scope text not null, permissions text[] not null default '{}'::text[],
  ip_allowlist text[] not null default '{}'::text[], domain_allowlist text[] not null default '{}'::text[],
  rate_limit_per_minute integer not null, daily_quota integer, expires_at timestamptz, revoked_at timestamptz,
  last_used_at timestamptz, created_at timestamptz not null default now(), created_by_key_id text, last_used_ip text,
  event_sequence integer not null default 0, expiry_announced_at timestamptz, made_by text
);
create table event (
  id uuid not null, workspace_id text not null, type text not null, created_at timestamptz not null,
  body text not null, xid xid8 not null default pg_current_xact_id(), seq bigint not null default nextval('event_seq')
) partition by RANGE (created_at);
create table webhook (
  id text not null, workspace_id text not null, url text not null, events text[] not null default '{}'::text[],
  is_active boolean not null default true, description text not null default '', secret bytea not null,
  secret_rotated_at timestamptz, total_deliveries bigint not null default 0, success_count bigint not null default 0,
  failure_count bigint not null default 0, consecutive_failures integer not null default 0,
  last_success_at timestamptz, last_failure_at timestamptz, last_status integer,
  latency_total_ms bigint not null default 0, latency_count bigint not null default 0,
  created_at timestamptz not null, updated_at timestamptz not null, event_sequence integer not null default 0,
  failing_since timestamptz, failing_said_at timestamptz
) with (fillfactor=80);
create table delivery_job (
  id bigint generated always as identity, workspace_id text not null, webhook_id text not null,
  event_id uuid not null, event_created_at timestamptz not null, trigger text not null default 'EVENT',
  next_at timestamptz not null default clock_timestamp(), attempt smallint not null default 0,
  lease integer not null default 0, replay_of text
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);
create table delivery_log (
  id text not null, workspace_id text not null, webhook_id text not null, event_id uuid not null,
  event_type text not null, trigger text not null, attempt smallint not null, status text not null,
  response_status integer, response_body text, latency_ms integer, error_message text, next_attempt_at timestamptz,
  replay_of text, created_at timestamptz not null
) partition by RANGE (created_at);
create table stream (
  id text not null, workspace_id text not null, title text not null, description text, visibility text not null,
  key_hash bytea not null, key_encrypted bytea not null, enabled boolean not null default true,
  has_signal boolean not null default false, is_live boolean not null default false,
  latency_mode text not null default 'STANDARD', record boolean not null default false,
  record_visibility text not null default 'PRIVATE', reconnect_window_sec integer not null default 120,
  auto_start boolean not null default false, auto_stop_after_sec integer, max_duration_sec integer,
  chat_enabled boolean not null default true, chat_mode text not null default 'OPEN',
  slow_mode_sec integer not null default 0, scheduled_start_at timestamptz,
  metadata jsonb not null default '{}'::jsonb, external_id text, current_session_id text, live_since timestamptz,
  started_at timestamptz, ended_at timestamptz, last_signal_at timestamptz, signal_lost_at timestamptz, health jsonb,
  viewer_count integer not null default 0, peak_viewers integer not null default 0,
  broadcast_started_said_at timestamptz, broadcast_stopped_said_at timestamptz,
  broadcast_said_live boolean not null default false, broadcast_due_at timestamptz,
  created_at timestamptz not null default now(), updated_at timestamptz not null default now(),
  deleted_at timestamptz, event_sequence integer not null default 0,
  health_said_issues text[] not null default '{}'::text[], health_said_at timestamptz, schedule_said_for timestamptz,
  health_due_at timestamptz, banned_words text[] not null default '{}'::text[],
  restream_ids text[] not null default '{}'::text[], tier_ids text[] not null default '{}'::text[],
  taken_down_at timestamptz, takedown_reason text, dvr_window_sec integer not null default 0,
  signal_stop_notified_at timestamptz
);
create table stream_session (
  id text not null, stream_id text not null, workspace_id text not null, signal_started_at timestamptz not null,
  signal_ended_at timestamptz, broadcast_started_at timestamptz, broadcast_ended_at timestamptz,
  peak_viewers integer not null default 0, unique_viewers integer not null default 0, error text,
  counted_until timestamptz
);
create table ingest_session (
  id text not null, stream_id text not null, node_id text not null, protocol text not null,
  started_at timestamptz not null, last_seen_at timestamptz not null, video jsonb, audio jsonb, lost_at timestamptz,
  grace_until timestamptz, kick_reason text, ended_at timestamptz, end_reason text
);
create table signing_key (
  kid text not null, private_key bytea not null, created_at timestamptz not null
);
create table two_factor (
  account_id text not null, secret bytea not null, enabled_at timestamptz, last_step bigint not null default 0,
  created_at timestamptz not null
);
create table recovery_code (
  account_id text not null, hash text not null, used_at timestamptz
);
create table sign_in_challenge (
  id text not null, account_id text not null, tries smallint not null default 0, created_at timestamptz not null,
  expires_at timestamptz not null, used_at timestamptz
);
create table email_token (
  hash bytea not null, account_id text not null, purpose text not null, email text not null,
  created_at timestamptz not null, expires_at timestamptz not null, used_at timestamptz
);
create table link_request (
  id bigint generated always as identity, purpose text not null, email text not null, created_at timestamptz not null
);
create table mail (
  id text not null, kind text not null, recipient text not null, subject text not null, body bytea,
  status text not null default 'QUEUED', attempts smallint not null default 0, last_error text,
  next_at timestamptz not null, created_at timestamptz not null, finished_at timestamptz, calendar bytea,
  unsubscribe_url bytea
);
create table idempotency_record (
  id bytea not null, workspace_id text not null, fingerprint bytea not null, status smallint, body bytea,
  expires_at timestamptz not null, leased_until timestamptz, operation_id text
);
create table avatar (
  id text not null, account_id text not null, image bytea not null, created_at timestamptz not null
);
create table api_key_retired_secret (
  hash bytea not null, key_id text not null, expires_at timestamptz not null, made_by text
);
create table integration_domain (
  id text not null, workspace_id text not null, domain text not null, include_subdomains boolean not null,
  status text not null, method text, token text not null, txt_verified boolean not null default false,
  pending_since timestamptz, checks integer not null default 0, failing_since timestamptz,
  last_checked_at timestamptz, last_error text, verified_at timestamptz, next_check_at timestamptz,
  event_sequence integer not null default 0, created_at timestamptz not null
);
create table notification (
  id text not null, account_id text not null, type text not null, title text not null, body text,
  severity text not null, resource_type text, resource_id text, action_url text, read_at timestamptz,
  created_at timestamptz not null
);
create table notification_preference (
  account_id text not null, email boolean not null, in_app boolean not null, types jsonb not null
);
create table video (
  id text not null, workspace_id text not null, title text not null, description text, status text not null,
  visibility text not null, tier_ids text[] not null default '{}'::text[], price_cents integer,
  currency text not null default 'USD', tags text[] not null default '{}'::text[],
  metadata jsonb not null default '{}'::jsonb, external_id text, source text not null, upload_id text, import_id text,
  stream_id text, session_id text, original_key text, size_bytes bigint, duration_sec double precision, width integer,
  height integer, frame_rate double precision, storage_bytes bigint not null default 0,
  progress_percent double precision not null default 0, error_code text, error_message text,
  revision integer not null default 0, attempt integer not null default 0, image_folder text,
  has_storyboard boolean not null default false, thumbnail_file text, chapters jsonb not null default '[]'::jsonb,
  view_count bigint not null default 0, published_at timestamptz, publish_at timestamptz,
  event_sequence integer not null default 0, created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(), deleted_at timestamptz, purged_at timestamptz,
  has_preview boolean not null default false, retention_said_at timestamptz, retention_said_for timestamptz,
  taken_down_at timestamptz, takedown_reason text, processing_notes jsonb not null default '[]'::jsonb
);
create table video_rendition (
  video_id text not null, revision integer not null, name text not null, kind text not null, status text not null,
  folder text, width integer, height integer, frame_rate double precision, codecs text, average_bitrate integer,
  peak_bitrate integer, size_bytes bigint, progress_percent double precision not null default 0, track integer,
  language text, label text, channels integer, is_description boolean not null default false, iframe_bitrate integer,
  codec text, video_range text not null default 'SDR'
);
create table video_caption (
  id text not null, video_id text not null, language text not null, label text not null,
  is_auto boolean not null default false, file text not null, created_at timestamptz not null default now(),
  from_source boolean not null default false, "position" integer not null default 0,
  is_default boolean not null default false
);
create table video_view (
  video_id text not null, viewer bytea not null, counted_at timestamptz not null
);
create table upload (
  id text not null, workspace_id text not null, video_id text not null, status text not null,
  protocol text not null default 'TUS', token_hash bytea not null, token_encrypted bytea not null, cors_origin text,
  filename text not null, mime_type text not null, size_bytes bigint, received_bytes bigint not null default 0,
  sha256 text, storage_state jsonb not null default '{}'::jsonb, error_code text, error_message text,
  expires_at timestamptz not null, created_at timestamptz not null default now(), ended_at timestamptz, writer text,
  writer_seen_at timestamptz, has_bytes boolean not null default false, replaces boolean not null default false,
  key_id text, opened_by text
);
create table job_turn (
  queue text not null, group_id text not null, served_pass double precision not null,
  next_pass double precision not null
);
create table recording (
  session_id text not null, workspace_id text not null, stream_id text not null, video_id text,
  settled_at timestamptz, ready_said_at timestamptz, created_at timestamptz not null, id text not null,
  number integer not null default 1
);
create table recording_part (
  id text not null, recording_id text not null, node_id text not null, started_at timestamptz not null,
  seen_at timestamptz not null, has_media boolean not null default false, closed_at timestamptz, size_bytes bigint,
  held_bytes bigint not null default 0
);
create table import (
  id text not null, workspace_id text not null, video_id text, source_url text not null, provider text not null,
  status text not null, title text not null, visibility text not null, metadata jsonb not null default '{}'::jsonb,
  bytes_total bigint, bytes_received bigint not null default 0, validator text, storage_state jsonb, error_code text,
  error_message text, event_sequence integer not null default 0, created_at timestamptz not null default now(),
  completed_at timestamptz, replaces boolean not null default false
);
create table playlist (
  id text not null, workspace_id text not null, title text not null, description text, visibility text not null,
  thumbnail_video_id text, event_sequence integer not null default 0, created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create table playlist_item (
  id text not null, playlist_id text not null, video_id text not null, "position" integer not null, note text,
  start_sec double precision, stop_sec double precision, added_at timestamptz not null default now()
);
create table video_processing (
  video_id text not null, revision integer not null, source text not null, ladder text not null, mode text not null,
  align_to_source boolean not null, images_done boolean not null default false, revivals integer not null default 0,
  touched_at timestamptz not null, captions_done boolean not null
);
create table video_chunk (
  video_id text not null, revision integer not null, number integer not null, start_sec double precision not null,
  duration_sec double precision not null, source_key text not null, folder text,
  progress_percent double precision not null default 0
);
create table video_folder (
  video_id text not null, revision integer not null, number integer not null
);
create table transcode_node (
  id text not null, slots integer not null, seen_at timestamptz not null
);
create table signal_simulation (
  stream_id text not null, workspace_id text not null, until timestamptz not null, node_id text, seen_at timestamptz
);
create table user_token (
  id text not null, account_id text not null, expires_at timestamptz not null
);
create table sign_in_place (
  account_id text not null, place bytea not null, seen_at timestamptz not null, network bytea
);
create table support_ticket (
  id text not null, account_id text, workspace_id text, number integer not null, subject text not null,
  category text not null, priority text not null, status text not null, request_id text,
  event_sequence integer not null default 0, last_message_at timestamptz not null, resolved_at timestamptz,
  created_at timestamptz not null, reporter_email text, reported_type text, reported_id text
);
create table support_message (
  id text not null, ticket_id text not null, author text not null, message text not null,
  created_at timestamptz not null
);
create table viewer_salt (
  day text not null, salt_encrypted bytea not null
);
create table stream_viewer (
  stream_id text not null, viewer bytea not null, session_id text, salt_day text not null,
  has_beacon boolean not null, present_until timestamptz not null, is_counted boolean not null default false
) with (fillfactor=80);
create table watched_stream (
  stream_id text not null, sampled_at timestamptz, sampled_viewers integer
);
create table stream_log_head (
  stream_id text not null, tail text not null, seq bigint not null, at timestamptz not null
);
create table stream_log (
  stream_id text not null, tail text not null, seq bigint not null, at timestamptz not null, event text not null,
  body text
);
create table request_log (
  id text not null, workspace_id text not null, request_id uuid not null, key_id text, method text not null,
  path text not null, status smallint not null, code text, ms double precision not null,
  created_at timestamptz not null
) partition by RANGE (created_at);
create table user_session (
  id text not null, account_id text not null, hash bytea not null, token_epoch integer not null,
  created_at timestamptz not null, last_seen_at timestamptz not null, password_checked_at timestamptz not null,
  ip text, user_agent text not null
);
create table registration_invite (
  hash bytea not null, email text not null, created_at timestamptz not null, expires_at timestamptz not null,
  used_at timestamptz
);
create table stream_health_point (
  stream_id text not null, at timestamptz not null, bitrate_kbps integer not null, fps double precision not null,
  keyframe_interval_ms integer, dropped_frames integer not null, late_frames integer not null, av_drift_ms integer
);
create table chat_message (
  id text not null, stream_id text not null, seq bigint not null, at timestamptz not null, text text not null,
  author_id text, guest_name text, reply_to_id text, client_id text, created_at timestamptz not null,
  deleted_at timestamptz, kind text not null default 'MESSAGE'
);
create table chat_ban (
  id text not null, stream_id text not null, author_id text not null, expires_at timestamptz,
  created_at timestamptz not null
);
create table restream (
  id text not null, workspace_id text not null, stream_id text not null, name text not null,
  enabled boolean not null default true, start_mode text not null, wish text not null default 'AUTO',
  is_running boolean not null default false, event_sequence integer not null default 0, started_at timestamptz,
  stopped_at timestamptz, created_at timestamptz not null, updated_at timestamptz not null, operation_id text
);
create table restream_target (
  id text not null, restream_id text not null, name text not null, platform text not null, url text not null,
  stream_key bytea, stream_key_last4 text, enabled boolean not null default true, state text not null default 'IDLE',
  error_severity text, error_message text, retry_count integer not null default 0, next_retry_at timestamptz,
  connected_at timestamptz, bitrate_kbps integer, last_failure_at timestamptz, last_failure text,
  revision integer not null default 1, node_id text, lease_until timestamptz, created_at timestamptz not null,
  updated_at timestamptz not null, passphrase bytea
);
create table room (
  id text not null, workspace_id text not null, name text not null, description text,
  status text not null default 'CREATED', max_participants integer not null, empty_timeout_sec integer not null,
  departure_timeout_sec integer not null, max_duration_sec integer, auto_end_when_alone_sec integer,
  scheduled_start_at timestamptz, expires_at timestamptz, record_enabled boolean not null,
  waiting_room boolean not null, can_publish boolean not null, can_subscribe boolean not null,
  can_publish_data boolean not null, can_screen_share boolean not null, metadata jsonb not null,
  recording_since timestamptz, recording_video_ids text[] not null default '{}'::text[], started_at timestamptz,
  peak_participants integer not null default 0, empty_since timestamptz, alone_since timestamptz,
  ended_at timestamptz, end_reason text, event_sequence integer not null default 0, created_at timestamptz not null,
  updated_at timestamptz not null, record_layout text not null default 'GRID'
);
create table room_participant (
  id text not null, room_id text not null, identity text not null, name text, role text not null,
  can_publish boolean not null, can_subscribe boolean not null, can_publish_data boolean not null,
  can_screen_share boolean not null, state text not null, leave_reason text, connection_id text, node_id text,
  away_since timestamptz, audio boolean not null default false, video boolean not null default false,
  screen boolean not null default false, audio_muted boolean not null default false,
  video_muted boolean not null default false, screen_muted boolean not null default false,
  hand boolean not null default false, created_at timestamptz not null, joined_at timestamptz, left_at timestamptz,
  bridge_id text, counted_until timestamptz
);
create table room_ban (
  room_id text not null, identity text not null, created_at timestamptz not null
);
create table room_node (
  id text not null, seen_at timestamptz not null
);
create unlogged table room_message (
  id text not null, room_id text not null, node_id text not null, recipient text, body text not null,
  created_at timestamptz not null
);
create table room_recording (
  id text not null, workspace_id text not null, room_id text, title text not null,
  layout text not null default 'GRID', node_id text, started_at timestamptz not null, ended_at timestamptz,
  end_reason text, held_bytes bigint not null default 0, collected_at timestamptz, video_id text,
  settled_at timestamptz, ready_said_at timestamptz, deleted_room_id text, deleted_room_sequence integer
);
create table bridge (
  id text not null, workspace_id text not null, type text not null, source_id text, source_url bytea,
  source_url_shown text, target_id text not null, layout text, auto_restart boolean not null default false,
  status text not null default 'PENDING', error text, end_reason text, retry_count integer not null default 0,
  next_retry_at timestamptz, node_id text, lease_until timestamptz, event_sequence integer not null default 0,
  expires_at timestamptz, started_at timestamptz, stopped_at timestamptz, created_at timestamptz not null
);
create table tier (
  id text not null, workspace_id text not null, name text not null, description text, price_cents integer not null,
  "interval" text not null, trial_days integer not null default 0, benefits text[] not null default '{}'::text[],
  "position" integer not null default 0, is_active boolean not null default true, max_members integer,
  member_count integer not null default 0, claimed_count integer not null default 0,
  event_sequence integer not null default 0, created_at timestamptz not null, updated_at timestamptz not null,
  archived_at timestamptz
);
create table discount_code (
  id text not null, workspace_id text not null, code text not null, product_id text, percent_off integer,
  amount_cents_off integer, max_uses integer, used_count integer not null default 0,
  claimed_count integer not null default 0, is_active boolean not null default true, expires_at timestamptz,
  expiry_told_at timestamptz, notes text, event_sequence integer not null default 0, created_at timestamptz not null,
  updated_at timestamptz not null
);
create table customer (
  id text not null, workspace_id text not null, email text not null, name text, provider text, provider_ref text,
  method_ref text, card_brand text, card_last4 text, card_exp_month integer, card_exp_year integer,
  card_expiry_told text, trial_used_at timestamptz, created_at timestamptz not null, updated_at timestamptz not null
);
create table checkout (
  id text not null, workspace_id text not null, kind text not null, status text not null default 'OPEN', tier_id text,
  video_id text, booking_id text, amount_cents integer not null, discount_cents integer not null default 0,
  discount_code_id text, discount_code text, customer_email text, customer_id text, subscription_id text,
  purchase_id text, success_url text not null, cancel_url text not null, client_reference_id text,
  metadata jsonb not null default '{}'::jsonb, operation_id text, claimed_until timestamptz,
  event_sequence integer not null default 0, expires_at timestamptz not null, completed_at timestamptz,
  created_at timestamptz not null, title text not null, "interval" text, trial_days integer not null default 0,
  payment_id text, attempt_count integer not null default 0, product_id text
);
create table subscription (
  id text not null, workspace_id text not null, tier_id text not null, customer_id text not null, checkout_id text,
  status text not null, price_cents integer not null, "interval" text not null, anchor_at timestamptz not null,
  timezone text not null, next_period_month integer not null default 0, current_period_start timestamptz not null,
  current_period_end timestamptz not null, trial_ends_at timestamptz, pending_price_cents integer,
  pending_tier_id text, cancel_at_period_end boolean not null default false, canceled_at timestamptz,
  ended_at timestamptz, cancel_reason text, purchase_id text, is_disputed boolean not null default false,
  failed_attempts integer not null default 0, next_charge_at timestamptz, payment_id text, reminded_period integer,
  discount_code text, client_reference_id text, event_sequence integer not null default 0,
  created_at timestamptz not null, updated_at timestamptz not null, charge_kind text, charge_tier_id text,
  charge_price_cents integer, charge_interval text, charge_period_month integer,
  discount_cents integer not null default 0, card_expiry_told text, upgrade_purchase_id text, pending_interval text,
  price_told_at timestamptz, asks_before_charge boolean not null default false, migrated_price_cents integer,
  payment_method jsonb, upgrades jsonb not null default '[]'::jsonb
);
create table member_link (
  token_hash bytea not null, customer_id text not null, expires_at timestamptz not null,
  created_at timestamptz not null, used_at timestamptz
);
create table member_session (
  token_hash bytea not null, customer_id text not null, workspace_id text not null, expires_at timestamptz not null,
  created_at timestamptz not null
);
create table purchase (
  id text not null, workspace_id text not null, customer_id text not null, kind text not null, video_id text,
  booking_id text, subscription_id text, tier_id text, product_id text, checkout_id text,
  status text not null default 'PENDING', status_before_dispute text, amount_cents integer not null,
  discount_cents integer not null default 0, discount_code text, fee_cents integer not null default 0,
  refunded_cents integer not null default 0, fee_refunded_cents integer not null default 0, payment_id text,
  paid_at timestamptz, event_sequence integer not null default 0, created_at timestamptz not null
);
create table payment (
  id text not null, workspace_id text not null, purchase_id text, type text not null, status text not null,
  amount_cents integer not null, provider text not null, provider_ref text, provider_key text not null,
  request jsonb not null default '{}'::jsonb, action_url text, failure_code text, failure_message text,
  request_id text, reason text, outcome text, asked_at timestamptz, next_look_at timestamptz, settled_at timestamptz,
  event_sequence integer not null default 0, created_at timestamptz not null, payment_method jsonb,
  next_ask_at timestamptz
);
create table provider_event (
  provider text not null, id text not null, kind text not null, object_ref text not null, account_ref text,
  received_at timestamptz not null, handled_at timestamptz, attempts integer not null default 0,
  next_attempt_at timestamptz, error text
);
create table connect_account (
  workspace_id text not null, provider text not null, provider_ref text not null,
  charges_enabled boolean not null default false, payouts_enabled boolean not null default false,
  details_submitted boolean not null default false, requirements_due text[] not null default '{}'::text[],
  country text, checked_at timestamptz not null, created_at timestamptz not null, payouts_seen_at timestamptz
);
create table sandbox_payment (
  ref text not null, key text not null, workspace_id text not null, amount_cents integer not null,
  fee_cents integer not null default 0, status text not null, card text, failure_code text,
  refunded_cents integer not null default 0, dispute_status text, expires_at timestamptz,
  created_at timestamptz not null, return_url text, description text not null default '', card_ref text
);
create table sandbox_refund (
  ref text not null, key text not null, payment_ref text not null, amount_cents integer not null,
  created_at timestamptz not null
);
create table sandbox_card (
  ref text not null, workspace_id text not null, card text not null, created_at timestamptz not null,
  customer_id text not null, key text not null
);
create table ledger_account (
  id text not null, workspace_id text not null, provider text not null, kind text not null,
  created_at timestamptz not null
);
create table ledger_transaction (
  id text not null, workspace_id text not null, kind text not null, source text not null, sale_kind text,
  item_id text, purchase_id text, occurred_at timestamptz not null
);
create table ledger_entry (
  transaction_id text not null, account_id text not null, amount_cents bigint not null
);
create table ledger_revenue (
  workspace_id text not null, quarter timestamptz not null, gross_cents bigint not null, fee_cents bigint not null,
  refund_cents bigint not null, sale_count integer not null
);
create table ledger_revenue_item (
  workspace_id text not null, day timestamptz not null, sale_kind text not null, item_id text not null,
  gross_cents bigint not null, fee_cents bigint not null, refund_cents bigint not null, sale_count integer not null
);
create table payout (
  id text not null, workspace_id text not null, provider text not null, provider_ref text,
  amount_cents integer not null, status text not null, failure_code text, arrival_at timestamptz,
  event_sequence integer not null default 0, created_at timestamptz not null, currency text not null default 'USD'
);
create table member_link_request (
  id bigint generated always as identity, workspace_id text not null, email text not null,
  created_at timestamptz not null
);
create table provider_look (
  provider text not null, told_until timestamptz not null
);
create table booking_product (
  id text not null, workspace_id text not null, type text not null, status text not null default 'DRAFT',
  title text not null, description text, thumbnail_url text, slug text, price_cents integer not null,
  duration_min integer not null, buffer_min integer not null, capacity integer not null, recordable boolean not null,
  replay_access_days integer not null, refund_policy_days integer not null, intake_fields jsonb,
  event_sequence integer not null default 0, published_at timestamptz, archived_at timestamptz,
  created_at timestamptz not null, updated_at timestamptz not null
);
create table availability (
  workspace_id text not null, weekly jsonb not null, timezone text not null, blackouts jsonb not null,
  min_notice_min integer not null, max_advance_days integer not null, updated_at timestamptz not null
);
create table cohort (
  id text not null, workspace_id text not null, product_id text not null, title text, starts_at timestamptz not null,
  ends_at timestamptz, timezone text not null, capacity integer, enrolled_count integer not null default 0,
  claimed_count integer not null default 0, status text not null, enrollment_opens_at timestamptz,
  enrollment_closes_at timestamptz, event_sequence integer not null default 0, canceled_at timestamptz,
  created_at timestamptz not null, updated_at timestamptz not null, change_no integer not null default 0
);
create table cohort_session (
  id text not null, cohort_id text not null, starts_at timestamptz not null, ends_at timestamptz not null,
  room_id text, set_at timestamptz not null
);
create table cohort_video (
  id text not null, cohort_id text not null, video_id text not null, release_at timestamptz,
  "position" integer not null
);
create table class_occurrence (
  id text not null, workspace_id text not null, product_id text not null, starts_at timestamptz not null,
  ends_at timestamptz not null, capacity integer not null, booked_count integer not null default 0,
  claimed_count integer not null default 0, room_id text, created_at timestamptz not null
);
create table booking (
  id text not null, workspace_id text not null, product_id text not null, type text not null, cohort_id text,
  occurrence_id text, status text not null, starts_at timestamptz, ends_at timestamptz, first_starts_at timestamptz,
  rescheduled_from timestamptz, timezone text not null, customer_id text, customer_name text not null,
  customer_email text not null, customer_timezone text, intake_answers jsonb, amount_cents integer not null,
  discount_cents integer not null default 0, discount_code text, purchase_id text, room_id text,
  recording_video_id text, replay_access_until timestamptz, cancel_reason text, canceled_by text,
  held_until timestamptz, was_extended boolean not null default false, customer_joined_at timestamptz,
  creator_joined_at timestamptz, reminded_at timestamptz, ics_sequence integer not null default 0,
  event_sequence integer not null default 0, created_at timestamptz not null, updated_at timestamptz not null,
  refund_policy_days integer not null default 0, replay_access_days integer not null default 0,
  cohort_change_no integer not null default 0, reminded_until timestamptz, link_no integer not null default 0,
  recording_video_ids text[] not null default '{}'::text[], waitlist_entry_id text
);
create table calendar_busy (
  id bigint generated always as identity, calendar_no bigint not null, starts_at timestamptz not null,
  free_at timestamptz not null, product_id text not null, booking_id text, occurrence_id text, session_id text,
  waitlist_id text
);
create table external_calendar (
  id text not null, workspace_id text not null, name text, url_sealed bytea not null, host text not null,
  status text not null default 'PENDING', last_error text, event_count integer not null default 0, etag text,
  read_at timestamptz, next_read_at timestamptz not null, created_at timestamptz not null,
  updated_at timestamptz not null, failure_count integer not null default 0, last_modified text,
  content_read_at timestamptz, content_timezone text
);
create table external_busy (
  calendar_id text not null, starts_at timestamptz not null, free_at timestamptz not null
);
create table booking_feed (
  workspace_id text not null, token_hash bytea not null, token_sealed bytea not null, created_at timestamptz not null
);
create table waitlist_entry (
  id text not null, workspace_id text not null, product_id text not null, cohort_id text, starts_at timestamptz,
  email text not null, name text, "position" integer not null, status text not null default 'WAITING',
  offered_at timestamptz, offer_expires_at timestamptz, booking_id text, event_sequence integer not null default 0,
  created_at timestamptz not null, updated_at timestamptz not null, turn bigint generated always as identity,
  offered_cohort_id text, offered_starts_at timestamptz, occurrence_id text,
  keeps_place boolean not null default false, confirmed_at timestamptz default now()
);
create table cohort_session_removed (
  id text not null, cohort_id text not null, starts_at timestamptz not null, ends_at timestamptz not null,
  change_no integer not null
);
create table follow (
  id text not null, workspace_id text not null, follower_id text not null, created_at timestamptz not null
);
create table follower_count (
  workspace_id text not null, followers integer not null, event_sequence integer not null
);
create table channel (
  workspace_id text not null, display_name text, description text, links jsonb not null default '[]'::jsonb,
  updated_at timestamptz not null
);
create table banner (
  id text not null, workspace_id text not null, image bytea not null, created_at timestamptz not null
);
create table subscriber (
  id text not null, workspace_id text not null, email text not null, name text, status text not null,
  source text not null, consent_at timestamptz, round integer not null default 1, event_sequence integer not null,
  created_at timestamptz not null, updated_at timestamptz not null
);
create table subscriber_address (
  workspace_id text not null, address bytea not null, asked_at timestamptz, left_at timestamptz
);
create table fact (
  created_at timestamptz not null, id text not null, xid xid8 not null default pg_current_xact_id(),
  workspace_id text not null, kind text not null, subject_id text, amount bigint not null default 1, viewer bytea,
  country text, device text, browser text, os text, referrer text, is_bot boolean not null default false,
  is_self boolean not null default false, playback_session text, number integer, player_events jsonb,
  bitrate_kbps integer, key_id text, status smallint
) partition by RANGE (created_at);
create table fact_sum_state (
  is_only boolean not null default true, next_xid xid8 not null, fresh_until timestamptz not null, mark_xid xid8,
  mark_at timestamptz, closed_until timestamptz
);
create table analytics_total (
  workspace_id text not null, subject_kind text not null, subject_id text not null, span integer not null,
  at timestamptz not null, is_self boolean not null, views bigint not null default 0,
  unique_viewers bigint not null default 0, watch_ms bigint not null default 0, impressions bigint not null default 0,
  plays bigint not null default 0, joins bigint not null default 0, leaves bigint not null default 0,
  chat_messages bigint not null default 0, new_followers bigint not null default 0,
  lost_followers bigint not null default 0, broadcasts bigint not null default 0, live_ms bigint not null default 0,
  peak_viewers bigint not null default 0, viewer_samples_sum bigint not null default 0,
  viewer_samples bigint not null default 0, bitrate_kbit bigint not null default 0
);
create table analytics_share (
  workspace_id text not null, subject_kind text not null, subject_id text not null, dimension text not null,
  value text not null, span integer not null, at timestamptz not null, is_self boolean not null,
  views bigint not null default 0, unique_viewers bigint not null default 0, watch_ms bigint not null default 0
);
create table analytics_retention (
  workspace_id text not null, video_id text not null, at timestamptz not null, is_self boolean not null,
  watched integer[] not null, span integer not null
);
create table analytics_seen (
  at timestamptz not null, workspace_id text not null, subject_id text not null, share text not null,
  viewer bytea not null, is_self boolean not null, first_at timestamptz not null
);
create table usage_total (
  workspace_id text not null, metric text not null, span smallint not null, at timestamptz not null,
  amount bigint not null
);
create table usage_request (
  workspace_id text not null, key_id text not null, at timestamptz not null, requests bigint not null,
  errors_4xx bigint not null, errors_5xx bigint not null, rate_limited bigint not null
);
create table quota_notice (
  workspace_id text not null, resource text not null, told smallint not null, told_used bigint not null,
  period_start timestamptz, version integer not null default 0, event_sequence integer not null default 0,
  told_limit bigint not null default 0
);
create table team_member (
  id text not null, account_id text not null, user_id text not null, team_role text not null,
  event_sequence integer not null default 0, joined_at timestamptz not null
);
create table team_invitation (
  id text not null, account_id text not null, email text not null, team_role text not null, hash bytea not null,
  status text not null, invited_by text not null, created_at timestamptz not null, expires_at timestamptz not null
);
create table team_activity (
  account_id text not null, user_id text not null, last_active_at timestamptz not null
);
create table kept_count (
  workspace_id text not null, name text not null, amount bigint not null
);
create table release_notice (
  version text not null, seen_at timestamptz not null, last_workspace_id text not null default '', told_at timestamptz
);
create table deprecated_use (
  workspace_id text not null, endpoint text not null, last_used_at timestamptz not null, told_at timestamptz
);
create table notification_reading (
  notification_id text not null, user_id text not null, read_at timestamptz not null
);
create table account_erasure (
  account_id text not null, requested_at timestamptz not null, due_at timestamptz not null, keep_hash bytea,
  begun_at timestamptz, erased_at timestamptz
);
create table account_export (
  id text not null, account_id text not null, status text not null, size_bytes bigint,
  created_at timestamptz not null, ready_at timestamptz, expires_at timestamptz
);
create table dvr_segment (
  stream_id text not null, workspace_id text not null, epoch text not null, file text not null, seq bigint not null,
  disc integer not null, start_ms double precision not null, duration_sec double precision not null,
  rungs jsonb not null, size_bytes bigint not null
);
create unlogged table whip_session (
  id text not null, stream_id text not null, node_id text, state text not null, offer text not null, answer text,
  created_at timestamptz not null, carried_at timestamptz
);
create table video_transcription (
  video_id text not null, status text not null, language text, error text, requested_at timestamptz not null,
  ended_at timestamptz
);
create table media_node (
  id text not null, url text not null, seen_at timestamptz not null
);
create unlogged table whep_session (
  id text not null, stream_id text not null, node_id text, state text not null, offer text not null, answer text,
  refusal text, sent_bytes bigint not null default 0, admitted_until timestamptz not null,
  created_at timestamptz not null, carried_at timestamptz, address_mark text
);
create table video_tag (
  workspace_id text not null, tag text not null, status text not null, visibility text not null,
  video_id text not null
);
create table video_replacement (
  video_id text not null, revision integer not null, status text not null, upload_id text, original_key text,
  size_bytes bigint, storage_bytes bigint not null default 0, progress_percent double precision not null default 0,
  duration_sec double precision, width integer, height integer, frame_rate double precision, image_folder text,
  has_storyboard boolean not null default false, has_preview boolean not null default false,
  chapters jsonb not null default '[]'::jsonb, processing_notes jsonb not null default '[]'::jsonb,
  captions jsonb not null default '[]'::jsonb, error_code text, error_message text, created_at timestamptz not null,
  updated_at timestamptz not null, ended_at timestamptz, former_kept_until timestamptz, former_revision integer,
  former_original_key text, former_image_folder text, former_captions text[] not null default '{}'::text[],
  former_storage_bytes bigint not null default 0, import_id text
);
create table counter_window (
  name text not null, key text not null, ends_at timestamptz not null, hits bigint not null
) with (fillfactor=50);
create table pgboss.version (
  version integer not null, cron_on timestamptz, bam_on timestamptz, flow_on timestamptz, reindex_on timestamptz,
  monitor_backoff_on timestamptz
);
create table pgboss.queue (
  name text not null, policy text not null, retry_limit integer not null, retry_delay integer not null,
  retry_backoff boolean not null, retry_delay_max integer, expire_seconds integer not null,
  retention_seconds integer not null, deletion_seconds integer not null, dead_letter text, partition boolean not null,
  table_name text not null, deferred_count integer not null default 0, queued_count integer not null default 0,
  ready_count integer not null default 0, warning_queued integer not null default 0,
  active_count integer not null default 0, failed_count integer not null default 0,
  total_count integer not null default 0, created_delta integer not null default 0,
  completed_delta integer not null default 0, failed_delta integer not null default 0, delta_on timestamptz,
  delta_seconds integer, ready_history integer[] not null default '{}'::integer[], heartbeat_seconds integer,
  notify boolean not null default false, singletons_active text[], monitor_claim_on timestamptz,
  monitor_on timestamptz, maintain_on timestamptz, created_on timestamptz not null default now(),
  updated_on timestamptz not null default now()
);
create table pgboss.schedule (
  name text not null, key text not null default '', kind text not null default 'cron', cron text not null,
  timezone text default 'UTC', data jsonb, options jsonb, created_on timestamptz not null default now(),
  updated_on timestamptz not null default now(), last_job_id uuid
);
create table pgboss.subscription (
  event text not null, name text not null, created_on timestamptz not null default now(),
  updated_on timestamptz not null default now()
);
create table pgboss.bam (
  id uuid not null default gen_random_uuid(), name text not null, version integer not null,
  status text not null default 'pending', queue text, table_name text not null, command text not null, error text,
  created_on timestamptz not null default clock_timestamp(), started_on timestamptz, completed_on timestamptz
);
create table pgboss.job (
  id uuid not null default gen_random_uuid(), name text not null, priority integer not null default 0, data jsonb,
  state pgboss.job_state not null default 'created'::pgboss.job_state, retry_limit integer not null default 2,
  retry_count integer not null default 0, retry_delay integer not null default 0,
  retry_backoff boolean not null default false, retry_delay_max integer, expire_seconds integer not null default 900,
  deletion_seconds integer not null default 604800, singleton_key text, singleton_on timestamp without time zone,
  group_id text, group_tier text, start_after timestamptz not null default now(),
  created_on timestamptz not null default now(), started_on timestamptz, completed_on timestamptz,
  keep_until timestamptz not null default (now() + '336:00:00'::interval), output jsonb, dead_letter text,
  policy text, heartbeat_on timestamptz, heartbeat_seconds integer, blocked boolean not null default false,
  blocking boolean not null default false, pending_dependencies integer not null default 0, source_name text,
  source_id uuid, source_created_on timestamptz, source_retry_count integer, source_output jsonb, source_root_id uuid
) partition by LIST (name);
create table pgboss.warning (
  id uuid not null default gen_random_uuid(), type text not null, message text not null, data jsonb,
  created_on timestamptz not null default now()
);
create table pgboss.queue_stats (
  id uuid not null default gen_random_uuid(), name text not null, deferred_count integer not null default 0,
  queued_count integer not null default 0, ready_count integer not null default 0,
  active_count integer not null default 0, failed_count integer not null default 0,
  total_count integer not null default 0, created_delta integer, completed_delta integer, failed_delta integer,
  delta_seconds integer, delta_on timestamptz, captured_on timestamptz not null default now()
) partition by RANGE (captured_on);
create table pgboss.job_dependency (
  child_name text not null, child_id uuid not null, parent_name text not null, parent_id uuid not null
);
create table event_default partition of event default;
alter table event_default alter column type set (n_distinct=150);
create table delivery_log_default partition of delivery_log default;
create table request_log_default partition of request_log default;
create table fact_default partition of fact default;
create table event_20261128 partition of event FOR VALUES FROM ('2026-11-28 00:00:00+00') TO ('2026-11-29 00:00:00+00');
alter table event_20261128 alter column type set (n_distinct=150);
create table event_20261129 partition of event FOR VALUES FROM ('2026-11-29 00:00:00+00') TO ('2026-11-30 00:00:00+00');
alter table event_20261129 alter column type set (n_distinct=150);
create table event_20261130 partition of event FOR VALUES FROM ('2026-11-30 00:00:00+00') TO ('2026-12-01 00:00:00+00');
alter table event_20261130 alter column type set (n_distinct=150);
create table event_20261201 partition of event FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2026-12-02 00:00:00+00');
alter table event_20261201 alter column type set (n_distinct=150);
create table delivery_log_20261128 partition of delivery_log FOR VALUES FROM ('2026-11-28 00:00:00+00') TO ('2026-11-29 00:00:00+00');
create table delivery_log_20261129 partition of delivery_log FOR VALUES FROM ('2026-11-29 00:00:00+00') TO ('2026-11-30 00:00:00+00');
create table delivery_log_20261130 partition of delivery_log FOR VALUES FROM ('2026-11-30 00:00:00+00') TO ('2026-12-01 00:00:00+00');
create table delivery_log_20261201 partition of delivery_log FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2026-12-02 00:00:00+00');
create table request_log_20261128 partition of request_log FOR VALUES FROM ('2026-11-28 00:00:00+00') TO ('2026-11-29 00:00:00+00');
create table request_log_20261129 partition of request_log FOR VALUES FROM ('2026-11-29 00:00:00+00') TO ('2026-11-30 00:00:00+00');
create table request_log_20261130 partition of request_log FOR VALUES FROM ('2026-11-30 00:00:00+00') TO ('2026-12-01 00:00:00+00');
create table request_log_20261201 partition of request_log FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2026-12-02 00:00:00+00');
create table fact_20261128 partition of fact FOR VALUES FROM ('2026-11-28 00:00:00+00') TO ('2026-11-29 00:00:00+00');
create table fact_20261129 partition of fact FOR VALUES FROM ('2026-11-29 00:00:00+00') TO ('2026-11-30 00:00:00+00');
create table fact_20261130 partition of fact FOR VALUES FROM ('2026-11-30 00:00:00+00') TO ('2026-12-01 00:00:00+00');
create table fact_20261201 partition of fact FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2026-12-02 00:00:00+00');
create table pgboss.job_common partition of pgboss.job default;
create table pgboss.queue_stats_20261128 partition of pgboss.queue_stats FOR VALUES FROM ('2026-11-28 00:00:00+00') TO ('2026-11-29 00:00:00+00');
create table pgboss.queue_stats_20261129 partition of pgboss.queue_stats FOR VALUES FROM ('2026-11-29 00:00:00+00') TO ('2026-11-30 00:00:00+00');
insert into migration (name) values
  ('0001_accounts.sql'), ('0002_events.sql'), ('0003_streams.sql'), ('0004_auth.sql'), ('0005_idempotency.sql'),
  ('0006_webhooks.sql'), ('0007_keys_domains.sql'), ('0008_viewers.sql'), ('0009_notifications.sql'),
  ('0010_videos.sql'), ('0011_job_turn.sql'), ('0012_recordings.sql'), ('0013_imports.sql'), ('0014_playlists.sql'),
  ('0015_video_reads.sql'), ('0016_video_processing.sql'), ('0017_upload_writers.sql'), ('0018_value_lists.sql'),
  ('0019_signal_simulations.sql'), ('0020_user_tokens.sql'), ('0021_growing_recordings.sql'), ('0022_support.sql'),
  ('0023_open_uploads.sql'), ('0024_presence.sql'), ('0025_stream_log.sql'), ('0026_request_log.sql'),
  ('0027_sessions.sql'), ('0028_health_series.sql'), ('0029_chat.sql'), ('0030_restreams.sql'), ('0031_rooms.sql'),
  ('0033_room_recordings.sql'), ('0034_bridges.sql'), ('0035_room_bridges.sql'), ('0045_stream_log_restreams.sql'),
  ('0046_restream_passphrase.sql'), ('0047_room_layout_and_minutes.sql'), ('0050_money.sql'), ('0052_sandbox.sql'),
  ('0053_checkout.sql'), ('0054_subscriptions.sql'), ('0055_confirmed_renewals.sql'), ('0056_looks_at_providers.sql'),
  ('0060_booking.sql'), ('0063_bookings.sql'), ('0064_waitlist.sql'), ('0065_external_calendars.sql'),
  ('0066_what_members_are_told.sql'), ('0067_recordings_of_bookings.sql'), ('0068_channels.sql'),
  ('0069_subscribers.sql'), ('0070_analytics.sql'), ('0072_counted_viewers.sql'), ('0073_analytics_day_shares.sql'),
  ('0074_usage.sql'), ('0075_summary.sql'), ('0076_team.sql'), ('0078_analytics_spans.sql'), ('0079_kept_counts.sql'),
  ('0082_changelog.sql'), ('0083_reports.sql'), ('0084_notification_readings.sql'), ('0085_changed_addresses.sql'),
  ('0086_erasure.sql'), ('0087_exports.sql'), ('0088_takedowns.sql'), ('0089_retired_secrets.sql'), ('0095_dvr.sql'),
  ('0098_whip_sessions.sql'), ('0101_long_lists.sql'), ('0102_long_logs.sql'), ('0103_lists_by_state.sql'),
  ('0109_audio_tracks.sql'), ('0110_source_captions.sql'), ('0113_iframe_playlists.sql'), ('0115_codecs.sql'),
  ('0117_transcriptions.sql'), ('0120_media_nodes.sql'), ('0122_whep_sessions.sql'), ('0128_deliveries_by_state.sql'),
  ('0129_lists_by_few.sql'), ('0130_video_tags.sql'), ('0138_video_replacements.sql'), ('0146_whep_carried.sql'),
  ('0147_replacement_imports.sql'), ('0150_lists_beside_time.sql'), ('0151_array_of_tags.sql'),
  ('0160_whep_seats.sql'), ('0161_whip_carried.sql'), ('0163_id_spans.sql'), ('0164_searches.sql'),
  ('0165_tags_of_videos.sql'), ('0173_charges_that_ask_first.sql'), ('0177_sampled_spans.sql'),
  ('0178_sampled_searches.sql'), ('0179_sampled_spans_sooner.sql'), ('0183_coming_cohorts.sql'),
  ('0185_recordings_of_deleted_rooms.sql'), ('0187_prices_that_stay.sql'), ('0188_waitlists_that_ask.sql'),
  ('0189_confirmed_unless_asked.sql'), ('0191_restreams_once.sql'), ('0192_prices_told_again.sql'),
  ('0193_uploads_of_somebody.sql'), ('0194_spans_between_sooner.sql'), ('0195_limits_told.sql'),
  ('0196_types_of_events.sql'), ('0197_parts_of_texts.sql'), ('0198_exact_searches.sql'),
  ('0200_cards_of_subscriptions.sql'), ('0201_payouts_in_their_currency.sql'), ('0202_bookings_of_offers.sql'),
  ('0210_signal_stop_notified_at.sql'), ('0211_sign_in_network.sql'), ('0220_counter_windows.sql');
insert into account
  (id, email, password_hash, name, username, role, plan, email_verified_at, suspended_at, created_at, token_epoch,
  bio, locale, timezone, embed_mode, embed_domains, embed_updated_at, terms_url, terms_accepted_at)
values
  ('usr_01m8j4cnk3fshvfhzf02vsjt37', 'usr_01m8j4cnk3fshvfhzf02vsjt37@example.com', '-', null, 'usr_01m8j4cnk3fshvfhzf02vsjt37', 'USER', 'VIP', '2026-11-28 22:28:39.139+00', null, '2026-11-28 22:28:39.140668+00', 0, null, 'en', 'UTC', 'OPEN', '{}', null, null, null),
  ('usr_01m8j4cnraf4w8m1t781rtv6hz', 'ada@example.com', '$argon2id$v=19$m=19456,t=2,p=1$Z+8r/wFDHuDF3ZUqZUWsug$76gv/P3g76A7pZRqxHuKGMMMoe3Mvl0tFmxZ8gZ05b4', 'Ada Lovelace', 'ada', 'USER', 'VIP', '2026-11-28 22:28:39.496146+00', null, '2026-11-28 22:28:39.422812+00', 0, null, 'en', 'UTC', 'OPEN', '{}', null, null, null),
  ('usr_01m8j4crrcfbvt8ag0t4j648am', 'usr_01m8j4crrcfbvt8ag0t4j648am@example.com', '-', null, 'usr_01m8j4crrcfbvt8ag0t4j648am', 'USER', 'VIP', '2026-11-28 22:28:42.38+00', null, '2026-11-28 22:28:42.381623+00', 0, null, 'en', 'UTC', 'OPEN', '{}', null, null, null);
insert into workspace
  (id, account_id, mode, created_at, storage_bytes, calendar_no)
overriding system value values
  ('wsp_01m8j4cnk3fshvfhzf06sbr3ft', 'usr_01m8j4cnk3fshvfhzf02vsjt37', 'live', '2026-11-28 22:28:39.147181+00', 0, 1),
  ('wsp_01m8j4cnk3fshvfhzf09g4eb4s', 'usr_01m8j4cnk3fshvfhzf02vsjt37', 'test', '2026-11-28 22:28:39.147181+00', 0, 2),
  ('wsp_01m8j4cnw0f3prbzshzth3nz2a', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'test', '2026-11-28 22:28:39.422812+00', 0, 4),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'live', '2026-11-28 22:28:39.422812+00', 21, 3),
  ('wsp_01m8j4crrcfbvt8ag0t71kp3ay', 'usr_01m8j4crrcfbvt8ag0t4j648am', 'live', '2026-11-28 22:28:42.384334+00', 0, 5),
  ('wsp_01m8j4crrcfbvt8ag0t768fdwe', 'usr_01m8j4crrcfbvt8ag0t4j648am', 'test', '2026-11-28 22:28:42.384334+00', 0, 6);
insert into api_key
  (id, workspace_id, account_id, name, hash, prefix, last4, scope, permissions, ip_allowlist, domain_allowlist,
  rate_limit_per_minute, daily_quota, expires_at, revoked_at, last_used_at, created_at, created_by_key_id,
  last_used_ip, event_sequence, expiry_announced_at, made_by)
values
  ('key_01m8j4cnkhfg2vf0khxnc9bwpr', 'wsp_01m8j4cnk3fshvfhzf06sbr3ft', 'usr_01m8j4cnk3fshvfhzf02vsjt37', 'API key', E'\\xf62ad84bcc6c20fe45231e1956b5e3c22508a0c76a5273de151bae1eb33c31ac', 'pk_807a', '67a6', 'FULL_ACCESS', '{}', '{}', '{}', 10000, null, null, null, '2026-11-28 22:28:39.241+00', '2026-11-28 22:28:39.153+00', null, '127.0.0.1', 1, null, null),
  ('key_01m8j4cnygfhc8tk6z3kcrsz2v', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'Live', E'\\x1960a7c0e9dfdd2ef020fa2d9284737f079a0773b5147a7c5464d79ec0d7213b', 'pk_8725', '266a', 'FULL_ACCESS', '{}', '{}', '{}', 10000, null, null, null, '2026-11-28 22:28:39.535+00', '2026-11-28 22:28:39.504+00', null, '127.0.0.1', 1, null, null),
  ('key_01m8j4crtceq39sgnvec804frk', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'Another', E'\\xf33c90917375d956f1b56c9f83e9192a7d403d690b07b0ec578ac60f4b714661', 'pk_a372', '1cce', 'STANDARD', '{}', '{}', '{}', 1000, null, null, null, null, '2026-11-28 22:28:42.451+00', 'key_01m8j4cnygfhc8tk6z3kcrsz2v', null, 1, null, null),
  ('key_01m8j4cnywephstt225cgm569c', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'Test', E'\\x5e533b61c5aed6e87c94626d75ac6f656f15fc63ec8ae0633264fb7d408f7a8c', 'pk_bb0d', 'f62f', 'FULL_ACCESS', '{}', '{}', '{}', 10000, null, null, null, '2026-11-28 22:28:42.516+00', '2026-11-28 22:28:39.516+00', null, '127.0.0.1', 1, null, null),
  ('key_01m8j4cw0nezdt561jnwwska8p', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'API key', E'\\x24f106114dd9103b69cbab44adacb7f889e1733667024aad4656f0fcf6dbbc23', 'pk_abee', 'a148', 'FULL_ACCESS', '{}', '{}', '{}', 10000, null, null, null, null, '2026-11-28 22:28:45.717+00', null, null, 1, null, null);
insert into event
  (id, workspace_id, type, created_at, body, seq)
values
  ('7d0912ce-5b3d-469c-9d85-1429e963fd28', 'wsp_01m8j4cnk3fshvfhzf06sbr3ft', 'api_key.created', '2026-11-28 22:28:39.216+00', '{"id":"7d0912ce-5b3d-469c-9d85-1429e963fd28","type":"api_key.created","created":1795904919,"livemode":false,"data":{"keyId":"key_01m8j4cnkhfg2vf0khxnc9bwpr","name":"API key","scope":"FULL_ACCESS","mode":"live","expiresAt":null,"sequence":1}}', 1),
  ('bf944d00-7820-42e7-808c-0aee9e524385', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'api_key.created', '2026-11-28 22:28:39.511+00', '{"id":"bf944d00-7820-42e7-808c-0aee9e524385","type":"api_key.created","created":1795904919,"livemode":false,"data":{"keyId":"key_01m8j4cnygfhc8tk6z3kcrsz2v","name":"Live","scope":"FULL_ACCESS","mode":"live","expiresAt":null,"sequence":1}}', 2),
  ('25c07eaa-2a0f-4cd4-bb2d-45261cb93455', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'api_key.created', '2026-11-28 22:28:39.52+00', '{"id":"25c07eaa-2a0f-4cd4-bb2d-45261cb93455","type":"api_key.created","created":1795904919,"livemode":false,"data":{"keyId":"key_01m8j4cnywephstt225cgm569c","name":"Test","scope":"FULL_ACCESS","mode":"test","expiresAt":null,"sequence":1}}', 3);
insert into webhook
  (id, workspace_id, url, events, is_active, description, secret, secret_rotated_at, total_deliveries, success_count,
  failure_count, consecutive_failures, last_success_at, last_failure_at, last_status, latency_total_ms, latency_count,
  created_at, updated_at, event_sequence, failing_since, failing_said_at)
values
  ('wh_01m8j4cpemfnhvr65eeqd5m28b', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'https://receiver.example.com/', '{webhook.test}', true, '', E'\\x01c0048dd4c5cbeccb5a6b7fa12915fc1c77d56cb9e3ce193918ef772c4f68faef7fcbf96dc1da5ae6adb0972f6f558663749dba217739bd750179c005b79d04d58045aef7ec954a70788ed49820', null, 1, 0, 1, 1, null, '2026-11-28 22:28:40.064+00', null, 0, 0, '2026-11-28 22:28:40.02+00', '2026-11-28 22:28:40.02+00', 1, '2026-11-28 22:28:40.064+00', null);
insert into delivery_job
  (id, workspace_id, webhook_id, event_id, event_created_at, trigger, next_at, attempt, lease, replay_of)
overriding system value values
  (2, 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'wh_01m8j4cpemfnhvr65eeqd5m28b', '7d0912ce-5b3d-469c-9d85-1429e963fd28', '2026-11-28 22:28:39.216+00', 'EVENT', '2099-01-01 00:00:00+00', 1, 2, null);
insert into delivery_log
  (id, workspace_id, webhook_id, event_id, event_type, trigger, attempt, status, response_status, response_body,
  latency_ms, error_message, next_attempt_at, replay_of, created_at)
values
  ('dlv_01m8j4cpg0eajsr9hg5wphb03v', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'wh_01m8j4cpemfnhvr65eeqd5m28b', '2b01109b-adf8-4aef-96fa-6f921e83c7a3', 'webhook.test', 'TEST', 1, 'FAILED', null, null, 3, 'dns: ENOTFOUND', null, null, '2026-11-28 22:28:40.064+00');
insert into stream
  (id, workspace_id, title, description, visibility, key_hash, key_encrypted, enabled, has_signal, is_live,
  latency_mode, record, record_visibility, reconnect_window_sec, auto_start, auto_stop_after_sec, max_duration_sec,
  chat_enabled, chat_mode, slow_mode_sec, scheduled_start_at, metadata, external_id, current_session_id, live_since,
  started_at, ended_at, last_signal_at, signal_lost_at, health, viewer_count, peak_viewers, broadcast_started_said_at,
  broadcast_stopped_said_at, broadcast_said_live, broadcast_due_at, created_at, updated_at, deleted_at,
  event_sequence, health_said_issues, health_said_at, schedule_said_for, health_due_at, banned_words, restream_ids,
  tier_ids, taken_down_at, takedown_reason, dvr_window_sec, signal_stop_notified_at)
values
  ('str_01m8j4cp26e59rfam24eyse29j', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'A stream', null, 'PUBLIC', E'\\xe4967845c01d646aeed4695f284a16c46d62aefba67efd8bc0ac4bda0ae1b624', E'\\x0146853f89da82b391b47f5042c1a5a0bf3a7ebf62f19b592611885a6e9bb21e0f5a2600e0605ab7d9f973ec3a3c1ebab456ddebb0a1d59e5161c1c8142e0c88d2bcb1115d7b0bd4', true, true, false, 'STANDARD', false, 'PRIVATE', 120, false, null, null, true, 'OPEN', 0, null, '{}', null, 'ses_01m8j4cp7qfkeb8xthsxvxaxe2', null, null, null, '2026-11-28 22:28:39.775+00', null, null, 0, 0, null, null, false, null, '2026-11-28 22:28:39.672+00', '2026-11-28 22:28:39.672+00', null, 1, '{}', null, null, null, '{}', '{rst_01m8j4cpabf1fs6a9emh5pbyg2}', '{}', null, null, 0, null),
  ('str_01m8j4cpbgeqgsbwxzj8pnwczk', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'A target', null, 'PUBLIC', E'\\x14368f458d5d409cff0a90f7d92103b2a447f54de8bf914723f0b1c620359285', E'\\x01236c6eedb7e392349f16ad196a20a5e01a80283ce778c18d7a995b970864a61235b7e56499946649dd1ad684e534de497846aa8610129318cc08f279c06583ce725bc43accca3c', true, false, false, 'STANDARD', false, 'PRIVATE', 120, false, null, null, true, 'OPEN', 0, null, '{}', null, null, null, null, null, null, null, null, 0, 0, null, null, false, null, '2026-11-28 22:28:39.923+00', '2026-11-28 22:28:39.923+00', null, 1, '{}', null, null, null, '{}', '{}', '{}', null, null, 0, null),
  ('str_01m8j4crw3fkhr7gjt39365b8a', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'Evening show', null, 'PUBLIC', E'\\xc4e86de905bc83472c278e0cb18144fdcdc4ecf00064e5bd5a5fd96a2c00f6d9', E'\\x01ab8d8f39dd2746ce56549c9ccacd33da4476eb8343b353b1415514ec4f657bf9a16086249544f1e8e47b176b8208c90c0ea9173a3dd5ddf7db1ab2954d8c2f8eb3882cb2077bc1', true, false, false, 'STANDARD', false, 'PRIVATE', 120, false, null, null, true, 'OPEN', 0, null, '{}', null, null, null, null, null, null, null, null, 0, 0, null, null, false, null, '2026-11-28 22:28:42.499+00', '2026-11-28 22:28:42.499+00', null, 1, '{}', null, null, null, '{}', '{}', '{}', null, null, 0, null),
  ('str_01m8j4cvwwfyb8ak812fk28rhg', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'Once', null, 'PUBLIC', E'\\xb04424fb79215a8f4def52f9f0cb2e3d73f22d1471b5c9662f59d34bb0555872', E'\\x0165197c321cd532ca4a2544d2e004ca433a9ddbac582ebee10351edcff16cf9aa540a10a16b8622e2131d7f7424539ed71e0b39fbebd84fd452d147499ad02e50bd857b4ea4e7a6', true, false, false, 'STANDARD', false, 'PRIVATE', 120, false, null, null, true, 'OPEN', 0, null, '{}', null, null, null, null, null, null, null, null, 0, 0, null, null, false, null, '2026-11-28 22:28:45.604+00', '2026-11-28 22:28:45.604+00', null, 1, '{}', null, null, null, '{}', '{}', '{}', null, null, 0, null);
insert into stream_session
  (id, stream_id, workspace_id, signal_started_at, signal_ended_at, broadcast_started_at, broadcast_ended_at,
  peak_viewers, unique_viewers, error, counted_until)
values
  ('ses_01m8j4cp7qfkeb8xthsxvxaxe2', 'str_01m8j4cp26e59rfam24eyse29j', 'wsp_01m8j4cnvze7xa60z4c4kevybk', '2026-11-28 22:28:39.775+00', null, null, null, 0, 0, null, null);
insert into ingest_session
  (id, stream_id, node_id, protocol, started_at, last_seen_at, video, audio, lost_at, grace_until, kick_reason,
  ended_at, end_reason)
values
  ('ing_01m8j4cp6zfn5bvq1crz8bc77c', 'str_01m8j4cp26e59rfam24eyse29j', 'node-1', 'rtmp', '2026-11-28 22:28:39.775+00', '2026-11-28 22:28:39.775+00', null, null, null, null, null, null, null);
insert into signing_key
  (kid, private_key, created_at)
values
  ('d52216bb-71a4-434a-a162-2306e44ac205', E'\\x0154a631b7b40eeea32fcfb549454ccd3ed546b5bc51a0042a5f0c91b3ef36147d2bdfc1b98777f3acfad6fc66cb902c8581237c4de432c2f9d01d4246327b3de379b2ddaf08c015b345f224d57ca6681270d90971f931338e9cbb65de446d44d4d982a78d588bd33f09844c8c7d94f1d357ecfe129cffc7efbba214a07c9af77ec5298291ca7e0df8b11011e83b6041e3f9f6fe', '2026-11-28 22:28:39.435+00');
insert into two_factor
  (account_id, secret, enabled_at, last_step, created_at)
values
  ('usr_01m8j4crrcfbvt8ag0t4j648am', E'\\x04', null, 0, '2026-11-28 22:29:24.915807+00');
insert into recovery_code
  (account_id, hash, used_at)
values
  ('usr_01m8j4cnraf4w8m1t781rtv6hz', 'hash', null);
insert into sign_in_challenge
  (id, account_id, tries, created_at, expires_at, used_at)
values
  ('chl_1', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 1, '2026-11-28 22:29:24.915807+00', '2099-01-01 00:00:00+00', null);
insert into email_token
  (hash, account_id, purpose, email, created_at, expires_at, used_at)
values
  (E'\\xf7f8e89ea180a9cfc744b29f80215895274bf59b3cff53bdc2ea9c28012660ab', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'VERIFY_EMAIL', 'ada@example.com', '2026-11-28 22:28:39.425+00', '2026-11-29 22:28:39.425+00', null);
insert into link_request
  (id, purpose, email, created_at)
overriding system value values
  (1, 'RESET_PASSWORD', 'nobody@example.com', '2026-11-28 22:29:24.915807+00');
insert into mail
  (id, kind, recipient, subject, body, status, attempts, last_error, next_at, created_at, finished_at, calendar,
  unsubscribe_url)
values
  ('mail_01m8j4cnw3emm87dar4hxpffd9', 'verify-email', 'ada@example.com', 'Confirm your e-mail address', E'\\x0134f5a9c2181e695d3e6c9212fd5f752f9f3641553807342166a12da46aeccda860869ab40f43c80addacdf49887c9f2a12f90eec3caed120699f34e77bf5655b8c8ca3144cb49f1b1ed41fc12b65d2f0ec49004f5d4c6c9f3d1a43428733b7ce95393ea2c1144bb44f2f704999db635d46bbc1b3efa259e122cc48d20b85f3e6c59b84bec422e3a33c8cb3fd5ed695bcc58ee67c6eaad899ab34ccdc6ee033aba956f2b24857e99cdebb7ffcf1e572937910fcb2aa4fc1d972af442af24637b867e78a1a5297514c62f6da0af2c4898c9bc578da429e22c3c6046f64c0b7a5a7609609f368a82ac350c08ef690296b8894d7cf345179897acb0c46edcf3138e59183f146d7109ca0ec800d3732dce3d57dabbb9113541bdf8c45c502809ae5bb855298f012382f75c891d7f8f89cb91f30cb7e3e', 'KEPT', 1, null, '2026-11-28 22:30:45.748+00', '2026-11-28 22:28:39.429+00', '2026-11-28 22:28:45.753+00', null, null),
  ('mail_01m8j4cqrbeyfs69swp5dd1xf5', 'booking-confirmed', 'ann@example.com', 'Booked: A lesson', E'\\x0161aa72d5279fcad0782d48fb66885a75a36e6a996d8b47ff5bb190aa7bea37b98538e1144c307ec1f9cd9a384d70ea4d4bc9efe3b5b6fed530126a2a7aa5aa3099304a72af929473fbfda370786e14d022fd57d125bd81b5abdcdda4010eff9be148ca99994025a75bfa2cb1027365a4d9c2e07cf44c8e4f6ea7a8c8c86e421b9d1682b3c8a6b2b867e8d08356e8600f95f6fc9dd1a1f0b51c72b20c52d953c9ce6dbf41067a64dc3d1f2bfeaf31ad4ceccbe472192e905063496d34c34237bdf75992657dff5ba1916c1e0b5e8476102146b9dda759487fac78b56126b90a479153b16d9dab40ce0c628546df9e410e34a1d6da7afbff9c37765eb13bcd14c02a414e87b744d82aebf2db3273dd6af3adb5c5c21fae8441a8787795ac4f70e4f1a8997189429bc1de73389a5236a8e28179e087279318fda25cd8e2239d842751e8e41b24ae14df98d95f18a8e71a85223a2b4cd8dcf690ae98100a0f35e8adcb35242d028017fd32ac05f522be8213487bbfb537d61f2a6563b3d25b7c6dd0399f8c3bb79174aec1a716e8d976aa30c64b32917a4f67f09f7aaeddc93285', 'KEPT', 1, null, '2026-11-28 22:30:45.748+00', '2026-11-28 22:28:41.356+00', '2026-11-28 22:28:45.753+00', E'\\x010711b900930b7a02a27ae9dcc2caa2c4d4283649762e50f2044c57adde9d832b3832f7ea22e49362f497867265acf0ee3c8042418196547e81261c2cd440b42f64aa88cde7f10e8bdc76b41ecf2e3bac8e7331dd6707b5809c52cba6fce80f8269457a59b7205bb04b5bb4695abde7d8367e37a49a2e359de5557e580da2954d08504214b3b92752900bea477315dc4793cfaf73876054ff54c309433915fcecbaad7c52650d7dce0fe1faaeaafe96d799b9096936195eec218113187d4e52b7c5cf19646e1655234ebdae284f4c2bda0790d762d4dd42e1426715c10ce54c4ff6057c23b427588102549b03055ee5b7f799399c809f8c89d94137bd7e3291515e86b52786f07e54f6021f315ce1006e463151fe11511039bc1c53f394035a397490faa18608f4673c8068b3369e826c41666d6b54f57211fcb196d6783b364f88317d0db4ec6c45913c56fc504ce698f9c3ad513baf204713abe3b4deaa407b96d7afc8a15f739653fb63083db7c1873b72bd546d208a15cb00f7e0892761ca87f843ae22210d454b0f66e3a2d1ec1ee45eebfb475be4fde15b50d35a809a035ad01793a9b3624c4a4dda94315bb8971defb0b3295ff5824e0a8422b38a1ff73f5169ac5c255002afa7b0b39026581bd956b3b1477288e14583dab18e962b7ec16a2e7599ad2bb87795ec578e39b3782a4dcfdd23d3477c2208b4b448a4238621a5a574ba1a48dbbd41d77e0a421411ff0d9360a2597e86a230e0654b20be5921d22852604c39df8dc55f0df8dad98fc3ae2a56d22edcddb688cf59320fd2ce79132c8aa5e66307e4ad7b10e23a0f0a95bc81363760d5315e1bd5bdf03c8c68708fb705791a13e85c409c416bce67892fb9eee21c79dfc2e241439899626418b0ecd04ba0909c1e2a92cedf38cd4bed2d9aedb8ef283d5f30172fa5eae8a30b2785ca1dcdc0295eb86133d6e2ed813c11b0e3b1730566f683b5620c39b930c43838af792211814e4920008eb54550c503b5f87410ad53fc7cf1579a9cb749f7a26e09983840c9352a1b6b087e358a310b31f75b74217ec8853f575d2f85dc3d2fcbc8f8ec59a8a4ad4adfe23cc3aa70a11213cb780dea98b2eaac32951fe5505775a30b68de64d08be083e079a60957a4cacfd566e02918b936616b41a100f9706902bce9a4a4f0e61d37b5a96f6106245043b57bfc4b965aed3c3b63e20933215202b63a37ed9e39e5eaf1090223a235f601ec3010d80e4b486f530c225be825afff421ae59933154376df4a2fef3a97b29970ecb9de3f624970653712c8326295a259782f4bbefae96d1ffa854cbfea81c52af83b827f2e8eee1ed299f4915e3fbc65da50806f8d59eef5ecca7b8fad6242216c152eaf13aab91543f08131d8b3e3e658bd415cd54a3d5255693fb03832baa40686c50a622931249a5ad03eb8baf9055884a2d14cff160b0b3ee9fb878767b8569434951d61fd4188731cbcf3d14154bd6e9fccae1ea78f55a220839778f2d5ca9681e0c23243751eea12486e62ccd007611b30271040553432', null);
insert into idempotency_record
  (id, workspace_id, fingerprint, status, body, expires_at, leased_until, operation_id)
values
  (E'\\xd8b41b838392801299f11f787c3df670d1bdfe379f936a74b75cbb7a83f8f514', 'wsp_01m8j4cnvze7xa60z4c4kevybk', E'\\x8fc942b0b39fbcd64e9a5de811a00b6664160443dcab8b95de9ec595fd7ff949', 201, E'\\x0174d09ce4c7f5567c177666420e206bb6f665579dba6710902209c3b6c0b098f6dcb5e4284504146d9e1126dc44282d0f755aa708ad7afd1d857bced05b3103f0b2a3424323ee2948da9bf5de0d6dcdf775d3d55e05152bbef993a1159286a9c3e64c0acd2141394a09a1acfd34318b76cbe4d30d4f07ac9cbf7b7bdf0b69cc152e2b1667e6072e7c5843f676611ad943d5020dadd41cbbb77a278b96099c0000477be70615ba2f087ff0446502cbd2b22920802f1d2b463c39c4f0c0c8560681d7870e5a2653f9f3a77c7ee47a0a6e7be182101366caa031e8cad206006e3a61440e5e9a14d974aa60933bb0cf8161cf4eaa6af03936f5564cc45e415b2a60c85bc50855f8850279f30e04d7697c293ef3598343dc0b0a8dde1d91ba06203acd1daa5fcb70d1b6c524d41ecad3e4ffb46f948d955648b557901a473b96c4efff283b93ed4611f5918715dc5870275d49fbdaec6834846adf165eaeacca59714f1f6ce061b3ea3672a15164dc9d44756bb9cbe22b8b06dfb914f2a73c96b116b39062f729d0441f2b48e19c5a1201dfe784dc88d4f2a7a8d13e029632ff689fb75298d6324c772f610f330868855157ca739d37b93e38ec2171cb4eecc5911f4cdd0dfaae2a60f2d086b4659b22f55fa44f27a4193404af0fe36c2eac7b9b9719f1a3e58566e20a1773dfc9bf0f47a90de39bb42a84a8aaf55a963d38895cb336866c18c8921f88a7c715d2045d776ae5b644ca1516161d49499daf8e32d0def75d883efb1a24fa126db21d4330054fbdbc6127c9b61dc092fa9d0ce5eb05f25371b0b201c89223b30873b199a2181143ee520a3a7ed91520ac5d32b4057fd28a1b25f5eb38dc9f9daa03bb8aae25c53553364f439471ea878065b4713f8c3dcd6e8a6dc7bb95b11c93557930f55eda8ca67d83d3cf19b7e594b3eccc5f9cb6923e18abaf14a6aaa623b04db48d39988ef831cdb20ef646bca4c45b66b11198ae358a4be2cca33843955fd99e1b833384ee3157fa1e60b5e730104660a178f772700a946b9a02aeb3b2c9fc3e1baa3a7b63327b0e2f54d4ca4c752fe2ed465679eca891eda2c3d03956259dbfedefeba685035ef482c810cfac938bd9ae5dc55d959b5fc1007b9fd1b8a1fddc5a5713468f2fb58f488361a62877849c3aecb0231a6a71df102045c2c9d9a00be406b561cb46dd8a7266a952067dd968005536db5090055be1b66110141ea45ccf14193c5bc7c89d48accfdde3ce7528642316982724c8293fda6c3cfd40dda499cbaca82bd3b21dfe48c86704a5108c0f41d7c241697b0748501f2dd26674d2554235cc5c1bac606633c0433054c1c90291559b0f23aedbf7b013e0222b0d70f98f37830b029701fdba119ca1a57fd6df020bae41b2b21811e7f39351f0e61e97042d9cf76bf09aa28decd6c5ffe551ecf99fe704e07562695f0f13228fa8ad8fea3c10b571b028d5c093dd603cb49573d594afb0d05a7951639219c697e799f3c77e12246e21bc64df97c15c055eb290b81ef2d406ef879e6338311a6e409dcca394753cf76c3123632db7c4cc8e5720339766d7bb515c0525b71e46acc6368e5029cdce10a181e008c5f110df80060a4d2f576f302c963cb2e86657d5d9763f', '2026-11-29 22:28:45.611+00', null, null);
insert into avatar
  (id, account_id, image, created_at)
values
  ('ava_1', 'usr_01m8j4cnraf4w8m1t781rtv6hz', E'\\x89504e47', '2026-11-28 22:29:24.915807+00');
insert into api_key_retired_secret
  (hash, key_id, expires_at, made_by)
values
  (E'\\x152ef49230dff8b0ef9d7905180c417e9c04db9a4ff573dd5807a9b65f0357a3', 'key_01m8j4cw0nezdt561jnwwska8p', '2026-11-28 22:28:45.733+00', null);
insert into integration_domain
  (id, workspace_id, domain, include_subdomains, status, method, token, txt_verified, pending_since, checks,
  failing_since, last_checked_at, last_error, verified_at, next_check_at, event_sequence, created_at)
values
  ('dom_01m8j4crveesq81sywy0b1yb5t', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'd4c4e49a5.example.com', false, 'PENDING', null, '9nv7nhFUFJ1em6pNsGsp0K2oO9i0SWS6', false, '2026-11-28 22:28:42.474+00', 0, null, null, null, null, '2099-01-01 00:00:00+00', 0, '2026-11-28 22:28:42.474+00');
insert into notification
  (id, account_id, type, title, body, severity, resource_type, resource_id, action_url, read_at, created_at)
values
  ('ntf_01m8j4cqa1e54ttg2rt5vtp0yv', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'subscription.created', 'A new member', 'Somebody has subscribed to one of your tiers.', 'INFO', 'SUBSCRIPTION', 'sub_01m8j4cq9cf3487kgbz4sdc95c', 'http://marquee.test/dashboard/monetization/members', null, '2026-11-28 22:28:40.897+00'),
  ('ntf_01m8j4crctebhs9fzmkhh7smfc', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'payment.succeeded', 'A video was sold', 'Somebody has paid for one of your videos.', 'INFO', 'PURCHASE', 'pur_01m8j4cr64f1pt4g7b7dd7ypmg', 'http://marquee.test/dashboard/monetization/sales', null, '2026-11-28 22:28:42.01+00'),
  ('ntf_01m8j4crh8e8685xa6ckcvvmnr', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'api_key.expiring', 'The API key “Back office” expires soon', 'It is refused from 2027-11-20T09:00:00.000Z on. Make another one, or rotate it, before that.', 'WARNING', 'API_KEY', 'key_01kafe3n4pfx2v9yq6m8d7t5zr', 'http://marquee.test/dashboard/keys', null, '2026-11-28 22:28:42.152+00');
insert into notification_preference
  (account_id, email, in_app, types)
values
  ('usr_01m8j4cnraf4w8m1t781rtv6hz', false, true, '{}');
insert into video
  (id, workspace_id, title, description, status, visibility, tier_ids, price_cents, currency, tags, metadata,
  external_id, source, upload_id, import_id, stream_id, session_id, original_key, size_bytes, duration_sec, width,
  height, frame_rate, storage_bytes, progress_percent, error_code, error_message, revision, attempt, image_folder,
  has_storyboard, thumbnail_file, chapters, view_count, published_at, publish_at, event_sequence, created_at,
  updated_at, deleted_at, purged_at, has_preview, retention_said_at, retention_said_for, taken_down_at,
  takedown_reason, processing_notes)
values
  ('vid_01m8j4cphees8sfnrce4syx3sy', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'A video', null, 'UPLOADING', 'PUBLIC', '{}', null, 'USD', '{}', '{}', null, 'UPLOAD', 'upl_01m8j4cphzevjbv913zvfv7zsg', null, null, null, null, null, null, null, null, null, 0, 0, null, null, 0, 0, null, false, null, '[]', 0, null, null, 2, '2026-11-28 22:28:40.11+00', '2026-11-28 22:28:40.301+00', null, null, false, null, null, null, null, '[]'),
  ('vid_01m8j4cpqvfh4taj2f4q1fgkkx', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'A video', null, 'UPLOADING', 'PUBLIC', '{}', null, 'USD', '{}', '{}', null, 'UPLOAD', 'upl_01m8j4cpr1f0gt055krtr7zb2g', null, null, null, null, null, null, null, null, null, 0, 0, null, null, 0, 0, null, false, null, '[]', 0, null, null, 2, '2026-11-28 22:28:40.315+00', '2026-11-28 22:28:40.382+00', null, null, false, null, null, null, null, '[]'),
  ('vid_01m8j4cptaew6rmw5x1me3cmk5', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'a', null, 'UPLOADING', 'PUBLIC', '{}', null, 'USD', '{}', '{}', null, 'UPLOAD', 'upl_01m8j4cpt8e0j9nh7fhyy2j6d6', null, null, null, null, null, null, null, null, null, 10, 0, null, null, 0, 0, null, false, null, '[]', 0, null, null, 1, '2026-11-28 22:28:40.394+00', '2026-11-28 22:28:40.394+00', null, null, false, null, null, null, null, '[]'),
  ('vid_01m8j4cpwffsq9j5d15k6y2qs3', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'a', null, 'UPLOADING', 'PUBLIC', '{}', null, 'USD', '{}', '{}', null, 'UPLOAD', 'upl_01m8j4cpwdey3vmwmj2abc817m', null, null, null, null, null, null, null, null, null, 10, 0, null, null, 0, 0, null, false, null, '[]', 0, null, null, 1, '2026-11-28 22:28:40.463+00', '2026-11-28 22:28:40.463+00', null, null, false, null, null, null, null, '[]'),
  ('vid_01m8j4cpxde83tqr6hvaqezy9b', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'a', null, 'UPLOADING', 'PUBLIC', '{}', null, 'USD', '{}', '{}', null, 'IMPORT', null, 'imp_01m8j4cpx1fw08ag7gsj3g0rsk', null, null, null, null, null, null, null, null, 1, 0, null, null, 0, 0, null, false, null, '[]', 0, null, null, 1, '2026-11-28 22:28:40.493+00', '2026-11-28 22:28:40.493+00', null, null, false, null, null, null, null, '[]'),
  ('vid_01m8j4cr2ces7azjz67g4zf4sp', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'A lesson', null, 'UPLOADING', 'PUBLIC', '{}', null, 'USD', '{}', '{}', null, 'UPLOAD', 'upl_01m8j4cr2kfzha6dbp6b4vkezt', null, null, null, null, null, null, null, null, null, 0, 0, null, null, 0, 0, null, false, null, '[]', 0, null, null, 1, '2026-11-28 22:28:41.676+00', '2026-11-28 22:28:41.676+00', null, null, false, null, null, null, null, '[]'),
  ('vid_01m8j4crvpff4s57v22c8p05bm', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'Evening concert', null, 'READY', 'PUBLIC', '{}', null, 'USD', '{music}', '{}', null, 'UPLOAD', null, null, null, null, 'w/wsp_01m8j4cnvze7xa60z4c4kevybk/v/none/original/none', 1000000, 60, 1920, 1080, 30, 0, 100, null, null, 0, 1, 'r0a1', false, null, '[]', 0, '2026-11-28 22:28:42.486+00', null, 0, '2026-11-28 22:28:42.488875+00', '2026-11-28 22:28:42.488875+00', null, null, false, null, null, null, null, '[]'),
  ('vid_01m8j4cv48frvasym57rf6d9nh', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'A film', null, 'UPLOADING', 'PURCHASE', '{}', 900, 'USD', '{}', '{}', null, 'UPLOAD', 'upl_01m8j4cv4teeevwcbptpxddjyx', null, null, null, null, null, null, null, null, null, 0, 0, null, null, 0, 0, null, false, null, '[]', 0, null, null, 1, '2026-11-28 22:28:44.808+00', '2026-11-28 22:28:44.808+00', null, null, false, null, null, null, null, '[]');
insert into video_rendition
  (video_id, revision, name, kind, status, folder, width, height, frame_rate, codecs, average_bitrate, peak_bitrate,
  size_bytes, progress_percent, track, language, label, channels, is_description, iframe_bitrate, codec, video_range)
values
  ('vid_01m8j4crvpff4s57v22c8p05bm', 0, '1080p', 'VIDEO', 'READY', 'r0a1', 1920, 1080, 30, 'avc1.640028', 3240000, 4320000, 1000, 100, null, null, null, null, false, null, null, 'SDR'),
  ('vid_01m8j4crvpff4s57v22c8p05bm', 0, '360p', 'VIDEO', 'READY', 'r0a1', 640, 360, 30, 'avc1.640028', 1080000, 1440000, 1000, 100, null, null, null, null, false, null, null, 'SDR');
insert into video_caption
  (id, video_id, language, label, is_auto, file, created_at, from_source, "position", is_default)
values
  ('cap_01m8j4cpp6e1ery2dyvwb0ty7w', 'vid_01m8j4cphees8sfnrce4syx3sy', 'en-x-0e841061', 'English', false, 'cap_01m8j4cpp6e1ery2dyvwb0ty7w.vtt', '2026-11-28 22:28:40.301+00', false, 0, false),
  ('cap_01m8j4cprqfx4s4fq77zc3qg62', 'vid_01m8j4cpqvfh4taj2f4q1fgkkx', 'en-x-26d950a7', 'English', false, 'cap_01m8j4cprqfx4s4fq77zc3qg62.vtt', '2026-11-28 22:28:40.382+00', false, 0, false);
insert into video_view
  (video_id, viewer, counted_at)
values
  ('vid_01m8j4crvpff4s57v22c8p05bm', E'\\x07', '2026-11-28 22:29:24.915807+00');
insert into upload
  (id, workspace_id, video_id, status, protocol, token_hash, token_encrypted, cors_origin, filename, mime_type,
  size_bytes, received_bytes, sha256, storage_state, error_code, error_message, expires_at, created_at, ended_at,
  writer, writer_seen_at, has_bytes, replaces, key_id, opened_by)
values
  ('upl_01m8j4cphzevjbv913zvfv7zsg', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'vid_01m8j4cphees8sfnrce4syx3sy', 'WAITING', 'TUS', E'\\xf624e2bed4f8dd29f920d7e2e52a6a8c281b772edceb5abcfef16d0588a44cc8', E'\\x01cbfe2e6a39133ecd4897923e409a8fb63113510db5f34fceb9484ad125ebbaf699de5ef29ee3acaa639c60488b1e5653a22e5f5f606ed1e768dcf1020801c0f94a764bb12ffaa1', null, 'A video', 'application/octet-stream', null, 0, null, '{}', null, null, '2026-12-05 22:28:40.139+00', '2026-11-28 22:28:40.139+00', null, null, null, false, false, 'key_01m8j4cnygfhc8tk6z3kcrsz2v', null),
  ('upl_01m8j4cpr1f0gt055krtr7zb2g', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'vid_01m8j4cpqvfh4taj2f4q1fgkkx', 'WAITING', 'TUS', E'\\x8c9b8efbede24090f8b6c34f9781e6faaeb451521d2994fbab95a26c41228817', E'\\x01fc55b3cc8255b97a0784b9474b97e39ab1a959d4b7a5e9c99e93abdb0e0d7e6a897d322cfc3a078abd705a9306105429e61dbe1baef4ffdad0423b26490b257c8d35716f8c7057', null, 'A video', 'application/octet-stream', null, 0, null, '{}', null, null, '2026-12-05 22:28:40.331+00', '2026-11-28 22:28:40.331+00', null, null, null, false, false, 'key_01m8j4cnygfhc8tk6z3kcrsz2v', null),
  ('upl_01m8j4cpt8e0j9nh7fhyy2j6d6', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'vid_01m8j4cptaew6rmw5x1me3cmk5', 'WAITING', 'TUS', E'\\xdb091045c3b3a15240917d8ff6006b90f1a040edf9c8745b07dbfd3230d869e6', E'\\x01b112dc20c83bddd78ed6aaaa33df11b7471f331f4351494167e2aff9a3fca38e1f72208e0a623f73bb8ed4374d30ba8760b1363b3400712afcf1298e57508e5dd4e417cbac39ff', null, 'a.mp4', 'application/octet-stream', 10, 0, null, '{}', null, null, '2026-12-05 22:28:40.403+00', '2026-11-28 22:28:40.403+00', null, null, null, false, false, 'key_01m8j4cnygfhc8tk6z3kcrsz2v', null),
  ('upl_01m8j4cpwdey3vmwmj2abc817m', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'vid_01m8j4cpwffsq9j5d15k6y2qs3', 'WAITING', 'TUS', E'\\xb0e5def9f8791221f31de9ddf33d5bbccf21d9d9366a35567ff2bc124bb675d8', E'\\x01d043a539a143a65b64f67446319c7bfbd9f0a7d08afa0db276af88a5da248ac56f918e4a75930f7b84adbd828e7dc1b90d7f8fc14da52e5193fe857e77f48ffcb32e87f3b6c3de', null, 'a.mp4', 'application/octet-stream', 10, 0, null, '{}', null, null, '2026-12-05 22:28:40.469+00', '2026-11-28 22:28:40.469+00', null, null, null, false, false, 'key_01m8j4cnygfhc8tk6z3kcrsz2v', null),
  ('upl_01m8j4cr2kfzha6dbp6b4vkezt', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'vid_01m8j4cr2ces7azjz67g4zf4sp', 'WAITING', 'TUS', E'\\xc538bed584d6902eeff48de5810cebd2cd5b5e1bc6abe50b4d522e5e00f7786d', E'\\x01138e02a1d1810804745ae25a238a726c7cff5d4e4c4706ba796b8bc400dd32d20c5346211cb4ba047692fcca5717d5802b941f3f58ccaf4f9e412225abe9588817e49506b0b950', null, 'A lesson', 'application/octet-stream', null, 0, null, '{}', null, null, '2026-12-05 22:28:41.699+00', '2026-11-28 22:28:41.699+00', null, null, null, false, false, 'key_01m8j4cnygfhc8tk6z3kcrsz2v', null),
  ('upl_01m8j4cv4teeevwcbptpxddjyx', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'vid_01m8j4cv48frvasym57rf6d9nh', 'WAITING', 'TUS', E'\\x00c2c865b85cd302b5367348a48187a1e9c7acd0c8b05fe320a7960e4eb040a7', E'\\x016d1904abf3795a0395b79200cf5c2136a960a39e3d1e8636a01d9cbd97e91b83726d7e201ccf0d4527090cdd27b24159b9d5e013156c220e95397883e3833d3af69ea7d4d6c8d8', null, 'A film', 'application/octet-stream', null, 0, null, '{}', null, null, '2026-12-05 22:28:44.884+00', '2026-11-28 22:28:44.884+00', null, null, null, false, false, 'key_01m8j4cnywephstt225cgm569c', null);
insert into job_turn
  (queue, group_id, served_pass, next_pass)
values
  ('video.encode', 'wsp_1', 1, 1.5);
insert into recording
  (session_id, workspace_id, stream_id, video_id, settled_at, ready_said_at, created_at, id, number)
values
  ('ses_01m8j4cp7qfkeb8xthsxvxaxe2', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'str_01m8j4cp26e59rfam24eyse29j', 'vid_01m8j4crvpff4s57v22c8p05bm', '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', 'rec_1', 1);
insert into recording_part
  (id, recording_id, node_id, started_at, seen_at, has_media, closed_at, size_bytes, held_bytes)
values
  ('rcp_1', 'rec_1', 'node-1', '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', true, '2026-11-28 22:29:24.915807+00', 1000, 0);
insert into import
  (id, workspace_id, video_id, source_url, provider, status, title, visibility, metadata, bytes_total, bytes_received,
  validator, storage_state, error_code, error_message, event_sequence, created_at, completed_at, replaces)
values
  ('imp_01m8j4cpx1fw08ag7gsj3g0rsk', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'vid_01m8j4cpxde83tqr6hvaqezy9b', 'https://files.example.com/a.mp4', 'URL', 'COMPLETED', 'a', 'PUBLIC', '{}', null, 0, null, null, null, null, 0, '2026-11-28 22:28:40.511+00', '2026-11-28 22:31:28.629459+00', false);
insert into playlist
  (id, workspace_id, title, description, visibility, thumbnail_video_id, event_sequence, created_at, updated_at)
values
  ('pls_01m8j4cpv4fsg88fw0as3p71rb', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'A playlist', null, 'PUBLIC', null, 2, '2026-11-28 22:28:40.42+00', '2026-11-28 22:28:40.447+00');
insert into playlist_item
  (id, playlist_id, video_id, "position", note, start_sec, stop_sec, added_at)
values
  ('pli_01m8j4cpvvf0pv5701dakedv1r', 'pls_01m8j4cpv4fsg88fw0as3p71rb', 'vid_01m8j4cptaew6rmw5x1me3cmk5', 0, null, null, null, '2026-11-28 22:28:40.441+00');
insert into video_processing
  (video_id, revision, source, ladder, mode, align_to_source, images_done, revivals, touched_at, captions_done)
values
  ('vid_01m8j4crvpff4s57v22c8p05bm', 0, '{}', '{}', 'WHOLE', false, true, 0, '2026-11-28 22:29:24.915807+00', true);
insert into video_chunk
  (video_id, revision, number, start_sec, duration_sec, source_key, folder, progress_percent)
values
  ('vid_01m8j4crvpff4s57v22c8p05bm', 0, 0, 0, 10, 'w/x/c0', 'r0a1', 100);
insert into video_folder
  (video_id, revision, number)
values
  ('vid_01m8j4crvpff4s57v22c8p05bm', 0, 1);
insert into transcode_node
  (id, slots, seen_at)
values
  ('nod_01m8j4cmjnf34t0czx0j332qpw', 1, '2026-11-28 22:28:47.227+00');
insert into signal_simulation
  (stream_id, workspace_id, until, node_id, seen_at)
values
  ('str_01m8j4cp26e59rfam24eyse29j', 'wsp_01m8j4cnvze7xa60z4c4kevybk', '2026-11-28 00:00:00+00', null, null);
insert into user_token
  (id, account_id, expires_at)
values
  ('c0a40ab1-04a2-4d07-be3c-96e29d02acfa', 'usr_01m8j4cnraf4w8m1t781rtv6hz', '2026-11-28 23:28:39.431+00');
insert into sign_in_place
  (account_id, place, seen_at, network)
values
  ('usr_01m8j4cnraf4w8m1t781rtv6hz', E'\\xc8012ec621caa043cb23b6add7e65c3f6bce76feefafd4d29979594c6c046998', '2026-11-28 22:28:45.469+00', E'\\x0454082df3cb7c42b7ec84d4c22938714cebcf6f799a3dec00166167aa8f0a5e');
insert into support_ticket
  (id, account_id, workspace_id, number, subject, category, priority, status, request_id, event_sequence,
  last_message_at, resolved_at, created_at, reporter_email, reported_type, reported_id)
values
  ('tkt_01m8j4crn7e4gs19wr5cm0y4pb', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 1, 'A question', 'OTHER', 'NORMAL', 'OPEN', null, 0, '2026-11-28 22:28:42.279+00', null, '2026-11-28 22:28:42.279+00', null, null, null);
insert into support_message
  (id, ticket_id, author, message, created_at)
values
  ('tkm_01m8j4crndesfrg1ctakzj55pf', 'tkt_01m8j4crn7e4gs19wr5cm0y4pb', 'PARTNER', 'Why?', '2026-11-28 22:28:42.279+00');
insert into viewer_salt
  (day, salt_encrypted)
values
  ('2026-11-28', E'\\x06');
insert into stream_viewer
  (stream_id, viewer, session_id, salt_day, has_beacon, present_until, is_counted)
values
  ('str_01m8j4cp26e59rfam24eyse29j', E'\\x05', null, '2026-11-28', true, '2026-11-28 22:30:45.086312+00', true);
insert into watched_stream
  (stream_id, sampled_at, sampled_viewers)
values
  ('str_01m8j4cp26e59rfam24eyse29j', '2026-11-28 22:30:45.092133+00', 1);
insert into stream_log_head
  (stream_id, tail, seq, at)
values
  ('str_01m8j4cp26e59rfam24eyse29j', 'STATUS', 1, '2026-11-28 22:28:39.775+00'),
  ('str_01m8j4cp26e59rfam24eyse29j', 'CHAT', 1, '2026-11-28 22:28:39.835+00'),
  ('str_01m8j4cp26e59rfam24eyse29j', 'RESTREAM', 1, '2026-11-28 22:28:39.883+00');
insert into stream_log
  (stream_id, tail, seq, at, event, body)
values
  ('str_01m8j4cp26e59rfam24eyse29j', 'STATUS', 1, '2026-11-28 22:28:39.775+00', 'status', '{"streamId":"str_01m8j4cp26e59rfam24eyse29j","hasSignal":true,"isLive":false,"status":"PREVIEW","startedAt":null,"endedAt":null,"health":null,"changed":["hasSignal","status"],"at":"2026-11-28T22:28:39.775Z"}'),
  ('str_01m8j4cp26e59rfam24eyse29j', 'CHAT', 1, '2026-11-28 22:28:39.835+00', 'message', '{"id":"msg_01m8j4cp8vft6tyd3x2td1n0v0","streamId":"str_01m8j4cp26e59rfam24eyse29j","eventId":"1795904919835-1","kind":"MESSAGE","text":"A message","author":{"id":"usr_01m8j4cnraf4w8m1t781rtv6hz","username":"ada","displayName":"Ada Lovelace","avatarUrl":null,"badges":["CREATOR"]},"replyToId":null,"createdAt":"2026-11-28T22:28:39.835Z","deletedAt":null}'),
  ('str_01m8j4cp26e59rfam24eyse29j', 'RESTREAM', 1, '2026-11-28 22:28:39.883+00', 'restream', '{"streamId":"str_01m8j4cp26e59rfam24eyse29j","restream":{"id":"rst_01m8j4cpabf1fs6a9emh5pbyg2","name":"A stream","streamId":"str_01m8j4cp26e59rfam24eyse29j","enabled":true,"status":"IDLE","startMode":"WITH_BROADCAST","targets":[{"id":"rtg_01m8j4cpaef5vrtq0sc7yq1rqv","name":"live.example.com","platform":"CUSTOM","url":"rtmp://live.example.com/app","streamKeyLast4":"-key","hasPassphrase":false,"enabled":true,"status":"IDLE","errorSeverity":null,"errorMessage":null,"retryCount":0,"nextRetryAt":null,"connectedAt":null,"bitrateKbps":null,"lastFailureAt":null,"lastFailureMessage":null}],"startedAt":null,"stoppedAt":null,"createdAt":"2026-11-28T22:28:39.883Z","updatedAt":"2026-11-28T22:28:39.883Z"},"deleted":false,"at":"2026-11-28T22:28:39.883Z"}');
insert into request_log
  (id, workspace_id, request_id, key_id, method, path, status, code, ms, created_at)
values
  ('req_01m8j4cnxpe4bartv92pqsk368', 'wsp_01m8j4cnk3fshvfhzf06sbr3ft', 'be344111-f589-4494-b00f-ea3cb6d3a603', 'key_01m8j4cnkhfg2vf0khxnc9bwpr', 'POST', '/api/v1/auth/register', 201, null, 245.1, '2026-11-28 22:28:39.478+00'),
  ('req_01m8j4cp6hens8rhf7py99b7mr', 'wsp_01m8j4cnvze7xa60z4c4kevybk', '87bfd930-e1f7-4759-883c-a3b933441bc8', 'key_01m8j4cnygfhc8tk6z3kcrsz2v', 'POST', '/api/v1/streams', 201, null, 232.5, '2026-11-28 22:28:39.761+00');
insert into user_session
  (id, account_id, hash, token_epoch, created_at, last_seen_at, password_checked_at, ip, user_agent)
values
  ('uss_01m8j4cvreeay8yk1gf6033bpp', 'usr_01m8j4cnraf4w8m1t781rtv6hz', E'\\x61f8908972a27812678f2b4fee19adec3bb16ea4e1b08e999952144725bf02be', 0, '2026-11-28 22:28:45.455+00', '2026-11-28 22:28:45.455+00', '2026-11-28 22:28:45.455+00', '127.0.0.1', 'test browser');
insert into registration_invite
  (hash, email, created_at, expires_at, used_at)
values
  (E'\\x3af0f620181f1128dfbf3421464f551381f6c755915c0ceb4812ef3657d4af7c', '8b5c2375-e164-41ef-aa9b-ecd4fb761249@example.com', '2026-11-28 22:28:42.34+00', '2026-12-05 22:28:42.328+00', null);
insert into stream_health_point
  (stream_id, at, bitrate_kbps, fps, keyframe_interval_ms, dropped_frames, late_frames, av_drift_ms)
values
  ('str_1', '2026-11-28 22:29:24.915807+00', 3000, 30, 2000, 0, 0, 5);
insert into chat_message
  (id, stream_id, seq, at, text, author_id, guest_name, reply_to_id, client_id, created_at, deleted_at, kind)
values
  ('msg_01m8j4cp8vft6tyd3x2td1n0v0', 'str_01m8j4cp26e59rfam24eyse29j', 1, '2026-11-28 22:28:39.835+00', 'A message', 'usr_01m8j4cnraf4w8m1t781rtv6hz', null, null, null, '2026-11-28 22:28:39.835+00', null, 'MESSAGE');
insert into chat_ban
  (id, stream_id, author_id, expires_at, created_at)
values
  ('ban_01m8j4cp9ken5t1dkdjm99pbtp', 'str_01m8j4cp26e59rfam24eyse29j', 'gst_01kafe3n4pfx2v9yq6m8d7t5zr', null, '2026-11-28 22:28:39.854+00');
insert into restream
  (id, workspace_id, stream_id, name, enabled, start_mode, wish, is_running, event_sequence, started_at, stopped_at,
  created_at, updated_at, operation_id)
values
  ('rst_01m8j4cpabf1fs6a9emh5pbyg2', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'str_01m8j4cp26e59rfam24eyse29j', 'A stream', true, 'WITH_BROADCAST', 'AUTO', false, 1, null, null, '2026-11-28 22:28:39.883+00', '2026-11-28 22:28:39.883+00', null);
insert into restream_target
  (id, restream_id, name, platform, url, stream_key, stream_key_last4, enabled, state, error_severity, error_message,
  retry_count, next_retry_at, connected_at, bitrate_kbps, last_failure_at, last_failure, revision, node_id,
  lease_until, created_at, updated_at, passphrase)
values
  ('rtg_01m8j4cpaef5vrtq0sc7yq1rqv', 'rst_01m8j4cpabf1fs6a9emh5pbyg2', 'live.example.com', 'CUSTOM', 'rtmp://live.example.com/app', E'\\x01f4488a93e00d798b1164b9a7e134e98684ecd69f6bd0bccb649e0af529c6725c180695e59b9df1b6', '-key', true, 'IDLE', null, null, 0, null, null, null, null, null, 1, null, null, '2026-11-28 22:28:39.883+00', '2026-11-28 22:28:39.883+00', null);
insert into room
  (id, workspace_id, name, description, status, max_participants, empty_timeout_sec, departure_timeout_sec,
  max_duration_sec, auto_end_when_alone_sec, scheduled_start_at, expires_at, record_enabled, waiting_room,
  can_publish, can_subscribe, can_publish_data, can_screen_share, metadata, recording_since, recording_video_ids,
  started_at, peak_participants, empty_since, alone_since, ended_at, end_reason, event_sequence, created_at,
  updated_at, record_layout)
values
  ('room_01m8j4cpczec8sc6fpn32q3ae6', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'A room', null, 'CREATED', 4, 300, 20, null, null, null, null, false, false, true, true, true, true, '{}', null, '{}', null, 0, null, null, null, null, 1, '2026-11-28 22:28:39.962+00', '2026-11-28 22:28:39.962+00', 'GRID');
insert into room_participant
  (id, room_id, identity, name, role, can_publish, can_subscribe, can_publish_data, can_screen_share, state,
  leave_reason, connection_id, node_id, away_since, audio, video, screen, audio_muted, video_muted, screen_muted,
  hand, created_at, joined_at, left_at, bridge_id, counted_until)
values
  ('prt_1', 'room_01m8j4cpczec8sc6fpn32q3ae6', 'person-2', null, 'HOST', true, true, true, true, 'LEFT', 'CLIENT', null, null, null, false, false, false, false, false, false, false, '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', null, '2026-11-28 22:29:24.915807+00');
insert into room_ban
  (room_id, identity, created_at)
values
  ('room_01m8j4cpczec8sc6fpn32q3ae6', 'person-1', '2026-11-28 22:29:24.915807+00');
insert into room_node
  (id, seen_at)
values
  ('node-1', '2026-11-28 22:29:24.915807+00');
insert into room_message
  (id, room_id, node_id, recipient, body, created_at)
values
  ('rms_1', 'rom_1', 'node-1', null, '{}', '2026-11-28 22:29:24.915807+00');
insert into room_recording
  (id, workspace_id, room_id, title, layout, node_id, started_at, ended_at, end_reason, held_bytes, collected_at,
  video_id, settled_at, ready_said_at, deleted_room_id, deleted_room_sequence)
values
  ('rrc_1', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'room_01m8j4cpczec8sc6fpn32q3ae6', 'A room', 'GRID', 'node-1', '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', null, 0, '2026-11-28 22:29:24.915807+00', null, '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', null, null);
insert into bridge
  (id, workspace_id, type, source_id, source_url, source_url_shown, target_id, layout, auto_restart, status, error,
  end_reason, retry_count, next_retry_at, node_id, lease_until, event_sequence, expires_at, started_at, stopped_at,
  created_at)
values
  ('brg_01m8j4cpbve1qbnfycdfb1ynf6', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'PULL_TO_STREAM', null, E'\\x0155e2872d358a20607841a7c08b86d618708baba73493b3272e5c59574ab0b8e965aca1b2c1068756df6dc7db191954108f69d252bad5dddecf6231', 'https://live.example.com/a.m3u8', 'str_01m8j4cpbgeqgsbwxzj8pnwczk', null, false, 'PENDING', null, null, 0, null, null, null, 0, null, null, null, '2026-11-28 22:28:39.938+00');
insert into tier
  (id, workspace_id, name, description, price_cents, "interval", trial_days, benefits, "position", is_active,
  max_members, member_count, claimed_count, event_sequence, created_at, updated_at, archived_at)
values
  ('tier_01m8j4cpypfb891m5srb8vgjha', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'A tier', null, 500, 'MONTH', 0, '{}', 0, true, null, 0, 0, 1, '2026-11-28 22:28:40.534+00', '2026-11-28 22:28:40.534+00', null),
  ('tier_01m8j4cq8herrt2q6gsar9e67f', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'A tier', null, 500, 'MONTH', 0, '{}', 0, false, null, 0, 0, 1, '2026-11-28 22:28:40.849+00', '2026-11-28 22:28:40.849+00', null),
  ('tier_01m8j4cq8xenmb8bnaf99pdtvz', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'A free tier', null, 0, 'MONTH', 0, '{}', 0, true, null, 1, 0, 1, '2026-11-28 22:28:40.861+00', '2026-11-28 22:28:40.861+00', null),
  ('tier_01m8j4crwrftxsmjvmqx9arr63', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'Patron', null, 1200, 'YEAR', 0, '{}', 0, true, null, 1, 0, 1, '2026-11-28 22:28:42.52+00', '2026-11-28 22:28:42.52+00', null);
insert into discount_code
  (id, workspace_id, code, product_id, percent_off, amount_cents_off, max_uses, used_count, claimed_count, is_active,
  expires_at, expiry_told_at, notes, event_sequence, created_at, updated_at)
values
  ('dsc_01m8j4cqx1fpzsgf4qjdq1qdgm', 'wsp_01m8j4cnvze7xa60z4c4kevybk', '6B003236-DBF2-4437-8C03-BC73F4BD656C', null, 10, null, null, 0, 0, true, null, null, null, 0, '2026-11-28 22:28:41.505+00', '2026-11-28 22:28:41.505+00'),
  ('dsc_01m8j4cvp1eyda1dkggbqhhjzw', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'SUMMER', null, 10, null, null, 0, 0, true, null, null, null, 0, '2026-11-28 22:28:45.377+00', '2026-11-28 22:28:45.377+00');
insert into customer
  (id, workspace_id, email, name, provider, provider_ref, method_ref, card_brand, card_last4, card_exp_month,
  card_exp_year, card_expiry_told, trial_used_at, created_at, updated_at)
values
  ('cus_01m8j4cq97fpttszyp91q17r00', 'wsp_01m8j4cnvze7xa60z4c4kevybk', '3cea0679-1bf2-481b-a827-91391d77e0a8@example.com', null, null, null, null, null, null, null, null, null, null, '2026-11-28 22:28:40.871+00', '2026-11-28 22:28:40.871+00'),
  ('cus_01m8j4cqn5f9p9628kd4sc0k1f', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'ann@example.com', 'Ann', null, null, null, null, null, null, null, null, null, '2026-11-28 22:28:41.253+00', '2026-11-28 22:28:41.253+00'),
  ('cus_01m8j4cr5pfzwv974aca8k0bpv', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'cus_01m8j4cr5nf5ma17kgsc20zxt1@example.com', 'Grace', 'SANDBOX', 'sbc_cus_01m8j4cr5pfzwv974aca8k0bpv', null, null, null, null, null, null, null, '2026-11-28 22:28:41.782+00', '2026-11-28 22:28:41.782+00'),
  ('cus_01m8j4cs2me7eanyv78yfrdnfh', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'ann@example.com', 'Ann', 'SANDBOX', 'sbc_cus_01m8j4cs2me7eanyv78yfrdnfh', null, null, null, null, null, null, null, '2026-11-28 22:28:42.708+00', '2026-11-28 22:28:43.336+00'),
  ('cus_01m8j4ctnqeypbwk76q4q9rppc', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'bob@example.com', 'Bob', null, null, null, null, null, null, null, null, null, '2026-11-28 22:28:44.343+00', '2026-11-28 22:28:45.112+00');
insert into checkout
  (id, workspace_id, kind, status, tier_id, video_id, booking_id, amount_cents, discount_cents, discount_code_id,
  discount_code, customer_email, customer_id, subscription_id, purchase_id, success_url, cancel_url,
  client_reference_id, metadata, operation_id, claimed_until, event_sequence, expires_at, completed_at, created_at,
  title, "interval", trial_days, payment_id, attempt_count, product_id)
values
  ('chk_01m8j4cq6eft5tvfct5qca6850', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'SUBSCRIPTION', 'OPEN', 'tier_01m8j4cpypfb891m5srb8vgjha', null, null, 500, 0, null, null, null, null, null, null, 'http://marquee.test', 'http://marquee.test', null, '{}', null, null, 1, '2026-11-29 22:28:40.782+00', null, '2026-11-28 22:28:40.779+00', 'A tier', 'MONTH', 0, null, 0, null),
  ('chk_01m8j4cqmne8q9mmgx9gm9qvyd', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'BOOKING', 'COMPLETED', null, null, 'bkg_01m8j4cqm4escsmv8jeedk29kv', 0, 0, null, null, 'ann@example.com', 'cus_01m8j4cqn5f9p9628kd4sc0k1f', null, 'pur_01m8j4cqnaf78twz3ymgjp1tza', 'http://marquee.test', 'http://marquee.test', null, '{}', null, null, 2, '2026-11-28 22:58:41.247+00', '2026-11-28 22:28:41.359+00', '2026-11-28 22:28:41.215+00', 'A lesson, Monday, 30 November 2026 at 00:00 (UTC)', null, 0, null, 1, 'bkp_01m8j4cqbef7bvwcp03xadr192'),
  ('chk_01m8j4crx7fsf991511dkanman', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'SUBSCRIPTION', 'COMPLETED', 'tier_01m8j4crwrftxsmjvmqx9arr63', null, null, 1200, 0, null, null, 'ann@example.com', 'cus_01m8j4cs2me7eanyv78yfrdnfh', 'sub_01m8j4csatevrvhxjr81fv1dk5', 'pur_01m8j4cs6pft8vxeemhatfhf0c', 'http://marquee.test/thanks', 'http://marquee.test/offers', null, '{}', null, null, 2, '2026-11-29 22:28:42.535+00', '2026-11-28 22:28:43.02+00', '2026-11-28 22:28:42.531+00', 'Patron', 'YEAR', 0, null, 1, null),
  ('chk_01m8j4cteze7as0wqnks36ss0b', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'BOOKING', 'COMPLETED', null, null, 'bkg_01m8j4ctekegqr52knb52pddsz', 5000, 0, null, null, 'bob@example.com', 'cus_01m8j4ctnqeypbwk76q4q9rppc', null, 'pur_01m8j4ctp0fyavatsn70w2g69d', 'http://marquee.test/thanks?order=1', 'http://marquee.test/offers', null, '{}', null, null, 2, '2026-11-29 22:28:44.103+00', '2026-11-28 22:28:44.653+00', '2026-11-28 22:28:44.091+00', 'A class, Wednesday, 2 December 2026 at 00:00 (Europe/Berlin)', null, 0, null, 1, 'bkp_01m8j4ct6zec9t77fqkvp37t3j'),
  ('chk_01m8j4csn0e9cbr383p520pdjm', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'BOOKING', 'COMPLETED', null, null, 'bkg_01m8j4csm5e0n9k5xsenkveva2', 5000, 0, null, null, 'ann@example.com', 'cus_01m8j4cs2me7eanyv78yfrdnfh', null, 'pur_01m8j4cspeenfve8tx1gnharyq', 'http://marquee.test/thanks?order=1', 'http://marquee.test/offers', null, '{}', null, null, 2, '2026-11-28 22:58:43.33+00', '2026-11-28 22:28:43.84+00', '2026-11-28 22:28:43.251+00', 'A lesson, Tuesday, 1 December 2026 at 00:00 (Europe/Berlin)', null, 0, null, 1, 'bkp_01m8j4csf2f438yr5w4wyp9wdy'),
  ('chk_01m8j4cv9nettbf9m54k1tx7fw', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'VIDEO', 'COMPLETED', null, 'vid_01m8j4cv48frvasym57rf6d9nh', null, 900, 0, null, null, 'bob@example.com', 'cus_01m8j4ctnqeypbwk76q4q9rppc', null, 'pur_01m8j4cve2fc6tpb09mkh9b0mv', 'http://marquee.test/thanks', 'http://marquee.test/offers', null, '{}', null, null, 2, '2026-11-29 22:28:44.981+00', '2026-11-28 22:28:45.194+00', '2026-11-28 22:28:44.979+00', 'A film', null, 0, null, 1, null);
insert into subscription
  (id, workspace_id, tier_id, customer_id, checkout_id, status, price_cents, "interval", anchor_at, timezone,
  next_period_month, current_period_start, current_period_end, trial_ends_at, pending_price_cents, pending_tier_id,
  cancel_at_period_end, canceled_at, ended_at, cancel_reason, purchase_id, is_disputed, failed_attempts,
  next_charge_at, payment_id, reminded_period, discount_code, client_reference_id, event_sequence, created_at,
  updated_at, charge_kind, charge_tier_id, charge_price_cents, charge_interval, charge_period_month, discount_cents,
  card_expiry_told, upgrade_purchase_id, pending_interval, price_told_at, asks_before_charge, migrated_price_cents,
  payment_method, upgrades)
values
  ('sub_01m8j4cq9cf3487kgbz4sdc95c', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'tier_01m8j4cq8xenmb8bnaf99pdtvz', 'cus_01m8j4cq97fpttszyp91q17r00', null, 'ACTIVE', 0, 'MONTH', '2026-11-28 22:28:40.873+00', 'UTC', 1, '2026-11-28 22:28:40.873+00', '2099-01-01 00:00:00+00', null, null, null, false, null, null, null, null, false, 0, '2099-01-01 00:00:00+00', null, null, null, null, 1, '2026-11-28 22:28:40.873+00', '2026-11-28 22:28:40.873+00', null, null, null, null, null, 0, null, 'pur_1', null, null, true, null, null, '[]'),
  ('sub_01m8j4csatevrvhxjr81fv1dk5', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'tier_01m8j4crwrftxsmjvmqx9arr63', 'cus_01m8j4cs2me7eanyv78yfrdnfh', 'chk_01m8j4crx7fsf991511dkanman', 'ACTIVE', 1200, 'YEAR', '2026-11-28 22:28:42.988+00', 'UTC', 12, '2026-11-28 22:28:42.988+00', '2099-01-01 00:00:00+00', null, null, null, false, null, null, null, 'pur_01m8j4cs6pft8vxeemhatfhf0c', false, 0, '2099-01-01 00:00:00+00', null, null, null, null, 1, '2026-11-28 22:28:42.988+00', '2026-11-28 22:28:42.988+00', null, null, null, null, null, 0, null, 'pur_1', null, null, true, null, '{"brand": "visa", "last4": "4242", "expYear": 2030, "expMonth": 12, "provider": "SANDBOX", "methodRef": "sbm_c942da365f850f417bf19401441d5f6a", "customerRef": "sbc_cus_01m8j4cs2me7eanyv78yfrdnfh"}', '[]');
insert into member_link
  (token_hash, customer_id, expires_at, created_at, used_at)
values
  (E'\\x4db10565e338c944ab4f378037756b9313fee174b6ba1016c6f9ce62fbc8e91a', 'cus_01m8j4cs2me7eanyv78yfrdnfh', '2026-11-28 22:43:45.298+00', '2026-11-28 22:28:45.298+00', '2026-11-28 22:28:45.355+00');
insert into member_session
  (token_hash, customer_id, workspace_id, expires_at, created_at)
values
  (E'\\xbb49c55a553751dfc1595dffbe8dc60a7b6201f6adfd2b3c7c2510710d18f0c1', 'cus_01m8j4cs2me7eanyv78yfrdnfh', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', '2026-11-29 22:28:45.355+00', '2026-11-28 22:28:45.355+00');
insert into purchase
  (id, workspace_id, customer_id, kind, video_id, booking_id, subscription_id, tier_id, product_id, checkout_id,
  status, status_before_dispute, amount_cents, discount_cents, discount_code, fee_cents, refunded_cents,
  fee_refunded_cents, payment_id, paid_at, event_sequence, created_at)
values
  ('pur_01m8j4cqnaf78twz3ymgjp1tza', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'cus_01m8j4cqn5f9p9628kd4sc0k1f', 'BOOKING', null, 'bkg_01m8j4cqm4escsmv8jeedk29kv', null, null, 'bkp_01m8j4cqbef7bvwcp03xadr192', 'chk_01m8j4cqmne8q9mmgx9gm9qvyd', 'PAID', null, 0, 0, null, 0, 0, 0, 'pay_01m8j4cqnpe3v974w60kfk9z2s', '2026-11-28 22:28:41.275+00', 1, '2026-11-28 22:28:41.258+00'),
  ('pur_01m8j4cr64f1pt4g7b7dd7ypmg', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'cus_01m8j4cr5pfzwv974aca8k0bpv', 'VIDEO', 'vid_01m8j4cr5xe3x8emg6npmsp2sn', null, null, null, null, null, 'PAID', null, 1000, 0, null, 0, 0, 0, 'pay_01m8j4cr6aezfakxr01xpa4ek3', '2026-11-28 22:28:41.997+00', 1, '2026-11-28 22:28:41.796+00'),
  ('pur_01m8j4cs6pft8vxeemhatfhf0c', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'cus_01m8j4cs2me7eanyv78yfrdnfh', 'SUBSCRIPTION', null, null, 'sub_01m8j4csatevrvhxjr81fv1dk5', 'tier_01m8j4crwrftxsmjvmqx9arr63', null, 'chk_01m8j4crx7fsf991511dkanman', 'PAID', null, 1200, 0, null, 0, 0, 0, 'pay_01m8j4cs6qewb9rjptpscsgxjq', '2026-11-28 22:28:42.967+00', 1, '2026-11-28 22:28:42.838+00'),
  ('pur_01m8j4cspeenfve8tx1gnharyq', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'cus_01m8j4cs2me7eanyv78yfrdnfh', 'BOOKING', null, 'bkg_01m8j4csm5e0n9k5xsenkveva2', null, null, 'bkp_01m8j4csf2f438yr5w4wyp9wdy', 'chk_01m8j4csn0e9cbr383p520pdjm', 'PAID', null, 5000, 0, null, 0, 0, 0, 'pay_01m8j4csq3exn8e802f4fckm5y', '2026-11-28 22:28:43.397+00', 1, '2026-11-28 22:28:43.342+00'),
  ('pur_01m8j4ctp0fyavatsn70w2g69d', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'cus_01m8j4ctnqeypbwk76q4q9rppc', 'BOOKING', null, 'bkg_01m8j4ctekegqr52knb52pddsz', null, null, 'bkp_01m8j4ct6zec9t77fqkvp37t3j', 'chk_01m8j4cteze7as0wqnks36ss0b', 'PAID', null, 5000, 0, null, 0, 0, 0, 'pay_01m8j4ctpbfncb3ea11md8rbh4', '2026-11-28 22:28:44.506+00', 1, '2026-11-28 22:28:44.353+00'),
  ('pur_01m8j4cve2fc6tpb09mkh9b0mv', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'cus_01m8j4ctnqeypbwk76q4q9rppc', 'VIDEO', 'vid_01m8j4cv48frvasym57rf6d9nh', null, null, null, null, 'chk_01m8j4cv9nettbf9m54k1tx7fw', 'PAID', null, 900, 0, null, 0, 0, 0, 'pay_01m8j4cve7fxbt390p0actvgwh', '2026-11-28 22:28:45.182+00', 1, '2026-11-28 22:28:45.122+00');
insert into payment
  (id, workspace_id, purchase_id, type, status, amount_cents, provider, provider_ref, provider_key, request,
  action_url, failure_code, failure_message, request_id, reason, outcome, asked_at, next_look_at, settled_at,
  event_sequence, created_at, payment_method, next_ask_at)
values
  ('pay_01m8j4cqnpe3v974w60kfk9z2s', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'pur_01m8j4cqnaf78twz3ymgjp1tza', 'CHARGE', 'SUCCEEDED', 0, 'NONE', null, 'chk_01m8j4cqmne8q9mmgx9gm9qvyd:1', '{"card": null, "cancelUrl": "http://marquee.test/checkout/chk_01m8j4cqmne8q9mmgx9gm9qvyd/return", "expiresAt": "2026-11-28T22:58:41.270Z", "returnUrl": "http://marquee.test/checkout/chk_01m8j4cqmne8q9mmgx9gm9qvyd/return", "accountRef": null, "saveMethod": false, "description": "A lesson, Monday, 30 November 2026 at 00:00 (UTC)"}', null, null, null, null, null, null, null, null, '2026-11-28 22:28:41.275+00', 0, '2026-11-28 22:28:41.27+00', null, null),
  ('pay_01m8j4csq3exn8e802f4fckm5y', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'pur_01m8j4cspeenfve8tx1gnharyq', 'CHARGE', 'SUCCEEDED', 5000, 'SANDBOX', 'sbp_4ba0ee0638992385bb803d6f39638d05', 'chk_01m8j4csn0e9cbr383p520pdjm:1', '{"card": "4242424242424242", "cancelUrl": "http://marquee.test/checkout/chk_01m8j4csn0e9cbr383p520pdjm/return", "expiresAt": "2026-11-28T22:58:43.363Z", "returnUrl": "http://marquee.test/checkout/chk_01m8j4csn0e9cbr383p520pdjm/return", "accountRef": null, "saveMethod": false, "description": "A lesson, Tuesday, 1 December 2026 at 00:00 (Europe/Berlin)"}', null, null, null, null, null, null, '2026-11-28 22:28:43.389+00', null, '2026-11-28 22:28:43.397+00', 0, '2026-11-28 22:28:43.363+00', null, null),
  ('pay_01m8j4cr6aezfakxr01xpa4ek3', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'pur_01m8j4cr64f1pt4g7b7dd7ypmg', 'CHARGE', 'SUCCEEDED', 1000, 'SANDBOX', 'sbp_e8086fb032b10c90e528b711b6bc7037', 'chk_01m8j4cr5xe3x8emg6nrmk2v6t', '{"card": "4242424242424242", "cancelUrl": "http://marquee.test/", "expiresAt": "2026-11-28T22:58:41.802Z", "returnUrl": "http://marquee.test/back", "accountRef": null, "saveMethod": true, "description": "A film"}', null, null, null, null, null, null, '2026-11-28 22:28:41.889+00', null, '2026-11-28 22:28:41.997+00', 0, '2026-11-28 22:28:41.802+00', '{"brand": "visa", "last4": "4242", "expYear": 2030, "expMonth": 12, "provider": "SANDBOX", "methodRef": "sbm_6dccdab6dd38464311dac70a10ba06ee", "customerRef": "sbc_cus_01m8j4cr5pfzwv974aca8k0bpv"}', null),
  ('pay_01m8j4cs6qewb9rjptpscsgxjq', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'pur_01m8j4cs6pft8vxeemhatfhf0c', 'CHARGE', 'SUCCEEDED', 1200, 'SANDBOX', 'sbp_6cb2bb3f10144e3407e2de6ea442a38d', 'chk_01m8j4crx7fsf991511dkanman:1', '{"card": "4242424242424242", "cancelUrl": "http://marquee.test/checkout/chk_01m8j4crx7fsf991511dkanman/return", "expiresAt": "2026-11-28T22:58:42.839Z", "returnUrl": "http://marquee.test/checkout/chk_01m8j4crx7fsf991511dkanman/return", "accountRef": null, "saveMethod": true, "description": "Patron"}', null, null, null, null, null, null, '2026-11-28 22:28:42.856+00', null, '2026-11-28 22:28:42.967+00', 0, '2026-11-28 22:28:42.839+00', '{"brand": "visa", "last4": "4242", "expYear": 2030, "expMonth": 12, "provider": "SANDBOX", "methodRef": "sbm_c942da365f850f417bf19401441d5f6a", "customerRef": "sbc_cus_01m8j4cs2me7eanyv78yfrdnfh"}', null),
  ('pay_01m8j4cve7fxbt390p0actvgwh', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'pur_01m8j4cve2fc6tpb09mkh9b0mv', 'CHARGE', 'SUCCEEDED', 900, 'SANDBOX', 'sbp_63230934e47afa130abbcc32a1ff2995', 'chk_01m8j4cv9nettbf9m54k1tx7fw:1', '{"card": "4242424242424242", "cancelUrl": "http://marquee.test/checkout/chk_01m8j4cv9nettbf9m54k1tx7fw/return", "expiresAt": "2026-11-28T22:58:45.127Z", "returnUrl": "http://marquee.test/checkout/chk_01m8j4cv9nettbf9m54k1tx7fw/return", "accountRef": null, "saveMethod": false, "description": "A film"}', null, null, null, null, null, null, '2026-11-28 22:28:45.148+00', null, '2026-11-28 22:28:45.182+00', 0, '2026-11-28 22:28:45.127+00', null, null),
  ('pay_01m8j4ctpbfncb3ea11md8rbh4', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'pur_01m8j4ctp0fyavatsn70w2g69d', 'CHARGE', 'SUCCEEDED', 5000, 'SANDBOX', 'sbp_37b37ece0f93ef8465fcb8d46c35175c', 'chk_01m8j4cteze7as0wqnks36ss0b:1', '{"card": "4242424242424242", "cancelUrl": "http://marquee.test/checkout/chk_01m8j4cteze7as0wqnks36ss0b/return", "expiresAt": "2026-11-28T22:58:44.363Z", "returnUrl": "http://marquee.test/checkout/chk_01m8j4cteze7as0wqnks36ss0b/return", "accountRef": null, "saveMethod": false, "description": "A class, Wednesday, 2 December 2026 at 00:00 (Europe/Berlin)"}', null, null, null, null, null, null, '2026-11-28 22:28:44.379+00', null, '2026-11-28 22:28:44.506+00', 0, '2026-11-28 22:28:44.363+00', null, null);
insert into provider_event
  (provider, id, kind, object_ref, account_ref, received_at, handled_at, attempts, next_attempt_at, error)
values
  ('SANDBOX', 'evt_1', 'PAYMENT', 'sbp_1', null, '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', 0, null, null);
insert into connect_account
  (workspace_id, provider, provider_ref, charges_enabled, payouts_enabled, details_submitted, requirements_due,
  country, checked_at, created_at, payouts_seen_at)
values
  ('wsp_01m8j4cnw0f3prbzshzth3nz2a', 'SANDBOX', 'sba_1', true, true, true, '{}', 'DE', '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00');
insert into sandbox_payment
  (ref, key, workspace_id, amount_cents, fee_cents, status, card, failure_code, refunded_cents, dispute_status,
  expires_at, created_at, return_url, description, card_ref)
values
  ('sbp_e8086fb032b10c90e528b711b6bc7037', 'chk_01m8j4cr5xe3x8emg6nrmk2v6t', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 1000, 0, 'SUCCEEDED', '4242424242424242', null, 0, null, '2026-11-28 22:58:41.802+00', '2026-11-28 22:28:41.95+00', 'http://marquee.test/back', 'A film', 'sbm_6dccdab6dd38464311dac70a10ba06ee'),
  ('sbp_6cb2bb3f10144e3407e2de6ea442a38d', 'chk_01m8j4crx7fsf991511dkanman:1', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 1200, 0, 'SUCCEEDED', '4242424242424242', null, 0, null, '2026-11-28 22:58:42.839+00', '2026-11-28 22:28:42.903+00', 'http://marquee.test/checkout/chk_01m8j4crx7fsf991511dkanman/return', 'Patron', 'sbm_c942da365f850f417bf19401441d5f6a'),
  ('sbp_4ba0ee0638992385bb803d6f39638d05', 'chk_01m8j4csn0e9cbr383p520pdjm:1', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 5000, 0, 'SUCCEEDED', '4242424242424242', null, 0, null, '2026-11-28 22:58:43.363+00', '2026-11-28 22:28:43.39+00', 'http://marquee.test/checkout/chk_01m8j4csn0e9cbr383p520pdjm/return', 'A lesson, Tuesday, 1 December 2026 at 00:00 (Europe/Berlin)', null),
  ('sbp_37b37ece0f93ef8465fcb8d46c35175c', 'chk_01m8j4cteze7as0wqnks36ss0b:1', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 5000, 0, 'SUCCEEDED', '4242424242424242', null, 0, null, '2026-11-28 22:58:44.363+00', '2026-11-28 22:28:44.38+00', 'http://marquee.test/checkout/chk_01m8j4cteze7as0wqnks36ss0b/return', 'A class, Wednesday, 2 December 2026 at 00:00 (Europe/Berlin)', null),
  ('sbp_63230934e47afa130abbcc32a1ff2995', 'chk_01m8j4cv9nettbf9m54k1tx7fw:1', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 900, 0, 'SUCCEEDED', '4242424242424242', null, 0, null, '2026-11-28 22:58:45.127+00', '2026-11-28 22:28:45.151+00', 'http://marquee.test/checkout/chk_01m8j4cv9nettbf9m54k1tx7fw/return', 'A film', null);
insert into sandbox_refund
  (ref, key, payment_ref, amount_cents, created_at)
values
  ('sbr_1', 'refund_1', 'sbp_e8086fb032b10c90e528b711b6bc7037', 100, '2026-11-28 22:29:24.915807+00');
insert into sandbox_card
  (ref, workspace_id, card, created_at, customer_id, key)
values
  ('sbm_6dccdab6dd38464311dac70a10ba06ee', 'wsp_01m8j4cnvze7xa60z4c4kevybk', '4242424242424242', '2026-11-28 22:28:41.938+00', 'cus_01m8j4cr5pfzwv974aca8k0bpv', 'chk_01m8j4cr5xe3x8emg6nrmk2v6t'),
  ('sbm_c942da365f850f417bf19401441d5f6a', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', '4242424242424242', '2026-11-28 22:28:42.892+00', 'cus_01m8j4cs2me7eanyv78yfrdnfh', 'chk_01m8j4crx7fsf991511dkanman:1');
insert into ledger_account
  (id, workspace_id, provider, kind, created_at)
values
  ('acc_01m8j4crczfybsn4z9qbngprxw', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'SANDBOX', 'BUYERS', '2026-11-28 22:28:42.011+00'),
  ('acc_01m8j4crczfybsn4z9qf42t1n4', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'SANDBOX', 'CREATOR', '2026-11-28 22:28:42.011+00'),
  ('acc_01m8j4crczfybsn4z9qh7tm198', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'SANDBOX', 'FEES', '2026-11-28 22:28:42.011+00'),
  ('acc_01m8j4crczfybsn4z9qmsb3cmj', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'SANDBOX', 'DISPUTED', '2026-11-28 22:28:42.011+00'),
  ('acc_01m8j4crczfybsn4z9qqab2yq0', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'SANDBOX', 'PAID_OUT', '2026-11-28 22:28:42.011+00'),
  ('acc_01m8j4csdafyb9pw8qvz3p3pjk', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'SANDBOX', 'BUYERS', '2026-11-28 22:28:43.044+00'),
  ('acc_01m8j4csdafyb9pw8qw1c8f23r', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'SANDBOX', 'CREATOR', '2026-11-28 22:28:43.044+00'),
  ('acc_01m8j4csdafyb9pw8qw4g41y77', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'SANDBOX', 'FEES', '2026-11-28 22:28:43.044+00'),
  ('acc_01m8j4csdafyb9pw8qw6n2ek80', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'SANDBOX', 'DISPUTED', '2026-11-28 22:28:43.044+00'),
  ('acc_01m8j4csdafyb9pw8qw83gwbas', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'SANDBOX', 'PAID_OUT', '2026-11-28 22:28:43.044+00');
insert into ledger_transaction
  (id, workspace_id, kind, source, sale_kind, item_id, purchase_id, occurred_at)
values
  ('ltx_01m8j4cqrsedtv85ns0x5826ag', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'CHARGE', 'pay_01m8j4cqnpe3v974w60kfk9z2s', 'BOOKING', 'bkp_01m8j4cqbef7bvwcp03xadr192', 'pur_01m8j4cqnaf78twz3ymgjp1tza', '2026-11-28 22:28:41.368+00'),
  ('ltx_01m8j4crcvf6dv5jzj5q4td6s5', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'CHARGE', 'pay_01m8j4cr6aezfakxr01xpa4ek3', 'VIDEO', 'vid_01m8j4cr5xe3x8emg6npmsp2sn', 'pur_01m8j4cr64f1pt4g7b7dd7ypmg', '2026-11-28 22:28:42.011+00'),
  ('ltx_01m8j4csd5ef9bfw9hrkn9mqdf', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'CHARGE', 'pay_01m8j4cs6qewb9rjptpscsgxjq', 'SUBSCRIPTION', 'tier_01m8j4crwrftxsmjvmqx9arr63', 'pur_01m8j4cs6pft8vxeemhatfhf0c', '2026-11-28 22:28:43.044+00'),
  ('ltx_01m8j4ct65ep9t39fa8bbw88n8', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'CHARGE', 'pay_01m8j4csq3exn8e802f4fckm5y', 'BOOKING', 'bkp_01m8j4csf2f438yr5w4wyp9wdy', 'pur_01m8j4cspeenfve8tx1gnharyq', '2026-11-28 22:28:43.845+00'),
  ('ltx_01m8j4ctzyfef86yjkw6fxdmg5', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'CHARGE', 'pay_01m8j4ctpbfncb3ea11md8rbh4', 'BOOKING', 'bkp_01m8j4ct6zec9t77fqkvp37t3j', 'pur_01m8j4ctp0fyavatsn70w2g69d', '2026-11-28 22:28:44.67+00'),
  ('ltx_01m8j4cvgje30teq3myafym2sh', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'CHARGE', 'pay_01m8j4cve7fxbt390p0actvgwh', 'VIDEO', 'vid_01m8j4cv48frvasym57rf6d9nh', 'pur_01m8j4cve2fc6tpb09mkh9b0mv', '2026-11-28 22:28:45.202+00');
insert into ledger_entry
  (transaction_id, account_id, amount_cents)
values
  ('ltx_01m8j4crcvf6dv5jzj5q4td6s5', 'acc_01m8j4crczfybsn4z9qbngprxw', -1000),
  ('ltx_01m8j4crcvf6dv5jzj5q4td6s5', 'acc_01m8j4crczfybsn4z9qf42t1n4', 1000),
  ('ltx_01m8j4csd5ef9bfw9hrkn9mqdf', 'acc_01m8j4csdafyb9pw8qvz3p3pjk', -1200),
  ('ltx_01m8j4csd5ef9bfw9hrkn9mqdf', 'acc_01m8j4csdafyb9pw8qw1c8f23r', 1200),
  ('ltx_01m8j4ct65ep9t39fa8bbw88n8', 'acc_01m8j4csdafyb9pw8qvz3p3pjk', -5000),
  ('ltx_01m8j4ct65ep9t39fa8bbw88n8', 'acc_01m8j4csdafyb9pw8qw1c8f23r', 5000),
  ('ltx_01m8j4ctzyfef86yjkw6fxdmg5', 'acc_01m8j4csdafyb9pw8qvz3p3pjk', -5000),
  ('ltx_01m8j4ctzyfef86yjkw6fxdmg5', 'acc_01m8j4csdafyb9pw8qw1c8f23r', 5000),
  ('ltx_01m8j4cvgje30teq3myafym2sh', 'acc_01m8j4csdafyb9pw8qvz3p3pjk', -900),
  ('ltx_01m8j4cvgje30teq3myafym2sh', 'acc_01m8j4csdafyb9pw8qw1c8f23r', 900);
insert into ledger_revenue
  (workspace_id, quarter, gross_cents, fee_cents, refund_cents, sale_count)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', '2026-11-28 22:15:00+00', 1000, 0, 0, 2),
  ('wsp_01m8j4cnw0f3prbzshzth3nz2a', '2026-11-28 22:15:00+00', 12100, 0, 0, 4);
insert into ledger_revenue_item
  (workspace_id, day, sale_kind, item_id, gross_cents, fee_cents, refund_cents, sale_count)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', '2026-11-28 00:00:00+00', 'BOOKING', 'bkp_01m8j4cqbef7bvwcp03xadr192', 0, 0, 0, 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', '2026-11-28 00:00:00+00', 'VIDEO', 'vid_01m8j4cr5xe3x8emg6npmsp2sn', 1000, 0, 0, 1),
  ('wsp_01m8j4cnw0f3prbzshzth3nz2a', '2026-11-28 00:00:00+00', 'SUBSCRIPTION', 'tier_01m8j4crwrftxsmjvmqx9arr63', 1200, 0, 0, 1),
  ('wsp_01m8j4cnw0f3prbzshzth3nz2a', '2026-11-28 00:00:00+00', 'BOOKING', 'bkp_01m8j4csf2f438yr5w4wyp9wdy', 5000, 0, 0, 1),
  ('wsp_01m8j4cnw0f3prbzshzth3nz2a', '2026-11-28 00:00:00+00', 'BOOKING', 'bkp_01m8j4ct6zec9t77fqkvp37t3j', 5000, 0, 0, 1),
  ('wsp_01m8j4cnw0f3prbzshzth3nz2a', '2026-11-28 00:00:00+00', 'VIDEO', 'vid_01m8j4cv48frvasym57rf6d9nh', 900, 0, 0, 1);
insert into payout
  (id, workspace_id, provider, provider_ref, amount_cents, status, failure_code, arrival_at, event_sequence,
  created_at, currency)
values
  ('pay_1', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'SANDBOX', 'sbo_1', 100, 'PAID', null, '2026-11-25 00:00:00+00', 1, '2026-11-24 00:00:00+00', 'USD');
insert into member_link_request
  (id, workspace_id, email, created_at)
overriding system value values
  (2, 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'ann@example.com', '2026-11-28 22:29:24.915807+00');
insert into provider_look
  (provider, told_until)
values
  ('SANDBOX', '2026-11-28 22:29:24.915807+00');
insert into booking_product
  (id, workspace_id, type, status, title, description, thumbnail_url, slug, price_cents, duration_min, buffer_min,
  capacity, recordable, replay_access_days, refund_policy_days, intake_fields, event_sequence, published_at,
  archived_at, created_at, updated_at)
values
  ('bkp_01m8j4cqbef7bvwcp03xadr192', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'ONE_TO_ONE', 'PUBLISHED', 'A lesson', null, null, null, 0, 60, 0, 1, false, 30, 0, null, 2, '2026-11-28 22:28:41.134+00', null, '2026-11-28 22:28:40.942+00', '2026-11-28 22:28:41.134+00'),
  ('bkp_01m8j4cqxde3grfbrbntmkfx46', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'ONE_TO_ONE', 'DRAFT', 'An hour', null, null, null, 0, 60, 0, 1, false, 30, 0, null, 1, null, null, '2026-11-28 22:28:41.517+00', '2026-11-28 22:28:41.517+00'),
  ('bkp_01m8j4cqzjfjhszpb5g9cc1812', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'ONE_TO_ONE', 'DRAFT', 'An hour', null, null, null, 0, 60, 0, 1, false, 30, 0, null, 1, null, null, '2026-11-28 22:28:41.586+00', '2026-11-28 22:28:41.586+00'),
  ('bkp_01m8j4cr0des6rvveapq9kgym1', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'COHORT', 'DRAFT', 'An hour', null, null, null, 0, 60, 0, 1, false, 30, 0, null, 1, null, null, '2026-11-28 22:28:41.613+00', '2026-11-28 22:28:41.613+00'),
  ('bkp_01m8j4csf2f438yr5w4wyp9wdy', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'ONE_TO_ONE', 'PUBLISHED', 'A lesson', null, null, null, 5000, 60, 0, 1, false, 30, 0, null, 2, '2026-11-28 22:28:43.171+00', null, '2026-11-28 22:28:43.106+00', '2026-11-28 22:28:43.171+00'),
  ('bkp_01m8j4ct6zec9t77fqkvp37t3j', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'LIVE_CLASS', 'PUBLISHED', 'A class', null, null, null, 5000, 60, 0, 3, false, 30, 0, null, 2, '2026-11-28 22:28:43.951+00', null, '2026-11-28 22:28:43.871+00', '2026-11-28 22:28:43.951+00'),
  ('bkp_01m8j4cv0jfvcrf10g723432cx', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'COHORT', 'PUBLISHED', 'A course', null, null, null, 5000, 60, 0, 1, false, 30, 0, null, 2, '2026-11-28 22:28:44.767+00', null, '2026-11-28 22:28:44.69+00', '2026-11-28 22:28:44.767+00');
insert into availability
  (workspace_id, weekly, timezone, blackouts, min_notice_min, max_advance_days, updated_at)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', '{"mon": [{"end": "24:00", "start": "00:00"}]}', 'UTC', '[]', 60, 60, '2026-11-28 22:28:40.918+00'),
  ('wsp_01m8j4cnw0f3prbzshzth3nz2a', '{"fri": [{"end": "24:00", "start": "00:00"}], "mon": [{"end": "24:00", "start": "00:00"}], "sat": [{"end": "24:00", "start": "00:00"}], "sun": [{"end": "24:00", "start": "00:00"}], "thu": [{"end": "24:00", "start": "00:00"}], "tue": [{"end": "24:00", "start": "00:00"}], "wed": [{"end": "24:00", "start": "00:00"}]}', 'UTC', '[]', 0, 60, '2026-11-28 22:28:43.088+00');
insert into cohort
  (id, workspace_id, product_id, title, starts_at, ends_at, timezone, capacity, enrolled_count, claimed_count, status,
  enrollment_opens_at, enrollment_closes_at, event_sequence, canceled_at, created_at, updated_at, change_no)
values
  ('coh_01m8j4cr1netbt7yyc8evtrm4s', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'bkp_01m8j4cr0des6rvveapq9kgym1', null, '2100-01-01 09:00:00+00', null, 'UTC', null, 0, 0, 'OPEN', null, null, 1, null, '2026-11-28 22:28:41.65+00', '2026-11-28 22:28:41.659+00', 0),
  ('coh_01m8j4cv1xfwh9wvaw85afhg91', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'bkp_01m8j4cv0jfvcrf10g723432cx', null, '2026-12-08 23:00:00+00', null, 'UTC', null, 0, 0, 'OPEN', null, null, 1, null, '2026-11-28 22:28:44.731+00', '2026-11-28 22:28:44.748+00', 0);
insert into cohort_session
  (id, cohort_id, starts_at, ends_at, room_id, set_at)
values
  ('cse_01m8j4cv21fj18xhz1cf7q4v04', 'coh_01m8j4cv1xfwh9wvaw85afhg91', '2026-12-08 23:00:00+00', '2026-12-09 00:00:00+00', null, '2026-11-28 22:28:44.731+00');
insert into cohort_video
  (id, cohort_id, video_id, release_at, "position")
values
  ('cvi_01m8j4cr59eq8s7yre07s1v5n4', 'coh_01m8j4cr1netbt7yyc8evtrm4s', 'vid_01m8j4cr2ces7azjz67g4zf4sp', null, 0);
insert into class_occurrence
  (id, workspace_id, product_id, starts_at, ends_at, capacity, booked_count, claimed_count, room_id, created_at)
values
  ('occ_01m8j4ctn9e65sz4x098e3jep8', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'bkp_01m8j4ct6zec9t77fqkvp37t3j', '2026-12-01 23:00:00+00', '2026-12-02 00:00:00+00', 3, 1, 0, null, '2026-11-28 22:28:44.329+00');
insert into booking
  (id, workspace_id, product_id, type, cohort_id, occurrence_id, status, starts_at, ends_at, first_starts_at,
  rescheduled_from, timezone, customer_id, customer_name, customer_email, customer_timezone, intake_answers,
  amount_cents, discount_cents, discount_code, purchase_id, room_id, recording_video_id, replay_access_until,
  cancel_reason, canceled_by, held_until, was_extended, customer_joined_at, creator_joined_at, reminded_at,
  ics_sequence, event_sequence, created_at, updated_at, refund_policy_days, replay_access_days, cohort_change_no,
  reminded_until, link_no, recording_video_ids, waitlist_entry_id)
values
  ('bkg_01m8j4cqm4escsmv8jeedk29kv', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'bkp_01m8j4cqbef7bvwcp03xadr192', 'ONE_TO_ONE', null, null, 'CONFIRMED', '2026-11-30 00:00:00+00', '2026-11-30 01:00:00+00', '2026-11-30 00:00:00+00', null, 'UTC', 'cus_01m8j4cqn5f9p9628kd4sc0k1f', 'Ann', 'ann@example.com', null, null, 0, 0, null, 'pur_01m8j4cqnaf78twz3ymgjp1tza', null, null, null, null, null, null, true, null, null, null, 0, 2, '2026-11-28 22:28:41.216+00', '2026-11-28 22:28:41.315+00', 0, 30, 0, null, 0, '{}', null),
  ('bkg_01m8j4csm5e0n9k5xsenkveva2', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'bkp_01m8j4csf2f438yr5w4wyp9wdy', 'ONE_TO_ONE', null, null, 'CONFIRMED', '2026-11-30 23:00:00+00', '2026-12-01 00:00:00+00', '2026-11-30 23:00:00+00', null, 'UTC', 'cus_01m8j4cs2me7eanyv78yfrdnfh', 'Ann', 'ann@example.com', 'Europe/Berlin', null, 5000, 0, null, 'pur_01m8j4cspeenfve8tx1gnharyq', null, null, null, null, null, null, true, null, null, null, 0, 2, '2026-11-28 22:28:43.255+00', '2026-11-28 22:28:43.589+00', 0, 30, 0, null, 0, '{}', null),
  ('bkg_01m8j4ctekegqr52knb52pddsz', 'wsp_01m8j4cnw0f3prbzshzth3nz2a', 'bkp_01m8j4ct6zec9t77fqkvp37t3j', 'LIVE_CLASS', null, 'occ_01m8j4ctn9e65sz4x098e3jep8', 'CONFIRMED', '2026-12-01 23:00:00+00', '2026-12-02 00:00:00+00', '2026-12-01 23:00:00+00', null, 'UTC', 'cus_01m8j4ctnqeypbwk76q4q9rppc', 'Bob', 'bob@example.com', 'Europe/Berlin', null, 5000, 0, null, 'pur_01m8j4ctp0fyavatsn70w2g69d', null, null, null, null, null, null, false, null, null, null, 0, 2, '2026-11-28 22:28:44.103+00', '2026-11-28 22:28:44.582+00', 0, 30, 0, null, 0, '{}', null);
insert into calendar_busy
  (id, calendar_no, starts_at, free_at, product_id, booking_id, occurrence_id, session_id, waitlist_id)
overriding system value values
  (1, 3, '2026-11-30 00:00:00+00', '2026-11-30 01:00:00+00', 'bkp_01m8j4cqbef7bvwcp03xadr192', 'bkg_01m8j4cqm4escsmv8jeedk29kv', null, null, null),
  (2, 4, '2026-11-30 23:00:00+00', '2026-12-01 00:00:00+00', 'bkp_01m8j4csf2f438yr5w4wyp9wdy', 'bkg_01m8j4csm5e0n9k5xsenkveva2', null, null, null),
  (3, 4, '2026-12-01 23:00:00+00', '2026-12-02 00:00:00+00', 'bkp_01m8j4ct6zec9t77fqkvp37t3j', null, 'occ_01m8j4ctn9e65sz4x098e3jep8', null, null),
  (4, 4, '2026-12-08 23:00:00+00', '2026-12-09 00:00:00+00', 'bkp_01m8j4cv0jfvcrf10g723432cx', null, null, 'cse_01m8j4cv21fj18xhz1cf7q4v04', null);
insert into external_calendar
  (id, workspace_id, name, url_sealed, host, status, last_error, event_count, etag, read_at, next_read_at, created_at,
  updated_at, failure_count, last_modified, content_read_at, content_timezone)
values
  ('cal_01m8j4cqzbfmsswqdzsfsm46p3', 'wsp_01m8j4cnvze7xa60z4c4kevybk', null, E'\\x01f5ff024e18a5e0b92baaa074a077db9c07e372651a5d262760685596997262a7cea1364c0c38fca7e7dcbe70afba66006237dfc6a275583a0d', 'cal.example.com', 'FAILED', 'The server cannot be reached: dns: ENOTFOUND.', 0, null, null, '2099-01-01 00:00:00+00', '2026-11-28 22:28:41.579+00', '2026-11-28 22:28:48.158+00', 1, null, null, null);
insert into external_busy
  (calendar_id, starts_at, free_at)
values
  ('cal_01m8j4cqzbfmsswqdzsfsm46p3', '2099-01-01 10:00:00+00', '2099-01-01 11:00:00+00');
insert into booking_feed
  (workspace_id, token_hash, token_sealed, created_at)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', E'\\x02', E'\\x03', '2026-11-28 22:29:24.915807+00');
insert into waitlist_entry
  (id, workspace_id, product_id, cohort_id, starts_at, email, name, "position", status, offered_at, offer_expires_at,
  booking_id, event_sequence, created_at, updated_at, turn, offered_cohort_id, offered_starts_at, occurrence_id,
  keeps_place, confirmed_at)
overriding system value values
  ('wl_01m8j4cqyqfpqtym85pn4n8x3e', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'bkp_01m8j4cqxde3grfbrbntmkfx46', null, null, 'cb9dc728-8f50-4cc7-a85e-51c02d9ad84e@example.com', null, 1, 'WAITING', null, null, null, 1, '2026-11-28 22:28:41.55+00', '2026-11-28 22:28:41.55+00', 1, null, null, null, false, '2026-11-28 22:28:41.55+00');
insert into cohort_session_removed
  (id, cohort_id, starts_at, ends_at, change_no)
values
  ('css_removed', 'coh_01m8j4cv1xfwh9wvaw85afhg91', '2026-12-08 23:00:00+00', '2026-12-09 00:00:00+00', 1);
insert into follow
  (id, workspace_id, follower_id, created_at)
values
  ('fol_01m8j4cvzmehrv3tqn9br9wse0', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'usr_01m8j4cnk3fshvfhzf02vsjt37', '2026-11-28 22:28:45.684+00');
insert into follower_count
  (workspace_id, followers, event_sequence)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 1, 1);
insert into channel
  (workspace_id, display_name, description, links, updated_at)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', null, 'Concerts', '[]', '2026-11-28 22:28:45.658+00');
insert into banner
  (id, workspace_id, image, created_at)
values
  ('ban_1', 'wsp_01m8j4cnvze7xa60z4c4kevybk', E'\\x89504e47', '2026-11-28 22:29:24.915807+00');
insert into subscriber
  (id, workspace_id, email, name, status, source, consent_at, round, event_sequence, created_at, updated_at)
values
  ('sbr_01m8j4crkwetz9d7aqdgweah5p', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'grace@example.com', null, 'PENDING', 'API', null, 1, 1, '2026-11-28 22:28:42.231+00', '2026-11-28 22:28:42.231+00');
insert into subscriber_address
  (workspace_id, address, asked_at, left_at)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', E'\\xf9db9b42acc1c515bdf6cc1f042a54724ec1d83ad74f6eaf8ba35d1709eb869e', '2026-11-28 22:28:42.255+00', null);
insert into fact
  (created_at, id, workspace_id, kind, subject_id, amount, viewer, country, device, browser, os, referrer, is_bot,
  is_self, playback_session, number, player_events, bitrate_kbps, key_id, status)
values
  ('2026-11-28 22:28:39.835+00', 'fct_01m8j4cp8ye9s94nx71f144ahg', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'CHAT', 'str_01m8j4cp26e59rfam24eyse29j', 1, null, null, null, null, null, null, false, false, null, null, null, null, null, null),
  ('2026-11-28 22:28:40.064+00', 'fct_01m8j4cpg5eg6bk7jstrry01b2', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'DELIVERY', null, 1, null, null, null, null, null, null, false, false, null, null, null, null, null, null),
  ('2026-11-28 22:28:39.478+00', 'fct_01m8j4cpwzertsw9hjkdqgn8rj', 'wsp_01m8j4cnk3fshvfhzf06sbr3ft', 'REQUEST', null, 1, null, null, null, null, null, null, false, false, null, null, null, null, 'key_01m8j4cnkhfg2vf0khxnc9bwpr', 201),
  ('2026-11-28 22:28:45.697+00', 'fct_01m8j4cw01efj850ag3q5bg4qe', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'FOLLOW', null, 1, null, null, null, null, null, null, false, false, null, null, null, null, null, null),
  ('2026-11-28 22:28:45.742+00', 'fct_01m8j4cw1jfag8zs1g38eaanwk', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'STORAGE', null, 21, null, null, null, null, null, null, false, false, null, null, null, null, null, null),
  ('2026-11-28 22:29:29.042+00', 'fct_01m8j4e6bmev4vf4p757ac2zcw', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'LEAVE', 'str_01m8j4cp26e59rfam24eyse29j', 1, null, null, null, null, null, null, false, false, null, null, null, null, null, null);
insert into fact_sum_state
  (is_only, next_xid, fresh_until, mark_xid, mark_at, closed_until)
values
  (true, pg_current_xact_id(), '2026-11-28 22:28:48.333+00', pg_current_xact_id(), '2026-11-28 22:28:48.333+00', '2026-11-28 22:15:00+00');
insert into analytics_total
  (workspace_id, subject_kind, subject_id, span, at, is_self, views, unique_viewers, watch_ms, impressions, plays,
  joins, leaves, chat_messages, new_followers, lost_followers, broadcasts, live_ms, peak_viewers, viewer_samples_sum,
  viewer_samples, bitrate_kbit)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'ACCOUNT', '', 15, '2026-11-28 22:15:00+00', false, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'STREAM', 'str_01m8j4cp26e59rfam24eyse29j', 15, '2026-11-28 22:15:00+00', false, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEO', 'vid_01m8j4crvpff4s57v22c8p05bm', 1440, '2026-11-20 00:00:00+00', false, 3, 2, 60000, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
insert into analytics_share
  (workspace_id, subject_kind, subject_id, dimension, value, span, at, is_self, views, unique_viewers, watch_ms)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEO', 'vid_01m8j4crvpff4s57v22c8p05bm', 'country', 'DE', 1440, '2026-11-20 00:00:00+00', false, 3, 2, 60000);
insert into analytics_retention
  (workspace_id, video_id, at, is_self, watched, span)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'vid_01m8j4crvpff4s57v22c8p05bm', '2026-11-20 00:00:00+00', false, '{3,2,1}', 1440);
insert into analytics_seen
  (at, workspace_id, subject_id, share, viewer, is_self, first_at)
values
  ('2026-11-20 00:00:00+00', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'vid_01m8j4crvpff4s57v22c8p05bm', '', E'\\x0a', false, '2026-11-20 10:00:00+00');
insert into usage_total
  (workspace_id, metric, span, at, amount)
values
  ('wsp_01m8j4cnk3fshvfhzf06sbr3ft', 'REQUEST', 1440, '2026-11-28 00:00:00+00', 2),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'DELIVERY', 1440, '2026-11-28 00:00:00+00', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'REQUEST', 1440, '2026-11-28 00:00:00+00', 55);
insert into usage_request
  (workspace_id, key_id, at, requests, errors_4xx, errors_5xx, rate_limited)
values
  ('wsp_01m8j4cnk3fshvfhzf06sbr3ft', 'key_01m8j4cnkhfg2vf0khxnc9bwpr', '2026-11-28 00:00:00+00', 2, 0, 0, 0),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', '', '2026-11-28 00:00:00+00', 1, 0, 0, 0);
insert into quota_notice
  (workspace_id, resource, told, told_used, period_start, version, event_sequence, told_limit)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'storage', 80, 800, null, 1, 1, 1000);
insert into team_member
  (id, account_id, user_id, team_role, event_sequence, joined_at)
values
  ('mem_01m8j4crsxep1tv6nh0fmc77cx', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'usr_01m8j4crrcfbvt8ag0t4j648am', 'EDITOR', 0, '1970-01-01 00:00:00+00');
insert into team_invitation
  (id, account_id, email, team_role, hash, status, invited_by, created_at, expires_at)
values
  ('inv_01m8j4crq1ep5bxaje5zy7e57k', 'usr_01m8j4cnraf4w8m1t781rtv6hz', '8b5c2375-e164-41ef-aa9b-ecd4fb761249@example.com', 'EDITOR', E'\\x3af0f620181f1128dfbf3421464f551381f6c755915c0ceb4812ef3657d4af7c', 'PENDING', 'usr_01m8j4cnraf4w8m1t781rtv6hz', '2026-11-28 22:28:42.328+00', '2026-12-05 22:28:42.328+00');
insert into team_activity
  (account_id, user_id, last_active_at)
values
  ('usr_01m8j4cnraf4w8m1t781rtv6hz', 'usr_01m8j4cnraf4w8m1t781rtv6hz', '2026-11-28 22:28:45.522+00');
insert into kept_count
  (workspace_id, name, amount)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'STREAMS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'STREAMS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEOS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEOS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEOS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'PLAYLISTS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEOS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEOS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEOS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEOS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEOS_READY', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'VIDEO_MS', 60000),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'STREAMS', 1),
  ('wsp_01m8j4cnw0f3prbzshzth3nz2a', 'VIDEOS', 1),
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'STREAMS', 1);
insert into release_notice
  (version, seen_at, last_workspace_id, told_at)
values
  ('1.0', '2026-11-28 22:29:24.915807+00', '', '2026-11-28 22:29:24.915807+00');
insert into deprecated_use
  (workspace_id, endpoint, last_used_at, told_at)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'GET /things', '2026-11-28 22:29:24.915807+00', null);
insert into notification_reading
  (notification_id, user_id, read_at)
values
  ('ntf_01m8j4cqa1e54ttg2rt5vtp0yv', 'usr_01m8j4crrcfbvt8ag0t4j648am', '2026-11-28 22:29:24.915807+00');
insert into account_erasure
  (account_id, requested_at, due_at, keep_hash, begun_at, erased_at)
values
  ('usr_01m8j4cnk3fshvfhzf02vsjt37', '2026-11-28 22:29:24.915807+00', '2099-01-01 00:00:00+00', E'\\x01', null, null);
insert into account_export
  (id, account_id, status, size_bytes, created_at, ready_at, expires_at)
values
  ('exp_01m8j4cvtmfg8vtxmh1nfb5yvw', 'usr_01m8j4cnraf4w8m1t781rtv6hz', 'PENDING', null, '2026-11-28 22:28:45.524+00', null, null);
insert into dvr_segment
  (stream_id, workspace_id, epoch, file, seq, disc, start_ms, duration_sec, rungs, size_bytes)
values
  ('str_01m8j4cp26e59rfam24eyse29j', 'wsp_01m8j4cnvze7xa60z4c4kevybk', 'e1', 's_00001.m4s', 1, 0, 1764000000000, 2, '[{"name": "720p", "sizeBytes": 1000}]', 1000);
insert into whip_session
  (id, stream_id, node_id, state, offer, answer, created_at, carried_at)
values
  ('whip_1', 'str_1', 'node-1', 'ANSWERED', 'v=0', 'v=0', '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00');
insert into video_transcription
  (video_id, status, language, error, requested_at, ended_at)
values
  ('vid_01m8j4crvpff4s57v22c8p05bm', 'READY', 'en', null, '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00');
insert into media_node
  (id, url, seen_at)
values
  ('node-1', 'http://10.0.0.1:1936', '2026-11-28 22:29:24.915807+00');
insert into whep_session
  (id, stream_id, node_id, state, offer, answer, refusal, sent_bytes, admitted_until, created_at, carried_at,
  address_mark)
values
  ('whep_1', 'str_1', 'node-1', 'ANSWERED', 'v=0', 'v=0', null, 10, '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', 'mark');
insert into video_tag
  (workspace_id, tag, status, visibility, video_id)
values
  ('wsp_01m8j4cnvze7xa60z4c4kevybk', 'music', 'READY', 'PUBLIC', 'vid_01m8j4crvpff4s57v22c8p05bm');
insert into video_replacement
  (video_id, revision, status, upload_id, original_key, size_bytes, storage_bytes, progress_percent, duration_sec,
  width, height, frame_rate, image_folder, has_storyboard, has_preview, chapters, processing_notes, captions,
  error_code, error_message, created_at, updated_at, ended_at, former_kept_until, former_revision,
  former_original_key, former_image_folder, former_captions, former_storage_bytes, import_id)
values
  ('vid_01m8j4crvpff4s57v22c8p05bm', 1, 'READY', 'upl_1', null, null, 0, 0, null, null, null, null, null, false, false, '[]', '[]', '[]', null, null, '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', '2026-11-28 22:29:24.915807+00', null, 0, null, null, '{}', 0, null);
insert into counter_window
  (name, key, ends_at, hits)
values
  ('cap3600', 'AYtraHsxN85LVvnJRtL0ou', '2026-11-28 23:28:42.337+00', 1),
  ('cap3600', 'B08mdORp4ycE6KpDlvBdmT', '2026-11-28 23:28:45.636+00', 1),
  ('cap3600', 'Gu7Vrla0kAh5cF5pitR1xW', '2026-11-28 23:28:42.222+00', 1),
  ('cap3600', 'Hlz9SOTKW9yN2XJoUtWHum', '2026-11-28 23:28:42.269+00', 1),
  ('cap3600', 'Hy12yNXBVqcNcJR1hE1j3k', '2026-11-28 23:28:39.242+00', 1),
  ('cap3600', 'MOo6C1-vKNyo1Et97zRebg', '2026-11-28 23:28:44.535+00', 2),
  ('cap3600', 'MuyVpjHq_Hi2bUviuddrEP', '2026-11-28 23:28:39.425+00', 1),
  ('cap3600', 'T0hkDlv4j1m0FXF2QGyqgr', '2026-11-28 23:28:42.294+00', 1),
  ('cap3600', 'YjqoaooQOOEZ-12bsA7M02', '2026-11-28 23:28:41.565+00', 1),
  ('cap3600', 'ZtuLBPSOxxaFQSFoq-Efsb', '2026-11-28 23:28:42.337+00', 1),
  ('cap3600', 'ad2wIHqA_jjOi8Z3rWzuqw', '2026-11-28 23:28:42.255+00', 1),
  ('cap3600', 'by0a-g34do_KfY2I54PdmP', '2026-11-28 23:28:41.255+00', 3),
  ('cap3600', 'hINAJC24Y4NW8ES17McmbN', '2026-11-28 23:28:39.425+00', 1),
  ('cap3600', 'pGdIUbqjChkTTGoSeWomks', '2026-11-28 23:28:42.456+00', 2),
  ('cap3600', 'rWPBW5MSVpVAp8FgbHI3qe', '2026-11-28 23:28:41.255+00', 4),
  ('cap3600', 'xZ25wWeyIPmFYJNSyxxWeH', '2026-11-28 23:28:45.677+00', 1),
  ('cap900', '5_cgU77D1ENOPRhdbid8dt', '2026-11-28 22:43:45.281+00', 1),
  ('cap900', 'Sm8YX63z80aWL1UlZeQyxy', '2026-11-28 22:43:45.385+00', 1),
  ('cap900', 'g5PSUpEt0wh3vp6xFA5XXX', '2026-11-28 22:43:39.242+00', 1),
  ('capday', 'PJkK5SXzr5-ITBpClYRaGc', '2026-11-29 00:00:00+00', 1),
  ('capday', 'kA_GSebrskKd2zySpyyxlv', '2026-11-29 00:00:00+00', 1),
  ('sign-in', 'usr_1', '2099-01-01 00:00:00+00', 3);
insert into pgboss.version
  (version, cron_on, bam_on, flow_on, reindex_on, monitor_backoff_on)
values
  (43, null, null, null, null, null);
insert into pgboss.queue
  (name, policy, retry_limit, retry_delay, retry_backoff, retry_delay_max, expire_seconds, retention_seconds,
  deletion_seconds, dead_letter, partition, table_name, deferred_count, queued_count, ready_count, warning_queued,
  active_count, failed_count, total_count, created_delta, completed_delta, failed_delta, delta_on, delta_seconds,
  ready_history, heartbeat_seconds, notify, singletons_active, monitor_claim_on, monitor_on, maintain_on, created_on,
  updated_on)
values
  ('import.fetch', 'exclusive', 2, 0, false, null, 900, 1209600, 259200, null, false, 'job_common', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null, null, '{}', null, false, null, null, null, null, '2026-11-28 22:28:40.481676+00', '2026-11-28 22:28:40.481676+00'),
  ('account.export', 'exclusive', 3, 0, false, null, 900, 1209600, 259200, null, false, 'job_common', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null, null, '{}', null, false, null, null, null, null, '2026-11-28 22:28:45.550488+00', '2026-11-28 22:28:45.550488+00');
insert into pgboss.job
  (id, name, priority, data, state, retry_limit, retry_count, retry_delay, retry_backoff, retry_delay_max,
  expire_seconds, deletion_seconds, singleton_key, singleton_on, group_id, group_tier, start_after, created_on,
  started_on, completed_on, keep_until, output, dead_letter, policy, heartbeat_on, heartbeat_seconds, blocked,
  blocking, pending_dependencies, source_name, source_id, source_created_on, source_retry_count, source_output,
  source_root_id)
values
  ('a0391111-64fe-4f7a-b03f-915829585e73', 'account.export', 0, '{"exportId": "exp_01m8j4cvtmfg8vtxmh1nfb5yvw", "accountId": "usr_01m8j4cnraf4w8m1t781rtv6hz"}', 'created', 3, 0, 0, false, null, 2147483647, 259200, 'exp_01m8j4cvtmfg8vtxmh1nfb5yvw', null, null, null, '2026-11-28 22:28:45.561555+00', '2026-11-28 22:28:45.561556+00', null, null, '2036-11-25 22:28:45.561556+00', null, null, 'exclusive', null, null, false, false, 0, null, null, null, null, null, null);
select setval('delivery_job_id_seq', 2);
select setval('link_request_id_seq', 1);
select setval('event_seq', 70);
select setval('member_link_request_id_seq', 2);
select setval('workspace_calendar_no_seq', 6);
select setval('calendar_busy_id_seq', 4);
select setval('waitlist_entry_turn_seq', 1);
select setval('report_number', 1);
alter table account
  add constraint account_pkey PRIMARY KEY (id),
  add constraint account_embed_mode_check CHECK ((embed_mode = ANY (ARRAY['OPEN'::text, 'ALLOWLIST'::text]))),
  add constraint account_plan_check CHECK ((plan = ANY (ARRAY['FREE'::text, 'STAR'::text, 'PRO'::text, 'VIP'::text]))),
  add constraint account_role_check CHECK ((role = ANY (ARRAY['USER'::text, 'ADMIN'::text]))),
  add constraint account_terms_check CHECK (((terms_url IS NULL) = (terms_accepted_at IS NULL)));
alter table account_erasure
  add constraint account_erasure_pkey PRIMARY KEY (account_id),
  add constraint account_erasure_keep_hash_key UNIQUE (keep_hash);
alter table account_export
  add constraint account_export_pkey PRIMARY KEY (id),
  add constraint account_export_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'READY'::text, 'FAILED'::text])));
alter table analytics_retention
  add constraint analytics_retention_pkey PRIMARY KEY (workspace_id, video_id, span, at, is_self),
  add constraint analytics_retention_span_check CHECK ((span = ANY (ARRAY[1440, 5760, 23040, 92160])));
alter table analytics_seen
  add constraint analytics_seen_pkey PRIMARY KEY (at, workspace_id, subject_id, share, viewer, is_self);
alter table analytics_share
  add constraint analytics_share_pkey PRIMARY KEY (workspace_id, subject_kind, subject_id, dimension, span, at, value, is_self),
  add constraint analytics_share_dimension_check CHECK ((dimension = ANY (ARRAY['country'::text, 'device'::text, 'browser'::text, 'os'::text, 'referrer'::text, 'quality'::text, 'source'::text]))),
  add constraint analytics_share_span_check CHECK ((span = ANY (ARRAY[15, 60, 240, 1440, 5760, 23040, 92160]))),
  add constraint analytics_share_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['ACCOUNT'::text, 'VIDEO'::text, 'STREAM'::text])));
alter table analytics_total
  add constraint analytics_total_pkey PRIMARY KEY (workspace_id, subject_kind, subject_id, span, at, is_self),
  add constraint analytics_total_span_check CHECK ((span = ANY (ARRAY[15, 60, 240, 1440, 5760, 23040, 92160]))),
  add constraint analytics_total_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['ACCOUNT'::text, 'VIDEO'::text, 'STREAM'::text])));
alter table api_key
  add constraint api_key_pkey PRIMARY KEY (id),
  add constraint api_key_daily_quota_check CHECK ((daily_quota > 0)),
  add constraint api_key_rate_limit_per_minute_check CHECK ((rate_limit_per_minute > 0)),
  add constraint api_key_scope_check CHECK ((scope = ANY (ARRAY['READ_ONLY'::text, 'STANDARD'::text, 'FULL_ACCESS'::text])));
alter table api_key_retired_secret
  add constraint api_key_retired_secret_pkey PRIMARY KEY (hash);
alter table availability
  add constraint availability_pkey PRIMARY KEY (workspace_id),
  add constraint availability_max_advance_days_check CHECK ((max_advance_days >= 0)),
  add constraint availability_min_notice_min_check CHECK ((min_notice_min >= 0));
alter table avatar
  add constraint avatar_pkey PRIMARY KEY (id),
  add constraint avatar_account_id_key UNIQUE (account_id);
alter table banner
  add constraint banner_pkey PRIMARY KEY (id),
  add constraint banner_workspace_id_key UNIQUE (workspace_id);
alter table booking
  add constraint booking_pkey PRIMARY KEY (id),
  add constraint booking_amount_cents_check CHECK ((amount_cents >= 0)),
  add constraint booking_canceled_by_check CHECK ((canceled_by = ANY (ARRAY['CUSTOMER'::text, 'CREATOR'::text, 'SYSTEM'::text]))),
  add constraint booking_check CHECK (((type = 'COHORT'::text) = (cohort_id IS NOT NULL))),
  add constraint booking_check1 CHECK (((type <> 'COHORT'::text) = (starts_at IS NOT NULL))),
  add constraint booking_check2 CHECK (((status = 'CANCELED'::text) = (canceled_by IS NOT NULL))),
  add constraint booking_discount_cents_check CHECK ((discount_cents >= 0)),
  add constraint booking_refund_policy_days_check CHECK ((refund_policy_days >= 0)),
  add constraint booking_replay_access_days_check CHECK ((replay_access_days >= 0)),
  add constraint booking_status_check CHECK ((status = ANY (ARRAY['PENDING_PAYMENT'::text, 'CONFIRMED'::text, 'COMPLETED'::text, 'CANCELED'::text, 'NO_SHOW'::text, 'EXPIRED'::text]))),
  add constraint booking_type_check CHECK ((type = ANY (ARRAY['ONE_TO_ONE'::text, 'LIVE_CLASS'::text, 'COHORT'::text])));
alter table booking_feed
  add constraint booking_feed_pkey PRIMARY KEY (workspace_id),
  add constraint booking_feed_token_hash_key UNIQUE (token_hash);
alter table booking_product
  add constraint booking_product_pkey PRIMARY KEY (id),
  add constraint booking_product_buffer_min_check CHECK ((buffer_min >= 0)),
  add constraint booking_product_capacity_check CHECK ((capacity >= 1)),
  add constraint booking_product_check CHECK (((status = 'ARCHIVED'::text) = (archived_at IS NOT NULL))),
  add constraint booking_product_duration_min_check CHECK (((duration_min >= 1) AND (duration_min <= 600))),
  add constraint booking_product_price_cents_check CHECK ((price_cents >= 0)),
  add constraint booking_product_refund_policy_days_check CHECK ((refund_policy_days >= 0)),
  add constraint booking_product_replay_access_days_check CHECK ((replay_access_days >= 0)),
  add constraint booking_product_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'PUBLISHED'::text, 'ARCHIVED'::text]))),
  add constraint booking_product_type_check CHECK ((type = ANY (ARRAY['ONE_TO_ONE'::text, 'LIVE_CLASS'::text, 'COHORT'::text])));
alter table bridge
  add constraint bridge_pkey PRIMARY KEY (id),
  add constraint bridge_check CHECK (((source_id IS NULL) <> (source_url IS NULL))),
  add constraint bridge_check1 CHECK (((status = 'STOPPED'::text) = (end_reason IS NOT NULL))),
  add constraint bridge_end_reason_check CHECK ((end_reason = ANY (ARRAY['SOURCE_ENDED'::text, 'TARGET_ENDED'::text, 'TARGET_TAKEN'::text, 'EXPIRED'::text, 'SUSPENDED'::text, 'REMOVED'::text, 'DELETED'::text]))),
  add constraint bridge_layout_check CHECK ((layout = ANY (ARRAY['GRID'::text, 'SPEAKER'::text, 'SINGLE'::text]))),
  add constraint bridge_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'CONNECTING'::text, 'ACTIVE'::text, 'FAILED'::text, 'STOPPED'::text]))),
  add constraint bridge_type_check CHECK ((type = ANY (ARRAY['ROOM_TO_STREAM'::text, 'PULL_TO_STREAM'::text, 'STREAM_TO_ROOM'::text])));
alter table calendar_busy
  add constraint calendar_busy_pkey PRIMARY KEY (id),
  add constraint calendar_busy_booking_id_key UNIQUE (booking_id),
  add constraint calendar_busy_occurrence_id_key UNIQUE (occurrence_id),
  add constraint calendar_busy_session_id_key UNIQUE (session_id),
  add constraint calendar_busy_waitlist_id_key UNIQUE (waitlist_id),
  add constraint calendar_busy_check CHECK ((starts_at < free_at)),
  add constraint calendar_busy_check1 CHECK ((num_nonnulls(booking_id, occurrence_id, session_id, waitlist_id) = 1)),
  add constraint calendar_busy_once EXCLUDE USING gist (int8range(calendar_no, calendar_no, '[]'::text) WITH &&, tstzrange(starts_at, free_at) WITH &&);
alter table channel
  add constraint channel_pkey PRIMARY KEY (workspace_id);
alter table chat_ban
  add constraint chat_ban_pkey PRIMARY KEY (id),
  add constraint chat_ban_stream_id_author_id_key UNIQUE (stream_id, author_id);
alter table chat_message
  add constraint chat_message_pkey PRIMARY KEY (id),
  add constraint chat_message_stream_id_seq_key UNIQUE (stream_id, seq),
  add constraint chat_message_check CHECK (((kind = 'SYSTEM'::text) = (author_id IS NULL))),
  add constraint chat_message_kind_check CHECK ((kind = ANY (ARRAY['MESSAGE'::text, 'SYSTEM'::text])));
alter table checkout
  add constraint checkout_pkey PRIMARY KEY (id),
  add constraint checkout_operation_id_key UNIQUE (operation_id),
  add constraint checkout_amount_cents_check CHECK ((amount_cents >= 0)),
  add constraint checkout_check CHECK ((num_nonnulls(tier_id, video_id, booking_id) = 1)),
  add constraint checkout_discount_cents_check CHECK ((discount_cents >= 0)),
  add constraint checkout_interval_check CHECK (("interval" = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
  add constraint checkout_kind_check CHECK ((kind = ANY (ARRAY['SUBSCRIPTION'::text, 'VIDEO'::text, 'BOOKING'::text]))),
  add constraint checkout_status_check CHECK ((status = ANY (ARRAY['OPEN'::text, 'COMPLETED'::text, 'EXPIRED'::text, 'CANCELED'::text])));
alter table class_occurrence
  add constraint class_occurrence_pkey PRIMARY KEY (id),
  add constraint class_occurrence_product_id_starts_at_key UNIQUE (product_id, starts_at),
  add constraint class_occurrence_booked_count_check CHECK ((booked_count >= 0)),
  add constraint class_occurrence_capacity_check CHECK ((capacity >= 1)),
  add constraint class_occurrence_check CHECK (((booked_count + claimed_count) <= capacity)),
  add constraint class_occurrence_claimed_count_check CHECK ((claimed_count >= 0));
alter table cohort
  add constraint cohort_pkey PRIMARY KEY (id),
  add constraint cohort_capacity_check CHECK ((capacity >= 1)),
  add constraint cohort_check CHECK (((status = 'CANCELED'::text) = (canceled_at IS NOT NULL))),
  add constraint cohort_claimed_count_check CHECK ((claimed_count >= 0)),
  add constraint cohort_enrolled_count_check CHECK ((enrolled_count >= 0)),
  add constraint cohort_status_check CHECK ((status = ANY (ARRAY['SCHEDULED'::text, 'OPEN'::text, 'FULL'::text, 'RUNNING'::text, 'COMPLETED'::text, 'CANCELED'::text])));
alter table cohort_session
  add constraint cohort_session_pkey PRIMARY KEY (id),
  add constraint cohort_session_check CHECK ((starts_at < ends_at));
alter table cohort_session_removed
  add constraint cohort_session_removed_pkey PRIMARY KEY (id);
alter table cohort_video
  add constraint cohort_video_pkey PRIMARY KEY (id),
  add constraint cohort_video_cohort_id_video_id_key UNIQUE (cohort_id, video_id);
alter table connect_account
  add constraint connect_account_pkey PRIMARY KEY (workspace_id),
  add constraint connect_account_provider_provider_ref_key UNIQUE (provider, provider_ref),
  add constraint connect_account_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text])));
alter table counter_window
  add constraint counter_window_pkey PRIMARY KEY (name, key);
alter table customer
  add constraint customer_pkey PRIMARY KEY (id),
  add constraint customer_workspace_id_email_key UNIQUE (workspace_id, email),
  add constraint customer_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text])));
alter table delivery_job
  add constraint delivery_job_pkey PRIMARY KEY (id),
  add constraint delivery_job_trigger_check CHECK ((trigger = ANY (ARRAY['EVENT'::text, 'TEST'::text, 'REPLAY'::text, 'RECOVER'::text])));
alter table delivery_log
  add constraint delivery_log_pkey PRIMARY KEY (id, created_at),
  add constraint delivery_log_status_check CHECK ((status = ANY (ARRAY['SUCCESS'::text, 'FAILED'::text, 'EXHAUSTED'::text, 'CANCELED'::text]))),
  add constraint delivery_log_trigger_check CHECK ((trigger = ANY (ARRAY['EVENT'::text, 'TEST'::text, 'REPLAY'::text, 'RECOVER'::text])));
alter table deprecated_use
  add constraint deprecated_use_pkey PRIMARY KEY (workspace_id, endpoint);
alter table discount_code
  add constraint discount_code_pkey PRIMARY KEY (id),
  add constraint discount_code_workspace_id_code_key UNIQUE (workspace_id, code),
  add constraint discount_code_amount_cents_off_check CHECK ((amount_cents_off >= 1)),
  add constraint discount_code_check CHECK ((num_nonnulls(percent_off, amount_cents_off) = 1)),
  add constraint discount_code_check1 CHECK (((max_uses IS NULL) OR ((used_count + claimed_count) <= max_uses))),
  add constraint discount_code_claimed_count_check CHECK ((claimed_count >= 0)),
  add constraint discount_code_max_uses_check CHECK ((max_uses >= 1)),
  add constraint discount_code_percent_off_check CHECK (((percent_off >= 1) AND (percent_off <= 100))),
  add constraint discount_code_used_count_check CHECK ((used_count >= 0));
alter table dvr_segment
  add constraint dvr_segment_pkey PRIMARY KEY (stream_id, epoch, file);
alter table email_token
  add constraint email_token_pkey PRIMARY KEY (hash),
  add constraint email_token_purpose_check CHECK ((purpose = ANY (ARRAY['VERIFY_EMAIL'::text, 'RESET_PASSWORD'::text, 'CHANGE_EMAIL'::text, 'KEEP_EMAIL'::text])));
alter table event
  add constraint event_pkey PRIMARY KEY (id, created_at);
alter table external_calendar
  add constraint external_calendar_pkey PRIMARY KEY (id),
  add constraint external_calendar_failure_count_check CHECK ((failure_count >= 0)),
  add constraint external_calendar_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'OK'::text, 'FAILED'::text])));
alter table fact
  add constraint fact_pkey PRIMARY KEY (created_at, id),
  add constraint fact_kind_check CHECK ((kind = ANY (ARRAY['BEACON'::text, 'VIEW'::text, 'IMPRESSION'::text, 'JOIN'::text, 'LEAVE'::text, 'PRESENCE'::text, 'CHAT'::text, 'FOLLOW'::text, 'UNFOLLOW'::text, 'BROADCAST'::text, 'LIVE'::text, 'REQUEST'::text, 'DELIVERY'::text, 'EGRESS'::text, 'ENCODE'::text, 'ROOM'::text, 'STORAGE'::text])));
alter table fact_sum_state
  add constraint fact_sum_state_pkey PRIMARY KEY (is_only),
  add constraint fact_sum_state_is_only_check CHECK (is_only);
alter table follow
  add constraint follow_pkey PRIMARY KEY (id);
alter table follower_count
  add constraint follower_count_pkey PRIMARY KEY (workspace_id),
  add constraint follower_count_followers_check CHECK ((followers >= 0));
alter table idempotency_record
  add constraint idempotency_record_pkey PRIMARY KEY (id),
  add constraint idempotency_record_check CHECK (((status IS NULL) = (body IS NULL)));
alter table import
  add constraint import_pkey PRIMARY KEY (id),
  add constraint import_provider_check CHECK ((provider = ANY (ARRAY['URL'::text, 'S3'::text, 'YOUTUBE'::text, 'VIMEO'::text, 'TWITCH'::text, 'PEERTUBE'::text]))),
  add constraint import_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'DOWNLOADING'::text, 'PROCESSING'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELED'::text]))),
  add constraint import_visibility_check CHECK ((visibility = ANY (ARRAY['PUBLIC'::text, 'UNLISTED'::text, 'PRIVATE'::text, 'FOLLOWERS'::text, 'TIER'::text, 'PURCHASE'::text])));
alter table ingest_session
  add constraint ingest_session_pkey PRIMARY KEY (id);
alter table integration_domain
  add constraint integration_domain_pkey PRIMARY KEY (id),
  add constraint integration_domain_workspace_id_domain_key UNIQUE (workspace_id, domain),
  add constraint integration_domain_method_check CHECK ((method = ANY (ARRAY['DNS_TXT'::text, 'WELL_KNOWN'::text]))),
  add constraint integration_domain_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'VERIFIED'::text, 'FAILED'::text, 'LAPSED'::text])));
alter table job_turn
  add constraint job_turn_pkey PRIMARY KEY (queue, group_id);
alter table ledger_account
  add constraint ledger_account_pkey PRIMARY KEY (id),
  add constraint ledger_account_workspace_id_provider_kind_key UNIQUE (workspace_id, provider, kind),
  add constraint ledger_account_kind_check CHECK ((kind = ANY (ARRAY['BUYERS'::text, 'CREATOR'::text, 'FEES'::text, 'DISPUTED'::text, 'PAID_OUT'::text]))),
  add constraint ledger_account_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text])));
alter table ledger_entry
  add constraint ledger_entry_pkey PRIMARY KEY (transaction_id, account_id),
  add constraint ledger_entry_amount_cents_check CHECK ((amount_cents <> 0));
alter table ledger_revenue
  add constraint ledger_revenue_pkey PRIMARY KEY (workspace_id, quarter);
alter table ledger_revenue_item
  add constraint ledger_revenue_item_pkey PRIMARY KEY (workspace_id, day, sale_kind, item_id),
  add constraint ledger_revenue_item_sale_kind_check CHECK ((sale_kind = ANY (ARRAY['VIDEO'::text, 'BOOKING'::text, 'SUBSCRIPTION'::text])));
alter table ledger_transaction
  add constraint ledger_transaction_pkey PRIMARY KEY (id),
  add constraint ledger_transaction_source_kind_key UNIQUE (source, kind),
  add constraint ledger_transaction_check CHECK ((num_nonnulls(sale_kind, item_id, purchase_id) = ANY (ARRAY[0, 3]))),
  add constraint ledger_transaction_kind_check CHECK ((kind = ANY (ARRAY['CHARGE'::text, 'REFUND'::text, 'DISPUTE_OPENED'::text, 'DISPUTE_WON'::text, 'DISPUTE_LOST'::text, 'PAYOUT'::text, 'PAYOUT_FAILED'::text, 'ADJUSTMENT'::text]))),
  add constraint ledger_transaction_sale_kind_check CHECK ((sale_kind = ANY (ARRAY['VIDEO'::text, 'BOOKING'::text, 'SUBSCRIPTION'::text])));
alter table link_request
  add constraint link_request_pkey PRIMARY KEY (id),
  add constraint link_request_purpose_check CHECK ((purpose = ANY (ARRAY['VERIFY_EMAIL'::text, 'RESET_PASSWORD'::text])));
alter table mail
  add constraint mail_pkey PRIMARY KEY (id),
  add constraint mail_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'SENT'::text, 'KEPT'::text, 'FAILED'::text])));
alter table media_node
  add constraint media_node_pkey PRIMARY KEY (id);
alter table member_link
  add constraint member_link_pkey PRIMARY KEY (token_hash);
alter table member_link_request
  add constraint member_link_request_pkey PRIMARY KEY (id);
alter table member_session
  add constraint member_session_pkey PRIMARY KEY (token_hash);
alter table migration
  add constraint migration_pkey PRIMARY KEY (name);
alter table notification
  add constraint notification_pkey PRIMARY KEY (id),
  add constraint notification_check CHECK (((resource_type IS NULL) = (resource_id IS NULL))),
  add constraint notification_severity_check CHECK ((severity = ANY (ARRAY['INFO'::text, 'WARNING'::text, 'CRITICAL'::text])));
alter table notification_preference
  add constraint notification_preference_pkey PRIMARY KEY (account_id);
alter table notification_reading
  add constraint notification_reading_pkey PRIMARY KEY (notification_id, user_id);
alter table payment
  add constraint payment_pkey PRIMARY KEY (id),
  add constraint payment_provider_key_key UNIQUE (provider_key),
  add constraint payment_outcome_check CHECK ((outcome = ANY (ARRAY['WON'::text, 'LOST'::text]))),
  add constraint payment_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text, 'NONE'::text]))),
  add constraint payment_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'CANCELED'::text]))),
  add constraint payment_type_check CHECK ((type = ANY (ARRAY['CHARGE'::text, 'REFUND'::text, 'DISPUTE'::text, 'FEE'::text, 'ADJUSTMENT'::text])));
alter table payout
  add constraint payout_pkey PRIMARY KEY (id),
  add constraint payout_provider_provider_ref_key UNIQUE (provider, provider_ref),
  add constraint payout_amount_cents_check CHECK ((amount_cents > 0)),
  add constraint payout_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  add constraint payout_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text]))),
  add constraint payout_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'IN_TRANSIT'::text, 'PAID'::text, 'FAILED'::text, 'CANCELED'::text])));
alter table playlist
  add constraint playlist_pkey PRIMARY KEY (id),
  add constraint playlist_visibility_check CHECK ((visibility = ANY (ARRAY['PUBLIC'::text, 'UNLISTED'::text, 'PRIVATE'::text])));
alter table playlist_item
  add constraint playlist_item_pkey PRIMARY KEY (id),
  add constraint playlist_item_playlist_id_position_key UNIQUE (playlist_id, "position") DEFERRABLE INITIALLY DEFERRED,
  add constraint playlist_item_position_check CHECK (("position" >= 0));
alter table provider_event
  add constraint provider_event_pkey PRIMARY KEY (provider, id),
  add constraint provider_event_kind_check CHECK ((kind = ANY (ARRAY['PAYMENT'::text, 'REFUND'::text, 'DISPUTE'::text, 'PAYOUT'::text, 'ACCOUNT'::text, 'CARD'::text]))),
  add constraint provider_event_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text])));
alter table provider_look
  add constraint provider_look_pkey PRIMARY KEY (provider),
  add constraint provider_look_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text])));
alter table purchase
  add constraint purchase_pkey PRIMARY KEY (id),
  add constraint purchase_amount_cents_check CHECK ((amount_cents >= 0)),
  add constraint purchase_check CHECK (((fee_cents >= 0) AND (fee_cents <= amount_cents))),
  add constraint purchase_check1 CHECK (((refunded_cents >= 0) AND (refunded_cents <= amount_cents))),
  add constraint purchase_check2 CHECK (((fee_refunded_cents >= 0) AND (fee_refunded_cents <= fee_cents))),
  add constraint purchase_discount_cents_check CHECK ((discount_cents >= 0)),
  add constraint purchase_kind_check CHECK ((kind = ANY (ARRAY['VIDEO'::text, 'BOOKING'::text, 'SUBSCRIPTION'::text]))),
  add constraint purchase_status_before_dispute_check CHECK ((status_before_dispute = ANY (ARRAY['PAID'::text, 'PARTIALLY_REFUNDED'::text]))),
  add constraint purchase_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'PAID'::text, 'FAILED'::text, 'REFUNDED'::text, 'PARTIALLY_REFUNDED'::text, 'DISPUTED'::text])));
alter table quota_notice
  add constraint quota_notice_pkey PRIMARY KEY (workspace_id, resource),
  add constraint quota_notice_told_check CHECK ((told = ANY (ARRAY[0, 80, 95, 100])));
alter table recording
  add constraint recording_pkey PRIMARY KEY (id),
  add constraint recording_number UNIQUE (session_id, number),
  add constraint recording_video_id_key UNIQUE (video_id);
alter table recording_part
  add constraint recording_part_pkey PRIMARY KEY (id);
alter table recovery_code
  add constraint recovery_code_pkey PRIMARY KEY (account_id, hash);
alter table registration_invite
  add constraint registration_invite_pkey PRIMARY KEY (hash);
alter table release_notice
  add constraint release_notice_pkey PRIMARY KEY (version);
alter table request_log
  add constraint request_log_pkey PRIMARY KEY (workspace_id, id, created_at);
alter table restream
  add constraint restream_pkey PRIMARY KEY (id),
  add constraint restream_operation_id_key UNIQUE (operation_id),
  add constraint restream_start_mode_check CHECK ((start_mode = ANY (ARRAY['WITH_BROADCAST'::text, 'WITH_SIGNAL'::text, 'MANUAL'::text]))),
  add constraint restream_wish_check CHECK ((wish = ANY (ARRAY['AUTO'::text, 'STARTED'::text, 'STOPPED'::text])));
alter table restream_target
  add constraint restream_target_pkey PRIMARY KEY (id),
  add constraint restream_target_check CHECK (((state = 'ERRORED'::text) = (error_severity IS NOT NULL))),
  add constraint restream_target_error_severity_check CHECK ((error_severity = ANY (ARRAY['NORMAL'::text, 'FATAL'::text]))),
  add constraint restream_target_platform_check CHECK ((platform = ANY (ARRAY['YOUTUBE'::text, 'TWITCH'::text, 'FACEBOOK'::text, 'KICK'::text, 'X'::text, 'CUSTOM'::text]))),
  add constraint restream_target_state_check CHECK ((state = ANY (ARRAY['IDLE'::text, 'CONNECTING'::text, 'BROADCASTING'::text, 'ERRORED'::text])));
alter table room
  add constraint room_pkey PRIMARY KEY (id),
  add constraint room_check CHECK (((status = 'ENDED'::text) = (end_reason IS NOT NULL))),
  add constraint room_check1 CHECK (((status = 'ENDED'::text) = (ended_at IS NOT NULL))),
  add constraint room_end_reason_check CHECK ((end_reason = ANY (ARRAY['CALL'::text, 'DELETED'::text, 'MAX_DURATION'::text, 'EXPIRED'::text, 'ALONE'::text, 'SUSPENDED'::text]))),
  add constraint room_record_layout_check CHECK ((record_layout = ANY (ARRAY['GRID'::text, 'SPEAKER'::text]))),
  add constraint room_status_check CHECK ((status = ANY (ARRAY['CREATED'::text, 'ACTIVE'::text, 'ENDED'::text])));
alter table room_ban
  add constraint room_ban_pkey PRIMARY KEY (room_id, identity);
alter table room_message
  add constraint room_message_pkey PRIMARY KEY (id);
alter table room_node
  add constraint room_node_pkey PRIMARY KEY (id);
alter table room_participant
  add constraint room_participant_pkey PRIMARY KEY (id),
  add constraint room_participant_check CHECK (((state = 'LEFT'::text) = (leave_reason IS NOT NULL))),
  add constraint room_participant_check1 CHECK (((state = 'LEFT'::text) = (left_at IS NOT NULL))),
  add constraint room_participant_check2 CHECK (((connection_id IS NULL) = (node_id IS NULL))),
  add constraint room_participant_leave_reason_check CHECK ((leave_reason = ANY (ARRAY['CLIENT'::text, 'KICKED'::text, 'DENIED'::text, 'ROOM_ENDED'::text, 'TIMEOUT'::text, 'DUPLICATE_IDENTITY'::text]))),
  add constraint room_participant_role_check CHECK ((role = ANY (ARRAY['HOST'::text, 'SPEAKER'::text, 'VIEWER'::text]))),
  add constraint room_participant_state_check CHECK ((state = ANY (ARRAY['JOINING'::text, 'ACTIVE'::text, 'LEFT'::text])));
alter table room_recording
  add constraint room_recording_pkey PRIMARY KEY (id),
  add constraint room_recording_video_id_key UNIQUE (video_id),
  add constraint room_recording_end_reason_check CHECK ((end_reason = ANY (ARRAY['QUOTA_EXCEEDED'::text, 'DISK_FULL'::text, 'TOO_LONG'::text]))),
  add constraint room_recording_layout_check CHECK ((layout = ANY (ARRAY['GRID'::text, 'SPEAKER'::text])));
alter table sandbox_card
  add constraint sandbox_card_pkey PRIMARY KEY (ref),
  add constraint sandbox_card_key_key UNIQUE (key);
alter table sandbox_payment
  add constraint sandbox_payment_pkey PRIMARY KEY (ref),
  add constraint sandbox_payment_key_key UNIQUE (key),
  add constraint sandbox_payment_amount_cents_check CHECK ((amount_cents >= 0)),
  add constraint sandbox_payment_dispute_status_check CHECK ((dispute_status = ANY (ARRAY['OPEN'::text, 'WON'::text, 'LOST'::text]))),
  add constraint sandbox_payment_status_check CHECK ((status = ANY (ARRAY['ACTION'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'CANCELED'::text])));
alter table sandbox_refund
  add constraint sandbox_refund_pkey PRIMARY KEY (ref),
  add constraint sandbox_refund_key_key UNIQUE (key),
  add constraint sandbox_refund_amount_cents_check CHECK ((amount_cents > 0));
alter table sign_in_challenge
  add constraint sign_in_challenge_pkey PRIMARY KEY (id);
alter table sign_in_place
  add constraint sign_in_place_pkey PRIMARY KEY (account_id, place);
alter table signal_simulation
  add constraint signal_simulation_pkey PRIMARY KEY (stream_id);
alter table signing_key
  add constraint signing_key_pkey PRIMARY KEY (kid);
alter table stream
  add constraint stream_pkey PRIMARY KEY (id),
  add constraint stream_chat_mode_check CHECK ((chat_mode = ANY (ARRAY['OPEN'::text, 'FOLLOWERS'::text, 'TIER'::text, 'OFF'::text]))),
  add constraint stream_dvr_window CHECK (((dvr_window_sec >= 0) AND (dvr_window_sec <= 14400))),
  add constraint stream_latency_mode_check CHECK ((latency_mode = ANY (ARRAY['STANDARD'::text, 'LOW'::text]))),
  add constraint stream_record_visibility_check CHECK ((record_visibility = ANY (ARRAY['PUBLIC'::text, 'UNLISTED'::text, 'PRIVATE'::text, 'FOLLOWERS'::text, 'TIER'::text, 'PURCHASE'::text]))),
  add constraint stream_takedown_reason CHECK (((taken_down_at IS NULL) = (takedown_reason IS NULL))),
  add constraint stream_visibility_check CHECK ((visibility = ANY (ARRAY['PUBLIC'::text, 'UNLISTED'::text, 'PRIVATE'::text, 'FOLLOWERS'::text, 'TIER'::text, 'PURCHASE'::text])));
alter table stream_health_point
  add constraint stream_health_point_pkey PRIMARY KEY (stream_id, at);
alter table stream_log
  add constraint stream_log_pkey PRIMARY KEY (stream_id, tail, seq),
  add constraint stream_log_tail_check CHECK ((tail = ANY (ARRAY['CHAT'::text, 'RESTREAM'::text, 'STATUS'::text])));
alter table stream_log_head
  add constraint stream_log_head_pkey PRIMARY KEY (stream_id, tail),
  add constraint stream_log_head_tail_check CHECK ((tail = ANY (ARRAY['CHAT'::text, 'RESTREAM'::text, 'STATUS'::text])));
alter table stream_session
  add constraint stream_session_pkey PRIMARY KEY (id);
alter table stream_viewer
  add constraint stream_viewer_pkey PRIMARY KEY (stream_id, viewer);
alter table subscriber
  add constraint subscriber_pkey PRIMARY KEY (id),
  add constraint subscriber_round_check CHECK ((round > 0)),
  add constraint subscriber_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'CONFIRMED'::text, 'UNSUBSCRIBED'::text])));
alter table subscriber_address
  add constraint subscriber_address_pkey PRIMARY KEY (workspace_id, address);
alter table subscription
  add constraint subscription_pkey PRIMARY KEY (id),
  add constraint subscription_cancel_reason_check CHECK ((cancel_reason = ANY (ARRAY['MEMBER_CANCELED'::text, 'CREATOR_CANCELED'::text, 'REFUNDED'::text, 'DISPUTE_LOST'::text, 'PAYMENT_FAILED'::text]))),
  add constraint subscription_charge_interval_check CHECK ((charge_interval = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
  add constraint subscription_charge_kind_check CHECK ((charge_kind = ANY (ARRAY['RENEWAL'::text, 'CONFIRMATION'::text, 'SWITCH'::text]))),
  add constraint subscription_charge_price_cents_check CHECK ((charge_price_cents >= 0)),
  add constraint subscription_check CHECK (((status = ANY (ARRAY['CANCELED'::text, 'EXPIRED'::text])) = (ended_at IS NOT NULL))),
  add constraint subscription_check1 CHECK (((charge_kind IS NULL) = (payment_id IS NULL))),
  add constraint subscription_discount_cents_check CHECK ((discount_cents >= 0)),
  add constraint subscription_interval_check CHECK (("interval" = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
  add constraint subscription_migrated_price_cents_check CHECK ((migrated_price_cents >= 0)),
  add constraint subscription_pending_interval_check CHECK ((pending_interval = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
  add constraint subscription_pending_price_cents_check CHECK ((pending_price_cents >= 0)),
  add constraint subscription_price_cents_check CHECK ((price_cents >= 0)),
  add constraint subscription_status_check CHECK ((status = ANY (ARRAY['TRIALING'::text, 'ACTIVE'::text, 'PAST_DUE'::text, 'CANCELED'::text, 'EXPIRED'::text])));
alter table support_message
  add constraint support_message_pkey PRIMARY KEY (id),
  add constraint support_message_author_check CHECK ((author = ANY (ARRAY['PARTNER'::text, 'STAFF'::text])));
alter table support_ticket
  add constraint support_ticket_pkey PRIMARY KEY (id),
  add constraint support_ticket_account_id_number_key UNIQUE (account_id, number),
  add constraint support_ticket_category_check CHECK ((category = ANY (ARRAY['BILLING'::text, 'TECHNICAL'::text, 'ACCOUNT'::text, 'ABUSE'::text, 'OTHER'::text]))),
  add constraint support_ticket_check CHECK (((status = 'RESOLVED'::text) = (resolved_at IS NOT NULL))),
  add constraint support_ticket_check1 CHECK (((account_id IS NULL) = (workspace_id IS NULL))),
  add constraint support_ticket_check2 CHECK (((account_id IS NULL) = (reported_type IS NOT NULL))),
  add constraint support_ticket_check3 CHECK (((reported_type IS NULL) = (reported_id IS NULL))),
  add constraint support_ticket_check4 CHECK (((reporter_email IS NULL) OR (account_id IS NULL))),
  add constraint support_ticket_number_check CHECK ((number > 0)),
  add constraint support_ticket_priority_check CHECK ((priority = ANY (ARRAY['LOW'::text, 'NORMAL'::text, 'HIGH'::text]))),
  add constraint support_ticket_reported_type_check CHECK ((reported_type = ANY (ARRAY['VIDEO'::text, 'STREAM'::text, 'CHANNEL'::text]))),
  add constraint support_ticket_status_check CHECK ((status = ANY (ARRAY['OPEN'::text, 'PENDING'::text, 'RESOLVED'::text, 'CLOSED'::text])));
alter table team_activity
  add constraint team_activity_pkey PRIMARY KEY (account_id, user_id);
alter table team_invitation
  add constraint team_invitation_pkey PRIMARY KEY (id),
  add constraint team_invitation_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'ACCEPTED'::text, 'REVOKED'::text, 'EXPIRED'::text]))),
  add constraint team_invitation_team_role_check CHECK ((team_role = ANY (ARRAY['ADMIN'::text, 'EDITOR'::text, 'ANALYST'::text])));
alter table team_member
  add constraint team_member_pkey PRIMARY KEY (id),
  add constraint team_member_account_id_user_id_key UNIQUE (account_id, user_id),
  add constraint team_member_check CHECK ((account_id <> user_id)),
  add constraint team_member_team_role_check CHECK ((team_role = ANY (ARRAY['ADMIN'::text, 'EDITOR'::text, 'ANALYST'::text])));
alter table tier
  add constraint tier_pkey PRIMARY KEY (id),
  add constraint tier_claimed_count_check CHECK ((claimed_count >= 0)),
  add constraint tier_interval_check CHECK (("interval" = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
  add constraint tier_max_members_check CHECK ((max_members >= 1)),
  add constraint tier_member_count_check CHECK ((member_count >= 0)),
  add constraint tier_price_cents_check CHECK ((price_cents >= 0)),
  add constraint tier_trial_days_check CHECK (((trial_days >= 0) AND (trial_days <= 90)));
alter table transcode_node
  add constraint transcode_node_pkey PRIMARY KEY (id);
alter table two_factor
  add constraint two_factor_pkey PRIMARY KEY (account_id);
alter table upload
  add constraint upload_pkey PRIMARY KEY (id),
  add constraint upload_protocol_check CHECK ((protocol = ANY (ARRAY['TUS'::text, 'PUT'::text]))),
  add constraint upload_status_check CHECK ((status = ANY (ARRAY['WAITING'::text, 'UPLOADING'::text, 'COMPLETED'::text, 'CANCELED'::text, 'EXPIRED'::text, 'FAILED'::text])));
alter table usage_request
  add constraint usage_request_pkey PRIMARY KEY (workspace_id, at, key_id);
alter table usage_total
  add constraint usage_total_pkey PRIMARY KEY (workspace_id, metric, span, at),
  add constraint usage_total_metric_check CHECK ((metric = ANY (ARRAY['STORAGE'::text, 'EGRESS'::text, 'ENCODE'::text, 'LIVE'::text, 'ROOM'::text, 'REQUEST'::text, 'DELIVERY'::text]))),
  add constraint usage_total_span_check CHECK ((span = ANY (ARRAY[15, 1440])));
alter table user_session
  add constraint user_session_pkey PRIMARY KEY (id);
alter table user_token
  add constraint user_token_pkey PRIMARY KEY (id);
alter table video
  add constraint video_pkey PRIMARY KEY (id),
  add constraint video_source_check CHECK ((source = ANY (ARRAY['UPLOAD'::text, 'IMPORT'::text, 'RECORDING'::text, 'CLIP'::text]))),
  add constraint video_status_check CHECK ((status = ANY (ARRAY['UPLOADING'::text, 'QUEUED'::text, 'PROCESSING'::text, 'READY'::text, 'FAILED'::text]))),
  add constraint video_takedown_reason CHECK (((taken_down_at IS NULL) = (takedown_reason IS NULL))),
  add constraint video_visibility_check CHECK ((visibility = ANY (ARRAY['PUBLIC'::text, 'UNLISTED'::text, 'PRIVATE'::text, 'FOLLOWERS'::text, 'TIER'::text, 'PURCHASE'::text])));
alter table video_caption
  add constraint video_caption_pkey PRIMARY KEY (id),
  add constraint video_caption_video_id_language_key UNIQUE (video_id, language);
alter table video_chunk
  add constraint video_chunk_pkey PRIMARY KEY (video_id, revision, number);
alter table video_folder
  add constraint video_folder_pkey PRIMARY KEY (video_id, number);
alter table video_processing
  add constraint video_processing_pkey PRIMARY KEY (video_id, revision),
  add constraint video_processing_mode_check CHECK ((mode = ANY (ARRAY['WHOLE'::text, 'SPLIT'::text, 'CHUNKS'::text])));
alter table video_rendition
  add constraint video_rendition_pkey PRIMARY KEY (video_id, revision, name),
  add constraint video_rendition_codec_check CHECK ((codec = ANY (ARRAY['H264'::text, 'HEVC'::text, 'AV1'::text]))),
  add constraint video_rendition_kind_check CHECK ((kind = ANY (ARRAY['VIDEO'::text, 'AUDIO'::text]))),
  add constraint video_rendition_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'PROCESSING'::text, 'READY'::text]))),
  add constraint video_rendition_video_range_check CHECK ((video_range = ANY (ARRAY['SDR'::text, 'PQ'::text, 'HLG'::text])));
alter table video_replacement
  add constraint video_replacement_pkey PRIMARY KEY (video_id, revision),
  add constraint video_replacement_source_check CHECK ((num_nonnulls(upload_id, import_id) = 1)),
  add constraint video_replacement_status_check CHECK ((status = ANY (ARRAY['UPLOADING'::text, 'QUEUED'::text, 'PROCESSING'::text, 'READY'::text, 'FAILED'::text, 'CANCELED'::text])));
alter table video_tag
  add constraint video_tag_pkey PRIMARY KEY (workspace_id, tag, status, visibility, video_id);
alter table video_transcription
  add constraint video_transcription_pkey PRIMARY KEY (video_id),
  add constraint video_transcription_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'PROCESSING'::text, 'READY'::text, 'FAILED'::text])));
alter table video_view
  add constraint video_view_pkey PRIMARY KEY (video_id, viewer);
alter table viewer_salt
  add constraint viewer_salt_pkey PRIMARY KEY (day);
alter table waitlist_entry
  add constraint waitlist_entry_pkey PRIMARY KEY (id),
  add constraint waitlist_entry_check CHECK (((status = 'OFFERED'::text) <= (offer_expires_at IS NOT NULL))),
  add constraint waitlist_entry_check1 CHECK ((keeps_place <= (status = 'OFFERED'::text))),
  add constraint waitlist_entry_status_check CHECK ((status = ANY (ARRAY['WAITING'::text, 'OFFERED'::text, 'CONVERTED'::text, 'EXPIRED'::text, 'REMOVED'::text])));
alter table watched_stream
  add constraint watched_stream_pkey PRIMARY KEY (stream_id);
alter table webhook
  add constraint webhook_pkey PRIMARY KEY (id);
alter table whep_session
  add constraint whep_session_pkey PRIMARY KEY (id),
  add constraint whep_session_refusal_check CHECK ((refusal = ANY (ARRAY['OFFER'::text, 'SIGNAL'::text, 'FULL'::text]))),
  add constraint whep_session_state_check CHECK ((state = ANY (ARRAY['OFFERED'::text, 'ANSWERED'::text, 'REFUSED'::text, 'ENDING'::text])));
alter table whip_session
  add constraint whip_session_pkey PRIMARY KEY (id),
  add constraint whip_session_state_check CHECK ((state = ANY (ARRAY['OFFERED'::text, 'ANSWERED'::text, 'REFUSED'::text, 'ENDING'::text])));
alter table workspace
  add constraint workspace_pkey PRIMARY KEY (id),
  add constraint workspace_account_id_mode_key UNIQUE (account_id, mode),
  add constraint workspace_calendar_no_key UNIQUE (calendar_no),
  add constraint workspace_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text])));
alter table external_busy
  add constraint external_busy_check CHECK ((starts_at < free_at));
alter table kept_count
  add constraint kept_count_name_check CHECK ((name = ANY (ARRAY['VIDEOS'::text, 'VIDEOS_READY'::text, 'VIDEOS_PROCESSING'::text, 'VIDEOS_FAILED'::text, 'VIDEO_MS'::text, 'STREAMS'::text, 'PLAYLISTS'::text, 'SUBSCRIBERS'::text])));
alter table account_erasure
  add constraint account_erasure_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table account_export
  add constraint account_export_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table api_key
  add constraint api_key_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  add constraint api_key_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table api_key_retired_secret
  add constraint api_key_retired_secret_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id) ON DELETE CASCADE;
alter table availability
  add constraint availability_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table avatar
  add constraint avatar_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table banner
  add constraint banner_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table booking
  add constraint booking_cohort_id_fkey FOREIGN KEY (cohort_id) REFERENCES cohort(id),
  add constraint booking_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE SET NULL,
  add constraint booking_occurrence_id_fkey FOREIGN KEY (occurrence_id) REFERENCES class_occurrence(id),
  add constraint booking_product_id_fkey FOREIGN KEY (product_id) REFERENCES booking_product(id),
  add constraint booking_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table booking_feed
  add constraint booking_feed_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table booking_product
  add constraint booking_product_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table bridge
  add constraint bridge_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table calendar_busy
  add constraint calendar_busy_booking_id_fkey FOREIGN KEY (booking_id) REFERENCES booking(id) ON DELETE CASCADE,
  add constraint calendar_busy_calendar_no_fkey FOREIGN KEY (calendar_no) REFERENCES workspace(calendar_no) ON DELETE CASCADE,
  add constraint calendar_busy_occurrence_id_fkey FOREIGN KEY (occurrence_id) REFERENCES class_occurrence(id) ON DELETE CASCADE,
  add constraint calendar_busy_product_id_fkey FOREIGN KEY (product_id) REFERENCES booking_product(id) ON DELETE CASCADE,
  add constraint calendar_busy_session_id_fkey FOREIGN KEY (session_id) REFERENCES cohort_session(id) ON DELETE CASCADE,
  add constraint calendar_busy_waitlist_id_fkey FOREIGN KEY (waitlist_id) REFERENCES waitlist_entry(id) ON DELETE CASCADE;
alter table channel
  add constraint channel_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table chat_ban
  add constraint chat_ban_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE;
alter table chat_message
  add constraint chat_message_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE;
alter table checkout
  add constraint checkout_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE SET NULL,
  add constraint checkout_discount_code_id_fkey FOREIGN KEY (discount_code_id) REFERENCES discount_code(id) ON DELETE SET NULL,
  add constraint checkout_tier_id_fkey FOREIGN KEY (tier_id) REFERENCES tier(id) ON DELETE CASCADE,
  add constraint checkout_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table class_occurrence
  add constraint class_occurrence_product_id_fkey FOREIGN KEY (product_id) REFERENCES booking_product(id) ON DELETE CASCADE,
  add constraint class_occurrence_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table cohort
  add constraint cohort_product_id_fkey FOREIGN KEY (product_id) REFERENCES booking_product(id) ON DELETE CASCADE,
  add constraint cohort_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table cohort_session
  add constraint cohort_session_cohort_id_fkey FOREIGN KEY (cohort_id) REFERENCES cohort(id) ON DELETE CASCADE;
alter table cohort_session_removed
  add constraint cohort_session_removed_cohort_id_fkey FOREIGN KEY (cohort_id) REFERENCES cohort(id) ON DELETE CASCADE;
alter table cohort_video
  add constraint cohort_video_cohort_id_fkey FOREIGN KEY (cohort_id) REFERENCES cohort(id) ON DELETE CASCADE,
  add constraint cohort_video_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE;
alter table connect_account
  add constraint connect_account_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table customer
  add constraint customer_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table deprecated_use
  add constraint deprecated_use_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table discount_code
  add constraint discount_code_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table dvr_segment
  add constraint dvr_segment_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE,
  add constraint dvr_segment_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table email_token
  add constraint email_token_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table external_busy
  add constraint external_busy_calendar_id_fkey FOREIGN KEY (calendar_id) REFERENCES external_calendar(id) ON DELETE CASCADE;
alter table external_calendar
  add constraint external_calendar_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table follow
  add constraint follow_follower_id_fkey FOREIGN KEY (follower_id) REFERENCES account(id) ON DELETE CASCADE,
  add constraint follow_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table follower_count
  add constraint follower_count_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table import
  add constraint import_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE SET NULL,
  add constraint import_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table ingest_session
  add constraint ingest_session_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE;
alter table integration_domain
  add constraint integration_domain_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table kept_count
  add constraint kept_count_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table ledger_entry
  add constraint ledger_entry_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger_account(id),
  add constraint ledger_entry_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transaction(id);
alter table member_link
  add constraint member_link_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE;
alter table member_link_request
  add constraint member_link_request_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table member_session
  add constraint member_session_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  add constraint member_session_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table notification
  add constraint notification_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table notification_preference
  add constraint notification_preference_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table notification_reading
  add constraint notification_reading_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES notification(id) ON DELETE CASCADE,
  add constraint notification_reading_user_id_fkey FOREIGN KEY (user_id) REFERENCES account(id) ON DELETE CASCADE;
alter table payment
  add constraint payment_purchase_id_fkey FOREIGN KEY (purchase_id) REFERENCES purchase(id) ON DELETE CASCADE,
  add constraint payment_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table payout
  add constraint payout_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table playlist
  add constraint playlist_thumbnail_video_id_fkey FOREIGN KEY (thumbnail_video_id) REFERENCES video(id) ON DELETE SET NULL,
  add constraint playlist_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table playlist_item
  add constraint playlist_item_playlist_id_fkey FOREIGN KEY (playlist_id) REFERENCES playlist(id) ON DELETE CASCADE,
  add constraint playlist_item_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE;
alter table purchase
  add constraint purchase_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id),
  add constraint purchase_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table quota_notice
  add constraint quota_notice_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table recording
  add constraint recording_session_id_fkey FOREIGN KEY (session_id) REFERENCES stream_session(id) ON DELETE CASCADE,
  add constraint recording_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table recording_part
  add constraint recording_part_recording_id_fkey FOREIGN KEY (recording_id) REFERENCES recording(id) ON DELETE CASCADE;
alter table recovery_code
  add constraint recovery_code_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table restream
  add constraint restream_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE,
  add constraint restream_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table restream_target
  add constraint restream_target_restream_id_fkey FOREIGN KEY (restream_id) REFERENCES restream(id) ON DELETE CASCADE;
alter table room
  add constraint room_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table room_ban
  add constraint room_ban_room_id_fkey FOREIGN KEY (room_id) REFERENCES room(id) ON DELETE CASCADE;
alter table room_participant
  add constraint room_participant_room_id_fkey FOREIGN KEY (room_id) REFERENCES room(id) ON DELETE CASCADE;
alter table room_recording
  add constraint room_recording_room_id_fkey FOREIGN KEY (room_id) REFERENCES room(id) ON DELETE SET NULL,
  add constraint room_recording_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table sandbox_card
  add constraint sandbox_card_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table sandbox_payment
  add constraint sandbox_payment_card_ref_fkey FOREIGN KEY (card_ref) REFERENCES sandbox_card(ref),
  add constraint sandbox_payment_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table sandbox_refund
  add constraint sandbox_refund_payment_ref_fkey FOREIGN KEY (payment_ref) REFERENCES sandbox_payment(ref) ON DELETE CASCADE;
alter table sign_in_challenge
  add constraint sign_in_challenge_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table sign_in_place
  add constraint sign_in_place_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table signal_simulation
  add constraint signal_simulation_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE,
  add constraint signal_simulation_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table stream
  add constraint stream_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table stream_log
  add constraint stream_log_stream_id_tail_fkey FOREIGN KEY (stream_id, tail) REFERENCES stream_log_head(stream_id, tail) ON DELETE CASCADE;
alter table stream_log_head
  add constraint stream_log_head_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE;
alter table stream_session
  add constraint stream_session_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE,
  add constraint stream_session_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table subscriber
  add constraint subscriber_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table subscriber_address
  add constraint subscriber_address_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table subscription
  add constraint subscription_charge_tier_id_fkey FOREIGN KEY (charge_tier_id) REFERENCES tier(id),
  add constraint subscription_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id),
  add constraint subscription_pending_tier_id_fkey FOREIGN KEY (pending_tier_id) REFERENCES tier(id),
  add constraint subscription_tier_id_fkey FOREIGN KEY (tier_id) REFERENCES tier(id),
  add constraint subscription_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table support_message
  add constraint support_message_ticket_id_fkey FOREIGN KEY (ticket_id) REFERENCES support_ticket(id) ON DELETE CASCADE;
alter table support_ticket
  add constraint support_ticket_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  add constraint support_ticket_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table team_activity
  add constraint team_activity_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  add constraint team_activity_user_id_fkey FOREIGN KEY (user_id) REFERENCES account(id) ON DELETE CASCADE;
alter table team_invitation
  add constraint team_invitation_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table team_member
  add constraint team_member_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  add constraint team_member_user_id_fkey FOREIGN KEY (user_id) REFERENCES account(id) ON DELETE CASCADE;
alter table tier
  add constraint tier_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table two_factor
  add constraint two_factor_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table upload
  add constraint upload_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE,
  add constraint upload_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table user_session
  add constraint user_session_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table user_token
  add constraint user_token_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table video
  add constraint video_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table video_caption
  add constraint video_caption_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE;
alter table video_chunk
  add constraint video_chunk_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE;
alter table video_folder
  add constraint video_folder_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE;
alter table video_processing
  add constraint video_processing_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE;
alter table video_rendition
  add constraint video_rendition_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE;
alter table video_replacement
  add constraint video_replacement_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE;
alter table video_transcription
  add constraint video_transcription_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE;
alter table video_view
  add constraint video_view_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE;
alter table waitlist_entry
  add constraint waitlist_entry_cohort_id_fkey FOREIGN KEY (cohort_id) REFERENCES cohort(id) ON DELETE CASCADE,
  add constraint waitlist_entry_occurrence_id_fkey FOREIGN KEY (occurrence_id) REFERENCES class_occurrence(id),
  add constraint waitlist_entry_offered_cohort_id_fkey FOREIGN KEY (offered_cohort_id) REFERENCES cohort(id) ON DELETE CASCADE,
  add constraint waitlist_entry_product_id_fkey FOREIGN KEY (product_id) REFERENCES booking_product(id) ON DELETE CASCADE,
  add constraint waitlist_entry_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table watched_stream
  add constraint watched_stream_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE;
alter table webhook
  add constraint webhook_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE;
alter table workspace
  add constraint workspace_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
CREATE UNIQUE INDEX account_email ON account (email);
CREATE INDEX account_export_account ON account_export (account_id, id);
CREATE UNIQUE INDEX account_export_pending ON account_export (account_id) WHERE (status = 'PENDING'::text);
CREATE UNIQUE INDEX account_username ON account (username);
CREATE INDEX analytics_retention_span ON analytics_retention (span, at);
CREATE INDEX analytics_share_span ON analytics_share (span, at);
CREATE INDEX analytics_total_at ON analytics_total (workspace_id, subject_kind, span, at);
CREATE INDEX analytics_total_span ON analytics_total (span, at);
CREATE INDEX api_key_account ON api_key (account_id, id);
CREATE INDEX api_key_ended ON api_key (workspace_id, id COLLATE "C" DESC) WHERE ((revoked_at IS NOT NULL) OR (expires_at IS NOT NULL));
CREATE INDEX api_key_expiry ON api_key (expires_at) WHERE ((expires_at IS NOT NULL) AND (revoked_at IS NULL) AND (expiry_announced_at IS NULL));
CREATE UNIQUE INDEX api_key_hash ON api_key (hash);
CREATE INDEX api_key_made_by ON api_key (made_by) WHERE (made_by IS NOT NULL);
CREATE INDEX api_key_retired_secret_key ON api_key_retired_secret (key_id);
CREATE INDEX api_key_usable ON api_key (workspace_id, id COLLATE "C" DESC) WHERE (revoked_at IS NULL);
CREATE INDEX api_key_workspace ON api_key (workspace_id, id COLLATE "C" DESC);
CREATE INDEX booking_cohort ON booking (cohort_id, status, id COLLATE "C" DESC) WHERE (cohort_id IS NOT NULL);
CREATE INDEX booking_coming ON booking (ends_at) WHERE (status = 'CONFIRMED'::text);
CREATE INDEX booking_customer ON booking (customer_id);
CREATE INDEX booking_day ON booking (workspace_id, date_trunc('day'::text, (starts_at AT TIME ZONE 'UTC'::text)), status, id COLLATE "C" DESC);
CREATE INDEX booking_email ON booking (workspace_id, customer_email, id DESC);
CREATE INDEX booking_held ON booking (held_until) WHERE (status = 'PENDING_PAYMENT'::text);
CREATE INDEX booking_month ON booking (workspace_id, date_trunc('month'::text, (starts_at AT TIME ZONE 'UTC'::text)), status, id COLLATE "C" DESC);
CREATE INDEX booking_occurrence ON booking (occurrence_id) WHERE (occurrence_id IS NOT NULL);
CREATE INDEX booking_product_list ON booking_product (workspace_id, type, status, id COLLATE "C" DESC);
CREATE UNIQUE INDEX booking_product_slug ON booking_product (workspace_id, slug) WHERE ((slug IS NOT NULL) AND (status <> 'ARCHIVED'::text));
CREATE INDEX booking_product_start ON booking (product_id, starts_at);
CREATE INDEX booking_product_state ON booking (product_id, status, id COLLATE "C" DESC);
CREATE INDEX booking_product_workspace ON booking_product (workspace_id, id DESC);
CREATE INDEX booking_recording ON booking (recording_video_id) WHERE (recording_video_id IS NOT NULL);
CREATE INDEX booking_room ON booking (room_id) WHERE (room_id IS NOT NULL);
CREATE INDEX booking_search ON booking USING gin ((((sampled_spans(product_id, id) || sampled_spans((workspace_id || customer_email), id)) || ARRAY[status])), ((day_and_month(starts_at) || ARRAY[cohort_id]))) WITH (gin_pending_list_limit='64');
CREATE INDEX booking_starts ON booking (workspace_id, starts_at);
CREATE INDEX booking_state ON booking (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX booking_unreminded ON booking (starts_at) WHERE ((status = 'CONFIRMED'::text) AND (reminded_at IS NULL));
CREATE INDEX booking_upcoming ON booking (workspace_id, starts_at) WHERE (status = 'CONFIRMED'::text);
CREATE INDEX booking_workspace ON booking (workspace_id, id DESC);
CREATE UNIQUE INDEX bridge_feeds ON bridge (target_id) WHERE ((type <> 'STREAM_TO_ROOM'::text) AND (status <> ALL (ARRAY['FAILED'::text, 'STOPPED'::text])));
CREATE INDEX bridge_open ON bridge (target_id) WHERE (status <> ALL (ARRAY['FAILED'::text, 'STOPPED'::text]));
CREATE INDEX bridge_source ON bridge (source_id) WHERE (status <> ALL (ARRAY['FAILED'::text, 'STOPPED'::text]));
CREATE INDEX bridge_state ON bridge (workspace_id, type, status, id COLLATE "C" DESC);
CREATE INDEX bridge_target ON bridge (target_id, type, status, id COLLATE "C" DESC);
CREATE INDEX bridge_workspace ON bridge (workspace_id, id DESC);
CREATE INDEX calendar_busy_time ON calendar_busy (calendar_no, free_at);
CREATE INDEX chat_message_author ON chat_message (stream_id, author_id, seq DESC);
CREATE INDEX chat_message_created ON chat_message (created_at);
CREATE INDEX chat_message_time ON chat_message (stream_id, created_at);
CREATE INDEX checkout_booking ON checkout (booking_id) WHERE (booking_id IS NOT NULL);
CREATE INDEX checkout_claimed ON checkout (claimed_until) WHERE (claimed_until IS NOT NULL);
CREATE INDEX checkout_open ON checkout (expires_at) WHERE (status = 'OPEN'::text);
CREATE INDEX checkout_workspace ON checkout (workspace_id, id DESC);
CREATE INDEX cohort_coming ON cohort (workspace_id, starts_at) WHERE (status = ANY (ARRAY['SCHEDULED'::text, 'OPEN'::text, 'FULL'::text]));
CREATE INDEX cohort_open ON cohort (id) WHERE (status = ANY (ARRAY['SCHEDULED'::text, 'OPEN'::text, 'FULL'::text, 'RUNNING'::text]));
CREATE INDEX cohort_product ON cohort (product_id, id DESC);
CREATE INDEX cohort_session_cohort ON cohort_session (cohort_id, starts_at);
CREATE INDEX cohort_session_removed_change ON cohort_session_removed (cohort_id, change_no);
CREATE INDEX cohort_session_start ON cohort_session (starts_at);
CREATE INDEX cohort_video_video ON cohort_video (video_id);
CREATE INDEX customer_email ON customer (email);
CREATE INDEX delivery_job_due ON delivery_job (webhook_id, next_at);
CREATE INDEX delivery_job_webhook ON delivery_job (webhook_id, id);
CREATE INDEX delivery_log_event ON delivery_log (event_id);
CREATE INDEX delivery_log_status ON delivery_log (webhook_id, status, id COLLATE "C" DESC);
CREATE INDEX delivery_log_trigger ON delivery_log (webhook_id, trigger, status, id COLLATE "C" DESC) WHERE (trigger <> 'EVENT'::text);
CREATE INDEX delivery_log_type ON delivery_log (webhook_id, event_type, status, id COLLATE "C" DESC);
CREATE INDEX delivery_log_webhook ON delivery_log (webhook_id, id COLLATE "C" DESC);
CREATE INDEX deprecated_use_time ON deprecated_use (last_used_at);
CREATE INDEX discount_code_workspace ON discount_code (workspace_id, id DESC);
CREATE INDEX dvr_segment_time ON dvr_segment (stream_id, start_ms);
CREATE INDEX email_token_account ON email_token (account_id, purpose, created_at);
CREATE INDEX email_token_kept ON email_token (email) WHERE ((purpose = 'KEEP_EMAIL'::text) AND (used_at IS NULL));
CREATE INDEX event_tail ON event (workspace_id, xid, seq);
CREATE INDEX event_type ON event (workspace_id, type, created_at DESC, id DESC);
CREATE INDEX event_workspace ON event (workspace_id, created_at DESC, id DESC);
CREATE INDEX external_busy_time ON external_busy (calendar_id, free_at);
CREATE INDEX external_calendar_due ON external_calendar (next_read_at);
CREATE INDEX external_calendar_workspace ON external_calendar (workspace_id, id DESC);
CREATE INDEX fact_playback_session ON fact (playback_session, number) WHERE (playback_session IS NOT NULL);
CREATE INDEX fact_xid ON fact (xid);
CREATE INDEX follow_follower ON follow (follower_id);
CREATE UNIQUE INDEX follow_once ON follow (workspace_id, follower_id);
CREATE INDEX idempotency_record_expiry ON idempotency_record (expires_at);
CREATE INDEX import_state ON import (workspace_id, provider, status, id COLLATE "C" DESC);
CREATE INDEX import_video ON import (video_id);
CREATE INDEX import_workspace ON import (workspace_id, id DESC);
CREATE INDEX ingest_session_node ON ingest_session (node_id) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX ingest_session_open ON ingest_session (stream_id) WHERE (ended_at IS NULL);
CREATE INDEX ingest_session_stream ON ingest_session (stream_id, ended_at DESC);
CREATE INDEX integration_domain_due ON integration_domain (next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE INDEX kept_count_workspace ON kept_count (workspace_id, name);
CREATE INDEX ledger_entry_account ON ledger_entry (account_id, transaction_id) INCLUDE (amount_cents);
CREATE INDEX ledger_transaction_time ON ledger_transaction USING brin (occurred_at);
CREATE INDEX ledger_transaction_workspace ON ledger_transaction (workspace_id, occurred_at);
CREATE INDEX mail_created ON mail (created_at);
CREATE INDEX mail_due ON mail (next_at) WHERE (status = 'QUEUED'::text);
CREATE INDEX member_link_customer ON member_link (customer_id, created_at);
CREATE INDEX member_link_expiry ON member_link (expires_at);
CREATE INDEX member_session_customer ON member_session (customer_id);
CREATE INDEX member_session_expiry ON member_session (expires_at);
CREATE INDEX notification_account ON notification (account_id, id DESC);
CREATE INDEX notification_created ON notification (created_at);
CREATE INDEX notification_read ON notification (account_id, id COLLATE "C" DESC) WHERE (read_at IS NOT NULL);
CREATE INDEX notification_reading_user ON notification_reading (user_id);
CREATE INDEX notification_type ON notification (account_id, type, id COLLATE "C" DESC);
CREATE INDEX notification_unread ON notification (account_id, id COLLATE "C" DESC) WHERE (read_at IS NULL);
CREATE INDEX payment_open ON payment (next_look_at) WHERE (status = 'PENDING'::text);
CREATE INDEX payment_purchase ON payment (purchase_id, id);
CREATE UNIQUE INDEX payment_ref ON payment (provider, provider_ref) WHERE (provider_ref IS NOT NULL);
CREATE UNIQUE INDEX payment_request ON payment (purchase_id, request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX payment_state ON payment (workspace_id, type, status, id COLLATE "C" DESC);
CREATE INDEX payment_workspace ON payment (workspace_id, id DESC);
CREATE INDEX payout_created ON payout (workspace_id, created_at);
CREATE INDEX payout_search ON payout USING gin (((sampled_spans(workspace_id, id) || ARRAY[status])), day_and_month(created_at)) WITH (gin_pending_list_limit='64');
CREATE INDEX payout_state ON payout (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX payout_workspace ON payout (workspace_id, id DESC);
CREATE INDEX playlist_item_video ON playlist_item (video_id);
CREATE INDEX playlist_state ON playlist (workspace_id, visibility, id COLLATE "C" DESC);
CREATE INDEX playlist_thumbnail ON playlist (thumbnail_video_id) WHERE (thumbnail_video_id IS NOT NULL);
CREATE INDEX playlist_workspace ON playlist (workspace_id, id DESC);
CREATE INDEX provider_event_open ON provider_event (next_attempt_at) WHERE (handled_at IS NULL);
CREATE INDEX purchase_checkout ON purchase (checkout_id) WHERE (checkout_id IS NOT NULL);
CREATE INDEX purchase_customer ON purchase (customer_id, id DESC);
CREATE INDEX purchase_state ON purchase (workspace_id, kind, status, id COLLATE "C" DESC);
CREATE INDEX purchase_subscription ON purchase (subscription_id) WHERE (subscription_id IS NOT NULL);
CREATE INDEX purchase_video ON purchase (workspace_id, video_id, kind, status, id COLLATE "C" DESC) WHERE (video_id IS NOT NULL);
CREATE INDEX purchase_workspace ON purchase (workspace_id, id DESC);
CREATE INDEX recording_part_open ON recording_part (node_id) WHERE (closed_at IS NULL);
CREATE INDEX recording_part_recording ON recording_part (recording_id);
CREATE INDEX request_log_errors ON request_log (workspace_id, id) WHERE (status >= 400);
CREATE INDEX request_log_failures ON request_log (workspace_id, id) WHERE (status >= 500);
CREATE INDEX request_log_key ON request_log (workspace_id, key_id, id);
CREATE INDEX request_log_path ON request_log (workspace_id, path text_pattern_ops, id);
CREATE INDEX request_log_request ON request_log (request_id);
CREATE INDEX request_log_status ON request_log (workspace_id, status, id);
CREATE INDEX restream_running ON restream (id) WHERE is_running;
CREATE INDEX restream_stream ON restream (stream_id);
CREATE INDEX restream_target_node ON restream_target (node_id) WHERE (node_id IS NOT NULL);
CREATE INDEX restream_target_restream ON restream_target (restream_id, id);
CREATE INDEX restream_workspace ON restream (workspace_id, id DESC);
CREATE INDEX restream_workspace_running ON restream (workspace_id) WHERE is_running;
CREATE INDEX room_active ON room (workspace_id) WHERE (status = 'ACTIVE'::text);
CREATE INDEX room_message_room ON room_message (room_id, created_at);
CREATE INDEX room_open ON room (id) WHERE (status <> 'ENDED'::text);
CREATE INDEX room_participant_active ON room_participant (id) WHERE ((state = 'ACTIVE'::text) AND (bridge_id IS NULL));
CREATE INDEX room_participant_bridge ON room_participant (bridge_id) WHERE (bridge_id IS NOT NULL);
CREATE INDEX room_participant_identity ON room_participant (room_id, identity, id DESC);
CREATE INDEX room_participant_open ON room_participant (node_id) WHERE (state <> 'LEFT'::text);
CREATE UNIQUE INDEX room_participant_present ON room_participant (room_id, identity) WHERE (state <> 'LEFT'::text);
CREATE INDEX room_participant_room ON room_participant (room_id, id DESC);
CREATE INDEX room_participant_state ON room_participant (room_id, state, id COLLATE "C" DESC);
CREATE INDEX room_recording_deleted_room ON room_recording (deleted_room_id) WHERE (deleted_room_id IS NOT NULL);
CREATE UNIQUE INDEX room_recording_open ON room_recording (room_id) WHERE (ended_at IS NULL);
CREATE INDEX room_recording_room ON room_recording (room_id, started_at);
CREATE INDEX room_recording_unsettled ON room_recording (id) WHERE (settled_at IS NULL);
CREATE INDEX room_state ON room (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX room_workspace ON room (workspace_id, id DESC);
CREATE INDEX sandbox_payment_workspace ON sandbox_payment (workspace_id, ref);
CREATE INDEX sign_in_challenge_account ON sign_in_challenge (account_id, created_at);
CREATE INDEX sign_in_place_seen ON sign_in_place (seen_at);
CREATE INDEX signal_simulation_workspace ON signal_simulation (workspace_id);
CREATE INDEX stream_broadcast_due ON stream (broadcast_due_at) WHERE (broadcast_due_at IS NOT NULL);
CREATE INDEX stream_has_signal ON stream (id) WHERE has_signal;
CREATE INDEX stream_health_due ON stream (health_due_at) WHERE (health_due_at IS NOT NULL);
CREATE INDEX stream_health_point_at ON stream_health_point (at);
CREATE UNIQUE INDEX stream_key_hash ON stream (key_hash);
CREATE INDEX stream_live ON stream (workspace_id) WHERE is_live;
CREATE INDEX stream_log_age ON stream_log (tail, at);
CREATE INDEX stream_on_air ON stream (id) WHERE (has_signal OR is_live);
CREATE INDEX stream_scheduled ON stream (scheduled_start_at) WHERE (scheduled_start_at IS NOT NULL);
CREATE INDEX stream_session_list ON stream_session (stream_id, id DESC);
CREATE INDEX stream_session_on_air ON stream_session (id) WHERE ((broadcast_started_at IS NOT NULL) AND (broadcast_ended_at IS NULL));
CREATE INDEX stream_signal ON stream (workspace_id) WHERE has_signal;
CREATE INDEX stream_state ON stream (workspace_id, visibility, enabled, id COLLATE "C" DESC) WHERE (deleted_at IS NULL);
CREATE INDEX stream_workspace ON stream (workspace_id, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX subscriber_address_asked ON subscriber_address (asked_at) WHERE (left_at IS NULL);
CREATE UNIQUE INDEX subscriber_email ON subscriber (workspace_id, email);
CREATE INDEX subscriber_search ON subscriber USING gin (((sampled_spans(workspace_id, id) || ARRAY[status])), ((show_trgm(((email || ' '::text) || COALESCE(name, ''::text))) || string_to_array(lower(((email || ' '::text) || COALESCE(name, ''::text))), NULL::text)))) WITH (gin_pending_list_limit='64');
CREATE INDEX subscriber_status ON subscriber (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX subscriber_workspace ON subscriber (workspace_id, id DESC);
CREATE INDEX subscription_customer ON subscription (customer_id);
CREATE INDEX subscription_due ON subscription (next_charge_at) WHERE (next_charge_at IS NOT NULL);
CREATE INDEX subscription_state ON subscription (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX subscription_tier ON subscription (tier_id) WHERE (ended_at IS NULL);
CREATE INDEX subscription_tier_state ON subscription (tier_id, status, id COLLATE "C" DESC);
CREATE INDEX subscription_untold ON subscription (id) WHERE ((pending_price_cents IS NOT NULL) AND (price_told_at IS NULL) AND (ended_at IS NULL));
CREATE INDEX subscription_workspace ON subscription (workspace_id, id DESC);
CREATE INDEX support_message_ticket ON support_message (ticket_id, id);
CREATE INDEX support_ticket_account ON support_ticket (account_id, id DESC);
CREATE INDEX support_ticket_all ON support_ticket (category, status, id COLLATE "C" DESC);
CREATE INDEX support_ticket_resolved ON support_ticket (resolved_at) WHERE (resolved_at IS NOT NULL);
CREATE INDEX support_ticket_state ON support_ticket (account_id, category, status, id COLLATE "C" DESC);
CREATE INDEX support_ticket_status ON support_ticket (status, id);
CREATE INDEX team_invitation_account ON team_invitation (account_id, id);
CREATE UNIQUE INDEX team_invitation_hash ON team_invitation (hash);
CREATE UNIQUE INDEX team_invitation_pending ON team_invitation (account_id, email) WHERE (status = 'PENDING'::text);
CREATE INDEX team_member_user ON team_member (user_id);
CREATE INDEX tier_workspace ON tier (workspace_id, id DESC);
CREATE INDEX upload_open ON upload (expires_at) WHERE (ended_at IS NULL);
CREATE INDEX upload_open_workspace ON upload (workspace_id) WHERE (ended_at IS NULL);
CREATE INDEX upload_state ON upload (workspace_id, status, id COLLATE "C" DESC);
CREATE UNIQUE INDEX upload_token ON upload (token_hash);
CREATE INDEX upload_uncleared ON upload (id) WHERE (has_bytes AND (ended_at IS NOT NULL));
CREATE INDEX upload_video ON upload (video_id);
CREATE INDEX upload_whole ON upload (id) WHERE ((ended_at IS NULL) AND (received_bytes = size_bytes));
CREATE INDEX upload_workspace ON upload (workspace_id, id DESC);
CREATE INDEX usage_request_at ON usage_request (at);
CREATE INDEX usage_total_span ON usage_total (span, at);
CREATE INDEX user_session_account ON user_session (account_id, id);
CREATE UNIQUE INDEX user_session_hash ON user_session (hash);
CREATE INDEX user_session_seen ON user_session (last_seen_at);
CREATE INDEX user_token_account ON user_token (account_id);
CREATE INDEX user_token_expires ON user_token (expires_at);
CREATE INDEX video_external_state ON video (workspace_id, external_id, status, visibility, id COLLATE "C" DESC) WHERE ((external_id IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX video_public ON video (id DESC) WHERE ((deleted_at IS NULL) AND (status = 'READY'::text) AND (visibility = 'PUBLIC'::text));
CREATE INDEX video_public_workspace ON video (workspace_id, id DESC) WHERE ((deleted_at IS NULL) AND (status = 'READY'::text) AND (visibility = 'PUBLIC'::text));
CREATE INDEX video_publish_at ON video (publish_at) WHERE ((publish_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX video_recording ON video (created_at) WHERE ((deleted_at IS NULL) AND (source = 'RECORDING'::text));
CREATE INDEX video_replacement_former ON video_replacement (former_kept_until) WHERE (former_kept_until IS NOT NULL);
CREATE UNIQUE INDEX video_replacement_open ON video_replacement (video_id) WHERE (status = ANY (ARRAY['UPLOADING'::text, 'QUEUED'::text, 'PROCESSING'::text]));
CREATE INDEX video_replacement_unfinished ON video_replacement (updated_at) WHERE (status = ANY (ARRAY['QUEUED'::text, 'PROCESSING'::text]));
CREATE INDEX video_search ON video USING gin ((((sampled_spans(workspace_id, id) || ARRAY[status, visibility, external_id, stream_id]) || tags)), ((show_trgm(title) || string_to_array(lower(title), NULL::text)))) WITH (gin_pending_list_limit='64') WHERE (deleted_at IS NULL);
CREATE INDEX video_session ON video (session_id) WHERE (session_id IS NOT NULL);
CREATE INDEX video_state ON video (workspace_id, status, visibility, id COLLATE "C" DESC) WHERE (deleted_at IS NULL);
CREATE INDEX video_stream_state ON video (stream_id, status, visibility, id COLLATE "C" DESC) WHERE ((stream_id IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX video_unfinished ON video (updated_at) WHERE ((status = ANY (ARRAY['QUEUED'::text, 'PROCESSING'::text])) AND (deleted_at IS NULL));
CREATE INDEX video_unpurged ON video (deleted_at) WHERE ((deleted_at IS NOT NULL) AND (purged_at IS NULL));
CREATE INDEX video_view_counted ON video_view (counted_at);
CREATE INDEX video_workspace ON video (workspace_id, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX waitlist_entry_cohort ON waitlist_entry (COALESCE(offered_cohort_id, cohort_id), status, id COLLATE "C" DESC);
CREATE INDEX waitlist_entry_offered ON waitlist_entry (offer_expires_at) WHERE (status = 'OFFERED'::text);
CREATE UNIQUE INDEX waitlist_entry_once ON waitlist_entry (product_id, cohort_id, starts_at, email) NULLS NOT DISTINCT WHERE (status = ANY (ARRAY['WAITING'::text, 'OFFERED'::text]));
CREATE INDEX waitlist_entry_product ON waitlist_entry (product_id, status, id COLLATE "C" DESC);
CREATE INDEX waitlist_entry_state ON waitlist_entry (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX waitlist_entry_unconfirmed ON waitlist_entry (created_at) WHERE ((status = 'WAITING'::text) AND (confirmed_at IS NULL));
CREATE INDEX waitlist_entry_waiting ON waitlist_entry (product_id, turn) WHERE (status = 'WAITING'::text);
CREATE INDEX waitlist_entry_workspace ON waitlist_entry (workspace_id, id DESC);
CREATE INDEX webhook_failing ON webhook (failing_since) WHERE (failing_since IS NOT NULL);
CREATE INDEX webhook_inactive ON webhook (id) WHERE (NOT is_active);
CREATE INDEX webhook_workspace ON webhook (workspace_id, id DESC);
CREATE INDEX whep_session_address_mark ON whep_session (address_mark);
CREATE INDEX whep_session_node ON whep_session (node_id);
CREATE INDEX whip_session_node ON whip_session (node_id);
create function ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql
AS $$
begin
  raise exception 'the books are append-only';
end $$;
create function ledger_is_balanced() RETURNS trigger LANGUAGE plpgsql
AS $$
begin
  if (select sum(amount_cents) from ledger_entry where transaction_id = new.transaction_id) <> 0 then
    raise exception 'the entries of ledger transaction % do not sum to nothing', new.transaction_id;
  end if;
  return null;
end $$;
create function counts_of(one video) RETURNS TABLE(name text, amount bigint) LANGUAGE sql STABLE
AS $$
  select counted.name, counted.amount from (values
    ('VIDEOS', 1::bigint),
    ('VIDEOS_READY', case when one.status = 'READY' then 1 else 0 end),
    ('VIDEOS_PROCESSING', case when one.status in ('QUEUED', 'PROCESSING') then 1 else 0 end),
    ('VIDEOS_FAILED', case when one.status = 'FAILED' then 1 else 0 end),
    ('VIDEO_MS', coalesce(round(one.duration_sec * 1000), 0)::bigint)) counted (name, amount)
  where one.deleted_at is null and counted.amount <> 0 $$;
create function counts_of(one stream) RETURNS TABLE(name text, amount bigint) LANGUAGE sql STABLE
AS $$
  select 'STREAMS', 1::bigint where one.deleted_at is null $$;
create function counts_of(one playlist) RETURNS TABLE(name text, amount bigint) LANGUAGE sql STABLE
AS $$
  select 'PLAYLISTS', 1::bigint $$;
create function counts_of(one subscriber) RETURNS TABLE(name text, amount bigint) LANGUAGE sql STABLE
AS $$
  select 'SUBSCRIBERS', 1::bigint where one.status = 'CONFIRMED' $$;
create function keep_counts() RETURNS trigger LANGUAGE plpgsql
AS $$ begin
  if tg_op = 'INSERT' then
    insert into kept_count (workspace_id, name, amount)
    select new.workspace_id, of.name, of.amount from counts_of(new) of;
  elsif tg_op = 'UPDATE' then
    insert into kept_count (workspace_id, name, amount)
    select new.workspace_id, of.name, sum(of.amount) from (
      select name, amount from counts_of(new) union all select name, -amount from counts_of(old)) of
    group by of.name having sum(of.amount) <> 0;
  else
    -- With its workspace, its counts go.
    insert into kept_count (workspace_id, name, amount)
    select old.workspace_id, of.name, -of.amount from counts_of(old) of
    where exists (select from workspace where id = old.workspace_id);
  end if;
  return null;
end $$;
create function keep_video_tags() RETURNS trigger LANGUAGE plpgsql
AS $$ begin
  if tg_op <> 'INSERT' then
    delete from video_tag where workspace_id = old.workspace_id and tag = any(old.tags)
      and status = old.status and visibility = old.visibility and video_id = old.id;
  end if;
  if tg_op <> 'DELETE' and new.deleted_at is null then
    insert into video_tag (workspace_id, tag, status, visibility, video_id)
    select distinct new.workspace_id, tag, new.status, new.visibility, new.id from unnest(new.tags) tag;
  end if;
  return null;
end $$;
CREATE TRIGGER ledger_entry_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();
CREATE TRIGGER ledger_account_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_account FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();
CREATE TRIGGER ledger_transaction_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_transaction FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();
CREATE CONSTRAINT TRIGGER ledger_entry_balanced AFTER INSERT ON ledger_entry DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_is_balanced();
CREATE TRIGGER video_made_or_gone AFTER INSERT OR DELETE ON video FOR EACH ROW EXECUTE FUNCTION keep_counts();
CREATE TRIGGER video_changed AFTER UPDATE ON video FOR EACH ROW
  WHEN ((old.status, old.deleted_at IS NULL, old.duration_sec)
    IS DISTINCT FROM (new.status, new.deleted_at IS NULL, new.duration_sec)) EXECUTE FUNCTION keep_counts();
CREATE TRIGGER stream_made_or_gone AFTER INSERT OR DELETE ON stream FOR EACH ROW EXECUTE FUNCTION keep_counts();
CREATE TRIGGER stream_changed AFTER UPDATE ON stream FOR EACH ROW WHEN (((old.deleted_at IS NULL) <> (new.deleted_at IS NULL))) EXECUTE FUNCTION keep_counts();
CREATE TRIGGER playlist_made_or_gone AFTER INSERT OR DELETE ON playlist FOR EACH ROW EXECUTE FUNCTION keep_counts();
CREATE TRIGGER subscriber_made_or_gone AFTER INSERT OR DELETE ON subscriber FOR EACH ROW EXECUTE FUNCTION keep_counts();
CREATE TRIGGER subscriber_changed AFTER UPDATE ON subscriber FOR EACH ROW WHEN ((old.status <> new.status)) EXECUTE FUNCTION keep_counts();
CREATE TRIGGER video_tagged AFTER INSERT ON video FOR EACH ROW WHEN ((new.tags <> '{}'::text[])) EXECUTE FUNCTION keep_video_tags();
CREATE TRIGGER video_tags_changed AFTER UPDATE ON video FOR EACH ROW
  WHEN ((old.tags <> '{}' OR new.tags <> '{}') AND (old.tags, old.status, old.visibility, old.deleted_at IS NULL)
    IS DISTINCT FROM (new.tags, new.status, new.visibility, new.deleted_at IS NULL)) EXECUTE FUNCTION keep_video_tags();
CREATE TRIGGER video_tags_gone AFTER DELETE ON video FOR EACH ROW WHEN ((old.tags <> '{}'::text[])) EXECUTE FUNCTION keep_video_tags();
