import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';

const clock = new TestClock(Date.UTC(2027, 0, 3, 12));
const handlers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
let app: TestApp;
let server: Server;
let origin = '';
before(async () => {
  app = await startTestApp({ clock, env: { FETCH_ALLOW_PRIVATE: '127.0.0.0/8' } });
  server = createServer((request, response) => {
    const handler = handlers.get(request.url ?? '');
    if (handler === undefined) response.writeHead(404).end();
    else handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  origin = `http://127.0.0.1:${address.port}`;
});
after(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await app.close();
});

const file = (...days: string[]) =>
  [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:x'],
    ...days.flatMap((day, i) => [
      ...[
        'BEGIN:VEVENT',
        `UID:${i}`,
        `DTSTART;TZID=Europe/Berlin:${day}T100000`,
        'DURATION:PT1H',
        'END:VEVENT',
      ],
    ]),
    ...['END:VCALENDAR', ''],
  ].join('\r\n');

async function creator() {
  const { key } = await app.createKey();
  const hours = { weeklyJson: { mon: [{ start: '09:00', end: '12:00' }] }, timezone: 'Europe/Berlin' };
  (await app.request('PUT', '/booking/availability', { key, body: hours })).assertOk(200);
  const product = { title: 'Coaching', type: 'ONE_TO_ONE', priceCents: 0 };
  const made = await app.request('POST', '/booking/products', { key, body: product });
  const productId = made.assertOk(201).string('data.id');
  const add = async (path: string) =>
    (await app.request('POST', '/booking/calendars', { key, body: { url: origin + path, name: 'Mine' } }))
      .assertOk(201)
      .string('data.id');
  const get = async (id: string) => {
    const answer = (await app.request('GET', `/booking/calendars/${id}`, { key })).assertOk(200);
    return Object(answer.at('data'));
  };
  const times = async () => {
    const path = `/booking/products/${productId}/slots?from=2027-01-04&to=2027-01-04`;
    const slots = (await app.request('GET', path, { key })).assertOk(200).list('data.slots');
    return slots.map((slot) => String(Object(slot).localStart).slice(11));
  };
  return { key, add, get, times };
}

const read = () => runTask(app.container, 'external calendars');

test('events of an external calendar block slots until it is removed', async () => {
  const { key, add, get, times } = await creator();
  handlers.set('/a.ics', (_, response) => response.end(file('20270104')));
  const id = await add('/a.ics');
  const { status, lastError, readAt, host, name, mode } = await get(id);
  assert.deepEqual(
    [status, lastError, readAt, host, name, mode],
    ['PENDING', null, null, '127.0.0.1', 'Mine', 'live'],
  );
  await read();
  assert.deepEqual([(await get(id)).status, (await get(id)).eventCount], ['OK', 1]);
  assert.deepEqual(await times(), ['09:00', '11:00']);
  const listed = (await app.request('GET', '/booking/calendars', { key })).assertOk(200);
  assert.equal(listed.string('data.0.id'), id);
  (await app.request('DELETE', `/booking/calendars/${id}`, { key })).assertOk(200);
  assert.deepEqual(await times(), ['09:00', '10:00', '11:00']);
  (await app.request('GET', `/booking/calendars/${id}`, { key })).assertError('NOT_FOUND');
});

test('a calendar is read again after 15 minutes, and downloaded again when it has changed or after a day', async () => {
  const { add, times } = await creator();
  const asked: (string | undefined)[] = [];
  let [day, tag] = ['20270104', '"1"'];
  handlers.set('/b.ics', (request, response) => {
    asked.push(request.headers['if-none-match']);
    const isKnown = request.headers['if-none-match'] === tag;
    response.writeHead(isKnown ? 304 : 200, { etag: tag });
    response.end(isKnown ? undefined : file(day));
  });
  await add('/b.ics');
  await read();
  await read();
  assert.deepEqual(asked, [undefined]);
  clock.advance(15 * MINUTE_MS);
  await read();
  assert.deepEqual(asked.splice(0), [undefined, '"1"']);
  assert.deepEqual(await times(), ['09:00', '11:00']);
  [day, tag] = ['20270111', '"2"'];
  clock.advance(15 * MINUTE_MS);
  await read();
  assert.deepEqual(await times(), ['09:00', '10:00', '11:00']);
  const before = clock.ms();
  clock.advance(DAY_MS);
  await read();
  assert.deepEqual(asked, ['"1"', undefined]);
  clock.set(before);
});

test('a failing calendar reports the error, backs off, and keeps its intervals', async () => {
  const { add, get, times } = await creator();
  handlers.set('/c.ics', (_, response) => response.end(file('20270104')));
  const id = await add('/c.ics');
  await read();
  handlers.set('/c.ics', (_, response) => response.writeHead(500).end());
  const waits: number[] = [];
  for (const _ of [1, 2, 3]) {
    clock.set(Date.parse((await get(id)).nextReadAt));
    await read();
    waits.push((Date.parse((await get(id)).nextReadAt) - clock.ms()) / MINUTE_MS);
  }
  assert.deepEqual(waits, [15, 30, 60]);
  const { status, lastError } = await get(id);
  assert.deepEqual([status, lastError], ['FAILED', 'The server returned status 500 instead of a calendar.']);
  clock.set(Date.UTC(2027, 0, 3, 12));
  assert.deepEqual(await times(), ['09:00', '11:00']);
});

test('a partly understood calendar has status OK and lists the problems in lastError', async () => {
  const { add, get, times } = await creator();
  const unknown = file('20270104').replace('Europe/Berlin', 'Foo Standard Time');
  handlers.set('/f.ics', (request, response) => {
    response.writeHead(request.headers['if-none-match'] === '"f"' ? 304 : 200, { etag: '"f"' });
    response.end(request.headers['if-none-match'] === '"f"' ? undefined : unknown);
  });
  const id = await add('/f.ics');
  const expected = ['OK', 'Unknown time zones, interpreted as Europe/Berlin: "Foo Standard Time".'];
  const before = clock.ms();
  for (const _ of [1, 2]) {
    await read();
    const { status, lastError } = await get(id);
    assert.deepEqual([status, lastError], expected);
    clock.advance(15 * MINUTE_MS);
  }
  assert.deepEqual(await times(), ['09:00', '11:00']);
  clock.set(before);
});

test('workspaces take turns with one calendar at a time despite slow ones', async () => {
  const waiting: ServerResponse[] = [];
  const answer = () => waiting.shift()?.end(file());
  let quick = 0;
  handlers.set('/wait.ics', (_, response) => waiting.push(response));
  handlers.set('/quick.ics', (_, response) => {
    quick += 1;
    response.end(file());
  });
  const before = clock.ms();
  for (const path of ['/wait.ics', '/wait.ics', '/wait.ics', '/wait.ics', '/quick.ics']) {
    const { add } = await creator();
    for (const _ of [1, 2]) {
      await add(path);
      clock.advance(1000);
    }
  }
  const round = read();
  await waitFor(() => waiting.length === 4);
  assert.equal(quick, 0, 'all readers are busy, with a calendar of each');
  answer();
  await waitFor(() => quick === 1);
  await waitFor(() => waiting.length === 4);
  for (let left = 7; left > 0; left--) {
    await waitFor(() => waiting.length > 0);
    answer();
  }
  await round;
  assert.equal(quick, 2);
  clock.set(before);
});

test('a calendar that reads slowly is read less often', async (t) => {
  const { add, get } = await creator();
  let passedMs = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + passedMs);
  handlers.set('/slow.ics', (_, response) => {
    passedMs += 10_000;
    response.end(file('20270104'));
  });
  const id = await add('/slow.ics');
  await read();
  const { status, nextReadAt } = await get(id);
  assert.equal(status, 'OK');
  const waits = (Date.parse(nextReadAt) - clock.ms()) / MINUTE_MS;
  assert.ok(waits >= 30 && waits < 45, `${waits} minutes`);
});

