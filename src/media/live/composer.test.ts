import assert from 'node:assert/strict';
import { access, appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fragmentBytes, initBytes } from '../../../test/live/fragments.ts';
import { errorLog } from '../../../test/transcode/malicious-outputs.ts';
import type { Clock } from '../../kernel/clock.ts';
import { dateFromMs } from '../../kernel/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import type { DvrPosition } from '../contract/index.ts';
import { type Composer, type EpochInput, openComposer, type RungSink } from './composer.ts';
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
  /**
   * Media sequence numbers, discontinuities and files of a public playlist, and the parts of the incomplete
   * segment.
   */
  seen(rung: string): Promise<{ seqs: number[]; discs: number[]; files: string[]; openParts: number }>;
  /** Folders of the runs, the last one first. */
  runs(): Promise<string[]>;
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
        openParts: parsed.open?.parts?.length ?? 0,
      };
    },
    runs: async () => {
      const entries = await readdir(dir, { withFileTypes: true });
      const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
      return names
        .sort()
        .reverse()
        .map((name) => join(dir, name));
    },
  };
}

function input(...rungs: string[]): EpochInput {
  return {
    rungs: rungs.map((name) => ({ name, width: 1280, height: 720, videoCodec: 'avc1.640028', videoKbps: 0 })),
    audioCodec: 'mp4a.40.2',
    fps: 30,
    segmentSeconds: 2,
    lowLatency: { partTargetSec: 0.6, holdBackSec: 2 },
  };
}

/**
 * Writes the output of a packager for one rung: `count` whole segments of four parts (the first of one), and
 * `parts` parts of the next one.
 */
