import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodePortOf, nodeUrlOf } from './node.ts';

test('media processes have successive ports, and free ones without MEDIA_PORT', () => {
  assert.deepEqual([nodePortOf({ MEDIA_PORT: 8085 }, 0), nodePortOf({ MEDIA_PORT: 8085 }, 2)], [8085, 8087]);
  assert.equal(nodePortOf({ MEDIA_PORT: 0 }, 2), 0);
});

test('the URLs of media processes differ by their ports', () => {
  const urlOf = (first: string | undefined, index: number, host = '10.0.0.5') =>
    nodeUrlOf({ MEDIA_HOST: host, MEDIA_URL: first }, { index, port: 8085 + index });
  assert.equal(urlOf(undefined, 1), 'http://10.0.0.5:8086');
  assert.equal(urlOf(undefined, 0, '::1'), 'http://[::1]:8085');
  assert.equal(urlOf('https://media.internal/a', 0), 'https://media.internal/a');
  assert.equal(urlOf('https://media.internal', 1), 'https://media.internal:444');
  assert.equal(urlOf('http://media.internal:9000', 2), 'http://media.internal:9002');
});
