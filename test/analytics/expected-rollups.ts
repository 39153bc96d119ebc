import type { Sql } from 'postgres';

/** Usage event as stored in the database. */
export interface FactRow {
  xid: bigint;
  at: number;
  id: string;
  workspace: string;
  kind: string;
  subject: string | null;
  amount: number;
  viewer: string | null;
  shares: Record<string, string>;
  isBot: boolean;
  isSelf: boolean;
  session: string | null;
  number: number | null;
  events: { type: string; positionSec: number; quality?: number }[];
  bitrate: number;
  key: string;
  status: number;
}

/** Rollup values by name. Zero values are omitted. */
export type Sums = Map<string, number>;

const DAY = 86_400_000;
const floor = (at: number, span: number) => Math.floor(at / span) * span;

/** Compares usage events by the order of their commits. */
const inOrder = (a: FactRow, b: FactRow) =>
  Number(a.xid - b.xid) || a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/**
 * Recounts all usage events slowly, by docs/decisions/analytics.md: the expected rollups. Implemented
 * independently of the SQL that creates them.
 */
function recount(rows: readonly FactRow[], closedUntil: number): Sums {
  const sums = new Recount(closedUntil);
  const facts = [...rows].sort(inOrder);
  const human = facts.filter((fact) => !fact.isBot);
  for (const fact of human) countPlain(sums, fact);
  for (const fact of facts) countUsage(sums, fact);
  const beacons = firstOfTheirNumber(human);
  for (const beacon of beacons) countBeacon(sums, beacon, before(beacon, beacons));
  countViewers(
    sums,
    human.filter((fact) => fact.kind === 'VIEW' || (beacons.includes(fact) && isPlaying(fact))),
  );
  for (const [name, amount] of sums) if (amount === 0) sums.delete(name);
  return sums;
}

/** Rollup intervals longer than a quarter-hour, in minutes, so that reads of days and years need few rows. */
const LONG = [60, 240, 1440, 4 * 1440, 16 * 1440, 64 * 1440];

class Recount extends Map<string, number> {
  readonly #closedUntil: number;
  /** @param closedUntil long spans are there when they end until then. */
  constructor(closedUntil: number) {
    super();
    this.#closedUntil = closedUntil;
  }
  /** Each span that a moment is in and that is there: its minutes and its beginning. */
  spans(at: number, always: number): [number, number][] {
    const made = LONG.filter(
      (span) => span > always && floor(at, span * 60_000) + span * 60_000 <= this.#closedUntil,
    );
    return [always, ...made].map((span) => [span, floor(at, span * 60_000)]);
  }
}

function add(sums: Sums, name: (string | number | boolean)[], amount: number): void {
  const key = name.join('|');
  sums.set(key, (sums.get(key) ?? 0) + amount);
}

function raise(sums: Sums, name: (string | number | boolean)[], amount: number): void {
  const key = name.join('|');
  sums.set(key, Math.max(sums.get(key) ?? 0, amount));
}

/** Returns the levels of an event: the account, and its subject. */
function levels(subject: string | null): [string, string][] {
  if (subject?.startsWith('vid_'))
    return [
      ['ACCOUNT', ''],
      ['VIDEO', subject],
    ];
  if (subject?.startsWith('str_'))
    return [
      ['ACCOUNT', ''],
      ['STREAM', subject],
    ];
  return [['ACCOUNT', '']];
}

/** Returns the rollups of an event: the quarter-hour and longer intervals of each level. */
function places(sums: Recount, fact: FactRow): (string | number | boolean)[][] {
  return levels(fact.subject).flatMap(([kind, id]) =>
    sums.spans(fact.at, 15).map(([span, begin]) => [fact.workspace, kind, id, span, begin, fact.isSelf]),
  );
}

const COLUMNS: Record<string, string> = {
  VIEW: 'views',
  IMPRESSION: 'impressions',
  JOIN: 'joins',
  LEAVE: 'leaves',
  CHAT: 'chat_messages',
  FOLLOW: 'new_followers',
  UNFOLLOW: 'lost_followers',
  BROADCAST: 'broadcasts',
  LIVE: 'live_ms',
};

function countPlain(sums: Recount, fact: FactRow): void {
  const column = COLUMNS[fact.kind];
  for (const place of places(sums, fact)) {
    if (column !== undefined) add(sums, ['total', ...place, column], fact.amount);
    if (fact.kind === 'LIVE')
      add(sums, ['total', ...place, 'bitrate_kbit'], Math.floor((fact.amount * fact.bitrate) / 1000));
    if (fact.kind === 'PRESENCE') {
      raise(sums, ['total', ...place, 'peak_viewers'], fact.amount);
      add(sums, ['total', ...place, 'viewer_samples_sum'], fact.amount);
      add(sums, ['total', ...place, 'viewer_samples'], 1);
    }
    if (fact.kind === 'VIEW') {
      for (const [dimension, value] of Object.entries(fact.shares))
        add(sums, ['share', ...place, dimension, value, 'views'], fact.amount);
    }
  }
}

