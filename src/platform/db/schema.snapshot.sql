-- The schema after all migrations, written by npm run generate. Never edited, never executed: it shows in
-- review what a migration does. Day partitions are left out.

create table account (
  id text not null,
  email text not null,
  password_hash text not null,
  name text,
  username text not null,
  bio text,
  locale text not null default 'en'::text,
  timezone text not null default 'UTC'::text,
  role text not null default 'USER'::text,
  plan text not null default 'VIP'::text,
  token_epoch integer not null default 0,
  embed_mode text not null default 'OPEN'::text,
  embed_domains text[] not null default '{}'::text[],
  embed_updated_at timestamp with time zone,
  terms_url text,
  terms_accepted_at timestamp with time zone,
  email_verified_at timestamp with time zone,
  suspended_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint account_embed_mode_check CHECK ((embed_mode = ANY (ARRAY['OPEN'::text, 'ALLOWLIST'::text]))),
  constraint account_pkey PRIMARY KEY (id),
  constraint account_plan_check CHECK ((plan = ANY (ARRAY['FREE'::text, 'STAR'::text, 'PRO'::text, 'VIP'::text]))),
  constraint account_role_check CHECK ((role = ANY (ARRAY['USER'::text, 'ADMIN'::text]))),
  constraint account_terms_check CHECK (((terms_url IS NULL) = (terms_accepted_at IS NULL)))
);
CREATE UNIQUE INDEX account_email ON public.account USING btree (email);
CREATE UNIQUE INDEX account_username ON public.account USING btree (username);

create table account_erasure (
  account_id text not null,
  requested_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  undo_token_hash bytea,
  started_at timestamp with time zone,
  erased_at timestamp with time zone,
  constraint account_erasure_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint account_erasure_pkey PRIMARY KEY (account_id),
  constraint account_erasure_undo_token_hash_key UNIQUE (undo_token_hash)
);
CREATE UNIQUE INDEX account_erasure_undo_token_hash_key ON public.account_erasure USING btree (undo_token_hash);

create table account_export (
  id text not null,
  account_id text not null,
  status text not null,
  size_bytes bigint,
  created_at timestamp with time zone not null,
  ready_at timestamp with time zone,
  expires_at timestamp with time zone,
  constraint account_export_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint account_export_pkey PRIMARY KEY (id),
  constraint account_export_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'READY'::text, 'FAILED'::text])))
);
CREATE INDEX account_export_account ON public.account_export USING btree (account_id, id);
CREATE UNIQUE INDEX account_export_pending ON public.account_export USING btree (account_id) WHERE (status = 'PENDING'::text);

create table analytics_breakdown (
  workspace_id text not null,
  subject_kind text not null,
  subject_id text not null,
  dimension text not null,
  value text not null,
  interval_min integer not null,
  at timestamp with time zone not null,
  is_owner boolean not null,
  views bigint not null default 0,
  unique_viewers bigint not null default 0,
  watch_ms bigint not null default 0,
  constraint analytics_breakdown_dimension_check CHECK ((dimension = ANY (ARRAY['country'::text, 'device'::text, 'browser'::text, 'os'::text, 'referrer'::text, 'quality'::text, 'source'::text]))),
  constraint analytics_breakdown_interval_min_check CHECK ((interval_min = ANY (ARRAY[15, 60, 240, 1440, 5760, 23040, 92160]))),
  constraint analytics_breakdown_pkey PRIMARY KEY (workspace_id, subject_kind, subject_id, dimension, interval_min, at, value, is_owner),
  constraint analytics_breakdown_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['ACCOUNT'::text, 'VIDEO'::text, 'STREAM'::text])))
);
CREATE INDEX analytics_breakdown_interval_min ON public.analytics_breakdown USING btree (interval_min, at);

create table analytics_retention (
  workspace_id text not null,
  video_id text not null,
  interval_min integer not null,
  at timestamp with time zone not null,
  is_owner boolean not null,
  watch_counts integer[] not null,
  constraint analytics_retention_interval_min_check CHECK ((interval_min = ANY (ARRAY[1440, 5760, 23040, 92160]))),
  constraint analytics_retention_pkey PRIMARY KEY (workspace_id, video_id, interval_min, at, is_owner)
);
CREATE INDEX analytics_retention_interval_min ON public.analytics_retention USING btree (interval_min, at);

create table analytics_total (
  workspace_id text not null,
  subject_kind text not null,
  subject_id text not null,
  interval_min integer not null,
  at timestamp with time zone not null,
  is_owner boolean not null,
  views bigint not null default 0,
  unique_viewers bigint not null default 0,
  watch_ms bigint not null default 0,
  impressions bigint not null default 0,
  plays bigint not null default 0,
  joins bigint not null default 0,
  leaves bigint not null default 0,
  chat_messages bigint not null default 0,
  new_followers bigint not null default 0,
  lost_followers bigint not null default 0,
  broadcasts bigint not null default 0,
  live_ms bigint not null default 0,
  peak_viewers bigint not null default 0,
  viewer_samples_sum bigint not null default 0,
  viewer_samples bigint not null default 0,
  bitrate_kbit bigint not null default 0,
  constraint analytics_total_interval_min_check CHECK ((interval_min = ANY (ARRAY[15, 60, 240, 1440, 5760, 23040, 92160]))),
  constraint analytics_total_pkey PRIMARY KEY (workspace_id, subject_kind, subject_id, interval_min, at, is_owner),
  constraint analytics_total_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['ACCOUNT'::text, 'VIDEO'::text, 'STREAM'::text])))
);
CREATE INDEX analytics_total_at ON public.analytics_total USING btree (workspace_id, subject_kind, interval_min, at);
CREATE INDEX analytics_total_interval_min ON public.analytics_total USING btree (interval_min, at);

create table analytics_unique_viewer (
  at timestamp with time zone not null,
  workspace_id text not null,
  subject_id text not null,
  dimension_filter text not null,
  viewer bytea not null,
  is_owner boolean not null,
  first_at timestamp with time zone not null,
  constraint analytics_unique_viewer_pkey PRIMARY KEY (at, workspace_id, subject_id, dimension_filter, viewer, is_owner)
);

create table api_key (
  id text not null,
  workspace_id text not null,
  account_id text not null,
  name text not null,
  hash bytea not null,
  prefix text not null,
  last4 text not null,
  scope text not null,
  permissions text[] not null default '{}'::text[],
  ip_allowlist text[] not null default '{}'::text[],
  domain_allowlist text[] not null default '{}'::text[],
  rate_limit_per_minute integer not null,
  daily_quota integer,
  created_by text,
  created_by_key_id text,
  expires_at timestamp with time zone,
  expiry_notified_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  last_used_ip text,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null default now(),
  constraint api_key_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint api_key_daily_quota_check CHECK ((daily_quota > 0)),
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_rate_limit_per_minute_check CHECK ((rate_limit_per_minute > 0)),
  constraint api_key_scope_check CHECK ((scope = ANY (ARRAY['READ_ONLY'::text, 'STANDARD'::text, 'FULL_ACCESS'::text]))),
  constraint api_key_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX api_key_account ON public.api_key USING btree (account_id, id);
CREATE INDEX api_key_created_by ON public.api_key USING btree (created_by) WHERE (created_by IS NOT NULL);
CREATE INDEX api_key_ended ON public.api_key USING btree (workspace_id, id COLLATE "C" DESC) WHERE ((revoked_at IS NOT NULL) OR (expires_at IS NOT NULL));
CREATE INDEX api_key_expiry ON public.api_key USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (revoked_at IS NULL) AND (expiry_notified_at IS NULL));
CREATE UNIQUE INDEX api_key_hash ON public.api_key USING btree (hash);
CREATE INDEX api_key_usable ON public.api_key USING btree (workspace_id, id COLLATE "C" DESC) WHERE (revoked_at IS NULL);
CREATE INDEX api_key_workspace ON public.api_key USING btree (workspace_id, id COLLATE "C" DESC);

create table api_key_retired_secret (
  hash bytea not null,
  key_id text not null,
  created_by text,
  expires_at timestamp with time zone not null,
  constraint api_key_retired_secret_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id) ON DELETE CASCADE,
  constraint api_key_retired_secret_pkey PRIMARY KEY (hash)
);
CREATE INDEX api_key_retired_secret_key ON public.api_key_retired_secret USING btree (key_id);

create table availability (
  workspace_id text not null,
  weekly jsonb not null,
  timezone text not null,
  blackouts jsonb not null,
  min_notice_min integer not null,
  max_advance_days integer not null,
  updated_at timestamp with time zone not null,
  constraint availability_max_advance_days_check CHECK ((max_advance_days >= 0)),
  constraint availability_min_notice_min_check CHECK ((min_notice_min >= 0)),
  constraint availability_pkey PRIMARY KEY (workspace_id),
  constraint availability_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);

create table avatar (
  id text not null,
  account_id text not null,
  image bytea not null,
  created_at timestamp with time zone not null,
  constraint avatar_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint avatar_account_id_key UNIQUE (account_id),
  constraint avatar_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX avatar_account_id_key ON public.avatar USING btree (account_id);

create table banner (
  id text not null,
  workspace_id text not null,
  image bytea not null,
  created_at timestamp with time zone not null,
  constraint banner_pkey PRIMARY KEY (id),
  constraint banner_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE,
  constraint banner_workspace_id_key UNIQUE (workspace_id)
);
CREATE UNIQUE INDEX banner_workspace_id_key ON public.banner USING btree (workspace_id);

create table booking (
  id text not null,
  workspace_id text not null,
  product_id text not null,
  type text not null,
  cohort_id text,
  occurrence_id text,
  status text not null,
  starts_at timestamp with time zone,
  ends_at timestamp with time zone,
  first_starts_at timestamp with time zone,
  rescheduled_from timestamp with time zone,
  timezone text not null,
  customer_id text,
  customer_name text not null,
  customer_email text not null,
  customer_timezone text,
  intake_answers jsonb,
  amount_cents integer not null,
  discount_cents integer not null default 0,
  discount_code text,
  purchase_id text,
  refund_policy_days integer not null default 0,
  replay_access_days integer not null default 0,
  waitlist_entry_id text,
  room_id text,
  link_revision integer not null default 0,
  recording_video_id text,
  recording_video_ids text[] not null default '{}'::text[],
  replay_access_until timestamp with time zone,
  cancel_reason text,
  canceled_by text,
  hold_expires_at timestamp with time zone,
  hold_extended boolean not null default false,
  customer_joined_at timestamp with time zone,
  creator_joined_at timestamp with time zone,
  reminded_at timestamp with time zone,
  reminded_until timestamp with time zone,
  cohort_revision integer not null default 0,
  ics_sequence integer not null default 0,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint booking_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint booking_canceled_by_check CHECK ((canceled_by = ANY (ARRAY['CUSTOMER'::text, 'CREATOR'::text, 'SYSTEM'::text]))),
  constraint booking_check CHECK (((type = 'COHORT'::text) = (cohort_id IS NOT NULL))),
  constraint booking_check1 CHECK (((type <> 'COHORT'::text) = (starts_at IS NOT NULL))),
  constraint booking_check2 CHECK (((status = 'CANCELED'::text) = (canceled_by IS NOT NULL))),
  constraint booking_cohort_id_fkey FOREIGN KEY (cohort_id) REFERENCES cohort(id),
  constraint booking_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE SET NULL,
  constraint booking_discount_cents_check CHECK ((discount_cents >= 0)),
  constraint booking_occurrence_id_fkey FOREIGN KEY (occurrence_id) REFERENCES class_occurrence(id),
  constraint booking_pkey PRIMARY KEY (id),
  constraint booking_product_id_fkey FOREIGN KEY (product_id) REFERENCES booking_product(id),
  constraint booking_refund_policy_days_check CHECK ((refund_policy_days >= 0)),
  constraint booking_replay_access_days_check CHECK ((replay_access_days >= 0)),
  constraint booking_status_check CHECK ((status = ANY (ARRAY['PENDING_PAYMENT'::text, 'CONFIRMED'::text, 'COMPLETED'::text, 'CANCELED'::text, 'NO_SHOW'::text, 'EXPIRED'::text]))),
  constraint booking_type_check CHECK ((type = ANY (ARRAY['ONE_TO_ONE'::text, 'LIVE_CLASS'::text, 'COHORT'::text]))),
  constraint booking_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX booking_cohort ON public.booking USING btree (cohort_id, status, id COLLATE "C" DESC) WHERE (cohort_id IS NOT NULL);
CREATE INDEX booking_coming ON public.booking USING btree (ends_at) WHERE (status = 'CONFIRMED'::text);
CREATE INDEX booking_customer ON public.booking USING btree (customer_id);
CREATE INDEX booking_day ON public.booking USING btree (workspace_id, date_trunc('day'::text, (starts_at AT TIME ZONE 'UTC'::text)), status, id COLLATE "C" DESC);
CREATE INDEX booking_email ON public.booking USING btree (workspace_id, customer_email, id DESC);
CREATE INDEX booking_held ON public.booking USING btree (hold_expires_at) WHERE (status = 'PENDING_PAYMENT'::text);
CREATE INDEX booking_month ON public.booking USING btree (workspace_id, date_trunc('month'::text, (starts_at AT TIME ZONE 'UTC'::text)), status, id COLLATE "C" DESC);
CREATE INDEX booking_occurrence ON public.booking USING btree (occurrence_id) WHERE (occurrence_id IS NOT NULL);
CREATE INDEX booking_product_start ON public.booking USING btree (product_id, starts_at);
CREATE INDEX booking_product_state ON public.booking USING btree (product_id, status, id COLLATE "C" DESC);
CREATE INDEX booking_recording ON public.booking USING btree (recording_video_id) WHERE (recording_video_id IS NOT NULL);
CREATE INDEX booking_room ON public.booking USING btree (room_id) WHERE (room_id IS NOT NULL);
CREATE INDEX booking_starts ON public.booking USING btree (workspace_id, starts_at);
CREATE INDEX booking_state ON public.booking USING btree (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX booking_unreminded ON public.booking USING btree (starts_at) WHERE ((status = 'CONFIRMED'::text) AND (reminded_at IS NULL));
CREATE INDEX booking_upcoming ON public.booking USING btree (workspace_id, starts_at) WHERE (status = 'CONFIRMED'::text);
CREATE INDEX booking_workspace ON public.booking USING btree (workspace_id, id DESC);

create table booking_feed (
  workspace_id text not null,
  token_hash bytea not null,
  token_encrypted bytea not null,
  created_at timestamp with time zone not null,
  constraint booking_feed_pkey PRIMARY KEY (workspace_id),
  constraint booking_feed_token_hash_key UNIQUE (token_hash),
  constraint booking_feed_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX booking_feed_token_hash_key ON public.booking_feed USING btree (token_hash);

create table booking_product (
  id text not null,
  workspace_id text not null,
  type text not null,
  status text not null default 'DRAFT'::text,
  title text not null,
  description text,
  thumbnail_url text,
  slug text,
  price_cents integer not null,
  duration_min integer not null,
  buffer_min integer not null,
  capacity integer not null,
  recordable boolean not null,
  replay_access_days integer not null,
  refund_policy_days integer not null,
  intake_fields jsonb,
  event_sequence integer not null default 0,
  published_at timestamp with time zone,
  archived_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint booking_product_buffer_min_check CHECK ((buffer_min >= 0)),
  constraint booking_product_capacity_check CHECK ((capacity >= 1)),
  constraint booking_product_check CHECK (((status = 'ARCHIVED'::text) = (archived_at IS NOT NULL))),
  constraint booking_product_duration_min_check CHECK (((duration_min >= 1) AND (duration_min <= 600))),
  constraint booking_product_pkey PRIMARY KEY (id),
  constraint booking_product_price_cents_check CHECK ((price_cents >= 0)),
  constraint booking_product_refund_policy_days_check CHECK ((refund_policy_days >= 0)),
  constraint booking_product_replay_access_days_check CHECK ((replay_access_days >= 0)),
  constraint booking_product_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'PUBLISHED'::text, 'ARCHIVED'::text]))),
  constraint booking_product_type_check CHECK ((type = ANY (ARRAY['ONE_TO_ONE'::text, 'LIVE_CLASS'::text, 'COHORT'::text]))),
  constraint booking_product_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX booking_product_list ON public.booking_product USING btree (workspace_id, type, status, id COLLATE "C" DESC);
CREATE UNIQUE INDEX booking_product_slug ON public.booking_product USING btree (workspace_id, slug) WHERE ((slug IS NOT NULL) AND (status <> 'ARCHIVED'::text));
CREATE INDEX booking_product_workspace ON public.booking_product USING btree (workspace_id, id DESC);

create table bridge (
  id text not null,
  workspace_id text not null,
  type text not null,
  source_id text,
  source_url bytea,
  source_url_redacted text,
  target_id text not null,
  layout text,
  auto_restart boolean not null default false,
  status text not null default 'PENDING'::text,
  error text,
  end_reason text,
  retry_count integer not null default 0,
  next_retry_at timestamp with time zone,
  node_id text,
  lease_until timestamp with time zone,
  event_sequence integer not null default 0,
  expires_at timestamp with time zone,
  started_at timestamp with time zone,
  stopped_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint bridge_check CHECK (((source_id IS NULL) <> (source_url IS NULL))),
  constraint bridge_check1 CHECK (((status = 'STOPPED'::text) = (end_reason IS NOT NULL))),
  constraint bridge_end_reason_check CHECK ((end_reason = ANY (ARRAY['SOURCE_ENDED'::text, 'TARGET_ENDED'::text, 'TARGET_TAKEN'::text, 'EXPIRED'::text, 'SUSPENDED'::text, 'REMOVED'::text, 'DELETED'::text]))),
  constraint bridge_layout_check CHECK ((layout = ANY (ARRAY['GRID'::text, 'SPEAKER'::text, 'SINGLE'::text]))),
  constraint bridge_pkey PRIMARY KEY (id),
  constraint bridge_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'CONNECTING'::text, 'ACTIVE'::text, 'FAILED'::text, 'STOPPED'::text]))),
  constraint bridge_type_check CHECK ((type = ANY (ARRAY['ROOM_TO_STREAM'::text, 'PULL_TO_STREAM'::text, 'STREAM_TO_ROOM'::text]))),
  constraint bridge_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX bridge_feeds ON public.bridge USING btree (target_id) WHERE ((type <> 'STREAM_TO_ROOM'::text) AND (status <> ALL (ARRAY['FAILED'::text, 'STOPPED'::text])));
