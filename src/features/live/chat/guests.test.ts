import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { openTail } from '../../../../test/harness/tail.ts';
import { memberPage } from '../../../../test/money/member-page.ts';
import { creator } from '../../../../test/money/subscriber.ts';
import { createChat } from '../../../../test/streams/chat.ts';
import { systemClock } from '../../../kernel/clock.ts';

const clock = new TestClock(systemClock.ms());
let app: TestApp;
let other: TestApp;
let key: string;

before(async () => {
  app = await startTestApp({ clock, env: { TRUST_PROXY: '1' } });
  other = await startTestApp({ clock, beside: app });
  ({ key } = await app.createKey());
});
after(async () => {
  await other.close();
  await app.close();
});

let addresses = 0;

/** Creates a stream with a chat, and returns the actions of visitors of its page. */
async function newPage(settings: object = {}, query = '') {
  const chat = await createChat(app, key, settings);
  const base = `${app.url}/live/${chat.id}/chat`;
  const address = `198.51.100.${++addresses}`;
  const ask = async (path: string, body?: object, more = query) => {
    const response = await fetch(base + path + more, {
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    const { data = {}, error = {} } = Object(await response.json());
    return { status: response.status, headers: response.headers, data, error };
  };
  return {
    ...chat,
    ask,
    /** Joins with a name and returns the actions of that guest. */
    async join(name: string) {
      const { data } = await ask('/guest', { name });
      const session = String(data.session);
      return {
        id: String(data.author.id),
        session,
        write: (text: string, more: object = {}) => ask('', { session, text, ...more }),
      };
    },
    events: (after?: string) =>
      openTail(`${base}/events${query}${after === undefined ? '' : `?lastEventId=${after}`}`),
  };
}

test('a visitor sets a name and writes, and the page, the key and other nodes read it', async () => {
  const page = await newPage();
  const tail = await page.tail({ on: other });
  const visitor = await page.events();
  await tail.waitFor('ready');
  await visitor.waitFor('ready');
  assert.equal(visitor.response.headers.get('access-control-allow-origin'), '*');
  const anna = await page.join('  Anna \u202e ');
  assert.match(anna.id, /^gst_[0-9a-z]{26}$/);
  const { status, data } = await anna.write('Hello');
  assert.equal(status, 201);
  assert.deepEqual(data.author, {
    id: anna.id,
    username: null,
    displayName: 'Anna',
    avatarUrl: null,
    badges: ['GUEST'],
  });
  for (const one of [tail, visitor]) {
    await one.waitFor('message');
    assert.deepEqual(one.data('message'), [data]);
  }
  await page.say('Hello yourself');
  await visitor.waitFor('message', 2);
  const after = visitor.lastId();
  await visitor.close();
  await anna.write('Missed');
  const back = await page.events(after);
  await back.waitFor('message');
  assert.deepEqual(
    back.data('message').map(({ text }) => text),
    ['Missed'],
  );
  await Promise.all([back.close(), tail.close()]);
  const shown = await page.ask('');
  assert.deepEqual(
    shown.data.messages.map((message: object) => Object(message).text),
    ['Hello', 'Hello yourself', 'Missed'],
  );
  assert.deepEqual(shown.data.settings, { chatMode: 'OPEN', slowModeSec: 0 });
  assert.equal(shown.headers.get('cache-control'), 'public, max-age=1');
  const headers = { 'x-user-token': 'of somebody' };
  const own = await fetch(`${app.url}/live/${page.id}/chat`, { headers });
  assert.equal(own.headers.get('cache-control'), 'no-store');
});

test('a guest session is valid for one stream, cannot be forged, expires after a month, and may change its name', async () => {
  const page = await newPage();
  const elsewhere = await newPage();
  const anna = await page.join('Anna');
  for (const session of [anna.session.replace('gst_0', 'gst_1'), `${anna.session}x`, '', 'x']) {
    const answer = await page.ask('', { session, text: 'x' });
    assert.deepEqual([answer.status, answer.error.field], [400, 'session']);
  }
  assert.equal((await elsewhere.ask('', { session: anna.session, text: 'x' })).error.field, 'session');
  const renamed = await page.ask('/guest', { name: 'Ann', session: anna.session });
  assert.deepEqual(renamed.data.author, { id: anna.id, displayName: 'Ann' });
  const copied = await elsewhere.ask('/guest', { name: 'Ann', session: anna.session });
  assert.notEqual(copied.data.author.id, anna.id, 'on another stream it is somebody else');
  clock.advance(31 * 86_400_000);
  assert.equal((await anna.write('x')).error.field, 'session');
});

test('a guest name is visible, short, not banned, and not the name of the creator', async () => {
  const page = await newPage({ bannedWords: ['spam'] });
  const me = (await app.request('GET', '/me', { key })).assertOk(200);
  const username = me.string('data.username');
  for (const name of ['', '  ', '\u200b', 'x'.repeat(31), 'Buy SPAM', username, username.toUpperCase()]) {
    const { status, error } = await page.ask('/guest', { name });
    assert.deepEqual([status, error.field], [400, 'name'], JSON.stringify(name));
  }
  assert.equal((await page.ask('/guest', {})).error.field, 'name');
  await page.join('Zoë 👩\u200d🚀');
});

test('the creator appears with the name of the channel, and guests cannot use its names', async () => {
  const page = await newPage();
  (await app.request('PATCH', '/me', { key, body: { name: 'Ada Byron' } })).assertOk(200);
  (await app.request('PATCH', '/channels/me', { key, body: { displayName: 'Ada’s films' } })).assertOk(200);
  const posted = (await page.post('Hello')).assertOk(201);
  assert.deepEqual(Object.keys(Object(posted.at('data.author'))), [
    ...['id', 'username', 'displayName', 'avatarUrl', 'badges'],
  ]);
  assert.equal(posted.at('data.author.displayName'), 'Ada’s films');
  const shown = await page.ask('');
  assert.equal(shown.data.creatorName, 'Ada’s films');
  const username = (await app.request('GET', '/me', { key })).assertOk(200).string('data.username');
  for (const name of ['Adas Films', 'ADA BYRON', username]) {
    const { status, error } = await page.ask('/guest', { name });
    assert.deepEqual([status, error.field], [400, 'name'], name);
  }
  (await app.request('PATCH', '/channels/me', { key, body: { displayName: null } })).assertOk(200);
  assert.equal((await page.post('Hello')).assertOk(201).at('data.author.displayName'), 'Ada Byron');
});

describe('permissions of a guest', () => {
  test('slow mode applies to the messages of one guest on all nodes, and not to keys', async () => {
    const page = await newPage({ slowModeSec: 30 });
    const [anna, ben] = [await page.join('Anna'), await page.join('Ben')];
    const both = await Promise.all([anna.write('one'), anna.write('two')]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 429]);
    clock.advance(10_000);
    const refused = await anna.write('three');
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '20']);
    assert.equal(refused.error.code, 'RATE_LIMITED');
    assert.equal((await ben.write('one')).status, 201);
    await page.say('one');
    await page.say('two');
    clock.advance(20_000);
    assert.equal((await anna.write('three')).status, 201);
  });

  test('each guest may post 20 messages per minute', async () => {
    const page = await newPage();
    const [anna, ben] = [await page.join('Anna'), await page.join('Ben')];
    for (let n = 0; n < 20; n++) assert.equal((await anna.write(`${n}`)).status, 201);
    const refused = await anna.write('one more');
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal((await ben.write('mine')).status, 201);
  });

  test('the chat mode decides who may write', async () => {
    const page = await newPage();
    const anna = await page.join('Anna');
    for (const [settings, status, message] of [
      [{ chatMode: 'FOLLOWERS' }, 403, /follow/],
      [{ chatMode: 'TIER' }, 403, /members/],
      [{ chatMode: 'OFF' }, 409, /disabled/],
    ] as const) {
      await page.set(settings);
      const refused = await anna.write('x');
      assert.equal(refused.status, status);
      assert.match(refused.error.message, message);
    }
    assert.equal((await page.ask('')).data.settings.chatMode, 'OFF');
    await page.set({ chatEnabled: false });
    for (const path of ['', '/events']) assert.equal((await page.ask(path)).status, 404);
    assert.equal((await anna.write('x')).status, 404);
  });

  test('bans and time-outs apply to one guest of one stream', async () => {
    const page = await newPage();
    const [anna, ben] = [await page.join('Anna'), await page.join('Ben')];
    const ban = (await page.request('POST', '/bans', { authorId: anna.id, seconds: 60 })).assertOk(201);
    const refused = await anna.write('x');
    assert.equal(refused.status, 403);
    assert.ok(refused.error.message.includes(ban.string('data.expiresAt')));
    assert.equal((await ben.write('x')).status, 201);
    clock.advance(60_000);
    assert.equal((await anna.write('x')).status, 201);
    const lasting = (await page.request('POST', '/bans', { authorId: anna.id })).assertOk(201);
    clock.advance(86_400_000);
    assert.equal((await anna.write('x')).status, 403);
    (await page.request('DELETE', `/bans/${lasting.string('data.id')}`)).assertOk(200);
    assert.equal((await anna.write('x')).status, 201);
  });

  test('guest texts follow the rules of all posts, and a repeated one is recognized', async () => {
    const page = await newPage({ bannedWords: ['spam'] });
    const anna = await page.join('Anna');
    for (const text of ['', 'spam', 'x'.repeat(501), 'a\u0007']) {
      const refused = await anna.write(text);
      assert.deepEqual([refused.status, refused.error.field], [400, 'text']);
    }
    const first = await anna.write('once', { clientId: 'c' });
    assert.equal((await anna.write('once', { clientId: 'c' })).data.id, first.data.id);
    const reply = await anna.write('again', { replyToId: first.data.id });
    assert.equal(reply.data.replyToId, first.data.id);
  });
});

