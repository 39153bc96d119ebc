import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIceServers } from './turn.ts';

const clock = { ms: () => 1_700_000_000_999, now: () => new Date(1_700_000_000_999) };

test('TURN credentials expire after a day, and match those that coturn derives from its secret', () => {
  const urls = ['stun:a:3478', 'turn:a:3478?transport=udp', 'turns:a:5349'];
  assert.deepEqual(createIceServers({ urls, secret: 'north', clock })(), [
    { urls: ['stun:a:3478'] },
    {
      urls: ['turn:a:3478?transport=udp', 'turns:a:5349'],
      username: '1700086400',
      // printf 1700086400 | openssl dgst -sha1 -hmac north -binary | base64
      credential: 'K+RlgFj3QLvB7WAVHfjfgMgyBeA=',
    },
  ]);
  assert.deepEqual(createIceServers({ urls: [], secret: undefined, clock })(), []);
  assert.deepEqual(createIceServers({ urls: ['stun:a'], secret: undefined, clock })(), [
    { urls: ['stun:a'] },
  ]);
});
