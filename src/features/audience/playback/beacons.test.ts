import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { insertReadyVideo } from '../../../../test/harness/videos.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { createChat } from '../../../../test/streams/chat.ts';
import { createEncoderStream } from '../../../../test/streams/encoder-stream.ts';
import { createPlaybackSessions } from './playback-sessions.ts';

const DESK = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1';
/** IP address used by no other client in these tests. */
const ADDRESS = '198.51.100.77';
const DAY_MS = 86_400_000;
const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let account: TestAccount;
let key: string;
before(async () => {
  app = await startTestApp({ clock, env: { TRUST_PROXY: '1', COUNTRY_HEADER: 'X-Country' } });
  ({ key, account } = await app.createKey());
});
after(() => app.close());

const from = (more: Record<string, string> = {}) => ({
  ...{ 'x-forwarded-for': ADDRESS, 'user-agent': DESK, 'x-country': 'NZ' },
  ...more,
});
const ready = (columns: object = {}) => insertReadyVideo(app.container.db, account.live, columns);

interface FactRow {
  kind: string;
  amount: number;
  sequence_number: number | null;
  playback_session: string | null;
  country: string | null;
  device: string | null;
  browser: string | null;
  os: string | null;
  referrer: string | null;
  is_bot: boolean;
  is_owner: boolean;
  viewer: Uint8Array | null;
  player_events: { type: string; positionSec: number; at: number; quality?: number }[] | null;
}

const factsOf = (subjectId: string, kind: string) => app.container.sql<FactRow[]>`
  select * from usage_event where subject_id = ${subjectId} and kind = ${kind} order by sequence_number, id`;
const numbersOf = async (subjectId: string) =>
  (await factsOf(subjectId, 'BEACON')).map((row) => row.sequence_number);

/** Returns the session token that the page passes to its player. */
async function sessionOf(id: string, headers: Record<string, string> = {}, query = '', method = 'GET') {
  const answer = await fetch(`${app.url}/watch/${id}${query}`, { headers: from(headers), method });
  return / session="([^"]*)"/.exec(await answer.text())?.[1] ?? '';
}

const event = (more: object = {}) => ({ type: 'TICK', positionSec: 5, at: clock.ms(), ...more });

