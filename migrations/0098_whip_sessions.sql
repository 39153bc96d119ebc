-- One row for each publish by WHIP, from its offer until its end: the api role writes the offer, the media role the
-- answer. What is in it concerns open connections alone: a crash may empty it.
create unlogged table whip_session (
  -- SHA-256 of the secret in the address of the session.
  id text primary key,
  stream_id text not null,
  -- The media node that carries it: whoever takes it first.
  node_id text,
  state text not null check (state in ('OFFERED', 'ANSWERED', 'REFUSED', 'ENDING')),
  offer text not null,
  -- The answer, or in words why there is none.
  answer text,
  created_at timestamptz not null
);
create index whip_session_node on whip_session (node_id);
