import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import {
  type AuthFixture,
  linkToken,
  PASSWORD,
  type Person,
  startAuthFixture,
} from '../../../../test/auth/fixture.ts';
import { makeResources } from '../../../../test/contract/resources.ts';
import { joinTeam } from '../../../../test/harness/factories.ts';
import { findTextInTables as saying } from '../../../../test/harness/find-text-in-tables.ts';
import { jobWorker, requestsWritten } from '../../../../test/harness/modules.ts';
import { unzip } from '../../../../test/harness/zip.ts';
import { buyer } from '../../../../test/money/buyer.ts';
import { JobDeferredError } from '../../../jobs/job.ts';
import { newId } from '../../../kernel/ids.ts';
import { DATA_INVENTORY } from './data-inventory.ts';

let auth: AuthFixture;
before(async () => {
  auth = await startAuthFixture();
});
after(() => auth.close());

const NAME = 'Zyxwv Qwertson';
const USERNAME = 'zyxwv-qwert';

/**
 * Columns where IDs of an erased account may remain: references to the ledger, and the record of the erasure.
 */
const MAY_STAY = new Set([
  ...['account', 'account_erasure', 'workspace'],
  ...['customer', 'payment', 'payout', 'purchase', 'sandbox_card', 'sandbox_payment', 'sandbox_refund'],
  ...['ledger_account', 'ledger_entry', 'ledger_revenue', 'ledger_revenue_item', 'ledger_transaction'],
]);

/** Tables without test data of the account. Fill a new table, or list it here. */
const NOT_FILLED = new Set([
  ...[
    'account_erasure',
    'account_export',
    'analytics_retention',
    'analytics_unique_viewer',
    'analytics_breakdown',
    'analytics_total',
  ],
  ...['api_key_retired_secret', 'availability', 'booking_feed', 'calendar_busy', 'chat_ban'],
  ...[
    'class_occurrence',
    'cohort_session',
    'cohort_session_tombstone',
    'connect_account',
    'deprecated_endpoint_usage',
    'delivery_job',
    'external_busy',
  ],
  ...[
    'idempotency_record',
    'member_link',
    'member_link_request',
    'member_session',
    'whep_session',
    'whip_session',
  ],
  ...[
    'notification_preference',
    'notification_read',
    'payout',
    'quota_notification',
    'recording',
    'recording_part',
  ],
  ...['restream_target', 'room_ban', 'room_message', 'room_participant', 'room_recording', 'dvr_segment'],
  ...['sandbox_refund', 'sign_in_challenge', 'signal_simulation', 'stream_health_point', 'stream_log'],
  ...['stream_log_head', 'stream_viewer', 'usage_request', 'usage_total', 'video_chunk', 'video_folder'],
  ...['video_processing', 'video_rendition', 'video_transcription', 'video_view', 'watched_stream'],
  ...['banner', 'channel', 'email_token', 'video_replacement', 'video_tag'],
]);

async function workspacesOf(id: string): Promise<string[]> {
  const rows = await auth.app.container.sql<
    { id: string }[]
  >`select id from workspace where account_id = ${id}`;
  return rows.map((row) => row.id);
}

const tablesSaying = (words: readonly string[]) => saying(auth.app.container.sql, words);

/** Returns files of the data folder with one of the words in their name or content. */
function filesSaying(words: readonly string[]): string[] {
  const root = auth.app.container.config.DATA_DIR;
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => {
    const full = join(root, path);
    const text = statSync(full).isFile() ? readFileSync(full, 'latin1') : '';
    return words.some((word) => path.includes(word) || text.includes(word));
  });
}

const close = (browser: Browser, password = PASSWORD) =>
  browser.send('DELETE', '/me', { body: { password } });

/** Runs the job once and kills it after `most` statements. @returns the number of statements. */
async function runJob(
  payload: { accountId: string; exportId?: string },
  { most = Number.POSITIVE_INFINITY, signal = new AbortController().signal } = {},
): Promise<number> {
  const { db } = auth.app.container;
  const executor = db.getExecutor();
  let made = 0;
  const counting = () => {
    if (made === most) throw new Error('killed');
    made += 1;
    return executor;
  };
  Object.defineProperty(db, 'getExecutor', { value: counting, configurable: true });
  try {
    await jobWorker(
      auth.app.container,
      payload.exportId === undefined ? 'account.erase' : 'account.export',
    ).run({
      id: '00000000-0000-4000-8000-000000000000',
      payload,
      attempt: 1,
      isLast: false,
      lost: 0,
      signal,
      confirm: async () => {},
    });
    return made;
  } finally {
    Reflect.deleteProperty(db, 'getExecutor');
  }
}

