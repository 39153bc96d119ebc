import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TransactionSql } from 'postgres';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { behindLock } from '../../../test/harness/behind-lock.ts';
import { selling } from '../../../test/money/shop.ts';
import { newId } from '../../kernel/ids.ts';

let app: TestApp;
/** Its connections are its own: what is held back on one leaves the others to the requests. */
let beside: TestApp;
before(async () => {
  app = await startTestApp();
  beside = await startTestApp({ beside: app });
});
after(async () => {
  await beside.close();
  await app.close();
});

const { shop, tier, code, ask, open, read, send } = selling(() => app);

type Statement = (sql: TransactionSql) => Promise<unknown>;

/** Asks while another transaction has done this and is not over. */
async function during<T>(statement: Statement, asked: () => Promise<T>): Promise<T> {
  const [answer] = await behindLock(beside.container.sql, statement, [asked]);
  if (answer === undefined) throw new Error('nothing was asked');
  return answer;
}

test('a tier is archived, not removed, while a checkout of it is being made', async () => {
  const of = await shop();
  const [tierId, made] = [await tier(of), newId('chk')];
  const model = await open(of, { tierId: await tier(of) });
  const answer = await during(
    (sql) => sql`insert into checkout
      select (jsonb_populate_record(model, jsonb_build_object('id', ${made}::text, 'tier_id', ${tierId}::text))).*
      from checkout model where id = ${model}`,
    () => app.request('DELETE', `/tiers/${tierId}`, { key: of.key }),
  );
  assert.notEqual(answer.assertOk(200).at('data.archivedAt'), null);
  assert.equal((await read(of, made)).at('data.tierId'), tierId);
});

test('a tier that is removed while a checkout of it is being made is missing', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const answer = await during(
    (sql) => sql`delete from tier where id = ${tierId}`,
    () => ask(of, { tierId }),
  );
  answer.assertError('NOT_FOUND', 'tierId');
});

test('a code that is deleted while a checkout takes it is none', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const codeId = await code(of, { code: 'GONE', percentOff: 10 });
  const answer = await during(
    (sql) => sql`delete from discount_code where id = ${codeId}`,
    () => ask(of, { tierId, discountCode: 'GONE' }),
  );
  answer.assertError('CONFLICT', 'discountCode');
  const other = await code(of, { code: 'GONE', percentOff: 10 });
  const id = await open(of, { tierId });
  const typed = await during(
    (sql) => sql`delete from discount_code where id = ${other}`,
    () => send(id, 'code', { code: 'GONE' }),
  );
  assert.equal(typed.status, 409);
  assert.match(typed.text, /There is no such discount code/);
  assert.equal((await read(of, id)).at('data.discountCode'), null);
});
