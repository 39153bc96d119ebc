import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { TestClock } from '../../test/harness/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { otherMade, testCatalogue, thingMade } from '../../test/webhooks/fixture.ts';
import { isUuidV4 } from '../kernel/ids.ts';
import { createLogger } from '../platform/logger.ts';
import { defineEvent } from './catalogue.ts';
import { createEvents, type Events, type EventsOptions, isEvent, on, onAny } from './index.ts';
import { maintainPartitions, preparePartitions } from './partitions.ts';

const clock = new TestClock('2026-11-20T09:00:00.750Z');
const RETENTION = { ANALYTICS_RAW_DAYS: 90 };
let database: TestDatabase;
let published: string[] = [];
const consumed: string[] = [];

before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());
beforeEach(async () => {
  published = [];
  consumed.length = 0;
  await database.sql`delete from event`;
});

const note = onAny(async (_tx, event) => void consumed.push(event.type));

type Options = Partial<Pick<EventsOptions, 'strict' | 'consumers' | 'onRefused' | 'onCommitted'>>;

function events(options: Options = {}) {
  return createEvents({
    db: database.db,
    catalogue: testCatalogue,
    livemode: true,
    clock,
    bus: { publish: (topic, workspaceId) => void published.push(`${topic} ${workspaceId}`) },
    consumers: [note],
    log: createLogger('silent'),
    strict: true,
    ...options,
  });
}

const account = {
  id: 'usr_1',
  email: 'a@example.com',
  password_hash: '',
  name: null,
  username: 'a',
  email_verified_at: null,
  suspended_at: null,
};
const stored = () => database.db.selectFrom('event').selectAll().orderBy('created_at').execute();

describe('appending', () => {
  test('stores the exact body that receivers get', async () => {
    const id = await events().transaction((_tx, append) => append(thingMade, 'wsp_1', { n: 1 }));
    const [row] = await stored();
    assert.ok(isUuidV4(id));
    assert.equal(row?.id, id);
    assert.equal(row?.type, 'thing.made');
    assert.equal(row?.workspace_id, 'wsp_1');
    const body = { id, type: 'thing.made', created: 1795165200, livemode: true, data: { n: 1 } };
    assert.equal(row?.body, JSON.stringify(body));
    assert.equal(row?.created_at.toISOString(), '2026-11-20T09:00:00.750Z');
  });

  test('an event can be appended with a given time', async () => {
    await events().transaction((_tx, append) =>
      append(thingMade, 'wsp_1', { n: 1 }, { at: new Date(1_700_000_000_999) }),
    );
    const [row] = await stored();
    assert.match(row?.body ?? '', /"created":1700000000,/);
  });

  test('wakes the workers once for each transaction with events, after its commit', async () => {
    const seen: number[] = [];
    const appender = events();
    await appender.transaction(async (_tx, append) => {
      await append(thingMade, 'wsp_1', { n: 1 });
      await append(otherMade, 'wsp_1', { n: 1 });
      seen.push(published.length);
    });
    assert.deepEqual(seen, [0]);
    assert.deepEqual(published, ['deliveries wsp_1']);
    assert.deepEqual(consumed, ['thing.made', 'other.made']);
    await appender.transaction(async () => {});
    assert.deepEqual(published, ['deliveries wsp_1']);
  });

  test('each commit is reported with its transaction, and rollbacks are not', async () => {
    const told: unknown[] = [];
    const seen: unknown[] = [];
    const appender = events({ onCommitted: (tx) => void told.push(tx) });
    await appender.transaction(async (tx) => void seen.push(tx, told.length));
    assert.deepEqual([told.length, seen[1]], [1, 0]);
    assert.equal(told[0], seen[0]);
    const undone = appender.transaction(async () => {
      throw new Error('no');
    });
    await assert.rejects(undone, /^Error: no$/);
    assert.equal(told.length, 1);
  });

  test('a consumer may append further events', async () => {
    const follow = on(thingMade, async (_tx, { workspaceId, data }, append) => {
      await append(otherMade, workspaceId, { n: data.n + 1 });
    });
    await events({ consumers: [note, follow] }).transaction((_tx, append) =>
      append(thingMade, 'wsp_1', { n: 1 }),
    );
    assert.deepEqual(consumed, ['thing.made', 'other.made']);
    assert.equal((await stored()).length, 2);
  });

  test('a rollback leaves neither the state, nor the event, nor a wake-up', async () => {
    const work = events().transaction(async (tx, append) => {
      await append(thingMade, 'wsp_1', { n: 1 });
      await tx.insertInto('account').values(account).execute();
      throw new Error('no');
    });
    await assert.rejects(work, /^Error: no$/);
    assert.equal((await stored()).length, 0);
    assert.equal((await database.db.selectFrom('account').selectAll().execute()).length, 0);
    assert.deepEqual(published, []);
  });

  test('a consumer that fails takes the event with it', async () => {
    const failing = on(thingMade, async () => {
      throw new Error('consumer');
    });
    const work = events({ consumers: [failing] }).transaction((_tx, append) =>
      append(thingMade, 'wsp_1', { n: 1 }),
    );
    await assert.rejects(work, /consumer/);
    assert.equal((await stored()).length, 0);
  });

  test('data that its schema refuses throws when strict, else is counted and sent', async () => {
    const appendWrong = (log: Events) =>
      log.transaction((_tx, append) => {
        // @ts-expect-error `n` is a number.
        return append(thingMade, 'wsp_1', { n: 'one' });
      });
    await assert.rejects(appendWrong(events()), /thing\.made.*data\.n/);
    let refused = 0;
    const lenient = events({ strict: false, onRefused: () => refused++ });
    await appendWrong(lenient);
    assert.equal(refused, 1);
    assert.equal((await stored()).length, 1);
  });

  test('a definition missing from the catalog is rejected, strict or not', async () => {
    const { type, ...rest } = thingMade;
    for (const strict of [true, false]) {
      for (const unknown of [defineEvent({ type, ...rest }), defineEvent({ type: 'no.such', ...rest })]) {
        const work = events({ strict }).transaction((_tx, append) => append(unknown, 'wsp_1', { n: 1 }));
        await assert.rejects(work, /not in the catalog/);
      }
    }
    assert.equal((await stored()).length, 0);
  });
});

