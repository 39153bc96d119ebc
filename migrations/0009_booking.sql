-- Booking products, availability, cohorts, bookings, the calendar and waitlists.

create table booking_product (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  type text not null check (type in ('ONE_TO_ONE', 'LIVE_CLASS', 'COHORT')),
  status text not null default 'DRAFT' check (status in ('DRAFT', 'PUBLISHED', 'ARCHIVED')),
  title text not null,
  description text,
  thumbnail_url text,
  slug text,
  price_cents integer not null check (price_cents >= 0),
  duration_min integer not null check (duration_min between 1 and 600),
  buffer_min integer not null check (buffer_min >= 0),
  -- Seats of a class, and the default of a cohort. A ONE_TO_ONE has one.
  capacity integer not null check (capacity >= 1),
  recordable boolean not null,
  replay_access_days integer not null check (replay_access_days >= 0),
  refund_policy_days integer not null check (refund_policy_days >= 0),
  intake_fields jsonb,
  event_sequence integer not null default 0,
  published_at timestamptz,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'ARCHIVED') = (archived_at is not null))
);
create index booking_product_workspace on booking_product (workspace_id, id desc);
create unique index booking_product_slug on booking_product (workspace_id, slug)
  where slug is not null and status <> 'ARCHIVED';
create index booking_product_list on booking_product (workspace_id, type, status, id collate "C" desc);

-- When the creator has time, in local time of a zone.
create table availability (
  workspace_id text primary key references workspace (id) on delete cascade,
  -- At most seven keys, mon to sun: [{start, end}] as HH:MM, in order.
  weekly jsonb not null,
  timezone text not null,
  -- [{start, end, reason?}], whole local days or instants.
  blackouts jsonb not null,
  min_notice_min integer not null check (min_notice_min >= 0),
  max_advance_days integer not null check (max_advance_days >= 0),
  updated_at timestamptz not null
);

create table cohort (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  product_id text not null references booking_product (id) on delete cascade,
  title text,
  starts_at timestamptz not null,
  ends_at timestamptz,
  timezone text not null,
  -- Null: that of the product.
  capacity integer check (capacity >= 1),
  -- Members, and seats reserved for buyers who are paying or have an offer.
  enrolled_count integer not null default 0 check (enrolled_count >= 0),
  reserved_count integer not null default 0 check (reserved_count >= 0),
  status text not null check (status in ('SCHEDULED', 'OPEN', 'FULL', 'RUNNING', 'COMPLETED', 'CANCELED')),
  enrollment_opens_at timestamptz,
  enrollment_closes_at timestamptz,
  -- Incremented by each change of its times that members are notified of.
  revision integer not null default 0,
  event_sequence integer not null default 0,
  canceled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'CANCELED') = (canceled_at is not null))
);
create index cohort_product on cohort (product_id, id desc);
create index cohort_open on cohort (id) where status in ('SCHEDULED', 'OPEN', 'FULL', 'RUNNING');
-- Cohorts that have not started: their members have upcoming bookings.
create index cohort_coming on cohort (workspace_id, starts_at) where status in ('SCHEDULED', 'OPEN', 'FULL');

create table cohort_session (
  id text primary key,
  cohort_id text not null references cohort (id) on delete cascade,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  room_id text,
  -- When its time was set: members notified within an hour before the start get no reminder.
  scheduled_at timestamptz not null,
  check (starts_at < ends_at)
);
create index cohort_session_cohort on cohort_session (cohort_id, starts_at);
create index cohort_session_start on cohort_session (starts_at);

-- Removed sessions, which members' calendars have until they are notified.
create table cohort_session_tombstone (
  id text primary key,
  cohort_id text not null references cohort (id) on delete cascade,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  -- Revision of the cohort that removed it.
  revision integer not null
);
create index cohort_session_tombstone_revision on cohort_session_tombstone (cohort_id, revision);

-- Videos that members of a cohort may watch from the release on.
create table cohort_video (
  id text primary key,
  cohort_id text not null references cohort (id) on delete cascade,
  video_id text not null references video (id) on delete cascade,
  release_at timestamptz,
  position integer not null,
  unique (cohort_id, video_id)
);
create index cohort_video_video on cohort_video (video_id);

