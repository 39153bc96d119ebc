import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { needsOwnProcess } from '../../../test/harness/needs.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { startBroadcast, wanted } from '../../../test/restream/broadcast.ts';
import { startTcp } from '../../../test/restream/destinations.ts';
import { startIngest } from '../../../test/rtmp/ingest.ts';
import {
  AAC_48K_STEREO,
  AVC_360P30,
  audioHeader,
  videoFrame,
  videoHeader,
} from '../../../test/rtmp/media.ts';
import { flvHeader, flvTag } from '../protocols/flv/tags.ts';

needsOwnProcess();

test('a destination that stops reading is disconnected, without using memory or affecting others', async (t) => {
  const own = await startIngest(t);
  let held = 0;
  // Stops reading half-way through.
  const stuck = await startTcp(t, (socket) => {
    const behind = connect(own.port, '127.0.0.1').on('error', () => {});
    socket.on('data', (data) => {
      held += data.length;
      if (held > 200_000) socket.pause();
      else behind.write(data);
    });
    behind.on('data', (data) => void socket.write(data));
    socket.on('close', () => behind.destroy());
  });
  const { sender, last } = await startBroadcast(t);
  sender.want([
    wanted('stuck', `rtmp://127.0.0.1:${stuck}/live`, { streamKey: 'key-stuck' }),
    wanted('good', `rtmp://127.0.0.1:${own.port}/live`, { streamKey: 'key-good' }),
  ]);
  sender.input(
    Buffer.concat([flvHeader({ video: true, audio: true }), flvTag(9, 0, videoHeader(AVC_360P30))]),
  );
  sender.input(flvTag(8, 0, audioHeader(AAC_48K_STEREO)));
  let at = 0;
  const feed = setInterval(() => {
    at += 10;
    sender.input(flvTag(9, at, videoFrame(at % 500 === 10, 60_000)));
  }, 10);
  t.after(() => clearInterval(feed));
  await waitFor(() => last('good')?.state === 'BROADCASTING');
  const before = process.memoryUsage.rss();
  const given = await waitFor(
    () => {
      const report = last('stuck');
      return report?.state === 'ERRORED' && report;
    },
    { timeoutMs: 20_000 },
  );
  assert.match(given.message ?? '', /receives data too slowly/);
  assert.ok(process.memoryUsage.rss() - before < 150 * 2 ** 20);
  assert.equal(last('good')?.state, 'BROADCASTING');
  const [good] = own.sessions('media').filter(({ streamId }) => streamId === 'str_good');
  const bytes = own.engine.stats(good?.sessionId ?? '')?.bytes ?? 0;
  assert.ok(bytes > (at / 10) * 50_000, 'the other has got it all');
});
