import assert from 'node:assert/strict';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { eventually } from '../../../test/live/poll.ts';
import { errorLog, KINDS, plant } from '../../../test/transcode/planted.ts';
import type { Clock } from '../../kernel/clock.ts';
import { dateFromMs } from '../../kernel/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { type Composer, type EpochInput, openComposer } from './composer.ts';
import { parseMediaPlaylist } from './playlist.ts';

const log = createLogger('silent');
const folders: string[] = [];
const opened: Composer[] = [];
after(async () => {
  for (const composer of opened) await composer.close();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

interface Fixture {
  dir: string;
  clock: Clock & { advance(ms: number): void };
  open(): Promise<Composer>;
  /** Media sequence, discontinuities and files of a public playlist. */
  seen(rung: string): Promise<{ seqs: number[]; discs: number[]; files: string[] }>;
}

async function fixture(): Promise<Fixture> {
  const dir = join(await mkdtemp(join(tmpdir(), 'composer-')), 'stream');
  folders.push(join(dir, '..'));
  let nowMs = Date.UTC(2026, 0, 1);
  const clock = {
    ms: () => nowMs,
    now: () => dateFromMs(nowMs),
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
  return {
    dir,
    clock,
    open: async () => {
      const composer = await openComposer({ dir, clock, log });
      opened.push(composer);
      return composer;
    },
    seen: async (rung) => {
      const parsed = parseMediaPlaylist(await readFile(join(dir, `${rung}.m3u8`), 'utf8'));
      assert.ok(parsed, 'the public playlist cannot be read');
      return {
        seqs: parsed.segments.map((segment) => segment.seq),
        discs: parsed.segments.map((segment) => segment.disc),
        files: parsed.segments.map((segment) => `${segment.rung}/${segment.file}`),
      };
    },
  };
}

function input(...rungs: string[]): EpochInput {
  return {
    rungs: rungs.map((name) => ({ name, width: 1280, height: 720, videoCodec: 'avc1.640028', videoKbps: 0 })),
    audioCodec: 'mp4a.40.2',
    fps: 30,
    segmentSeconds: 2,
  };
}

/** What ffmpeg leaves in a rung's folder after `count` segments. */
async function writePrivate(
  epochDir: string,
  rung: string,
  count: number,
  initFile = 'init.mp4',
): Promise<void> {
  const folder = join(epochDir, rung);
  const names = Array.from({ length: count }, (_, i) => `s_${String(i).padStart(6, '0')}.m4s`);
  for (const name of names) await writeFile(join(folder, name), 'x'.repeat(1000));
  const avcC = Buffer.from([0x01, 0x64, 0x00, 0x1f]);
  await writeFile(join(folder, initFile), Buffer.concat([Buffer.from('....avcC'), avcC]));
  const lines = names.map((name) => `#EXTINF:2.000000,\n${name}`);
  await writeFile(join(folder, 'index.m3u8'), `#EXTM3U\n#EXT-X-MAP:URI="${initFile}"\n${lines.join('\n')}\n`);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

test('composer: an empty playlist and a master before the first segment', async () => {
  const { dir, open, seen } = await fixture();
  const composer = await open();
  await composer.beginEpoch(input('src', '480'));
  assert.deepEqual((await seen('480')).seqs, []);
  const master = await readFile(join(dir, 'master.m3u8'), 'utf8');
  assert.match(master, /CODECS="avc1\.640028,mp4a\.40\.2"/);
  assert.match(master, /\nsrc\/index\.m3u8\n[\s\S]*\n480\/index\.m3u8\n/);
  await composer.close();
});

test('composer: takes segments that all rungs have, and the codec that was really written', async () => {
  const { dir, open, seen } = await fixture();
  const composer = await open();
  const epochDir = await composer.beginEpoch(input('src', '480'));
  await writePrivate(epochDir, 'src', 3, 'init_0.mp4');
  await writePrivate(epochDir, '480', 2, 'init_1.mp4');
  await composer.poll();
  assert.deepEqual(await seen('src'), {
    seqs: [0, 1],
    discs: [0, 0],
    files: ['src/s_000000.m4s', 'src/s_000001.m4s'],
  });
  assert.deepEqual((await seen('480')).seqs, [0, 1]);
  assert.ok(await exists(join(epochDir, '480', 'init.mp4')), 'init_1.mp4 has no public name');
  assert.match(await readFile(join(dir, 'master.m3u8'), 'utf8'), /avc1\.64001f/);
  await composer.close();
});

test('composer: watches the folder, nobody has to poll', async () => {
  const { open, seen } = await fixture();
  const composer = await open();
  const epochDir = await composer.beginEpoch(input('src'));
  await writePrivate(epochDir, 'src', 1);
  await eventually('the segment', async () => (await seen('src')).seqs.length === 1);
  await composer.close();
});

test('composer: a killed process is continued with exactly one discontinuity', async () => {
  const { open, seen } = await fixture();
  const killed = await open();
  const first = await killed.beginEpoch(input('src'));
  await writePrivate(first, 'src', 2);
  await killed.poll();
  await killed.close();
  // ffmpeg outlived it and finished one more segment.
  await writePrivate(first, 'src', 3);

  const composer = await open();
  const second = await composer.beginEpoch(input('src'));
  assert.notEqual(second, first);
  assert.deepEqual((await seen('src')).seqs, [0, 1, 2]);
  await writePrivate(second, 'src', 2);
  await composer.poll();
  assert.deepEqual(await seen('src'), {
    seqs: [0, 1, 2, 3, 4],
    discs: [0, 0, 0, 1, 1],
    files: [
      'src/s_000000.m4s',
      'src/s_000001.m4s',
      'src/s_000002.m4s',
      'src/s_000000.m4s',
      'src/s_000001.m4s',
    ],
  });
  await composer.close();
});

test('composer: a state that cannot be read starts anew instead of failing', async () => {
  const { dir, open, seen } = await fixture();
  await (await open()).close();
  for (const broken of ['', '{"version":1}', '{"version":2,"slots":[]}', 'null']) {
    await writeFile(join(dir, 'state.json'), broken);
    const composer = await open();
    await composer.beginEpoch(input('src'));
    assert.deepEqual((await seen('src')).seqs, []);
    await composer.close();
  }
});

test('composer: a rung of an earlier epoch is still served', async () => {
  const { dir, open, seen } = await fixture();
  const composer = await open();
  const big = await composer.beginEpoch(input('src', '720'));
  await writePrivate(big, 'src', 1);
  await writePrivate(big, '720', 1);
  const small = await composer.beginEpoch(input('src'));
  await writePrivate(small, 'src', 1);
  await composer.endEpoch();
  assert.deepEqual((await seen('720')).files, ['720/s_000000.m4s', 'src/s_000000.m4s']);
  assert.doesNotMatch(await readFile(join(dir, 'master.m3u8'), 'utf8'), /720\/index/);
  await composer.close();
});

test('composer: deletes a segment a minute after it left the window, and a folder that nothing refers to', async () => {
  const { dir, clock, open, seen } = await fixture();
  const composer = await open();
  const first = await composer.beginEpoch(input('src'));
  await writePrivate(first, 'src', 2);
  await composer.poll();
  const second = await composer.beginEpoch(input('src'));
  await writePrivate(second, 'src', 9);
  await composer.poll();
  assert.deepEqual((await seen('src')).seqs, [3, 4, 5, 6, 7, 8, 9, 10]);

  clock.advance(59_000);
  await composer.prune();
  assert.ok(await exists(join(first, 'src', 's_000001.m4s')), 'deleted too early');
  clock.advance(2000);
  await composer.prune();
  assert.equal(await exists(first), false);
  assert.equal(await exists(join(second, 'src', 's_000000.m4s')), false);
  assert.ok(await exists(join(second, 'src', 's_000001.m4s')), 'a listed segment is gone');
  assert.deepEqual(
    (await readdir(dir)).sort(),
    [second.split('/').at(-1), 'master.m3u8', 'src.m3u8', 'state.json'].sort(),
  );
  await composer.close();
});

for (const name of ['index.m3u8', 'init.mp4', 's_000001.m4s']) {
  for (const kind of KINDS) {
    test(`composer: ${kind} for ${name} ends the run and is not shown; the next run goes on`, async () => {
      const { dir, clock, seen } = await fixture();
      const { log, errors } = errorLog();
      const composer = await openComposer({ dir, clock, log });
      opened.push(composer);
      const secret = join(dir, '../secret');
      await writeFile(secret, '#EXTM3U\n#EXTINF:2.0,\ns_000000.m4s\n');
      let ended = 0;
      const onUnsafe = () => {
        ended += 1;
      };
      const epochDir = await composer.beginEpoch({ ...input('src'), onUnsafe });
      const kept = await mkdtemp(join(dir, '../outside-'));
      await mkdir(join(kept, 'src'));
      await writePrivate(kept, 'src', 2);
      await plant(kind, join(kept, 'src', name), secret);
      // In one step, so that the watcher sees nothing half-made.
      await rm(join(epochDir, 'src'), { recursive: true });
      await rename(join(kept, 'src'), join(epochDir, 'src'));
      await composer.poll();
      await composer.poll();
      assert.equal(ended, 1);
      assert.deepEqual(errors, ['a packager left what is no segment']);
      await composer.endEpoch();
      const before = (await seen('src')).seqs.length;
      assert.ok(before <= 1, 'the segment that was whole, at most');
      const next = await composer.beginEpoch(input('src'));
      await writePrivate(next, 'src', 1);
      await composer.poll();
      assert.equal((await seen('src')).seqs.length, before + 1);
    });
  }
}

test('composer: old segments are not removed through a link', async () => {
  const { dir, clock, open } = await fixture();
  const composer = await open();
  const epochDir = await composer.beginEpoch(input('src'));
  await writePrivate(epochDir, 'src', 12);
  await composer.poll();
  const outside = await mkdtemp(join(dir, '../outside-'));
  await writeFile(join(outside, 's_000000.m4s'), "another stream's");
  await rm(join(epochDir, 'src'), { recursive: true });
  await symlink(outside, join(epochDir, 'src'));
  clock.advance(120_000);
  await composer.prune();
  assert.deepEqual(await readdir(outside), ['s_000000.m4s']);
});
