import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { audioHeader, videoFrame } from '../../../test/rtmp/media.ts';
import { readAudioPacket } from '../protocols/codec/flv-audio.ts';
import { silentPacket } from '../protocols/codec/silence.ts';
import { FlvTagType } from '../protocols/flv/tags.ts';
import { TrackFiller } from './track-filler.ts';

/** AudioSpecificConfigs of AAC-LC: 48 kHz stereo, 44.1 kHz mono, 48 kHz 5.1. */
const CONFIGS = ['1190', '1208', '11b0'];
const AUDIO_MS = 20;
const VIDEO_MS = 40;

function filler() {
  const emitted: { type: number; timestamp: number; keyframe: boolean }[] = [];
  const made = new TrackFiller({
    emit: (type, timestamp, _payload, keyframe) => emitted.push({ type, timestamp, keyframe }),
  });
  made.setSilence({ payload: Buffer.of(0xaf, 1, 0), durationMs: AUDIO_MS });
  const send = {
    video: (from: number, to: number, keys = (at: number) => at % 2000 === 0) => {
      const passed: number[] = [];
      for (let at = from; at < to; at += VIDEO_MS)
        if (made.video(at % 2 ** 32, videoFrame(keys(at)), keys(at), at)) passed.push(at);
      return passed;
    },
    audio: (from: number, to: number) => {
      const passed: number[] = [];
      for (let at = from; at < to; at += AUDIO_MS) if (made.audio(at % 2 ** 32, at)) passed.push(at);
      return passed;
    },
    both: (from: number, to: number) => {
      for (let at = from; at < to; at += VIDEO_MS) {
        send.video(at, at + VIDEO_MS);
        send.audio(at, at + VIDEO_MS);
      }
    },
  };
  return { made, emitted, ...send };
}

test('silence begins where audio ended and stays within a second of the video', () => {
  const { made, emitted, both, video, audio } = filler();
  both(0, 4000);
  assert.deepEqual([emitted, made.issues()], [[], []]);
  video(4000, 8000);
  assert.deepEqual(made.issues(), ['AUDIO_STOPPED']);
  const times = emitted.map(({ timestamp }) => timestamp);
  assert.deepEqual(
    times,
    Array.from({ length: times.length }, (_, i) => 4000 + i * AUDIO_MS),
  );
  assert.ok((times.at(-1) ?? 0) > 7500 && (times.at(-1) ?? 0) < 8000);
  assert.ok(emitted.every(({ type, keyframe }) => type === FlvTagType.audio && !keyframe));
  // Returning audio continues where silence ends: overlapping packets are dropped.
  const passed = audio(7000, 8200);
  assert.equal(passed[0], (times.at(-1) ?? 0) + AUDIO_MS);
  assert.deepEqual(made.issues(), []);
});

test('the last keyframe is repeated while video is missing, until a keyframe arrives', () => {
  const { made, emitted, both, video, audio } = filler();
  both(0, 3000);
  audio(3000, 6000);
  assert.deepEqual(made.issues(), ['VIDEO_STOPPED']);
  assert.ok(emitted.every(({ type, keyframe }) => type === FlvTagType.video && keyframe));
  const times = emitted.map(({ timestamp }) => timestamp);
  assert.equal(times[0], 3160, 'a step after the last frame');
  for (const [i, at] of times.slice(1).entries()) assert.equal(at - (times[i] ?? 0), 200);
  assert.deepEqual(video(6000, 6400), range(6000, 6400), 'a keyframe and all after it');
  assert.deepEqual(made.issues(), []);
  both(6400, 11_000);
  audio(11_000, 14_000);
  assert.equal(video(14_040, 17_000)[0], 16_000, 'frames that refer to lost ones are dropped');
});

test('the repeated keyframe is the last one, whatever the sizes of those before', () => {
  const repeated: Buffer[] = [];
  const filler = new TrackFiller({
    emit: (_type, _timestamp, payload) => repeated.push(Buffer.from(payload)),
  });
  for (const [index, bytes] of [300, 5000, 40].entries()) {
    const payload = videoFrame(true, bytes);
    filler.video(index * 1000, payload, true, index * 1000);
    // The reader of the connection reuses its memory.
    payload.fill(0);
  }
  for (let at = 0; at < 6000; at += AUDIO_MS) filler.audio(at, at);
  assert.ok(repeated.length > 0);
  for (const payload of repeated) assert.deepEqual(payload, videoFrame(true, 40));
});

test('a video of few frames is not replaced between two of them', () => {
  const { emitted, audio, made } = filler();
  for (let at = 0; at < 20_000; at += 1000) {
    made.video(at, videoFrame(at % 4000 === 0), at % 4000 === 0, at);
    audio(at, at + 1000);
  }
  assert.deepEqual(emitted, []);
});

test('a stall of both tracks and a jump of the clock replace nothing', () => {
  const { emitted, both } = filler();
  both(0, 2000);
  both(10_000, 12_000);
  both(2 ** 32 - 2000, 2 ** 32 + 2000);
  assert.deepEqual(emitted, []);
});

test('timestamps that run ahead of the clock are not filled', () => {
  const { made, emitted, both } = filler();
  both(0, 4000);
  // 1,000 frames in a second, each nine seconds after the one before.
  for (let i = 1; i <= 1000; i += 1)
    made.video((4000 + i * 9000) % 2 ** 32, videoFrame(false), false, 4000 + i);
  assert.ok(emitted.length <= 4000 / AUDIO_MS, `${emitted.length} packets of silence`);
});

for (const config of CONFIGS) {
  test(`the silence of AAC ${config} is decoded without an error`, () => {
    const header = audioHeader(config);
    const silence = silentPacket(readAudioPacket(header), header);
    assert.ok(silence !== null);
    const asc = Buffer.from(config, 'hex');
    const adts = Array.from({ length: 40 }, () => adtsFrame(asc, silence.payload.subarray(2)));
    const pcm = execFileSync(
      'ffmpeg',
      ['-v', 'error', '-xerror', '-f', 'aac', '-i', 'pipe:0', '-f', 's16le', 'pipe:1'],
      { input: Buffer.concat(adts), stdio: ['pipe', 'pipe', 'pipe'] },
    );
    assert.ok(pcm.length > 0 && pcm.every((byte) => byte === 0));
  });
}

test('the silence of Opus lasts 20 ms, and an unknown codec has none', () => {
  const opus = Buffer.concat([Buffer.of(0x90), Buffer.from('Opus'), Buffer.alloc(19)]);
  assert.equal(silentPacket(readAudioPacket(opus), opus)?.durationMs, 20);
  const speex = Buffer.of(0xb2, 1, 2, 3);
  assert.equal(silentPacket(readAudioPacket(speex), speex), null);
});

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / VIDEO_MS) }, (_, i) => from + i * VIDEO_MS);
}

/** Prepends an ADTS header to a raw data block (ISO/IEC 14496-3, 1.A.2.2). */
function adtsFrame(config: Buffer, data: Buffer): Buffer {
  const bits = config.readUInt16BE(0);
  const [rate, channels] = [(bits >> 7) & 15, (bits >> 3) & 15];
  const length = data.length + 7;
  const head = Buffer.of(
    ...[0xff, 0xf1, 0x40 | (rate << 2) | (channels >> 2), ((channels & 3) << 6) | (length >> 11)],
    ...[(length >> 3) & 0xff, ((length & 7) << 5) | 0x1f, 0xfc],
  );
  return Buffer.concat([head, data]);
}
