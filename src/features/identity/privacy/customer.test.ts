import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AuthFixture, type Person, startAuthFixture } from '../../../../test/auth/fixture.ts';
import { makeResources } from '../../../../test/contract/resources.ts';
import { findTextInTables } from '../../../../test/harness/find-text-in-tables.ts';
import { buyer } from '../../../../test/money/buyer.ts';
import { newId } from '../../../kernel/ids.ts';

let auth: AuthFixture;
before(async () => {
  auth = await startAuthFixture();
});
after(() => auth.close());

/** Creates a booking whose customer was in its room, by the name of the booking. */
async function visitBooking({ id, key }: Person, customer: { email: string; name: string }): Promise<void> {
  const { sql } = auth.app.container;
  await makeResources(auth.app, key);
  const [booking] = await sql<{ id: string; workspace: string }[]>`
    update booking set customer_email = ${customer.email}, customer_name = ${customer.name}, status = 'COMPLETED'
    where workspace_id in (select id from workspace where account_id = ${id}) returning id, workspace_id as workspace`;
  const [room] = await sql<
    { id: string }[]
  >`select id from room where workspace_id in (select id from workspace where account_id = ${id})`;
  assert.ok(booking !== undefined && room !== undefined);
  await sql`insert into room_participant (id, room_id, identity, name, role, can_publish, can_subscribe,
      can_publish_data, can_screen_share, state, leave_reason, created_at, left_at)
    values (${newId('rpt')}, ${room.id}, ${booking.id}, ${customer.name}, 'SPEAKER', true, true, true, true,
      'LEFT', 'CLIENT', now(), now())`;
  const body = JSON.stringify({ data: { roomId: room.id, identity: booking.id, name: customer.name } });
  await sql`insert into event (id, workspace_id, type, created_at, body)
    values (gen_random_uuid(), ${booking.workspace}, 'room.participant_joined', now(), ${body})`;
}

test('the operator erases a buyer without an account from the data of every creator', async () => {
  const { app } = auth;
  const [seller, email] = [await auth.person(), 'buyer.qwert@example.com'];
  const { sql } = app.container;
  const [live] = await sql<
    { id: string }[]
  >`select id from workspace where account_id = ${seller.id} and mode = 'live'`;
  assert.ok(live !== undefined);
  await (await buyer(app, live.id, email)).pay('4242 4242 4242 4242');
  (await app.request('POST', '/subscribers', { key: seller.key, body: { email } })).assertOk(201);
  await visitBooking(seller, { email, name: 'Vutsrq Buyerson' });
  const sales = async () =>
    (await app.request('GET', '/purchases', { key: seller.key })).assertOk(200).list('data').length;
  const sold = await sales();
  assert.notDeepEqual(await findTextInTables(sql, [email]), []);
  const commands = app.container.modules.flatMap((module) => module.commands?.() ?? []);
  const erase = commands.find(({ command }) => command.name === 'customer erase');
  assert.ok(erase !== undefined);
  await assert.rejects(erase.run({ email: seller.email }), /Erase the account/);
  await assert.rejects(erase.run({ email: 'nobody' }), /valid email address/);
  await erase.run({ email });
  assert.deepEqual(await findTextInTables(sql, [email, 'Vutsrq Buyerson']), []);
  assert.equal(await sales(), sold, 'the sale stays');
});
