import type { Sql } from 'postgres';

/**
 * Rows as the platform writes them, made by the database itself. Each statement has these parameters: $1 the workspace,
 * $2 how many rows, $3 a letter that tells the ids of the workspaces apart. Row 1 is the oldest. Some things one row
 * alone has, and it is among the oldest; some the oldest hundredth, which is where reading from the newest takes longest.
 */
export interface Rows {
  table: string;
  /** The path that lists them. */
  list: string;
  /** Over how many days they were made. */
  days: number;
  insert: string;
}

const VIDEOS: Rows = {
  table: 'video',
  list: '/videos',
  days: 400,
  insert: `insert into video (id, workspace_id, title, status, visibility, source, duration_sec, width, height, tags,
      external_id, stream_id, created_at, updated_at, published_at)
    select bench_id('vid', at, $3, n), $1,
      case when n = 3 then 'The only zebra' when is_old then 'Archive, lesson ' || n else 'Lesson number ' || n end
        || case when n * 2 <= $2 then ', first half' else '' end,
      case when n = 1 then 'QUEUED' when n % 50 = 0 and not is_old then 'FAILED' else 'READY' end,
      case when n = 2 then 'PURCHASE' when is_old then 'TIER' when n % 10 = 0 then 'PRIVATE'
        when n % 10 = 1 then 'UNLISTED' else 'PUBLIC' end,
      'UPLOAD', 600, 1920, 1080,
      array['all', 'tag' || n % 100] || case when n = 3 then array['one'] when is_old then array['old']
        else array[]::text[] end,
      'external-' || case when n % 4 = 3 then n::text else 'all' end,
      'str_' || $3 || case when n % 100 = 7 then 7 else 1 end, at, at, at
    from bench_rows($2, 400)`,
};

const RENDITIONS: Rows = {
  table: 'video_rendition',
  list: '/videos',
  days: 400,
  insert: `insert into video_rendition (video_id, revision, name, kind, status, folder, width, height, frame_rate)
    select bench_id('vid', at, $3, n), 0, '1080p', 'VIDEO', 'READY', 'r0a1', 1920, 1080, 30
    from bench_rows($2, 400) where $1::text is not null`,
};

const TAGS: Rows = {
  table: 'video_tag',
  list: '/videos',
  days: 400,
  insert: `insert into video_tag (workspace_id, tag, status, visibility, video_id)
    select workspace_id, tag, status, visibility, id from video, unnest(tags) tag
    where workspace_id = $1 and $2::bigint > 0 and $3::text is not null`,
};

const STREAMS: Rows = {
  table: 'stream',
  list: '/streams',
  days: 400,
  insert: `insert into stream (id, workspace_id, title, visibility, key_hash, key_encrypted, is_live, has_signal, enabled,
      external_id, created_at, updated_at)
    select bench_id('str', at, $3, n), $1, 'Stream number ' || n,
      case when n = 2 then 'PURCHASE' when is_old then 'TIER' when n % 10 = 0 then 'PRIVATE' else 'PUBLIC' end,
      sha256(($3 || n)::bytea), '\\x00', n in (1, 4), n in (1, 4, 5), n % 20 <> 0, 'external-' || n, at, at
    from bench_rows($2, 400)`,
};

/** Of a stream of their own. */
const MESSAGES: Rows = {
  table: 'chat_message',
  list: '/streams/str_chat',
  days: 20,
  insert: `with parent as (
      insert into stream (id, workspace_id, title, visibility, key_hash, key_encrypted, created_at, updated_at)
      values ('str_chat' || $3, $1, 'With a chat', 'PUBLIC', sha256(('chat' || $3)::bytea), '\\x00', now(), now())
      on conflict do nothing)
    insert into chat_message (id, stream_id, seq, at, text, author_id, created_at)
    select bench_id('msg', at, $3, n), 'str_chat' || $3, n, at, 'Hello', 'acc', at from bench_rows($2, 20)`,
};

const EVENTS: Rows = {
  table: 'event',
  list: '/me/events',
  days: 29,
  insert: `insert into event (id, workspace_id, type, created_at, body)
    select bench_uuid($3, n), $1, type, at, json_build_object('id', bench_uuid($3, n), 'type', type,
      'created', extract(epoch from at)::integer, 'livemode', true, 'data', json_build_object('videoId',
      bench_id('vid', at, $3, n), 'title', 'Lesson number ' || n, 'status', 'READY', 'sequence', 1))
    from bench_rows($2, 29), lateral (select case when n = 1 then 'webhook.failing' when is_old then 'stream.created'
      when n % 50 = 0 then 'video.processing.failed' when n % 2 = 0 then 'video.created' else 'video.updated' end) of (type)`,
};

const WAITING = '/me/webhooks/wh_/pending';

/** What the deliveries that wait are of. */
const WAITING_EVENTS: Rows = {
  table: 'event',
  list: WAITING,
  days: 29,
  insert: `insert into event (id, workspace_id, type, created_at, body)
    select bench_uuid($3 || 'p', n), $1, 'video.created', at, json_build_object('id', bench_uuid($3 || 'p', n), 'type',
      'video.created', 'created', extract(epoch from at)::integer, 'livemode', true, 'data', json_build_object('sequence', 1))
    from bench_rows($2, 29)`,
};