function countUsage(sums: Sums, fact: FactRow): void {
  const { kind, workspace, amount, at, key, status } = fact;
  if (!['STORAGE', 'EGRESS', 'ENCODE', 'LIVE', 'ROOM', 'REQUEST', 'DELIVERY'].includes(kind)) return;
  for (const span of [15, 1440]) {
    const name = ['usage', workspace, kind, span, floor(at, span * 60_000)];
    if (kind === 'STORAGE') raise(sums, name, amount);
    else add(sums, name, amount);
  }
  if (kind !== 'REQUEST') return;
  const name = ['request', workspace, key, floor(at, DAY)];
  add(sums, [...name, 'requests'], amount);
  if (status >= 400 && status < 500) add(sums, [...name, 'errors_4xx'], amount);
  if (status >= 500) add(sums, [...name, 'errors_5xx'], amount);
  if (status === 429) add(sums, [...name, 'rate_limited'], amount);
}

const isNear = (a: FactRow, b: FactRow) => a.session === b.session && Math.abs(a.at - b.at) < DAY;

function firstOfTheirNumber(human: readonly FactRow[]): FactRow[] {
  const all = human.filter(
    ({ kind, session, number }) => kind === 'BEACON' && session !== null && number !== null,
  );
  return all.filter(
    (one, place) => !all.slice(0, place).some((other) => isNear(one, other) && one.number === other.number),
  );
}

/** Returns the session's beacons with the hundred preceding sequence numbers, nearest first. */
function before(beacon: FactRow, beacons: readonly FactRow[]): FactRow[] {
  const distance = (other: FactRow) => (beacon.number ?? 0) - (other.number ?? 0);
  return beacons
    .filter((other) => isNear(beacon, other) && distance(other) > 0 && distance(other) <= 100)
    .sort((a, b) => distance(a) - distance(b) || inOrder(a, b));
}

const isPlaying = ({ events }: FactRow) => events.some(({ type }) => type === 'PLAY' || type === 'TICK');

function leavesPlaying({ events }: FactRow): boolean {
  if (events.length === 0) return false;
  const last = events.filter(({ type }) => type !== 'SEEK').at(-1);
  if (events.at(-1)?.type !== 'SEEK') return last?.type === 'PLAY' || last?.type === 'TICK';
  return last === undefined || last.type === 'PLAY' || last.type === 'TICK';
}

function countBeacon(sums: Recount, beacon: FactRow, earlier: readonly FactRow[]): void {
  const [previous] = earlier;
  if (isPlaying(beacon) && !earlier.some(isPlaying))
    for (const place of places(sums, beacon)) add(sums, ['total', ...place, 'plays'], 1);
  if (previous === undefined || !leavesPlaying(previous)) return;
  const watched = Math.min(Math.max(beacon.at - previous.at, 0), 30_000);
  const quality = previous.events.at(-1)?.quality;
  const shares = { ...beacon.shares, ...(quality === undefined ? {} : { quality: String(quality) }) };
  for (const place of places(sums, beacon)) {
    add(sums, ['total', ...place, 'watch_ms'], watched);
    for (const [dimension, value] of Object.entries(shares))
      add(sums, ['share', ...place, dimension, value, 'watch_ms'], watched);
  }
  if (watched > 0 && beacon.subject?.startsWith('vid_')) countSeconds(sums, previous, beacon, watched);
}

function countSeconds(sums: Recount, previous: FactRow, beacon: FactRow, watched: number): void {
  let position = previous.events.at(-1)?.positionSec ?? 0;
  let isOn = true;
  for (const event of beacon.events) {
    const length = event.positionSec - position;
    if (isOn && event.type !== 'SEEK' && length > 0 && length <= (2 * watched) / 1000 + 2) {
      for (
        let second = Math.ceil(position);
        second < Math.min(Math.ceil(event.positionSec), 43_200);
        second++
      )
        for (const [span, begin] of sums.spans(beacon.at, 1440))
          add(
            sums,
            ['second', beacon.workspace, beacon.subject ?? '', span, begin, beacon.isSelf, second],
            1,
          );
    }
    position = event.positionSec;
    isOn = ['PLAY', 'TICK', 'SEEK'].includes(event.type);
  }
}

