-- Booking: time that is sold. What is offered, when the creator has time, who has booked, who waits for a place, and one
-- calendar in which nothing overlaps. Every workspace has a calendar of its own.

-- The number by which a workspace's calendar is known in constraints over ranges, which text needs an extension for.
alter table workspace add column calendar_no bigint generated always as identity unique;

-- ---- Offers ---------------------------------------------------------------------------------------------------------

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
  -- Seats of a class; of a cohort that names no number of its own. A ONE_TO_ONE has one, whatever it says.
  capacity integer not null check (capacity >= 1),
  recordable boolean not null,
  replay_access_days integer not null check (replay_access_days >= 0),
  refund_policy_days integer not null check (refund_policy_days >= 0),
  intake_fields jsonb,
  -- Bookings that ever were of it.
  booking_count integer not null default 0 check (booking_count >= 0),
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

-- When the creator has time: wall times of a zone.
create table availability (
  workspace_id text primary key references workspace (id) on delete cascade,
  -- Seven keys at most, mon to sun: [{start, end}] as HH:MM, in order.
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
  -- Null: as many as the product says.
  capacity integer check (capacity >= 1),
  -- Members who are there, and seats that are kept for somebody who pays just now or has an offer.
  enrolled_count integer not null default 0 check (enrolled_count >= 0),
  claimed_count integer not null default 0 check (claimed_count >= 0),
  status text not null check (status in ('SCHEDULED', 'OPEN', 'FULL', 'RUNNING', 'COMPLETED', 'CANCELED')),
  enrollment_opens_at timestamptz,
  enrollment_closes_at timestamptz,
  event_sequence integer not null default 0,
  canceled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'CANCELED') = (canceled_at is not null))
);
create index cohort_product on cohort (product_id, id desc);
create index cohort_open on cohort (id) where status in ('SCHEDULED', 'OPEN', 'FULL', 'RUNNING');

create table cohort_session (
  id text primary key,
  cohort_id text not null references cohort (id) on delete cascade,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  room_id text,
  check (starts_at < ends_at)
);
create index cohort_session_cohort on cohort_session (cohort_id, starts_at);

-- Videos that members of a cohort may watch, from the moment of their release.
create table cohort_video (
  id text primary key,
  cohort_id text not null references cohort (id) on delete cascade,
  video_id text not null references video (id) on delete cascade,
  release_at timestamptz,
  position integer not null,
  unique (cohort_id, video_id)
);
create index cohort_video_video on cohort_video (video_id);

-- A class at one time, made by its first booking.
create table class_occurrence (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  product_id text not null references booking_product (id) on delete cascade,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  capacity integer not null check (capacity >= 1),
  booked_count integer not null default 0 check (booked_count >= 0),
  claimed_count integer not null default 0 check (claimed_count >= 0),
  room_id text,
  created_at timestamptz not null,
  unique (product_id, starts_at),
  check (booked_count + claimed_count <= capacity)
);

-- ---- Bookings -------------------------------------------------------------------------------------------------------

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
  -- The earliest start that it ever had: moving it does not open the time to cancel again.
  first_starts_at timestamptz,
  rescheduled_from timestamptz,
  -- The creator's zone when it was made.
  timezone text not null,
  customer_id text references customer (id) on delete set null,
  customer_name text not null,
  customer_email text not null,
  customer_timezone text,
  intake_answers jsonb,
  amount_cents integer not null check (amount_cents >= 0),
  discount_cents integer not null default 0 check (discount_cents >= 0),
  discount_code text,
  purchase_id text,
  room_id text,
  recording_video_id text,
  replay_access_until timestamptz,
  cancel_reason text,
  canceled_by text check (canceled_by in ('CUSTOMER', 'CREATOR', 'SYSTEM')),
  -- While it is unpaid: the slot, or the seat, is kept until then. Null where nothing is kept.
  held_until timestamptz,
  -- The hold was extended by pressing Pay, which it is once.
  was_extended boolean not null default false,
  customer_joined_at timestamptz,
  creator_joined_at timestamptz,
  reminded_at timestamptz,
  -- Of its calendar entry (RFC 5545, 3.8.7.4): grows with every change that its customer is told of.
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
create index booking_cohort on booking (cohort_id) where cohort_id is not null;
create index booking_occurrence on booking (occurrence_id) where occurrence_id is not null;
create index booking_customer on booking (customer_id);
create index booking_email on booking (workspace_id, customer_email);
create index booking_room on booking (room_id) where room_id is not null;
create index booking_held on booking (held_until) where status = 'PENDING_PAYMENT';
create index booking_coming on booking (ends_at) where status = 'CONFIRMED';

