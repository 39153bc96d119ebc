-- Of an SRT destination that is sent to encrypted; kept as the stream key is.
alter table restream_target add column passphrase bytea;