test('a name or a type that the definition does not have does not compile', async () => {
  const work = events().transaction(async (_tx, append) => {
    await append(thingMade, 'wsp_1', { n: 1 });
    // @ts-expect-error a field of another name
    await append(thingMade, 'wsp_1', { m: 1 }).catch(() => {});
    // @ts-expect-error a field of another type
    await append(thingMade, 'wsp_1', { n: '1' }).catch(() => {});
    // @ts-expect-error one field too many
    await append(thingMade, 'wsp_1', { n: 1, m: 1 });
    // @ts-expect-error one that is missing
    await append(thingMade, 'wsp_1', {}).catch(() => {});
  });
  await work;
  on(thingMade, async (_tx, event) => {
    event.data.n.toFixed();
    // @ts-expect-error a consumer reads only what there is
    event.data.m;
    // @ts-expect-error as what it is
    event.data.n.length;
  });
  onAny(async (_tx, event) => {
    // @ts-expect-error the data of an arbitrary event is unknown
    event.data.n.toFixed();
    if (isEvent(event, otherMade)) event.data.n.toFixed();
  });
  defineEvent({
    ...thingMade,
    // @ts-expect-error the words are written from the data
    notice: { severity: 'INFO', words: ({ m }) => ({ title: m, body: '', resource: { type: '', id: '' } }) },
  });
});

