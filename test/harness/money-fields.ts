import assert from 'node:assert/strict';
import type { Route } from '../../src/http/route.ts';
import { createLogger, type Logger } from '../../src/platform/logger.ts';
import type { TestResponse } from './response.ts';
import { routeFinder } from './response-contract.ts';

/** Names of fields that hold an amount of money. */
const MONEY_NAME =
  /[cC]ents($|[A-Z_])|^(amount|price|revenue|balance|fee|net|gross|mrr|earnings?|turnover)($|[A-Z_])/;

export const isMoneyName = (name: string) => MONEY_NAME.test(name);

const PRICE = ['priceCents'];
const PURCHASE = ['amountCents', 'discountCents', 'refundedCents'];
const SALE = [...PURCHASE, 'feeCents', 'netCents'];
const SUMS = ['grossCents', 'feeCents', 'refundCents', 'netCents'];

/**
 * Amounts that each endpoint may return to any caller (docs/decisions/money.md#amount-visibility). Public
 * prices are identified by their name, `priceCents`; all other amounts are behind a finance check, the
 * buyer's own, or set by a partner.
 */
const ALLOWED: readonly [route: RegExp, fields: readonly string[]][] = [
  [/^\w+ \/(videos|upload|imports|tiers|channel|channels|booking\/products)(\/|$)(?!.*purchases)/, PRICE],
  // A clip is a video.
  [/^POST \/streams\/\{\w+\}\/clips$/, PRICE],
  // Events of tiers and videos include changed prices.
  [/^GET \/me\/events(\/|$)/, PRICE],
  [/^GET \/videos\/\{\w+\}\/purchases$/, SALE],
  [/^(GET|POST) \/purchases(\/|$)/, SALE],
  [/^GET \/me\/purchases$/, PURCHASE],
  [/^GET \/monetization\/payments$/, ['amountCents']],
  [/^GET \/monetization\/revenue$/, SUMS],
  [/^GET \/analytics\/stats$/, ['grossCents', 'netCents', 'revenuePerView', 'revenuePerMember']],
  [/^GET \/analytics\/summary$/, ['mrrCents', 'grossCents', 'netCents', 'refundsCents']],
  [/^(GET \/me|POST \/monetization)\/payouts$/, ['amountCents']],
  [/^\w+ \/me\/subscriptions(\/|$)/, [...PRICE, 'pendingPriceCents']],
  [/^\w+ \/checkout(\/|$)/, ['amountCents', 'discountCents']],
  // Null without finance:read.
  [/^\w+ \/booking\/bookings(\/|$)/, PURCHASE],
  [/^\w+ \/booking\/discount-codes(\/|$)/, ['amountCentsOff']],
];

export function allowedMoney(method: string, path: string): readonly string[] {
  return ALLOWED.find(([route]) => route.test(`${method} ${path}`))?.[1] ?? [];
}

/** Values set by a partner are returned unchanged. */
const PARTNERS_OWN = new Set(['metadata', 'intakeAnswers', 'renderedRequest']);

/** Returns the fields that hold an amount, at any depth; null holds none. */
export function moneyIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(moneyIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (PARTNERS_OWN.has(name)) return [];
    return isMoneyName(name) && inner !== null ? [name, ...moneyIn(inner)] : moneyIn(inner);
  });
}

/**
 * Fails on a response with an amount that its endpoint may not show: every test that calls the API checks it.
 */
export function moneyCheck(routes: readonly Route[]) {
  const find = routeFinder(routes);
  return (method: string, path: string, answer: TestResponse): void => {
    if (!/json/.test(answer.headers['content-type'] ?? '') || answer.text === '') return;
    const found = moneyIn(answer.json);
    if (found.length === 0) return;
    const route = find(method, path);
    const allowed = route === undefined ? [] : allowedMoney(route.method, route.path);
    const others = found.filter((name) => !allowed.includes(name));
    assert.deepEqual(others, [], `${method} ${path.slice(0, 100)} answered with amounts`);
  };
}

/** Most lines have no such text, and are not read any further. */
const PERHAPS_MONEY =
  /"[^"]*(cents|amount|price|revenue|balance|fee|net|gross|mrr|earning|turnover)[^"]*"\s*:/i;

/** Returns a log that discards its lines, and an assertion that none of them contained an amount. */
export function watchedLog(): { log: Logger; assertNoMoney(): void } {
  const found: string[] = [];
  const to = {
    write(line: string) {
      if (PERHAPS_MONEY.test(line) && moneyIn(JSON.parse(line)).length > 0) found.push(line);
    },
  };
  return {
    log: createLogger('info', {}, to),
    assertNoMoney: () => assert.deepEqual(found, [], 'amounts are logged'),
  };
}
