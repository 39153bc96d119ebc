import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import { type AuthFixture, startAuthFixture } from '../../../../test/auth/fixture.ts';
import type { TestApp } from '../../../../test/harness/app.ts';
import { insertReadyVideo } from '../../../../test/harness/videos.ts';

let auth: AuthFixture;
let app: TestApp;
/** Key and names of a creator. */
let ada: { key: string; id: string; live: string; test: string };

before(async () => {
  auth = await startAuthFixture();
  ({ app } = auth);
  const { key, account } = await app.createKey();
  ada = { key, ...account };
});
after(() => auth.close());

const page = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(app.url + path, { headers, redirect: 'manual' });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
};
const submit = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
  const body = new URLSearchParams(fields);
  const answer = await fetch(app.url + path, { method: 'POST', body, headers, redirect: 'manual' });
  return { status: answer.status, text: await answer.text(), location: answer.headers.get('location') };
};
const create = async (path: string, body: object) =>
  (await app.request('POST', path, { key: ada.key, body })).assertOk(201).string('data.id');
const followers = async () =>
  (await app.request('GET', `/users/${ada.id}`, { key: ada.key })).at('data.followerCount');
const tokenIn = (text: string) => /name="formToken" value="([^"]+)"/.exec(text)?.[1] ?? '';

/** Creates a visitor who is signed in to the dashboard. */
async function visitor() {
  const browser = new Browser(app);
  await browser.signIn(await auth.person());
  return { cookie: browser.cookie ?? '' };
}

