import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import {
  type AuthFixture,
  linkToken,
  PASSWORD,
  type Person,
  startAuthFixture,
} from '../../../../test/auth/fixture.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { commandLine } from '../../../../test/harness/command-line.ts';
import { findTextInTables } from '../../../../test/harness/find-text-in-tables.ts';
import { jobWorker, runTask } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { withLockContention } from '../../../../test/harness/with-lock-contention.ts';
import { CARDS } from '../../../../test/money/buyer.ts';
import { checkoutClient } from '../../../../test/money/shop.ts';
import { creator } from '../../../../test/money/subscriber.ts';
import { JobDeferredError } from '../../../jobs/job.ts';
import { startJobWorkers } from '../../../jobs/worker.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { workspaceOf } from '../../../platform/db/workspace.ts';

const clock = new TestClock(systemClock.ms());
let auth: AuthFixture;
before(async () => {
  auth = await startAuthFixture(clock);
});
after(() => auth.close());

const { open, pay, tier } = checkoutClient(() => auth.app, 'live');

/** Creates a creator with a checkout of a tier. */
async function seller() {
  const person = await auth.person();
  const live = await workspaceOf(auth.app.container.db, person.id, 'live');
  const of = { key: person.key, account: { id: person.id, email: person.email, live, test: live } };
  const tierId = await tier(of);
  return { ...of, person, tierId, checkoutId: await open(of, { tierId }) };
}

async function close(person: Person) {
  const browser = new Browser(auth.app);
  await browser.signIn(person);
  return browser.send('DELETE', '/me', { body: { password: PASSWORD } });
}

const erase = (accountId: string) =>
  jobWorker(auth.app.container, 'account.erase').run({
    id: '00000000-0000-4000-8000-000000000000',
    payload: { accountId },
    attempt: 1,
    isLast: false,
    lost: 0,
    signal: new AbortController().signal,
    confirm: async () => {},
  });

test('neither side of a payment in progress is deleted before it has ended', async () => {
  const { person, checkoutId } = await seller();
  const buying = await auth.person();
  const led = await pay(checkoutId, { email: buying.email, card: CARDS.secondFactor });
  assert.match(led.location ?? '', /\/sandbox\/confirm\//);
  const sold = (await close(person)).assertError('CONFLICT').string('error.message');
  assert.match(sold, /1 checkouts in progress/);
  const bought = (await close(buying)).assertError('CONFLICT').string('error.message');
  assert.match(bought, /1 payments to other creators in progress/);
  clock.advance(31 * MINUTE_MS);
  await runTask(auth.app.container, 'checkouts');
  (await close(person)).assertOk(200);
  (await close(buying)).assertOk(200);
});

test('an account is not closed while a payment has just begun', async () => {
  const { person, tierId, checkoutId } = await seller();
  const { sql } = auth.app.container;
  const [paid, said] = await withLockContention<string>(
    sql,
    // The payment has been accepted and waits for its spot.
    (tx) => tx`select from tier where id = ${tierId} for no key update`,
    [
      async () => `${(await pay(checkoutId)).status}`,
      async () => (await close(person)).assertError('CONFLICT').string('error.message'),
    ],
  );
  assert.equal(paid, '303');
  assert.match(said ?? '', /1 (checkouts in progress|subscriptions of your members)/);
});

test('a payment that begins while the account is closed is rejected', async () => {
  const { person, tierId, checkoutId } = await seller();
  const { accounts, sql } = auth.app.container;
  const [paid] = await withLockContention(
    sql,
    async (tx) => {
      await tx`select from workspace where account_id = ${person.id} for update`;
      await tx`update account set suspended_at = now() where id = ${person.id}`;
    },
    [() => pay(checkoutId)],
  );
  assert.equal(paid?.status, 404);
  await accounts.unsuspend(person.email);
  const after = await auth.app.request('GET', `/tiers/${tierId}`, { key: person.key });
  assert.equal(after.assertOk(200).at('data.memberCount'), 0);
});

test('a purchase that began in between delays the erasure, and the owner can still restore the account', async () => {
  const { account, person, tierId } = await seller();
  const { app } = auth;
  const at = await creator(app, account);
  (await close(person)).assertOk(200);
  await at.subscribe(tierId);
  clock.advance(7 * DAY_MS);
  await assert.rejects(erase(person.id), JobDeferredError);
  const token = linkToken((await auth.mailsTo(person.email)).at(-1));
  const keep = await fetch(`${app.url}/keep-account`, {
    method: 'POST',
    body: new URLSearchParams({ token }),
  });
  assert.equal(keep.status, 200);
  const tierKept = await app.request('GET', `/tiers/${tierId}`, { key: person.key });
  assert.equal(tierKept.assertOk(200).at('data.memberCount'), 1);
  const said = (await close(person)).assertError('CONFLICT').string('error.message');
  assert.match(said, /1 subscriptions of your members/);
  await app.container
    .sql`update subscription set status = 'EXPIRED', ended_at = now() where tier_id = ${tierId}`;
  (await close(person)).assertOk(200);
  clock.advance(7 * DAY_MS);
  await erase(person.id);
  assert.equal((await app.request('GET', '/me', { key: person.key })).status, 401);
});

test('the operator erases an account that its owner has closed without the seven days', async () => {
  const { app } = auth;
  const person = await auth.person();
  (await close(person)).assertOk(200);
  const token = linkToken((await auth.mailsTo(person.email)).at(-1));
  const command = () => commandLine(app, 'account', 'erase', '--email', person.email, '--json');
  for (let time = 1; time <= 2; time += 1) {
    assert.deepEqual(JSON.parse(await command()), { id: person.id, email: person.email });
    assert.equal((await fetch(`${app.url}/keep-account?token=${token}`)).status, 404);
  }
  const workers = startJobWorkers({ ...app.container, workers: [jobWorker(app.container, 'account.erase')] });
  const isErased = async () =>
    !(await findTextInTables(app.container.sql, [person.email])).includes('account');
  try {
    await waitFor(isErased, { message: 'the erasure' });
  } finally {
    await workers.stop();
  }
  await assert.rejects(command(), /marquee: [^\n]*not found/);
});
