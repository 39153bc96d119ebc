-- One row for each viewer by WHEP, from the offer until the end: the api role writes the offer, the media role the
-- answer. What is in it concerns open connections alone: a crash may empty it. Apart from whip_session: a node of an older
-- version must not take a viewer's offer for that of an encoder.
create unlogged table whep_session (
  -- SHA-256 of the secret in the address of the session.
  id text primary key,
  stream_id text not null,
  -- The media node that serves it: the one that has the signal.
  node_id text,
  state text not null check (state in ('OFFERED', 'ANSWERED', 'REFUSED', 'ENDING')),
  offer text not null,
  -- The answer, or in words why there is none.
  answer text,
  refusal text check (refusal in ('OFFER', 'SIGNAL', 'FULL')),
  sent_bytes bigint not null default 0,
  -- The viewer may watch until then, unless the api role says so again.
  admitted_until timestamptz not null,
  created_at timestamptz not null
);
create index whep_session_node on whep_session (node_id);
