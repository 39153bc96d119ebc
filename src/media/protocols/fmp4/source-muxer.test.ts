import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { parseFlv } from '../../../../test/rtmp/media.ts';
import { createFragmentReader, type Fragment } from '../../live/fragments.ts';
import { CodecError } from '../codec/bit-reader.ts';
import { flvHeader, flvTag } from '../flv/tags.ts';
import { SourceMuxer } from './source-muxer.ts';
import { opusDuration } from './track.ts';

const run = promisify(execFile);
const dir = await mkdtemp(join(tmpdir(), 'fmp4-'));
after(() => rm(dir, { recursive: true, force: true }));

const PICTURE = { width: 320, height: 180 };

/** Muxes a file fed in small chunks. */
function muxed(
  flv: Buffer,
  changes: { picture?: typeof PICTURE | null; hasSound?: boolean; now?: () => number } = {},
): { file: Buffer; fragments: Fragment[]; isChanged: boolean } {
  const made: Buffer[] = [];
  let isChanged = false;
  const muxer = new SourceMuxer({
    picture: PICTURE,
    hasSound: true,
    partMs: 200,
    now: () => 0,
    onBytes: (bytes) => made.push(bytes),
    onChanged: () => {
      isChanged = true;
    },
    ...changes,
  });
  for (let at = 0; at < flv.length; at += 997) muxer.push(flv.subarray(at, at + 997));
  muxer.end();
  const file = Buffer.concat(made);
  const pieces = createFragmentReader().push(file);
  const fragments = pieces.filter((piece) => piece.type === 'fragment');
  return { file, fragments, isChanged };
}

async function encoded(name: string, args: string[]): Promise<string> {
  const path = join(dir, name);
  const sources = ['-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=30', '-f', 'lavfi', '-i', 'sine=r=48000'];
  await run('ffmpeg', ['-v', 'error', ...sources, '-t', '3', ...args, '-f', 'flv', path]);
  return path;
}

/** When the packets of a track are shown, in seconds from the first one. */
async function times(path: string, track: 'v' | 'a'): Promise<number[]> {
  const shown = ['-show_entries', 'packet=pts_time', '-of', 'csv=p=0'];
  const { stdout } = await run('ffprobe', ['-v', 'error', '-select_streams', track, ...shown, path]);
  const all = stdout.trim().split('\n').map(Number.parseFloat);
  return all.map((time) => time - (all[0] ?? 0));
}

const flvPath = await encoded('b-frames.flv', ['-c:v', 'libx264', '-bf', '3', '-g', '30', '-c:a', 'aac']);
const flv = await readFile(flvPath);

test('mux: frames keep the presentation times of the encoder, and the file can be decoded', async () => {
  const { file, fragments } = muxed(flv);
  const path = join(dir, 'b-frames.mp4');
  await writeFile(path, file);
  assert.deepEqual(await times(path, 'v'), await times(flvPath, 'v'));
  const [sent, kept] = [await times(flvPath, 'a'), await times(path, 'a')];
  assert.equal(kept.length, sent.length);
  // FLV rounds to milliseconds.
  for (const [index, time] of kept.entries()) assert.ok(Math.abs(time - (sent[index] ?? 0)) < 0.0011);
  const { stderr } = await run('ffmpeg', ['-v', 'warning', '-xerror', '-i', path, '-f', 'null', '-']);
  assert.equal(stderr, '');
  assert.deepEqual(
    fragments.map(({ durationSec }) => Math.round(durationSec * 1000)),
    Array.from({ length: 15 }, () => 200),
  );
  const keys = fragments.flatMap(({ isIndependent }, index) => (isIndependent ? [index] : []));
  assert.deepEqual(keys, [0, 5, 10]);
});

test('mux: without sound there is silence of the same length', async () => {
  const { file } = muxed(flv, { hasSound: false });
  const path = join(dir, 'silent.mp4');
  await writeFile(path, file);
  const filter = ['-af', 'volumedetect', '-vn', '-f', 'null', '-'];
  const { stderr } = await run('ffmpeg', ['-hide_banner', '-i', path, ...filter]);
  assert.match(stderr, /max_volume: -91/);
  assert.ok((await times(path, 'a')).length >= 139);
});

