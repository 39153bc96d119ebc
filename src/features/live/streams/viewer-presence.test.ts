import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { createEncoderStream } from '../../../../test/streams/encoder-stream.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
/** Another node on the same database. */
let otherApp: TestApp;
let key: string;
let account: TestAccount;
before(async () => {
  const env = { TRUST_PROXY: '1' };
  app = await startTestApp({ clock, env });
  otherApp = await startTestApp({ clock, env, beside: app });
  ({ key, account } = await app.createKey());
});
after(async () => {
  await otherApp.close();
  await app.close();
});

interface Asker {
  ip?: string;
  userAgent?: string;
  node?: TestApp;
}

const headers = ({ ip = '203.0.113.1', userAgent = 'A' }: Asker) => ({
  'x-forwarded-for': ip,
  'user-agent': userAgent,
});
const flush = async () => {
  await app.container.viewers.flush();
  await otherApp.container.viewers.flush();
};
/** Fingerprint of the viewers in these tests. */
const VIEWER = {
  ...{ ipAgentHash: 'm', country: 'ZZ', device: null, browser: null, os: null, referrer: null },
  ...{ isBot: false, isSelf: false },
};
/** Returns the recorded numbers of joins, leaves and views. */
const noted = async (streamId: string) => {
  const sums = await app.container.sql`
    select kind, sum(amount)::integer as amount from usage_event
      where subject_id = ${streamId} and kind in ('VIEW', 'JOIN', 'LEAVE') group by 1 order by 1`;
  return sums.map(({ kind, amount }) => `${kind} ${amount}`);
};
const rows = () => app.container.sql<{ stream_id: string }[]>`select stream_id from stream_viewer`;

async function liveStream(settings: object = {}) {
  const stream = await createEncoderStream(app, key, settings);
  const session = await stream.connect();
  await stream.act('start');
  // The playlist of a stream without an encoder is empty and returned immediately.
  await stream.end(session, 'unpublish');
  return {
    ...stream,
    counts: async () => [await stream.read('viewerCount'), await stream.read('peakViewers')],
    sessionCounts: async (index = 0) => {
      const answer = await stream.sessions();
      return [answer.at(`data.${index}.peakViewers`), answer.at(`data.${index}.uniqueViewers`)];
    },
    /** Sends a request as a player does. */
    async ask(who: Asker = {}, query = '', path = 'src/index.m3u8') {
      const url = `${(who.node ?? app).url}/live/${stream.id}/${path}${query}`;
      const response = await fetch(url, { headers: headers(who) });
      await response.arrayBuffer();
      return response.status;
    },
    /** Returns the session token that the page passes to its player. */
    async session(query = '') {
      const page = await (await fetch(`${app.url}/embed/${stream.id}${query}`)).text();
      return / session="([^"]*)"/.exec(page)?.[1] ?? '';
    },
  };
}

let n = 0;
async function beacon(session: string, type: string, who: Asker = {}) {
  const body = JSON.stringify({ session, n: n++, events: [{ type, positionSec: 1.5, at: clock.now() }] });
  return send(body, who);
}

async function send(body: string, who: Asker = {}, type = 'text/plain;charset=UTF-8') {
  const response = await fetch(`${(who.node ?? app).url}/playback/beacon`, {
    method: 'POST',
    headers: { ...headers(who), 'content-type': type },
    body,
  });
  assert.equal(await response.text(), '');
  return response.status;
}

