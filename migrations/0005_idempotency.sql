-- Responses that an Idempotency-Key replays (contract 4.2). A row is written once, in the transaction of the
-- handler, and overwritten only when it has expired.

create table idempotency_record (
  -- SHA-256 of the API key's id, the method, the path and the Idempotency-Key.
  id bytea primary key,
  workspace_id text not null,
  -- SHA-256 of the body and its media type: the same key with another body is refused.
  fingerprint bytea not null,
  status smallint not null,
  -- The exact text, encrypted: a response may show a secret once, such as a stream key.
  body bytea not null,
  expires_at timestamptz not null
);

create index idempotency_record_expiry on idempotency_record (expires_at);
