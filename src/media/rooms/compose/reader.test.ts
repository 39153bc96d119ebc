import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type CodedFrame, type TransportConditions, writeMjr } from '../../../../test/rooms/mjr-files.ts';
import { type ScannedTrack, scanTrack } from './scan.ts';
import { writeSlice } from './slice.ts';

const START = 1_790_000_000_000;
const { signal } = new AbortController();
let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'room-reader-'));
});
after(() => rm(dir, { recursive: true }));

/** Builds a fake frame: the header of a frame, followed by filler bytes. */
function picture(isKey: boolean, { bytes = 2500, width = 640, height = 360 } = {}): Buffer {
  const data = Buffer.alloc(bytes, 7);
  data.writeUInt8(isKey ? 0x10 : 0x11, 0);
  if (!isKey) return data;
  data.writeUIntBE(0x9d012a, 3, 3);
  data.writeUInt16LE(width, 6);
  data.writeUInt16LE(height, 8);
  return data;
}

function pictures(seconds: number, { fps = 25, keySec = 2 } = {}): CodedFrame[] {
  return Array.from({ length: seconds * fps }, (_, index) => ({
    ms: (index * 1000) / fps,
    data: picture(index % (fps * keySec) === 0),
  }));
}

function sounds(seconds: number): CodedFrame[] {
  return Array.from({ length: seconds * 50 }, (_, index) => ({
    ms: index * 20,
    data: Buffer.from('f8fffe', 'hex'),
  }));
}

/** Returns a generator of pseudorandom numbers, identical in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

async function scanned(
  name: string,
  frames: readonly CodedFrame[],
  way: Partial<TransportConditions> = {},
): Promise<ScannedTrack> {
  const codec = frames.some(({ data }) => data.length > 1000) ? 'vp8' : 'opus';
  const path = join(dir, `${name}.mjr`);
  await writeMjr(path, codec, frames, { startMs: START, ...way });
  const track = await scanTrack(trackOf(path, codec), 43_200_000, signal);
  assert.ok(track !== null);
  return track;
}

function trackOf(path: string, codec: 'vp8' | 'opus') {
  const source = codec === 'vp8' ? ('CAMERA' as const) : ('MICROPHONE' as const);
  return { identity: 'ada', name: 'Ada', source, path };
}

/** Returns the times of the frames in a slice, and whether each is a keyframe. */
async function piece(track: ScannedTrack, fromMs: number, toMs: number) {
  const name = `piece-${Math.random()}.mkv`;
  const span = { fromMs: START + fromMs, toMs: START + toMs };
  const slice = await writeSlice({ track, span, dir, name, signal });
  return { zeroMs: slice?.zeroMs ?? null, frames: blocksOf(await readFile(join(dir, name))) };
}

/** Reads what the writer has written: sizes have eight bytes, clusters hold a time and blocks. */
function blocksOf(file: Buffer): { ms: number; isKey: boolean; bytes: number }[] {
  const blocks = [];
  let clusterMs = 0;
  let at = file.indexOf(Buffer.from('1f43b675', 'hex'));
  while (at >= 0 && at < file.length) {
    const id = file.readUInt8(at);
    const head = id === 0x1f ? 12 : 9;
    const bytes = file.readUInt32BE(at + head - 4);
    const content = file.subarray(at + head, at + head + bytes);
    if (id === 0xe7) clusterMs = content.readUIntBE(0, 6);
    if (id === 0xa3) {
      const isKey = (content.readUInt8(3) & 0x80) !== 0;
      blocks.push({ ms: clusterMs + content.readInt16BE(1), isKey, bytes: bytes - 4 });
    }
    at += head + (id === 0x1f ? 0 : bytes);
  }
  return blocks;
}

test('late and repeated packets and wrapped sequence numbers yield complete frames', async () => {
  const random = numbers(1);
  // Some packets are retransmitted, a quarter of a second later.
  const track = await scanned('late', pictures(4), { delayMs: () => (random() < 0.1 ? 270 : 20) });
  const { frames, zeroMs } = await piece(track, 0, 4000);
  assert.equal(frames.length, 100);
  assert.ok(frames.every(({ bytes }) => bytes === 2500));
  assert.deepEqual(
    frames.slice(0, 3).map(({ ms }) => ms - (zeroMs ?? 0)),
    [20, 60, 100],
  );
});

test('a lost packet leaves a gap up to the next keyframe, and shifts nothing', async () => {
  const plain = await piece(await scanned('whole', pictures(6)), 0, 6000);
  // Each frame is three packets: this one belongs to the 61st.
  const torn = await piece(await scanned('torn', pictures(6), { isLost: (index) => index === 181 }), 0, 6000);
  const times = (frames: { ms: number }[]) => frames.map(({ ms }) => ms);
  assert.equal(plain.frames.length, 150);
  assert.deepEqual(
    times(torn.frames),
    times(plain.frames).filter((ms) => ms < 60 * 40 || ms >= 4000),
  );
});

