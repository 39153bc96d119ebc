import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VISIBILITIES, type Visibility } from '../../../kernel/visibility.ts';
import { type Grant, isEmbedAllowed, isForEntitled, mayWatch } from './access.rules.ts';

/**
 * Expected access for each visibility: without a grant, entitled only, with a `site` token, with a `playback`
 * token.
 */
const TABLE: Record<Visibility, [nobody: boolean, entitled: boolean, site: boolean, playback: boolean]> = {
  PUBLIC: [true, true, true, true],
  UNLISTED: [true, true, true, true],
  PRIVATE: [false, true, false, true],
  FOLLOWERS: [false, true, false, true],
  TIER: [false, true, false, true],
  PURCHASE: [false, true, false, true],
};

for (const visibility of VISIBILITIES) {
  test(`${visibility} media is visible to the right viewers`, () => {
    const [nobody, entitled, site, playback] = TABLE[visibility];
    const see = (grant: Grant | null, isEntitled: boolean) => mayWatch({ visibility, grant, isEntitled });
    assert.equal(see(null, false), nobody);
    assert.equal(see(null, true), entitled);
    assert.equal(see('site', false), site);
    assert.equal(see('site', true), entitled);
    assert.equal(see('playback', false), playback);
    assert.equal(see('playback', true), playback);
    assert.equal(see('preview', false), playback, 'who may see what comes before may see the rest');
    assert.equal(isForEntitled(visibility), !nobody && entitled, 'entitlements are asked where they matter');
  });
}

const LISTED = ['shop.example', '*.club.example'];
const OWN = ['video.example'];

const SITES: [origin: string | undefined, referer: string | undefined, allowed: boolean][] = [
  ['https://shop.example', undefined, true],
  ['http://shop.example:8443', undefined, true],
  ['https://a.b.club.example', undefined, true],
  ['https://club.example', undefined, false],
  ['https://evil.example', undefined, false],
  ['https://shop.example.evil.example', undefined, false],
  ['https://evil.example', 'https://shop.example/', false],
  ['https://shop.example', 'https://evil.example/', true],
  ['https://video.example', undefined, true],
  [undefined, 'https://video.example/embed/vid_1', true],
  [undefined, 'https://shop.example/page?x', true],
  [undefined, 'https://evil.example/?https://shop.example', false],
  ['null', undefined, false],
  ['shop.example', undefined, false],
  [undefined, 'nonsense', false],
];

for (const [origin, referer, allowed] of SITES) {
  test(`an account that lists its sites: Origin ${origin}, Referer ${referer}: ${allowed}`, () => {
    for (const grant of [null, 'site', 'playback'] as const) {
      const there = { listed: LISTED, own: OWN, grant };
      assert.equal(
        isEmbedAllowed({ origin, referer }, there),
        allowed,
        `a token does not change it: ${grant}`,
      );
      assert.equal(isEmbedAllowed({ origin, referer }, { ...there, listed: null }), true);
    }
  });
}

test('a player outside of a page needs a token when sites are listed', () => {
  const nowhere = { origin: undefined, referer: undefined };
  assert.equal(isEmbedAllowed(nowhere, { listed: LISTED, own: OWN, grant: null }), false);
  assert.equal(isEmbedAllowed(nowhere, { listed: LISTED, own: OWN, grant: 'site' }), true);
  assert.equal(isEmbedAllowed(nowhere, { listed: [], own: OWN, grant: 'playback' }), true);
  assert.equal(isEmbedAllowed(nowhere, { listed: null, own: OWN, grant: null }), true);
});
