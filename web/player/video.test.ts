import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { RenditionList } from './renditions.ts';
import { countView } from './view-count.ts';

const rendition = (id: string, height: number) => ({
  id,
  width: (height * 16) / 9,
  height,
  bitrate: height * 1000,
});

test('a chosen rendition is reported and preserved by size when the list changes', () => {
  const list = new RenditionList();
  const chosen: number[] = [];
  let changes = 0;
  list.onSelect = (index) => chosen.push(index);
  list.addEventListener('change', () => {
    changes += 1;
  });
  list.replace([rendition('0', 360), rendition('1', 720)]);
  assert.deepEqual([list.length, list[1]?.height, [...list].map(({ id }) => id)], [2, 720, ['0', '1']]);
  list.selectedIndex = 0;
  list.selectedIndex = 0;
  assert.deepEqual([chosen, changes], [[-1, 0], 2]);
  list.replace([rendition('0', 180), rendition('1', 360), rendition('2', 720)]);
  assert.equal(list.selectedIndex, 1, 'the 360 lines of before');
  list.replace([rendition('0', 720)]);
  assert.deepEqual([list.selectedIndex, list.length, list[1]], [-1, 1, undefined]);
});

/** A video that a test plays and seeks. */
function setUp(t: TestContext, duration: number) {
  const sent: string[] = [];
  t.mock.method(globalThis, 'fetch', async (url: string, { body }: { body: string }) => {
    sent.push(`${url} ${body}`);
  });
  Object.assign(globalThis, { document: { referrer: '' } });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  const video = Object.assign(new EventTarget(), { currentTime: 0, duration, seeking: false });
  Reflect.apply(countView, undefined, [video, '/views']);
  const at = (second: number) => {
    video.currentTime = second;
    video.dispatchEvent(new Event('timeupdate'));
  };
  return {
    sent,
    at,
    play(from: number, to: number) {
      at(from);
      for (let second = from + 0.25; second <= to; second += 0.25) at(second);
    },
  };
}

test('a view is sent once after ten watched seconds, and seeking does not count', (t) => {
  const { sent, at, play } = setUp(t, 600);
  play(0, 6);
  at(300);
  at(590);
  assert.deepEqual(sent, []);
  play(100, 103.75);
  assert.deepEqual(sent, []);
  play(200, 230);
  assert.equal(sent.length, 1);
  assert.match(sent[0] ?? '', /^\/views \{"sessionId":"[0-9a-f]{32}","positionSec":\d+\}$/);
});

test('a quarter of a short video counts as a view', (t) => {
  const { sent, play } = setUp(t, 8);
  play(0, 1.75);
  assert.equal(sent.length, 0);
  play(1.75, 2.25);
  assert.equal(sent.length, 1);
});