CREATE INDEX bridge_open ON public.bridge USING btree (target_id) WHERE (status <> ALL (ARRAY['FAILED'::text, 'STOPPED'::text]));
CREATE INDEX bridge_source ON public.bridge USING btree (source_id) WHERE (status <> ALL (ARRAY['FAILED'::text, 'STOPPED'::text]));
CREATE INDEX bridge_state ON public.bridge USING btree (workspace_id, type, status, id COLLATE "C" DESC);
CREATE INDEX bridge_target ON public.bridge USING btree (target_id, type, status, id COLLATE "C" DESC);
CREATE INDEX bridge_workspace ON public.bridge USING btree (workspace_id, id DESC);

create table calendar_busy (
  id bigint not null generated always as identity,
  calendar_number bigint not null,
  starts_at timestamp with time zone not null,
  busy_until timestamp with time zone not null,
  product_id text not null,
  booking_id text,
  occurrence_id text,
  session_id text,
  waitlist_id text,
  constraint calendar_busy_booking_id_fkey FOREIGN KEY (booking_id) REFERENCES booking(id) ON DELETE CASCADE,
  constraint calendar_busy_booking_id_key UNIQUE (booking_id),
  constraint calendar_busy_calendar_number_fkey FOREIGN KEY (calendar_number) REFERENCES workspace(calendar_number) ON DELETE CASCADE,
  constraint calendar_busy_check CHECK ((starts_at < busy_until)),
  constraint calendar_busy_check1 CHECK ((num_nonnulls(booking_id, occurrence_id, session_id, waitlist_id) = 1)),
  constraint calendar_busy_occurrence_id_fkey FOREIGN KEY (occurrence_id) REFERENCES class_occurrence(id) ON DELETE CASCADE,
  constraint calendar_busy_occurrence_id_key UNIQUE (occurrence_id),
  constraint calendar_busy_once EXCLUDE USING gist (int8range(calendar_number, calendar_number, '[]'::text) WITH &&, tstzrange(starts_at, busy_until) WITH &&),
  constraint calendar_busy_pkey PRIMARY KEY (id),
  constraint calendar_busy_product_id_fkey FOREIGN KEY (product_id) REFERENCES booking_product(id) ON DELETE CASCADE,
  constraint calendar_busy_session_id_fkey FOREIGN KEY (session_id) REFERENCES cohort_session(id) ON DELETE CASCADE,
  constraint calendar_busy_session_id_key UNIQUE (session_id),
  constraint calendar_busy_waitlist_id_fkey FOREIGN KEY (waitlist_id) REFERENCES waitlist_entry(id) ON DELETE CASCADE,
  constraint calendar_busy_waitlist_id_key UNIQUE (waitlist_id)
);
CREATE UNIQUE INDEX calendar_busy_booking_id_key ON public.calendar_busy USING btree (booking_id);
CREATE UNIQUE INDEX calendar_busy_occurrence_id_key ON public.calendar_busy USING btree (occurrence_id);
CREATE INDEX calendar_busy_once ON public.calendar_busy USING gist (int8range(calendar_number, calendar_number, '[]'::text), tstzrange(starts_at, busy_until));
CREATE UNIQUE INDEX calendar_busy_session_id_key ON public.calendar_busy USING btree (session_id);
CREATE INDEX calendar_busy_time ON public.calendar_busy USING btree (calendar_number, busy_until);
CREATE UNIQUE INDEX calendar_busy_waitlist_id_key ON public.calendar_busy USING btree (waitlist_id);

create table channel (
  workspace_id text not null,
  display_name text,
  description text,
  links jsonb not null default '[]'::jsonb,
  updated_at timestamp with time zone not null,
  constraint channel_pkey PRIMARY KEY (workspace_id),
  constraint channel_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);