-- Class at one time, created by its first booking.
create table class_occurrence (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  product_id text not null references booking_product (id) on delete cascade,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  capacity integer not null check (capacity >= 1),
  booked_count integer not null default 0 check (booked_count >= 0),
  reserved_count integer not null default 0 check (reserved_count >= 0),
  room_id text,
  created_at timestamptz not null,
  unique (product_id, starts_at),
  check (booked_count + reserved_count <= capacity)
);

create table booking (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  product_id text not null references booking_product (id),
  type text not null check (type in ('ONE_TO_ONE', 'LIVE_CLASS', 'COHORT')),
  cohort_id text references cohort (id),
  occurrence_id text references class_occurrence (id),
  status text not null
    check (status in ('PENDING_PAYMENT', 'CONFIRMED', 'COMPLETED', 'CANCELED', 'NO_SHOW', 'EXPIRED')),
  starts_at timestamptz,
  ends_at timestamptz,
  -- Earliest start it ever had: rescheduling does not reopen the cancellation period.
  first_starts_at timestamptz,
  rescheduled_from timestamptz,
  -- Creator's zone at the time of booking.
  timezone text not null,
  customer_id text references customer (id) on DELETE SET null,
  customer_name text not null,
  customer_email text not null,
  customer_timezone text,
  intake_answers jsonb,
  amount_cents integer not null check (amount_cents >= 0),
  discount_cents integer not null default 0 check (discount_cents >= 0),
  discount_code text,
  purchase_id text,
  -- Snapshot of the product; later changes do not apply.
  refund_policy_days integer not null default 0 check (refund_policy_days >= 0),
  replay_access_days integer not null default 0 check (replay_access_days >= 0),
  -- Waitlist entry whose emailed link was used: other customers cannot take a reserved spot.
  waitlist_entry_id text,
  room_id text,
  -- Incremented by each new link to its room; earlier ones are invalid.
  link_revision integer not null default 0,
  recording_video_id text,
  -- All recordings of its room; recording_video_id is the last.
  recording_video_ids text[] not null default '{}',
  replay_access_until timestamptz,
  cancel_reason text,
  canceled_by text check (canceled_by in ('CUSTOMER', 'CREATOR', 'SYSTEM')),
  -- While unpaid: the slot or seat is reserved until then. Null where nothing is reserved.
  hold_expires_at timestamptz,
  -- The hold was extended by pressing Pay, which happens once.
  hold_extended boolean not null default false,
  customer_joined_at timestamptz,
  creator_joined_at timestamptz,
  reminded_at timestamptz,
  -- Start of the last session of its cohort that the customer was reminded of.
  reminded_until timestamptz,
  -- Last revision of its cohort that the customer knows.
  cohort_revision integer not null default 0,
  -- Of its calendar entry (RFC 5545, 3.8.7.4): incremented by each change that the customer is notified of.
  ics_sequence integer not null default 0,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((type = 'COHORT') = (cohort_id is not null)),
  check ((type <> 'COHORT') = (starts_at is not null)),
  check ((status = 'CANCELED') = (canceled_by is not null))
);
create index booking_workspace on booking (workspace_id, id desc);
create index booking_product_start on booking (product_id, starts_at);
create index booking_occurrence on booking (occurrence_id) where occurrence_id is not null;
create index booking_customer on booking (customer_id);
create index booking_room on booking (room_id) where room_id is not null;
create index booking_held on booking (hold_expires_at) where status = 'PENDING_PAYMENT';
create index booking_coming on booking (ends_at) where status = 'CONFIRMED';
create index booking_unreminded on booking (starts_at) where status = 'CONFIRMED' and reminded_at is null;
create index booking_recording on booking (recording_video_id) where recording_video_id is not null;
create index booking_upcoming on booking (workspace_id, starts_at) where status = 'CONFIRMED';
create index booking_state on booking (workspace_id, status, id collate "C" desc);
create index booking_product_state on booking (product_id, status, id collate "C" desc);
create index booking_cohort on booking (cohort_id, status, id collate "C" desc) where cohort_id is not null;
create index booking_email on booking (workspace_id, customer_email, id desc);
create index booking_starts on booking (workspace_id, starts_at);
create index booking_day on booking
  (workspace_id, date_trunc('day', starts_at at time zone 'UTC'), status, id collate "C" desc);
create index booking_month on booking
  (workspace_id, date_trunc('month', starts_at at time zone 'UTC'), status, id collate "C" desc);