test('times follow the clock of the sender, not network jitter', async () => {
  const random = numbers(2);
  const delayMs = () => 30 + random() ** 4 * 300;
  const track = await scanned('drift', sounds(60), { delayMs, driftPpm: 150 });
  const { frames, zeroMs } = await piece(track, 10_000, 60_000);
  // Sent every 20 ms; the fastest packet took 30 ms.
  const errors = frames.map(({ ms }) => (ms - (zeroMs ?? 0) + 10_000 - 30) % 20);
  const near = errors.filter((error) => error <= 4 || error >= 16);
  assert.ok(near.length > frames.length * 0.95, `${near.length} of ${frames.length}`);
});

test('timestamps that jump are realigned with the arrival times', async () => {
  const frames = sounds(20);
  const jumps = frames.map(({ ms, data }) => ({ ms: ms < 10_000 ? ms : ms + 7_200_000, data }));
  const path = join(dir, 'jump.mjr');
  // The arrival times continue without a jump.
  await writeMjr(path, 'opus', jumps, {
    startMs: START,
    delayMs: (index) => (index < 500 ? 20 : -7_199_980),
  });
  const track = await scanTrack(trackOf(path, 'opus'), 43_200_000, signal);
  assert.ok(track !== null);
  const { frames: found, zeroMs } = await piece(track, 0, 20_000);
  assert.equal(found.length, 1000 - 1);
  assert.ok(Math.abs((found.at(-1)?.ms ?? 0) - (zeroMs ?? 0) - 20_000) < 60);
});

test('a slice begins with the frame visible at its start, and is decoded from a keyframe', async () => {
  const track = await scanned('lead', pictures(10));
  const { frames, zeroMs } = await piece(track, 5010, 6000);
  assert.ok(frames[0]?.isKey);
  const lead = frames.filter(({ ms }) => ms <= (zeroMs ?? 0));
  // From 4000 to 5000 ms.
  assert.equal(lead.length, 26);
  assert.equal(lead.at(-1)?.ms, zeroMs);
  assert.deepEqual(
    frames.slice(26, 29).map(({ ms }) => ms - (zeroMs ?? 0)),
    [30, 70, 110],
  );
});

test('detects a camera that is off, a resolution change and a rotated phone', async () => {
  const frames = [
    ...pictures(2),
    ...pictures(2).map(({ ms, data }) => ({ ms: ms + 10_000, data })),
    { ms: 12_000, data: picture(true, { width: 320, height: 180 }) },
    { ms: 14_000, data: picture(true, { width: 480, height: 640 }) },
  ];
  const extension = { name: 'urn:3gpp:video-orientation', value: (ms: number) => (ms < 11_000 ? 0 : 1) };
  const track = await scanned('shapes', frames, { extension });
  assert.deepEqual(
    track.spans.map(({ fromMs, toMs }) => [fromMs - START, toMs - START]),
    [
      [0, 2000],
      [10_000, 14_040],
    ],
  );
  assert.deepEqual(
    track.shapes.map(({ width, height, degrees }) => [width, height, degrees]),
    [
      [640, 360, 0],
      [640, 360, 90],
      [480, 640, 90],
    ],
  );
});

test('loudness comes from the level extension that the browser sends', async () => {
  const extension = {
    name: 'urn:ietf:params:rtp-hdrext:ssrc-audio-level',
    value: (ms: number) => (ms < 1000 ? 127 : 0x80 | 20),
  };
  const { loudness } = await scanned('loud', sounds(2), { extension });
  assert.deepEqual([...loudness], [0, 0, 0, 0, 107, 107, 107, 107]);
});

test('reads any file content to the end without an error', async () => {
  const path = join(dir, 'fuzz.mjr');
  const files = [];
  for (const [codec, frames] of [
    ['vp8', pictures(2)],
    ['opus', sounds(3)],
  ] as const) {
    await writeMjr(path, codec, frames, { startMs: START });
    files.push({ codec, bytes: await readFile(path) });
  }
  const random = numbers(3);
  let read = 0;
  for (let round = 0; round < 150; round++) {
    for (const { codec, bytes } of files) {
      const broken = Buffer.from(
        bytes.subarray(0, Math.ceil(bytes.length * (round % 3 === 0 ? random() : 1))),
      );
      for (let count = 0; count < round; count++) {
        broken.writeUInt8(Math.floor(random() * 256), Math.floor(random() * broken.length));
      }
      await writeFile(path, broken);
      const track = await scanTrack(trackOf(path, codec), 43_200_000, signal);
      if (track === null) continue;
      read += 1;
      const { fromMs = 0 } = track.spans[0] ?? {};
      const span = { fromMs, toMs: fromMs + 3000 };
      await writeSlice({ track, span, dir, name: `fuzz-${codec}-${round}.mkv`, signal });
    }
  }
  // Most of the damage is inside packets, where only the payload is affected.
  assert.ok(read > 50, `${read} could be read`);
  for (const nothing of ['', 'MJR00002', 'MJR00002\0\u0002{}', 'MJR00001']) {
    await writeFile(path, nothing, 'latin1');
    assert.equal(await scanTrack(trackOf(path, 'vp8'), 43_200_000, signal), null);
  }
});