/** Gives a person resources of every kind, and traces at another creator. */
async function fill(person: Person, other: Person): Promise<void> {
  const { app } = auth;
  const { key } = person;
  const { sql, store, accounts } = app.container;
  const put = (path: string, body: object, by = key) =>
    app.request(path.startsWith('/me') ? 'PATCH' : 'POST', path, { key: by, body });
  (await put('/me', { name: NAME, username: USERNAME, bio: `Write to ${person.email}` })).assertOk(200);
  const [live = ''] = await workspacesOf(person.id);
  await makeResources(app, key);
  const { recoveryCodes } = await auth.enrol(person, await auth.token(person));
  const browser = new Browser(app);
  const body = { email: person.email, password: PASSWORD };
  const challengeId = (await browser.send('POST', '/auth/session', { body })).string('challengeId');
  const second = { challengeId, code: recoveryCodes[0] };
  browser.begun(await browser.send('POST', '/auth/session/2fa', { body: second }));
  (await browser.get('/me')).assertOk(200);
  await store.put(`w/${live}/v/vid_1/original/a.mp4`, Buffer.from(`by ${NAME}`), 'video/mp4');
  await sql`update video set original_key = ${`w/${live}/v/vid_1/original/a.mp4`}
    where id = (select id from video where workspace_id = ${live} order by id limit 1)`;
  await sql`insert into avatar (id, account_id, image, created_at) values (${newId('ava')}, ${person.id}, ${Buffer.from(NAME)}, now())`;

  // Relations with another creator: follow, subscription, team, purchase, waitlist, chat, notification.
  const [theirs = ''] = await workspacesOf(other.id);
  const { username } = await accounts.byId(other.id);
  (await app.request('POST', `/users/${username}/subscribe`, { key })).assertOk(201);
  (await put('/subscribers', { email: person.email, name: NAME }, other.key)).assertOk(201);
  await joinTeam(app.container.db, { accountId: other.id, userId: person.id, teamRole: 'EDITOR' });
  await (await buyer(app, theirs, person.email)).pay('4242 4242 4242 4242');
  await makeResources(app, other.key);
  await sql`update booking set customer_email = ${person.email}, customer_name = ${NAME}, status = 'COMPLETED'
    where workspace_id = ${theirs}`;
  for (const [subject, email] of [
    [`@${USERNAME}`, ''],
    [`@${username}`, person.email],
  ] as const) {
    await fetch(`${app.url}/report/${subject}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ reason: 'Fraud or spam', email }).toString(),
    });
  }
  assert.equal((await sql`select 1 from support_ticket where account_id is null`).length, 2);
  await sql`update waitlist_entry set email = ${person.email}, name = ${NAME} where workspace_id = ${theirs}`;
  await sql`update checkout set customer_email = ${person.email} where workspace_id = ${theirs}`;
  await sql`insert into chat_message (id, stream_id, seq, at, text, author_id, created_at)
    select ${newId('msg')}, id, 900, now(), 'Hello', ${person.id}, now() from stream where workspace_id = ${theirs} limit 1`;
  await sql`insert into notification (id, account_id, type, title, body, severity, created_at)
    values (${newId('ntf')}, ${other.id}, 'follower.added', ${`@${USERNAME} follows you`}, null, 'INFO', now())`;
  await put('/team/invitations', { email: person.email, teamRole: 'EDITOR' }, other.key);
  await app.container.auth.registration.invite(person.email);
  (await app.request('POST', `/users/${USERNAME}/subscribe`, { key: other.key })).assertOk(201);
  await sql`update mail set status = 'SENT'`;
}

/** Ends everything that blocks the erasure. */
async function endAll(person: Person): Promise<void> {
  const { sql } = auth.app.container;
  const mine = await workspacesOf(person.id);
  await sql`update subscription set status = 'EXPIRED', ended_at = now() where workspace_id = any(${mine})`;
  await sql`update booking set status = 'COMPLETED' where workspace_id = any(${mine})`;
  await sql`delete from team_member where account_id = ${person.id}`;
}

describe('an account with data in every table', () => {
  let person: Person;
  let other: Person;
  let ids: string[] = [];
  const browser = () => new Browser(auth.app);

  before(async () => {
    person = await auth.person();
    other = await auth.person();
    await fill(person, other);
    await requestsWritten(auth.app);
    ids = [person.id, ...(await workspacesOf(person.id))];
  });

  const signedIn = async () => {
    await auth.app.container.sql`delete from two_factor where account_id = ${person.id}`;
    const one = browser();
    await one.signIn(person);
    return one;
  };

  test('the test account has rows in every table except the listed ones', async () => {
    const { sql } = auth.app.container;
    const mine = await tablesSaying([...ids, person.email]);
    const parents = Object.entries(DATA_INVENTORY).filter(([, { of }]) => of === 'rows');
    for (const [table] of parents) {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${sql(table)}`;
      if ((row?.count ?? 0) > 0) mine.push(table);
    }
    // Known by the ID of a ledger, not of the workspace.
    mine.push('ledger_entry');
    const held = Object.entries(DATA_INVENTORY).filter(([, { of }]) => of !== 'nobody');
    const empty = held
      .map(([table]) => table)
      .filter((table) => !mine.includes(table) && !NOT_FILLED.has(table));
    assert.deepEqual(empty, [], 'fill them, or name them in NOT_FILLED');
  });

  test('an account is exported as one archive, served by a signed URL', async () => {
    const { app } = auth;
    const one = await signedIn();
    (await one.get('/me/export')).assertError('NOT_FOUND');
    const exportId = (await one.send('POST', '/me/export')).assertOk(201).string('data.id');
    (await one.send('POST', '/me/export')).assertError('CONFLICT');
    (await app.request('POST', '/me/export', { key: person.key })).assertError('ADMIN_ONLY');
    await assert.rejects(
      runJob({ accountId: person.id, exportId }, { signal: AbortSignal.abort() }),
      /abort/i,
    );
    assert.equal((await one.get('/me/export')).assertOk(200).at('data.url'), null);
    await runJob({ accountId: person.id, exportId });
    const ready = (await one.get('/me/export')).assertOk(200);
    assert.equal(ready.at('data.status'), 'READY');
    const address = ready.string('data.url');
    assert.ok((await auth.mailsTo(person.email)).at(-1)?.includes(address));
    const local = address.replace('http://marquee.test', app.url);
    const bytes = Buffer.from(await (await fetch(local)).arrayBuffer());
    assert.equal(bytes.length, Number(ready.at('data.sizeBytes')));
    const part = await fetch(local, { headers: { range: 'bytes=0-3' } });
    assert.equal(part.status, 206);
    assert.equal(await part.text(), 'PK\u0003\u0004');
    assert.equal((await fetch(local.replace(/.$/, ''))).status, 404);

    const files = unzip(bytes);
    const rows = (table: string): unknown[] => JSON.parse(String(files.get(`data/${table}.json`)));
    assert.equal(Reflect.get(Object(rows('account')[0]), 'name'), NAME);
    assert.ok(String(files.get('data/video.json')).includes('A video'));
    assert.equal(rows('team_member').length, 1);
    assert.ok(
      [...files].some(([name, file]) => name.startsWith('originals/') && String(file) === `by ${NAME}`),
    );
    assert.ok([...files].some(([name, file]) => name.startsWith('pictures/') && String(file) === NAME));
    const text = [...files.values()].join('\n');
    for (const secret of ['password_hash', 'key_encrypted', 'token_hash', '\\x'])
      assert.ok(!text.includes(secret), secret);
    for (const [table, { of, hidden }] of Object.entries(DATA_INVENTORY))
      assert.equal(files.has(`data/${table}.json`), of !== 'nobody' && hidden !== 'all', table);
  });

  test('a deletion is rejected while others depend on the account, without the password, and by a key', async () => {
    const one = await signedIn();
    (await close(one, 'wrong horse battery staple')).assertError('INVALID_CREDENTIALS');
    const refused = (await close(one)).assertError('CONFLICT');
    const said = refused.string('error.message');
    for (const words of ['subscriptions of your members', 'coming bookings', 'members of your team'])
      assert.ok(said.includes(words), said);
    const byKey = await auth.app.request('DELETE', '/me', { key: person.key, body: { password: PASSWORD } });
    byKey.assertError('ADMIN_ONLY');
    await endAll(person);
  });

  test('an account is closed immediately and restored by the emailed link', async () => {
    const one = await signedIn();
    const answer = (await close(one)).assertOk(200);
    assert.equal(answer.at('data.deleted'), true);
    assert.equal(one.cookie, null);
    (await auth.app.request('GET', '/me', { key: person.key })).assertError('KEY_DISABLED');
    (await auth.login({ ...person, key: other.key })).assertError('INVALID_CREDENTIALS');
    const token = linkToken((await auth.mailsTo(person.email)).at(-1));
    const look = await fetch(`${auth.app.url}/keep-account?token=${token}`);
    assert.equal(look.status, 200);
    const keep = () =>
      fetch(`${auth.app.url}/keep-account`, { method: 'POST', body: new URLSearchParams({ token }) });
    assert.equal((await keep()).status, 200);
    assert.equal((await keep()).status, 404);
    (await auth.app.request('GET', '/me', { key: person.key })).assertOk(200);
    await runJob({ accountId: person.id });
    assert.ok(
      (await tablesSaying([person.email])).includes('account'),
      'a job of one that was kept does nothing',
    );
  });

  test('an erased account is found nowhere, regardless of interruptions', async () => {
    const { sql } = auth.app.container;
    const said = [person.email, NAME, USERNAME];
    assert.notDeepEqual(filesSaying([NAME]), []);
    const [count] = await sql<{ followers: number }[]>`
      select followers from follower_count where workspace_id in (select id from workspace where account_id = ${other.id} and mode = 'live')`;
    assert.equal(count?.followers, 1);
    await close(await signedIn());
    await assert.rejects(runJob({ accountId: person.id }), JobDeferredError, 'an encoder is still there');
    await sql`update stream set has_signal = false where workspace_id = any(${ids})`;
    // A week before it, in truth.
    await requestsWritten(auth.app);
    let deaths = 0;
    for (let most = 2; ; most += 29) {
      try {
        await runJob({ accountId: person.id }, { most });
        break;
      } catch (error) {
        assert.equal(String(error), 'Error: killed');
        deaths += 1;
      }
    }
    assert.ok(deaths > 3, `it died ${deaths} times`);
    assert.deepEqual(await tablesSaying(said), []);
    const naming = await tablesSaying(ids);
    assert.deepEqual([...new Set(naming).difference(MAY_STAY)], []);
    assert.deepEqual(filesSaying([...said, ...ids]), []);
    const [now] = await sql<{ followers: number }[]>`
      select followers from follower_count where workspace_id in (select id from workspace where account_id = ${other.id} and mode = 'live')`;
    assert.equal(now?.followers, 0);
    (await auth.app.request('GET', '/me', { key: other.key })).assertOk(200);
    await runJob({ accountId: person.id });
  });

  test('the email address and the username become available', async () => {
    const { accounts } = auth.app.container;
    await accounts.create({ email: person.email, password: PASSWORD, username: USERNAME, verified: true });
  });
});

