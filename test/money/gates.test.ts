import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Route } from '../../src/http/route.ts';
import type { Permission, Scope } from '../../src/kernel/access.ts';
import { newId } from '../../src/kernel/ids.ts';
import { apiRoutes } from '../../src/main/api.ts';
import { Browser } from '../auth/browser.ts';
import { type AuthFixture, PASSWORD, startAuthFixture } from '../auth/fixture.ts';
import { allowedMoney, isMoneyName, moneyIn } from '../harness/money-fields.ts';
import type { TestResponse } from '../harness/response.ts';

/** Rule for the callers of an endpoint: docs/guides/money.md#financial-access. */
type Rule =
  | 'finance-read'
  | 'finance-write'
  | 'owner'
  | 'operator'
  | 'any'
  | 'any-write'
  | 'booking'
  | 'booking-write';

/** Every endpoint about money. One that is missing here fails the first test. */
const RULES: Readonly<Record<string, Rule>> = {
  'GET /monetization/revenue': 'finance-read',
  'GET /monetization/payments': 'finance-read',
  'GET /monetization/connect-status': 'any',
  'POST /monetization/connect-onboard': 'owner',
  'GET /monetization/connect-dashboard': 'owner',
  'POST /monetization/payouts': 'operator',
  'GET /analytics/stats': 'finance-read',
  'GET /analytics/summary': 'finance-read',
  'GET /me/payouts': 'finance-read',
  'GET /purchases': 'finance-read',
  'POST /purchases/{id}/refund': 'finance-write',
  'GET /videos/{id}/purchases': 'finance-read',
  'GET /me/purchases': 'any',
  'GET /me/subscriptions': 'finance-read',
  'GET /me/subscriptions/{id}': 'finance-read',
  'POST /me/subscriptions/{id}/cancel': 'finance-write',
  'POST /me/subscriptions/{id}/resume': 'finance-write',
  'POST /me/subscriptions/{id}/switch': 'finance-write',
  'POST /me/subscriptions/{id}/simulate': 'finance-write',
  'GET /tiers': 'any',
  'GET /tiers/{id}': 'any',
  'POST /tiers': 'finance-write',
  'PATCH /tiers/{id}': 'finance-write',
  'DELETE /tiers/{id}': 'finance-write',
  'POST /checkout/subscription': 'any-write',
  'POST /checkout/video': 'any-write',
  'POST /checkout/booking': 'any-write',
  'GET /checkout/{id}': 'any',
  'POST /checkout/{id}/simulate': 'any-write',
  'GET /booking/bookings': 'booking',
  'GET /booking/bookings/{id}': 'booking',
  'POST /booking/bookings/{id}/cancel': 'booking-write',
  'POST /booking/bookings/{id}/reschedule': 'booking-write',
  'POST /booking/bookings/{id}/no-show': 'booking-write',
  'POST /booking/bookings/{id}/simulate': 'booking-write',
  'GET /booking/discount-codes': 'booking',
  'POST /booking/discount-codes': 'booking-write',
  'PATCH /booking/discount-codes/{id}': 'booking-write',
  'DELETE /booking/discount-codes/{id}': 'booking-write',
};
const ABOUT_MONEY =
  /^\/(monetization|analytics\/(stats|summary)|purchases|tiers|checkout|booking\/(discount-codes|bookings)|me\/(payouts|purchases|subscriptions))(\/|$)|\/purchases$/;

/** Each kind of key: scope, and its list of permissions. */
const KEYS: readonly [Scope, readonly Permission[]][] = [
  ['READ_ONLY', []],
  ['READ_ONLY', ['finance:read']],
  ['READ_ONLY', ['finance:write']],
  ['READ_ONLY', ['*']],
  ['STANDARD', []],
  ['STANDARD', ['videos:write', 'booking:read']],
  ['STANDARD', ['finance:read']],
  ['STANDARD', ['finance:write']],
  ['STANDARD', ['finance:*']],
  ['STANDARD', ['booking:write']],
  ['STANDARD', ['*']],
  ['FULL_ACCESS', []],
];

/** Returns the error code of this rule for a key, or null if the key is allowed. */
function expectedErrorCode(rule: Rule, scope: Scope, permissions: readonly Permission[]): string | null {
  const isFull = scope === 'FULL_ACCESS';
  const has = (...some: Permission[]) =>
    isFull || some.some((one) => permissions.includes(one)) || permissions.includes('*');
  const readOnly = scope === 'READ_ONLY' ? 'INSUFFICIENT_SCOPE' : null;
  const none = permissions.length === 0;
  switch (rule) {
    case 'owner':
    case 'operator':
      return 'ADMIN_ONLY';
    case 'finance-read':
      return has('finance:read', 'finance:write', 'finance:*') ? null : 'FINANCIAL_SCOPE_REQUIRED';
    case 'finance-write':
      return has('finance:write', 'finance:*') ? readOnly : 'FINANCIAL_SCOPE_REQUIRED';
    case 'any':
      return null;
    case 'any-write':
      return readOnly;
    case 'booking':
      return none || has('booking:read', 'booking:write', 'booking:*') ? null : 'PERMISSION_DENIED';
    case 'booking-write':
      return readOnly ?? (none || has('booking:write', 'booking:*') ? null : 'PERMISSION_DENIED');
  }
}