describe('partitions', () => {
  const names = async (table: string, { sql } = database) => {
    const rows = await sql<{ name: string }[]>`
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = ${table}::regclass order by 1`;
    return rows.map((row) => row.name);
  };
  const partitionOf = async (id: string) => {
    const [row] = await database.sql<{ name: string }[]>`
      select tableoid::regclass::text as name from event where id = ${id}`;
    return row?.name;
  };
  const appendAt = (iso: string) =>
    events().transaction((_tx, append) => append(thingMade, 'wsp_1', { n: 1 }, { at: new Date(iso) }));

  test('partitions are created three days ahead, take over rows of the default one, and are dropped after 30 days', async () => {
    clock.set('2026-11-20T23:59:59Z');
    const early = await appendAt('2026-11-20T10:00:00Z');
    const late = await appendAt('2026-12-24T10:00:00Z');
    assert.equal(await partitionOf(early), 'event_default');
    const [first] = await Promise.all([
      maintainPartitions(database.sql, clock, RETENTION),
      maintainPartitions(database.sql, clock, RETENTION),
    ]);
    const days = ['event_20261120', 'event_20261121', 'event_20261122', 'event_20261123'];
    assert.deepEqual(await names('event'), [...days, 'event_default']);
    assert.equal((await names('delivery_log')).length, 5);
    assert.ok(first !== undefined);
    assert.equal(await partitionOf(early), 'event_20261120');
    assert.equal(await partitionOf(late), 'event_default');
    assert.equal(await partitionOf(await appendAt('2026-11-22T00:00:00Z')), 'event_20261122');
    assert.equal(await partitionOf(await appendAt('2026-11-21T23:59:59.999Z')), 'event_20261121');

    clock.set('2026-12-20T00:00:00Z');
    // Other tests cover the retention of other tables.
    const ours = (all: string[]) => all.filter((name) => /^(event|delivery_log)_/.test(name));
    const unchanged = await maintainPartitions(database.sql, clock, RETENTION);
    assert.deepEqual(ours(unchanged.dropped), []);
    clock.set('2026-12-21T00:00:00Z');
    const { made: madeNow, dropped } = await maintainPartitions(database.sql, clock, RETENTION);
    assert.deepEqual(ours(dropped), ['event_20261120', 'delivery_log_20261120']);
    assert.deepEqual(ours(madeNow), ['event_20261224', 'delivery_log_20261224']);
    assert.equal(await partitionOf(early), undefined);
    assert.equal(await partitionOf(late), 'event_20261224');
    assert.deepEqual(await maintainPartitions(database.sql, clock, RETENTION), { made: [], dropped: [] });
  });

  test('the planner statistics assume many types, not only those of the day', async () => {
    clock.set('2026-12-21T00:00:00Z');
    await maintainPartitions(database.sql, clock, RETENTION);
    await appendAt('2026-12-22T10:00:00Z');
    await appendAt('2026-01-01T00:00:00Z');
    await database.sql`analyze event`;
    for (const partition of ['event_20261222', 'event_default']) {
      const [stats] = await database.sql`
        select n_distinct::int as types from pg_stats where tablename = ${partition} and attname = 'type'`;
      assert.deepEqual(stats, { types: 150 }, partition);
    }
  });

  test('old rows of the default partition go too', async () => {
    const id = await appendAt('2026-01-01T00:00:00Z');
    assert.equal(await partitionOf(id), 'event_default');
    await maintainPartitions(database.sql, clock, RETENTION);
    assert.equal(await partitionOf(id), undefined);
  });

  /**
   * Runs `work` on a database with partitions until November 23 whose events are being read, as by a backup.
   */
  async function whileRead(work: (own: TestDatabase) => Promise<void>): Promise<void> {
    const own = await createTestDatabase();
    const [reading, enough] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    try {
      await maintainPartitions(own.sql, new TestClock('2026-11-20T09:00:00Z'), RETENTION);
      const reader = own.sql.begin(async (tx) => {
        await tx`select from event`;
        reading.resolve();
        await enough.promise;
      });
      await reading.promise;
      await work(own).finally(() => {
        enough.resolve();
        return reader;
      });
    } finally {
      await own.close();
    }
  }

  test('that wait for a backup hold up no other table, and a start only where today has none', async () => {
    const [nextDay, fourDaysLater] = [
      new TestClock('2026-11-21T09:00:00Z'),
      new TestClock('2026-11-24T09:00:00Z'),
    ];
    await Promise.all([
      whileRead(async (own) => {
        await assert.rejects(maintainPartitions(own.sql, nextDay, RETENTION), /: event_20261124$/);
        assert.ok(!(await names('event', own)).includes('event_20261124'));
        assert.ok((await names('delivery_log', own)).includes('delivery_log_20261124'));
        assert.ok((await names('usage_event', own)).includes('usage_event_20261124'));
      }),
      whileRead((own) => preparePartitions(own.sql, nextDay, RETENTION)),
      whileRead((own) =>
        assert.rejects(preparePartitions(own.sql, fourDaysLater, RETENTION), /: event_20261124$/),
      ),
    ]);
  });
});
