import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AAC_48K_STEREO,
  AVC_360P30,
  AVC_1080P60,
  audioFrame,
  audioHeader,
  videoFrame,
  videoHeader,
} from '../../../test/rtmp/media.ts';
import { flvHeader, flvTag } from '../protocols/flv/tags.ts';
import { Feed } from './feed.ts';
import type { FeedItem } from './feed-item.ts';

function collector() {
  const items: FeedItem[] = [];
  return { items, item: (item: FeedItem) => void items.push(item), flush: () => {} };
}
const brief = ({ type, timestamp, kind, isKeyframe }: FeedItem) =>
  `${type === 9 ? 'video' : 'audio'} ${timestamp} ${isKeyframe ? 'keyframe' : kind}`;
const HEAD = [
  flvHeader({ video: true, audio: true }),
  flvTag(9, 7000, videoHeader(AVC_360P30)),
  flvTag(8, 7000, audioHeader(AAC_48K_STEREO)),
];

test('a reader that joins in the middle begins at the last keyframe, after the headers', () => {
  const feed = new Feed(() => 0);
  const first = collector();
  feed.attach(first);
  for (const piece of HEAD) feed.push(piece);
  feed.push(flvTag(9, 7033, videoFrame(false)));
  assert.deepEqual(
    first.items.map(brief),
    ['video 0 header', 'audio 0 header'],
    'no picture before a keyframe',
  );
  feed.push(flvTag(9, 7066, videoFrame(true)));
  feed.push(flvTag(8, 7070, audioFrame()));
  const second = collector();
  feed.attach(second);
  assert.deepEqual(second.items.map(brief), [
    'video 33 header',
    'audio 33 header',
    'video 33 keyframe',
    'audio 37 frame',
  ]);
  assert.deepEqual(feed.codecs, { video: 'avc1', audio: 'mp4a' });
});

test('the next file continues after the end of the last one, delayed by the time between them', () => {
  let now = 0;
  const feed = new Feed(() => now);
  const reader = collector();
  feed.attach(reader);
  feed.push(Buffer.concat([...HEAD, flvTag(9, 7000, videoFrame(true)), flvTag(9, 7040, videoFrame(false))]));
  assert.equal(feed.isFlowing, true);
  now = 10_000;
  assert.equal(feed.isFlowing, false);
  reader.items.length = 0;
  feed.push(
    Buffer.concat([flvHeader({ video: true, audio: false }), flvTag(9, 0, videoHeader(AVC_1080P60))]),
  );
  feed.push(Buffer.concat([flvTag(9, 500, videoFrame(true)), flvTag(9, 516, videoFrame(false))]));
  assert.deepEqual(reader.items.map(brief), ['video 40 header', 'video 10040 keyframe', 'video 10056 frame']);
});

test('nothing flows before the tracks are known: audio may arrive before video, or be the only track', () => {
  const withPictures = new Feed(() => 0);
  for (const piece of HEAD) withPictures.push(piece);
  assert.equal(withPictures.isFlowing, false);
  withPictures.push(flvTag(9, 7000, videoFrame(true)));
  assert.equal(withPictures.isFlowing, true);

  const sound = new Feed(() => 0);
  let changes = 0;
  sound.onChange(() => {
    changes += 1;
  });
  sound.push(Buffer.concat([flvHeader({ video: false, audio: true }), flvTag(8, 100, audioFrame())]));
  sound.push(flvTag(8, 1099, audioFrame()));
  assert.equal(sound.isFlowing, false);
  changes = 0;
  sound.push(flvTag(8, 1100, audioFrame()));
  assert.equal(sound.isFlowing, true);
  assert.equal(changes, 1);
});

test('it is cut into tags wherever its pieces end', () => {
  const file = Buffer.concat([
    ...HEAD,
    flvTag(9, 7000, videoFrame(true, 5000)),
    flvTag(8, 7001, audioFrame()),
  ]);
  for (const size of [1, 2, 13, 100, 4999]) {
    const feed = new Feed(() => 0);
    const reader = collector();
    feed.attach(reader);
    for (let at = 0; at < file.length; at += size) feed.push(file.subarray(at, at + size));
    assert.deepEqual(reader.items.map(brief), [
      'video 0 header',
      'audio 0 header',
      'video 0 keyframe',
      'audio 1 frame',
    ]);
  }
});