test('mux: audio without video is cut by its own times', () => {
  const { fragments } = muxed(flv, { picture: null });
  assert.ok(fragments.length >= 13);
  assert.ok(fragments.every(({ isIndependent }) => isIndependent));
  assert.ok(fragments.slice(0, -1).every(({ durationSec }) => durationSec >= 0.2 && durationSec < 0.23));
});

/** Rewrites each tag of the publish, with other timestamps or payloads. */
function rewritten(change: (tag: { type: number; timestamp: number; payload: Buffer }) => Buffer): Buffer {
  const { tags } = parseFlv(flv);
  return Buffer.concat([flvHeader({ audio: true, video: true }), ...tags.map(change)]);
}

test('mux: timestamps that wrap around do not change the output', () => {
  const late = rewritten(({ type, timestamp, payload }) =>
    flvTag(type, (timestamp + 2 ** 32 - 1500) % 2 ** 32, payload),
  );
  assert.ok(muxed(late).file.equals(muxed(flv).file));
});

test('mux: H.264 and AAC in enhanced RTMP produce an identical file', () => {
  const enhanced = rewritten(({ type, timestamp, payload }) => {
    const isHeader = payload[1] === 0;
    if (type === 9 && payload[1] !== 2) {
      const head = [0x80 | ((payload[0] ?? 0) & 0x70) | (isHeader ? 0 : 1), ...Buffer.from('avc1')];
      return flvTag(type, timestamp, Buffer.from([...head, ...payload.subarray(isHeader ? 5 : 2)]));
    }
    if (type !== 8) return flvTag(type, timestamp, payload);
    const head = [isHeader ? 0x90 : 0x91, ...Buffer.from('mp4a')];
    return flvTag(type, timestamp, Buffer.from([...head, ...payload.subarray(2)]));
  });
  assert.ok(muxed(enhanced).file.equals(muxed(flv).file));
});

test('mux: another header ends it, the same one again does not', () => {
  const { tags } = parseFlv(flv);
  const header = tags.find(({ type, payload }) => type === 9 && payload[1] === 0)?.payload ?? Buffer.alloc(0);
  const other = Buffer.from(header);
  other[other.length - 1] = (other.at(-1) ?? 0) ^ 1;
  assert.equal(muxed(Buffer.concat([flv, flvTag(9, 4000, header)])).isChanged, false);
  // The PPS padded with a zero, as ffmpeg sends it after an interruption of its source.
  const sizeAt = 5 + 6 + 2 + header.readUInt16BE(5 + 6) + 1;
  const end = sizeAt + 2 + header.readUInt16BE(sizeAt);
  const padded = Buffer.concat([header.subarray(0, end), Buffer.of(0), header.subarray(end)]);
  padded.writeUInt16BE(end - sizeAt - 1, sizeAt);
  assert.equal(muxed(Buffer.concat([flv, flvTag(9, 4000, padded)])).isChanged, false);
  assert.equal(muxed(Buffer.concat([flv, flvTag(9, 4000, other)])).isChanged, true);
});

test('mux: for any input, fragments are complete and times never decrease', () => {
  const { tags } = parseFlv(flv);
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  for (let round = 0; round < 60; round += 1) {
    const hostile = tags.map(({ type, timestamp, payload }) => {
      const bytes = Buffer.from(payload.subarray(0, random(20) === 0 ? random(12) : payload.length));
      if (random(10) === 0 && bytes.length > 0) bytes[random(Math.min(bytes.length, 12))] = random(256);
      const at = random(10) === 0 ? random(2 ** 32) : timestamp;
      return flvTag(random(15) === 0 ? 8 + random(2) : type, at, bytes);
    });
    const bytes = Buffer.concat([flvHeader({ audio: true, video: true }), ...hostile]);
    try {
      const { fragments } = muxed(bytes, { hasSound: round % 3 > 0, now: () => round });
      let end = 0;
      for (const { startSec, durationSec } of fragments) {
        assert.ok(startSec >= end - 0.0001 && durationSec >= 0, `${startSec} after ${end}`);
        end = startSec + durationSec;
      }
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
    }
  }
});

test('Opus: the samples of a packet are read from its head', () => {
  assert.equal(opusDuration(Buffer.of(0xfc)), 960);
  assert.equal(opusDuration(Buffer.of(0xfd)), 1920);
  assert.equal(opusDuration(Buffer.of(0x03, 3)), 1440);
  assert.equal(opusDuration(Buffer.alloc(0)), 480);
});