/** Counts each viewer of a day once per breakdown value, at the first occurrence. */
function countViewers(sums: Recount, signs: readonly FactRow[]): void {
  const seen = new Set<string>();
  for (const sign of signs) {
    const { workspace, viewer, isSelf } = sign;
    if (viewer === null) continue;
    for (const [kind, id] of levels(sign.subject)) {
      for (const [dimension, value] of [['', ''], ...Object.entries(sign.shares)]) {
        const key = [floor(sign.at, DAY), workspace, id, dimension, value, viewer, isSelf].join('|');
        if (seen.has(key)) continue;
        seen.add(key);
        for (const [span, begin] of sums.spans(sign.at, 15)) {
          const place = [workspace, kind, id, span, begin, isSelf];
          const name =
            dimension === '' ? ['total', ...place] : ['share', ...place, dimension ?? '', value ?? ''];
          add(sums, [...name, 'unique_viewers'], 1);
        }
      }
    }
  }
}

/** Reads the counted usage events of workspaces whose IDs have this prefix. */
export async function readFacts(sql: Sql, prefix: string): Promise<FactRow[]> {
  const rows = await sql`
    select f.*, encode(viewer, 'hex') as who, f.xid::text as order from usage_event f
    where starts_with(workspace_id, ${prefix}) and xid < (select next_xid from rollup_state)`;
  return rows.map((row) => ({
    xid: BigInt(row.order),
    at: row.created_at.getTime(),
    id: row.id,
    workspace: row.workspace_id,
    kind: row.kind,
    subject: row.subject_id,
    amount: row.amount,
    viewer: row.who,
    shares: {
      country: row.country ?? 'ZZ',
      device: row.device ?? '',
      browser: row.browser ?? '',
      os: row.os ?? '',
      referrer: row.referrer ?? '',
      source: sourceOf(row.referrer),
    },
    isBot: row.is_bot,
    isSelf: row.is_owner,
    session: row.playback_session,
    number: row.sequence_number,
    events: row.player_events ?? [],
    bitrate: row.bitrate_kbps ?? 0,
    key: row.key_id ?? '',
    status: row.status ?? 0,
  }));
}

function sourceOf(referrer: string | null): string {
  if (referrer === null) return 'DIRECT';
  if (referrer === 'google.com') return 'SEARCH';
  return referrer === 'm.facebook.com' ? 'SOCIAL' : 'LINK';
}

const KEYS = new Set([
  'workspace_id',
  'subject_kind',
  'subject_id',
  'dimension',
  'value',
  'interval_min',
  'at',
  'is_owner',
]);

/** Returns the stored rollups of these workspaces. */
async function readSums(sql: Sql, prefix: string): Promise<Sums> {
  const sums: Sums = new Map();
  const of = (table: string) => sql`select * from ${sql(table)} where starts_with(workspace_id, ${prefix})`;
  for (const row of [...(await of('analytics_total')), ...(await of('analytics_breakdown'))]) {
    const place = [
      row.workspace_id,
      row.subject_kind,
      row.subject_id,
      row.interval_min,
      row.at.getTime(),
      row.is_owner,
    ];
    const name =
      row.dimension === undefined ? ['total', ...place] : ['share', ...place, row.dimension, row.value];
    for (const [column, amount] of Object.entries(row))
      if (!KEYS.has(column) && amount !== 0) add(sums, [...name, column], amount);
  }
  for (const { workspace_id, video_id, interval_min, at, is_owner, watch_counts } of await of(
    'analytics_retention',
  ))
    watch_counts.forEach((times: number, second: number) => {
      if (times !== 0)
        add(sums, ['second', workspace_id, video_id, interval_min, at.getTime(), is_owner, second], times);
    });
  for (const { workspace_id, metric, interval_min, at, amount } of await of('usage_total'))
    if (amount !== 0) add(sums, ['usage', workspace_id, metric, interval_min, at.getTime()], amount);
  for (const { workspace_id, key_id, at, ...amounts } of await of('usage_request'))
    for (const [column, amount] of Object.entries(amounts))
      if (amount !== 0) add(sums, ['request', workspace_id, key_id, at.getTime(), column], amount);
  return sums;
}

/** Returns messages for the incorrect rollups of workspaces whose IDs have this prefix. */
export async function findRollupErrors(sql: Sql, prefix: string): Promise<string[]> {
  const [state] = await sql`select compacted_until from rollup_state`;
  const expected = recount(await readFacts(sql, prefix), state?.compacted_until?.getTime() ?? 0);
  return differences(await readSums(sql, prefix), expected);
}

/** Returns messages for the rollups that differ from the expected ones. */
function differences(actual: Sums, expected: Sums): string[] {
  const names = new Set([...actual.keys(), ...expected.keys()]);
  return [...names]
    .filter((name) => actual.get(name) !== expected.get(name))
    .map((name) => `${name}: ${actual.get(name) ?? 0} instead of ${expected.get(name) ?? 0}`);
}