create table chat_ban (
  id text not null,
  stream_id text not null,
  author_id text not null,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint chat_ban_pkey PRIMARY KEY (id),
  constraint chat_ban_stream_id_author_id_key UNIQUE (stream_id, author_id),
  constraint chat_ban_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX chat_ban_stream_id_author_id_key ON public.chat_ban USING btree (stream_id, author_id);

create table chat_message (
  id text not null,
  stream_id text not null,
  seq bigint not null,
  at timestamp with time zone not null,
  kind text not null default 'MESSAGE'::text,
  text text not null,
  author_id text,
  guest_name text,
  reply_to_id text,
  client_id text,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint chat_message_check CHECK (((kind = 'SYSTEM'::text) = (author_id IS NULL))),
  constraint chat_message_kind_check CHECK ((kind = ANY (ARRAY['MESSAGE'::text, 'SYSTEM'::text]))),
  constraint chat_message_pkey PRIMARY KEY (id),
  constraint chat_message_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE,
  constraint chat_message_stream_id_seq_key UNIQUE (stream_id, seq)
);
CREATE INDEX chat_message_author ON public.chat_message USING btree (stream_id, author_id, seq DESC);
CREATE INDEX chat_message_created ON public.chat_message USING btree (created_at);
CREATE UNIQUE INDEX chat_message_stream_id_seq_key ON public.chat_message USING btree (stream_id, seq);
CREATE INDEX chat_message_time ON public.chat_message USING btree (stream_id, created_at);

create table checkout (
  id text not null,
  workspace_id text not null,
  kind text not null,
  status text not null default 'OPEN'::text,
  tier_id text,
  video_id text,
  booking_id text,
  product_id text,
  title text not null,
  interval text,
  trial_days integer not null default 0,
  amount_cents integer not null,
  discount_cents integer not null default 0,
  discount_code_id text,
  discount_code text,
  customer_email text,
  customer_id text,
  subscription_id text,
  purchase_id text,
  payment_id text,
  attempt_count integer not null default 0,
  success_url text not null,
  cancel_url text not null,
  client_reference_id text,
  metadata jsonb not null default '{}'::jsonb,
  operation_id text,
  reserved_until timestamp with time zone,
  event_sequence integer not null default 0,
  expires_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint checkout_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint checkout_check CHECK ((num_nonnulls(tier_id, video_id, booking_id) = 1)),
  constraint checkout_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE SET NULL,
  constraint checkout_discount_cents_check CHECK ((discount_cents >= 0)),
  constraint checkout_discount_code_id_fkey FOREIGN KEY (discount_code_id) REFERENCES discount_code(id) ON DELETE SET NULL,
  constraint checkout_interval_check CHECK (("interval" = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
  constraint checkout_kind_check CHECK ((kind = ANY (ARRAY['SUBSCRIPTION'::text, 'VIDEO'::text, 'BOOKING'::text]))),
  constraint checkout_operation_id_key UNIQUE (operation_id),
  constraint checkout_pkey PRIMARY KEY (id),
  constraint checkout_status_check CHECK ((status = ANY (ARRAY['OPEN'::text, 'COMPLETED'::text, 'EXPIRED'::text, 'CANCELED'::text]))),
  constraint checkout_tier_id_fkey FOREIGN KEY (tier_id) REFERENCES tier(id) ON DELETE CASCADE,
  constraint checkout_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX checkout_booking ON public.checkout USING btree (booking_id) WHERE (booking_id IS NOT NULL);
CREATE INDEX checkout_open ON public.checkout USING btree (expires_at) WHERE (status = 'OPEN'::text);
CREATE UNIQUE INDEX checkout_operation_id_key ON public.checkout USING btree (operation_id);
CREATE INDEX checkout_reserved ON public.checkout USING btree (reserved_until) WHERE (reserved_until IS NOT NULL);
CREATE INDEX checkout_workspace ON public.checkout USING btree (workspace_id, id DESC);

create table class_occurrence (
  id text not null,
  workspace_id text not null,
  product_id text not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  capacity integer not null,
  booked_count integer not null default 0,
  reserved_count integer not null default 0,
  room_id text,
  created_at timestamp with time zone not null,
  constraint class_occurrence_booked_count_check CHECK ((booked_count >= 0)),
  constraint class_occurrence_capacity_check CHECK ((capacity >= 1)),
  constraint class_occurrence_check CHECK (((booked_count + reserved_count) <= capacity)),
  constraint class_occurrence_pkey PRIMARY KEY (id),
  constraint class_occurrence_product_id_fkey FOREIGN KEY (product_id) REFERENCES booking_product(id) ON DELETE CASCADE,
  constraint class_occurrence_product_id_starts_at_key UNIQUE (product_id, starts_at),
  constraint class_occurrence_reserved_count_check CHECK ((reserved_count >= 0)),
  constraint class_occurrence_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX class_occurrence_product_id_starts_at_key ON public.class_occurrence USING btree (product_id, starts_at);

create table cohort (
  id text not null,
  workspace_id text not null,
  product_id text not null,
  title text,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone,
  timezone text not null,
  capacity integer,
  enrolled_count integer not null default 0,
  reserved_count integer not null default 0,
  status text not null,
  enrollment_opens_at timestamp with time zone,
  enrollment_closes_at timestamp with time zone,
  revision integer not null default 0,
  event_sequence integer not null default 0,
  canceled_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint cohort_capacity_check CHECK ((capacity >= 1)),
  constraint cohort_check CHECK (((status = 'CANCELED'::text) = (canceled_at IS NOT NULL))),
  constraint cohort_enrolled_count_check CHECK ((enrolled_count >= 0)),
  constraint cohort_pkey PRIMARY KEY (id),
  constraint cohort_product_id_fkey FOREIGN KEY (product_id) REFERENCES booking_product(id) ON DELETE CASCADE,
  constraint cohort_reserved_count_check CHECK ((reserved_count >= 0)),
  constraint cohort_status_check CHECK ((status = ANY (ARRAY['SCHEDULED'::text, 'OPEN'::text, 'FULL'::text, 'RUNNING'::text, 'COMPLETED'::text, 'CANCELED'::text]))),
  constraint cohort_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX cohort_coming ON public.cohort USING btree (workspace_id, starts_at) WHERE (status = ANY (ARRAY['SCHEDULED'::text, 'OPEN'::text, 'FULL'::text]));
CREATE INDEX cohort_open ON public.cohort USING btree (id) WHERE (status = ANY (ARRAY['SCHEDULED'::text, 'OPEN'::text, 'FULL'::text, 'RUNNING'::text]));
CREATE INDEX cohort_product ON public.cohort USING btree (product_id, id DESC);

create table cohort_session (
  id text not null,
  cohort_id text not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  room_id text,
  scheduled_at timestamp with time zone not null,
  constraint cohort_session_check CHECK ((starts_at < ends_at)),
  constraint cohort_session_cohort_id_fkey FOREIGN KEY (cohort_id) REFERENCES cohort(id) ON DELETE CASCADE,
  constraint cohort_session_pkey PRIMARY KEY (id)
);
CREATE INDEX cohort_session_cohort ON public.cohort_session USING btree (cohort_id, starts_at);
CREATE INDEX cohort_session_start ON public.cohort_session USING btree (starts_at);

create table cohort_session_tombstone (
  id text not null,
  cohort_id text not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  revision integer not null,
  constraint cohort_session_tombstone_cohort_id_fkey FOREIGN KEY (cohort_id) REFERENCES cohort(id) ON DELETE CASCADE,
  constraint cohort_session_tombstone_pkey PRIMARY KEY (id)
);
CREATE INDEX cohort_session_tombstone_revision ON public.cohort_session_tombstone USING btree (cohort_id, revision);

create table cohort_video (
  id text not null,
  cohort_id text not null,
  video_id text not null,
  release_at timestamp with time zone,
  position integer not null,
  constraint cohort_video_cohort_id_fkey FOREIGN KEY (cohort_id) REFERENCES cohort(id) ON DELETE CASCADE,
  constraint cohort_video_cohort_id_video_id_key UNIQUE (cohort_id, video_id),
  constraint cohort_video_pkey PRIMARY KEY (id),
  constraint cohort_video_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX cohort_video_cohort_id_video_id_key ON public.cohort_video USING btree (cohort_id, video_id);
CREATE INDEX cohort_video_video ON public.cohort_video USING btree (video_id);

create table connect_account (
  workspace_id text not null,
  provider text not null,
  provider_ref text not null,
  charges_enabled boolean not null default false,
  payouts_enabled boolean not null default false,
  details_submitted boolean not null default false,
  requirements_due text[] not null default '{}'::text[],
  country text,
  checked_at timestamp with time zone not null,
  payouts_synced_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint connect_account_pkey PRIMARY KEY (workspace_id),
  constraint connect_account_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text]))),
  constraint connect_account_provider_provider_ref_key UNIQUE (provider, provider_ref),
  constraint connect_account_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX connect_account_provider_provider_ref_key ON public.connect_account USING btree (provider, provider_ref);

create table counter_delta (
  workspace_id text not null,
  name text not null,
  amount bigint not null,
  constraint counter_delta_name_check CHECK ((name = ANY (ARRAY['VIDEOS'::text, 'VIDEOS_READY'::text, 'VIDEOS_PROCESSING'::text, 'VIDEOS_FAILED'::text, 'VIDEO_MS'::text, 'STREAMS'::text, 'PLAYLISTS'::text, 'SUBSCRIBERS'::text]))),
  constraint counter_delta_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX counter_delta_workspace ON public.counter_delta USING btree (workspace_id, name);

create table counter_window (
  name text not null,
  key text not null,
  ends_at timestamp with time zone not null,
  hits bigint not null,
  constraint counter_window_pkey PRIMARY KEY (name, key)
) with (fillfactor=50);

create table customer (
  id text not null,
  workspace_id text not null,
  email text not null,
  name text,
  provider text,
  provider_ref text,
  method_ref text,
  card_brand text,
  card_last4 text,
  card_exp_month integer,
  card_exp_year integer,
  card_expiry_notified_for text,
  trial_used_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint customer_pkey PRIMARY KEY (id),
  constraint customer_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text]))),
  constraint customer_workspace_id_email_key UNIQUE (workspace_id, email),
  constraint customer_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX customer_email ON public.customer USING btree (email);
CREATE UNIQUE INDEX customer_workspace_id_email_key ON public.customer USING btree (workspace_id, email);

create table delivery_job (
  id bigint not null generated always as identity,
  workspace_id text not null,
  webhook_id text not null,
  event_id uuid not null,
  event_created_at timestamp with time zone not null,
  trigger text not null default 'EVENT'::text,
  replay_of text,
  next_at timestamp with time zone not null default clock_timestamp(),
  attempt smallint not null default 0,
  lease integer not null default 0,
  constraint delivery_job_pkey PRIMARY KEY (id),
  constraint delivery_job_trigger_check CHECK ((trigger = ANY (ARRAY['EVENT'::text, 'TEST'::text, 'REPLAY'::text, 'RECOVER'::text])))
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);
CREATE INDEX delivery_job_due ON public.delivery_job USING btree (webhook_id, next_at);
CREATE INDEX delivery_job_webhook ON public.delivery_job USING btree (webhook_id, id);

create table delivery_log (
  id text not null,
  workspace_id text not null,
  webhook_id text not null,
  event_id uuid not null,
  event_type text not null,
  trigger text not null,
  attempt smallint not null,
  status text not null,
  response_status integer,
  response_body text,
  latency_ms integer,
  error_message text,
  next_attempt_at timestamp with time zone,
  replay_of text,
  created_at timestamp with time zone not null,
  constraint delivery_log_pkey PRIMARY KEY (id, created_at),
  constraint delivery_log_status_check CHECK ((status = ANY (ARRAY['SUCCESS'::text, 'FAILED'::text, 'EXHAUSTED'::text, 'CANCELED'::text]))),
  constraint delivery_log_trigger_check CHECK ((trigger = ANY (ARRAY['EVENT'::text, 'TEST'::text, 'REPLAY'::text, 'RECOVER'::text])))
) partition by RANGE (created_at);
CREATE INDEX delivery_log_event ON ONLY public.delivery_log USING btree (event_id);
CREATE INDEX delivery_log_status ON ONLY public.delivery_log USING btree (webhook_id, status, id COLLATE "C" DESC);
CREATE INDEX delivery_log_trigger ON ONLY public.delivery_log USING btree (webhook_id, trigger, status, id COLLATE "C" DESC) WHERE (trigger <> 'EVENT'::text);
CREATE INDEX delivery_log_type ON ONLY public.delivery_log USING btree (webhook_id, event_type, status, id COLLATE "C" DESC);
CREATE INDEX delivery_log_webhook ON ONLY public.delivery_log USING btree (webhook_id, id COLLATE "C" DESC);

create table delivery_log_default (
  id text not null,
  workspace_id text not null,
  webhook_id text not null,
  event_id uuid not null,
  event_type text not null,
  trigger text not null,
  attempt smallint not null,
  status text not null,
  response_status integer,
  response_body text,
  latency_ms integer,
  error_message text,
  next_attempt_at timestamp with time zone,
  replay_of text,
  created_at timestamp with time zone not null,
  constraint delivery_log_default_pkey PRIMARY KEY (id, created_at),
  constraint delivery_log_status_check CHECK ((status = ANY (ARRAY['SUCCESS'::text, 'FAILED'::text, 'EXHAUSTED'::text, 'CANCELED'::text]))),
  constraint delivery_log_trigger_check CHECK ((trigger = ANY (ARRAY['EVENT'::text, 'TEST'::text, 'REPLAY'::text, 'RECOVER'::text])))
) partition of delivery_log DEFAULT;
CREATE INDEX delivery_log_default_event_id_idx ON public.delivery_log_default USING btree (event_id);
CREATE INDEX delivery_log_default_webhook_id_event_type_status_id_idx ON public.delivery_log_default USING btree (webhook_id, event_type, status, id COLLATE "C" DESC);
CREATE INDEX delivery_log_default_webhook_id_id_idx ON public.delivery_log_default USING btree (webhook_id, id COLLATE "C" DESC);
CREATE INDEX delivery_log_default_webhook_id_status_id_idx ON public.delivery_log_default USING btree (webhook_id, status, id COLLATE "C" DESC);
CREATE INDEX delivery_log_default_webhook_id_trigger_status_id_idx ON public.delivery_log_default USING btree (webhook_id, trigger, status, id COLLATE "C" DESC) WHERE (trigger <> 'EVENT'::text);

create table deprecated_endpoint_usage (
  workspace_id text not null,
  endpoint text not null,
  last_used_at timestamp with time zone not null,
  notified_at timestamp with time zone,
  constraint deprecated_endpoint_usage_pkey PRIMARY KEY (workspace_id, endpoint),
  constraint deprecated_endpoint_usage_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX deprecated_endpoint_usage_time ON public.deprecated_endpoint_usage USING btree (last_used_at);

create table discount_code (
  id text not null,
  workspace_id text not null,
  code text not null,
  product_id text,
  percent_off integer,
  amount_cents_off integer,
  max_uses integer,
  used_count integer not null default 0,
  reserved_count integer not null default 0,
  is_active boolean not null default true,
  expires_at timestamp with time zone,
  expiry_notified_at timestamp with time zone,
  notes text,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint discount_code_amount_cents_off_check CHECK ((amount_cents_off >= 1)),
  constraint discount_code_check CHECK ((num_nonnulls(percent_off, amount_cents_off) = 1)),
  constraint discount_code_check1 CHECK (((max_uses IS NULL) OR ((used_count + reserved_count) <= max_uses))),
  constraint discount_code_max_uses_check CHECK ((max_uses >= 1)),
  constraint discount_code_percent_off_check CHECK (((percent_off >= 1) AND (percent_off <= 100))),
  constraint discount_code_pkey PRIMARY KEY (id),
  constraint discount_code_reserved_count_check CHECK ((reserved_count >= 0)),
  constraint discount_code_used_count_check CHECK ((used_count >= 0)),
  constraint discount_code_workspace_id_code_key UNIQUE (workspace_id, code),
  constraint discount_code_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX discount_code_workspace ON public.discount_code USING btree (workspace_id, id DESC);
CREATE UNIQUE INDEX discount_code_workspace_id_code_key ON public.discount_code USING btree (workspace_id, code);

create table dvr_segment (
  stream_id text not null,
  workspace_id text not null,
  epoch text not null,
  file text not null,
  seq bigint not null,
  discontinuity integer not null,
  start_ms double precision not null,
  duration_sec double precision not null,
  rungs jsonb not null,
  size_bytes bigint not null,
  constraint dvr_segment_pkey PRIMARY KEY (stream_id, epoch, file),
  constraint dvr_segment_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE,
  constraint dvr_segment_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX dvr_segment_time ON public.dvr_segment USING btree (stream_id, start_ms);

create table email_link_request (
  id bigint not null generated always as identity,
  purpose text not null,
  email text not null,
  created_at timestamp with time zone not null,
  constraint email_link_request_pkey PRIMARY KEY (id),
  constraint email_link_request_purpose_check CHECK ((purpose = ANY (ARRAY['VERIFY_EMAIL'::text, 'RESET_PASSWORD'::text])))
);

create table email_token (
  hash bytea not null,
  account_id text not null,
  purpose text not null,
  email text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint email_token_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint email_token_pkey PRIMARY KEY (hash),
  constraint email_token_purpose_check CHECK ((purpose = ANY (ARRAY['VERIFY_EMAIL'::text, 'RESET_PASSWORD'::text, 'CHANGE_EMAIL'::text, 'KEEP_EMAIL'::text])))
);
CREATE INDEX email_token_account ON public.email_token USING btree (account_id, purpose, created_at);
CREATE INDEX email_token_kept ON public.email_token USING btree (email) WHERE ((purpose = 'KEEP_EMAIL'::text) AND (used_at IS NULL));

create table event (
  id uuid not null,
  workspace_id text not null,
  type text not null,
  created_at timestamp with time zone not null,
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('event_seq'::regclass),
  body text not null,
  constraint event_pkey PRIMARY KEY (id, created_at)
) partition by RANGE (created_at);
CREATE INDEX event_tail ON ONLY public.event USING btree (workspace_id, xid, seq);
CREATE INDEX event_type ON ONLY public.event USING btree (workspace_id, type, created_at DESC, id DESC);
CREATE INDEX event_workspace ON ONLY public.event USING btree (workspace_id, created_at DESC, id DESC);

create table event_default (
  id uuid not null,
  workspace_id text not null,
  type text not null,
  created_at timestamp with time zone not null,
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('event_seq'::regclass),
  body text not null,
  constraint event_default_pkey PRIMARY KEY (id, created_at)
) partition of event DEFAULT;
CREATE INDEX event_default_workspace_id_created_at_id_idx ON public.event_default USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX event_default_workspace_id_type_created_at_id_idx ON public.event_default USING btree (workspace_id, type, created_at DESC, id DESC);
CREATE INDEX event_default_workspace_id_xid_seq_idx ON public.event_default USING btree (workspace_id, xid, seq);

create table external_busy (
  calendar_id text not null,
  starts_at timestamp with time zone not null,
  busy_until timestamp with time zone not null,
  constraint external_busy_calendar_id_fkey FOREIGN KEY (calendar_id) REFERENCES external_calendar(id) ON DELETE CASCADE,
  constraint external_busy_check CHECK ((starts_at < busy_until))
);
CREATE INDEX external_busy_time ON public.external_busy USING btree (calendar_id, busy_until);

create table external_calendar (
  id text not null,
  workspace_id text not null,
  name text,
  url_encrypted bytea not null,
  host text not null,
  status text not null default 'PENDING'::text,
  last_error text,
  event_count integer not null default 0,
  etag text,
  last_modified text,
  failure_count integer not null default 0,
  fetched_at timestamp with time zone,
  next_fetch_at timestamp with time zone not null,
  content_fetched_at timestamp with time zone,
  content_timezone text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint external_calendar_failure_count_check CHECK ((failure_count >= 0)),
  constraint external_calendar_pkey PRIMARY KEY (id),
  constraint external_calendar_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'OK'::text, 'FAILED'::text]))),
  constraint external_calendar_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX external_calendar_due ON public.external_calendar USING btree (next_fetch_at);
CREATE INDEX external_calendar_workspace ON public.external_calendar USING btree (workspace_id, id DESC);

create table follow (
  id text not null,
  workspace_id text not null,
  follower_id text not null,
  created_at timestamp with time zone not null,
  constraint follow_follower_id_fkey FOREIGN KEY (follower_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint follow_pkey PRIMARY KEY (id),
  constraint follow_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX follow_follower ON public.follow USING btree (follower_id);
CREATE UNIQUE INDEX follow_once ON public.follow USING btree (workspace_id, follower_id);

create table follower_count (
  workspace_id text not null,
  followers integer not null,
  event_sequence integer not null,
  constraint follower_count_followers_check CHECK ((followers >= 0)),
  constraint follower_count_pkey PRIMARY KEY (workspace_id),
  constraint follower_count_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);

create table idempotency_record (
  id bytea not null,
  workspace_id text not null,
  fingerprint bytea not null,
  status smallint,
  body bytea,
  leased_until timestamp with time zone,
  operation_id text,
  expires_at timestamp with time zone not null,
  constraint idempotency_record_check CHECK (((status IS NULL) = (body IS NULL))),
  constraint idempotency_record_pkey PRIMARY KEY (id)
);
CREATE INDEX idempotency_record_expiry ON public.idempotency_record USING btree (expires_at);

create table import (
  id text not null,
  workspace_id text not null,
  video_id text,
  source_url text not null,
  provider text not null,
  status text not null,
  replaces boolean not null default false,
  title text not null,
  visibility text not null,
  metadata jsonb not null default '{}'::jsonb,
  bytes_total bigint,
  bytes_received bigint not null default 0,
  validator text,
  storage_state jsonb,
  error_code text,
  error_message text,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null default now(),
  completed_at timestamp with time zone,
  constraint import_pkey PRIMARY KEY (id),
  constraint import_provider_check CHECK ((provider = ANY (ARRAY['URL'::text, 'S3'::text, 'YOUTUBE'::text, 'VIMEO'::text, 'TWITCH'::text, 'PEERTUBE'::text]))),
  constraint import_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'DOWNLOADING'::text, 'PROCESSING'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELED'::text]))),
  constraint import_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE SET NULL,
  constraint import_visibility_check CHECK ((visibility = ANY (ARRAY['PUBLIC'::text, 'UNLISTED'::text, 'PRIVATE'::text, 'FOLLOWERS'::text, 'TIER'::text, 'PURCHASE'::text]))),
  constraint import_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX import_state ON public.import USING btree (workspace_id, provider, status, id COLLATE "C" DESC);
CREATE INDEX import_video ON public.import USING btree (video_id);
CREATE INDEX import_workspace ON public.import USING btree (workspace_id, id DESC);

create table ingest_session (
  id text not null,
  stream_id text not null,
  node_id text not null,
  protocol text not null,
  started_at timestamp with time zone not null,
  last_seen_at timestamp with time zone,
  video jsonb,
  audio jsonb,
  lost_at timestamp with time zone,
  grace_until timestamp with time zone,
  disconnect_reason text,
  ended_at timestamp with time zone,
  end_reason text,
  constraint ingest_session_pkey PRIMARY KEY (id),
  constraint ingest_session_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE
);
CREATE INDEX ingest_session_node ON public.ingest_session USING btree (node_id) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX ingest_session_open ON public.ingest_session USING btree (stream_id) WHERE (ended_at IS NULL);
CREATE INDEX ingest_session_stream ON public.ingest_session USING btree (stream_id, ended_at DESC);

create table integration_domain (
  id text not null,
  workspace_id text not null,
  domain text not null,
  include_subdomains boolean not null,
  status text not null,
  method text,
  token text not null,
  txt_verified boolean not null default false,
  pending_since timestamp with time zone,
  checks integer not null default 0,
  failing_since timestamp with time zone,
  last_checked_at timestamp with time zone,
  last_error text,
  verified_at timestamp with time zone,
  next_check_at timestamp with time zone,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  constraint integration_domain_method_check CHECK ((method = ANY (ARRAY['DNS_TXT'::text, 'WELL_KNOWN'::text]))),
  constraint integration_domain_pkey PRIMARY KEY (id),
  constraint integration_domain_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'VERIFIED'::text, 'FAILED'::text, 'LAPSED'::text]))),
  constraint integration_domain_workspace_id_domain_key UNIQUE (workspace_id, domain),
  constraint integration_domain_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX integration_domain_due ON public.integration_domain USING btree (next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE UNIQUE INDEX integration_domain_workspace_id_domain_key ON public.integration_domain USING btree (workspace_id, domain);

create table job (
  id uuid not null default gen_random_uuid(),
  name text not null,
  state text not null default 'waiting'::text,
  payload jsonb not null,
  priority integer not null default 0,
  group_id text not null default ''::text,
  singleton_key text,
  run_after timestamp with time zone not null default clock_timestamp(),
  fence integer not null default 0,
  failed_count integer not null default 0,
  lost_count integer not null default 0,
  error text,
  created_at timestamp with time zone not null default clock_timestamp(),
  heartbeat_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint job_pkey PRIMARY KEY (id),
  constraint job_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'active'::text, 'completed'::text, 'failed'::text, 'canceled'::text])))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500, autovacuum_vacuum_cost_delay=0);
CREATE INDEX job_active ON public.job USING btree (name) WHERE (state = 'active'::text);
CREATE INDEX job_ended ON public.job USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE UNIQUE INDEX job_singleton ON public.job USING btree (name, singleton_key) WHERE ((state = ANY (ARRAY['waiting'::text, 'active'::text])) AND (singleton_key IS NOT NULL));
CREATE INDEX job_waiting ON public.job USING btree (name, group_id, priority DESC, created_at) INCLUDE (run_after) WHERE (state = 'waiting'::text);

