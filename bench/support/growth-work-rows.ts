import type { Rows } from './growth-rows.ts';

/** Rows of imports, jobs, notifications and access; see `growth-rows.ts`. */

const days = 400;
const ACCOUNT = '(select account_id from workspace where id = $1)';

const IMPORTS: Rows = {
  table: 'import',
  list: '/imports',
  days,
  insert: `insert into import (id, workspace_id, source_url, provider, status, title, visibility, created_at)
    select bench_id('imp', at, $3, n), $1, 'https://example.com/lesson.mp4',
      case when n = 2 then 'VIMEO' when is_old then 'S3' else 'URL' end,
      case when n = 1 then 'CANCELED' when is_old then 'FAILED' when n % 50 = 0 then 'PROCESSING' else 'COMPLETED' end,
      'A lesson', 'PUBLIC', at
    from bench_rows($2, 400)`,
};

const PLAYLISTS: Rows = {
  table: 'playlist',
  list: '/playlists',
  days,
  insert: `insert into playlist (id, workspace_id, title, visibility, created_at, updated_at)
    select bench_id('pls', at, $3, n), $1, 'A course',
      case when n = 1 then 'UNLISTED' when is_old then 'PRIVATE' else 'PUBLIC' end, at, at
    from bench_rows($2, 400)`,
};

const ROOMS: Rows = {
  table: 'room',
  list: '/rooms',
  days,
  insert: `insert into room (id, workspace_id, name, status, max_participants, empty_timeout_sec, departure_timeout_sec,
      record_enabled, waiting_room, can_publish, can_subscribe, can_publish_data, can_screen_share, metadata, ended_at,
      end_reason, created_at, updated_at)
    select bench_id('room', at, $3, n), $1, 'A call', status, 10, 300, 30, false, false, true, true, true, true, '{}',
      case when status = 'ENDED' then at end, case when status = 'ENDED' then 'CALL' end, at, at
    from bench_rows($2, 400), lateral (select case when n = 1 then 'ACTIVE' when is_old then 'CREATED' else 'ENDED' end)
      of (status)`,
};

const BRIDGES: Rows = {
  table: 'bridge',
  list: '/bridges',
  days,
  insert: `insert into bridge (id, workspace_id, type, source_id, target_id, status, end_reason, created_at)
    select bench_id('brg', at, $3, n), $1, case when n = 2 then 'STREAM_TO_ROOM' else 'ROOM_TO_STREAM' end, 'room_1',
      'str_' || $3 || case when n = 3 then 2 else n % 2 end, status,
      case when status = 'STOPPED' then 'DELETED' end, at
    from bench_rows($2, 400), lateral (select case when is_old then 'FAILED' else 'STOPPED' end) of (status)`,
};

const RESTREAMS: Rows = {
  table: 'restream',
  list: '/restreams',
  days,
  insert: `insert into restream (id, workspace_id, stream_id, name, start_mode, created_at, updated_at)
    select bench_id('rst', at, $3, n), $1, bench_id('str', at, $3, n / 5), 'Everywhere', 'MANUAL', at, at
    from bench_rows($2, 400)`,
};

const NOTIFICATIONS: Rows = {
  table: 'notification',
  list: '/notifications',
  days: 80,
  insert: `insert into notification (id, account_id, type, title, severity, read_at, created_at)
    select bench_id('ntf', at, $3, n), ${ACCOUNT},
      case when n = 1 then 'webhook.failing' when is_old then 'quota.exceeded' when n % 2 = 0 then 'booking.confirmed'
        else 'payment.succeeded' end, 'Something happened', 'INFO', case when not is_old then at end, at
    from bench_rows($2, 80)`,
};

const TICKETS: Rows = {
  table: 'support_ticket',
  list: '/support/tickets',
  days,
  insert: `insert into support_ticket (id, account_id, workspace_id, number, subject, category, priority, status,
      last_message_at, created_at)
    select bench_id('tkt', at, $3, n), ${ACCOUNT}, $1, n, 'A question',
      case when n = 1 then 'ABUSE' when is_old then 'BILLING' else 'TECHNICAL' end, 'NORMAL',
      case when n = 2 then 'PENDING' when is_old then 'OPEN' else 'CLOSED' end, at, at
    from bench_rows($2, 400)`,
};

const KEYS: Rows = {
  table: 'api_key',
  list: '/me/api-keys',
  days,
  insert: `insert into api_key (id, workspace_id, account_id, name, hash, prefix, last4, scope, rate_limit_per_minute,
      revoked_at, created_at)
    select bench_id('key', at, $3, n), $1, ${ACCOUNT}, 'A key', sha256(('key' || $3 || n)::bytea), 'mq_live_x', 'abcd',
      'STANDARD', 60, case when is_old then at end, at
    from bench_rows($2, 400)`,
};

export const WORK_ROWS: readonly Rows[] = [
  ...[IMPORTS, PLAYLISTS, ROOMS, BRIDGES, RESTREAMS],
  ...[NOTIFICATIONS, TICKETS, KEYS],
];
