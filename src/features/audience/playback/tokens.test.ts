import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createSecrets } from '../../../platform/secrets.ts';
import { GRANTS } from './access.rules.ts';
import { createPlaybackTokens } from './tokens.ts';

const VIDEO = 'vid_01kafe3n4pfx2v9yq6m8d7t5zr';
const STREAM = 'str_01kafe3n4pfx2v9yq6m8d7t5zr';

function setUp() {
  const clock = new TestClock('2026-11-20T09:10:00.000Z');
  return { clock, tokens: createPlaybackTokens({ secrets: createSecrets(Buffer.alloc(32, 1)), clock }) };
}

for (const grant of GRANTS) {
  test(`a ${grant} token is valid for its ID until it expires`, () => {
    const { clock, tokens } = setUp();
    for (const viewer of [undefined, 'anna']) {
      const { token, expiresAt } = tokens.mint(grant, VIDEO, 60, viewer);
      assert.equal(expiresAt.getTime(), clock.ms() + 60_000);
      assert.equal(tokens.read(token, VIDEO), grant);
      assert.equal(tokens.read(token, STREAM), null);
      clock.advance(59_999);
      assert.equal(tokens.read(token, VIDEO), grant);
      clock.advance(1);
      assert.equal(tokens.read(token, VIDEO), null);
    }
  });
}

test('no part of a token can be changed, left out or added', () => {
  const { tokens } = setUp();
  const { token } = tokens.mint('site', VIDEO, 60, 'anna');
  const [grant = '', expiry = '', viewer = '', signature = ''] = token.split('.');
  const forged = [
    ['playback', expiry, viewer, signature],
    [grant, 'zzzzzz', viewer, signature],
    [grant, expiry, 'A'.repeat(viewer.length), signature],
    [grant, expiry, signature],
    [grant, expiry, viewer, viewer, signature],
    [grant, expiry, viewer, `${signature}A`],
    [grant, expiry, viewer, ''],
    [grant.toUpperCase(), expiry, viewer, signature],
    ['', ''],
  ];
  for (const parts of forged) assert.equal(tokens.read(parts.join('.'), VIDEO), null, parts.join('.'));
  assert.equal(tokens.read(`${token}\n`, VIDEO), null);
  const { token: plain } = tokens.mint('site', VIDEO, 60);
  const [, , plainSignature = ''] = plain.split('.');
  assert.equal(tokens.read([grant, expiry, viewer, plainSignature].join('.'), VIDEO), null);
});

test('a steady token stays the same for an hour and is valid for the requested time', () => {
  const { clock, tokens } = setUp();
  const token = tokens.mintSteady('playback', STREAM, 3600);
  clock.advance(49 * 60_000);
  assert.equal(tokens.mintSteady('playback', STREAM, 3600), token);
  clock.advance(11 * 60_000);
  assert.equal(tokens.read(token, STREAM), 'playback');
  assert.notEqual(tokens.mintSteady('playback', STREAM, 3600), token);
});