create table job_turn (
  queue text not null,
  group_id text not null,
  served_pass double precision not null,
  next_pass double precision not null,
  constraint job_turn_pkey PRIMARY KEY (queue, group_id)
);

create table ledger_account (
  id text not null,
  workspace_id text not null,
  provider text not null,
  kind text not null,
  created_at timestamp with time zone not null,
  constraint ledger_account_kind_check CHECK ((kind = ANY (ARRAY['BUYERS'::text, 'CREATOR'::text, 'FEES'::text, 'DISPUTED'::text, 'PAID_OUT'::text]))),
  constraint ledger_account_pkey PRIMARY KEY (id),
  constraint ledger_account_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text]))),
  constraint ledger_account_workspace_id_provider_kind_key UNIQUE (workspace_id, provider, kind)
);
CREATE UNIQUE INDEX ledger_account_workspace_id_provider_kind_key ON public.ledger_account USING btree (workspace_id, provider, kind);

create table ledger_entry (
  transaction_id text not null,
  account_id text not null,
  amount_cents bigint not null,
  constraint ledger_entry_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger_account(id),
  constraint ledger_entry_amount_cents_check CHECK ((amount_cents <> 0)),
  constraint ledger_entry_balanced TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint ledger_entry_pkey PRIMARY KEY (transaction_id, account_id),
  constraint ledger_entry_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transaction(id)
);
CREATE INDEX ledger_entry_account ON public.ledger_entry USING btree (account_id, transaction_id) INCLUDE (amount_cents);

create table ledger_revenue (
  workspace_id text not null,
  quarter_hour timestamp with time zone not null,
  gross_cents bigint not null,
  fee_cents bigint not null,
  refund_cents bigint not null,
  sale_count integer not null,
  constraint ledger_revenue_pkey PRIMARY KEY (workspace_id, quarter_hour)
);

create table ledger_revenue_item (
  workspace_id text not null,
  day timestamp with time zone not null,
  sale_kind text not null,
  item_id text not null,
  gross_cents bigint not null,
  fee_cents bigint not null,
  refund_cents bigint not null,
  sale_count integer not null,
  constraint ledger_revenue_item_pkey PRIMARY KEY (workspace_id, day, sale_kind, item_id),
  constraint ledger_revenue_item_sale_kind_check CHECK ((sale_kind = ANY (ARRAY['VIDEO'::text, 'BOOKING'::text, 'SUBSCRIPTION'::text])))
);

create table ledger_transaction (
  id text not null,
  workspace_id text not null,
  kind text not null,
  source text not null,
  sale_kind text,
  item_id text,
  purchase_id text,
  occurred_at timestamp with time zone not null,
  constraint ledger_transaction_check CHECK ((num_nonnulls(sale_kind, item_id, purchase_id) = ANY (ARRAY[0, 3]))),
  constraint ledger_transaction_kind_check CHECK ((kind = ANY (ARRAY['CHARGE'::text, 'REFUND'::text, 'DISPUTE_OPENED'::text, 'DISPUTE_WON'::text, 'DISPUTE_LOST'::text, 'PAYOUT'::text, 'PAYOUT_FAILED'::text, 'ADJUSTMENT'::text]))),
  constraint ledger_transaction_pkey PRIMARY KEY (id),
  constraint ledger_transaction_sale_kind_check CHECK ((sale_kind = ANY (ARRAY['VIDEO'::text, 'BOOKING'::text, 'SUBSCRIPTION'::text]))),
  constraint ledger_transaction_source_kind_key UNIQUE (source, kind)
);
CREATE UNIQUE INDEX ledger_transaction_source_kind_key ON public.ledger_transaction USING btree (source, kind);
CREATE INDEX ledger_transaction_time ON public.ledger_transaction USING brin (occurred_at);
CREATE INDEX ledger_transaction_workspace ON public.ledger_transaction USING btree (workspace_id, occurred_at);

create table mail (
  id text not null,
  kind text not null,
  recipient text not null,
  subject text not null,
  body bytea,
  calendar bytea,
  unsubscribe_url bytea,
  status text not null default 'QUEUED'::text,
  attempts smallint not null default 0,
  last_error text,
  next_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  constraint mail_pkey PRIMARY KEY (id),
  constraint mail_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'SENT'::text, 'KEPT'::text, 'FAILED'::text])))
);
CREATE INDEX mail_created ON public.mail USING btree (created_at);
CREATE INDEX mail_due ON public.mail USING btree (next_at) WHERE (status = 'QUEUED'::text);

create table media_node (
  id text not null,
  url text,
  last_seen_at timestamp with time zone not null,
  constraint media_node_pkey PRIMARY KEY (id)
);

create table member_link (
  token_hash bytea not null,
  customer_id text not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint member_link_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  constraint member_link_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX member_link_customer ON public.member_link USING btree (customer_id, created_at);
CREATE INDEX member_link_expiry ON public.member_link USING btree (expires_at);

create table member_link_request (
  id bigint not null generated always as identity,
  workspace_id text not null,
  email text not null,
  created_at timestamp with time zone not null,
  constraint member_link_request_pkey PRIMARY KEY (id),
  constraint member_link_request_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);

create table member_session (
  token_hash bytea not null,
  customer_id text not null,
  workspace_id text not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint member_session_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  constraint member_session_pkey PRIMARY KEY (token_hash),
  constraint member_session_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX member_session_customer ON public.member_session USING btree (customer_id);
CREATE INDEX member_session_expiry ON public.member_session USING btree (expires_at);

create table migration (
  name text not null,
  applied_at timestamp with time zone not null default now(),
  phase text,
  constraint migration_pkey PRIMARY KEY (name)
);

create table notification (
  id text not null,
  account_id text not null,
  type text not null,
  title text not null,
  body text,
  severity text not null,
  resource_type text,
  resource_id text,
  action_url text,
  read_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint notification_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint notification_check CHECK (((resource_type IS NULL) = (resource_id IS NULL))),
  constraint notification_pkey PRIMARY KEY (id),
  constraint notification_severity_check CHECK ((severity = ANY (ARRAY['INFO'::text, 'WARNING'::text, 'CRITICAL'::text])))
);
CREATE INDEX notification_account ON public.notification USING btree (account_id, id DESC);
CREATE INDEX notification_created ON public.notification USING btree (created_at);
CREATE INDEX notification_is_read ON public.notification USING btree (account_id, id COLLATE "C" DESC) WHERE (read_at IS NOT NULL);
CREATE INDEX notification_type ON public.notification USING btree (account_id, type, id COLLATE "C" DESC);
CREATE INDEX notification_unread ON public.notification USING btree (account_id, id COLLATE "C" DESC) WHERE (read_at IS NULL);

create table notification_preference (
  account_id text not null,
  email boolean not null,
  in_app boolean not null,
  types jsonb not null,
  constraint notification_preference_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint notification_preference_pkey PRIMARY KEY (account_id)
);

create table notification_read (
  notification_id text not null,
  user_id text not null,
  read_at timestamp with time zone not null,
  constraint notification_read_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES notification(id) ON DELETE CASCADE,
  constraint notification_read_pkey PRIMARY KEY (notification_id, user_id),
  constraint notification_read_user_id_fkey FOREIGN KEY (user_id) REFERENCES account(id) ON DELETE CASCADE
);
CREATE INDEX notification_read_user ON public.notification_read USING btree (user_id);

create table payment (
  id text not null,
  workspace_id text not null,
  purchase_id text,
  type text not null,
  status text not null,
  amount_cents integer not null,
  provider text not null,
  provider_ref text,
  provider_key text not null,
  request jsonb not null default '{}'::jsonb,
  payment_method jsonb,
  action_url text,
  failure_code text,
  failure_message text,
  request_id text,
  reason text,
  outcome text,
  provider_requested_at timestamp with time zone,
  next_poll_at timestamp with time zone,
  next_ask_at timestamp with time zone,
  settled_at timestamp with time zone,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  constraint payment_outcome_check CHECK ((outcome = ANY (ARRAY['WON'::text, 'LOST'::text]))),
  constraint payment_pkey PRIMARY KEY (id),
  constraint payment_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text, 'NONE'::text]))),
  constraint payment_provider_key_key UNIQUE (provider_key),
  constraint payment_purchase_id_fkey FOREIGN KEY (purchase_id) REFERENCES purchase(id) ON DELETE CASCADE,
  constraint payment_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'CANCELED'::text]))),
  constraint payment_type_check CHECK ((type = ANY (ARRAY['CHARGE'::text, 'REFUND'::text, 'DISPUTE'::text, 'FEE'::text, 'ADJUSTMENT'::text]))),
  constraint payment_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX payment_open ON public.payment USING btree (next_poll_at) WHERE (status = 'PENDING'::text);
CREATE UNIQUE INDEX payment_provider_key_key ON public.payment USING btree (provider_key);
CREATE INDEX payment_purchase ON public.payment USING btree (purchase_id, id);
CREATE UNIQUE INDEX payment_ref ON public.payment USING btree (provider, provider_ref) WHERE (provider_ref IS NOT NULL);
CREATE UNIQUE INDEX payment_request ON public.payment USING btree (purchase_id, request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX payment_state ON public.payment USING btree (workspace_id, type, status, id COLLATE "C" DESC);
CREATE INDEX payment_workspace ON public.payment USING btree (workspace_id, id DESC);

create table payout (
  id text not null,
  workspace_id text not null,
  provider text not null,
  provider_ref text,
  amount_cents integer not null,
  currency text not null default 'USD'::text,
  status text not null,
  failure_code text,
  arrival_at timestamp with time zone,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  constraint payout_amount_cents_check CHECK ((amount_cents > 0)),
  constraint payout_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint payout_pkey PRIMARY KEY (id),
  constraint payout_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text]))),
  constraint payout_provider_provider_ref_key UNIQUE (provider, provider_ref),
  constraint payout_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'IN_TRANSIT'::text, 'PAID'::text, 'FAILED'::text, 'CANCELED'::text]))),
  constraint payout_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX payout_created ON public.payout USING btree (workspace_id, created_at);
CREATE UNIQUE INDEX payout_provider_provider_ref_key ON public.payout USING btree (provider, provider_ref);
CREATE INDEX payout_state ON public.payout USING btree (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX payout_workspace ON public.payout USING btree (workspace_id, id DESC);

create table playlist (
  id text not null,
  workspace_id text not null,
  title text not null,
  description text,
  visibility text not null,
  thumbnail_video_id text,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint playlist_pkey PRIMARY KEY (id),
  constraint playlist_thumbnail_video_id_fkey FOREIGN KEY (thumbnail_video_id) REFERENCES video(id) ON DELETE SET NULL,
  constraint playlist_visibility_check CHECK ((visibility = ANY (ARRAY['PUBLIC'::text, 'UNLISTED'::text, 'PRIVATE'::text]))),
  constraint playlist_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX playlist_state ON public.playlist USING btree (workspace_id, visibility, id COLLATE "C" DESC);
CREATE INDEX playlist_thumbnail ON public.playlist USING btree (thumbnail_video_id) WHERE (thumbnail_video_id IS NOT NULL);
CREATE INDEX playlist_workspace ON public.playlist USING btree (workspace_id, id DESC);

create table playlist_item (
  id text not null,
  playlist_id text not null,
  video_id text not null,
  position integer not null,
  note text,
  start_sec double precision,
  stop_sec double precision,
  added_at timestamp with time zone not null default now(),
  constraint playlist_item_pkey PRIMARY KEY (id),
  constraint playlist_item_playlist_id_fkey FOREIGN KEY (playlist_id) REFERENCES playlist(id) ON DELETE CASCADE,
  constraint playlist_item_playlist_id_position_key UNIQUE (playlist_id, "position") DEFERRABLE INITIALLY DEFERRED,
  constraint playlist_item_position_check CHECK (("position" >= 0)),
  constraint playlist_item_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX playlist_item_playlist_id_position_key ON public.playlist_item USING btree (playlist_id, "position");
CREATE INDEX playlist_item_video ON public.playlist_item USING btree (video_id);

create table provider_event (
  provider text not null,
  id text not null,
  kind text not null,
  object_ref text not null,
  account_ref text,
  received_at timestamp with time zone not null,
  handled_at timestamp with time zone,
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone,
  error text,
  constraint provider_event_kind_check CHECK ((kind = ANY (ARRAY['PAYMENT'::text, 'REFUND'::text, 'DISPUTE'::text, 'PAYOUT'::text, 'ACCOUNT'::text, 'CARD'::text]))),
  constraint provider_event_pkey PRIMARY KEY (provider, id),
  constraint provider_event_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text])))
);
CREATE INDEX provider_event_open ON public.provider_event USING btree (next_attempt_at) WHERE (handled_at IS NULL);

create table provider_poll_state (
  provider text not null,
  synced_until timestamp with time zone not null,
  constraint provider_poll_state_pkey PRIMARY KEY (provider),
  constraint provider_poll_state_provider_check CHECK ((provider = ANY (ARRAY['SANDBOX'::text, 'STRIPE'::text])))
);

create table purchase (
  id text not null,
  workspace_id text not null,
  customer_id text not null,
  kind text not null,
  video_id text,
  booking_id text,
  subscription_id text,
  tier_id text,
  product_id text,
  checkout_id text,
  status text not null default 'PENDING'::text,
  status_before_dispute text,
  amount_cents integer not null,
  discount_cents integer not null default 0,
  discount_code text,
  fee_cents integer not null default 0,
  refunded_cents integer not null default 0,
  fee_refunded_cents integer not null default 0,
  payment_id text,
  paid_at timestamp with time zone,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  constraint purchase_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint purchase_check CHECK (((fee_cents >= 0) AND (fee_cents <= amount_cents))),
  constraint purchase_check1 CHECK (((refunded_cents >= 0) AND (refunded_cents <= amount_cents))),
  constraint purchase_check2 CHECK (((fee_refunded_cents >= 0) AND (fee_refunded_cents <= fee_cents))),
  constraint purchase_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id),
  constraint purchase_discount_cents_check CHECK ((discount_cents >= 0)),
  constraint purchase_kind_check CHECK ((kind = ANY (ARRAY['VIDEO'::text, 'BOOKING'::text, 'SUBSCRIPTION'::text]))),
  constraint purchase_pkey PRIMARY KEY (id),
  constraint purchase_status_before_dispute_check CHECK ((status_before_dispute = ANY (ARRAY['PAID'::text, 'PARTIALLY_REFUNDED'::text]))),
  constraint purchase_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'PAID'::text, 'FAILED'::text, 'REFUNDED'::text, 'PARTIALLY_REFUNDED'::text, 'DISPUTED'::text]))),
  constraint purchase_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX purchase_checkout ON public.purchase USING btree (checkout_id) WHERE (checkout_id IS NOT NULL);
CREATE INDEX purchase_customer ON public.purchase USING btree (customer_id, id DESC);
CREATE INDEX purchase_state ON public.purchase USING btree (workspace_id, kind, status, id COLLATE "C" DESC);
CREATE INDEX purchase_subscription ON public.purchase USING btree (subscription_id) WHERE (subscription_id IS NOT NULL);
CREATE INDEX purchase_video ON public.purchase USING btree (workspace_id, video_id, kind, status, id COLLATE "C" DESC) WHERE (video_id IS NOT NULL);
CREATE INDEX purchase_workspace ON public.purchase USING btree (workspace_id, id DESC);

create table quota_notification (
  workspace_id text not null,
  resource text not null,
  notified_level smallint not null,
  notified_used bigint not null,
  notified_limit bigint not null default 0,
  period_start timestamp with time zone,
  version integer not null default 0,
  event_sequence integer not null default 0,
  constraint quota_notification_notified_level_check CHECK ((notified_level = ANY (ARRAY[0, 80, 95, 100]))),
  constraint quota_notification_pkey PRIMARY KEY (workspace_id, resource),
  constraint quota_notification_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);