async function send(body: unknown, headers: Record<string, string> = {}, on = app) {
  const answer = await fetch(`${on.url}/playback/beacon`, {
    method: 'POST',
    headers: from({ 'content-type': 'text/plain', ...headers }),
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 204);
  assert.equal(await answer.text(), '');
}

/** Sends a final valid beacon; earlier ones have been written by then. */
async function afterwards(id: string, session: string, n: number) {
  await send({ session, n, events: [event()] });
  await waitFor(async () => (await numbersOf(id)).includes(n));
  return numbersOf(id);
}

test('a beacon of a video is recorded as a usage event with viewer, origin and events', async () => {
  const id = await ready();
  const session = await sessionOf(id, { referer: 'https://www.blog.example/post?secret=1' });
  const at = clock.now();
  const events = [
    event({ type: 'PLAY', positionSec: 0, at: at.toISOString(), quality: 720 }),
    event({ type: 'TICK', positionSec: 1.5, at: at.getTime() + 1500 }),
  ];
  await send({ session, n: 0, sentAt: at.getTime() + 1600, events });
  await waitFor(async () => (await factsOf(id, 'BEACON')).length === 1);
  const [fact] = await factsOf(id, 'BEACON');
  assert.deepEqual(fact?.player_events, [
    { type: 'PLAY', positionSec: 0, at: at.getTime(), quality: 720 },
    { type: 'TICK', positionSec: 1.5, at: at.getTime() + 1500 },
  ]);
  assert.ok(session.includes(`.${fact?.playback_session}.`));
  const who = (row: FactRow | undefined) =>
    [row?.country, row?.device, row?.browser, row?.os, row?.referrer, row?.is_bot, row?.is_owner].join();
  assert.equal(who(fact), 'NZ,DESKTOP,Firefox,Linux,blog.example,false,false');
  const [shown, ...more] = await factsOf(id, 'IMPRESSION');
  assert.equal(who(shown), who(fact));
  assert.deepEqual(more, []);
  const view = { sessionId: 'one', positionSec: 20, referrer: 'https://www.blog.example/' };
  const seen = () => app.request('POST', `/videos/${id}/views`, { body: view, headers: from() });
  assert.equal((await seen()).assertOk(200).at('data.counted'), true);
  assert.equal((await seen()).assertOk(200).at('data.counted'), false);
  const views = await factsOf(id, 'VIEW');
  assert.equal(views.length, 1, 'as many as are counted');
  assert.equal(who(views[0]), who(fact));
  const hash = (row: FactRow | undefined) => Buffer.from(row?.viewer ?? []).toString('hex');
  assert.match(hash(fact), /^[0-9a-f]{24}$/);
  assert.deepEqual([hash(views[0]), hash(shown)], [hash(fact), hash(fact)], 'one viewer');
});

test('forged, replayed, foreign, expired, late, future and out-of-range beacons are ignored', async () => {
  const [id, other] = [await ready(), await ready()];
  const [session, foreign] = [await sessionOf(id), await sessionOf(other)];
  const good = { session, n: 1, events: [event()] };
  const sessions = createPlaybackSessions({ secrets: app.container.secrets, clock });
  const gone = sessions.mint(
    { id: 'vid_01jexample0000000000000000', grant: null, referrer: null, isSelf: false },
    '',
  );
  const bad: object[] = [
    { ...good, session: session.replace(id, other) },
    { ...good, session: session.replace('.v.', '.s.') },
    { ...good, session: session.slice(0, -43) + foreign.slice(-43) },
    { ...good, session: `${session}x` },
    { ...good, session: gone },
    { ...good, session: 'x'.repeat(5000) },
    { ...good, n: 2_147_483_648 },
    { ...good, n: 1.5 },
    { ...good, events: [event({ at: clock.ms() + 120_000 })] },
    { ...good, events: [event({ at: clock.ms() - 300_001 })] },
    { ...good, events: [event({ at: clock.ms() - 43_200_000 })] },
    { ...good, events: [event({ at: 'yesterday' })] },
    { ...good, events: [event({ at: 1e300 })] },
    { ...good, events: [event({ positionSec: 43_200 })] },
    { ...good, events: [event({ positionSec: 62.5 })] },
    { ...good, events: [event({ positionSec: -1 })] },
    { ...good, events: [event({ quality: 0 })] },
    { ...good, sentAt: clock.ms() - 2000 },
    { ...good, sentAt: clock.ms() + 300_001 },
    { ...good, events: Array.from({ length: 101 }, () => event()) },
    { ...good, filler: 'x'.repeat(20_000) },
  ];
  for (const body of bad) await send(body);
  assert.deepEqual(await afterwards(id, session, 7), [7]);
  assert.deepEqual(await numbersOf(other), []);
  // A clock that is wrong by hours is corrected by the send time.
  const hours = 10 * 3_600_000;
  await send({
    session,
    n: 8,
    sentAt: clock.ms() - hours,
    events: [event({ at: clock.ms() - hours - 1000 })],
  });
  // Only the valid events of a beacon are recorded.
  await send({ session, n: 9, events: [event({ positionSec: 999 }), event({ positionSec: 61 })] });
  assert.deepEqual(await afterwards(id, session, 10), [7, 8, 9, 10]);
  assert.deepEqual(
    (await factsOf(id, 'BEACON'))[2]?.player_events?.map(({ positionSec }) => positionSec),
    [60],
  );
  clock.advance(3 * DAY_MS);
  await send({ session, n: 7, events: [event()] });
  assert.deepEqual(
    await afterwards(id, session, 11),
    [7, 8, 9, 10, 11],
    'one of days ago is no other one now',
  );
  clock.advance(4 * DAY_MS);
  await send({ ...good, n: 12, events: [event()] });
  assert.deepEqual(await afterwards(other, await sessionOf(other), 1), [1]);
  assert.deepEqual(await numbersOf(id), [7, 8, 9, 10, 11], 'a session ends after a week');
});

test('beacons count while the video is open, at most sixty per minute and session', async () => {
  const id = await ready();
  const session = await sessionOf(id);
  await Promise.all(Array.from({ length: 70 }, (_, n) => send({ session, n, events: [event()] })));
  await waitFor(async () => (await numbersOf(id)).length >= 60);
  const again = await sessionOf(id);
  const path = `/videos/${id}`;
  (await app.request('PATCH', path, { key, body: { visibility: 'PRIVATE' } })).assertOk(200);
  await send({ session: again, n: 100, events: [event()] });
  const { beacon } = Object(
    (await app.request('POST', `${path}/playback-tokens`, { key, body: {} })).at('data'),
  );
  assert.equal(beacon.url, 'http://marquee.test/playback/beacon');
  const numbers = await afterwards(id, beacon.session, 101);
  assert.deepEqual(numbers.slice(60), [101], 'a player of a partner, by its token');
});

describe('visitors excluded from the audience', () => {
  test('a bot is marked, and bots, prefetches and HEAD requests record no impression', async () => {
    const id = await ready();
    const session = await sessionOf(id, { 'user-agent': 'Googlebot/2.1' });
    await sessionOf(id, { 'sec-purpose': 'prefetch;prerender' });
    await sessionOf(id, {}, '', 'HEAD');
    await send({ session, n: 0, events: [event()] }, { 'user-agent': 'curl/8' });
    await waitFor(async () => (await numbersOf(id)).length === 1);
    const [{ is_bot, device } = {}] = await factsOf(id, 'BEACON');
    assert.deepEqual([is_bot, device], [true, 'BOT']);
    assert.equal((await factsOf(id, 'IMPRESSION')).length, 0);
  });

  test("the owner's page is marked as own, and the page of another account's session is not", async () => {
    const id = await ready();
    const cookieOf = async ({ id: accountId }: TestAccount) => {
      const [row] = await app.container.sql`select token_epoch from account where id = ${accountId}`;
      const place = { ip: '203.0.113.1', userAgent: DESK };
      const owner = { id: accountId, token_epoch: Number(row?.token_epoch) };
      return `session=${(await app.container.auth.sessions.start(owner, place, async () => {})).token}`;
    };
    const cookies = [await cookieOf(account), await cookieOf((await app.createKey()).account)];
    for (const [index, cookie] of cookies.entries()) {
      const address = { 'x-forwarded-for': '203.0.113.1' };
      const session = await sessionOf(id, { cookie, ...address });
      await send({ session, n: index, events: [event()] }, address);
      const view = { sessionId: `s${index}`, positionSec: 20 };
      await app.request('POST', `/videos/${id}/views`, { body: view, headers: from({ cookie, ...address }) });
    }
    await waitFor(async () => (await numbersOf(id)).length === 2);
    for (const kind of ['BEACON', 'VIEW', 'IMPRESSION']) {
      const selves = (await factsOf(id, kind)).map(({ is_owner }) => is_owner);
      assert.deepEqual(selves.toSorted(), [false, true], kind);
    }
  });
});

test('beacons of a broadcast are recorded while it is live, and until its viewers have seen the rest', async () => {
  const stream = await createEncoderStream(app, key, {});
  const ended = await stream.connect();
  await stream.act('start');
  const session = await sessionOf(stream.id);
  await send({ session, n: 0, events: [event({ type: 'PLAY', positionSec: 100_000 })] });
  await send({ session, n: 1, isPresence: false, events: [event({ type: 'PAUSE' })] });
  await waitFor(async () => (await numbersOf(stream.id)).length === 2);
  await app.container.viewers.flush();
  assert.equal(await stream.read('viewerCount'), 1, 'one that is counted by its playlists has not left');
  await stream.end(ended, 'unpublish');
  await stream.act('stop');
  clock.advance(1000);
  const late = await sessionOf(stream.id);
  clock.advance(17_000);
  await send({ session: late, n: 0, events: [event({ type: 'PLAY' })] });
  await send({ session, n: 2, events: [event({ type: 'END' })] });
  await waitFor(async () => (await numbersOf(stream.id)).length === 3);
  clock.advance(12_000);
  await send({ session, n: 3, events: [event()] });
  const other = await ready();
  await afterwards(other, await sessionOf(other), 1);
  assert.deepEqual(await numbersOf(stream.id), [0, 1, 2], 'nobody begins to watch, nor ends, what is over');
  await app.container.viewers.flush();
  assert.equal(await stream.read('viewerCount'), 0);
});

test('a beacon with a repeated or lower number does not restore a viewer, on any node', async () => {
  const stream = await createEncoderStream(app, key, {});
  await stream.connect();
  await stream.act('start');
  const session = await sessionOf(stream.id);
  const play = (n: number) => ({ session, n, events: [event({ type: 'PLAY' })] });
  const viewers = async (on = app) => {
    await on.container.viewers.flush();
    return stream.read('viewerCount');
  };
  await send(play(1));
  assert.equal(await viewers(), 1);
  await send({ session, n: 2, events: [event({ type: 'END' })] });
  assert.equal(await viewers(), 0);
  for (const n of [0, 1, 2]) await send(play(n));
  assert.equal(await viewers(), 0);
  await waitFor(async () => (await numbersOf(stream.id)).length === 5);
  const other = await startTestApp({ clock, beside: app, env: { TRUST_PROXY: '1' } });
  try {
    for (const n of [2, 1]) await send(play(n), {}, other);
    assert.equal(await viewers(other), 0);
    await send(play(3), {}, other);
    assert.equal(await viewers(other), 1);
  } finally {
    await other.close();
  }
});

test('chat messages are counted with the viewer data of a guest', async () => {
  const chat = await createChat(app, key);
  await chat.say('Hello');
  const post = async (path: string, body: object) => {
    const headers = from({ 'content-type': 'application/json' });
    const answer = await fetch(`${app.url}/live/${chat.id}/chat${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 201);
    return Object(await answer.json()).data;
  };
  const { session } = await post('/guest', { name: 'Ada' });
  await post('', { session, text: 'Good evening' });
  const told = await factsOf(chat.id, 'CHAT');
  assert.deepEqual(
    told.map((row) => [Number(row.amount), row.viewer === null, row.country, row.device].join()),
    ['1,true,,', '1,false,NZ,DESKTOP'],
  );
});

/** Returns the recorded usage events of a stream: the sum and the count per kind. */
async function noted(streamId: string) {
  const sums = await app.container.sql`
    select kind, sum(amount)::integer as amount, count(*)::integer as facts from usage_event
      where subject_id = ${streamId} and kind in ('JOIN', 'LEAVE', 'PRESENCE') group by 1 order by 1`;
  return sums.map(({ kind, amount, facts }) => (kind === 'PRESENCE' ? `${amount} in ${facts}` : amount));
}

test('joins, leaves and samples are recorded, with the location by IP address', async () => {
  const stream = await createEncoderStream(app, key, {});
  const ended = await stream.connect();
  await stream.act('start');
  await stream.end(ended, 'unpublish');
  const ask = async (ip: string, userAgent = PHONE) => {
    const headers = { 'x-forwarded-for': ip, 'user-agent': userAgent };
    const answer = await fetch(`${app.url}/live/${stream.id}/src/index.m3u8`, { headers });
    await answer.arrayBuffer();
  };
  const flushed = async (afterMs: number) => {
    clock.advance(afterMs);
    await app.container.viewers.flush();
    return noted(stream.id);
  };
  // The app flushes every five seconds of real time as well, so each step must allow a flush before and after.
  await ask('8.8.8.8');
  assert.deepEqual(await flushed(0), [1, '1 in 1']);
  await ask('2a00:1450:4001::1');
  assert.deepEqual(await flushed(0), [2, '1 in 1'], 'a change is sampled after 15 seconds');
  clock.advance(5000);
  await ask('2a00:1450:4001::2');
  assert.deepEqual(await flushed(10_000), [2, 1, '1 in 1'], 'the number of the last sample');
  assert.deepEqual(await flushed(5000), [2, 2, '1 in 2'], 'a changed number');
  assert.deepEqual(await flushed(59_000), [2, 2, '1 in 2']);
  assert.deepEqual(await flushed(1000), [2, 2, '1 in 3'], 'a steady number is sampled after a minute');
  await ask('203.0.113.3', 'curl/8');
  assert.deepEqual(await flushed(0), [3, 2, '1 in 3']);
  clock.advance(10_000);
  await ask('8.8.8.8');
  assert.deepEqual(await flushed(5000), [4, 3, '2 in 4'], 'a changed number');
  await stream.act('stop');
  assert.deepEqual(await flushed(0), [4, 4, '2 in 4'], 'all viewers leave at the end of the broadcast');
  const views = (await factsOf(stream.id, 'VIEW')).map((row) =>
    [row.country, row.device, row.browser, row.os, row.is_bot].join(),
  );
  const expected = ['AU,BOT,,,true', 'IE,MOBILE,Safari,iOS,false', 'US,MOBILE,Safari,iOS,false'];
  assert.deepEqual(views.toSorted(), expected, 'each once');
});

test('a session of a page that an older version rendered is still accepted', async () => {
  const id = await ready();
  const { secrets } = app.container;
  const head = [id, (clock.ms() + DAY_MS).toString(36), '', '', 'AAAAAAAAAAA'].join('.');
  const session = `${head}.${secrets.sign('playback session', head)}`;
  assert.deepEqual(await afterwards(id, session, 3), [3]);
});

test('the IP address of a viewer is not stored in the database', async () => {
  const { sql } = app.container;
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`;
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await sql.unsafe(
      `select count(*)::integer as rows from ${name} t where t::text like '%${ADDRESS}%'
        or t::text like '%${Buffer.from(ADDRESS).toString('hex')}%'`,
    );
    if (row?.rows !== 0) found.push(name);
  }
  assert.deepEqual(found, []);
});