-- ---- The calendar ---------------------------------------------------------------------------------------------------

-- What of a creator's time is taken: from the start to the end and its buffer. A booking or hold of a ONE_TO_ONE, a
-- class at its time, a session of a cohort, a slot that is offered to somebody who waits.
create table calendar_busy (
  id bigint generated always as identity primary key,
  calendar_no bigint not null references workspace (calendar_no) on delete cascade,
  starts_at timestamptz not null,
  -- The end and the buffer after it; excluded.
  free_at timestamptz not null,
  product_id text not null references booking_product (id) on delete cascade,
  booking_id text unique references booking (id) on delete cascade,
  occurrence_id text unique references class_occurrence (id) on delete cascade,
  session_id text unique references cohort_session (id) on delete cascade,
  waitlist_id text unique,
  check (starts_at < free_at),
  check (num_nonnulls(booking_id, occurrence_id, session_id, waitlist_id) = 1),
  constraint calendar_busy_once
    exclude using gist (int8range(calendar_no, calendar_no, '[]') with &&, tstzrange(starts_at, free_at) with &&)
);

create index calendar_busy_time on calendar_busy (calendar_no, free_at);

-- Calendars elsewhere whose events take time as well.
create table external_calendar (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  name text,
  -- Encrypted: who has the address can read the calendar.
  url_sealed bytea not null,
  host text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'OK', 'FAILED')),
  last_error text,
  event_count integer not null default 0,
  etag text,
  read_at timestamptz,
  next_read_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index external_calendar_workspace on external_calendar (workspace_id, id desc);
create index external_calendar_due on external_calendar (next_read_at);

create table external_busy (
  calendar_id text not null references external_calendar (id) on delete cascade,
  starts_at timestamptz not null,
  free_at timestamptz not null,
  check (starts_at < free_at)
);
create index external_busy_time on external_busy (calendar_id, free_at);

-- The address under which a creator's bookings can be subscribed to; a new one ends the old.
create table booking_feed (
  workspace_id text primary key references workspace (id) on delete cascade,
  token_hash bytea not null unique,
  token_sealed bytea not null,
  created_at timestamptz not null
);

-- ---- Who waits ------------------------------------------------------------------------------------------------------

create table waitlist_entry (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  product_id text not null references booking_product (id) on delete cascade,
  cohort_id text references cohort (id) on delete cascade,
  -- Of a ONE_TO_ONE or a class.
  starts_at timestamptz,
  email text not null,
  name text,
  position integer not null,
  status text not null default 'WAITING'
    check (status in ('WAITING', 'OFFERED', 'CONVERTED', 'EXPIRED', 'REMOVED')),
  offered_at timestamptz,
  offer_expires_at timestamptz,
  -- Of the link in the mail that offers the place.
  offer_hash bytea unique,
  booking_id text,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'OFFERED') <= (offer_expires_at is not null))
);
create index waitlist_entry_workspace on waitlist_entry (workspace_id, id desc);
create index waitlist_entry_waiting on waitlist_entry (product_id, cohort_id, starts_at, position)
  where status = 'WAITING';
create index waitlist_entry_offered on waitlist_entry (offer_expires_at) where status = 'OFFERED';
create unique index waitlist_entry_once on waitlist_entry (product_id, cohort_id, starts_at, email) nulls not distinct
  where status in ('WAITING', 'OFFERED');

alter table calendar_busy
  add foreign key (waitlist_id) references waitlist_entry (id) on delete cascade;
