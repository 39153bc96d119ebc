import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { createEncoderStream } from '../../../../test/streams/encoder-stream.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { HistorySegment } from '../../../media/contract/index.ts';
import { createHistoryKeeper } from '../../../media/dvr/dvr-recorder.ts';
import { type PublicSegment, renderMediaPlaylist } from '../../../media/live/playlist.ts';
import type { LiveSlot } from '../../../media/live/state.ts';
import { DatabaseDeadlineError } from '../../../platform/db/failures.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
const SEGMENT_BYTES = 1000;
const WINDOW = 8;
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

/** Puts a stream on air and returns helpers that write and store segments of two seconds. */
async function onAir(dvrWindowSec: number, isDependent = (_seq: number) => false) {
  const { key, account } = await app.createKey({ account: await app.createAccount({ plan: 'FREE' }) });
  const { store, config, dvr, sql, log } = app.container;
  const stream = await createEncoderStream(app, key, { dvrWindowSec });
  const session = await stream.connect();
  await stream.act('start');
  const dir = join(config.DATA_DIR, 'live', stream.id);
  const slots: LiveSlot[] = [];
  let dealtWith = -1;
  const kept = async (segment: HistorySegment) => {
    const isKept = await dvr.port.kept(segment);
    dealtWith = segment.seq;
    return isKept;
  };
  const write = async (count: number) => {
    const startMs = clock.ms();
    for (const index of Array.from({ length: count }).keys()) {
      const seq = slots.length;
      const epoch = seq < 10 ? 'e1' : 'e2';
      const file = `s_${String(seq).padStart(6, '0')}.m4s`;
      await mkdir(join(dir, epoch, 'src'), { recursive: true });
      await writeFile(join(dir, epoch, 'src/init.mp4'), epoch);
      await writeFile(join(dir, epoch, 'src', file), Buffer.alloc(SEGMENT_BYTES, seq));
      const begins = isDependent(seq) ? { isDependent: true as const } : {};
      const rungs = { src: { durationSec: 2, bytes: SEGMENT_BYTES, ...begins } };
      const disc = epoch === 'e1' ? 0 : 1;
      slots.push({ seq, disc, epoch, file, startMs: startMs + index * 2000, rungs, leftAtMs: null });
    }
    const segments = slots.slice(-WINDOW).map((slot): PublicSegment => {
      const { rungs: _, leftAtMs: __, ...segment } = slot;
      const begins = isDependent(slot.seq) ? { isDependent: true as const } : {};
      return { ...segment, ...begins, rung: 'src', durationSec: 2 };
    });
    const list = { targetDuration: 4, segments, nextSeq: slots.length, disc: 1 };
    await writeFile(join(dir, 'src.m3u8'), renderMediaPlaylist(list, { hasOffsets: true }));
    clock.advance(count * 2000);
  };
  const stored = async () => {
    const keys: string[] = [];
    for await (const { key: name } of store.list(`w/${account.live}/dvr/${stream.id}/`)) keys.push(name);
    return keys.filter((name) => name.endsWith('.m4s')).length;
  };
  const used = async () => {
    const [row] = await sql`select storage_bytes::float8 as bytes from workspace where id = ${account.live}`;
    return row?.bytes;
  };
  const get = (path: string) => fetch(`${app.url}/live/${stream.id}/${path}`);
  return {
    ...{ stream, session, account, dir, write, stored, used, get },
    async keep() {
      const live = { finished: () => ({ dir, slots }) };
      const { nodeId } = session;
      const keeper = createHistoryKeeper({ live, port: { ...dvr.port, kept }, store, nodeId, log });
      await keeper.sync();
      if (dvrWindowSec > 0) await waitFor(() => dealtWith === slots.length - 1, { timeoutMs: 8000 });
      await keeper.stop();
    },
    read: async () => (await get('src/index.m3u8')).text(),
  };
}