create table waitlist_entry (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  product_id text not null references booking_product (id) on delete cascade,
  -- Requested cohort; null for any.
  cohort_id text references cohort (id) on delete cascade,
  -- Requested time of a ONE_TO_ONE or a class; null for any.
  starts_at timestamptz,
  email text not null,
  name text,
  position integer not null,
  -- Order of joining; assigned under the lock of the product.
  queue_number bigint generated always as identity,
  status text not null default 'WAITING' check (status in ('WAITING', 'OFFERED', 'CONVERTED', 'EXPIRED', 'REMOVED')),
  -- Entries of public pages count once their email is confirmed.
  confirmed_at timestamptz default now(),
  -- What was offered.
  offered_cohort_id text references cohort (id) on delete cascade,
  offered_starts_at timestamptz,
  offered_at timestamptz,
  offer_expires_at timestamptz,
  -- Class in which a seat is reserved for an offer.
  occurrence_id text references class_occurrence (id),
  -- A seat or time is currently reserved; not once it is booked.
  holds_spot boolean not null default false,
  booking_id text,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'OFFERED') <= (offer_expires_at is not null)),
  check (holds_spot <= (status = 'OFFERED'))
);
create index waitlist_entry_workspace on waitlist_entry (workspace_id, id desc);
create index waitlist_entry_offered on waitlist_entry (offer_expires_at) where status = 'OFFERED';
create unique index waitlist_entry_once on waitlist_entry (product_id, cohort_id, starts_at,
  email) NULLS not DISTINCT where status in ('WAITING', 'OFFERED');
create index waitlist_entry_waiting on waitlist_entry (product_id, queue_number) where status = 'WAITING';
create index waitlist_entry_state on waitlist_entry (workspace_id, status, id collate "C" desc);
create index waitlist_entry_product on waitlist_entry (product_id, status, id collate "C" desc);
create index waitlist_entry_cohort on waitlist_entry (coalesce(offered_cohort_id, cohort_id), status,
  id collate "C" desc);
create index waitlist_entry_unconfirmed on waitlist_entry (created_at)
  where status = 'WAITING' and confirmed_at is null;

-- Busy time of a creator, from the start to the end and its buffer: a booking or hold of a ONE_TO_ONE, a class, a
-- session of a cohort, or a slot offered to a waitlist. Nothing overlaps.
create table calendar_busy (
  id bigint generated always as identity primary key,
  calendar_number bigint not null references workspace (calendar_number) on delete cascade,
  starts_at timestamptz not null,
  -- End with the buffer, exclusive.
  busy_until timestamptz not null,
  product_id text not null references booking_product (id) on delete cascade,
  booking_id text unique references booking (id) on delete cascade,
  occurrence_id text unique references class_occurrence (id) on delete cascade,
  session_id text unique references cohort_session (id) on delete cascade,
  waitlist_id text unique references waitlist_entry (id) on delete cascade,
  check (starts_at < busy_until),
  check (num_nonnulls(booking_id, occurrence_id, session_id, waitlist_id) = 1),
  constraint calendar_busy_once exclude using gist
    (int8range(calendar_number, calendar_number, '[]') with &&, tstzrange(starts_at, busy_until) with &&)
);
create index calendar_busy_time on calendar_busy (calendar_number, busy_until);

-- External calendars whose events are busy time.
create table external_calendar (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  name text,
  -- Encrypted: the URL gives access to the calendar.
  url_encrypted bytea not null,
  host text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'OK', 'FAILED')),
  last_error text,
  event_count integer not null default 0,
  etag text,
  last_modified text,
  -- Consecutive failures; each delays the next fetch further.
  failure_count integer not null default 0 check (failure_count >= 0),
  fetched_at timestamptz,
  next_fetch_at timestamptz not null,
  -- When its events were last expanded, and the zone of its whole days; unchanged content is expanded again from time
  -- to time.
  content_fetched_at timestamptz,
  content_timezone text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index external_calendar_workspace on external_calendar (workspace_id, id desc);
create index external_calendar_due on external_calendar (next_fetch_at);

create table external_busy (
  calendar_id text not null references external_calendar (id) on delete cascade,
  starts_at timestamptz not null,
  busy_until timestamptz not null,
  check (starts_at < busy_until)
);
create index external_busy_time on external_busy (calendar_id, busy_until);

-- Calendar feed of a creator's bookings; a new URL replaces the previous one.
create table booking_feed (
  workspace_id text primary key references workspace (id) on delete cascade,
  token_hash bytea not null unique,
  token_encrypted bytea not null,
  created_at timestamptz not null
);
