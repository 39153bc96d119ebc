-- The chat of streams. What its tails resume from is in stream_log; this is the history.

-- Words that no post may have; whole ones, whatever their case.
alter table stream add column banned_words text[] not null default '{}';

create table chat_message (
  id text primary key,
  stream_id text not null references stream (id) on delete cascade,
  -- Of its entry in the log of the chat: the order of the history.
  seq bigint not null,
  at timestamptz not null,
  text text not null,
  -- The account of the stream, or a guest of this stream.
  author_id text not null,
  -- As a guest calls itself; null for the account.
  guest_name text,
  reply_to_id text,
  -- Given by the client, so that a repeated post is known.
  client_id text,
  created_at timestamptz not null,
  deleted_at timestamptz,
  unique (stream_id, seq)
);
create index chat_message_author on chat_message (stream_id, author_id, seq desc);
create index chat_message_created on chat_message (created_at);

create table chat_ban (
  id text primary key,
  stream_id text not null references stream (id) on delete cascade,
  author_id text not null,
  -- Null: until it is lifted.
  expires_at timestamptz,
  created_at timestamptz not null,
  unique (stream_id, author_id)
);
