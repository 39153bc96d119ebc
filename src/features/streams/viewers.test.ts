import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { createEncoderStream } from '../../../test/streams/encoder-stream.ts';
import { createViewers } from './index.ts';
import { createAudiences, DistinctCounter } from './viewers.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
const anna = { ip: '203.0.113.1', userAgent: 'A', token: '' };

describe('the count in memory', () => {
  test('address, user agent and token each tell viewers apart; a repeat does not', () => {
    const audiences = createAudiences();
    const others = [
      { ...anna, ip: '203.0.113.2' },
      { ...anna, userAgent: 'B' },
      { ...anna, token: '?token=x' },
    ];
    for (const viewer of [anna, ...others, anna, ...others]) audiences.seen('str_1', 'ses_1', viewer, 1000);
    assert.deepEqual(audiences.count(1000), [
      { streamId: 'str_1', sessionId: 'ses_1', current: 4, unique: 4 },
    ]);
  });

  test('a viewer leaves 15 s after the last request and is not unique again', () => {
    const audiences = createAudiences();
    audiences.seen('str_1', 'ses_1', anna, 0);
    audiences.seen('str_1', 'ses_1', { ...anna, ip: '::1' }, 5000);
    audiences.seen('str_1', 'ses_1', anna, 10_000);
    assert.equal(audiences.count(14_999)[0]?.current, 2);
    assert.equal(audiences.count(20_000)[0]?.current, 1, 'who asked again is still there');
    assert.equal(audiences.count(25_000)[0]?.current, 0);
    audiences.seen('str_1', 'ses_1', anna, 30_000);
    assert.deepEqual(audiences.count(30_000)[0], {
      streamId: 'str_1',
      sessionId: 'ses_1',
      current: 1,
      unique: 2,
    });
  });

  test('a new session begins anew; one that comes after the viewers takes them', () => {
    const audiences = createAudiences();
    audiences.seen('str_1', null, anna, 0);
    audiences.seen('str_1', 'ses_1', { ...anna, ip: '::1' }, 0);
    assert.equal(audiences.count(0)[0]?.unique, 2);
    audiences.seen('str_1', 'ses_2', anna, 0);
    assert.deepEqual(audiences.count(0), [{ streamId: 'str_1', sessionId: 'ses_2', current: 1, unique: 1 }]);
  });

  test('a broadcast that nobody asks for is forgotten after an hour', () => {
    const audiences = createAudiences();
    audiences.seen('str_1', 'ses_1', anna, 0);
    assert.equal(audiences.count(3_600_000)[0]?.current, 0);
    assert.deepEqual(audiences.count(3_600_001), []);
  });

  test('distinct keys: exact up to the limit, a few percent above it, bounded always', () => {
    const counter = new DistinctCounter(1000);
    let key = 1;
    const next = () => {
      key = (key * 48_271) % 2_147_483_647;
      return key;
    };
    for (let index = 0; index < 1000; index++) counter.add(next());
    assert.equal(counter.estimate(), 1000);
    for (let index = 1000; index < 100_000; index++) counter.add(next());
    assert.ok(Math.abs(counter.estimate() - 100_000) < 10_000, `estimated ${counter.estimate()}`);
  });
});

