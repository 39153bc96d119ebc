import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ImportFailure, parseResponse, progressOf, type ReceivedState, sourceOf, titleOf } from './rules.ts';

const headers = (entries: Record<string, string>) => new Map(Object.entries(entries));
const received: ReceivedState = { bytes: 100, total: 1000, validator: '"a"' };

test('each URL is classified by its provider', () => {
  const cases: [string, string, boolean][] = [
    ['https://www.youtube.com/watch?v=abc', 'YOUTUBE', false],
    ['https://youtu.be/abc', 'YOUTUBE', false],
    ['https://notyoutube.com/watch', 'URL', true],
    ['https://vimeo.com/12345', 'VIMEO', false],
    ['https://player.vimeo.com/progressive_redirect/playback/1/file.mp4', 'VIMEO', true],
    ['https://www.twitch.tv/videos/1', 'TWITCH', false],
    ['https://bucket.s3.eu-west-1.amazonaws.com/a.mp4', 'S3', true],
    ['https://s3.amazonaws.com/bucket/a.mp4', 'S3', true],
    ['https://files.example.com/a.mp4?X-Amz-Signature=1', 'S3', true],
    ['https://tube.example.org/w/9c9de5e8-0a1e-484a', 'PEERTUBE', true],
    ['https://tube.example.org/videos/watch/9c9de5e8-0a1e-484a', 'PEERTUBE', true],
    ['https://example.com/w/short', 'URL', true],
    ['https://example.com/video.mp4', 'URL', true],
  ];
  for (const [url, provider, canFetch] of cases) {
    const source = sourceOf(new URL(url));
    assert.deepEqual([url, source.provider, source.refusal === null], [url, provider, canFetch]);
  }
});

test('the title is the name of the file, or of the host', () => {
  const title = (url: string) => titleOf(new URL(url));
  assert.equal(title('https://a.example/x/My%20holiday.mp4?token=1'), 'My holiday');
  assert.equal(title('https://a.example/%E0%A4%A.mov'), '%E0%A4%A');
  assert.equal(title('https://a.example/'), 'a.example');
  assert.equal(title('https://a.example/%00%0A'), 'a.example');
  assert.ok(title(`https://a.example/${'%F0%9F%8E%AC'.repeat(300)}.mp4`).length <= 200);
});

test('response headers yield the offset, total and validator of the remaining bytes', () => {
  const ok = { 'content-length': '1000', etag: '"a"' };
  assert.deepEqual(parseResponse(200, headers(ok), received), { offset: 0, total: 1000, validator: '"a"' });
  const part = { 'content-length': '900', 'content-range': 'bytes 100-999/1000', etag: '"a"' };
  assert.deepEqual(parseResponse(206, headers(part), received), {
    offset: 100,
    total: 1000,
    validator: '"a"',
  });
  assert.equal(parseResponse(416, headers({ 'content-range': 'bytes */100' }), received), null);
  const passing = (status: number, entries: Record<string, string>, is = received) =>
    assert.throws(
      () => parseResponse(status, headers(entries), is),
      (error: unknown) => error instanceof ImportFailure && error.isPassing,
    );
  passing(206, { 'content-range': 'bytes 50-999/1000' });
  passing(206, {});
  passing(206, { 'content-range': 'bytes 100-1999/2000' });
  // An unrequested partial response: its total would be taken for the size of the file.
  passing(206, { 'content-range': 'bytes 0-999/1' }, { bytes: 0, total: null, validator: null });
  passing(206, { 'content-range': 'bytes 100-999/1000' }, { ...received, validator: null });
  passing(416, { 'content-range': 'bytes */50' });
  passing(416, {}, { ...received, bytes: 0 });
  passing(500, {});
  passing(304, {});
  assert.throws(
    () => parseResponse(404, headers({}), received),
    (error: unknown) => error instanceof ImportFailure && !error.isPassing,
  );
});

test('only headers that identify exactly these bytes are validators', () => {
  const validator = (entries: Record<string, string>) =>
    parseResponse(200, headers(entries), received)?.validator;
  assert.equal(validator({ etag: 'W/"a"' }), null);
  assert.equal(validator({ etag: 'W/"a"', 'last-modified': 'now' }), 'now');
  assert.equal(validator({ etag: '"a"', 'accept-ranges': 'none' }), null);
  assert.equal(validator({}), null);
});

test('a response that is not a video file fails permanently', () => {
  const types = [
    'text/html; charset=utf-8',
    'application/vnd.apple.mpegurl',
    'application/json',
    'application/ld+json',
    'image/png',
  ];
  for (const type of types) {
    assert.throws(
      () => parseResponse(200, headers({ 'content-type': type }), received),
      (error: unknown) => error instanceof ImportFailure && !error.isPassing,
      type,
    );
  }
  assert.throws(() => parseResponse(200, headers({ 'content-encoding': 'gzip' }), received), /compressed/);
  for (const type of ['video/mp4', 'application/octet-stream', 'binary/octet-stream', 'text/plain', '']) {
    assert.ok(parseResponse(200, headers({ 'content-type': type }), received), type);
  }
});

test('progress is 100 only after the whole file has been received', () => {
  assert.equal(progressOf('DOWNLOADING', 999, 1000), 99);
  assert.equal(progressOf('DOWNLOADING', 1000, 1000), 99);
  assert.equal(progressOf('DOWNLOADING', 500, null), 0);
  assert.equal(progressOf('PENDING', 0, null), 0);
  assert.equal(progressOf('PROCESSING', 5, 5), 100);
  assert.equal(progressOf('FAILED', 250, 1000), 25);
});
