-- What becomes of the restreams of a stream is a tail of its own, and so resumes like the others.
alter table stream_log_head
  drop constraint stream_log_head_tail_check,
  add constraint stream_log_head_tail_check check (tail in ('CHAT', 'RESTREAM', 'STATUS'));
alter table stream_log
  drop constraint stream_log_tail_check,
  add constraint stream_log_tail_check check (tail in ('CHAT', 'RESTREAM', 'STATUS'));

-- What the platform itself says in a chat has no author.
alter table chat_message
  add column kind text not null default 'MESSAGE' check (kind in ('MESSAGE', 'SYSTEM')),
  alter column author_id drop not null,
  add check ((kind = 'SYSTEM') = (author_id is null));