create table recording (
  id text not null,
  session_id text not null,
  number integer not null default 1,
  workspace_id text not null,
  stream_id text not null,
  video_id text,
  settled_at timestamp with time zone,
  ready_notified_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint recording_number UNIQUE (session_id, number),
  constraint recording_pkey PRIMARY KEY (id),
  constraint recording_session_id_fkey FOREIGN KEY (session_id) REFERENCES stream_session(id) ON DELETE CASCADE,
  constraint recording_video_id_key UNIQUE (video_id),
  constraint recording_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX recording_number ON public.recording USING btree (session_id, number);
CREATE UNIQUE INDEX recording_video_id_key ON public.recording USING btree (video_id);

create table recording_part (
  id text not null,
  recording_id text not null,
  node_id text not null,
  started_at timestamp with time zone not null,
  last_seen_at timestamp with time zone,
  has_media boolean not null default false,
  closed_at timestamp with time zone,
  size_bytes bigint,
  reserved_bytes bigint not null default 0,
  constraint recording_part_pkey PRIMARY KEY (id),
  constraint recording_part_recording_id_fkey FOREIGN KEY (recording_id) REFERENCES recording(id) ON DELETE CASCADE
);
CREATE INDEX recording_part_open ON public.recording_part USING btree (node_id) WHERE (closed_at IS NULL);
CREATE INDEX recording_part_recording ON public.recording_part USING btree (recording_id);

create table recovery_code (
  account_id text not null,
  hash text not null,
  used_at timestamp with time zone,
  constraint recovery_code_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint recovery_code_pkey PRIMARY KEY (account_id, hash)
);

create table registration_invite (
  hash bytea not null,
  email text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint registration_invite_pkey PRIMARY KEY (hash)
);

create table release_notice (
  version text not null,
  detected_at timestamp with time zone not null,
  last_workspace_id text not null default ''::text,
  notified_at timestamp with time zone,
  constraint release_notice_pkey PRIMARY KEY (version)
);

create table request_log (
  id text not null,
  workspace_id text not null,
  request_id uuid not null,
  key_id text,
  method text not null,
  path text not null,
  status smallint not null,
  code text,
  ms double precision not null,
  created_at timestamp with time zone not null,
  constraint request_log_pkey PRIMARY KEY (workspace_id, id, created_at)
) partition by RANGE (created_at);
CREATE INDEX request_log_errors ON ONLY public.request_log USING btree (workspace_id, id) WHERE (status >= 400);
CREATE INDEX request_log_failures ON ONLY public.request_log USING btree (workspace_id, id) WHERE (status >= 500);
CREATE INDEX request_log_key ON ONLY public.request_log USING btree (workspace_id, key_id, id);
CREATE INDEX request_log_path ON ONLY public.request_log USING btree (workspace_id, path text_pattern_ops, id);
CREATE INDEX request_log_request ON ONLY public.request_log USING btree (request_id);
CREATE INDEX request_log_status ON ONLY public.request_log USING btree (workspace_id, status, id);

create table request_log_default (
  id text not null,
  workspace_id text not null,
  request_id uuid not null,
  key_id text,
  method text not null,
  path text not null,
  status smallint not null,
  code text,
  ms double precision not null,
  created_at timestamp with time zone not null,
  constraint request_log_default_pkey PRIMARY KEY (workspace_id, id, created_at)
) partition of request_log DEFAULT;
CREATE INDEX request_log_default_request_id_idx ON public.request_log_default USING btree (request_id);
CREATE INDEX request_log_default_workspace_id_id_idx ON public.request_log_default USING btree (workspace_id, id) WHERE (status >= 400);
CREATE INDEX request_log_default_workspace_id_id_idx1 ON public.request_log_default USING btree (workspace_id, id) WHERE (status >= 500);
CREATE INDEX request_log_default_workspace_id_key_id_id_idx ON public.request_log_default USING btree (workspace_id, key_id, id);
CREATE INDEX request_log_default_workspace_id_path_id_idx ON public.request_log_default USING btree (workspace_id, path text_pattern_ops, id);
CREATE INDEX request_log_default_workspace_id_status_id_idx ON public.request_log_default USING btree (workspace_id, status, id);

create table restream (
  id text not null,
  workspace_id text not null,
  stream_id text not null,
  name text not null,
  enabled boolean not null default true,
  start_mode text not null,
  manual_override text not null default 'AUTO'::text,
  is_running boolean not null default false,
  operation_id text,
  event_sequence integer not null default 0,
  started_at timestamp with time zone,
  stopped_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint restream_manual_override_check CHECK ((manual_override = ANY (ARRAY['AUTO'::text, 'STARTED'::text, 'STOPPED'::text]))),
  constraint restream_operation_id_key UNIQUE (operation_id),
  constraint restream_pkey PRIMARY KEY (id),
  constraint restream_start_mode_check CHECK ((start_mode = ANY (ARRAY['WITH_BROADCAST'::text, 'WITH_SIGNAL'::text, 'MANUAL'::text]))),
  constraint restream_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE,
  constraint restream_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX restream_operation_id_key ON public.restream USING btree (operation_id);
CREATE INDEX restream_running ON public.restream USING btree (id) WHERE is_running;
CREATE INDEX restream_stream ON public.restream USING btree (stream_id);
CREATE INDEX restream_workspace ON public.restream USING btree (workspace_id, id DESC);
CREATE INDEX restream_workspace_running ON public.restream USING btree (workspace_id) WHERE is_running;

create table restream_target (
  id text not null,
  restream_id text not null,
  name text not null,
  platform text not null,
  url text not null,
  stream_key bytea,
  stream_key_last4 text,
  passphrase bytea,
  enabled boolean not null default true,
  state text not null default 'IDLE'::text,
  error_severity text,
  error_message text,
  retry_count integer not null default 0,
  next_retry_at timestamp with time zone,
  connected_at timestamp with time zone,
  bitrate_kbps integer,
  last_failure_at timestamp with time zone,
  last_failure text,
  revision integer not null default 1,
  node_id text,
  lease_until timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint restream_target_check CHECK (((state = 'ERRORED'::text) = (error_severity IS NOT NULL))),
  constraint restream_target_error_severity_check CHECK ((error_severity = ANY (ARRAY['NORMAL'::text, 'FATAL'::text]))),
  constraint restream_target_pkey PRIMARY KEY (id),
  constraint restream_target_platform_check CHECK ((platform = ANY (ARRAY['YOUTUBE'::text, 'TWITCH'::text, 'FACEBOOK'::text, 'KICK'::text, 'X'::text, 'CUSTOM'::text]))),
  constraint restream_target_restream_id_fkey FOREIGN KEY (restream_id) REFERENCES restream(id) ON DELETE CASCADE,
  constraint restream_target_state_check CHECK ((state = ANY (ARRAY['IDLE'::text, 'CONNECTING'::text, 'BROADCASTING'::text, 'ERRORED'::text])))
);
CREATE INDEX restream_target_node ON public.restream_target USING btree (node_id) WHERE (node_id IS NOT NULL);
CREATE INDEX restream_target_restream ON public.restream_target USING btree (restream_id, id);

create table rollup_state (
  singleton boolean not null default true,
  next_xid xid8 not null,
  fresh_until timestamp with time zone not null,
  pending_xid xid8,
  pending_fresh_until timestamp with time zone,
  compacted_until timestamp with time zone,
  constraint rollup_state_pkey PRIMARY KEY (singleton),
  constraint rollup_state_singleton_check CHECK (singleton)
);

create table room (
  id text not null,
  workspace_id text not null,
  name text not null,
  description text,
  status text not null default 'CREATED'::text,
  max_participants integer not null,
  empty_timeout_sec integer not null,
  departure_timeout_sec integer not null,
  max_duration_sec integer,
  auto_end_when_alone_sec integer,
  scheduled_start_at timestamp with time zone,
  expires_at timestamp with time zone,
  record_enabled boolean not null,
  record_layout text not null default 'GRID'::text,
  waiting_room boolean not null,
  can_publish boolean not null,
  can_subscribe boolean not null,
  can_publish_data boolean not null,
  can_screen_share boolean not null,
  metadata jsonb not null,
  recording_since timestamp with time zone,
  recording_video_ids text[] not null default '{}'::text[],
  started_at timestamp with time zone,
  peak_participants integer not null default 0,
  empty_since timestamp with time zone,
  alone_since timestamp with time zone,
  ended_at timestamp with time zone,
  end_reason text,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint room_check CHECK (((status = 'ENDED'::text) = (end_reason IS NOT NULL))),
  constraint room_check1 CHECK (((status = 'ENDED'::text) = (ended_at IS NOT NULL))),
  constraint room_end_reason_check CHECK ((end_reason = ANY (ARRAY['CALL'::text, 'DELETED'::text, 'MAX_DURATION'::text, 'EXPIRED'::text, 'ALONE'::text, 'SUSPENDED'::text]))),
  constraint room_pkey PRIMARY KEY (id),
  constraint room_record_layout_check CHECK ((record_layout = ANY (ARRAY['GRID'::text, 'SPEAKER'::text]))),
  constraint room_status_check CHECK ((status = ANY (ARRAY['CREATED'::text, 'ACTIVE'::text, 'ENDED'::text]))),
  constraint room_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX room_active ON public.room USING btree (workspace_id) WHERE (status = 'ACTIVE'::text);
CREATE INDEX room_open ON public.room USING btree (id) WHERE (status <> 'ENDED'::text);
CREATE INDEX room_state ON public.room USING btree (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX room_workspace ON public.room USING btree (workspace_id, id DESC);

create table room_ban (
  room_id text not null,
  identity text not null,
  created_at timestamp with time zone not null,
  constraint room_ban_pkey PRIMARY KEY (room_id, identity),
  constraint room_ban_room_id_fkey FOREIGN KEY (room_id) REFERENCES room(id) ON DELETE CASCADE
);

create table room_message (
  id text not null,
  room_id text not null,
  node_id text not null,
  recipient text,
  body text not null,
  created_at timestamp with time zone not null,
  constraint room_message_pkey PRIMARY KEY (id)
);
CREATE INDEX room_message_room ON public.room_message USING btree (room_id, created_at);

create table room_node (
  id text not null,
  last_seen_at timestamp with time zone not null,
  constraint room_node_pkey PRIMARY KEY (id)
);

create table room_participant (
  id text not null,
  room_id text not null,
  identity text not null,
  name text,
  role text not null,
  bridge_id text,
  can_publish boolean not null,
  can_subscribe boolean not null,
  can_publish_data boolean not null,
  can_screen_share boolean not null,
  state text not null,
  leave_reason text,
  connection_id text,
  node_id text,
  disconnected_since timestamp with time zone,
  audio boolean not null default false,
  video boolean not null default false,
  screen boolean not null default false,
  audio_muted boolean not null default false,
  video_muted boolean not null default false,
  screen_muted boolean not null default false,
  hand_raised boolean not null default false,
  metered_until timestamp with time zone,
  created_at timestamp with time zone not null,
  joined_at timestamp with time zone,
  left_at timestamp with time zone,
  constraint room_participant_check CHECK (((state = 'LEFT'::text) = (leave_reason IS NOT NULL))),
  constraint room_participant_check1 CHECK (((state = 'LEFT'::text) = (left_at IS NOT NULL))),
  constraint room_participant_check2 CHECK (((connection_id IS NULL) = (node_id IS NULL))),
  constraint room_participant_leave_reason_check CHECK ((leave_reason = ANY (ARRAY['CLIENT'::text, 'KICKED'::text, 'DENIED'::text, 'ROOM_ENDED'::text, 'TIMEOUT'::text, 'DUPLICATE_IDENTITY'::text]))),
  constraint room_participant_pkey PRIMARY KEY (id),
  constraint room_participant_role_check CHECK ((role = ANY (ARRAY['HOST'::text, 'SPEAKER'::text, 'VIEWER'::text]))),
  constraint room_participant_room_id_fkey FOREIGN KEY (room_id) REFERENCES room(id) ON DELETE CASCADE,
  constraint room_participant_state_check CHECK ((state = ANY (ARRAY['JOINING'::text, 'ACTIVE'::text, 'LEFT'::text])))
);
CREATE INDEX room_participant_active ON public.room_participant USING btree (id) WHERE ((state = 'ACTIVE'::text) AND (bridge_id IS NULL));
CREATE INDEX room_participant_bridge ON public.room_participant USING btree (bridge_id) WHERE (bridge_id IS NOT NULL);
CREATE INDEX room_participant_identity ON public.room_participant USING btree (room_id, identity, id DESC);
CREATE INDEX room_participant_open ON public.room_participant USING btree (node_id) WHERE (state <> 'LEFT'::text);
CREATE UNIQUE INDEX room_participant_present ON public.room_participant USING btree (room_id, identity) WHERE (state <> 'LEFT'::text);
CREATE INDEX room_participant_room ON public.room_participant USING btree (room_id, id DESC);
CREATE INDEX room_participant_state ON public.room_participant USING btree (room_id, state, id COLLATE "C" DESC);

create table room_recording (
  id text not null,
  workspace_id text not null,
  room_id text,
  deleted_room_id text,
  deleted_room_sequence integer,
  title text not null,
  layout text not null default 'GRID'::text,
  node_id text,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  end_reason text,
  reserved_bytes bigint not null default 0,
  uploaded_at timestamp with time zone,
  video_id text,
  settled_at timestamp with time zone,
  ready_notified_at timestamp with time zone,
  constraint room_recording_end_reason_check CHECK ((end_reason = ANY (ARRAY['QUOTA_EXCEEDED'::text, 'DISK_FULL'::text, 'TOO_LONG'::text]))),
  constraint room_recording_layout_check CHECK ((layout = ANY (ARRAY['GRID'::text, 'SPEAKER'::text]))),
  constraint room_recording_pkey PRIMARY KEY (id),
  constraint room_recording_room_id_fkey FOREIGN KEY (room_id) REFERENCES room(id) ON DELETE SET NULL,
  constraint room_recording_video_id_key UNIQUE (video_id),
  constraint room_recording_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX room_recording_deleted_room ON public.room_recording USING btree (deleted_room_id) WHERE (deleted_room_id IS NOT NULL);
CREATE UNIQUE INDEX room_recording_open ON public.room_recording USING btree (room_id) WHERE (ended_at IS NULL);
CREATE INDEX room_recording_room ON public.room_recording USING btree (room_id, started_at);
CREATE INDEX room_recording_unsettled ON public.room_recording USING btree (id) WHERE (settled_at IS NULL);
CREATE UNIQUE INDEX room_recording_video_id_key ON public.room_recording USING btree (video_id);

create table sandbox_card (
  ref text not null,
  key text not null,
  workspace_id text not null,
  customer_id text not null,
  card text not null,
  created_at timestamp with time zone not null,
  constraint sandbox_card_key_key UNIQUE (key),
  constraint sandbox_card_pkey PRIMARY KEY (ref),
  constraint sandbox_card_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX sandbox_card_key_key ON public.sandbox_card USING btree (key);

create table sandbox_payment (
  ref text not null,
  key text not null,
  workspace_id text not null,
  amount_cents integer not null,
  fee_cents integer not null default 0,
  status text not null,
  description text not null default ''::text,
  return_url text,
  card text,
  card_ref text,
  failure_code text,
  refunded_cents integer not null default 0,
  dispute_status text,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint sandbox_payment_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint sandbox_payment_card_ref_fkey FOREIGN KEY (card_ref) REFERENCES sandbox_card(ref),
  constraint sandbox_payment_dispute_status_check CHECK ((dispute_status = ANY (ARRAY['OPEN'::text, 'WON'::text, 'LOST'::text]))),
  constraint sandbox_payment_key_key UNIQUE (key),
  constraint sandbox_payment_pkey PRIMARY KEY (ref),
  constraint sandbox_payment_status_check CHECK ((status = ANY (ARRAY['ACTION'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'CANCELED'::text]))),
  constraint sandbox_payment_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX sandbox_payment_key_key ON public.sandbox_payment USING btree (key);
CREATE INDEX sandbox_payment_workspace ON public.sandbox_payment USING btree (workspace_id, ref);

create table sandbox_refund (
  ref text not null,
  key text not null,
  payment_ref text not null,
  amount_cents integer not null,
  created_at timestamp with time zone not null,
  constraint sandbox_refund_amount_cents_check CHECK ((amount_cents > 0)),
  constraint sandbox_refund_key_key UNIQUE (key),
  constraint sandbox_refund_payment_ref_fkey FOREIGN KEY (payment_ref) REFERENCES sandbox_payment(ref) ON DELETE CASCADE,
  constraint sandbox_refund_pkey PRIMARY KEY (ref)
);
CREATE UNIQUE INDEX sandbox_refund_key_key ON public.sandbox_refund USING btree (key);

create table sign_in_challenge (
  id text not null,
  account_id text not null,
  attempts smallint not null default 0,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint sign_in_challenge_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint sign_in_challenge_pkey PRIMARY KEY (id)
);
CREATE INDEX sign_in_challenge_account ON public.sign_in_challenge USING btree (account_id, created_at);

create table sign_in_location (
  account_id text not null,
  location_hash bytea not null,
  network bytea,
  last_seen_at timestamp with time zone not null,
  constraint sign_in_location_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint sign_in_location_pkey PRIMARY KEY (account_id, location_hash)
);
CREATE INDEX sign_in_location_seen ON public.sign_in_location USING btree (last_seen_at);

create table signal_simulation (
  stream_id text not null,
  workspace_id text not null,
  ends_at timestamp with time zone not null,
  node_id text,
  last_seen_at timestamp with time zone,
  constraint signal_simulation_pkey PRIMARY KEY (stream_id),
  constraint signal_simulation_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE,
  constraint signal_simulation_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX signal_simulation_workspace ON public.signal_simulation USING btree (workspace_id);

create table signing_key (
  kid text not null,
  private_key bytea not null,
  created_at timestamp with time zone not null,
  constraint signing_key_pkey PRIMARY KEY (kid)
);

create table stream (
  id text not null,
  workspace_id text not null,
  title text not null,
  description text,
  visibility text not null,
  tier_ids text[] not null default '{}'::text[],
  key_hash bytea not null,
  key_encrypted bytea not null,
  enabled boolean not null default true,
  has_signal boolean not null default false,
  is_live boolean not null default false,
  latency_mode text not null default 'STANDARD'::text,
  dvr_window_sec integer not null default 0,
  record boolean not null default false,
  record_visibility text not null default 'PRIVATE'::text,
  reconnect_window_sec integer not null default 120,
  auto_start boolean not null default false,
  auto_stop_after_sec integer,
  max_duration_sec integer,
  chat_enabled boolean not null default true,
  chat_mode text not null default 'OPEN'::text,
  slow_mode_sec integer not null default 0,
  banned_words text[] not null default '{}'::text[],
  scheduled_start_at timestamp with time zone,
  metadata jsonb not null default '{}'::jsonb,
  external_id text,
  restream_ids text[] not null default '{}'::text[],
  current_session_id text,
  live_since timestamp with time zone,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  last_signal_at timestamp with time zone,
  signal_lost_at timestamp with time zone,
  health jsonb,
  viewer_count integer not null default 0,
  peak_viewers integer not null default 0,
  broadcast_started_notified_at timestamp with time zone,
  broadcast_stopped_notified_at timestamp with time zone,
  notified_is_live boolean not null default false,
  broadcast_notify_at timestamp with time zone,
  signal_stop_notified_at timestamp with time zone,
  notified_health_issues text[] not null default '{}'::text[],
  health_notified_at timestamp with time zone,
  health_notify_at timestamp with time zone,
  schedule_notified_for timestamp with time zone,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  taken_down_at timestamp with time zone,
  takedown_reason text,
  constraint stream_chat_mode_check CHECK ((chat_mode = ANY (ARRAY['OPEN'::text, 'FOLLOWERS'::text, 'TIER'::text, 'OFF'::text]))),
  constraint stream_dvr_window CHECK (((dvr_window_sec >= 0) AND (dvr_window_sec <= 14400))),
  constraint stream_latency_mode_check CHECK ((latency_mode = ANY (ARRAY['STANDARD'::text, 'LOW'::text]))),
  constraint stream_pkey PRIMARY KEY (id),
  constraint stream_record_visibility_check CHECK ((record_visibility = ANY (ARRAY['PUBLIC'::text, 'UNLISTED'::text, 'PRIVATE'::text, 'FOLLOWERS'::text, 'TIER'::text, 'PURCHASE'::text]))),
  constraint stream_takedown_reason CHECK (((taken_down_at IS NULL) = (takedown_reason IS NULL))),
  constraint stream_visibility_check CHECK ((visibility = ANY (ARRAY['PUBLIC'::text, 'UNLISTED'::text, 'PRIVATE'::text, 'FOLLOWERS'::text, 'TIER'::text, 'PURCHASE'::text]))),
  constraint stream_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX stream_broadcast_notify ON public.stream USING btree (broadcast_notify_at) WHERE (broadcast_notify_at IS NOT NULL);
CREATE INDEX stream_has_signal ON public.stream USING btree (id) WHERE has_signal;
CREATE INDEX stream_health_notify ON public.stream USING btree (health_notify_at) WHERE (health_notify_at IS NOT NULL);
CREATE UNIQUE INDEX stream_key_hash ON public.stream USING btree (key_hash);
CREATE INDEX stream_live ON public.stream USING btree (workspace_id) WHERE is_live;
CREATE INDEX stream_on_air ON public.stream USING btree (id) WHERE (has_signal OR is_live);
CREATE INDEX stream_scheduled ON public.stream USING btree (scheduled_start_at) WHERE (scheduled_start_at IS NOT NULL);
CREATE INDEX stream_signal ON public.stream USING btree (workspace_id) WHERE has_signal;
CREATE INDEX stream_state ON public.stream USING btree (workspace_id, visibility, enabled, id COLLATE "C" DESC) WHERE (deleted_at IS NULL);
CREATE INDEX stream_workspace ON public.stream USING btree (workspace_id, id DESC) WHERE (deleted_at IS NULL);

create table stream_health_point (
  stream_id text not null,
  at timestamp with time zone not null,
  bitrate_kbps integer not null,
  fps double precision not null,
  keyframe_interval_ms integer,
  dropped_frames integer not null,
  late_frames integer not null,
  av_drift_ms integer,
  constraint stream_health_point_pkey PRIMARY KEY (stream_id, at)
);
CREATE INDEX stream_health_point_at ON public.stream_health_point USING btree (at);

create table stream_log (
  stream_id text not null,
  tail text not null,
  seq bigint not null,
  at timestamp with time zone not null,
  event text not null,
  body text,
  constraint stream_log_pkey PRIMARY KEY (stream_id, tail, seq),
  constraint stream_log_stream_id_tail_fkey FOREIGN KEY (stream_id, tail) REFERENCES stream_log_head(stream_id, tail) ON DELETE CASCADE,
  constraint stream_log_tail_check CHECK ((tail = ANY (ARRAY['CHAT'::text, 'RESTREAM'::text, 'STATUS'::text])))
);
CREATE INDEX stream_log_age ON public.stream_log USING btree (tail, at);

create table stream_log_head (
  stream_id text not null,
  tail text not null,
  seq bigint not null,
  at timestamp with time zone not null,
  constraint stream_log_head_pkey PRIMARY KEY (stream_id, tail),
  constraint stream_log_head_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE,
  constraint stream_log_head_tail_check CHECK ((tail = ANY (ARRAY['CHAT'::text, 'RESTREAM'::text, 'STATUS'::text])))
);

create table stream_session (
  id text not null,
  stream_id text not null,
  workspace_id text not null,
  signal_started_at timestamp with time zone not null,
  signal_ended_at timestamp with time zone,
  broadcast_started_at timestamp with time zone,
  broadcast_ended_at timestamp with time zone,
  metered_until timestamp with time zone,
  peak_viewers integer not null default 0,
  unique_viewers integer not null default 0,
  error text,
  constraint stream_session_pkey PRIMARY KEY (id),
  constraint stream_session_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE,
  constraint stream_session_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX stream_session_list ON public.stream_session USING btree (stream_id, id DESC);
CREATE INDEX stream_session_on_air ON public.stream_session USING btree (id) WHERE ((broadcast_started_at IS NOT NULL) AND (broadcast_ended_at IS NULL));

create table stream_viewer (
  stream_id text not null,
  viewer bytea not null,
  session_id text,
  salt_day text not null,
  has_beacon boolean not null,
  present_until timestamp with time zone not null,
  is_counted boolean not null default false,
  constraint stream_viewer_pkey PRIMARY KEY (stream_id, viewer)
) with (fillfactor=80);

create table subscriber (
  id text not null,
  workspace_id text not null,
  email text not null,
  name text,
  status text not null,
  source text not null,
  consent_at timestamp with time zone,
  confirmation_round integer not null default 1,
  event_sequence integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint subscriber_confirmation_round_check CHECK ((confirmation_round > 0)),
  constraint subscriber_pkey PRIMARY KEY (id),
  constraint subscriber_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'CONFIRMED'::text, 'UNSUBSCRIBED'::text]))),
  constraint subscriber_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX subscriber_email ON public.subscriber USING btree (workspace_id, email);
CREATE INDEX subscriber_status ON public.subscriber USING btree (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX subscriber_text_search ON public.subscriber USING gin (workspace_id, (((email || ' '::text) || COALESCE(name, ''::text))) gin_trgm_ops, string_to_array(lower(((email || ' '::text) || COALESCE(name, ''::text))), NULL::text)) WITH (gin_pending_list_limit='64');
CREATE INDEX subscriber_workspace ON public.subscriber USING btree (workspace_id, id DESC);

create table subscriber_address (
  workspace_id text not null,
  email_hash bytea not null,
  confirmation_sent_at timestamp with time zone,
  unsubscribed_at timestamp with time zone,
  constraint subscriber_address_pkey PRIMARY KEY (workspace_id, email_hash),
  constraint subscriber_address_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX subscriber_address_confirmation_sent ON public.subscriber_address USING btree (confirmation_sent_at) WHERE (unsubscribed_at IS NULL);

create table subscription (
  id text not null,
  workspace_id text not null,
  tier_id text not null,
  customer_id text not null,
  checkout_id text,
  status text not null,
  price_cents integer not null,
  interval text not null,
  payment_method jsonb,
  anchor_at timestamp with time zone not null,
  timezone text not null,
  next_period_month integer not null default 0,
  current_period_start timestamp with time zone not null,
  current_period_end timestamp with time zone not null,
  trial_ends_at timestamp with time zone,
  pending_price_cents integer,
  pending_interval text,
  pending_tier_id text,
  price_change_notified_at timestamp with time zone,
  migrated_price_cents integer,
  cancel_at_period_end boolean not null default false,
  canceled_at timestamp with time zone,
  ended_at timestamp with time zone,
  cancel_reason text,
  purchase_id text,
  is_disputed boolean not null default false,
  upgrades jsonb not null default '[]'::jsonb,
  failed_attempts integer not null default 0,
  next_charge_at timestamp with time zone,
  payment_id text,
  charge_kind text,
  charge_tier_id text,
  charge_price_cents integer,
  charge_interval text,
  charge_period_month integer,
  renewal_reminder_period integer,
  card_expiry_notified_for text,
  discount_code text,
  discount_cents integer not null default 0,
  client_reference_id text,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint subscription_cancel_reason_check CHECK ((cancel_reason = ANY (ARRAY['MEMBER_CANCELED'::text, 'CREATOR_CANCELED'::text, 'REFUNDED'::text, 'DISPUTE_LOST'::text, 'PAYMENT_FAILED'::text]))),
  constraint subscription_charge_interval_check CHECK ((charge_interval = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
  constraint subscription_charge_kind_check CHECK ((charge_kind = ANY (ARRAY['RENEWAL'::text, 'CONFIRMATION'::text, 'SWITCH'::text]))),
  constraint subscription_charge_price_cents_check CHECK ((charge_price_cents >= 0)),
  constraint subscription_charge_tier_id_fkey FOREIGN KEY (charge_tier_id) REFERENCES tier(id),
  constraint subscription_check CHECK (((status = ANY (ARRAY['CANCELED'::text, 'EXPIRED'::text])) = (ended_at IS NOT NULL))),
  constraint subscription_check1 CHECK (((charge_kind IS NULL) = (payment_id IS NULL))),
  constraint subscription_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id),
  constraint subscription_discount_cents_check CHECK ((discount_cents >= 0)),
  constraint subscription_interval_check CHECK (("interval" = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
  constraint subscription_migrated_price_cents_check CHECK ((migrated_price_cents >= 0)),
  constraint subscription_pending_interval_check CHECK ((pending_interval = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
  constraint subscription_pending_price_cents_check CHECK ((pending_price_cents >= 0)),
  constraint subscription_pending_tier_id_fkey FOREIGN KEY (pending_tier_id) REFERENCES tier(id),
  constraint subscription_pkey PRIMARY KEY (id),
  constraint subscription_price_cents_check CHECK ((price_cents >= 0)),
  constraint subscription_status_check CHECK ((status = ANY (ARRAY['TRIALING'::text, 'ACTIVE'::text, 'PAST_DUE'::text, 'CANCELED'::text, 'EXPIRED'::text]))),
  constraint subscription_tier_id_fkey FOREIGN KEY (tier_id) REFERENCES tier(id),
  constraint subscription_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX subscription_customer ON public.subscription USING btree (customer_id);
CREATE INDEX subscription_due ON public.subscription USING btree (next_charge_at) WHERE (next_charge_at IS NOT NULL);
CREATE INDEX subscription_price_change_unnotified ON public.subscription USING btree (id) WHERE ((pending_price_cents IS NOT NULL) AND (price_change_notified_at IS NULL) AND (ended_at IS NULL));
CREATE INDEX subscription_state ON public.subscription USING btree (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX subscription_tier ON public.subscription USING btree (tier_id) WHERE (ended_at IS NULL);
CREATE INDEX subscription_tier_state ON public.subscription USING btree (tier_id, status, id COLLATE "C" DESC);
CREATE INDEX subscription_workspace ON public.subscription USING btree (workspace_id, id DESC);

create table support_message (
  id text not null,
  ticket_id text not null,
  author text not null,
  message text not null,
  created_at timestamp with time zone not null,
  constraint support_message_author_check CHECK ((author = ANY (ARRAY['PARTNER'::text, 'STAFF'::text]))),
  constraint support_message_pkey PRIMARY KEY (id),
  constraint support_message_ticket_id_fkey FOREIGN KEY (ticket_id) REFERENCES support_ticket(id) ON DELETE CASCADE
);
CREATE INDEX support_message_ticket ON public.support_message USING btree (ticket_id, id);

create table support_ticket (
  id text not null,
  account_id text,
  workspace_id text,
  number integer not null,
  subject text not null,
  category text not null,
  priority text not null,
  status text not null,
  reporter_email text,
  reported_type text,
  reported_id text,
  request_id text,
  event_sequence integer not null default 0,
  last_message_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint support_ticket_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint support_ticket_account_id_number_key UNIQUE (account_id, number),
  constraint support_ticket_category_check CHECK ((category = ANY (ARRAY['BILLING'::text, 'TECHNICAL'::text, 'ACCOUNT'::text, 'ABUSE'::text, 'OTHER'::text]))),
  constraint support_ticket_check CHECK (((status = 'RESOLVED'::text) = (resolved_at IS NOT NULL))),
  constraint support_ticket_check1 CHECK (((account_id IS NULL) = (workspace_id IS NULL))),
  constraint support_ticket_check2 CHECK (((account_id IS NULL) = (reported_type IS NOT NULL))),
  constraint support_ticket_check3 CHECK (((reported_type IS NULL) = (reported_id IS NULL))),
  constraint support_ticket_check4 CHECK (((reporter_email IS NULL) OR (account_id IS NULL))),
  constraint support_ticket_number_check CHECK ((number > 0)),
  constraint support_ticket_pkey PRIMARY KEY (id),
  constraint support_ticket_priority_check CHECK ((priority = ANY (ARRAY['LOW'::text, 'NORMAL'::text, 'HIGH'::text]))),
  constraint support_ticket_reported_type_check CHECK ((reported_type = ANY (ARRAY['VIDEO'::text, 'STREAM'::text, 'CHANNEL'::text]))),
  constraint support_ticket_status_check CHECK ((status = ANY (ARRAY['OPEN'::text, 'PENDING'::text, 'RESOLVED'::text, 'CLOSED'::text]))),
  constraint support_ticket_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX support_ticket_account ON public.support_ticket USING btree (account_id, id DESC);
CREATE UNIQUE INDEX support_ticket_account_id_number_key ON public.support_ticket USING btree (account_id, number);
CREATE INDEX support_ticket_all ON public.support_ticket USING btree (category, status, id COLLATE "C" DESC);
CREATE INDEX support_ticket_resolved ON public.support_ticket USING btree (resolved_at) WHERE (resolved_at IS NOT NULL);
CREATE INDEX support_ticket_state ON public.support_ticket USING btree (account_id, category, status, id COLLATE "C" DESC);
CREATE INDEX support_ticket_status ON public.support_ticket USING btree (status, id);

create table team_activity (
  account_id text not null,
  user_id text not null,
  last_active_at timestamp with time zone not null,
  constraint team_activity_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint team_activity_pkey PRIMARY KEY (account_id, user_id),
  constraint team_activity_user_id_fkey FOREIGN KEY (user_id) REFERENCES account(id) ON DELETE CASCADE
);

create table team_invitation (
  id text not null,
  account_id text not null,
  email text not null,
  team_role text not null,
  hash bytea not null,
  status text not null,
  invited_by text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint team_invitation_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint team_invitation_pkey PRIMARY KEY (id),
  constraint team_invitation_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'ACCEPTED'::text, 'REVOKED'::text, 'EXPIRED'::text]))),
  constraint team_invitation_team_role_check CHECK ((team_role = ANY (ARRAY['ADMIN'::text, 'EDITOR'::text, 'ANALYST'::text])))
);
CREATE INDEX team_invitation_account ON public.team_invitation USING btree (account_id, id);
CREATE UNIQUE INDEX team_invitation_hash ON public.team_invitation USING btree (hash);
CREATE UNIQUE INDEX team_invitation_pending ON public.team_invitation USING btree (account_id, email) WHERE (status = 'PENDING'::text);

create table team_member (
  id text not null,
  account_id text not null,
  user_id text not null,
  team_role text not null,
  event_sequence integer not null default 0,
  joined_at timestamp with time zone not null,
  constraint team_member_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint team_member_account_id_user_id_key UNIQUE (account_id, user_id),
  constraint team_member_check CHECK ((account_id <> user_id)),
  constraint team_member_pkey PRIMARY KEY (id),
  constraint team_member_team_role_check CHECK ((team_role = ANY (ARRAY['ADMIN'::text, 'EDITOR'::text, 'ANALYST'::text]))),
  constraint team_member_user_id_fkey FOREIGN KEY (user_id) REFERENCES account(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX team_member_account_id_user_id_key ON public.team_member USING btree (account_id, user_id);
CREATE INDEX team_member_user ON public.team_member USING btree (user_id);

create table tier (
  id text not null,
  workspace_id text not null,
  name text not null,
  description text,
  price_cents integer not null,
  interval text not null,
  trial_days integer not null default 0,
  benefits text[] not null default '{}'::text[],
  position integer not null default 0,
  is_active boolean not null default true,
  max_members integer,
  member_count integer not null default 0,
  reserved_count integer not null default 0,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  archived_at timestamp with time zone,
  constraint tier_interval_check CHECK (("interval" = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
  constraint tier_max_members_check CHECK ((max_members >= 1)),
  constraint tier_member_count_check CHECK ((member_count >= 0)),
  constraint tier_pkey PRIMARY KEY (id),
  constraint tier_price_cents_check CHECK ((price_cents >= 0)),
  constraint tier_reserved_count_check CHECK ((reserved_count >= 0)),
  constraint tier_trial_days_check CHECK (((trial_days >= 0) AND (trial_days <= 90))),
  constraint tier_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX tier_workspace ON public.tier USING btree (workspace_id, id DESC);

create table transcode_node (
  id text not null,
  slots integer not null,
  last_seen_at timestamp with time zone not null,
  constraint transcode_node_pkey PRIMARY KEY (id)
);

create table two_factor (
  account_id text not null,
  secret bytea not null,
  enabled_at timestamp with time zone,
  last_step bigint not null default 0,
  created_at timestamp with time zone not null,
  constraint two_factor_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint two_factor_pkey PRIMARY KEY (account_id)
);

create table upload (
  id text not null,
  workspace_id text not null,
  video_id text not null,
  status text not null,
  protocol text not null default 'TUS'::text,
  replaces boolean not null default false,
  token_hash bytea not null,
  token_encrypted bytea not null,
  key_id text,
  created_by text,
  cors_origin text,
  filename text not null,
  mime_type text not null,
  size_bytes bigint,
  received_bytes bigint not null default 0,
  sha256 text,
  storage_state jsonb not null default '{}'::jsonb,
  has_bytes boolean not null default false,
  writer text,
  writer_heartbeat_at timestamp with time zone,
  error_code text,
  error_message text,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint upload_pkey PRIMARY KEY (id),
  constraint upload_protocol_check CHECK ((protocol = ANY (ARRAY['TUS'::text, 'PUT'::text]))),
  constraint upload_status_check CHECK ((status = ANY (ARRAY['WAITING'::text, 'UPLOADING'::text, 'COMPLETED'::text, 'CANCELED'::text, 'EXPIRED'::text, 'FAILED'::text]))),
  constraint upload_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE,
  constraint upload_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX upload_open ON public.upload USING btree (expires_at) WHERE (ended_at IS NULL);
CREATE INDEX upload_open_workspace ON public.upload USING btree (workspace_id) WHERE (ended_at IS NULL);
CREATE INDEX upload_state ON public.upload USING btree (workspace_id, status, id COLLATE "C" DESC);
CREATE UNIQUE INDEX upload_token ON public.upload USING btree (token_hash);
CREATE INDEX upload_uncleared ON public.upload USING btree (id) WHERE (has_bytes AND (ended_at IS NOT NULL));
CREATE INDEX upload_video ON public.upload USING btree (video_id);
CREATE INDEX upload_whole ON public.upload USING btree (id) WHERE ((ended_at IS NULL) AND (received_bytes = size_bytes));
CREATE INDEX upload_workspace ON public.upload USING btree (workspace_id, id DESC);

create table usage_event (
  created_at timestamp with time zone not null,
  id text not null,
  xid xid8 not null default pg_current_xact_id(),
  workspace_id text not null,
  kind text not null,
  subject_id text,
  amount bigint not null default 1,
  viewer bytea,
  country text,
  device text,
  browser text,
  os text,
  referrer text,
  is_bot boolean not null default false,
  is_owner boolean not null default false,
  playback_session text,
  sequence_number integer,
  player_events jsonb,
  bitrate_kbps integer,
  key_id text,
  status smallint,
  constraint usage_event_kind_check CHECK ((kind = ANY (ARRAY['BEACON'::text, 'VIEW'::text, 'IMPRESSION'::text, 'JOIN'::text, 'LEAVE'::text, 'PRESENCE'::text, 'CHAT'::text, 'FOLLOW'::text, 'UNFOLLOW'::text, 'BROADCAST'::text, 'LIVE'::text, 'REQUEST'::text, 'DELIVERY'::text, 'EGRESS'::text, 'ENCODE'::text, 'ROOM'::text, 'STORAGE'::text]))),
  constraint usage_event_pkey PRIMARY KEY (created_at, id)
) partition by RANGE (created_at);
CREATE INDEX usage_event_playback_session ON ONLY public.usage_event USING btree (playback_session, sequence_number) WHERE (playback_session IS NOT NULL);
CREATE INDEX usage_event_xid ON ONLY public.usage_event USING btree (xid);

create table usage_event_default (
  created_at timestamp with time zone not null,
  id text not null,
  xid xid8 not null default pg_current_xact_id(),
  workspace_id text not null,
  kind text not null,
  subject_id text,
  amount bigint not null default 1,
  viewer bytea,
  country text,
  device text,
  browser text,
  os text,
  referrer text,
  is_bot boolean not null default false,
  is_owner boolean not null default false,
  playback_session text,
  sequence_number integer,
  player_events jsonb,
  bitrate_kbps integer,
  key_id text,
  status smallint,
  constraint usage_event_default_pkey PRIMARY KEY (created_at, id),
  constraint usage_event_kind_check CHECK ((kind = ANY (ARRAY['BEACON'::text, 'VIEW'::text, 'IMPRESSION'::text, 'JOIN'::text, 'LEAVE'::text, 'PRESENCE'::text, 'CHAT'::text, 'FOLLOW'::text, 'UNFOLLOW'::text, 'BROADCAST'::text, 'LIVE'::text, 'REQUEST'::text, 'DELIVERY'::text, 'EGRESS'::text, 'ENCODE'::text, 'ROOM'::text, 'STORAGE'::text])))
) partition of usage_event DEFAULT;
CREATE INDEX usage_event_default_playback_session_sequence_number_idx ON public.usage_event_default USING btree (playback_session, sequence_number) WHERE (playback_session IS NOT NULL);
CREATE INDEX usage_event_default_xid_idx ON public.usage_event_default USING btree (xid);

create table usage_request (
  workspace_id text not null,
  key_id text not null,
  at timestamp with time zone not null,
  requests bigint not null,
  errors_4xx bigint not null,
  errors_5xx bigint not null,
  rate_limited bigint not null,
  constraint usage_request_pkey PRIMARY KEY (workspace_id, at, key_id)
);
CREATE INDEX usage_request_at ON public.usage_request USING btree (at);

create table usage_total (
  workspace_id text not null,
  metric text not null,
  interval_min smallint not null,
  at timestamp with time zone not null,
  amount bigint not null,
  constraint usage_total_interval_min_check CHECK ((interval_min = ANY (ARRAY[15, 1440]))),
  constraint usage_total_metric_check CHECK ((metric = ANY (ARRAY['STORAGE'::text, 'EGRESS'::text, 'ENCODE'::text, 'LIVE'::text, 'ROOM'::text, 'REQUEST'::text, 'DELIVERY'::text]))),
  constraint usage_total_pkey PRIMARY KEY (workspace_id, metric, interval_min, at)
);
CREATE INDEX usage_total_interval_min ON public.usage_total USING btree (interval_min, at);

create table user_session (
  id text not null,
  account_id text not null,
  hash bytea not null,
  token_epoch integer not null,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  password_checked_at timestamp with time zone not null,
  ip text,
  user_agent text not null,
  constraint user_session_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint user_session_pkey PRIMARY KEY (id)
);
CREATE INDEX user_session_account ON public.user_session USING btree (account_id, id);
CREATE UNIQUE INDEX user_session_hash ON public.user_session USING btree (hash);
CREATE INDEX user_session_seen ON public.user_session USING btree (last_seen_at);

create table user_token (
  id text not null,
  account_id text not null,
  expires_at timestamp with time zone not null,
  constraint user_token_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint user_token_pkey PRIMARY KEY (id)
);
CREATE INDEX user_token_account ON public.user_token USING btree (account_id);
CREATE INDEX user_token_expires ON public.user_token USING btree (expires_at);

create table video (
  id text not null,
  workspace_id text not null,
  title text not null,
  description text,
  status text not null,
  visibility text not null,
  tier_ids text[] not null default '{}'::text[],
  price_cents integer,
  currency text not null default 'USD'::text,
  tags text[] not null default '{}'::text[],
  metadata jsonb not null default '{}'::jsonb,
  external_id text,
  source text not null,
  upload_id text,
  import_id text,
  stream_id text,
  session_id text,
  original_key text,
  size_bytes bigint,
  duration_sec double precision,
  width integer,
  height integer,
  frame_rate double precision,
  storage_bytes bigint not null default 0,
  progress_percent double precision not null default 0,
  error_code text,
  error_message text,
  processing_notes jsonb not null default '[]'::jsonb,
  revision integer not null default 0,
  attempt integer not null default 0,
  image_folder text,
  has_storyboard boolean not null default false,
  has_preview boolean not null default false,
  thumbnail_file text,
  chapters jsonb not null default '[]'::jsonb,
  view_count bigint not null default 0,
  published_at timestamp with time zone,
  publish_at timestamp with time zone,
  retention_notified_at timestamp with time zone,
  retention_notified_for timestamp with time zone,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  purged_at timestamp with time zone,
  taken_down_at timestamp with time zone,
  takedown_reason text,
  constraint video_pkey PRIMARY KEY (id),
  constraint video_source_check CHECK ((source = ANY (ARRAY['UPLOAD'::text, 'IMPORT'::text, 'RECORDING'::text, 'CLIP'::text]))),
  constraint video_status_check CHECK ((status = ANY (ARRAY['UPLOADING'::text, 'QUEUED'::text, 'PROCESSING'::text, 'READY'::text, 'FAILED'::text]))),
  constraint video_takedown_reason CHECK (((taken_down_at IS NULL) = (takedown_reason IS NULL))),
  constraint video_visibility_check CHECK ((visibility = ANY (ARRAY['PUBLIC'::text, 'UNLISTED'::text, 'PRIVATE'::text, 'FOLLOWERS'::text, 'TIER'::text, 'PURCHASE'::text]))),
  constraint video_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX video_external_state ON public.video USING btree (workspace_id, external_id, status, visibility, id COLLATE "C" DESC) WHERE ((external_id IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX video_public ON public.video USING btree (id DESC) WHERE ((deleted_at IS NULL) AND (status = 'READY'::text) AND (visibility = 'PUBLIC'::text));
CREATE INDEX video_public_workspace ON public.video USING btree (workspace_id, id DESC) WHERE ((deleted_at IS NULL) AND (status = 'READY'::text) AND (visibility = 'PUBLIC'::text));
CREATE INDEX video_publish_at ON public.video USING btree (publish_at) WHERE ((publish_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX video_recording ON public.video USING btree (created_at) WHERE ((deleted_at IS NULL) AND (source = 'RECORDING'::text));
CREATE INDEX video_session ON public.video USING btree (session_id) WHERE (session_id IS NOT NULL);
CREATE INDEX video_state ON public.video USING btree (workspace_id, status, visibility, id COLLATE "C" DESC) WHERE (deleted_at IS NULL);
CREATE INDEX video_stream_state ON public.video USING btree (stream_id, status, visibility, id COLLATE "C" DESC) WHERE ((stream_id IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX video_title_search ON public.video USING gin (workspace_id, title gin_trgm_ops, string_to_array(lower(title), NULL::text)) WITH (gin_pending_list_limit='64') WHERE (deleted_at IS NULL);
CREATE INDEX video_unfinished ON public.video USING btree (updated_at) WHERE ((status = ANY (ARRAY['QUEUED'::text, 'PROCESSING'::text])) AND (deleted_at IS NULL));
CREATE INDEX video_unpurged ON public.video USING btree (deleted_at) WHERE ((deleted_at IS NOT NULL) AND (purged_at IS NULL));
CREATE INDEX video_workspace ON public.video USING btree (workspace_id, id DESC) WHERE (deleted_at IS NULL);

create table video_caption (
  id text not null,
  video_id text not null,
  language text not null,
  label text not null,
  is_auto boolean not null default false,
  from_source boolean not null default false,
  position integer not null default 0,
  is_default boolean not null default false,
  file text not null,
  created_at timestamp with time zone not null default now(),
  constraint video_caption_pkey PRIMARY KEY (id),
  constraint video_caption_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE,
  constraint video_caption_video_id_language_key UNIQUE (video_id, language)
);
CREATE UNIQUE INDEX video_caption_video_id_language_key ON public.video_caption USING btree (video_id, language);

create table video_chunk (
  video_id text not null,
  revision integer not null,
  number integer not null,
  start_sec double precision not null,
  duration_sec double precision not null,
  source_key text not null,
  folder text,
  progress_percent double precision not null default 0,
  constraint video_chunk_pkey PRIMARY KEY (video_id, revision, number),
  constraint video_chunk_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE
);

create table video_folder (
  video_id text not null,
  revision integer not null,
  number integer not null,
  constraint video_folder_pkey PRIMARY KEY (video_id, number),
  constraint video_folder_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE
);

create table video_processing (
  video_id text not null,
  revision integer not null,
  source text not null,
  ladder text not null,
  mode text not null,
  align_to_source boolean not null,
  images_done boolean not null default false,
  captions_done boolean not null,
  restart_count integer not null default 0,
  last_activity_at timestamp with time zone not null,
  constraint video_processing_mode_check CHECK ((mode = ANY (ARRAY['WHOLE'::text, 'SPLIT'::text, 'CHUNKS'::text]))),
  constraint video_processing_pkey PRIMARY KEY (video_id, revision),
  constraint video_processing_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE
);

create table video_rendition (
  video_id text not null,
  revision integer not null,
  name text not null,
  kind text not null,
  status text not null,
  folder text,
  width integer,
  height integer,
  frame_rate double precision,
  codec text,
  codecs text,
  video_range text not null default 'SDR'::text,
  average_bitrate integer,
  peak_bitrate integer,
  iframe_bitrate integer,
  track integer,
  language text,
  label text,
  channels integer,
  is_description boolean not null default false,
  size_bytes bigint,
  progress_percent double precision not null default 0,
  constraint video_rendition_codec_check CHECK ((codec = ANY (ARRAY['H264'::text, 'HEVC'::text, 'AV1'::text]))),
  constraint video_rendition_kind_check CHECK ((kind = ANY (ARRAY['VIDEO'::text, 'AUDIO'::text]))),
  constraint video_rendition_pkey PRIMARY KEY (video_id, revision, name),
  constraint video_rendition_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'PROCESSING'::text, 'READY'::text]))),
  constraint video_rendition_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE,
  constraint video_rendition_video_range_check CHECK ((video_range = ANY (ARRAY['SDR'::text, 'PQ'::text, 'HLG'::text])))
);

create table video_replacement (
  video_id text not null,
  revision integer not null,
  status text not null,
  upload_id text,
  import_id text,
  original_key text,
  size_bytes bigint,
  storage_bytes bigint not null default 0,
  progress_percent double precision not null default 0,
  duration_sec double precision,
  width integer,
  height integer,
  frame_rate double precision,
  image_folder text,
  has_storyboard boolean not null default false,
  has_preview boolean not null default false,
  chapters jsonb not null default '[]'::jsonb,
  processing_notes jsonb not null default '[]'::jsonb,
  captions jsonb not null default '[]'::jsonb,
  error_code text,
  error_message text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  previous_kept_until timestamp with time zone,
  previous_revision integer,
  previous_original_key text,
  previous_image_folder text,
  previous_captions text[] not null default '{}'::text[],
  previous_storage_bytes bigint not null default 0,
  constraint video_replacement_pkey PRIMARY KEY (video_id, revision),
  constraint video_replacement_source_check CHECK ((num_nonnulls(upload_id, import_id) = 1)),
  constraint video_replacement_status_check CHECK ((status = ANY (ARRAY['UPLOADING'::text, 'QUEUED'::text, 'PROCESSING'::text, 'READY'::text, 'FAILED'::text, 'CANCELED'::text]))),
  constraint video_replacement_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX video_replacement_open ON public.video_replacement USING btree (video_id) WHERE (status = ANY (ARRAY['UPLOADING'::text, 'QUEUED'::text, 'PROCESSING'::text]));
CREATE INDEX video_replacement_previous ON public.video_replacement USING btree (previous_kept_until) WHERE (previous_kept_until IS NOT NULL);
CREATE INDEX video_replacement_unfinished ON public.video_replacement USING btree (updated_at) WHERE (status = ANY (ARRAY['QUEUED'::text, 'PROCESSING'::text]));

create table video_tag (
  workspace_id text not null,
  tag text not null,
  status text not null,
  visibility text not null,
  video_id text not null,
  constraint video_tag_pkey PRIMARY KEY (workspace_id, tag, status, visibility, video_id)
);

create table video_transcription (
  video_id text not null,
  status text not null,
  language text,
  error text,
  requested_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint video_transcription_pkey PRIMARY KEY (video_id),
  constraint video_transcription_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'PROCESSING'::text, 'READY'::text, 'FAILED'::text]))),
  constraint video_transcription_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE
);

create table video_view (
  video_id text not null,
  viewer bytea not null,
  counted_at timestamp with time zone not null,
  constraint video_view_pkey PRIMARY KEY (video_id, viewer),
  constraint video_view_video_id_fkey FOREIGN KEY (video_id) REFERENCES video(id) ON DELETE CASCADE
);
CREATE INDEX video_view_counted ON public.video_view USING btree (counted_at);

create table viewer_salt (
  day text not null,
  salt_encrypted bytea not null,
  constraint viewer_salt_pkey PRIMARY KEY (day)
);

create table waitlist_entry (
  id text not null,
  workspace_id text not null,
  product_id text not null,
  cohort_id text,
  starts_at timestamp with time zone,
  email text not null,
  name text,
  position integer not null,
  queue_number bigint not null generated always as identity,
  status text not null default 'WAITING'::text,
  confirmed_at timestamp with time zone default now(),
  offered_cohort_id text,
  offered_starts_at timestamp with time zone,
  offered_at timestamp with time zone,
  offer_expires_at timestamp with time zone,
  occurrence_id text,
  holds_spot boolean not null default false,
  booking_id text,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint waitlist_entry_check CHECK (((status = 'OFFERED'::text) <= (offer_expires_at IS NOT NULL))),
  constraint waitlist_entry_check1 CHECK ((holds_spot <= (status = 'OFFERED'::text))),
  constraint waitlist_entry_cohort_id_fkey FOREIGN KEY (cohort_id) REFERENCES cohort(id) ON DELETE CASCADE,
  constraint waitlist_entry_occurrence_id_fkey FOREIGN KEY (occurrence_id) REFERENCES class_occurrence(id),
  constraint waitlist_entry_offered_cohort_id_fkey FOREIGN KEY (offered_cohort_id) REFERENCES cohort(id) ON DELETE CASCADE,
  constraint waitlist_entry_pkey PRIMARY KEY (id),
  constraint waitlist_entry_product_id_fkey FOREIGN KEY (product_id) REFERENCES booking_product(id) ON DELETE CASCADE,
  constraint waitlist_entry_status_check CHECK ((status = ANY (ARRAY['WAITING'::text, 'OFFERED'::text, 'CONVERTED'::text, 'EXPIRED'::text, 'REMOVED'::text]))),
  constraint waitlist_entry_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX waitlist_entry_cohort ON public.waitlist_entry USING btree (COALESCE(offered_cohort_id, cohort_id), status, id COLLATE "C" DESC);
CREATE INDEX waitlist_entry_offered ON public.waitlist_entry USING btree (offer_expires_at) WHERE (status = 'OFFERED'::text);
CREATE UNIQUE INDEX waitlist_entry_once ON public.waitlist_entry USING btree (product_id, cohort_id, starts_at, email) NULLS NOT DISTINCT WHERE (status = ANY (ARRAY['WAITING'::text, 'OFFERED'::text]));
CREATE INDEX waitlist_entry_product ON public.waitlist_entry USING btree (product_id, status, id COLLATE "C" DESC);
CREATE INDEX waitlist_entry_state ON public.waitlist_entry USING btree (workspace_id, status, id COLLATE "C" DESC);
CREATE INDEX waitlist_entry_unconfirmed ON public.waitlist_entry USING btree (created_at) WHERE ((status = 'WAITING'::text) AND (confirmed_at IS NULL));
CREATE INDEX waitlist_entry_waiting ON public.waitlist_entry USING btree (product_id, queue_number) WHERE (status = 'WAITING'::text);
CREATE INDEX waitlist_entry_workspace ON public.waitlist_entry USING btree (workspace_id, id DESC);

create table watched_stream (
  stream_id text not null,
  sampled_at timestamp with time zone,
  sampled_viewers integer,
  constraint watched_stream_pkey PRIMARY KEY (stream_id),
  constraint watched_stream_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES stream(id) ON DELETE CASCADE
);

create table webhook (
  id text not null,
  workspace_id text not null,
  url text not null,
  events text[] not null default '{}'::text[],
  is_active boolean not null default true,
  description text not null default ''::text,
  secret bytea not null,
  secret_rotated_at timestamp with time zone,
  total_deliveries bigint not null default 0,
  success_count bigint not null default 0,
  failure_count bigint not null default 0,
  consecutive_failures integer not null default 0,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  last_status integer,
  latency_total_ms bigint not null default 0,
  latency_count bigint not null default 0,
  failing_since timestamp with time zone,
  failing_notified_at timestamp with time zone,
  event_sequence integer not null default 0,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint webhook_pkey PRIMARY KEY (id),
  constraint webhook_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
) with (fillfactor=80);
CREATE INDEX webhook_failing ON public.webhook USING btree (failing_since) WHERE (failing_since IS NOT NULL);
CREATE INDEX webhook_inactive ON public.webhook USING btree (id) WHERE (NOT is_active);
CREATE INDEX webhook_workspace ON public.webhook USING btree (workspace_id, id DESC);

create table whep_session (
  id text not null,
  stream_id text not null,
  node_id text,
  state text not null,
  offer text not null,
  answer text,
  refusal text,
  sent_bytes bigint not null default 0,
  ip_hash text,
  admitted_until timestamp with time zone not null,
  heartbeat_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint whep_session_pkey PRIMARY KEY (id),
  constraint whep_session_refusal_check CHECK ((refusal = ANY (ARRAY['OFFER'::text, 'SIGNAL'::text, 'FULL'::text]))),
  constraint whep_session_state_check CHECK ((state = ANY (ARRAY['OFFERED'::text, 'ANSWERED'::text, 'REFUSED'::text, 'ENDING'::text])))
);
CREATE INDEX whep_session_ip_hash ON public.whep_session USING btree (ip_hash);
CREATE INDEX whep_session_node ON public.whep_session USING btree (node_id);

create table whip_session (
  id text not null,
  stream_id text not null,
  node_id text,
  state text not null,
  offer text not null,
  answer text,
  heartbeat_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint whip_session_pkey PRIMARY KEY (id),
  constraint whip_session_state_check CHECK ((state = ANY (ARRAY['OFFERED'::text, 'ANSWERED'::text, 'REFUSED'::text, 'ENDING'::text])))
);
CREATE INDEX whip_session_node ON public.whip_session USING btree (node_id);

create table workspace (
  id text not null,
  account_id text not null,
  mode text not null,
  calendar_number bigint not null generated always as identity,
  storage_bytes bigint not null default 0,
  created_at timestamp with time zone not null default now(),
  constraint workspace_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint workspace_account_id_mode_key UNIQUE (account_id, mode),
  constraint workspace_calendar_number_key UNIQUE (calendar_number),
  constraint workspace_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint workspace_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX workspace_account_id_mode_key ON public.workspace USING btree (account_id, mode);
CREATE UNIQUE INDEX workspace_calendar_number_key ON public.workspace USING btree (calendar_number);

CREATE CONSTRAINT TRIGGER ledger_entry_balanced AFTER INSERT ON public.ledger_entry DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_is_balanced();

CREATE OR REPLACE FUNCTION public.counts_of(one playlist)
 RETURNS TABLE(name text, amount bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select 'PLAYLISTS', 1::bigint $function$;

CREATE OR REPLACE FUNCTION public.counts_of(one stream)
 RETURNS TABLE(name text, amount bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select 'STREAMS', 1::bigint where one.deleted_at is null $function$;

CREATE OR REPLACE FUNCTION public.counts_of(one subscriber)
 RETURNS TABLE(name text, amount bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select 'SUBSCRIBERS', 1::bigint where one.status = 'CONFIRMED' $function$;

CREATE OR REPLACE FUNCTION public.counts_of(one video)
 RETURNS TABLE(name text, amount bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select counted.name, counted.amount from (values
    ('VIDEOS', 1::bigint),
    ('VIDEOS_READY', case when one.status = 'READY' then 1 else 0 end),
    ('VIDEOS_PROCESSING', case when one.status in ('QUEUED', 'PROCESSING') then 1 else 0 end),
    ('VIDEOS_FAILED', case when one.status = 'FAILED' then 1 else 0 end),
    ('VIDEO_MS', coalesce(round(one.duration_sec * 1000), 0)::bigint)) counted (name, amount)
  where one.deleted_at is null and counted.amount <> 0 $function$;

CREATE OR REPLACE FUNCTION public.keep_video_tags()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ begin
  if tg_op <> 'INSERT' then
    delete from video_tag where workspace_id = old.workspace_id and tag = any(old.tags)
      and status = old.status and visibility = old.visibility and video_id = old.id;
  end if;
  if tg_op <> 'DELETE' and new.deleted_at is null then
    insert into video_tag (workspace_id, tag, status, visibility, video_id)
    select distinct new.workspace_id, tag, new.status, new.visibility, new.id from unnest(new.tags) tag;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_is_append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the books are append-only';
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_is_balanced()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if (select sum(amount_cents) from ledger_entry where transaction_id = new.transaction_id) <> 0 then
    raise exception 'the entries of ledger transaction % do not sum to nothing', new.transaction_id;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_counter_deltas()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ begin
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
end $function$;

CREATE TRIGGER ledger_account_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_account FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();

CREATE TRIGGER ledger_entry_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();

CREATE TRIGGER ledger_transaction_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_transaction FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();

CREATE TRIGGER playlist_made_or_gone AFTER INSERT OR DELETE ON public.playlist FOR EACH ROW EXECUTE FUNCTION record_counter_deltas();

CREATE TRIGGER stream_changed AFTER UPDATE ON public.stream FOR EACH ROW WHEN (((old.deleted_at IS NULL) <> (new.deleted_at IS NULL))) EXECUTE FUNCTION record_counter_deltas();

CREATE TRIGGER stream_made_or_gone AFTER INSERT OR DELETE ON public.stream FOR EACH ROW EXECUTE FUNCTION record_counter_deltas();

CREATE TRIGGER subscriber_changed AFTER UPDATE ON public.subscriber FOR EACH ROW WHEN ((old.status <> new.status)) EXECUTE FUNCTION record_counter_deltas();

CREATE TRIGGER subscriber_made_or_gone AFTER INSERT OR DELETE ON public.subscriber FOR EACH ROW EXECUTE FUNCTION record_counter_deltas();

CREATE TRIGGER video_changed AFTER UPDATE ON public.video FOR EACH ROW WHEN ((((old.status IS DISTINCT FROM new.status) OR ((old.deleted_at IS NULL) IS DISTINCT FROM (new.deleted_at IS NULL))) OR (old.duration_sec IS DISTINCT FROM new.duration_sec))) EXECUTE FUNCTION record_counter_deltas();

CREATE TRIGGER video_made_or_gone AFTER INSERT OR DELETE ON public.video FOR EACH ROW EXECUTE FUNCTION record_counter_deltas();

CREATE TRIGGER video_tagged AFTER INSERT ON public.video FOR EACH ROW WHEN ((new.tags <> '{}'::text[])) EXECUTE FUNCTION keep_video_tags();

CREATE TRIGGER video_tags_changed AFTER UPDATE ON public.video FOR EACH ROW WHEN ((((old.tags <> '{}'::text[]) OR (new.tags <> '{}'::text[])) AND ((((old.tags IS DISTINCT FROM new.tags) OR (old.status IS DISTINCT FROM new.status)) OR (old.visibility IS DISTINCT FROM new.visibility)) OR ((old.deleted_at IS NULL) IS DISTINCT FROM (new.deleted_at IS NULL))))) EXECUTE FUNCTION keep_video_tags();

CREATE TRIGGER video_tags_gone AFTER DELETE ON public.video FOR EACH ROW WHEN ((old.tags <> '{}'::text[])) EXECUTE FUNCTION keep_video_tags();

create extension btree_gin;

create extension pg_trgm;