/** Not due while anybody looks at them. */
const JOBS: Rows = {
  table: 'delivery_job',
  list: WAITING,
  days: 29,
  insert: `insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at, next_at)
    select $1, 'wh_' || $3, id, created_at, now() + interval '1 day'
    from bench_rows($2, 29) join event on id = bench_uuid($3 || 'p', n) order by n`,
};

const DELIVERIES: Rows = {
  table: 'delivery_log',
  list: '/me/webhooks',
  days: 29,
  insert: `insert into delivery_log (id, workspace_id, webhook_id, event_id, event_type, trigger, attempt, status,
      response_status, response_body, latency_ms, created_at)
    select bench_id('dlv', at, $3, n), $1, 'wh_' || $3, bench_uuid($3, n),
      case when n = 1 then 'webhook.failing' when is_old then 'stream.created' when n % 2 = 0 then 'video.created'
        else 'video.updated' end,
      case when n = 4 then 'REPLAY' else 'EVENT' end, 1,
      case when n = 1 then 'EXHAUSTED' when is_old then 'CANCELED' when n % 50 = 0 then 'FAILED' else 'SUCCESS' end,
      200, 'ok', 5, at
    from bench_rows($2, 29)`,
};

const REQUESTS: Rows = {
  table: 'request_log',
  list: '/me/requests',
  days: 6,
  insert: `insert into request_log (id, workspace_id, request_id, key_id, method, path, status, code, ms, created_at)
    select bench_id('req', at, $3, n), $1, bench_uuid($3, n),
      case when n = 4 then 'key_one' else 'key_' || n % 4 end, 'GET',
      case when n = 2 then '/playlists' when is_old then '/streams' else '/videos/vid_' || n % 1000 end,
      case when n = 1 then 409 when is_old then 500 when n % 20 = 0 then 404 else 200 end, null, 1.5, at
    from bench_rows($2, 6)`,
};

export interface Workspace {
  id: string;
  /** Tells its ids apart. */
  letter: string;
  /** Of how many rows. */
  count: number;
}

export const CONTENT_ROWS: readonly Rows[] = [
  ...[VIDEOS, RENDITIONS, TAGS, STREAMS, MESSAGES],
  ...[EVENTS, WAITING_EVENTS, JOBS, DELIVERIES, REQUESTS],
];

/** What rows above belong to, beside their workspace. */
export async function insertParents(
  sql: Sql,
  { id, letter }: Pick<Workspace, 'id' | 'letter'>,
): Promise<void> {
  await sql`insert into webhook (id, workspace_id, url, secret, created_at, updated_at)
    values (${`wh_${letter}`}, ${id}, 'https://example.com/', '', now(), now())`;
  await sql`insert into customer (id, workspace_id, email, created_at, updated_at)
    values (${`cus_${letter}`}, ${id}, 'ada@example.com', now(), now())`;
  await sql`insert into tier (id, workspace_id, name, price_cents, interval, created_at, updated_at)
    select 'tier_' || ${letter}::text || n, ${id}, 'Tier ' || n, 500, 'MONTH', now(), now() from generate_series(0, 2) n`;
}

/** Functions of the statements above: an id whose time is that of its row, and the rows with their times. */
export async function prepareRows(sql: Sql): Promise<void> {
  const ms = 'floor(extract(epoch from at) * 1000)::bigint';
  const characters = Array.from(
    { length: 10 },
    (_, place) =>
      `substr('0123456789abcdefghjkmnpqrstvwxyz', (${ms} >> ${45 - 5 * place} & 31)::integer + 1, 1)`,
  );
  await sql.unsafe(`
    create function bench_id(prefix text, at timestamptz, letter text, n bigint) returns text language sql immutable as $$
      select prefix || '_' || ${characters.join(' || ')} || letter || lpad(n::text, 15, '0') $$;
    create function bench_uuid(letter text, n bigint) returns uuid language sql immutable as $$
      select overlay(overlay(md5(letter || n) placing '4' from 13) placing '8' from 17)::uuid $$;
    create function bench_rows(count bigint, days integer)
      returns table (n bigint, at timestamptz, is_old boolean) language sql stable as $$
      select n, date_trunc('milliseconds', now() - days * interval '1 day' * (count - n) / count), n <= count / 100
      from generate_series(1, count) n $$;`);
}

/**
 * Inserts without triggers and indexes, which are made again afterwards: a quarter of the time.
 *
 * @param workspaces by their letter: how many rows each has.
 */
export async function insertRows(sql: Sql, rows: Rows, workspaces: readonly Workspace[]): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`set local maintenance_work_mem = '512MB'`;
    const indexes = await tx<{ name: string; definition: string }[]>`
      select c.relname as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
      join pg_class c on c.oid = i.indexrelid
      where i.indrelid = ${rows.table}::regclass
        and not exists (select from pg_constraint where conindid = i.indexrelid)`;
    for (const { name } of indexes) await tx`drop index ${tx(name)}`;
    for (const { id, letter, count } of workspaces) await tx.unsafe(rows.insert, [id, count, letter]);
    for (const { definition } of indexes) await tx.unsafe(definition.replace(' ON ONLY ', ' ON '));
  });
  // As it would be sooner or later; its work must not be counted as that of requests.
  await sql.unsafe(`vacuum analyze ${rows.table}`);
}
