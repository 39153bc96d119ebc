import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { maintainPartitions } from '../../../events/partitions.ts';
import { createUsageEvents } from './service.ts';

const clock = new TestClock('2026-11-20T09:00:00.750Z');
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ pool: 4 });
});
after(() => database.close());

function open() {
  const state = { dropped: 0 };
  const facts = createUsageEvents({
    db: database.db,
    clock,
    log: { warn() {} },
    onRowsDropped(count) {
      state.dropped += count;
    },
  });
  return { facts, state };
}

const rowsOf = (workspaceId: string) =>
  database.sql`select * from usage_event where workspace_id = ${workspaceId} order by id`;

test('usage events of a change commit and roll back with it', async () => {
  const { facts } = open();
  const change = (workspaceId: string, isRefused: boolean) =>
    database.db.transaction().execute(async (tx) => {
      await facts.append(tx, [
        { kind: 'EGRESS', workspaceId, amount: 2 ** 40 },
        { kind: 'VIEW', workspaceId },
      ]);
      if (isRefused) throw new Error('refused');
    });
  await change('wsp_kept', false);
  await assert.rejects(change('wsp_refused', true), /refused/);
  assert.deepEqual(
    (await rowsOf('wsp_kept')).map(({ kind, amount, created_at }) => ({ kind, amount, created_at })),
    [
      { kind: 'EGRESS', amount: 2 ** 40, created_at: clock.now() },
      { kind: 'VIEW', amount: 1, created_at: clock.now() },
    ],
  );
  assert.equal((await rowsOf('wsp_refused')).length, 0);
});

test('batched usage events are stored completely, and a rejected one does not affect others', async () => {
  const { facts, state } = open();
  const workspaceId = 'wsp_noted';
  const viewer = {
    ...{
      hash: 'a0ff',
      country: 'DE',
      device: 'MOBILE',
      browser: 'Firefox',
      os: null,
      referrer: 'example.com',
    },
    ...{ isBot: false, isSelf: true },
  };
  const playerEvents = [{ type: 'PLAY' as const, positionSec: 1.5, at: 12 }];
  facts.record({
    ...{
      kind: 'BEACON',
      workspaceId,
      subjectId: 'vid_1',
      viewer,
      playbackSession: 'one',
      number: 3,
      playerEvents,
    },
    at: new Date('2026-11-20T08:00:00.001Z'),
  });
  for (let n = 0; n < 30; n++)
    facts.record({ kind: 'CHAT', workspaceId, subjectId: n === 17 ? '\0' : 'str_1' });
  facts.record({ kind: 'REQUEST', workspaceId, amount: 7, keyId: 'key_1', status: 404 });
  await facts.close();
  const rows = await rowsOf(workspaceId);
  assert.deepEqual([rows.length, state.dropped], [31, 1]);
  const {
    created_at,
    viewer: hash,
    device,
    is_owner,
    playback_session,
    sequence_number,
    player_events,
  } = rows[0] ?? {};
  assert.deepEqual(
    [created_at, hash, device, is_owner, playback_session, sequence_number, player_events],
    [new Date('2026-11-20T08:00:00.001Z'), Buffer.from([0xa0, 0xff]), 'MOBILE', true, 'one', 3, playerEvents],
  );
  assert.deepEqual(rows.at(-1), { ...rows.at(-1), kind: 'REQUEST', amount: 7, key_id: 'key_1', status: 404 });
});

test('days are partitions that are retained for the configured time', async () => {
  const { facts } = open();
  facts.record({ kind: 'CHAT', workspaceId: 'wsp_old', at: new Date('2026-11-20T10:00:00Z') });
  await facts.close();
  const maintain = () => maintainPartitions(database.sql, clock, { ANALYTICS_RAW_DAYS: 2 });
  const { made } = await maintain();
  assert.ok(made.includes('usage_event_20261120'));
  clock.set('2026-11-22T23:59:59Z');
  await maintain();
  assert.equal((await rowsOf('wsp_old')).length, 1);
  clock.set('2026-11-23T00:00:00Z');
  // The events are not counted yet.
  assert.deepEqual((await maintain()).dropped, []);
  await database.sql`
    insert into rollup_state (next_xid, fresh_until) select pg_snapshot_xmax(pg_current_snapshot()), now()`;
  assert.ok((await maintain()).dropped.includes('usage_event_20261120'));
  assert.equal((await rowsOf('wsp_old')).length, 0);
});
