import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import type { EventDefinition } from '../../../events/catalogue.ts';
import { dateFromMs, systemClock } from '../../../kernel/clock.ts';
import { newUuid } from '../../../kernel/ids.ts';

let app: TestApp;
let key: string;
let workspaceId: string;
const clock = new TestClock(systemClock.ms());

before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());
beforeEach(async () => {
  const made = await app.createKey();
  key = made.key;
  workspaceId = made.account.live;
  // These tests ignore the events that creating the key emits.
  await app.container.sql`delete from event where workspace_id = ${workspaceId}`;
});

const get = (path: string, as = key) => app.request('GET', path, { key: as });
function definitionOf(type: string): EventDefinition {
  const definition = app.container.catalogue.get(type);
  assert.ok(definition !== undefined);
  return definition;
}
const emit = (type = 'stream.ended', workspace = workspaceId, atMs = clock.ms()) => {
  const definition = definitionOf(type);
  return app.container.events.transaction((_tx, append) =>
    append(definition, workspace, definition.sample, { at: dateFromMs(atMs) }),
  );
};
const idsOf = async (path: string) =>
  (await get(path))
    .assertOk(200)
    .list('data')
    .map((item) => Object(item).id);

describe('GET /me/events', () => {
  test('lists the events of the workspace as they were sent, newest first, page by page', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) {
      // Several in one millisecond: then their ids decide.
      if (n % 3 === 0) clock.advance(1000);
      ids.push(await emit());
    }
    await emit('stream.ended', (await app.createAccount()).live);
    const list = (await get('/me/events')).assertOk(200);
    const all = list.list('data').map((item) => Object(item));
    assert.deepEqual(new Set(all.map(({ id }) => id)), new Set(ids));
    assert.deepEqual(Object.keys(all[0]), ['id', 'type', 'created', 'livemode', 'data']);
    const created = all.map((item) => item.created);
    assert.deepEqual(
      created,
      created.toSorted((a, b) => b - a),
    );
    for (const order of ['desc', 'asc']) {
      const seen: string[] = [];
      let cursor = '';
      do {
        const page = (await get(`/me/events?limit=2&order=${order}${cursor}`)).assertOk(200);
        seen.push(...page.list('data').map((item) => Object(item).id));
        const next = page.at('pagination.nextCursor');
        cursor = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
      } while (cursor !== '');
      const expected = all.map(({ id }) => id);
      assert.deepEqual(seen, order === 'desc' ? expected : expected.toReversed());
    }
  });

  test('filters by types, families and times', async () => {
    const start = clock.ms();
    const live = await emit('stream.live', workspaceId, start + 1000);
    const made = await emit('stream.created', workspaceId, start + 2000);
    const failing = await emit('webhook.failing', workspaceId, start + 3000);
    assert.deepEqual(await idsOf('/me/events?type=stream.live'), [live]);
    assert.deepEqual(await idsOf('/me/events?type=stream.*'), [made, live]);
    assert.deepEqual(await idsOf('/me/events?type=webhook.*,stream.created'), [failing, made]);
    for (const all of ['*', '*,stream.*', 'stream.live, *']) {
      const query = `/me/events?type=${encodeURIComponent(all)}&limit=3`;
      assert.deepEqual(await idsOf(query), [failing, made, live], all);
    }
    (await get('/me/events?type=*,nothing.*')).assertError('BAD_REQUEST', 'type');
    const after = encodeURIComponent(new Date(start + 1000).toISOString());
    const before = encodeURIComponent(new Date(start + 3000).toISOString());
    assert.deepEqual(await idsOf(`/me/events?createdAfter=${after}&createdBefore=${before}`), [made]);
    (await get('/me/events?type=purchase.completed')).assertError('BAD_REQUEST', 'type');
    const { nextCursor } = Object((await get('/me/events?limit=1')).at('pagination'));
    (await get(`/me/events?limit=1&type=stream.live&cursor=${nextCursor}`)).assertError(
      'BAD_REQUEST',
      'cursor',
    );
  });

  test('one by its id; a foreign or missing one is 404', async () => {
    const id = await emit('stream.live');
    const event = (await get(`/me/events/${id}`)).assertOk(200);
    const { body } = await app.container.db
      .selectFrom('event')
      .select('body')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    assert.deepEqual(event.at('data'), JSON.parse(body));
    const foreign = await app.createKey();
    for (const [path, as] of [
      [id, foreign.key],
      [newUuid(), key],
      ['nonsense', key],
      [`${id}'`, key],
    ] as const) {
      (await get(`/me/events/${encodeURIComponent(path)}`, as)).assertError('NOT_FOUND');
    }
  });
});