describe('players that ask for playlists', () => {
  test('the media playlist counts a viewer, while the master, previews and rejected requests do not', async () => {
    const stream = await liveStream();
    assert.equal(await stream.ask({ userAgent: 'one' }), 200);
    assert.equal(await stream.ask({ userAgent: 'one' }, '?token=guess'), 200);
    assert.equal(await stream.ask({ userAgent: 'two' }), 200);
    assert.equal(await stream.ask({ userAgent: 'three' }, '', 'master.m3u8'), 200);
    assert.equal(await stream.ask({ userAgent: 'four' }, '', '1080/index.m3u8'), 404);
    await flush();
    assert.deepEqual(await stream.counts(), [2, 2]);
    assert.deepEqual(await stream.sessionCounts(), [2, 2]);
    clock.advance(15_000);
    await flush();
    assert.deepEqual(await stream.counts(), [0, 2], 'they have left');
    assert.equal(await stream.ask({ userAgent: 'one' }), 200);
    await flush();
    assert.deepEqual(await stream.counts(), [1, 2]);
    await stream.act('stop');
    assert.equal(await stream.ask({ userAgent: 'five' }), 404);
    await flush();
    assert.deepEqual(await stream.counts(), [0, 2]);
    assert.deepEqual(await stream.sessionCounts(), [2, 2], 'who comes back is not new');
  });

  test('a viewer who moves between nodes counts once', async () => {
    const stream = await liveStream();
    await stream.ask({ ip: '203.0.113.1' });
    await stream.ask({ ip: '203.0.113.2' });
    await stream.ask({ ip: '203.0.113.2', node: otherApp });
    await stream.ask({ ip: '203.0.113.3', node: otherApp });
    await flush();
    await flush();
    assert.deepEqual(await stream.counts(), [3, 3]);
    assert.deepEqual(await stream.sessionCounts(), [3, 3]);
    assert.deepEqual(await noted(stream.id), ['JOIN 3', 'VIEW 3'], 'each node notes what it has counted');
    const answer = (await otherApp.request('GET', `/streams/${stream.id}/viewers`, { key })).assertOk(200);
    assert.deepEqual(
      ['current', 'peak', 'unique'].map((name) => answer.at(`data.${name}`)),
      [3, 3, 3],
    );
    // One node is silent: its viewers leave when their time ends, and the other node records it.
    clock.advance(15_000);
    await otherApp.container.viewers.flush();
    assert.deepEqual(await stream.counts(), [0, 3]);
    await app.container.viewers.flush();
    assert.deepEqual(await noted(stream.id), ['JOIN 3', 'LEAVE 3', 'VIEW 3']);
  });

  test('the next broadcast is counted separately', async () => {
    const stream = await liveStream();
    await stream.ask();
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1]);
    await stream.act('stop');
    await flush();
    assert.deepEqual(await stream.counts(), [0, 1]);
    const session = await stream.connect();
    clock.advance(1000);
    await stream.act('start');
    await stream.end(session, 'unpublish');
    for (const ip of ['2001:db8:0:1::1', '2001:db8:0:2::1', '2001:db8:0:3::1', '2001:db8:0:3::2'])
      await stream.ask({ ip });
    await flush();
    assert.deepEqual(await stream.sessionCounts(0), [3, 3], 'a block of IPv6 is one address');
    assert.deepEqual(await stream.sessionCounts(1), [1, 1]);
  });

  test('a viewer who waits for the signal of the next broadcast is counted when it arrives', async () => {
    const stream = await liveStream();
    await stream.ask();
    await flush();
    await stream.act('stop');
    await flush();
    await stream.act('start');
    for (const ip of ['203.0.113.4', '203.0.113.5']) await stream.ask({ ip });
    await flush();
    const shown = async () => {
      const answer = (await app.request('GET', `/streams/${stream.id}/viewers`, { key })).assertOk(200);
      return ['current', 'peak', 'unique'].map((name) => answer.at(`data.${name}`));
    };
    assert.deepEqual(await shown(), [2, 0, 0]);
    assert.deepEqual(await stream.sessionCounts(), [1, 1], 'the broadcast before is over');
    assert.deepEqual(await noted(stream.id), ['JOIN 3', 'LEAVE 1', 'VIEW 1']);
    await stream.end(await stream.connect(), 'unpublish');
    for (const ip of ['203.0.113.4', '203.0.113.5']) await stream.ask({ ip });
    await flush();
    assert.deepEqual(await shown(), [2, 2, 2]);
    assert.deepEqual(await stream.sessionCounts(0), [2, 2]);
    assert.deepEqual(await stream.sessionCounts(1), [1, 1]);
    await stream.act('stop');
    await flush();
    assert.deepEqual(await shown(), [0, 2, 2], 'of the last one');
  });

  test('a failed write is recovered by the next one', async () => {
    const stream = await liveStream();
    await stream.ask();
    const { sql } = app.container;
    await sql`alter table stream_viewer rename to out_of_reach`;
    await assert.rejects(app.container.viewers.flush());
    await sql`alter table out_of_reach rename to stream_viewer`;
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1]);
    assert.deepEqual(await stream.sessionCounts(), [1, 1]);
  });
});