describe('what the API says of viewers', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    app = await startTestApp({ clock });
    ({ key } = await app.createKey());
  });
  after(() => app.close());

  const liveStream = async (settings: object = {}) => {
    const stream = await createEncoderStream(app, key, settings);
    const session = await stream.connect();
    await stream.act('start');
    return {
      ...stream,
      session,
      counts: async () => [await stream.read('viewerCount'), await stream.read('peakViewers')],
      sessionCounts: async () => {
        const answer = await stream.sessions();
        return [answer.at('data.0.peakViewers'), answer.at('data.0.uniqueViewers')];
      },
    };
  };
  /** Asks as a player would; the stream has no segments, so its playlist is empty. */
  const ask = async (path: string, userAgent: string) => {
    const response = await fetch(app.url + path, { headers: { 'user-agent': userAgent } });
    await response.arrayBuffer();
    return response.status;
  };
  const flush = () => app.container.viewers.flush();

  test('players of the media playlist count; the master, previews and refused ones do not', async () => {
    const stream = await liveStream();
    await stream.end(stream.session, 'unpublish');
    assert.equal(await ask(`/live/${stream.id}/src/index.m3u8`, 'one'), 200);
    assert.equal(await ask(`/live/${stream.id}/src/index.m3u8?token=guess`, 'one'), 200);
    assert.equal(await ask(`/live/${stream.id}/src/index.m3u8`, 'two'), 200);
    assert.equal(await ask(`/live/${stream.id}/master.m3u8`, 'three'), 200);
    assert.equal(await ask(`/live/${stream.id}/1080/index.m3u8`, 'four'), 404);
    await flush();
    assert.deepEqual(await stream.counts(), [2, 2]);
    assert.deepEqual(await stream.sessionCounts(), [2, 2]);
    clock.advance(15_000);
    await flush();
    assert.deepEqual(await stream.counts(), [0, 2], 'they have left');
    await stream.act('stop');
    assert.equal(await ask(`/live/${stream.id}/src/index.m3u8`, 'five'), 404);
    await flush();
    assert.deepEqual(await stream.counts(), [0, 2]);
    assert.deepEqual(await stream.sessionCounts(), [2, 2]);
  });

  test('a stop ends the count at the next flush, and the next broadcast is counted by itself', async () => {
    const stream = await liveStream();
    const watched = async () => ({
      id: stream.id,
      currentSessionId: String(await stream.read('currentSessionId')),
    });
    app.container.viewers.seen(await watched(), anna);
    await flush();
    assert.deepEqual(await stream.counts(), [1, 1]);
    await stream.act('stop');
    await flush();
    assert.deepEqual(await stream.counts(), [0, 1]);
    clock.advance(1000);
    await stream.act('start');
    const second = await watched();
    for (const ip of ['::1', '::2', '::3']) app.container.viewers.seen(second, { ...anna, ip });
    await flush();
    const answer = await stream.sessions();
    assert.deepEqual([answer.at('data.0.peakViewers'), answer.at('data.0.uniqueViewers')], [3, 3]);
    assert.deepEqual([answer.at('data.1.peakViewers'), answer.at('data.1.uniqueViewers')], [1, 1]);
  });

  test('several api processes add up; one that leaves or dies takes its viewers with it', async () => {
    const { db } = app.container;
    const stream = await liveStream();
    const watched = { id: stream.id, currentSessionId: String(await stream.read('currentSessionId')) };
    const other = createViewers({ db, clock });
    const dying = createViewers({ db, clock });
    app.container.viewers.seen(watched, anna);
    other.seen(watched, { ...anna, ip: '::1' });
    dying.seen(watched, { ...anna, ip: '::2' });
    await Promise.all([flush(), other.flush(), dying.flush()]);
    await flush();
    assert.deepEqual(await stream.counts(), [3, 3]);
    assert.deepEqual(await stream.sessionCounts(), [3, 3]);
    await other.leave();
    assert.deepEqual(await stream.counts(), [2, 3]);
    clock.advance(10_000);
    app.container.viewers.seen(watched, anna);
    clock.advance(10_000);
    await flush();
    assert.deepEqual(await stream.counts(), [1, 3], 'the silent process no longer counts');
    const rows = await db
      .selectFrom('viewer_count')
      .select('current')
      .where('stream_id', '=', stream.id)
      .execute();
    assert.deepEqual(
      rows.map(({ current }) => current),
      [1],
      'nor is anything left of it',
    );
  });

  test('a failed write is made up for by the next one', async () => {
    const stream = await liveStream();
    const watched = { id: stream.id, currentSessionId: String(await stream.read('currentSessionId')) };
    const { db, sql } = app.container;
    const viewers = createViewers({ db, clock });
    viewers.seen(watched, anna);
    await sql`alter table viewer_count rename to out_of_reach`;
    await assert.rejects(viewers.flush());
    await sql`alter table out_of_reach rename to viewer_count`;
    await viewers.flush();
    assert.deepEqual(await stream.counts(), [1, 1]);
    assert.deepEqual(await stream.sessionCounts(), [1, 1]);
  });
});