const count = (text: string) => text.match(/^#EXTINF/gm)?.length ?? 0;

test('a stream shows its whole broadcast beyond the live window, with files from the store', async () => {
  const { write, keep, stored, used, read, get, dir } = await onAir(3600);
  await write(30);
  assert.equal(count(await read()), WINDOW, 'nothing is kept yet');
  await keep();
  assert.deepEqual([await stored(), await used()], [30, 30 * SEGMENT_BYTES]);
  await write(1);
  await waitFor(async () => count(await read()) === 31);
  const text = await read();
  assert.match(text, /^#EXT-X-MEDIA-SEQUENCE:0$/m);
  assert.equal(text.match(/^#EXT-X-DISCONTINUITY$/gm)?.length, 1);
  assert.equal(text.match(/^#EXT-X-MAP/gm)?.length, 2);
  assert.doesNotMatch(text, /PLAYLIST-TYPE|ENDLIST/);
  await rm(join(dir, 'e1'), { recursive: true });
  assert.equal(await (await get('e1/src/init.mp4')).text(), 'e1');
  const first = await get('e1/src/s_000003.m4s');
  assert.deepEqual([first.status, (await first.arrayBuffer()).byteLength], [200, SEGMENT_BYTES]);
  assert.equal((await get('e1/src/s_000099.m4s')).status, 404);
});

test('the stored history stays in playlists while the database is unavailable', async (t) => {
  const { write, keep, read, get } = await onAir(3600);
  await write(30);
  await keep();
  await write(1);
  await waitFor(async () => count(await read()) === 31);
  t.mock.method(app.container.db, 'selectFrom', () => {
    throw new DatabaseDeadlineError();
  });
  await write(7);
  await waitFor(async () => count(await read()) === 38);
  await write(7);
  // Segments that left the window are not in the database, but this process has listed them.
  await waitFor(async () => count(await read()) === 45);
  assert.equal((await get('e1/src/s_000003.m4s')).status, 200);
});

test('segments older than the window are deleted, and the whole history after the broadcast ends', async () => {
  const { write, keep, stored, used, read, get, stream } = await onAir(60);
  await write(80);
  await keep();
  assert.ok(count(await read()) <= 36, 'a minute, and the step');
  await runTask(app.container, 'DVR history');
  assert.ok((await stored()) < 80 && (await stored()) >= 59);
  assert.equal(await used(), (await stored()) * SEGMENT_BYTES);
  await stream.act('stop');
  clock.advance(601_000);
  assert.equal((await get('e2/src/s_000070.m4s')).status, 404);
  await runTask(app.container, 'DVR history');
  assert.deepEqual([await stored(), await used()], [0, 0]);
});

test('a history that begins while others are deleted is retained', async (t) => {
  const streams = [await onAir(3600), await onAir(3600)];
  for (const { write, keep, stream } of streams) {
    await write(5);
    await keep();
    await stream.act('stop');
  }
  clock.advance(601_000);
  const { store } = app.container;
  const remove = store.deletePrefix.bind(store);
  const begun: typeof streams = [];
  t.mock.method(store, 'deletePrefix', async (prefix: string) => {
    await remove(prefix);
    const [next] = streams.filter(({ stream }) => !prefix.includes(stream.id));
    if (next === undefined || begun.length > 0) return;
    begun.push(next);
    await next.stream.act('start');
    await next.write(3);
    await next.keep();
  });
  await runTask(app.container, 'DVR history');
  const [next] = begun;
  assert.ok(next);
  assert.equal((await next.get('e1/src/s_000006.m4s')).status, 200);
  await runTask(app.container, 'DVR history');
  assert.deepEqual([await next.stored(), await next.used()], [3, 3 * SEGMENT_BYTES], 'and nothing of before');
});

test('playlists do not declare independent segments when some lack a keyframe, and the history never starts with such a segment', async () => {
  // The keyframes are four seconds apart, except that the first segment is shorter.
  const { write, keep, read } = await onAir(60, (seq) => seq % 2 === 1);
  await write(20);
  await keep();
  await write(1);
  await waitFor(async () => count(await read()) === 21);
  assert.doesNotMatch(await read(), /INDEPENDENT-SEGMENTS/);
  const begins = new Set<number>();
  for (const _ of Array.from({ length: 6 })) {
    await write(5);
    await keep();
    begins.add(Number(/^#EXT-X-MEDIA-SEQUENCE:(\d+)$/m.exec(await read())?.[1]));
  }
  assert.ok(begins.size > 2, 'the window has slid');
  assert.deepEqual(
    [...begins].filter((seq) => seq % 2 === 1),
    [],
  );
});

test('a full plan retains a shorter history, and a stream without a window none', async () => {
  const { write, keep, stored, account } = await onAir(3600);
  const left = 5 * SEGMENT_BYTES;
  const { db } = app.container;
  const storage_bytes = PLANS.FREE.storageBytes - left;
  await db.updateTable('workspace').set({ storage_bytes }).where('id', '=', account.live).execute();
  await write(12);
  await keep();
  assert.ok((await stored()) >= 4 && (await stored()) <= 5, `${await stored()} segments`);
  const without = await onAir(0);
  await without.write(12);
  await without.keep();
  assert.equal(await without.stored(), 0);
  assert.equal(count(await without.read()), WINDOW);
});