describe('players that send beacons', () => {
  test('a viewer who does both counts once, stays between beacons and leaves with END', async () => {
    const stream = await liveStream();
    const session = await stream.session();
    assert.equal(await beacon(session, 'PLAY'), 204);
    await stream.ask({ node: otherApp });
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1]);
    clock.advance(30_000);
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1], 'a beacon may be lost');
    assert.equal(await beacon(session, 'TICK', { node: otherApp }), 204);
    await flush();
    clock.advance(10_000);
    await stream.ask();
    await beacon(session, 'END');
    await flush();
    assert.deepEqual(await stream.counts(), [0, 1]);
    // A paused player continues to request playlists.
    await stream.ask();
    await stream.ask({ node: otherApp });
    await flush();
    assert.deepEqual(await stream.counts(), [0, 1]);
    assert.deepEqual(await stream.sessionCounts(), [1, 1]);
  });

  test('only admitted viewers are counted, and only while they may watch', async () => {
    const stream = await liveStream({ visibility: 'PRIVATE' });
    const path = `/streams/${stream.id}/playback-tokens`;
    const token = (await app.request('POST', path, { key, body: {} })).assertOk(201).string('data.token');
    const session = await stream.session(`?token=${token}`);
    assert.equal(await stream.session(), '', 'nobody is shown the page');
    const other = await liveStream();
    const open = await other.session();
    await beacon(open.replace(other.id, stream.id), 'PLAY', { ip: '203.0.113.9' });
    await beacon(`${session}x`, 'PLAY', { ip: '203.0.113.8' });
    await beacon(session.slice(0, -43) + open.slice(-43), 'PLAY', { ip: '203.0.113.7' });
    await flush();
    assert.deepEqual(await stream.counts(), [0, 0]);
    await beacon(session, 'PLAY');
    await stream.ask({}, `?token=${token}`);
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1]);

    await beacon(open, 'PLAY');
    await app.request('PATCH', `/streams/${other.id}`, { key, body: { visibility: 'PRIVATE' } });
    await beacon(open, 'PLAY', { ip: '203.0.113.6' });
    await flush();
    assert.deepEqual(await other.counts(), [1, 1], 'it is private now');
    clock.advance(8 * 86_400_000);
    await beacon(session, 'PLAY');
    await flush();
    assert.deepEqual(await stream.counts(), [0, 1], 'a session ends after a week');
  });

  test('a stream of a suspended account counts no viewers', async () => {
    const suspended = await app.createKey();
    const mine = key;
    key = suspended.key;
    const stream = await liveStream();
    const session = await stream.session();
    key = mine;
    await app.container.sql`update account set suspended_at = now() where id = ${suspended.account.id}`;
    await waitFor(async () => (await stream.ask({}, '', 'master.m3u8')) === 404);
    await beacon(session, 'PLAY');
    await flush();
    assert.equal(
      (await app.container.sql`select from stream_viewer where stream_id = ${stream.id}`).length,
      0,
    );
  });

  test('garbage, 1 MB and invalid beacons get 204 and count no viewers', async () => {
    const stream = await liveStream();
    const session = await stream.session();
    const event = { type: 'PLAY', positionSec: 1, at: clock.now() };
    const whole = { session, n: 0, events: [event] };
    for (const body of [
      '',
      '{',
      'null',
      '\0\xff',
      '[]',
      JSON.stringify({ ...whole, session: 7 }),
      JSON.stringify({ ...whole, n: -1 }),
      JSON.stringify({ ...whole, events: [] }),
      JSON.stringify({ ...whole, events: [{ ...event, type: 'STAY' }] }),
      JSON.stringify({ ...whole, filler: 'x'.repeat(1_048_576) }),
      '['.repeat(10_000),
    ]) {
      assert.equal(await send(body), 204, body.slice(0, 40));
      assert.equal(await send(body, {}, 'application/json'), 204, body.slice(0, 40));
    }
    assert.equal(await send(JSON.stringify(whole), {}, 'no/type at all;;'), 204);
    const bare = await fetch(`${app.url}/playback/beacon`, { method: 'POST' });
    assert.equal(bare.status, 204);
    await flush();
    assert.deepEqual(await stream.sessionCounts(), [0, 0]);
    assert.equal(await send(JSON.stringify(whole), {}, 'application/json'), 204);
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1]);
  });

  test('10,000 fake viewers of one IP address count as a hundred', async () => {
    const stream = await liveStream();
    const session = await stream.session();
    const { viewers } = app.container;
    const watched = {
      id: stream.id,
      workspaceId: account.live,
      currentSessionId: String(await stream.read('currentSessionId')),
      liveSince: clock.now(),
    };
    for (let index = 0; index < 10_000; index++) {
      viewers.seen(
        watched,
        { ip: '198.51.100.1', userAgent: `bot ${index}`, token: '' },
        () => VIEWER,
        'beacon',
      );
    }
    await beacon(session, 'PLAY', { ip: '198.51.100.2' });
    await flush();
    assert.deepEqual(await stream.counts(), [101, 101]);
    assert.deepEqual(await stream.sessionCounts(), [101, 101]);
  });
});