test('redirects are checked, and oversized or invalid files are rejected', async () => {
  const { add, get } = await creator();
  handlers.set('/to', (_, response) => response.writeHead(302, { location: '/d.ics' }).end());
  handlers.set('/d.ics', (_, response) => response.end(file('20270104')));
  handlers.set('/inside', (_, response) =>
    response.writeHead(302, { location: 'http://10.0.0.1/x.ics' }).end(),
  );
  handlers.set('/page', (_, response) => response.end('<html>'));
  handlers.set('/long', (_, response) => response.end(Buffer.alloc(6_000_000, 'x')));
  const reasons: [path: string, reason: RegExp][] = [
    ['/inside', /cannot be used: private address/],
    ['/page', /not an iCalendar file/],
    ['/long', /larger than 5 MB/],
    ['/gone', /returned status 404/],
  ];
  const ids: string[] = [];
  for (const [path] of reasons) ids.push(await add(path));
  const good = await add('/to');
  await read();
  for (const [i, [path, reason]] of reasons.entries()) {
    assert.match(String((await get(ids[i] ?? '')).lastError), reason, path);
  }
  assert.equal((await get(good)).status, 'OK');
});

test('private URLs, and more than ten calendars, are rejected', async () => {
  const { key, add } = await creator();
  const post = (body: object) => app.request('POST', '/booking/calendars', { key, body });
  for (const url of [
    'ftp://example.com/a',
    'nowhere',
    'http://10.0.0.1/a.ics',
    'https://u:p@example.com/a',
    '',
  ]) {
    (await post({ url })).assertError('BAD_REQUEST', 'url');
  }
  (await post({})).assertError('BAD_REQUEST', 'url');
  (await post({ url: 'webcal://calendar.example.com/a.ics' })).assertOk(201);
  for (let i = 1; i < 10; i++) await add('/d.ics');
  (await post({ url: `${origin}/d.ics` })).assertError('CONFLICT');
});