test('erasing a name that is a common word deletes nothing of others', async () => {
  const { sql } = auth.app.container;
  const [person, other] = [await auth.person(), await auth.person()];
  await sql`update account set name = 'Released', username = 'videos', email = 'ike@example.com' where id = ${person.id}`;
  await sql`insert into notification (id, account_id, type, title, severity, created_at)
    values (${newId('ntf')}, ${other.id}, 'changelog.published', 'Released: one of your videos, said mike@example.com', 'INFO', now())`;
  const subjects = [
    ['refund', 'Released has refunded you $5.00', '… has refunded you $5.00'],
    [
      'subscription-renews',
      'Your subscription to Gold of videos renews soon',
      'Your subscription to Gold of … renews soon',
    ],
    ['subscription-renews', 'Your subscription to Released of Ada renews soon', null],
    ['member-link', 'Your membership with videos of cats', null],
    ['booking-confirmed', 'Booked: Released', null],
    ['receipt', 'Your receipt: videos', null],
  ] as const;
  for (const [kind, subject] of subjects)
    await sql`insert into mail (id, kind, recipient, subject, status, next_at, created_at)
      values (${newId('mail')}, ${kind}, 'lee@example.com', ${subject}, 'SENT', now(), now())`;
  const asks = { key: person.key, body: { email: 'kim@example.com' } };
  (await auth.app.request('POST', '/subscribers', asks)).assertOk(201);
  await sql`update mail set status = 'SENT'`;
  const one = new Browser(auth.app);
  await one.signIn({ ...person, email: 'ike@example.com' });
  (await close(one)).assertOk(200);
  await runJob({ accountId: person.id });
  const left =
    await sql`select 1 from notification where account_id = ${other.id} and title like 'Released%'`;
  assert.equal(left.length, 1);
  const now = await sql<{ subject: string }[]>`
    select subject from mail where recipient in ('lee@example.com', 'kim@example.com') order by created_at, id`;
  assert.deepEqual(
    now.map(({ subject }) => subject),
    [...subjects.map(([, before, after]) => after ?? before), 'Confirm your subscription to …'],
  );
});
