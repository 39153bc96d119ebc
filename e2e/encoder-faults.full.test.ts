import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { type PublisherOptions, startPublisher } from '../test/rtmp/publisher.ts';

let platform: RunningPlatform;
let partner: Partner;
let browser: TestBrowser;

before(async () => {
  [platform, browser] = await Promise.all([startPlatform(), launchBrowser()]);
  partner = createPartner(platform);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
});

/** Starts a broadcast whose encoder can be replaced. */
async function broadcast(t: TestContext) {
  const stream = await partner.createStream();
  const publish = (options: Omit<PublisherOptions, 'url'>) => {
    const url = `rtmp://127.0.0.1:${platform.rtmpPort}/live/${stream.streamKey}`;
    const encoder = startPublisher({ url, ...options });
    t.after(() => encoder.stop());
    return encoder;
  };
  await partner.start(stream.id);
  const { page, close } = await browser.open(`${platform.url}/watch/${stream.id}`);
  t.after(close);
  t.after(() => partner.stop(stream.id));
  const frames = () =>
    page.evaluate<number>('document.querySelector("video")?.getVideoPlaybackQuality().totalVideoFrames ?? 0');
  let issues: readonly string[] = [];
  return {
    publish,
    /** Waits until the page plays on without intervention. */
    async plays(): Promise<void> {
      const from = await frames();
      const isMore = async () => (await frames()) > from + 60;
      await waitFor(isMore, { timeoutMs: 60_000, message: 'more pictures on the watch page' });
    },
    async says(word: string, isThere = true): Promise<void> {
      const isSo = async () => {
        const { health } = await partner.stream(stream.id);
        issues = health?.issues ?? [];
        return health !== null && issues.includes(word) === isThere;
      };
      const what = isThere ? word : `no ${word}`;
      await waitFor(isSo, { timeoutMs: 90_000, message: () => `${what}; there is: ${issues.join(' ')}` });
    },
  };
}

test('keyframes ten seconds apart raise an issue, play, and clear it with the next encoder', async (t) => {
  const { publish, plays, says } = await broadcast(t);
  const first = publish({ gopSec: 10 });
  await says('KEYFRAME_INTERVAL');
  await plays();
  await first.stop();
  publish({ gopSec: 2 });
  await says('KEYFRAME_INTERVAL', false);
  await plays();
});

test('a signal with a short gap is unsteady, and steady again half a minute later', async (t) => {
  const { publish, plays, says } = await broadcast(t);
  const encoder = publish({});
  await plays();
  encoder.kill('SIGSTOP');
  await says('BITRATE_UNSTABLE');
  encoder.kill('SIGCONT');
  await plays();
  await says('BITRATE_UNSTABLE', false);
});

test('a large video of low bitrate raises an issue, and a sufficient one of another size clears it', async (t) => {
  const { publish, plays, says } = await broadcast(t);
  const poor = publish({
    width: 1280,
    height: 720,
    bitrateKbps: 100,
    audio: false,
    extraArgs: ['-crf', '51'],
  });
  await says('BITRATE_LOW');
  await poor.stop();
  publish({ bitrateKbps: 900 });
  await says('BITRATE_LOW', false);
  await plays();
});

/** Moves timestamps ahead by a minute after this packet; timestamps of FLV are in milliseconds. */
const JUMP = (packet: number) => `setts=ts=if(gt(N\\,${packet})\\,TS+60000\\,TS)`;

test('jumping timestamps raise an issue, and playback continues', async (t) => {
  const { publish, plays, says } = await broadcast(t);
  publish({ extraArgs: ['-bsf:v', JUMP(240), '-bsf:a', JUMP(375)] });
  await plays();
  await says('TIMESTAMP_JUMP');
  await plays();
});

test('irregular frames play', async (t) => {
  const { publish, plays } = await broadcast(t);
  publish({ extraArgs: ['-vf', "select='not(lt(mod(t\\,4)\\,2)*mod(n\\,3))'", '-fps_mode', 'vfr'] });
  await plays();
});

test('an encoder with an unsupported codec is disconnected, and health reports the issue', async (t) => {
  const { publish, says } = await broadcast(t);
  const encoder = publish({ seconds: 20, extraArgs: ['-c:v', 'flv'] });
  assert.notEqual((await encoder.exited).code, 0);
  await says('UNSUPPORTED_CODEC');
});