describe('time', () => {
  test('midnight does not turn viewers into new ones, and the salts of past days are deleted with their hashes', async () => {
    const { viewers } = app.container;
    clock.set('2027-03-01T23:59:50.000Z');
    const stream = await liveStream();
    await stream.ask();
    await flush();
    clock.set('2027-03-02T00:00:10.000Z');
    await stream.ask();
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1]);
    assert.deepEqual(await stream.sessionCounts(), [1, 1]);
    const { sql } = app.container;
    const days = async () => (await sql`select day from viewer_salt order by day`).map(({ day }) => day);
    await viewers.forget();
    assert.deepEqual(await days(), ['2027-03-01']);
    // A broadcast over several days switches its salt; for a moment every viewer has two hashes.
    clock.set('2027-03-02T23:59:58.000Z');
    await stream.ask();
    await flush();
    clock.set('2027-03-03T00:00:02.000Z');
    await stream.ask();
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1]);
    await viewers.forget();
    assert.deepEqual(await days(), ['2027-03-02', '2027-03-03'], 'and the one of the day');
    clock.set('2027-03-06T00:00:00.000Z');
    await viewers.forget();
    assert.deepEqual(await days(), []);
    assert.equal((await rows()).length, 0, 'nor is anything left of who watched');
  });

  test('a clock that jumps ahead and back leaves no viewer behind', async () => {
    clock.set('2027-04-01T12:00:00.000Z');
    const stream = await liveStream();
    clock.advance(3_600_000);
    await stream.ask();
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1]);
    clock.advance(-3_600_000);
    await flush();
    assert.deepEqual(await stream.counts(), [0, 1], 'nobody stays for an hour');
    await stream.ask();
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1]);
    clock.advance(15_000);
    await flush();
    assert.deepEqual(await stream.counts(), [0, 1]);
    await stream.act('stop');
    await flush();
    assert.equal((await rows()).filter((row) => row.stream_id === stream.id).length, 0);
  });
});
