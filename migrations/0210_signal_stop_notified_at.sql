-- When the stop of a signal that was never broadcast was last reported: it opens no minute for the stop of a broadcast.
alter table stream add column signal_stop_notified_at timestamptz;