describe('the page of a channel', () => {
  test('a channel page shows public content without a script, and escapes texts of its owner', async () => {
    const hostile = '<script>alert(1)</script>';
    const body = {
      displayName: `Ada ${hostile}`,
      description: `One ${hostile}\nTwo`,
      links: [{ label: `Site ${hostile}`, url: 'https://example.com/?a=1&b="2"' }],
    };
    (await app.request('PATCH', '/channels/me', { key: ada.key, body })).assertOk(200);
    const live = await create('/streams', { title: 'On air' });
    (await app.request('POST', `/streams/${live}/start`, { key: ada.key })).assertOk(200);
    const shown = await insertReadyVideo(app.container.db, ada.live, { title: 'A film' });
    await insertReadyVideo(app.container.db, ada.live, { title: 'A secret', visibility: 'PRIVATE' });
    await insertReadyVideo(app.container.db, ada.test, { title: 'A trial' });
    const { status, text, headers } = await page(`/@${ada.id}`);
    assert.equal(status, 200);
    assert.doesNotMatch(text, /<script/);
    assert.match(text, /<h1><bdi>Ada &lt;script&gt;/);
    assert.match(text, /rel="nofollow ugc noopener noreferrer"/);
    assert.ok(text.includes(`href="/watch/${live}"`) && text.includes('On air'));
    assert.ok(text.includes(`href="/watch/${shown}"`) && text.includes('A film') && text.includes('1:00'));
    assert.doesNotMatch(text, /A secret|A trial/);
    assert.ok(text.includes(`<link rel="canonical" href="http://marquee.test/@${ada.id}">`));
    assert.match(headers.get('content-security-policy') ?? '', /script-src 'self'.*form-action 'self'/);
    assert.match((await page(`/watch/${shown}`)).text, new RegExp(`<a href="/@${ada.id}"><b><bdi>Ada `));
  });

  test('a channel page gets 404 for an unknown name or a suspended account, and accepts names in any case', async () => {
    const { email, id } = await app.createAccount();
    await app.container.accounts.suspend(email);
    for (const name of ['nobody', id, '%F0%9F%8E%AC', 'a'.repeat(2000)]) {
      const { status, text } = await page(`/@${name}`);
      assert.deepEqual([status, /Channel not found/.test(text)], [404, true], name.slice(0, 20));
    }
    const upper = await page(`/@${ada.id.toUpperCase()}`);
    assert.deepEqual([upper.status, upper.headers.get('location')], [301, `/@${ada.id}`]);
    const folded = await page('/@%E2%84%AA%0d%0aX');
    assert.ok([301, 404].includes(folded.status) && folded.headers.get('x') === null);
    assert.equal((await page(`/@${ada.id}?cursor=nonsense`)).status, 400);
  });

  test('a channel page links to further pages of its videos', async () => {
    const { key, account } = await app.createKey();
    for (let count = 0; count < 25; count++) {
      await insertReadyVideo(app.container.db, account.live, { title: `Film ${count}` });
    }
    assert.ok(key);
    const first = (await page(`/@${account.id}`)).text;
    assert.equal(first.match(/href="\/watch\/vid_/g)?.length, 24);
    const next = /href="(\/@[^"]+cursor=[^"]+)"/.exec(first)?.[1] ?? '';
    const rest = (await page(next)).text;
    assert.deepEqual([rest.match(/href="\/watch\/vid_/g)?.length, /Film 0</.test(rest)], [1, true]);
    assert.match(rest, /noindex/);
  });

  test('a channel page links to the checkout of a tier', async () => {
    const tier = await create('/tiers', { name: 'Supporter', priceCents: 500, interval: 'MONTH' });
    const closed = await create('/tiers', {
      name: 'Closed',
      priceCents: 500,
      interval: 'MONTH',
      isActive: false,
    });
    const { text } = await page(`/@${ada.id}`);
    assert.ok(text.includes('Supporter') && text.includes('$5.00 a month') && !text.includes('Closed'));
    const answer = await submit(`/@${ada.id}/join`, { tier });
    assert.equal(answer.status, 303);
    const pay = await page(answer.location ?? '');
    assert.deepEqual([pay.status, pay.text.includes('Supporter')], [200, true]);
    const foreign = await app.createKey();
    const other = (
      await app.request('POST', '/tiers', {
        key: foreign.key,
        body: { name: 'Other', priceCents: 500, interval: 'MONTH' },
      })
    ).string('data.id');
    assert.equal((await submit(`/@${ada.id}/join`, { tier: closed })).status, 409);
    for (const wrong of [other, '', 'x'])
      assert.ok((await submit(`/@${ada.id}/join`, { tier: wrong })).status >= 400, wrong);
    assert.equal(
      (await submit(`/@${ada.id}/join`, { tier }, { 'sec-fetch-site': 'cross-site' })).status,
      403,
    );
  });
});

describe('following on pages', () => {
  test('signed-in visitors get a follow form, on the channel and on watch pages', async () => {
    const video = await insertReadyVideo(app.container.db, ada.live, { title: 'To follow' });
    const me = await visitor();
    const before = Number(await followers());
    for (const path of [`/watch/${video}`, `/@${ada.id}`]) {
      const { text } = await page(path, me);
      const fields = { formToken: tokenIn(text), back: path };
      assert.match(text, new RegExp(`action="/@${ada.id}/follow"`));
      assert.ok(text.includes(`${before} follower`));
      for (const _ of [1, 2]) {
        const answer = await submit(`/@${ada.id}/follow`, fields, me);
        assert.deepEqual([answer.status, answer.location], [303, path]);
      }
      assert.equal(await followers(), before + 1);
      const after = (await page(path, me)).text;
      assert.match(after, new RegExp(`action="/@${ada.id}/unfollow"`));
      for (const _ of [1, 2]) {
        assert.equal(
          (await submit(`/@${ada.id}/unfollow`, { ...fields, formToken: tokenIn(after) }, me)).status,
          303,
        );
      }
      assert.equal(await followers(), before);
    }
    const embed = (await page(`/embed/${video}`, me)).text;
    assert.doesNotMatch(embed, /formToken/);
  });

  test('following needs the session that the form was rendered for, on an own page', async () => {
    const [me, other] = [await visitor(), await visitor()];
    const formToken = tokenIn((await page(`/@${ada.id}`, me)).text);
    assert.ok(formToken.length > 20);
    const before = await followers();
    const path = `/@${ada.id}/follow`;
    const refused = async (fields: Record<string, string>, headers: Record<string, string>) =>
      (await submit(path, fields, headers)).status;
    assert.equal(await refused({ formToken }, other), 403);
    assert.equal(await refused({ formToken: 'x' }, me), 403);
    assert.equal(await refused({}, me), 403);
    assert.equal(await refused({ formToken }, { ...me, 'sec-fetch-site': 'cross-site' }), 403);
    const unknown = await submit(path, { formToken, back: 'https://evil.example/' }, {});
    assert.deepEqual(
      [unknown.status, unknown.location],
      [303, `/dashboard/sign-in?back=${encodeURIComponent(`/@${ada.id}`)}`],
    );
    assert.equal(await followers(), before);
    for (const back of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/@x/../..',
      '/dashboard',
    ]) {
      assert.equal((await submit(path, { formToken, back }, me)).location, `/@${ada.id}`, back);
    }
    assert.equal((await submit('/@nobody/follow', { formToken }, me)).status, 404);
  });

  test('visitors who are not signed in get a link to sign in, and the creator gets none', async () => {
    const { text } = await page(`/@${ada.id}`);
    assert.ok(text.includes(`href="/dashboard/sign-in?back=${encodeURIComponent(`/@${ada.id}`)}"`));
    const creator = await auth.person();
    const { username } = await app.container.accounts.byId(creator.id);
    const browser = new Browser(app);
    await browser.signIn(creator);
    const own = (await page(`/@${username}`, { cookie: browser.cookie ?? '' })).text;
    assert.doesNotMatch(own, /formToken|sign-in/);
    assert.match(own, /0 followers/);
    const trial = await insertReadyVideo(app.container.db, ada.test, {});
    assert.doesNotMatch(
      (await page(`/watch/${trial}`)).text,
      /follower|\/@/,
      'test mode has no channel to be seen',
    );
  });
});