/** Opens a tail and collects its messages. */
async function openTail(options: { as?: string; query?: string; after?: string; path?: string } = {}) {
  const controller = new AbortController();
  const response = await fetch(
    `${app.url}/api/v1/me/events/${options.path ?? 'tail'}${options.query ?? ''}`,
    {
      headers: {
        'x-api-key': options.as ?? key,
        ...(options.after === undefined ? {} : { 'last-event-id': options.after }),
      },
      signal: controller.signal,
    },
  );
  const messages: EventSourceMessage[] = [];
  const reading = (async () => {
    if (response.body === null) return;
    const events = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream());
    for await (const message of events) messages.push(message);
  })().catch(() => {});
  const events = () => messages.filter(({ event }) => event === 'event');
  return {
    response,
    messages,
    events,
    ids: () => events().map(({ data }) => JSON.parse(data).id),
    waitFor: (count: number) =>
      waitFor(() => events().length >= count && events(), { message: () => `${count} events in the tail` }),
    ended: reading,
    async close() {
      controller.abort();
      await reading;
    },
  };
}
type OpenTail = Awaited<ReturnType<typeof openTail>>;
const ready = (tail: OpenTail) => waitFor(() => tail.messages.some(({ event }) => event === 'ready'));

describe('GET /me/events/tail', () => {
  test('the tail shows events as they are appended, in order, byte for byte', async () => {
    const tail = await openTail();
    assert.equal(tail.response.status, 200);
    assert.equal(tail.response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(tail.response.headers.get('cache-control'), 'no-store');
    assert.ok(tail.response.headers.has('x-ratelimit-remaining'));
    await ready(tail);
    const first = JSON.parse(tail.messages[0]?.data ?? '');
    assert.deepEqual([first.tail, first.resumed, first.lifetimeSec], ['events', false, 3600]);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await emit());
    const both = await app.container.events.transaction(async (_tx, append) => {
      const live = definitionOf('stream.live');
      const one = await append(live, workspaceId, live.sample);
      return [one, await append(live, workspaceId, live.sample)];
    });
    await emit('stream.ended', (await app.createAccount()).live);
    const events = await tail.waitFor(7);
    assert.deepEqual(tail.ids(), [...ids, ...both]);
    const stored = await app.container.db
      .selectFrom('event')
      .select('body')
      .where('id', '=', String(both[1]))
      .executeTakeFirstOrThrow();
    assert.equal(events[6]?.data, stored.body);
    await tail.close();
  });

  test('the tail is available at its former path too', async () => {
    const tails = [await openTail(), await openTail({ path: 'stream' })];
    await Promise.all(tails.map(ready));
    const id = await emit();
    for (const tail of tails) {
      await tail.waitFor(1);
      assert.deepEqual(tail.ids(), [id]);
    }
    assert.deepEqual(tails[0]?.events(), tails[1]?.events());
    await Promise.all(tails.map((tail) => tail.close()));
  });

  test('resumes behind Last-Event-ID with exactly the gap, in the header or the query', async () => {
    const tail = await openTail();
    await ready(tail);
    await emit();
    const [seen] = await tail.waitFor(1);
    await tail.close();
    const missed = [await emit(), await emit(), await emit()];
    const resumed = await openTail({ after: seen?.id ?? '' });
    await resumed.waitFor(3);
    const fresh = await emit();
    await resumed.waitFor(4);
    assert.deepEqual(resumed.ids(), [...missed, fresh]);
    assert.equal(JSON.parse(resumed.messages[0]?.data ?? '').resumed, true);
    await resumed.close();
    const byQuery = await openTail({ query: `?lastEventId=${seen?.id}&type=stream.ended` });
    await byQuery.waitFor(4);
    await byQuery.close();
  });

  test('an event that commits late is not passed over, and none is shown twice', async () => {
    const tail = await openTail();
    await ready(tail);
    const gate = Promise.withResolvers<void>();
    const live = definitionOf('stream.live');
    const appended = Promise.withResolvers<void>();
    const slow = app.container.events.transaction(async (_tx, append) => {
      const id = await append(live, workspaceId, live.sample);
      appended.resolve();
      await gate.promise;
      return id;
    });
    await appended.promise;
    const quick = await emit();
    const [seen] = await tail.waitFor(1);
    assert.deepEqual(tail.ids(), [quick]);
    gate.resolve();
    const late = await slow;
    await tail.waitFor(2);
    assert.deepEqual(tail.ids(), [quick, late]);
    await tail.close();
    const resumed = await openTail({ after: seen?.id ?? '' });
    await resumed.waitFor(1);
    const next = await emit();
    await resumed.waitFor(2);
    assert.deepEqual(resumed.ids(), [late, next]);
    await resumed.close();
  });

  test('changes of one resource are shown in the order in which they were made', async () => {
    const { id } = Object(
      (await app.request('POST', '/streams', { key, body: { title: 'T' } })).assertOk(201).at('data'),
    );
    const tail = await openTail({ query: '?type=stream.updated' });
    await ready(tail);
    for (let round = 0; round < 5; round++) {
      const titles = Array.from({ length: 8 }, (_, n) => `T${round}.${n}`);
      await Promise.all(
        titles.map((title) => app.request('PATCH', `/streams/${id}`, { key, body: { title } })),
      );
    }
    const events = await tail.waitFor(40);
    const numbers = events.map(({ data }) => JSON.parse(data).data.sequence);
    assert.deepEqual(
      numbers,
      Array.from({ length: 40 }, (_, n) => n + 2),
    );
    await tail.close();
    // Whatever place it resumes from, the rest is complete and in the same order.
    for (const at of [0, 7, 20, 38]) {
      const resumed = await openTail({ query: '?type=stream.updated', after: events[at]?.id ?? '' });
      const rest = await resumed.waitFor(39 - at);
      assert.deepEqual(
        rest.map(({ data }) => data),
        events.slice(at + 1).map(({ data }) => data),
      );
      await resumed.close();
    }
  });

  test('an unknown or expired position is reported, and the tail continues from now', async () => {
    for (const [after, reason] of [
      ['x', 'UNKNOWN_ID'],
      [`${clock.ms()}-1-9:5:-9:9:`, 'UNKNOWN_ID'],
      [`${clock.ms()}-1-1:2:,,-9:9:`, 'UNKNOWN_ID'],
      [`${clock.ms() - 31 * 86_400_000}-7-5:5:-6:6:`, 'EXPIRED'],
    ] as const) {
      const tail = await openTail({ after });
      const resync = await waitFor(() => tail.messages.find(({ event }) => event === 'resync'));
      assert.equal(JSON.parse(resync.data).reason, reason);
      const id = await emit();
      await tail.waitFor(1);
      assert.deepEqual(tail.ids(), [id]);
      await tail.close();
    }
  });

  test('shows the wanted types only, and triggered samples, which leave no trace', async () => {
    const tail = await openTail({ query: '?type=stream.*' });
    await ready(tail);
    const body = { type: 'stream.live', payload: { status: 'ACTIVE' } };
    const answer = (await app.request('POST', '/me/events/trigger', { key, body })).assertOk(202);
    await app.request('POST', '/me/events/trigger', { key, body: { type: 'webhook.failing' } });
    const [sample] = await tail.waitFor(1);
    assert.deepEqual(JSON.parse(sample?.data ?? ''), answer.at('data'));
    assert.equal(answer.at('data.data.status'), 'ACTIVE');
    await emit('webhook.failing');
    const kept = await emit('stream.created');
    await tail.waitFor(2);
    assert.deepEqual(tail.ids(), [answer.at('data.id'), kept]);
    (await get(`/me/events/${answer.string('data.id')}`)).assertError('NOT_FOUND');
    await tail.close();
    const trigger = (input: unknown) => app.request('POST', '/me/events/trigger', { key, body: input });
    (await trigger({ type: 'purchase.completed' })).assertError('UNKNOWN_EVENT', 'type');
    (await trigger({ type: 'stream.live', payload: [] })).assertError('BAD_REQUEST', 'payload');
    (await trigger({ type: 'stream.live', payload: { x: 'y'.repeat(8000) } })).assertError(
      'BAD_REQUEST',
      'payload',
    );
    (await get('/me/events/tail?type=nothing.*')).assertError('BAD_REQUEST', 'type');
  });

  test('a key has 25 tails; one more is SSE_PER_KEY_CAP until one ends', async () => {
    const tails = await Promise.all(Array.from({ length: 25 }, () => openTail()));
    for (const tail of tails) assert.equal(tail.response.status, 200);
    for (const path of ['/me/events/tail', '/me/events/stream']) {
      const refused = await get(path);
      refused.assertError('SSE_PER_KEY_CAP');
      assert.match(refused.string('error.message'), /API key has reached its limit of 25/);
    }
    const other = await app.createKey();
    const foreign = await openTail({ as: other.key });
    assert.equal(foreign.response.status, 200);
    await tails.pop()?.close();
    const again = await waitFor(async () => {
      const tail = await openTail();
      if (tail.response.status === 200) return tail;
      await tail.close();
      return null;
    });
    await Promise.all([...tails, foreign, again].map((tail) => tail.close()));
  });

  test('needs a key, and answers HEAD without a body', async () => {
    (await app.request('GET', '/me/events/tail')).assertError('UNAUTHORIZED');
    const head = await fetch(`${app.url}/api/v1/me/events/tail`, {
      method: 'HEAD',
      headers: { 'x-api-key': key },
    });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), '');
  });
});

test('a draining server sends a final message and ends its tails', async () => {
  const own = await startTestApp();
  const made = await own.createKey();
  const response = await fetch(`${own.url}/api/v1/me/events/stream`, { headers: { 'x-api-key': made.key } });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  await waitFor(async () => {
    text += (await reader?.read())?.value ?? '';
    return text.includes('event: ready');
  });
  const closing = own.close();
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    text += part.value;
  }
  assert.match(text, /event: bye\ndata: \{"reason":"SHUTDOWN","reconnect":true\}/);
  await closing;
});
