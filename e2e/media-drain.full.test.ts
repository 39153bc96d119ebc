import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import type { RunningPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { nextPart, startTwoNodes, type TwoNodes } from '../test/live/two-nodes.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

const WAITING = 'waiting for the last broadcast to end';
const disconnectionsOf = (playlist: string) =>
  Number(/#EXT-X-DISCONTINUITY-SEQUENCE:(\d+)/.exec(playlist)?.[1] ?? 0) +
  (playlist.match(/^#EXT-X-DISCONTINUITY$/gm)?.length ?? 0);

async function playlistOf({ get }: TwoNodes): Promise<string> {
  const { status, text } = await get('src/index.m3u8');
  return status === 200 ? text : '';
}

/** Waits until two more segments are playable. */
async function plays(nodes: TwoNodes): Promise<void> {
  let before: number | null = null;
  await waitFor(
    async () => {
      const playlist = await playlistOf(nodes);
      if (!playlist.includes('#EXT-X-PART')) return false;
      const { msn } = nextPart(playlist);
      before ??= msn;
      return msn > before + 1;
    },
    { timeoutMs: 20_000, intervalMs: 200, message: 'a broadcast that continues' },
  );
}

async function drain(node: RunningPlatform): Promise<void> {
  node.process.kill('SIGTERM');
  await waitFor(() => node.output().includes(WAITING), { timeoutMs: 10_000 });
}

describe('MEDIA_DRAIN=move', () => {
  let nodes: TwoNodes;
  before(async () => {
    nodes = await startTwoNodes();
  });
  after(() => nodes?.close());

  test('an encoder of a stopped node reconnects to another one, and players continue with one discontinuity', async () => {
    await plays(nodes);
    const other = await nodes.startMedia();
    const before = await playlistOf(nodes);
    try {
      const stopped = nodes.media.stop();
      await nodes.encoder.exited;
      nodes.publish(other);
      const statuses = new Set<number>();
      let playlist = '';
      await waitFor(
        async () => {
          const { status, text } = await nodes.get('src/index.m3u8');
          statuses.add(status);
          playlist = text;
          return (
            status === 200 &&
            disconnectionsOf(text) > disconnectionsOf(before) &&
            text.includes('#EXT-X-PART')
          );
        },
        { timeoutMs: 20_000, intervalMs: 100, message: () => `playback that continues:\n${playlist}` },
      );
      assert.equal(disconnectionsOf(playlist), disconnectionsOf(before) + 1, playlist);
      assert.ok(nextPart(playlist).msn > nextPart(before).msn, 'segment numbers continue');
      assert.deepEqual(
        [...statuses].filter((status) => status >= 500),
        [],
      );
      assert.equal(await stopped, 0);
    } finally {
      await nodes.encoder.stop();
      await other.stop();
    }
  });
});

describe('MEDIA_DRAIN=wait', () => {
  let nodes: TwoNodes;
  before(async () => {
    nodes = await startTwoNodes({ MEDIA_DRAIN: 'wait' });
  });
  after(() => nodes?.close());

  test('a second signal ends the wait', async () => {
    const other = await nodes.startMedia();
    await plays(nodes);
    const replaced = nodes.encoder;
    nodes.publish(other);
    await replaced.exited;
    await plays(nodes);
    const ended = once(other.process, 'exit');
    await drain(other);
    other.process.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
    await nodes.encoder.exited;
    await other.stop();
    nodes.publish();
  });

  test('a stopped node refuses new encoders and ends after its last broadcast', async () => {
    const { media, partner } = nodes;
    await plays(nodes);
    const ended = once(media.process, 'exit');
    await drain(media);
    const { streamKey } = await partner.createStream({});
    const refused = startPublisher({ url: `rtmp://127.0.0.1:${media.rtmpPort}/live/${streamKey}` });
    const { code, stderr } = await refused.exited;
    assert.notEqual(code, 0);
    assert.match(stderr, /The server is temporarily unavailable\. Try again\./);
    await plays(nodes);
    assert.equal(media.process.exitCode, null);
    await nodes.encoder.stop();
    assert.deepEqual(await ended, [0, null]);
  });
});
