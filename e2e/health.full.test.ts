import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

let platform: RunningPlatform;
let partner: Partner;
before(async () => {
  platform = await startPlatform();
  partner = createPartner(platform);
});
after(() => platform?.stop());

interface Hour {
  healthy: boolean | null;
  codes: string[];
  remedies: string;
  points: Record<string, unknown>[];
}

async function hourOf(id: string): Promise<Hour> {
  const { data } = await partner.call('GET', `/streams/${id}/health`);
  const { healthy, issues, points } = Object(data);
  const words = [...Object.values(issues)].map((issue) => Object(issue));
  return {
    healthy,
    codes: words.map(({ code }) => String(code)),
    remedies: words.map(({ remedy }) => String(remedy)).join(' '),
    points: [...Object.values(points)].map((point) => Object(point)),
  };
}

/** Keyframes every ten seconds, and too few bits for 720p. */
function badEncoder(streamKey: string) {
  return startPublisher({
    url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`,
    width: 1280,
    height: 720,
    fps: 15,
    gopSec: 10,
    bitrateKbps: 60,
  });
}

test('issues of a real encoder are shown with a remedy, emitted, and cleared when the media process ends', async (t) => {
  const { id, streamKey } = await partner.createStream({ title: 'Bad signal' });
  const encoder = badEncoder(streamKey);
  t.after(() => encoder.stop());
  let seen: Hour | undefined;
  const says = (...codes: string[]) =>
    waitFor(
      async () => {
        seen = await hourOf(id);
        return codes.every((code) => seen?.codes.includes(code)) ? seen : null;
      },
      { timeoutMs: 30_000, intervalMs: 500, message: () => `${codes}: ${JSON.stringify(seen)}` },
    );
  const { healthy, remedies } = await says('KEYFRAME_INTERVAL', 'BITRATE_LOW');
  assert.equal(healthy, false);
  assert.match(remedies, /keyframe interval of the encoder to 2 s/);
  assert.match(remedies, /Raise the encoder bitrate/);
  const { points } = await waitFor(async () => ((await hourOf(id)).points.length > 0 ? hourOf(id) : null), {
    timeoutMs: 20_000,
  });
  assert.ok(Number(points.at(-1)?.bitrateKbps) > 0, JSON.stringify(points));

  // The encoder stalls for a few seconds, and catches up.
  encoder.kill('SIGSTOP');
  await says('BITRATE_UNSTABLE');
  encoder.kill('SIGCONT');
  await waitFor(async () => Number(Object((await partner.stream(id)).health).lateFrames) > 0, {
    timeoutMs: 20_000,
    message: 'late frames',
  });
  const { data } = await partner.call('GET', '/me/events?type=stream.health_changed');
  const told = [...Object.values(Object(data))].map((event) => Object(event).data);
  assert.equal(told.length, 1, 'at most once a minute');
  assert.ok(told[0].issues.length > 0 && told[0].healthy === false, JSON.stringify(told));

  process.kill(singleItem(childrenOf(platform.process.pid ?? -1, '/media.')), 'SIGKILL');
  await encoder.exited;
  await waitFor(async () => (await hourOf(id)).healthy === null, {
    timeoutMs: 20_000,
    message: 'a signal that has gone has no health',
  });
});
