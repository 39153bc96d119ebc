import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingestSession } from '../../../test/harness/factories.ts';
import { OLD_ABILITIES } from '../../../test/live/ffmpeg.ts';
import { ingestStats } from '../../../test/live/ingest-stats.ts';
import type { IngestStats } from '../contract/index.ts';
import { SignalWatch } from './health.ts';
import { planLadder } from './ladder.ts';

const video = { codec: 'avc1.64001f', width: 1280, height: 720, fps: 30 };

function watched({
  maxRungs = 0,
  latencyMode = 'STANDARD',
}: {
  maxRungs?: number;
  latencyMode?: 'LOW' | 'STANDARD';
} = {}) {
  const grant = { streamId: 'str_1', maxHeight: 1080, maxFps: 60, latencyMode };
  const session = ingestSession('str_1', { grant, video });
  const audio = { codec: 'mp4a.40.2', sampleRate: 48_000, channels: 2 };
  const ladder = planLadder({
    video,
    audio,
    grant,
    maxRungs,
    coresLeft: 8,
    abilities: OLD_ABILITIES,
    longKeyframeInterval: false,
  });
  assert.ok(ladder.ok);
  const { plan } = ladder;
  const watch = new SignalWatch();
  return (atSec: number, stats: Partial<IngestStats>, packagedSec = atSec) =>
    watch.look(
      {
        session,
        stats: ingestStats({ bitrateKbps: 3000, mediaMs: atSec * 1000, ...stats }),
        plan,
        failure: null,
        packaged: { ms: packagedSec * 1000, longestMs: 2000, isLate: false },
      },
      atSec * 1000,
    ).issues;
}

/** Bitrate above the minimum for this resolution, by less than a fifth. */
const NEARLY_KBPS = 440;

test('BITRATE_LOW: appears after ten seconds of too low a bitrate for the resolution', () => {
  const look = watched();
  assert.deepEqual(look(0, { bitrateKbps: 300 }), []);
  assert.deepEqual(look(9.9, { bitrateKbps: 300 }), []);
  assert.deepEqual(look(10, { bitrateKbps: 300 }), ['BITRATE_LOW']);
  assert.deepEqual(look(10.5, { bitrateKbps: NEARLY_KBPS }), ['BITRATE_LOW'], 'it does not flicker');
  assert.deepEqual(look(11, { bitrateKbps: 900 }), []);
  assert.deepEqual(look(12, { bitrateKbps: 300 }), [], 'it begins anew');
});

test('TRANSCODE_LAG: appears when encoding falls behind the ingest; never for a copy', () => {
  const look = watched({ maxRungs: 2 });
  for (let sec = 2; sec < 60; sec++)
    assert.deepEqual(look(sec, {}, Math.floor(sec / 2) * 2 - 2), [], `${sec}`);
  for (let sec = 60; sec < 70; sec++) look(sec, {}, 58 + (sec - 60) / 4);
  assert.deepEqual(look(72, {}, 61), ['TRANSCODE_LAG']);
  const copied = watched();
  for (let sec = 2; sec < 30; sec++) assert.deepEqual(copied(sec, {}, 2), []);
});
