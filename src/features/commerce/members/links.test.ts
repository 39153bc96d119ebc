import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { memberPage } from '../../../../test/money/member-page.ts';
import { checkoutClient } from '../../../../test/money/shop.ts';
import { creator } from '../../../../test/money/subscriber.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

test('a buyer is recognized by any form of their email address', async () => {
  const at = await creator(app);
  const base = `/members/${at.username}/test`;
  const { open, pay } = checkoutClient(() => app);
  const { submit } = memberPage(
    () => app,
    () => base,
  );
  const paid = await pay(await open(at, { tierId: await at.tier() }), { email: 'Ada@Bücher.example' });
  assert.equal(paid.status, 303);
  for (const [index, email] of ['ada@BÜCHER.example', 'ada@bu\u0308cher.example'].entries()) {
    assert.equal((await submit(`${base}/link`, { email })).status, 200);
    await runTask(app.container, 'member links');
    const mails = await app.container.mailbox.list();
    const links = mails.filter(
      ({ to, kind }) => to === 'ada@xn--bcher-kva.example' && kind === 'member-link',
    );
    assert.equal(links.length, index + 1, email);
  }
});
