import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TestClock } from '../../../../test/harness/clock.ts';
import { jobWorker } from '../../../../test/harness/modules.ts';
import { startStripeShop } from '../../../../test/money/stripe-shop.ts';
import { deleteCustomersJob } from './jobs.ts';

let platform: Awaited<ReturnType<typeof startStripeShop>>;
before(async () => {
  platform = await startStripeShop(new TestClock('2026-01-31T10:00:00Z'));
});
after(() => platform.close());

test('an erased buyer is deleted at Stripe, with retries when it does not answer', async () => {
  const { app, stripe } = platform;
  const of = await platform.shop();
  const id = await platform.open(of, { videoId: await platform.video(of, 1000) });
  const { session } = await platform.goToStripe(id);
  stripe.pay(session);
  await platform.hear('checkout.session.completed', session);
  const customer = String(stripe.object(session).customer);
  const { sql, modules } = app.container;
  const [buyer] = await sql<{ email: string }[]>`select email from customer`;
  const commands = modules.flatMap((module) => module.commands?.() ?? []);
  await commands.find(({ command }) => command.name === 'customer erase')?.run({ email: buyer?.email });
  const [job] = await sql`select payload from job where name = ${deleteCustomersJob.name}`;
  const run = () =>
    jobWorker(app.container, deleteCustomersJob.name).run({
      id: '00000000-0000-4000-8000-000000000000',
      payload: job?.payload,
      attempt: 1,
      isLast: false,
      lost: 0,
      signal: new AbortController().signal,
      confirm: async () => {},
    });
  stripe.faults = ['lost', 'error', 'error', 'error'];
  await assert.rejects(run(), /Stripe/);
  stripe.faults = [];
  await run();
  assert.throws(() => stripe.object(customer));
  await run();
});