function write(sink: RungSink | undefined, count: number, parts = 1, { fromSec = 0 } = {}): void {
  assert.ok(sink);
  if (fromSec === 0) sink(initBytes());
  const isWhole = fromSec === 0 && count > 0;
  if (isWhole) sink(fragmentBytes({ startSec: 0, durationSec: 2, isKey: true }));
  for (let part = isWhole ? 4 : 0; part < count * 4 + parts; part += 1)
    sink(fragmentBytes({ startSec: fromSec + part / 2, durationSec: 0.5, isKey: part % 4 === 0 }));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

test('composer: writes an empty playlist and a master before the first segment', async () => {
  const { dir, open, seen } = await fixture();
  const composer = await open();
  await composer.beginEpoch(input('src', '480'));
  assert.deepEqual((await seen('480')).seqs, []);
  const master = await readFile(join(dir, 'master.m3u8'), 'utf8');
  assert.match(master, /CODECS="avc1\.640028,mp4a\.40\.2"/);
  assert.match(master, /\nsrc\/index\.m3u8\n[\s\S]*\n480\/index\.m3u8\n/);
});

test('composer: cuts at keyframes, and each rung extends to its own progress', async () => {
  const { dir, open, seen, runs } = await fixture();
  const composer = await open();
  const [src, scaled] = await composer.beginEpoch(input('src', '480'));
  write(src, 2, 3);
  write(scaled, 1);
  await composer.poll();
  assert.deepEqual(await seen('src'), {
    seqs: [0, 1],
    discs: [0, 0],
    files: ['src/s_000000.m4s', 'src/s_000001.m4s'],
    openParts: 3,
  });
  assert.deepEqual(await seen('480'), { seqs: [0], discs: [0], files: ['480/s_000000.m4s'], openParts: 1 });
  const master = await readFile(join(dir, 'master.m3u8'), 'utf8');
  assert.match(master, /avc1\.64001f/, 'the codec that was really written');
  const [run = ''] = await runs();
  assert.deepEqual(await readFile(join(run, '480/init.mp4')), initBytes());
  assert.deepEqual(
    await readFile(join(run, 'src/s_000001.m4s')),
    Buffer.concat(
      [4, 5, 6, 7].map((n) => fragmentBytes({ startSec: n / 2, durationSec: 0.5, isKey: n === 4 })),
    ),
  );
  assert.equal(await exists(join(run, 'src/s_000002.m4s')), false, 'it is not whole');
});

test('composer: the end of a run ends its last segments', async () => {
  const { open, seen, runs } = await fixture();
  const composer = await open();
  const [src, scaled] = await composer.beginEpoch(input('src', '480'));
  write(src, 1, 2);
  write(scaled, 1, 1);
  await composer.endEpoch();
  for (const rung of ['src', '480']) {
    const { seqs, openParts } = await seen(rung);
    assert.deepEqual([seqs, openParts], [[0, 1], 0]);
  }
  assert.ok(await exists(join((await runs())[0] ?? '', '480/s_000001.m4s')));
});

test('composer: continues after a killed process with exactly one discontinuity', async () => {
  const { open, seen, dir } = await fixture();
  const killed = await open();
  const [first] = await killed.beginEpoch(input('src'));
  write(first, 2, 1);
  await killed.poll();
  // Only the playlist and the media file record the new part.
  const state = await readFile(join(dir, 'state.json'), 'utf8');
  first?.(fragmentBytes({ startSec: 4.5, durationSec: 0.5, isKey: false }));
  await killed.poll();
  assert.equal(await readFile(join(dir, 'state.json'), 'utf8'), state);
  // A killed process leaves a partial line.
  await appendFile(join(dir, 'src.m3u8'), '#EXT-X-PART:DURATION=0.5,UR');

  const composer = await open();
  const [second] = await composer.beginEpoch(input('src'));
  assert.deepEqual(await seen('src').then(({ seqs, openParts }) => [seqs, openParts]), [[0, 1, 2], 0]);
  const text = await readFile(join(dir, 'src.m3u8'), 'utf8');
  assert.match(text, /#EXTINF:1\.000000,\n[^\n]*s_000002/, 'both parts of the last segment');
  write(second, 2);
  await composer.poll();
  assert.deepEqual(await seen('src'), {
    seqs: [0, 1, 2, 3, 4],
    discs: [0, 0, 0, 1, 1],
    files: [0, 1, 2, 0, 1].map((index) => `src/s_00000${index}.m4s`),
    openParts: 1,
  });
});

test('composer: the first segment does not wait for the second keyframe', async () => {
  const { dir, open, seen } = await fixture();
  const composer = await open();
  const [sink] = await composer.beginEpoch(input('src'));
  sink?.(initBytes());
  const write = async (fromSec: number, untilSec: number) => {
    for (let startSec = fromSec; startSec < untilSec; startSec += 0.25)
      sink?.(fragmentBytes({ startSec, durationSec: 0.25, isKey: startSec % 4 === 0 }));
    await composer.poll();
    return readFile(join(dir, 'src.m3u8'), 'utf8');
  };
  assert.match(await write(0, 0.75), /#EXTINF:0\.750000,\n[^\n]*s_000000/);
  assert.equal((await seen('src')).openParts, 0);
  // New viewers start there, because there is no other keyframe.
  const alone = await write(0.75, 4);
  assert.match(alone, /^#EXT-X-START:TIME-OFFSET=0$/m);
  assert.doesNotMatch(alone, /INDEPENDENT-SEGMENTS/);
  const two = await write(4, 4.25);
  assert.match(two, /#EXTINF:3\.250000,\n[^\n]*s_000001/, 'it ends at the keyframe');
  assert.doesNotMatch(two, /EXT-X-START|INDEPENDENT-SEGMENTS/);
  assert.match(composer.latest()?.file ?? '', /s_000000/, 'no picture can be made of the other');
  // There it would hold for this playlist as well.
  assert.doesNotMatch(await readFile(join(dir, 'master.m3u8'), 'utf8'), /INDEPENDENT-SEGMENTS/);
  assert.match(await write(4.25, 40), /INDEPENDENT-SEGMENTS/);
});

test('composer: continues after segments that another node published since', async () => {
  const { dir, clock, seen } = await fixture();
  let kept: DvrPosition | null = null;
  const composer = await openComposer({ dir, clock, log, lastKept: async () => kept });
  opened.push(composer);
  const show = async (count: number) => {
    const [sink] = await composer.beginEpoch(input('src'));
    write(sink, count);
    await composer.poll();
    return seen('src');
  };
  assert.deepEqual((await show(2)).seqs, [0, 1]);
  kept = { seq: 1, disc: 0, epoch: 'mine' };
  assert.deepEqual((await show(1)).seqs, [0, 1, 2, 3], 'what is kept is its own');
  kept = { seq: 40, disc: 7, epoch: 'elsewhere' };
  const { seqs, discs } = await show(2);
  assert.deepEqual(
    [seqs, discs],
    [
      [41, 42],
      [8, 8],
    ],
  );
});

test('composer: an unreadable state is reset instead of failing', async () => {
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

test('composer: serves a rung of an earlier epoch', async () => {
  const { dir, open, seen } = await fixture();
  const composer = await open();
  const [src, scaled] = await composer.beginEpoch(input('src', '720'));
  write(src, 0, 2);
  write(scaled, 0, 2);
  const [small] = await composer.beginEpoch(input('src'));
  write(small, 1, 2);
  await composer.poll();
  const { files, openParts } = await seen('720');
  assert.deepEqual([files, openParts], [['720/s_000000.m4s', 'src/s_000000.m4s'], 2]);
  assert.doesNotMatch(await readFile(join(dir, 'master.m3u8'), 'utf8'), /720\/index/);
});

test('composer: deletes a segment a minute after it left the window, and an unreferenced folder', async () => {
  const { dir, clock, open, seen, runs } = await fixture();
  const composer = await open();
  const [first] = await composer.beginEpoch(input('src'));
  write(first, 1, 4);
  const [second] = await composer.beginEpoch(input('src'));
  write(second, 9);
  await composer.poll();
  assert.deepEqual((await seen('src')).seqs, [3, 4, 5, 6, 7, 8, 9, 10]);

  const [now = '', before = ''] = await runs();
  clock.advance(59_000);
  await composer.prune();
  assert.ok(await exists(join(before, 'src', 's_000001.m4s')), 'deleted too early');
  clock.advance(2000);
  await composer.prune();
  assert.equal(await exists(before), false);
  assert.equal(await exists(join(now, 'src', 's_000000.m4s')), false);
  assert.ok(await exists(join(now, 'src', 's_000001.m4s')), 'a listed segment is gone');
  assert.deepEqual(
    (await readdir(dir)).sort(),
    [now.split('/').at(-1), 'master.m3u8', 'src.m3u8', 'state.json'].sort(),
  );
});

test('composer: invalid media ends the run and is not published; the next run continues', async () => {
  const { dir, clock, seen } = await fixture();
  const { log, errors } = errorLog();
  const composer = await openComposer({ dir, clock, log });
  opened.push(composer);
  let ended = 0;
  const onUnfit = () => {
    ended += 1;
  };
  const [sink] = await composer.beginEpoch({ ...input('src'), onUnfit });
  write(sink, 1, 2);
  sink?.(Buffer.from('#EXTM3U what is this'));
  write(sink, 5, 0, { fromSec: 3 });
  await composer.endEpoch();
  assert.equal(ended, 1);
  assert.deepEqual(errors, ['the output of a packager cannot be used']);
  assert.deepEqual((await seen('src')).seqs, [0, 1]);
  const [next] = await composer.beginEpoch(input('src'));
  write(next, 1);
  await composer.poll();
  assert.deepEqual((await seen('src')).seqs, [0, 1, 2]);
});

test('composer: a write error ends the run', async () => {
  const { dir, clock, runs } = await fixture();
  const { log, errors } = errorLog();
  const composer = await openComposer({ dir, clock, log });
  opened.push(composer);
  let ended = 0;
  const onUnfit = () => {
    ended += 1;
  };
  const [sink] = await composer.beginEpoch({ ...input('src'), onUnfit });
  await rm(join((await runs())[0] ?? '', 'src'), { recursive: true });
  write(sink, 1);
  await assert.rejects(composer.poll(), /ENOENT/);
  assert.deepEqual([ended, errors.length], [1, 1]);
});
