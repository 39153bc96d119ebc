-- Which notifications of an account the members of its team have read; of its owner it is `notification.read_at`.

create table notification_reading (
  notification_id text not null references notification (id) on delete cascade,
  user_id text not null references account (id) on delete cascade,
  read_at timestamptz not null,
  primary key (notification_id, user_id)
);
create index notification_reading_user on notification_reading (user_id);