test("a TIER chat accepts members of the stream's tiers, or of any tier when it names none", async () => {
  const at = await creator(app);
  const { ask, enter } = memberPage(
    () => app,
    () => `/members/${at.username}/test`,
  );
  const [gold, silver] = [await at.tier({ name: 'Gold' }), await at.tier({ name: 'Silver' })];
  const memberOf = async (tierId: string) => enter((await at.subscribe(tierId)).customer.email);
  const [golden, silvern] = [await memberOf(gold), await memberOf(silver)];
  const forGold = await createChat(app, at.key, { chatMode: 'TIER', tierIds: [gold] });
  const forAll = await createChat(app, at.key, { chatMode: 'TIER' });
  const post = (path: string, body: object, cookie = '') =>
    fetch(`${app.url}/live/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    });
  const write = async (id: string, cookie: string) => {
    const joined = await post(`${id}/chat/guest`, { name: 'Anna' });
    const { session } = Object(await joined.json()).data;
    return (await post(`${id}/chat`, { session, text: 'Hello' }, cookie)).status;
  };
  const cases: [id: string, cookie: string, status: number][] = [
    [forGold.id, '', 403],
    [forGold.id, silvern, 403],
    [forGold.id, golden, 201],
    [forAll.id, '', 403],
    [forAll.id, silvern, 201],
  ];
  for (const [id, cookie, status] of cases) {
    assert.equal(await write(id, cookie), status);
    const page = await (await ask(`/watch/${id}`, cookie)).text();
    assert.equal(page.includes('Only members of'), status === 403);
    assert.equal(page.includes('data-entitled="TIER"'), status === 201, 'the script shows the form');
  }
  await forGold.set({ chatMode: 'FOLLOWERS' });
  assert.equal(await write(forGold.id, golden), 403, 'a member is not a follower');
});

test('viewers who cannot see the stream cannot see its chat', async () => {
  const chat = await createChat(app, key, { visibility: 'PRIVATE' });
  const base = `${app.url}/live/${chat.id}/chat`;
  const minted = await app.request('POST', `/streams/${chat.id}/playback-tokens`, { key, body: {} });
  const token = `?token=${encodeURIComponent(minted.assertOk(201).string('data.token'))}`;
  for (const path of ['', '/events']) assert.equal((await fetch(base + path)).status, 404);
  const post = (path: string, body: object, query = '') =>
    fetch(base + path + query, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  assert.equal((await post('/guest', { name: 'Anna' })).status, 404);
  const joined = await post('/guest', { name: 'Anna' }, token);
  assert.equal(joined.status, 201);
  const { data } = Object(await joined.json());
  assert.equal((await post('', { session: data.session, text: 'x' })).status, 404);
  assert.equal((await post('', { session: data.session, text: 'x' }, token)).status, 201);
  const read = await fetch(base + token);
  assert.equal(read.headers.get('cache-control'), 'no-store');
  const events = await openTail(`${base}/events${token}`);
  await events.waitFor('ready');
  await events.close();
  assert.equal((await fetch(`${app.url}/live/str_00000000000000000000000000/chat`)).status, 404);
});

test('an IP address gets at most 30 concurrent connections, and the page shows messages as text', async () => {
  const page = await newPage();
  const open = await Promise.all(Array.from({ length: 30 }, () => page.events()));
  for (const one of open) assert.equal(one.response.status, 200);
  const refused = await page.events();
  assert.equal(refused.response.status, 429);
  assert.equal(refused.response.headers.get('retry-after'), '60');
  await refused.close();
  await Promise.all(open.map((one) => one.close()));
  const anna = await page.join('<b>Anna</b>');
  await anna.write('<script>alert(1)</script> \u202eevil');
  for (const path of [`/watch/${page.id}`, `/embed/${page.id}?chat=1`]) {
    const html = await (await fetch(app.url + path)).text();
    assert.ok(html.includes('&lt;script&gt;alert(1)&lt;/script&gt;'), path);
    assert.ok(html.includes('<bdi class="chat-author">&lt;b&gt;Anna&lt;/b&gt;</bdi>'));
  }
  assert.ok(!(await (await fetch(`${app.url}/embed/${page.id}`)).text()).includes('chat-list'));
});