const REFUSALS = new Set([
  'ADMIN_ONLY',
  'FINANCIAL_SCOPE_REQUIRED',
  'INSUFFICIENT_SCOPE',
  'PERMISSION_DENIED',
]);

let fixture: AuthFixture;
let routes: Route[];
before(async () => {
  fixture = await startAuthFixture();
  routes = apiRoutes(fixture.app.container, () => true);
});
after(() => fixture.close());

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const moneyRoutes = () => routes.filter(({ path }) => ABOUT_MONEY.test(path));
const addressOf = ({ path }: Route) => path.replace(/\{\w+\}/g, 'none');

function errorCodeOf(answer: TestResponse): string | null {
  const code = answer.status < 400 ? null : answer.at('error.code');
  assert.ok(answer.status !== 401 && answer.status < 500, answer.text);
  return typeof code === 'string' && REFUSALS.has(code) ? code : null;
}

async function keyOf(email: string, scope: Scope, permissions: readonly Permission[]): Promise<string> {
  const { container } = fixture.app;
  const { id, key } = await container.apiKeys.create({ email, scope: 'FULL_ACCESS', mode: 'test' });
  // Some of these can no longer be minted, but older keys may have them.
  await container.sql`update api_key set scope = ${scope}, permissions = ${[...permissions]} where id = ${id}`;
  return key;
}

describe('permissions', () => {
  test('every endpoint about money has a rule', () => {
    const unknown = moneyRoutes()
      .map(nameOf)
      .filter((name) => RULES[name] === undefined);
    assert.deepEqual(unknown, []);
    assert.ok(moneyRoutes().length >= 12);
  });

  test('every kind of key is allowed or rejected by every money endpoint with the correct code', async () => {
    const { email } = await fixture.person();
    for (const [scope, permissions] of KEYS) {
      const key = await keyOf(email, scope, permissions);
      for (const route of moneyRoutes()) {
        const rule = RULES[nameOf(route)] ?? 'any';
        const body = route.method === 'GET' ? {} : { body: {} };
        const answer = await fixture.app.request(route.method, addressOf(route), { key, ...body });
        const shown = `${scope} [${permissions}] ${nameOf(route)}`;
        assert.equal(errorCodeOf(answer), expectedErrorCode(rule, scope, permissions), shown);
      }
    }
  });

  test('the owner’s session is allowed everywhere except on operator endpoints, which allow the operator', async () => {
    const owner = await fixture.person();
    const email = `${newId('usr')}@example.com`;
    await fixture.app.container.accounts.create({ email, password: PASSWORD, verified: true, role: 'ADMIN' });
    for (const [who, refused] of [
      [owner.email, 'ADMIN_ONLY'],
      [email, null],
    ] as const) {
      const browser = new Browser(fixture.app);
      await browser.signIn({ email: who });
      for (const route of moneyRoutes()) {
        const headers = { 'x-workspace-mode': 'test' };
        const body = route.method === 'GET' ? {} : { body: {} };
        const answer = await browser.send(route.method, addressOf(route), { headers, ...body });
        const expected = RULES[nameOf(route)] === 'operator' ? refused : null;
        assert.equal(errorCodeOf(answer), expected, `${who} ${nameOf(route)}`);
      }
    }
  });
});

describe('amounts', () => {
  test('endpoints declare only the amounts that they may show', () => {
    for (const route of routes) {
      const allowed = allowedMoney(route.method, route.path);
      const others = membersOf(route.reply.schema).filter(
        (name) => isMoneyName(name) && !allowed.includes(name),
      );
      assert.deepEqual(others, [], nameOf(route));
    }
  });

  test('events contain no amounts in fields or texts, except prices', () => {
    for (const { type, data, sample, notice } of fixture.app.container.catalogue.definitions) {
      const words = notice?.words(sample);
      assert.deepEqual(moneyIn(sample), [], type);
      assert.deepEqual(membersOf(data).filter(isMoneyName), [], type);
      assert.doesNotMatch(`${words?.title} ${words?.body}`, /[$€£]|\bUSD\b/, type);
    }
  });

  test('the response check finds amounts at any depth, and ignores nulls, metadata and similar names', () => {
    assert.deepEqual(moneyIn({ a: [{ feeCents: 0 }], amountCents: null, sizeBytes: 4 }), ['feeCents']);
    assert.deepEqual(moneyIn({ revenue: { net: 5 }, metadata: { price: '5' } }), ['revenue', 'net']);
    assert.deepEqual(moneyIn({ network: 1, feed: 2, priceless: 3, percentOff: 4 }), []);
  });
});

/** The names of all members that a schema has, at any depth. */
function membersOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]) =>
    name === 'properties' && typeof inner === 'object' && inner !== null
      ? Object.entries(inner).flatMap(([member, of]) => [member, ...membersOf(of)])
      : membersOf(inner),
  );
}
